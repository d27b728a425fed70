// requantize on a vector type V: int32 accumulators (+ bias) times a scale per tensor or per column, to
// codes.
#pragma once

#include "simd/quantize.h"

namespace samebit {
namespace {

/// An operand of the columns (scale or bias) in step with the flat index over rows x columns. `p` holds the
/// columns followed by their own beginning, at least V::step values more, so that every position of a row is
/// one load.
template <class V, class X>
struct PeriodicIn {
  const X* p;
  size_t period;
  size_t at = 0;
  static constexpr size_t width = 0;  // lives in L1
  SB_INLINE auto load(size_t) const { return V::load4(p + at); }
  SB_INLINE auto load_partial(size_t, size_t) const { return V::load4(p + at); }
  SB_INLINE void prefetch(size_t) const {}
  SB_INLINE void advance(size_t n) {
    at += n;
    if (at >= period) at %= period;
  }
};

/// One value for every position; null bias is 0.
template <class V, class X>
struct ConstantIn {
  using Batch = decltype(V::load4(static_cast<const X*>(nullptr)).v[0] + 0);
  Batch value;
  static constexpr size_t width = 0;
  SB_INLINE Four<Batch> load(size_t) const { return {{value, value, value, value}}; }
  SB_INLINE Four<Batch> load_partial(size_t, size_t) const { return load(0); }
  SB_INLINE void prefetch(size_t) const {}
  SB_INLINE void advance(size_t) {}
};

/// v = f32(acc + bias) * scale, bounded, rounded, plus zero point. kNanIsZero: NaN gives the zero point
/// (Arm), not lo.
template <class V, class T, bool kNanIsZero>
struct RequantizeF32 {
  typename V::f32 most;
  typename V::i16 zero_point;
  explicit RequantizeF32(int32_t zp) : most(static_cast<float>(kHi<T> - zp)), zero_point(V::splat16(zp)) {}
  template <class Bias, class Scale>
  SB_INLINE auto operator()(const Four<typename V::i32>& acc, const Bias& bias, const Scale& scale) const {
    using f32 = typename V::f32;
    using i32 = typename V::i32;
    const auto sum = [](i32 x, i32 b) SB_INLINE_LAMBDA { return x + b; };
    const auto one = [this](i32 x, f32 s) SB_INLINE_LAMBDA {
      f32 v = V::to_f32(x) * s;
      if constexpr (kNanIsZero) v = xsimd::select(v == v, v, f32(0.0f));
      return V::min_keep_nan(v, most);
    };
    return round_to_codes<V, T>(each<f32>(one, each<i32>(sum, acc, bias), scale), zero_point);
  }
};

/// (acc + bias) * scale in real numbers, rounded once. The scale is split as sb_ref_split does with k = 41.
template <class V, class T>
struct RequantizeExact {
  typename V::i16 zero_point;
  explicit RequantizeExact(int32_t zp) : zero_point(V::splat16(zp)) {}
  template <class Bias, class Scale>
  SB_INLINE auto operator()(const Four<typename V::i32>& acc, const Bias& bias, const Scale& scale) const {
    using i32 = typename V::i32;
    using f64 = typename V::f64;
    const auto half = [](f64 x, f64 b, f64 s) SB_INLINE_LAMBDA {
      const f64 p = f64(2199023255553.0) * s;  // 2^41 + 1
      const f64 s0 = p - (p - s), s1 = s - s0;
      const f64 sum = x + b;
      return exact_round<f64>(sum * s0, sum * s1, f64(1.0), f64(1.0));
    };
    Four<i32> q;
    for (int j = 0; j < 4; ++j)
      q.v[j] = V::join_i32(half(V::f64_low(acc.v[j]), V::f64_low(bias.v[j]), V::f64_low(scale.v[j])),
                           half(V::f64_high(acc.v[j]), V::f64_high(bias.v[j]), V::f64_high(scale.v[j])));
    return V::template narrow_add_seq<T>(q, zero_point);
  }
};

/// Rows up to this length are handled as one flat array with periodic copies of scale and bias on the stack.
constexpr size_t kPeriodicColumns = 512;

template <class V, class X>
struct Periodic {
  alignas(64) X values[kPeriodicColumns + V::step];
  void fill(const X* from, size_t columns) {
    for (size_t i = 0; i < columns; ++i) values[i] = from[i];
    for (size_t i = columns; i < columns + V::step; ++i) values[i] = values[i - columns];
  }
};

/// The four combinations of scale per tensor or column, with or without bias.
template <class V, class T, class Op>
void requantize(const int32_t* acc, T* y, size_t rows, const Requantize& p) {
  using f32 = typename V::f32;
  using i32 = typename V::i32;
  const Op op(p.zero_point);
  const BytesOut<V, T> out{y};
  const WordsIn<V, int32_t> in{acc};
  const ConstantIn<V, float> scale{f32(*p.scale)};
  const ConstantIn<V, int32_t> no_bias{i32(0)};
  const size_t columns = p.columns;
  if (!p.per_column && !p.bias) {
    map<V>(rows * columns, false, out, op, in, no_bias, scale);
  } else if (columns <= kPeriodicColumns && rows > 1) {
    Periodic<V, int32_t> bias;
    Periodic<V, float> scales;
    if (p.bias) bias.fill(p.bias, columns);
    if (p.per_column) scales.fill(p.scale, columns);
    const PeriodicIn<V, int32_t> bias_in{bias.values, columns};
    const PeriodicIn<V, float> scale_in{scales.values, columns};
    if (p.bias && p.per_column) map<V>(rows * columns, false, out, op, in, bias_in, scale_in);
    else if (p.bias) map<V>(rows * columns, false, out, op, in, bias_in, scale);
    else map<V>(rows * columns, false, out, op, in, no_bias, scale_in);
  } else {
    for (size_t r = 0; r < rows; ++r) {
      const BytesOut<V, T> row_out{y + r * columns};
      const WordsIn<V, int32_t> row_in{acc + r * columns};
      const WordsIn<V, int32_t> bias_in{p.bias};
      const WordsIn<V, float> scale_in{p.scale};
      if (p.bias && p.per_column) map<V>(columns, false, row_out, op, row_in, bias_in, scale_in);
      else if (p.bias) map<V>(columns, false, row_out, op, row_in, bias_in, scale);
      else map<V>(columns, false, row_out, op, row_in, no_bias, scale_in);
    }
  }
}

}  // namespace
}  // namespace samebit
