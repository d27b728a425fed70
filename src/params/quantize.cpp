#include "params/quantize.h"

#include <cstring>

namespace samebit {

const char* name(QuantizeRule rule) {
  switch (rule) {
    case QuantizeRule::f32_divide:
      return "f32_divide";
    case QuantizeRule::f32_reciprocal:
      return "f32_reciprocal";
    case QuantizeRule::exact:
      return "exact";
  }
  return nullptr;
}

const char* name(DequantizeRule rule) {
  switch (rule) {
    case DequantizeRule::f32:
      return "f32";
    case DequantizeRule::f32_infinite:
      return "f32_infinite";
    case DequantizeRule::exact:
      return "exact";
  }
  return nullptr;
}

// Why a reciprocal in two parts gives the codes of the division.
//
// Let v = x / s, Q = f32(v) the division's result, hi = f32(1/s), lo = f32(1/s - hi) and q = fma(x, hi, f32(x
// * lo)). Codes are rint(Q) and rint(q), clamped. Both quotients are monotone in v up to rounding, so codes
// can differ only where v is next to a tie h = k + 1/2, |k| <= 256 (beyond it both clamp to the same bound).
//  1. |lo| <= 2^-24 / s, so rounding lo and rounding x * lo cost at most 2^-48 of v each: q = f32(v + e) with
//     |e| <= 2^-47 v < 2^-23 ulp(h).
//  2. So q = Q unless a midpoint m between two floats at h lies within 2^-23 ulp(h) of v. (v itself is never
//  a midpoint.)
//     Only the midpoints h +- ulp/2 next to h decide: elsewhere at h a q one ulp off gives the same code. As
//     integers, m = (2k+1) * 2^j +- 1 in units of half an ulp, with j >= 15 since 2k+1 < 2^10 and m has 25
//     bits (below a power of two the ulp halves and j grows by one). With s = S * 2^i, 2^23 <= S < 2^24, and
//     x = X * 2^l: m * S - X * 2^g is an integer d, g >= 23, and |e| < 2^-23 ulp means 0 < |d| < 2^-23 * 2 *
//     2^24 = 4.
//  3. Modulo 2^15: m * S = +-S and X * 2^g = 0, so +-S = d. Hence the codes agree whenever S modulo 2^15 is
//  farther
//     than 4 from 0, or is exactly 0 (d = 0 would make v a midpoint). We keep a distance of 16.
// The range 2^-100 .. 2^100 keeps both parts and their products normal where they matter. x above `upper`,
// which lies past the last tie, is replaced by it; a huge negative x gives NaN or a quotient below every
// code, and both become the lowest code.
bool reciprocal_is_exact(float scale) {
  if (!(scale >= 0x1p-100f && scale <= 0x1p100f)) return false;
  uint32_t bits;
  std::memcpy(&bits, &scale, sizeof bits);
  const uint32_t low = bits & 0x7fff;
  return low == 0 || (low > 16 && low < 0x8000 - 16);
}

QuantizeParams prepare_quantize(sb_profile profile, sb_type type, sb_quant y) {
  QuantizeParams p{};
  if (profile == SB_EXACT) {
    p.rule = QuantizeRule::exact;
    p.exact = sb_ref_quantize_exact_init(y.scale, y.zero_point);
    return p;
  }
  p.f32 = {y.scale, 0, 0, 0, y.zero_point};
  p.rule = QuantizeRule::f32_divide;
  if (reciprocal_is_exact(y.scale)) {
    p.rule = QuantizeRule::f32_reciprocal;
    p.f32.inverse = 1.0f / y.scale;
    p.f32.inverse_low = static_cast<float>(1.0 / y.scale - p.f32.inverse);
    // Two codes above the highest: its quotient rounds above every tie, and clamping there keeps the code.
    p.f32.upper = static_cast<float>(range_of(type).hi - y.zero_point + 2) * y.scale;
  }
  return p;
}

int32_t quantize_value(const QuantizeParams& p, float x, Range range, const sb_ref_trace* trace) {
  if (p.rule == QuantizeRule::exact)
    return sb_ref_quantize_exact_value(x, &p.exact, range.lo, range.hi, trace);
  return sb_ref_quantize_value(x, p.f32.scale, p.f32.zero_point, range.lo, range.hi, trace);
}

DequantizeParams prepare_dequantize(sb_profile profile, sb_type type, sb_quant x) {
  DequantizeParams p{};
  // 8-bit codes: |x - zero_point| <= 255 is exact in float32, one rounding only, exact already.
  if (profile == SB_EXACT && type == SB_INT32) {
    p.rule = DequantizeRule::exact;
    p.exact = sb_ref_dequantize_exact_init(x.scale, x.zero_point);
  } else if (!is_finite(x.scale) && x.scale == x.scale) {
    p.rule = DequantizeRule::f32_infinite;
    p.infinite = sb_ref_dequantize_infinite_init(x.scale, x.zero_point, !is_arm(profile));
  } else {
    p.rule = DequantizeRule::f32;
    p.f32 = {x.scale, x.zero_point};
  }
  return p;
}

float dequantize_value(const DequantizeParams& p, int32_t x, const sb_ref_trace* trace) {
  if (p.rule == DequantizeRule::exact) return sb_ref_dequantize_exact_value(x, &p.exact, trace);
  if (p.rule == DequantizeRule::f32_infinite) return sb_ref_dequantize_infinite_value(x, &p.infinite, trace);
  return sb_ref_dequantize_value(x, p.f32.scale, p.f32.zero_point, trace);
}

}  // namespace samebit
