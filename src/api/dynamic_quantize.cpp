// DynamicQuantizeLinear, DynamicQuantizeMatMul.
#include "params/dynamic_quantize.h"

#include "api/gemm_plan.h"
#include "core/fp_env.h"
#include "params/quantize.h"

using namespace samebit;

namespace {

/// Quantizes x by its own extremes. Nothing is checked.
sb_quant quantize(sb_profile profile, const KernelTable& table, const float* x, uint8_t* y, size_t n) {
  MinMax extremes;
  table.min_max_f32(x, n, &extremes);
  const sb_quant q = dynamic_quantize_params(profile, extremes, x, n);
  // A real quotient needs a scale that is one; x / scale of a scale 0, NaN or infinity is defined in float32
  // only.
  const bool exact = profile == SB_EXACT && is_finite(q.scale) && q.scale != 0;
  const QuantizeParams p = prepare_quantize(exact ? SB_EXACT : SB_ORT_X64_VNNI, SB_UINT8, q);
  if (p.rule == QuantizeRule::exact) table.u8.quantize_exact(x, y, n, p.exact);
  else if (p.rule == QuantizeRule::f32_reciprocal) table.u8.quantize_f32_reciprocal(x, y, n, p.f32);
  else table.u8.quantize_f32_divide(x, y, n, p.f32);
  return q;
}

constexpr size_t align_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// Parts of the workspace: codes of A, column scales, the product's own.
struct Parts {
  size_t codes, scales, product, total;
};

sb_status parts(const GemmPlan& plan, const sb_gemm_args& args, const sb_parallel* parallel, Parts* out,
                sb_error* error) {
  const sb_matmul& m = plan.matmul;
  ExactOutput exact;
  sb_gemm_args codes = args;
  codes.lda = m.k;
  Parts p{};
  size_t scale_bytes = 0;
  bool ok = !__builtin_mul_overflow(args.m, m.k, &p.codes) && p.codes <= SIZE_MAX / 8 &&
            !__builtin_mul_overflow(m.n, sizeof(float), &scale_bytes) && scale_bytes <= SIZE_MAX / 8;
  ok = ok && gemm_workspace(problem(plan, codes, &exact), thread_count(parallel), &p.product);
  p.codes = align_up(p.codes);
  p.scales = plan.per_column ? align_up(scale_bytes) : 0;
  ok = ok && !__builtin_add_overflow(p.codes + p.scales + 64, p.product, &p.total);
  if (!ok) return fail(error, SB_BAD_ARGUMENT, "m is %zu; the workspace overflows size_t", args.m);
  *out = p;
  return SB_OK;
}

sb_status open_dynamic(const sb_gemm_plan* in, const sb_gemm_args* args, const sb_parallel* parallel,
                       GemmPlan* plan, sb_error* error) {
  if (!in) return fail(error, SB_BAD_ARGUMENT, "plan is null");
  *plan = open<GemmPlan>(in);
  if (plan->magic != kDynamicGemmMagic)
    return fail(error, SB_BAD_ARGUMENT, "plan was not filled by sb_dynamic_quantize_matmul_prepare");
  if (!args) return fail(error, SB_BAD_ARGUMENT, "args is null");
  if (args->c) return fail(error, SB_BAD_ARGUMENT, "c is not null; DynamicQuantizeMatMul has none");
  return check_parallel(parallel, error);
}

}  // namespace

