// DequantizeLinear.
#include "api/plan.h"
#include "core/fp_env.h"
#include "core/kernel_names.h"
#include "params/quantize.h"

using namespace samebit;

namespace {

struct DequantizePlan {
  uint32_t magic;
  sb_type type;
  DequantizeParams params;
  const char* kernel;
  const KernelTable* table;
};

const char* type_suffix(sb_type type) { return type == SB_INT8 ? "s8" : type == SB_UINT8 ? "u8" : "s32"; }

template <class T>
void run(const ByteKernels<T>& k, const T* x, float* y, size_t n, const DequantizeParams& p) {
  if (p.rule == DequantizeRule::f32_infinite) k.dequantize_f32_infinite(x, y, n, p.infinite);
  else k.dequantize_f32(x, y, n, p.f32);
}

void run(const KernelTable& k, const int32_t* x, float* y, size_t n, const DequantizeParams& p) {
  if (p.rule == DequantizeRule::exact) k.dequantize_s32_exact(x, y, n, p.exact);
  else if (p.rule == DequantizeRule::f32_infinite) k.dequantize_s32_f32_infinite(x, y, n, p.infinite);
  else k.dequantize_s32_f32(x, y, n, p.f32);
}

}  // namespace

extern "C" {

sb_status sb_dequantize_linear_prepare(const sb_context* context, sb_type x_type, sb_quant x,
                                       sb_dequantize_linear_plan* out, sb_error* error) {
  const FpGuard guard;  // before the checks: a subnormal scale is not zero
  ContextView c{};
  sb_status s = begin(context, out, &c, error);
  if (s != SB_OK) return s;
  if (x_type != SB_INT32) {
    s = check_byte_type("x_type", x_type, nullptr);
    if (s != SB_OK)
      return fail(error, s, "x_type is %d; supported are SB_INT8, SB_UINT8 and SB_INT32",
                  static_cast<int>(x_type));
    s = check_zero_point("x", x_type, x.zero_point, error);
  }
  if (s == SB_OK) s = check_scale("x", c.profile, x.scale, false, error);
  if (s != SB_OK) return s;
  DequantizePlan plan{};
  plan.magic = kDequantizeMagic;
  plan.type = x_type;
  plan.params = prepare_dequantize(c.profile, x_type, x);
  plan.table = &table_for(c.backend);
  plan.kernel = kernel_name(c.backend, find_entry("dequantize", type_suffix(x_type), name(plan.params.rule)));
  seal(plan, out);
  return ok(error);
}

sb_status sb_dequantize_linear_run(const sb_dequantize_linear_plan* in, const void* x, float* y, size_t n,
                                   sb_error* error) {
  if (!in) return fail(error, SB_BAD_ARGUMENT, "plan is null");
  const DequantizePlan plan = open<DequantizePlan>(in);
  if (plan.magic != kDequantizeMagic)
    return fail(error, SB_BAD_ARGUMENT, "plan was not filled by its prepare function");
  if (n == 0) return ok(error);
  if (n > SIZE_MAX / sizeof(float))
    return fail(error, SB_BAD_ARGUMENT, "n is %zu; its bytes overflow size_t", n);
  const size_t width = plan.type == SB_INT32 ? sizeof(int32_t) : 1;
  const sb_status s = check_buffers("x", x, n * width, y, n * sizeof(float), plan.type == SB_INT32, error);
  if (s != SB_OK) return s;
  const FpGuard guard;
  const KernelTable& k = *plan.table;
  if (plan.type == SB_INT8) {
    run(k.s8, static_cast<const int8_t*>(x), y, n, plan.params);
  } else if (plan.type == SB_UINT8) {
    run(k.u8, static_cast<const uint8_t*>(x), y, n, plan.params);
  } else {
    run(k, static_cast<const int32_t*>(x), y, n, plan.params);
  }
  return ok(error);
}

const char* sb_dequantize_linear_kernel(const sb_dequantize_linear_plan* in) {
  const DequantizePlan plan = in ? open<DequantizePlan>(in) : DequantizePlan{};
  return plan.magic == kDequantizeMagic ? plan.kernel : nullptr;
}

}  // extern "C"
