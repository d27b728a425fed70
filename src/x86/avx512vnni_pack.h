// Packed formats of avx512vnni_gemm.h, and copies of rows.
//
// Panel of more than 8 columns: int32 column sums of its vectors, then for every 4 values of k the vectors of
// 16 columns, 4 bytes a column: dword c of vector v holds b[k .. k + 3][16 * v + c]. K is padded with zeros
// to a multiple of 4, columns to one of 16. A is read in place: a broadcast of 4 bytes is a load and costs
// nothing else.
//
// Panel of 8, 4, 2 or 1 columns: 8, 16, 32 or 64 bytes a column, so that a vector is full of products.
#pragma once

#include <immintrin.h>

#include "simd/gemm.h"
#include "x86/avx512_prims.h"

namespace samebit {
namespace {
namespace vnni512 {

constexpr size_t kColumns = 64;

SB_INLINE size_t vectors(size_t n) { return (n + 15) / 16; }
SB_INLINE size_t groups(size_t k) { return (k + 3) / 4; }
SB_INLINE __mmask16 columns_mask(size_t n) {
  return static_cast<__mmask16>(n >= 16 ? 0xffffu : (1u << n) - 1);
}

/// Columns of a narrow panel: 1, 2, 4 or 8; 0 when it is not narrow.
SB_INLINE size_t narrow_columns(size_t n) { return n > 8 ? 0 : n > 4 ? 8 : n > 2 ? 4 : n; }

size_t panel_bytes(size_t n, size_t k) {
  switch (narrow_columns(n)) {
    case 1:
      return interleaved_bytes<64>(1, k);
    case 2:
      return interleaved_bytes<32>(2, k);
    case 4:
      return interleaved_bytes<16>(4, k);
    case 8:
      return interleaved_bytes<8>(8, k);
    default:
      return interleaved_bytes<4>(16 * vectors(n), k);
  }
}
size_t row_bytes(size_t k) { return (k + 63) / 64 * 64; }

void pack(const GemmPack& p) {
  switch (narrow_columns(p.n)) {
    case 1:
      return pack_interleaved<64>(p, 1);
    case 2:
      return pack_interleaved<32>(p, 2);
    case 4:
      return pack_interleaved<16>(p, 4);
    case 8:
      return pack_interleaved<8>(p, 8);
    default:
      return pack_interleaved<4>(p, 16 * vectors(p.n));
  }
}

/// 64 codes of a row, flipped; zeros behind the last.
SB_INLINE __m512i codes_at(const GemmCopy& c, const uint8_t* row, size_t k, __m512i flip) {
  const size_t n = c.k - k;
  if (c.column_stride == 1) {
    if (n >= 64) return _mm512_xor_si512(_mm512_loadu_si512(row + k), flip);
    const __mmask64 mask = Avx512::first(n);
    return _mm512_maskz_mov_epi8(mask, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, row + k), flip));
  }
  alignas(64) uint8_t gathered[64] = {};
  for (size_t j = 0; j < n && j < 64; ++j) gathered[j] = row[(k + j) * c.column_stride];
  const __m512i x = _mm512_xor_si512(_mm512_load_si512(gathered), flip);
  return n >= 64 ? x : _mm512_maskz_mov_epi8(Avx512::first(n), x);
}

/// R rows from row i: copied, and added up.
template <int R>
SB_INLINE void copy_rows(const GemmCopy& c, size_t i) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(c.flip ? 0x80 : 0)), one = _mm512_set1_epi8(1);
  const size_t stride = row_bytes(c.k);
  __m512i sum[4];
  unroll<4>([&](auto r) SB_INLINE_LAMBDA { sum[r] = _mm512_setzero_si512(); });
  for (size_t k = 0; k < c.k; k += 64) {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      const __m512i x = codes_at(c, c.a + (i + r) * c.row_stride, k, flip);
      if (c.rows) _mm512_store_si512(c.rows + (i + r) * stride + k, x);
      sum[r] = _mm512_dpbusd_epi32(sum[r], x, one);
    });
  }
  if (!c.sums) return;
  // lane = s0 s1 s2 s3, each a fourth of its row's sum in every 128-bit lane
  const __m512i s01 =
      _mm512_add_epi32(_mm512_unpacklo_epi32(sum[0], sum[1]), _mm512_unpackhi_epi32(sum[0], sum[1]));
  const __m512i s23 =
      _mm512_add_epi32(_mm512_unpacklo_epi32(sum[2], sum[3]), _mm512_unpackhi_epi32(sum[2], sum[3]));
  const __m512i lanes = _mm512_add_epi32(_mm512_unpacklo_epi64(s01, s23), _mm512_unpackhi_epi64(s01, s23));
  const __m256i two = _mm256_add_epi32(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
  const __m128i all = _mm_add_epi32(_mm256_castsi256_si128(two), _mm256_extracti128_si256(two, 1));
  _mm_mask_storeu_epi32(c.sums + i, static_cast<__mmask8>((1u << R) - 1), all);
}

void copy(const GemmCopy& c) {
  size_t i = 0;
  for (; i + 4 <= c.m; i += 4) copy_rows<4>(c, i);
  for (; i < c.m; ++i) copy_rows<1>(c, i);
}

}  // namespace vnni512
}  // namespace
}  // namespace samebit
