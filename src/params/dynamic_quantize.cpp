#include "params/dynamic_quantize.h"

namespace samebit {
namespace {

sb_ref_min_max extremes(sb_profile profile, const float* x, size_t n) {
  switch (profile) {
    case SB_ORT_ARM64_DOT:
    case SB_ORT_ARM64_NEON:
      return sb_ref_min_max_arm64(x, n);
    case SB_ORT_X64_SSE:
      return sb_ref_min_max_x64(x, n, 4);
    case SB_EXACT:
      return sb_ref_min_max_numbers(x, n);
    default:
      return sb_ref_min_max_x64(x, n, 8);
  }
}

}  // namespace

sb_quant dynamic_quantize_params(sb_profile profile, const MinMax& fast, const float* x, size_t n) {
  const sb_ref_min_max r = fast.all_finite ? sb_ref_min_max{fast.min, fast.max} : extremes(profile, x, n);
  sb_quant y{};
  if (profile == SB_EXACT) sb_ref_dynamic_quantize_params_exact(r, &y.scale, &y.zero_point);
  else sb_ref_dynamic_quantize_params(r, &y.scale, &y.zero_point);
  return y;
}

}  // namespace samebit
