// GEMM in 256 bits: the primitives of gemm_int16.h and gemm_output.h.
#pragma once

#include <immintrin.h>

#include "simd/gemm.h"

namespace samebit {
namespace {

struct Gemm256 {
  using Int = __m256i;
  using Float = __m256;
  static constexpr const char* layout = "int16x8x2";
  static constexpr size_t lanes = 8;
  // 6 x 2 accumulators, 2 registers of B, 1 of A and 1 product: all 16.
  static constexpr int rows = 6, registers = 2;
  static constexpr size_t max_columns = lanes * registers;

  static SB_INLINE Int load(const int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static SB_INLINE Int load_bytes(const uint8_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
  }
  static SB_INLINE void store(int32_t* p, Int x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
  /// The first n values, zeros behind them.
  static SB_INLINE Int load_first(const int32_t* p, size_t n) {
    if (n >= lanes) return load(p);
    int32_t some[lanes] = {};
    std::memcpy(some, p, 4 * n);
    return load(some);
  }
  static SB_INLINE Float load_first(const float* p, size_t n) {
    if (n >= lanes) return _mm256_loadu_ps(p);
    float some[lanes] = {};
    std::memcpy(some, p, 4 * n);
    return _mm256_loadu_ps(some);
  }
  static SB_INLINE void store_first(int32_t* p, Int x, size_t n) {
    if (n >= lanes) return store(p, x);
    int32_t some[lanes];
    store(some, x);
    std::memcpy(p, some, 4 * n);
  }
  static SB_INLINE void store_first(float* p, Float x, size_t n) {
    if (n >= lanes) return _mm256_storeu_ps(p, x);
    float some[lanes];
    _mm256_storeu_ps(some, x);
    std::memcpy(p, some, 4 * n);
  }
  /// The low byte of each value, n in all.
  template <int NV>
  static SB_INLINE void store_codes(uint8_t* p, const Int (&x)[NV], size_t n) {
    // Lane h of `bytes` begins with x0[4 * h .. + 3], x1[4 * h .. + 3]: two dwords, which alternate in y.
    const Int words = _mm256_and_si256(_mm256_packs_epi32(x[0], x[NV - 1]), _mm256_set1_epi16(0xff));
    const Int bytes = _mm256_packus_epi16(words, words);
    const __m128i y = _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    if (n == 2 * lanes) return _mm_storeu_si128(reinterpret_cast<__m128i*>(p), y);
    if (n == lanes) return _mm_storel_epi64(reinterpret_cast<__m128i*>(p), y);
    uint8_t some[2 * lanes];
    _mm_storeu_si128(reinterpret_cast<__m128i*>(some), y);
    std::memcpy(p, some, n);
  }

  static SB_INLINE Int splat(int32_t x) { return _mm256_set1_epi32(x); }
  static SB_INLINE Float splat(float x) { return _mm256_set1_ps(x); }
  static SB_INLINE Int splat_dword(const uint8_t* p) {
    int32_t x;
    std::memcpy(&x, p, sizeof x);
    return _mm256_set1_epi32(x);
  }
  static SB_INLINE Int widen(const uint8_t* p) {
    return _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(p)));
  }

  static SB_INLINE Int add(Int a, Int b) { return _mm256_add_epi32(a, b); }
  static SB_INLINE Int add16(Int a, Int b) { return _mm256_add_epi16(a, b); }
  static SB_INLINE Int multiply(Int a, Int b) { return _mm256_mullo_epi32(a, b); }
  static SB_INLINE Int multiply_pairs16(Int a, Int b) { return _mm256_madd_epi16(a, b); }
  static SB_INLINE Int multiply_pairs8(Int a, Int b) { return _mm256_maddubs_epi16(a, b); }

  /// x[2 * j] + x[2 * j + 1]. The ones are read from memory each time: a register for them would be the 17th,
  /// and the compilers would rather keep an accumulator in memory.
  alignas(32) static constexpr int16_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  static SB_INLINE Int add_pairs16(Int x) {
    Int sum;
    __asm__("vpmaddwd %2, %1, %0" : "=x"(sum) : "x"(x), "m"(ones));
    return sum;
  }

  static SB_INLINE Float to_float(Int x) { return _mm256_cvtepi32_ps(x); }
  static SB_INLINE Int round(Float x) { return _mm256_cvtps_epi32(x); }
  static SB_INLINE Float add(Float a, Float b) { return _mm256_add_ps(a, b); }
  static SB_INLINE Float multiply(Float a, Float b) { return _mm256_mul_ps(a, b); }
  static SB_INLINE Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  // maxps and minps give their second operand when either is NaN.
  static SB_INLINE Float larger(Float x, Float bound) { return _mm256_max_ps(x, bound); }
  static SB_INLINE Float smaller(Float x, Float bound) { return _mm256_min_ps(x, bound); }
  static SB_INLINE Float nan_to_zero(Float x) { return _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q)); }
};

}  // namespace
}  // namespace samebit
