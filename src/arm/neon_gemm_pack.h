// Packing B on arm64: blocks of 16 columns and 16 values of k, turned so that each column is a register.
#pragma once

#include "arm/neon_gemm_prims.h"

namespace samebit {
namespace {

/// column[j][.] = codes k .. k + 15 of column j, flipped; zeros beyond n and K.
SB_INLINE void fetch_columns(const GemmPack& p, size_t k, uint8_t (*column)[16]) {
  const size_t rows = p.k - k < 16 ? p.k - k : 16;
  const uint8_t* from = p.b + k * p.row_stride;
  const uint8x16_t flip = vandq_u8(vdupq_n_u8(p.flip ? 0x80 : 0), first_bytes(rows));
  if (p.row_stride == 1) {
    for (size_t j = 0; j < p.n; ++j) {
      const uint8_t* at = from + j * p.column_stride;
      vst1q_u8(column[j], veorq_u8(rows == 16 ? vld1q_u8(at) : load_codes_first(at, rows), flip));
    }
  } else if (p.column_stride == 1 && p.n == 16 && rows == 16) {
    uint8x16_t x[16];
    unroll<16>([&](auto i) SB_INLINE_LAMBDA { x[i] = veorq_u8(vld1q_u8(from + i * p.row_stride), flip); });
    // Each turn interleaves the first 128 bytes with the last: the 8 bits of a byte's number rotate by one.
    // After four turns row and column have changed places.
    unroll<4>([&](auto) SB_INLINE_LAMBDA {
      uint8x16_t y[16];
      unroll<8>([&](auto i) SB_INLINE_LAMBDA {
        y[2 * i] = vzip1q_u8(x[i], x[i + 8]);
        y[2 * i + 1] = vzip2q_u8(x[i], x[i + 8]);
      });
      unroll<16>([&](auto i) SB_INLINE_LAMBDA { x[i] = y[i]; });
    });
    unroll<16>([&](auto i) SB_INLINE_LAMBDA { vst1q_u8(column[i], x[i]); });
  } else {
    for (size_t j = 0; j < p.n; ++j) {
      uint8_t some[16] = {};
      for (size_t i = 0; i < rows; ++i) some[i] = from[i * p.row_stride + j * p.column_stride];
      vst1q_u8(column[j], veorq_u8(vld1q_u8(some), flip));
    }
  }
}

/// Sums of up to 16 columns to sums[]; emit(k, column) for every 16 values of k.
template <class Emit>
SB_INLINE void pack_columns(const GemmPack& p, int32_t* sums, const Emit& emit) {
  uint8_t column[16][16] = {};
  for (size_t k = 0; k < p.k; k += 16) {
    fetch_columns(p, k, column);
    for (size_t j = 0; j < p.n; ++j) sums[j] += vaddlvq_s8(vreinterpretq_s8_u8(vld1q_u8(column[j])));
    emit(k, column);
  }
}

}  // namespace
}  // namespace samebit
