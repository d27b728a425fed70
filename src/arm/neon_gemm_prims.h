// GEMM on arm64: the primitives of simd/gemm_output.h, and rows of A read with their flip.
#pragma once

#include <arm_neon.h>

#include "simd/gemm_output.h"

namespace samebit {
namespace {

#ifdef __clang__
constexpr bool kClang = true;
#else
constexpr bool kClang = false;
#endif

struct GemmNeon {
  using Int = int32x4_t;
  using Float = float32x4_t;
  static constexpr size_t lanes = 4;

  static SB_INLINE Int load(const int32_t* p) { return vld1q_s32(p); }
  static SB_INLINE void store(int32_t* p, Int x) { vst1q_s32(p, x); }
  /// The first n values, zeros behind them.
  static SB_INLINE Int load_first(const int32_t* p, size_t n) {
    if (n >= lanes) return vld1q_s32(p);
    int32_t some[lanes] = {};
    std::memcpy(some, p, 4 * n);
    return vld1q_s32(some);
  }
  static SB_INLINE Float load_first(const float* p, size_t n) {
    if (n >= lanes) return vld1q_f32(p);
    float some[lanes] = {};
    std::memcpy(some, p, 4 * n);
    return vld1q_f32(some);
  }
  static SB_INLINE void store_first(int32_t* p, Int x, size_t n) {
    if (n >= lanes) return vst1q_s32(p, x);
    int32_t some[lanes];
    vst1q_s32(some, x);
    std::memcpy(p, some, 4 * n);
  }
  static SB_INLINE void store_first(float* p, Float x, size_t n) {
    if (n >= lanes) return vst1q_f32(p, x);
    float some[lanes];
    vst1q_f32(some, x);
    std::memcpy(p, some, 4 * n);
  }
  /// The low byte of each value, n in all.
  template <int NV>
  static SB_INLINE void store_codes(uint8_t* p, const Int (&x)[NV], size_t n) {
    // Even-numbered halves twice: byte 4 * v + c of y is the low byte of lane c of x[v].
    const auto halves = [](Int a, Int b) SB_INLINE_LAMBDA {
      return vuzp1q_s16(vreinterpretq_s16_s32(a), vreinterpretq_s16_s32(b));
    };
    const int16x8_t low = halves(x[0], x[NV > 1 ? 1 : 0]),
                    high = NV > 2 ? halves(x[NV > 2 ? 2 : 0], x[NV - 1]) : low;
    const uint8x16_t y = vuzp1q_u8(vreinterpretq_u8_s16(low), vreinterpretq_u8_s16(high));
    if (n == 4 * lanes) return vst1q_u8(p, y);
    if (n == 2 * lanes) return vst1_u8(p, vget_low_u8(y));
    uint8_t some[4 * lanes];
    vst1q_u8(some, y);
    std::memcpy(p, some, n);
  }

  static SB_INLINE Int splat(int32_t x) { return vdupq_n_s32(x); }
  static SB_INLINE Float splat(float x) { return vdupq_n_f32(x); }
  static SB_INLINE Int add(Int a, Int b) { return vaddq_s32(a, b); }
  static SB_INLINE Int multiply(Int a, Int b) { return vmulq_s32(a, b); }

  static SB_INLINE Float to_float(Int x) { return vcvtq_f32_s32(x); }
  static SB_INLINE Int round(Float x) { return vcvtnq_s32_f32(x); }
  static SB_INLINE Float add(Float a, Float b) { return vaddq_f32(a, b); }
  static SB_INLINE Float multiply(Float a, Float b) { return vmulq_f32(a, b); }
  static SB_INLINE Float fma(Float a, Float b, Float c) { return vfmaq_f32(c, a, b); }
  // fmaxnm gives the number when the other is a quiet NaN; every NaN here is one, the result of a product.
  static SB_INLINE Float larger(Float x, Float bound) { return vmaxnmq_f32(x, bound); }
  static SB_INLINE Float smaller(Float x, Float bound) { return vminnmq_f32(x, bound); }
  static SB_INLINE Float nan_to_zero(Float x) {
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x), vceqq_f32(x, x)));
  }
};

/// The first n codes, 1 .. 15, zeros behind them. Reads nothing behind: two overlapping halves.
SB_INLINE uint8x16_t load_codes_first(const uint8_t* p, size_t n) {
  uint64_t low = 0, high = 0;
  if (n >= 8) {
    std::memcpy(&low, p, 8);
    std::memcpy(&high, p + n - 8, 8);
    high = high >> 1 >> (127 - 8 * n);  // by 128 - 8 * n, 8 .. 64 bits
  } else if (n >= 4) {
    uint32_t first, last;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + n - 4, 4);
    low = first | static_cast<uint64_t>(last) << (8 * (n - 4));
  } else {
    low = p[0] | static_cast<uint64_t>(p[n / 2]) << (8 * (n / 2)) |
          static_cast<uint64_t>(p[n - 1]) << (8 * (n - 1));
  }
  return vcombine_u8(vcreate_u8(low), vcreate_u8(high));
}

/// n codes or the 16 of a whole register, zeros behind them.
SB_INLINE int8x16_t load_codes(const uint8_t* p, size_t n) {
  return vreinterpretq_s8_u8(n >= 16 ? vld1q_u8(p) : load_codes_first(p, n));
}

/// The first n bytes are ones, the rest zeros.
SB_INLINE uint8x16_t first_bytes(size_t n) {
  static constexpr uint8_t kOnesAndZeros[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                255, 255, 255, 255, 255, 255, 255, 255};
  return vld1q_u8(kOnesAndZeros + 16 - (n < 16 ? n : 16));
}

/// 16 codes of a row from k, flipped; zeros behind the last. `row` is the row's first code.
SB_INLINE int8x16_t copied_codes(const GemmCopy& c, const uint8_t* row, size_t k, uint8x16_t flip) {
  const size_t n = c.k - k;
  if (c.column_stride == 1 && n >= 16) return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(row + k), flip));
  uint8x16_t x;
  if (c.column_stride == 1) {
    x = load_codes_first(row + k, n);
  } else {
    uint8_t gathered[16] = {};
    for (size_t j = 0; j < n && j < 16; ++j) gathered[j] = row[(k + j) * c.column_stride];
    x = vld1q_u8(gathered);
  }
  return vreinterpretq_s8_u8(veorq_u8(x, vandq_u8(flip, first_bytes(n))));
}
SB_INLINE uint8x16_t flip_of(const GemmCopy& c) { return vdupq_n_u8(c.flip ? 0x80 : 0); }

/// Copies rows one after the other, and adds them up. add(sum, x): 4 partial sums and 16 more codes.
template <class Add>
SB_INLINE void copy_rows(const GemmCopy& c, size_t row_bytes, const Add& add) {
  const uint8x16_t flip = flip_of(c);
  for (size_t i = 0; i < c.m; ++i) {
    const uint8_t* from = c.a + i * c.row_stride;
    int32x4_t sum = vdupq_n_s32(0);
    for (size_t k = 0; k < c.k; k += 16) {
      const int8x16_t x = copied_codes(c, from, k, flip);
      if (c.rows) vst1q_u8(c.rows + i * row_bytes + k, vreinterpretq_u8_s8(x));
      sum = add(sum, x);
    }
    if (c.sums) c.sums[i] = vaddvq_s32(sum);
  }
}

}  // namespace
}  // namespace samebit
