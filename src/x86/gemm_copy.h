// Rows of A for GEMM on x86: read with their flip, and summed.
#pragma once

#include <immintrin.h>

#include "simd/gemm.h"

namespace samebit {
namespace {

/// store(i, k, x): 32 codes of row i from k (a multiple of 32), zeros from K on.
template <class Store>
SB_INLINE void copy_rows(const GemmCopy& c, const Store& store) {
  const uint8_t flip = c.flip ? 0x80 : 0;
  const __m256i flips = _mm256_set1_epi8(static_cast<char>(flip));
  for (size_t i = 0; i < c.m; ++i) {
    const uint8_t* from = c.a + i * c.row_stride;
    __m256i sum = _mm256_setzero_si256();
    for (size_t k = 0; k < c.k; k += 32) {
      __m256i x;
      if (c.column_stride == 1 && c.k - k >= 32) {
        x = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k)), flips);
      } else {
        alignas(32) uint8_t some[32] = {};
        const size_t n = c.k - k < 32 ? c.k - k : 32;
        for (size_t j = 0; j < n; ++j) some[j] = from[(k + j) * c.column_stride] ^ flip;
        x = _mm256_load_si256(reinterpret_cast<const __m256i*>(some));
      }
      if (c.rows) store(i, k, x);
      // 4 sums of 8 codes; 64 bits each, of which the low 32 wrap as they should.
      sum = _mm256_add_epi64(sum, _mm256_sad_epu8(x, _mm256_setzero_si256()));
    }
    if (c.sums) {
      const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
      c.sums[i] = _mm_cvtsi128_si32(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
    }
  }
}

}  // namespace
}  // namespace samebit
