#include "params/gemm.h"

#include "params/requantize.h"

namespace samebit {

const char* name(DotRule rule) {
  switch (rule) {
    case DotRule::exact:
      return "exact";
    case DotRule::pairsat:
      return "pairsat";
    case DotRule::pairwrap:
      return "pairwrap";
  }
  return nullptr;
}

const char* name(GemmOutput output) {
  switch (output) {
    case GemmOutput::s32:
      return "s32";
    case GemmOutput::s8_clamp:
    case GemmOutput::u8_clamp:
      return "f32_clamp";
    case GemmOutput::s8_saturate:
    case GemmOutput::u8_saturate:
      return "f32_saturate";
    case GemmOutput::f32:
      return "f32";
    case GemmOutput::f32_fused:
      return "f32_fused";
  }
  return nullptr;
}

DotRule dot_rule(sb_profile profile, sb_type a_type, sb_type b_type) {
  if (b_type != SB_INT8) return DotRule::exact;
  if (profile == SB_ORT_X64_AVX2 && a_type == SB_UINT8) return DotRule::pairsat;
  if (profile == SB_ORT_ARM64_NEON) return DotRule::pairwrap;
  return DotRule::exact;
}

float float_scale(float alpha, float a_scale, float b_scale) {
  const float a = alpha * a_scale;
  return a * b_scale;
}

float codes_scale(float alpha, float a_scale, float b_scale, float y_scale) {
  return float_scale(alpha, a_scale, b_scale) / y_scale;
}

GemmOutput codes_output(sb_profile profile, sb_type y_type, const float* scale, size_t count) {
  const bool saturate = prepare_requantize(profile, scale, count) == RequantizeRule::f32_saturate;
  if (y_type == SB_INT8) return saturate ? GemmOutput::s8_saturate : GemmOutput::s8_clamp;
  return saturate ? GemmOutput::u8_saturate : GemmOutput::u8_clamp;
}

GemmOutput float_output(sb_profile profile, bool has_bias) {
  return has_bias && is_arm(profile) ? GemmOutput::f32_fused : GemmOutput::f32;
}

}  // namespace samebit
