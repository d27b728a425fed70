// Matrix products: MatMulInteger, QLinearMatMul, QGemm, MatMulIntegerToFloat.
#include "api/gemm_plan.h"
#include "core/fp_env.h"
#include "core/packed.h"

using namespace samebit;

namespace {

template <class Scale>
void fill_scales(const sb_matmul_scales& scales, GemmPlan* plan, const Scale& scale) {
  if (!plan->per_column) {
    if (scales.b_scale_count == 1) plan->scale = scale(scales.b_scale[0]);
  } else {
    for (size_t j = 0; j < scales.b_scale_count; ++j) scales.column_scale[j] = scale(scales.b_scale[j]);
  }
}

}  // namespace

extern "C" {

sb_status sb_matmul_integer_prepare(const sb_context* context, const sb_matmul* matmul, sb_gemm_plan* out,
                                    sb_error* error) {
  ContextView c{};
  GemmPlan plan{};
  sb_status s = begin(context, out, &c, error);
  if (s == SB_OK) s = check_matmul(c, matmul, &plan, error);
  if (s != SB_OK) return s;
  plan.y_type = SB_INT32;
  plan.output = GemmOutput::s32;
  seal(plan, out);
  return ok(error);
}

sb_status sb_qgemm_prepare(const sb_context* context, const sb_matmul* matmul, const sb_matmul_scales* scales,
                           sb_type y_type, sb_quant y, sb_gemm_plan* out, sb_error* error) {
  const FpGuard guard;  // scales may be subnormal
  ContextView c{};
  GemmPlan plan{};
  sb_status s = begin(context, out, &c, error);
  if (s == SB_OK) s = check_matmul(c, matmul, &plan, error);
  if (s == SB_OK) s = check_scales(c, scales, matmul->n, &plan, error);
  if (s != SB_OK) return s;
  plan.y_type = y_type;
  if (y_type == SB_FLOAT32) {
    fill_scales(*scales, &plan, [&](float b) { return float_scale(scales->alpha, scales->a_scale, b); });
    plan.output = float_output(c.profile, false);
  } else {
    if (check_byte_type("y_type", y_type, nullptr) != SB_OK)
      return fail(error, SB_UNSUPPORTED, "y_type is %d; supported are SB_INT8, SB_UINT8 and SB_FLOAT32",
                  static_cast<int>(y_type));
    s = check_zero_point("y", y_type, y.zero_point, error);
    if (s == SB_OK) s = check_scale("y", c.profile, y.scale, true, error);
    if (s != SB_OK) return s;
    plan.y = y;
    fill_scales(*scales, &plan,
                [&](float b) { return codes_scale(scales->alpha, scales->a_scale, b, y.scale); });
    plan.output = codes_output(c.profile, y_type, plan.per_column ? plan.column_scale : &plan.scale,
                               plan.per_column ? matmul->n : 1);
  }
  seal(plan, out);
  return ok(error);
}

sb_status sb_matmul_integer_to_float_prepare(const sb_context* context, const sb_matmul* matmul,
                                             const sb_matmul_scales* scales, const float* bias,
                                             sb_gemm_plan* out, sb_error* error) {
  const FpGuard guard;
  ContextView c{};
  GemmPlan plan{};
  sb_status s = begin(context, out, &c, error);
  if (s == SB_OK) s = check_matmul(c, matmul, &plan, error);
  if (s == SB_OK) s = check_scales(c, scales, matmul->n, &plan, error);
  if (s == SB_OK) s = check_float_bias(plan, bias, error);
  if (s != SB_OK) return s;
  plan.y_type = SB_FLOAT32;
  plan.float_bias = bias;
  plan.output = float_output(c.profile, bias != nullptr);
  fill_scales(*scales, &plan, [&](float b) { return float_scale(scales->alpha, scales->a_scale, b); });
  seal(plan, out);
  return ok(error);
}

const char* sb_gemm_kernel(const sb_gemm_plan* in) {
  const GemmPlan plan = in ? open<GemmPlan>(in) : GemmPlan{};
  return plan.magic == kGemmMagic ? plan.name : nullptr;
}

sb_status sb_gemm_packed_bytes(const sb_gemm_plan* in, size_t* bytes, sb_error* error) {
  GemmPlan plan{};
  sb_status s = open_plan(in, &plan, error);
  if (s != SB_OK) return s;
  if (!bytes) return fail(error, SB_BAD_ARGUMENT, "bytes is null");
  s = packed_size(plan, bytes, error);
  return s == SB_OK ? ok(error) : s;
}

sb_status sb_gemm_pack(const sb_gemm_plan* in, const void* b, size_t ldb, void* packed, size_t packed_bytes,
                       sb_error* error) {
  GemmPlan plan{};
  sb_status s = open_plan(in, &plan, error);
  if (s != SB_OK) return s;
  const sb_matmul& m = plan.matmul;
  size_t bytes = 0, b_bytes = 0;
  s = packed_size(plan, &bytes, error);
  if (s == SB_OK)
    s = m.trans_b ? check_stride("ldb", ldb, "k", m.k, error) : check_stride("ldb", ldb, "n", m.n, error);
  if (s != SB_OK) return s;
  if (!extent(m.trans_b ? m.n : m.k, m.trans_b ? m.k : m.n, ldb, 1, &b_bytes))
    return fail(error, SB_BAD_ARGUMENT, "ldb is %zu; the bytes of b overflow size_t", ldb);
  if (!b && b_bytes > 0) return fail(error, SB_BAD_ARGUMENT, "b is null");
  if (!packed) return fail(error, SB_BAD_ARGUMENT, "packed is null");
  if (reinterpret_cast<uintptr_t>(packed) % 64 != 0)
    return fail(error, SB_BAD_ARGUMENT, "packed at %p is not aligned to 64 bytes", packed);
  if (packed_bytes < bytes)
    return fail(error, SB_SMALL_BUFFER, "packed_bytes is %zu; %zu are needed", packed_bytes, bytes);
  if (overlap(b, b_bytes, packed, bytes))
    return fail(error, SB_BAD_ARGUMENT, "packed at %p overlaps b at %p", packed, b);
  auto* panels = static_cast<uint8_t*>(packed) + sizeof(PackedHeader);
  pack_panels(*plan.kernel, static_cast<const uint8_t*>(b), m.trans_b ? 1 : ldb, m.trans_b ? ldb : 1,
              plan.flip_b, m.n, m.k, panels);
  PackedHeader header;
  write_header(*plan.kernel, m.n, m.k, plan.flip_b, panels, bytes - sizeof header, &header);
  std::memcpy(packed, &header, sizeof header);
  return ok(error);
}

sb_status sb_gemm_check_packed(const sb_gemm_plan* in, const void* packed, size_t packed_bytes,
                               sb_error* error) {
  GemmPlan plan{};
  sb_status s = open_plan(in, &plan, error);
  if (s != SB_OK) return s;
  if (!packed) return fail(error, SB_BAD_ARGUMENT, "packed is null");
  s = check_header(plan, packed, packed_bytes, error);
  if (s != SB_OK) return s;
  size_t bytes = 0;
  packed_size(plan, &bytes, nullptr);
  PackedHeader header;
  std::memcpy(&header, packed, sizeof header);
  if (panels_hash(static_cast<const uint8_t*>(packed) + sizeof header, bytes - sizeof header) !=
      header.panels_hash)
    return fail(error, SB_BAD_PACKED,
                "packed weights at %p are damaged: the checksum of their panels does not fit", packed);
  return ok(error);
}

sb_status sb_gemm_workspace_bytes(const sb_gemm_plan* in, const sb_gemm_args* args,
                                  const sb_parallel* parallel, size_t* bytes, sb_error* error) {
  GemmPlan plan{};
  sb_status s = open_plan(in, &plan, error);
  if (s == SB_OK && !args) s = fail(error, SB_BAD_ARGUMENT, "args is null");
  if (s == SB_OK && !bytes) s = fail(error, SB_BAD_ARGUMENT, "bytes is null");
  if (s == SB_OK) s = check_parallel(parallel, error);
  if (s == SB_OK) s = packed_size(plan, bytes, error);
  if (s != SB_OK) return s;
  ExactOutput exact;
  if (!gemm_workspace(problem(plan, *args, &exact), thread_count(parallel), bytes))
    return fail(error, SB_BAD_ARGUMENT, "m is %zu; the workspace overflows size_t", args->m);
  return ok(error);
}

sb_status sb_gemm_run(const sb_gemm_plan* in, const sb_gemm_args* args, const sb_parallel* parallel,
                      void* workspace, size_t workspace_bytes, sb_error* error) {
  GemmPlan plan{};
  sb_status s = open_plan(in, &plan, error);
  if (s == SB_OK && !args) s = fail(error, SB_BAD_ARGUMENT, "args is null");
  if (s == SB_OK) s = check_parallel(parallel, error);
  if (s != SB_OK) return s;
  if (args->m == 0 || plan.matmul.n == 0) return ok(error);
  s = check_run(plan, *args, error);
  if (s != SB_OK) return s;
  ExactOutput exact;
  const GemmProblem p = problem(plan, *args, &exact);
  size_t bytes = 0;
  if (!gemm_workspace(p, thread_count(parallel), &bytes))
    return fail(error, SB_BAD_ARGUMENT, "m is %zu; the workspace overflows size_t", args->m);
  if (workspace_bytes < bytes || (bytes > 0 && !workspace))
    return fail(error, SB_SMALL_BUFFER, "workspace_bytes is %zu; %zu are needed",
                workspace ? workspace_bytes : 0, bytes);
  const FpGuard guard;
  gemm_run(p, parallel, workspace);
  return ok(error);
}

}  // extern "C"