extern "C" {

sb_status sb_dynamic_quantize_linear(const sb_context* context, const float* x, uint8_t* y, size_t n,
                                     sb_quant* y_quant, sb_error* error) {
  if (!context) return fail(error, SB_BAD_ARGUMENT, "context is null");
  const ContextView c = open<ContextView>(context);
  if (c.magic != kContextMagic)
    return fail(error, SB_BAD_ARGUMENT, "context was not filled by sb_context_init");
  if (!y_quant) return fail(error, SB_BAD_ARGUMENT, "y_quant is null");
  if (n > SIZE_MAX / sizeof(float))
    return fail(error, SB_BAD_ARGUMENT, "n is %zu; its bytes overflow size_t", n);
  if (n > 0) {
    const sb_status s = check_buffers("x", x, n * sizeof(float), y, n, false, error);
    if (s != SB_OK) return s;
  }
  const FpGuard guard;
  *y_quant = quantize(c.profile, table_for(c.backend), x, y, n);
  return ok(error);
}

sb_status sb_dynamic_quantize_matmul_prepare(const sb_context* context, const sb_matmul* matmul,
                                             const sb_matmul_scales* scales, const float* bias,
                                             sb_gemm_plan* out, sb_error* error) {
  const FpGuard guard;
  ContextView c{};
  GemmPlan plan{};
  sb_status s = begin(context, out, &c, error);
  if (s != SB_OK) return s;
  if (!matmul) return fail(error, SB_BAD_ARGUMENT, "matmul is null");
  if (!scales) return fail(error, SB_BAD_ARGUMENT, "scales is null");
  if (matmul->a_type != SB_UINT8)
    return fail(error, SB_UNSUPPORTED, "a_type is %d; DynamicQuantizeMatMul quantizes to SB_UINT8",
                static_cast<int>(matmul->a_type));
  if (matmul->trans_a)
    return fail(error, SB_UNSUPPORTED, "trans_a is %d; A is quantized as it is stored", matmul->trans_a);
  sb_matmul m = *matmul;
  m.a_zero_point = 0;
  sb_matmul_scales given = *scales;
  float unused;
  given.alpha = given.a_scale = 1;
  given.column_scale = &unused;
  s = check_matmul(c, &m, &plan, error);
  if (s == SB_OK) s = check_scales(c, &given, m.n, &plan, error);
  if (s == SB_OK) s = check_float_bias(plan, bias, error);
  if (s != SB_OK) return s;
  plan.magic = kDynamicGemmMagic;
  plan.column_scale = nullptr;
  plan.profile = c.profile;
  plan.table = &table_for(c.backend);
  plan.y_type = SB_FLOAT32;
  plan.float_bias = bias;
  plan.output = float_output(c.profile, bias != nullptr);
  seal(plan, out);
  return ok(error);
}

sb_status sb_dynamic_quantize_matmul_workspace_bytes(const sb_gemm_plan* in, const sb_gemm_args* args,
                                                     const sb_parallel* parallel, size_t* bytes,
                                                     sb_error* error) {
  GemmPlan plan{};
  Parts p{};
  sb_status s = open_dynamic(in, args, parallel, &plan, error);
  if (s == SB_OK && !bytes) s = fail(error, SB_BAD_ARGUMENT, "bytes is null");
  if (s == SB_OK) s = parts(plan, *args, parallel, &p, error);
  if (s != SB_OK) return s;
  *bytes = p.total;
  return ok(error);
}

sb_status sb_dynamic_quantize_matmul_run(const sb_gemm_plan* in, const sb_gemm_args* args,
                                         const sb_parallel* parallel, void* workspace, size_t workspace_bytes,
                                         sb_error* error) {
  GemmPlan plan{};
  Parts p{};
  sb_status s = open_dynamic(in, args, parallel, &plan, error);
  if (s == SB_OK) s = parts(plan, *args, parallel, &p, error);
  if (s != SB_OK) return s;
  const sb_matmul& m = plan.matmul;
  if (args->m == 0 || m.n == 0) return ok(error);
  if (args->lda != m.k)
    return fail(error, SB_BAD_ARGUMENT, "lda is %zu; A is dense, with lda = k, which is %zu", args->lda, m.k);
  const size_t values = args->m * m.k;
  const auto* a = static_cast<const float*>(args->a);
  size_t y_bytes = 0;
  if (!a && values > 0) return fail(error, SB_BAD_ARGUMENT, "a is null");
  if (extent(args->m, m.n, args->ldy, sizeof(float), &y_bytes) &&
      overlap(a, values * sizeof(float), args->y, y_bytes))
    return fail(error, SB_BAD_ARGUMENT, "y at %p overlaps a at %p", args->y, args->a);
  if (!workspace || workspace_bytes < p.total)
    return fail(error, SB_SMALL_BUFFER, "workspace_bytes is %zu; %zu are needed",
                workspace ? workspace_bytes : 0, p.total);
  auto* memory = reinterpret_cast<uint8_t*>(align_up(reinterpret_cast<uintptr_t>(workspace)));
  sb_gemm_args product = *args;
  product.a = memory;
  s = check_run(plan, product, error);
  if (s != SB_OK) return s;

  const FpGuard guard;
  const sb_quant q = quantize(plan.profile, *plan.table, a, memory, values);
  plan.za = q.zero_point + (plan.flip_a ? flipped_zero_point_shift(SB_UINT8) : 0);
  plan.a_scale = q.scale;
  plan.exact = plan.exact && is_finite(q.scale);  // infinite when A is, or its span
  plan.scale = float_scale(1, q.scale, plan.b_scale[0]);
  if (plan.per_column) {
    auto* scales = reinterpret_cast<float*>(memory + p.codes);
    for (size_t j = 0; j < m.n; ++j) scales[j] = float_scale(1, q.scale, plan.b_scale[j]);
    plan.column_scale = scales;
  }
  ExactOutput exact;
  gemm_run(problem(plan, product, &exact), parallel, memory + p.codes + p.scales);
  return ok(error);
}

}  // extern "C"
