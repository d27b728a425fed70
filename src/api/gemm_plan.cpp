#include "api/gemm_plan.h"

#include "core/kernel_names.h"
#include "core/packed.h"

namespace samebit {
namespace {

constexpr size_t kMaxK = size_t{1} << 24;

float b_scale(const GemmPlan& plan, size_t column) { return plan.b_scale[plan.per_column ? column : 0]; }

void store_exact_code(const void* self, int32_t acc, int32_t c, size_t column, void* y, size_t at) {
  const GemmPlan& p = *static_cast<const GemmPlan*>(self);
  const Range range = range_of(p.y_type);
  const int32_t q = sb_ref_gemm_exact_code(acc, c, p.alpha, p.a_scale, b_scale(p, column), p.y.scale,
                                           p.y.zero_point, range.lo, range.hi);
  static_cast<uint8_t*>(y)[at] = static_cast<uint8_t>(q);
}

void store_exact_float(const void* self, int32_t acc, int32_t c, size_t column, void* y, size_t at) {
  const GemmPlan& p = *static_cast<const GemmPlan*>(self);
  static_cast<float*>(y)[at] = sb_ref_gemm_exact_float(acc, c, p.alpha, p.a_scale, b_scale(p, column),
                                                       p.float_bias ? p.float_bias[column] : 0.0f);
}

}  // namespace

size_t width(sb_type type) { return type == SB_INT32 || type == SB_FLOAT32 ? 4 : 1; }

sb_status check_matmul(const ContextView& context, const sb_matmul* m, GemmPlan* plan, sb_error* error) {
  if (!m) return fail(error, SB_BAD_ARGUMENT, "matmul is null");
  sb_status s = check_byte_type("a_type", m->a_type, error);
  if (s == SB_OK) s = check_byte_type("b_type", m->b_type, error);
  if (s == SB_OK) s = check_zero_point("a", m->a_type, m->a_zero_point, error);
  if (s != SB_OK) return s;
  if (m->k > kMaxK) return fail(error, SB_BAD_ARGUMENT, "k is %zu; at most %zu is supported", m->k, kMaxK);
  const size_t count = m->b_zero_point_count;
  if (count > 1 && count != m->n)
    return fail(error, SB_BAD_ARGUMENT, "b_zero_point_count is %zu; it is 0, 1 or n, which is %zu", count,
                m->n);
  if (count > 0 && !m->b_zero_point)
    return fail(error, SB_BAD_ARGUMENT, "b_zero_point is null with b_zero_point_count %zu", count);
  const Range range = range_of(m->b_type);
  for (size_t j = 0; j < count; ++j)
    if (m->b_zero_point[j] < range.lo || m->b_zero_point[j] > range.hi)
      return fail(error, SB_BAD_ZERO_POINT, "b_zero_point[%zu] is %d; %s allows %d to %d", j,
                  m->b_zero_point[j], sb_type_name(m->b_type), range.lo, range.hi);

  const KernelTable& table = table_for(context.backend);
  const DotRule rule = dot_rule(context.profile, m->a_type, m->b_type);
  plan->kernel = rule == DotRule::exact     ? table.gemm_exact
                 : rule == DotRule::pairsat ? table.gemm_pairsat
                                            : table.gemm_pairwrap;
  plan->name = kernel_name(context.backend, find_entry("gemm", nullptr, name(rule)));
  plan->matmul = *m;
  plan->flip_a = (m->a_type == SB_INT8) != plan->kernel->a_signed;
  plan->flip_b = m->b_type == SB_UINT8;
  plan->za = m->a_zero_point + (plan->flip_a ? flipped_zero_point_shift(m->a_type) : 0);
  plan->magic = kGemmMagic;
  return SB_OK;
}

sb_status check_scales(const ContextView& context, const sb_matmul_scales* scales, size_t n, GemmPlan* plan,
                       sb_error* error) {
  if (!scales) return fail(error, SB_BAD_ARGUMENT, "scales is null");
  const size_t count = scales->b_scale_count;
  if (count != 1 && count != n)
    return fail(error, SB_BAD_ARGUMENT, "b_scale_count is %zu; it is 1 or n, which is %zu", count, n);
  if (!scales->b_scale && count > 0) return fail(error, SB_BAD_ARGUMENT, "b_scale is null");
  if (!scales->column_scale && count > 1)
    return fail(error, SB_BAD_ARGUMENT, "column_scale is null with %zu scales of b", count);
  sb_status s = check_scale("alpha", context.profile, scales->alpha, false, error);
  if (s == SB_OK) s = check_scale("a", context.profile, scales->a_scale, false, error);
  if (s != SB_OK) return s;
  for (size_t j = 0; j < count; ++j)
    if (check_scale("b_scale", context.profile, scales->b_scale[j], false, nullptr) != SB_OK)
      return fail(error, SB_BAD_SCALE, "b_scale[%zu] is %s; profile exact needs a finite scale", j,
                  FloatText(scales->b_scale[j]).text);
  plan->exact = context.profile == SB_EXACT;
  plan->alpha = scales->alpha;
  plan->a_scale = scales->a_scale;
  plan->b_scale = scales->b_scale;
  plan->per_column = count > 1;
  plan->column_scale = scales->column_scale;
  return SB_OK;
}

sb_status open_plan(const sb_gemm_plan* in, GemmPlan* plan, sb_error* error) {
  if (!in) return fail(error, SB_BAD_ARGUMENT, "plan is null");
  *plan = open<GemmPlan>(in);
  if (plan->magic != kGemmMagic)
    return fail(error, SB_BAD_ARGUMENT, "plan was not filled by its prepare function");
  return SB_OK;
}

bool extent(size_t rows, size_t columns, size_t stride, size_t value, size_t* bytes) {
  *bytes = 0;
  if (rows == 0 || columns == 0) return true;
  return !__builtin_mul_overflow(rows - 1, stride, bytes) &&
         !__builtin_add_overflow(*bytes, columns, bytes) && !__builtin_mul_overflow(*bytes, value, bytes);
}

sb_status check_stride(const char* name, size_t stride, const char* what, size_t least, sb_error* error) {
  if (stride >= least) return SB_OK;
  return fail(error, SB_BAD_ARGUMENT, "%s is %zu; at least %s, which is %zu, is needed", name, stride, what,
              least);
}

sb_status packed_size(const GemmPlan& plan, size_t* bytes, sb_error* error) {
  const sb_matmul& m = plan.matmul;
  // Panels pad columns to at most a panel and k to at most 64, with at most 4 bytes a code and 64 a panel
  // column.
  size_t bound = 0;
  if (__builtin_mul_overflow(m.n + 64, m.k + 128, &bound) ||
      __builtin_mul_overflow(bound, size_t{8}, &bound) || m.n > SIZE_MAX - 64)
    return fail(error, SB_BAD_ARGUMENT, "n is %zu and k is %zu; packed weights overflow size_t", m.n, m.k);
  *bytes = sizeof(PackedHeader) + packed_panels_bytes(*plan.kernel, m.n, m.k);
  return SB_OK;
}

sb_status check_header(const GemmPlan& plan, const void* packed, size_t packed_bytes, sb_error* error) {
  size_t bytes = 0;
  const sb_status s = packed_size(plan, &bytes, error);
  if (s != SB_OK) return s;
  if (reinterpret_cast<uintptr_t>(packed) % 64 != 0)
    return fail(error, SB_BAD_ARGUMENT, "packed_b at %p is not aligned to 64 bytes", packed);
  if (packed_bytes < bytes)
    return fail(error, SB_SMALL_BUFFER, "packed_bytes is %zu; this plan's packed weights have %zu",
                packed_bytes, bytes);
  PackedHeader header;
  std::memcpy(&header, packed, sizeof header);
  if (const char* problem = header_problem(header, *plan.kernel, plan.matmul.n, plan.matmul.k, plan.flip_b))
    return fail(error, SB_BAD_PACKED, "packed weights at %p are %s", packed, problem);
  return SB_OK;
}

GemmProblem problem(const GemmPlan& plan, const sb_gemm_args& args, ExactOutput* exact) {
  const sb_matmul& m = plan.matmul;
  GemmProblem p{};
  p.kernel = plan.kernel;
  p.m = args.m;
  p.n = m.n;
  p.k = m.k;
  p.a = static_cast<const uint8_t*>(args.a);
  p.a_row = m.trans_a ? 1 : args.lda;
  p.a_column = m.trans_a ? args.lda : 1;
  p.flip_a = plan.flip_a;
  p.za = plan.za;
  if (args.packed_b) p.panels = static_cast<const uint8_t*>(args.packed_b) + sizeof(PackedHeader);
  p.b = static_cast<const uint8_t*>(args.b);
  p.b_row = m.trans_b ? 1 : args.ldb;
  p.b_column = m.trans_b ? args.ldb : 1;
  p.flip_b = plan.flip_b;
  p.zb = m.b_zero_point;
  p.zb_count = m.b_zero_point_count;
  p.zb_shift = plan.flip_b ? flipped_zero_point_shift(m.b_type) : 0;
  p.c = args.c;
  p.c_row = args.c_row_stride;
  p.c_column = args.c_column_stride;
  p.output = plan.output;
  p.y = args.y;
  p.ldy = args.ldy;
  p.y_width = width(plan.y_type);
  p.scale = plan.per_column ? plan.column_scale : &plan.scale;
  p.per_column = plan.per_column;
  p.float_bias = plan.float_bias;
  p.zero_point = plan.y.zero_point;
  if (plan.exact) {
    *exact = {plan.y_type == SB_FLOAT32 ? store_exact_float : store_exact_code, &plan};
    p.exact = exact;
  }
  return p;
}

size_t thread_count(const sb_parallel* parallel) { return parallel ? parallel->threads : 1; }

sb_status check_parallel(const sb_parallel* parallel, sb_error* error) {
  if (!parallel) return SB_OK;
  if (!parallel->run) return fail(error, SB_BAD_ARGUMENT, "parallel->run is null");
  if (parallel->threads == 0 || parallel->threads > 1u << 20)
    return fail(error, SB_BAD_ARGUMENT, "parallel->threads is %zu; 1 to 2^20 are supported",
                parallel->threads);
  return SB_OK;
}

sb_status check_run(const GemmPlan& plan, const sb_gemm_args& args, sb_error* error) {
  const sb_matmul& m = plan.matmul;
  size_t a_bytes, b_bytes, c_bytes = 0, y_bytes;
  sb_status s = m.trans_a ? check_stride("lda", args.lda, "m", args.m, error)
                          : check_stride("lda", args.lda, "k", m.k, error);
  if (s == SB_OK) s = check_stride("ldy", args.ldy, "n", m.n, error);
  if (s == SB_OK && !args.packed_b)
    s = m.trans_b ? check_stride("ldb", args.ldb, "k", m.k, error)
                  : check_stride("ldb", args.ldb, "n", m.n, error);
  if (s != SB_OK) return s;
  if (!extent(m.trans_a ? m.k : args.m, m.trans_a ? args.m : m.k, args.lda, 1, &a_bytes))
    return fail(error, SB_BAD_ARGUMENT, "m is %zu and lda is %zu; the bytes of a overflow size_t", args.m,
                args.lda);
  if (!extent(args.m, m.n, args.ldy, width(plan.y_type), &y_bytes))
    return fail(error, SB_BAD_ARGUMENT, "m is %zu and ldy is %zu; the bytes of y overflow size_t", args.m,
                args.ldy);
  if (!args.a && a_bytes > 0) return fail(error, SB_BAD_ARGUMENT, "a is null");
  if (!args.y) return fail(error, SB_BAD_ARGUMENT, "y is null");
  if (overlap(args.a, a_bytes, args.y, y_bytes))
    return fail(error, SB_BAD_ARGUMENT, "y at %p overlaps a at %p", args.y, args.a);
  if (args.packed_b) {
    s = check_header(plan, args.packed_b, args.packed_bytes, error);
    if (s != SB_OK) return s;
    if (overlap(args.packed_b, args.packed_bytes, args.y, y_bytes))
      return fail(error, SB_BAD_ARGUMENT, "y at %p overlaps packed_b at %p", args.y, args.packed_b);
  } else {
    if (!extent(m.trans_b ? m.n : m.k, m.trans_b ? m.k : m.n, args.ldb, 1, &b_bytes))
      return fail(error, SB_BAD_ARGUMENT, "ldb is %zu; the bytes of b overflow size_t", args.ldb);
    if (!args.b && b_bytes > 0) return fail(error, SB_BAD_ARGUMENT, "b and packed_b are null");
    if (overlap(args.b, b_bytes, args.y, y_bytes))
      return fail(error, SB_BAD_ARGUMENT, "y at %p overlaps b at %p", args.y, args.b);
  }
  if (args.c) {
    size_t row_part;
    if (__builtin_mul_overflow(args.m - 1, args.c_row_stride, &row_part) ||
        __builtin_mul_overflow(m.n - 1, args.c_column_stride, &c_bytes) ||
        __builtin_add_overflow(c_bytes, row_part, &c_bytes) || c_bytes > SIZE_MAX / sizeof(int32_t) - 1)
      return fail(error, SB_BAD_ARGUMENT,
                  "c_row_stride is %zu and c_column_stride is %zu; the bytes of c overflow size_t",
                  args.c_row_stride, args.c_column_stride);
    c_bytes = (c_bytes + 1) * sizeof(int32_t);
    if (overlap(args.c, c_bytes, args.y, y_bytes))
      return fail(error, SB_BAD_ARGUMENT, "y at %p overlaps c at %p", args.y,
                  static_cast<const void*>(args.c));
  }
  return SB_OK;
}

sb_status check_float_bias(const GemmPlan& plan, const float* bias, sb_error* error) {
  for (size_t j = 0; plan.exact && bias && j < plan.matmul.n; ++j)
    if (!is_finite(bias[j]))
      return fail(error, SB_BAD_ARGUMENT, "bias[%zu] is %s; profile exact needs finite numbers", j,
                  FloatText(bias[j]).text);
  return SB_OK;
}

}  // namespace samebit
