// QLinearAdd and QLinearMul on a vector type V. The formulas, their widths and roundings are those of the
// functions with the same names in samebit/reference.h.
#pragma once

#include "samebit/reference.h"
#include "simd/exact.h"
#include "simd/map.h"

namespace samebit {
namespace {

/// v = fma(a, ra, fma(b, rb, fixed)); b first: the order decides ties.
template <class V, class T>
struct AddF32Fma {
  typename V::f32 ra, rb, fixed;
  explicit AddF32Fma(const sb_ref_add_f32& p) : ra(p.ra), rb(p.rb), fixed(p.fixed) {}
  SB_INLINE auto operator()(typename V::Bytes a, typename V::Bytes b) const {
    using f32 = typename V::f32;
    const auto one = [this](f32 x, f32 z)
                         SB_INLINE_LAMBDA { return V::round_x86(V::fma(x, ra, V::fma(z, rb, fixed))); };
    return V::template narrow<T>(
        each<typename V::i32>(one, V::template widen_f32<T>(a), V::template widen_f32<T>(b)));
  }
};

/// v = (fixed + a * ra) + b * rb, every operation rounded.
template <class V, class T>
struct AddF32MulAdd {
  typename V::f32 ra, rb, fixed;
  explicit AddF32MulAdd(const sb_ref_add_f32& p) : ra(p.ra), rb(p.rb), fixed(p.fixed) {}
  SB_INLINE auto operator()(typename V::Bytes a, typename V::Bytes b) const {
    using f32 = typename V::f32;
    const auto one = [this](f32 x, f32 z) SB_INLINE_LAMBDA {
      const f32 u = fixed + x * ra;
      return V::round_x86(u + z * rb);
    };
    return V::template narrow<T>(
        each<typename V::i32>(one, V::template widen_f32<T>(a), V::template widen_f32<T>(b)));
  }
};

/// q = acc / 2^shift, half away from zero: for acc < 0 subtract 1, then add half and shift; in two shifts,
/// floor(acc / 2^(shift-1)) plus 1, halved, so that the sum stays within int32.
template <class V, class T>
struct AddFixed21 {
  typename V::i32 ma, mb, start;
  int shift_less_one;
  typename V::i16 zy;
  explicit AddFixed21(const sb_ref_add_fixed21& p)
      : ma(p.ma),
        mb(p.mb),
        // acc itself fits int32; this constant and the products may wrap on the way, their sum comes out
        // right.
        start(static_cast<int32_t>(0u - static_cast<uint32_t>(p.za) * static_cast<uint32_t>(p.ma) -
                                   static_cast<uint32_t>(p.zb) * static_cast<uint32_t>(p.mb))),
        shift_less_one(p.shift - 1),
        zy(V::splat16(p.zy)) {}
  SB_INLINE auto operator()(typename V::Bytes a, typename V::Bytes b) const {
    using i32 = typename V::i32;
    const auto one = [this](i32 x, i32 z) SB_INLINE_LAMBDA {
      const i32 acc = x * ma + (z * mb + start);
      // |acc| <= 510 * (2^22 - 1) < 2^31 - 2^23 with any shift, because the greater multiplier always has 22
      // bits. Adding 2^(shift-1) before one shift would overflow from shift 25 on.
      const i32 halves = V::shift_right(acc + V::shift_right(acc, 31), shift_less_one);
      return V::shift_right(halves + i32(1), 1);
    };
    return V::template narrow_add<T>(each<i32>(one, V::template widen_i32<T>(a), V::template widen_i32<T>(b)),
                                     zy);
  }
};

/// Dequantize, add fused on the first operand, divide, clamp, add the zero point, round. NaN: code 0.
template <class V, class T>
struct AddF32Divide {
  typename V::f32 sa, sb, sy, za, zb, zy, least, most;
  explicit AddF32Divide(const sb_ref_add_divide& p)
      : sa(p.sa),
        sb(p.sb),
        sy(p.sy),
        za(static_cast<float>(p.za)),
        zb(static_cast<float>(p.zb)),
        zy(static_cast<float>(p.zy)),
        least(static_cast<float>(kLo<T> - p.zy)),
        most(static_cast<float>(kHi<T> - p.zy)) {}
  SB_INLINE auto operator()(typename V::Bytes a, typename V::Bytes b) const {
    using f32 = typename V::f32;
    const auto one = [this](f32 x, f32 z) SB_INLINE_LAMBDA {
      const f32 product = sb * z;
      f32 v = V::div(V::fma(sa, x, product), sy);
      v = V::min_keep_nan(V::max_keep_nan(v, least), most);
      return V::round_arm(v + zy);
    };
    return V::template narrow<T>(each<typename V::i32>(one, V::template widen_f32_minus<T>(a, za),
                                                       V::template widen_f32_minus<T>(b, zb)));
  }
};

/// (x0 * p + x1 * q) / sy in real numbers, rounded once. Add: p, q are the two differences; Mul: both their
/// product.
template <class V, class T, bool kProduct>
struct BinaryExact {
  typename V::f64 x0, x1, sy, inv;
  typename V::i32 za, zb;
  typename V::i16 zy;
  explicit BinaryExact(const sb_ref_binary_exact& p)
      : x0(p.x0), x1(p.x1), sy(p.sy), inv(p.inv), za(p.za), zb(p.zb), zy(V::splat16(p.zy)) {}
  SB_INLINE auto operator()(typename V::Bytes a, typename V::Bytes b) const {
    using i32 = typename V::i32;
    using f64 = typename V::f64;
    const auto half = [this](f64 p, f64 q)
                          SB_INLINE_LAMBDA { return exact_round<f64>(x0 * p, x1 * q, sy, inv); };
    const auto one = [&](i32 x, i32 z) SB_INLINE_LAMBDA {
      i32 p = x - za, q = z - zb;
      if constexpr (kProduct) p = q = p * q;
      return V::join_i32(half(V::f64_low(p), V::f64_low(q)), half(V::f64_high(p), V::f64_high(q)));
    };
    return V::template narrow_add<T>(each<i32>(one, V::template widen_i32<T>(a), V::template widen_i32<T>(b)),
                                     zy);
  }
};

/// v = p * ratio + zy with two roundings (x64) or one (Arm), p = (a - za) * (b - zb) exact in float32.
template <class V, class T, bool kFused>
struct MulF32 {
  typename V::f32 ratio, za, zb, zy;
  explicit MulF32(const sb_ref_mul_f32& p)
      : ratio(p.ratio),
        za(static_cast<float>(p.za)),
        zb(static_cast<float>(p.zb)),
        zy(static_cast<float>(p.zy)) {}
  SB_INLINE auto operator()(typename V::Bytes a, typename V::Bytes b) const {
    using f32 = typename V::f32;
    const auto one = [this](f32 x, f32 z) SB_INLINE_LAMBDA {
      const f32 p = x * z;
      if constexpr (kFused) return V::round_arm(V::fma(ratio, p, zy));
      else return V::round_x86(p * ratio + zy);
    };
    return V::template narrow<T>(each<typename V::i32>(one, V::template widen_f32_minus<T>(a, za),
                                                       V::template widen_f32_minus<T>(b, zb)));
  }
};

/// Kernel from an operation: y may be equal to a or b.
template <class V, class T, class P, class Op>
void binary(const T* a, const T* b, T* y, size_t n, const P& p) {
  map<V>(n, y == a || y == b, BytesOut<V, T>{y}, Op(p), BytesIn<V, T>{a}, BytesIn<V, T>{b});
}

}  // namespace
}  // namespace samebit
