// requantize: profile -> rule.
#pragma once

#include "params/quant.h"
#include "table/kernel_table.h"

namespace samebit {

/// f32_clamp and f32_saturate differ for NaN only.
enum class RequantizeRule : uint8_t { f32_clamp, f32_saturate, exact };
const char* name(RequantizeRule rule);

/// `count` scales. Where no NaN can arise (all scales finite) the Arm profiles use f32_clamp, the faster of
/// two equals.
RequantizeRule prepare_requantize(sb_profile profile, const float* scale, size_t count);

int32_t requantize_value(RequantizeRule rule, int32_t acc, int32_t bias, float scale, int32_t zero_point,
                         Range range, const sb_ref_trace* trace = nullptr);

}  // namespace samebit
