// QuantizeLinear, DequantizeLinear and requantize on a vector type V; formulas as in samebit/reference.h.
#pragma once

#include "simd/exact.h"
#include "simd/map.h"
#include "table/kernel_table.h"

namespace samebit {
namespace {

/// Rounds q with round_x86 and adds the zero point, saturating. q may be NaN or far below the codes (-2^31
/// becomes lo) but not above 2^31. Clamping codes after the rounding equals clamping q before it: the bounds
/// are integers.
template <class V, class T>
SB_INLINE auto round_to_codes(const Four<typename V::f32>& q, typename V::i16 zero_point) {
  const auto one = [](typename V::f32 v) SB_INLINE_LAMBDA { return V::round_x86(v); };
  return V::template narrow_add_seq<T>(each<typename V::i32>(one, q), zero_point);
}

/// v = x / scale.
template <class V, class T>
struct QuantizeDivide {
  typename V::f32 scale, most;
  typename V::i16 zero_point;
  explicit QuantizeDivide(const QuantizeF32& p)
      : scale(p.scale),
        most(static_cast<float>(kHi<T> - p.zero_point)),
        zero_point(V::splat16(p.zero_point)) {}
  SB_INLINE auto operator()(const Four<typename V::f32>& x) const {
    using f32 = typename V::f32;
    const auto one = [this](f32 v) SB_INLINE_LAMBDA { return V::min_keep_nan(V::div(v, scale), most); };
    return round_to_codes<V, T>(each<f32>(one, x), zero_point);
  }
};

/// The same codes from a reciprocal in two parts; the proof is in src/params/quantize.cpp.
template <class V, class T>
struct QuantizeReciprocal {
  typename V::f32 inverse, inverse_low, upper;
  typename V::i16 zero_point;
  explicit QuantizeReciprocal(const QuantizeF32& p)
      : inverse(p.inverse),
        inverse_low(p.inverse_low),
        upper(p.upper),
        zero_point(V::splat16(p.zero_point)) {}
  SB_INLINE auto operator()(const Four<typename V::f32>& x) const {
    using f32 = typename V::f32;
    const auto one = [this](f32 v) SB_INLINE_LAMBDA {
      const f32 bounded = V::min_keep_nan(v, upper);
      return V::fma(bounded, inverse, bounded * inverse_low);
    };
    return round_to_codes<V, T>(each<f32>(one, x), zero_point);
  }
};

/// x / s as a real number; NaN gives lo.
template <class V, class T>
struct QuantizeExact {
  typename V::f64 sign, s, inv;
  typename V::i16 zero_point;
  explicit QuantizeExact(const sb_ref_quantize_exact& p)
      : sign(p.sign), s(p.s), inv(p.inv), zero_point(V::splat16(p.zp)) {}
  SB_INLINE auto operator()(const Four<typename V::f32>& x) const {
    using f32 = typename V::f32;
    using f64 = typename V::f64;
    const auto half = [this](f64 v) SB_INLINE_LAMBDA {
      v = v * sign;
      // -1e9 stands for NaN: below every code.
      return exact_round<f64>(xsimd::select(v == v, v, f64(-1e9) * s), f64(0.0), s, inv);
    };
    const auto one = [&](f32 v)
                         SB_INLINE_LAMBDA { return V::join_i32(half(V::f64_low(v)), half(V::f64_high(v))); };
    return V::template narrow_add_seq<T>(each<typename V::i32>(one, x), zero_point);
  }
};

/// y = f32(x - zero_point) * scale
template <class V, class T>
struct Dequantize {
  typename V::i32 zero_point;
  typename V::f32 scale;
  explicit Dequantize(const DequantizeF32& p) : zero_point(p.zero_point), scale(p.scale) {}
  SB_INLINE auto operator()(const Four<typename V::i32>& x) const {
    const auto one = [this](typename V::i32 v) SB_INLINE_LAMBDA { return V::to_f32(v - zero_point) * scale; };
    return each<typename V::f32>(one, x);
  }
};

/// y = (x - zero_point) * scale in real numbers, rounded to float32 once.
template <class V>
struct DequantizeExact {
  typename V::f64 s0, s1, zero_point;
  explicit DequantizeExact(const sb_ref_dequantize_exact& p)
      : s0(p.s0), s1(p.s1), zero_point(static_cast<double>(p.zp)) {}
  SB_INLINE auto operator()(const Four<typename V::i32>& x) const {
    using f64 = typename V::f64;
    const auto half = [this](f64 v) SB_INLINE_LAMBDA {
      const f64 d = v - zero_point;
      f64 hi, lo;
      two_sum<f64>(d * s0, d * s1, &hi, &lo);
      return V::to_odd(hi, lo);
    };
    const auto one = [&](typename V::i32 v)
                         SB_INLINE_LAMBDA { return V::join_f32(half(V::f64_low(v)), half(V::f64_high(v))); };
    return each<typename V::f32>(one, x);
  }
};

template <class V, class T, class P, class Op>
void quantize(const float* x, T* y, size_t n, const P& p) {
  map<V>(n, false, BytesOut<V, T>{y}, Op(p), WordsIn<V, float>{x});
}
template <class V, class T>
void dequantize(const T* x, float* y, size_t n, const DequantizeF32& p) {
  map<V>(n, false, FloatsOut<V>{y}, Dequantize<V, T>(p), CodesIn<V, T>{x});
}
template <class V, class P, class Op>
void dequantize_s32(const int32_t* x, float* y, size_t n, const P& p) {
  const bool in_place = static_cast<const void*>(x) == y;
  map<V>(n, in_place, FloatsOut<V>{y}, Op(p), WordsIn<V, int32_t>{x});
}

/// Extremes of n values, and whether all are finite: x * 0 is NaN for the others, and a sum keeps it.
template <class V>
void min_max(const float* x, size_t n, MinMax* result) {
  using f32 = typename V::f32;
  const f32 zero(0.0f);
  Four<f32> low{{f32(__FLT_MAX__), f32(__FLT_MAX__), f32(__FLT_MAX__), f32(__FLT_MAX__)}};
  Four<f32> high{{f32(-__FLT_MAX__), f32(-__FLT_MAX__), f32(-__FLT_MAX__), f32(-__FLT_MAX__)}};
  Four<f32> special{{zero, zero, zero, zero}};
  const auto take = [&](const Four<f32>& v) SB_INLINE_LAMBDA {
    const auto min = [](f32 a, f32 b) SB_INLINE_LAMBDA { return V::min_keep_nan(a, b); };
    const auto max = [](f32 a, f32 b) SB_INLINE_LAMBDA { return V::max_keep_nan(a, b); };
    const auto mark = [&](f32 a, f32 b) SB_INLINE_LAMBDA { return V::fma(b, zero, a); };
    low = each<f32>(min, low, v);
    high = each<f32>(max, high, v);
    special = each<f32>(mark, special, v);
  };
  size_t i = 0;
  for (; n - i >= V::step; i += V::step) take(V::load4(x + i));
  alignas(64) float lanes[V::step], sums[V::step];
  if (i < n) {
    // The first value fills the places behind the last.
    for (size_t j = 0; j < V::step; ++j) lanes[j] = x[i];
    std::memcpy(lanes, x + i, (n - i) * sizeof(float));
    take(V::load4(static_cast<const float*>(lanes)));
  }
  MinMax r{__FLT_MAX__, -__FLT_MAX__, true};
  V::store4(sums, special);
  V::store4(lanes, low);
  for (size_t j = 0; j < V::step; ++j) {
    r.all_finite &= sums[j] == 0.0f;
    r.min = lanes[j] < r.min ? lanes[j] : r.min;
  }
  V::store4(lanes, high);
  for (size_t j = 0; j < V::step; ++j) r.max = r.max < lanes[j] ? lanes[j] : r.max;
  *result = r;
}

}  // namespace
}  // namespace samebit
