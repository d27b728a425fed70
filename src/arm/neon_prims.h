// Primitives of arm64 NEON for the kernel templates; the list and its meaning are in simd/vec.h.
#pragma once

#include <arm_neon.h>

#include "simd/vec.h"
#include "simd/xsimd_use.h"

namespace samebit {
namespace {

struct Neon {
  using f32 = xsimd::batch<float, xsimd::neon64>;
  using i32 = xsimd::batch<int32_t, xsimd::neon64>;
  using f64 = xsimd::batch<double, xsimd::neon64>;
  using i16 = int16x8_t;
  using Bytes = uint8x16_t;
  static constexpr size_t lanes = 4;
  static constexpr size_t step = 16;

  // ---- memory. Streaming stores are plain stores: stnp is only a hint.
  static SB_INLINE Bytes load_bytes(const void* p) { return vld1q_u8(static_cast<const uint8_t*>(p)); }
  static SB_INLINE Bytes load_bytes_partial(const void* p, size_t n) {
    uint8_t copy[16] = {};
    std::memcpy(copy, p, n);
    return vld1q_u8(copy);
  }
  static SB_INLINE void store_bytes(void* p, Bytes v) { vst1q_u8(static_cast<uint8_t*>(p), v); }
  static SB_INLINE void stream_bytes(void* p, Bytes v) { store_bytes(p, v); }
  static SB_INLINE void store_bytes_partial(void* p, Bytes v, size_t n) {
    uint8_t copy[16];
    vst1q_u8(copy, v);
    std::memcpy(p, copy, n);
  }
  static SB_INLINE Four<f32> load4(const float* p) {
    return {{f32(vld1q_f32(p)), f32(vld1q_f32(p + 4)), f32(vld1q_f32(p + 8)), f32(vld1q_f32(p + 12))}};
  }
  static SB_INLINE Four<i32> load4(const int32_t* p) {
    return {{i32(vld1q_s32(p)), i32(vld1q_s32(p + 4)), i32(vld1q_s32(p + 8)), i32(vld1q_s32(p + 12))}};
  }
  template <class X>
  static SB_INLINE auto load4_partial(const X* p, size_t n) {
    X copy[16] = {};
    std::memcpy(copy, p, n * sizeof(X));
    return load4(static_cast<const X*>(copy));
  }
  static SB_INLINE void store4(float* p, const Four<f32>& x) {
    vst1q_f32(p, x.v[0]);
    vst1q_f32(p + 4, x.v[1]);
    vst1q_f32(p + 8, x.v[2]);
    vst1q_f32(p + 12, x.v[3]);
  }
  static SB_INLINE void stream4(float* p, const Four<f32>& x) { store4(p, x); }
  static SB_INLINE void store4_partial(float* p, const Four<f32>& x, size_t n) {
    float copy[16];
    store4(copy, x);
    std::memcpy(p, copy, n * sizeof(float));
  }
  static SB_INLINE void fence() {}

  // ---- codes; all in memory order
  template <class T>
  static SB_INLINE Four<i32> widen_i32(Bytes x) {
    int16x8_t low, high;
    if constexpr (T(-1) < T(0)) {
      low = vmovl_s8(vget_low_s8(vreinterpretq_s8_u8(x)));
      high = vmovl_high_s8(vreinterpretq_s8_u8(x));
    } else {
      low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(x)));
      high = vreinterpretq_s16_u16(vmovl_high_u8(x));
    }
    return {{i32(vmovl_s16(vget_low_s16(low))), i32(vmovl_high_s16(low)), i32(vmovl_s16(vget_low_s16(high))),
             i32(vmovl_high_s16(high))}};
  }
  template <class T>
  static SB_INLINE Four<i32> load_codes(const T* p) {
    return widen_i32<T>(load_bytes(p));
  }
  template <class T>
  static SB_INLINE Four<f32> widen_f32(Bytes x) {
    const Four<i32> w = widen_i32<T>(x);
    return {{to_f32(w.v[0]), to_f32(w.v[1]), to_f32(w.v[2]), to_f32(w.v[3])}};
  }
  template <class T>
  static SB_INLINE Four<f32> widen_f32_minus(Bytes x, f32 minus) {
    const Four<f32> w = widen_f32<T>(x);
    return {{w.v[0] - minus, w.v[1] - minus, w.v[2] - minus, w.v[3] - minus}};
  }
  static SB_INLINE int16x8_t pack32(i32 a, i32 b) { return vqmovn_high_s32(vqmovn_s32(a), b); }
  template <class T>
  static SB_INLINE Bytes pack16(int16x8_t a, int16x8_t b) {
    if constexpr (T(-1) < T(0)) return vreinterpretq_u8_s8(vqmovn_high_s16(vqmovn_s16(a), b));
    else return vqmovun_high_s16(vqmovun_s16(a), b);
  }
  template <class T>
  static SB_INLINE Bytes narrow(const Four<i32>& q) {
    return pack16<T>(pack32(q.v[0], q.v[1]), pack32(q.v[2], q.v[3]));
  }
  template <class T>
  static SB_INLINE Bytes narrow_add(const Four<i32>& q, i16 zero_point) {
    return pack16<T>(vqaddq_s16(pack32(q.v[0], q.v[1]), zero_point),
                     vqaddq_s16(pack32(q.v[2], q.v[3]), zero_point));
  }
  template <class T>
  static SB_INLINE Bytes narrow_add_seq(const Four<i32>& q, i16 zero_point) {
    return narrow_add<T>(q, zero_point);
  }
  static SB_INLINE i16 splat16(int32_t v) { return vdupq_n_s16(static_cast<int16_t>(v)); }

