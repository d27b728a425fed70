// Matrix products: profile -> how products are added, scales, output rule.
#pragma once

#include "params/quant.h"
#include "table/gemm.h"

namespace samebit {

/// Named as in samebit/reference.h.
enum class DotRule : uint8_t { exact, pairsat, pairwrap };
const char* name(DotRule rule);

/// ONNX Runtime without VNNI or dot product instructions adds two products in 16 bits, for int8 B only.
DotRule dot_rule(sb_profile profile, sb_type a_type, sb_type b_type);

/// f32(f32(f32(alpha * a_scale) * b_scale) / y_scale): one rounding each. alpha 1 changes nothing.
float codes_scale(float alpha, float a_scale, float b_scale, float y_scale);
/// f32(f32(alpha * a_scale) * b_scale)
float float_scale(float alpha, float a_scale, float b_scale);

/// Rule for codes; under profile exact the caller uses the exact formulas instead.
GemmOutput codes_output(sb_profile profile, sb_type y_type, const float* scale, size_t count);
GemmOutput float_output(sb_profile profile, bool has_bias);
const char* name(GemmOutput output);

/// Value of a code type's zero point after x ^ 0x80: int8 becomes 128 more, uint8 128 less.
inline int32_t flipped_zero_point_shift(sb_type type) { return type == SB_INT8 ? 128 : -128; }

}  // namespace samebit
