// What an instruction set supplies to the kernel templates: a struct V with the members below.
//
//   types      f32, i32, f64   xsimd batches of one register; lanes of f64 = lanes / 2
//              Bytes           raw register of `step` 8-bit codes
//   constants  lanes           32-bit values per register
//              step = 4 * lanes: codes handled at a time; Four<f32> or Four<i32> hold the same count of
//              32-bit values
//   memory     load_bytes, store_bytes, stream_bytes (aligned to step), load/store_bytes_partial (first n <
//   step codes)
//              load4, store4, stream4 (aligned to 4 * lanes), load4/store4_partial for float and int32_t
//              fence           orders streamed stores
//   codes      widen_f32<T>, widen_i32<T>(Bytes): Four in the order of V: any order, but the one narrow<T>
//   undoes
//              widen_f32_minus<T>(Bytes, f32 code): widen_f32 less a code, exact
//              narrow<T>(Four<i32>): saturate to int16, then to T
//              narrow_add<T>(Four<i32>, i16): saturate to int16, add the zero point saturating, saturate to T
//              load_codes(const T*), narrow_add_seq<T>: the same with values in memory order; i16
//              splat16(int)
//   floats     fma(a, b, c)             a * b + c, one rounding
//              div(a, b)                correctly rounded (xsimd's / is an approximation on NEON)
//              to_f32(i32)              ties to even
//              round_x86(f32)           ties to even; NaN and outside int32: -2^31
//              round_arm(f32)           ties to even; saturates; NaN: 0
//              min_keep_nan, max_keep_nan(v, bound)   NaN in v stays
//   integers   shift_right(i32, count)  arithmetic, 0 <= count <= 31
//   doubles    f64_low, f64_high(i32 or f32): the two halves of a register; join_i32(f64, f64), join_f32(f64,
//   f64)
//              to_odd(hi, lo)           hi with its last bit set when lo is not 0 (sb_ref_narrow's first
//              step)
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#define SB_INLINE __attribute__((always_inline)) inline
#define SB_INLINE_LAMBDA __attribute__((always_inline))

namespace samebit {
namespace {

template <class B>
struct Four {
  B v[4];
};

/// Limits of a code type.
template <class T>
constexpr int32_t kLo = T(-1) < T(0) ? -128 : 0;
template <class T>
constexpr int32_t kHi = T(-1) < T(0) ? 127 : 255;

/// Applies f to the four registers. Written out: g++ 12 keeps arrays in memory when it sees a loop over them.
template <class Out, class F, class In>
SB_INLINE Four<Out> each(const F& f, const Four<In>& x) {
  return {{f(x.v[0]), f(x.v[1]), f(x.v[2]), f(x.v[3])}};
}
template <class Out, class F, class A, class B>
SB_INLINE Four<Out> each(const F& f, const Four<A>& a, const Four<B>& b) {
  return {{f(a.v[0], b.v[0]), f(a.v[1], b.v[1]), f(a.v[2], b.v[2]), f(a.v[3], b.v[3])}};
}

}  // namespace
}  // namespace samebit