  // ---- floats
  static SB_INLINE f32 fma(f32 a, f32 b, f32 c) { return f32(vfmaq_f32(c, a, b)); }
  static SB_INLINE f32 div(f32 a, f32 b) { return f32(vdivq_f32(a, b)); }
  static SB_INLINE f32 to_f32(i32 v) { return f32(vcvtq_f32_s32(v)); }
  static SB_INLINE i32 round_x86(f32 v) {
    // fcvtns saturates and gives 0 for NaN; x86 gives -2^31 for NaN and for overflow on either side.
    const uint32x4_t inside = vcltq_f32(v, vdupq_n_f32(2147483648.0f));
    return i32(vbslq_s32(inside, vcvtnq_s32_f32(v), vdupq_n_s32(INT32_MIN)));
  }
  static SB_INLINE i32 round_arm(f32 v) { return i32(vcvtnq_s32_f32(v)); }
  // fmin and fmax give NaN when either operand is; fmaxnm gives the number.
  static SB_INLINE f32 min_keep_nan(f32 v, f32 bound) { return f32(vminq_f32(v, bound)); }
  static SB_INLINE f32 max_keep_nan(f32 v, f32 bound) { return f32(vmaxq_f32(v, bound)); }
  static SB_INLINE i32 shift_right(i32 v, int count) { return i32(vshlq_s32(v, vdupq_n_s32(-count))); }

  // ---- doubles
  static SB_INLINE f64 f64_low(i32 v) { return f64(vcvtq_f64_s64(vmovl_s32(vget_low_s32(v)))); }
  static SB_INLINE f64 f64_high(i32 v) { return f64(vcvtq_f64_s64(vmovl_high_s32(v))); }
  static SB_INLINE f64 f64_low(f32 v) { return f64(vcvt_f64_f32(vget_low_f32(v))); }
  static SB_INLINE f64 f64_high(f32 v) { return f64(vcvt_high_f64_f32(v)); }
  static SB_INLINE i32 join_i32(f64 low, f64 high) {
    return i32(vmovn_high_s64(vmovn_s64(vcvtnq_s64_f64(low)), vcvtnq_s64_f64(high)));
  }
  static SB_INLINE f32 join_f32(f64 low, f64 high) { return f32(vcvt_high_f32_f64(vcvt_f32_f64(low), high)); }
  static SB_INLINE f64 to_odd(f64 hi, f64 lo) {
    const uint64x2_t bits = vreinterpretq_u64_f64(hi);
    const uint64x2_t finite = vceqzq_f64(vsubq_f64(hi, hi));
    const uint64x2_t exact = vceqzq_f64(lo);
    const uint64x2_t odd = vtstq_u64(bits, vdupq_n_u64(1));
    const uint64x2_t change = vbicq_u64(vbicq_u64(finite, exact), odd);
    // Same signs: away from zero, + 1; otherwise towards zero, - 1 (the arithmetic shift gives all ones).
    const int64x2_t towards =
        vshrq_n_s64(vreinterpretq_s64_u64(veorq_u64(bits, vreinterpretq_u64_f64(lo))), 63);
    const uint64x2_t step_by_one = vorrq_u64(vreinterpretq_u64_s64(towards), vdupq_n_u64(1));
    return f64(vreinterpretq_f64_u64(vaddq_u64(bits, vandq_u64(step_by_one, change))));
  }
};

}  // namespace
}  // namespace samebit
