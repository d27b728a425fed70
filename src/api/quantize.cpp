// QuantizeLinear.
#include "params/quantize.h"

#include "api/plan.h"
#include "core/fp_env.h"
#include "core/kernel_names.h"

using namespace samebit;

namespace {

struct QuantizePlan {
  uint32_t magic;
  sb_type type;
  QuantizeParams params;
  const char* kernel;
  AnyKernel function;  // UnaryKernel<float, T, P> with T and P by type and rule
};

template <class T>
AnyKernel choose(const ByteKernels<T>& k, QuantizeRule rule) {
  switch (rule) {
    case QuantizeRule::f32_divide:
      return reinterpret_cast<AnyKernel>(k.quantize_f32_divide);
    case QuantizeRule::f32_reciprocal:
      return reinterpret_cast<AnyKernel>(k.quantize_f32_reciprocal);
    case QuantizeRule::exact:
      return reinterpret_cast<AnyKernel>(k.quantize_exact);
  }
  return nullptr;
}

template <class T>
void call(const QuantizePlan& plan, const float* x, void* y, size_t n) {
  T* out = static_cast<T*>(y);
  if (plan.params.rule == QuantizeRule::exact) {
    reinterpret_cast<UnaryKernel<float, T, sb_ref_quantize_exact>>(plan.function)(x, out, n,
                                                                                  plan.params.exact);
  } else {
    reinterpret_cast<UnaryKernel<float, T, QuantizeF32>>(plan.function)(x, out, n, plan.params.f32);
  }
}

}  // namespace

extern "C" {

sb_status sb_quantize_linear_prepare(const sb_context* context, sb_type y_type, sb_quant y,
                                     sb_quantize_linear_plan* out, sb_error* error) {
  const FpGuard guard;  // before the checks: a subnormal scale is not zero
  ContextView c{};
  sb_status s = begin(context, out, &c, error);
  if (s == SB_OK) s = check_byte_type("y_type", y_type, error);
  if (s == SB_OK) s = check_zero_point("y", y_type, y.zero_point, error);
  if (s == SB_OK) s = check_scale("y", c.profile, y.scale, true, error);
  if (s != SB_OK) return s;
  QuantizePlan plan{};
  plan.magic = kQuantizeMagic;
  plan.type = y_type;
  plan.params = prepare_quantize(c.profile, y_type, y);
  const KernelTable& table = table_for(c.backend);
  plan.function = y_type == SB_INT8 ? choose(table.s8, plan.params.rule) : choose(table.u8, plan.params.rule);
  plan.kernel =
      kernel_name(c.backend, find_entry("quantize", y_type == SB_INT8 ? "s8" : "u8", name(plan.params.rule)));
  seal(plan, out);
  return ok(error);
}

sb_status sb_quantize_linear_run(const sb_quantize_linear_plan* in, const float* x, void* y, size_t n,
                                 sb_error* error) {
  if (!in) return fail(error, SB_BAD_ARGUMENT, "plan is null");
  const QuantizePlan plan = open<QuantizePlan>(in);
  if (plan.magic != kQuantizeMagic)
    return fail(error, SB_BAD_ARGUMENT, "plan was not filled by its prepare function");
  if (n == 0) return ok(error);
  if (n > SIZE_MAX / sizeof(float))
    return fail(error, SB_BAD_ARGUMENT, "n is %zu; its bytes overflow size_t", n);
  const sb_status s = check_buffers("x", x, n * sizeof(float), y, n, false, error);
  if (s != SB_OK) return s;
  const FpGuard guard;
  if (plan.type == SB_INT8) call<int8_t>(plan, x, y, n);
  else call<uint8_t>(plan, x, y, n);
  return ok(error);
}

const char* sb_quantize_linear_kernel(const sb_quantize_linear_plan* in) {
  const QuantizePlan plan = in ? open<QuantizePlan>(in) : QuantizePlan{};
  return plan.magic == kQuantizeMagic ? plan.kernel : nullptr;
}

}  // extern "C"
