// requantize.
#include "params/requantize.h"

#include "api/plan.h"
#include "core/fp_env.h"
#include "core/kernel_names.h"

using namespace samebit;

namespace {

struct RequantizePlan {
  uint32_t magic;
  sb_type type;
  float scale;  // per tensor
  Requantize params;
  const char* kernel;
  AnyKernel function;  // RequantizeKernel<T> with T by type
};

template <class T>
AnyKernel choose(const ByteKernels<T>& k, RequantizeRule rule) {
  switch (rule) {
    case RequantizeRule::f32_clamp:
      return reinterpret_cast<AnyKernel>(k.requantize_f32_clamp);
    case RequantizeRule::f32_saturate:
      return reinterpret_cast<AnyKernel>(k.requantize_f32_saturate);
    case RequantizeRule::exact:
      return reinterpret_cast<AnyKernel>(k.requantize_exact);
  }
  return nullptr;
}

}  // namespace

extern "C" {

sb_status sb_requantize_prepare(const sb_context* context, sb_type y_type, const float* scale,
                                size_t scale_count, const int32_t* bias, size_t columns, int32_t y_zero_point,
                                sb_requantize_plan* out, sb_error* error) {
  const FpGuard guard;  // before the checks: a subnormal scale is not zero
  ContextView c{};
  sb_status s = begin(context, out, &c, error);
  if (s == SB_OK) s = check_byte_type("y_type", y_type, error);
  if (s == SB_OK) s = check_zero_point("y", y_type, y_zero_point, error);
  if (s != SB_OK) return s;
  if (!scale) return fail(error, SB_BAD_ARGUMENT, "scale is null");
  if (columns == 0) return fail(error, SB_BAD_ARGUMENT, "columns is 0; at least 1 is needed");
  if (scale_count != 1 && scale_count != columns)
    return fail(error, SB_BAD_ARGUMENT, "scale_count is %zu; it is 1 or columns, which is %zu", scale_count,
                columns);
  for (size_t i = 0; i < scale_count; ++i) {
    if (check_scale("scale", c.profile, scale[i], false, nullptr) != SB_OK)
      return fail(error, SB_BAD_SCALE, "scale[%zu] is %s; profile exact needs a finite scale", i,
                  FloatText(scale[i]).text);
  }
  RequantizePlan plan{};
  plan.magic = kRequantizeMagic;
  plan.type = y_type;
  plan.scale = *scale;
  plan.params = {scale, bias, columns, scale_count > 1, y_zero_point};
  const RequantizeRule rule = prepare_requantize(c.profile, scale, scale_count);
  const KernelTable& table = table_for(c.backend);
  plan.function = y_type == SB_INT8 ? choose(table.s8, rule) : choose(table.u8, rule);
  plan.kernel = kernel_name(c.backend, find_entry("requantize", y_type == SB_INT8 ? "s8" : "u8", name(rule)));
  seal(plan, out);
  return ok(error);
}

sb_status sb_requantize_run(const sb_requantize_plan* in, const int32_t* acc, void* y, size_t rows,
                            sb_error* error) {
  if (!in) return fail(error, SB_BAD_ARGUMENT, "plan is null");
  RequantizePlan plan = open<RequantizePlan>(in);
  if (plan.magic != kRequantizeMagic)
    return fail(error, SB_BAD_ARGUMENT, "plan was not filled by its prepare function");
  if (rows == 0) return ok(error);
  const size_t columns = plan.params.columns;
  if (rows > SIZE_MAX / sizeof(int32_t) / columns)
    return fail(error, SB_BAD_ARGUMENT, "rows is %zu; rows x columns (%zu) overflows size_t", rows, columns);
  const size_t n = rows * columns;
  const sb_status s = check_buffers("acc", acc, n * sizeof(int32_t), y, n, false, error);
  if (s != SB_OK) return s;
  const FpGuard guard;
  if (!plan.params.per_column) plan.params.scale = &plan.scale;  // the plan may have been copied
  if (plan.type == SB_INT8) {
    reinterpret_cast<RequantizeKernel<int8_t>>(plan.function)(acc, static_cast<int8_t*>(y), rows,
                                                              plan.params);
  } else {
    reinterpret_cast<RequantizeKernel<uint8_t>>(plan.function)(acc, static_cast<uint8_t*>(y), rows,
                                                               plan.params);
  }
  return ok(error);
}

const char* sb_requantize_kernel(const sb_requantize_plan* in) {
  const RequantizePlan plan = in ? open<RequantizePlan>(in) : RequantizePlan{};
  return plan.magic == kRequantizeMagic ? plan.kernel : nullptr;
}

}  // extern "C"
