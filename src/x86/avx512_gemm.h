// GEMM in 512 bits: the primitives of gemm_int16.h and gemm_output.h.
#pragma once

#include <immintrin.h>

#include "simd/gemm.h"

namespace samebit {
namespace {

struct Gemm512 {
  using Int = __m512i;
  using Float = __m512;
  static constexpr const char* layout = "int16x16x2";
  static constexpr size_t lanes = 16;
  // 12 x 2 accumulators. Each register of B is widened by a shuffle, on a port that multiplies as well: few
  // of them and many rows.
  static constexpr int rows = 12, registers = 2;
  static constexpr size_t max_columns = lanes * registers;

  static SB_INLINE __mmask16 first(size_t n) {
    return static_cast<__mmask16>(n >= lanes ? 0xffffu : (1u << n) - 1);
  }
  static SB_INLINE Int load(const int32_t* p) { return _mm512_loadu_si512(p); }
  static SB_INLINE Int load_bytes(const uint8_t* p) { return _mm512_load_si512(p); }
  static SB_INLINE void store(int32_t* p, Int x) { _mm512_storeu_si512(p, x); }
  /// The first n values, zeros behind them.
  static SB_INLINE Int load_first(const int32_t* p, size_t n) {
    return _mm512_maskz_loadu_epi32(first(n), p);
  }
  static SB_INLINE Float load_first(const float* p, size_t n) { return _mm512_maskz_loadu_ps(first(n), p); }
  static SB_INLINE void store_first(int32_t* p, Int x, size_t n) { _mm512_mask_storeu_epi32(p, first(n), x); }
  static SB_INLINE void store_first(float* p, Float x, size_t n) { _mm512_mask_storeu_ps(p, first(n), x); }
  /// The low byte of each value, n in all.
  template <int NV>
  static SB_INLINE void store_codes(uint8_t* p, const Int (&x)[NV], size_t n) {
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      _mm_mask_storeu_epi8(p + lanes * v, first(n - lanes * v), _mm512_cvtepi32_epi8(x[v]));
    });
  }

  static SB_INLINE Int splat(int32_t x) { return _mm512_set1_epi32(x); }
  static SB_INLINE Float splat(float x) { return _mm512_set1_ps(x); }
  static SB_INLINE Int splat_dword(const uint8_t* p) {
    int32_t x;
    std::memcpy(&x, p, sizeof x);
    return _mm512_set1_epi32(x);
  }
  static SB_INLINE Int widen(const uint8_t* p) {
    return _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(p)));
  }

  static SB_INLINE Int add(Int a, Int b) { return _mm512_add_epi32(a, b); }
  static SB_INLINE Int add16(Int a, Int b) { return _mm512_add_epi16(a, b); }
  static SB_INLINE Int multiply(Int a, Int b) { return _mm512_mullo_epi32(a, b); }
  static SB_INLINE Int multiply_pairs16(Int a, Int b) { return _mm512_madd_epi16(a, b); }
  static SB_INLINE Int multiply_pairs8(Int a, Int b) { return _mm512_maddubs_epi16(a, b); }
  /// x[2 * j] + x[2 * j + 1]
  static SB_INLINE Int add_pairs16(Int x) { return _mm512_madd_epi16(x, _mm512_set1_epi16(1)); }

  static SB_INLINE Float to_float(Int x) { return _mm512_cvtepi32_ps(x); }
  static SB_INLINE Int round(Float x) { return _mm512_cvtps_epi32(x); }
  static SB_INLINE Float add(Float a, Float b) { return _mm512_add_ps(a, b); }
  static SB_INLINE Float multiply(Float a, Float b) { return _mm512_mul_ps(a, b); }
  static SB_INLINE Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  // maxps and minps give their second operand when either is NaN.
  static SB_INLINE Float larger(Float x, Float bound) { return _mm512_max_ps(x, bound); }
  static SB_INLINE Float smaller(Float x, Float bound) { return _mm512_min_ps(x, bound); }
  static SB_INLINE Float nan_to_zero(Float x) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
  }
};

}  // namespace
}  // namespace samebit
