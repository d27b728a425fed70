#include "params/requantize.h"

namespace samebit {

const char* name(RequantizeRule rule) {
  switch (rule) {
    case RequantizeRule::f32_clamp:
      return "f32_clamp";
    case RequantizeRule::f32_saturate:
      return "f32_saturate";
    case RequantizeRule::exact:
      return "exact";
  }
  return nullptr;
}

RequantizeRule prepare_requantize(sb_profile profile, const float* scale, size_t count) {
  if (profile == SB_EXACT) return RequantizeRule::exact;
  if (is_arm(profile)) {
    // A finite int32 times a finite scale is finite or infinite, never NaN.
    for (size_t i = 0; i < count; ++i)
      if (!is_finite(scale[i])) return RequantizeRule::f32_saturate;
  }
  return RequantizeRule::f32_clamp;
}

int32_t requantize_value(RequantizeRule rule, int32_t acc, int32_t bias, float scale, int32_t zp, Range range,
                         const sb_ref_trace* trace) {
  switch (rule) {
    case RequantizeRule::f32_clamp:
      return sb_ref_requantize_clamp_value(acc, bias, scale, zp, range.lo, range.hi, trace);
    case RequantizeRule::f32_saturate:
      return sb_ref_requantize_saturate_value(acc, bias, scale, zp, range.lo, range.hi, trace);
    case RequantizeRule::exact:
      return sb_ref_requantize_exact_value(acc, bias, scale, zp, range.lo, range.hi, trace);
  }
  return 0;
}

}  // namespace samebit
