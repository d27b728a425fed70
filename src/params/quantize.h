// QuantizeLinear and DequantizeLinear: profile -> rule and constants.
#pragma once

#include "params/quant.h"
#include "table/kernel_table.h"

namespace samebit {

/// f32_divide and f32_reciprocal compute the same codes; the second is faster and allowed for most scales
/// only.
enum class QuantizeRule : uint8_t { f32_divide, f32_reciprocal, exact };
const char* name(QuantizeRule rule);

struct QuantizeParams {
  QuantizeRule rule;
  union {
    QuantizeF32 f32;
    sb_ref_quantize_exact exact;
  };
};

QuantizeParams prepare_quantize(sb_profile profile, sb_type type, sb_quant y);
int32_t quantize_value(const QuantizeParams& params, float x, Range range,
                       const sb_ref_trace* trace = nullptr);

/// True when codes from q = fma(x, inverse, f32(x * inverse_low)) are those of f32(x / scale) for every x.
/// Proof in quantize.cpp.
bool reciprocal_is_exact(float scale);

/// f32_infinite is f32 with an infinite scale: its NaN has the bits of the profile's machine.
enum class DequantizeRule : uint8_t { f32, f32_infinite, exact };
const char* name(DequantizeRule rule);

struct DequantizeParams {
  DequantizeRule rule;
  union {
    DequantizeF32 f32;
    sb_ref_dequantize_infinite infinite;
    sb_ref_dequantize_exact exact;
  };
};

DequantizeParams prepare_dequantize(sb_profile profile, sb_type type, sb_quant x);
float dequantize_value(const DequantizeParams& params, int32_t x, const sb_ref_trace* trace = nullptr);

}  // namespace samebit
