// One rounding of a real quotient on vectors of doubles; the formula and its proof are sb_ref_exact_round's.
#pragma once

#include "simd/vec.h"
#include "simd/xsimd_use.h"

namespace samebit {
namespace {

template <class F64>
SB_INLINE void two_sum(F64 x, F64 y, F64* hi, F64* lo) {
  const F64 s = x + y;
  const F64 t = s - x;
  *hi = s;
  *lo = (x - (s - t)) + (y - t);
}

/// Rounds (x + y) / s half to even; beyond +-1024 anything beyond.
template <class F64>
SB_INLINE F64 exact_round(F64 x, F64 y, F64 s, F64 inv) {
  const F64 magic(6755399441055744.0), limit(SB_REF_EXACT_LIMIT), half(0.5), one(1.0), zero(0.0);
  F64 hi, lo;
  two_sum(x, y, &hi, &lo);
  lo = xsimd::select(lo - lo == zero, lo, zero);  // infinite x
  F64 v = hi * inv;
  v = xsimd::select(v < -limit, -limit, v);
  v = xsimd::select(v > limit, limit, v);
  const F64 q = (v + magic) - magic;
  const F64 above = (hi - (q + half) * s) + lo;
  const F64 below = (hi - (q - half) * s) + lo;
  const F64 floor_half = ((half * q - F64(0.25)) + magic) - magic;
  const auto odd = (q - (floor_half + floor_half)) != zero;
  const F64 up = xsimd::select((above > zero) | ((above == zero) & odd), one, zero);
  const F64 down = xsimd::select((below < zero) | ((below == zero) & odd), one, zero);
  return q + up - down;
}

}  // namespace
}  // namespace samebit
