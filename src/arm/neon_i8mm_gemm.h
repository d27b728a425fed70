// GEMM for arm64 with matrix products: int8 A, int8 B. SMMLA adds to a 2 x 2 block the products of two rows
// and two columns over 8 values of k, and wraps.
//
// Panel: int32 column sums, then for every 8 values of k the registers of 2 columns, 8 bytes a column: half h
// of register v holds b[k .. k + 7][2 * v + h]. K is padded with zeros to a multiple of 8, columns to one
// of 4.
//
// Rows are always copied, two by two: for every 8 values of k, 8 bytes of the first row, then 8 of the
// second. The last row of an odd number is alone and contiguous. Rows are padded with zeros to 64 bytes. So a
// range of rows that begins at an even row of the copy and ends with it, or at an even row, is what run() can
// take.
//
// One row alone is multiplied as half of a pair whose other half is zero: SDOT would need as many
// instructions, since a register of B holds two columns either way.
#pragma once

#include "arm/neon_gemm_pack.h"

namespace samebit {
namespace {
namespace i8mm {

// 3 pairs x 8 accumulators, 3 registers of A, up to 5 of B: all 32.
constexpr size_t kColumns = 16, kRows = 6;

/// Groups of 4 columns.
SB_INLINE size_t registers(size_t n) { return (n + 3) / 4; }
size_t panel_bytes(size_t n, size_t k) { return interleaved_bytes<8>(4 * registers(n), k); }
size_t row_bytes(size_t k) { return (k + 63) / 64 * 64; }

/// Halves [a0 a1], [b0 b1] to [a0 b0], and distance bytes on to [a1 b1] if both are wanted.
SB_INLINE void store_pair(uint8_t* to, size_t distance, int8x16_t a, int8x16_t b, bool both) {
  const uint64x2_t first = vreinterpretq_u64_s8(a), second = vreinterpretq_u64_s8(b);
  vst1q_u8(to, vreinterpretq_u8_u64(vzip1q_u64(first, second)));
  if (both) vst1q_u8(to + distance, vreinterpretq_u8_u64(vzip2q_u64(first, second)));
}

SB_INLINE int8x16_t load_16(const uint8_t* p) { return vreinterpretq_s8_u8(vld1q_u8(p)); }

void pack(const GemmPack& p) {
  std::memset(p.panel, 0, panel_bytes(p.n, p.k));
  const size_t columns = 4 * registers(p.n);
  pack_columns(p, reinterpret_cast<int32_t*>(p.panel), [&](size_t k, uint8_t(*column)[16]) SB_INLINE_LAMBDA {
    for (size_t j = 0; j < columns; j += 2)
      store_pair(p.panel + 64 + columns * k + 8 * j, 8 * columns, load_16(column[j]), load_16(column[j + 1]),
                 p.k - k > 8);
  });
}

void copy(const GemmCopy& c) {
  const size_t bytes = row_bytes(c.k);
  const uint8x16_t flip = flip_of(c);
  const int8x16_t one = vdupq_n_s8(1);
  size_t i = 0;
  for (; i + 2 <= c.m; i += 2) {
    const uint8_t* from = c.a + i * c.row_stride;
    uint8_t* to = c.rows ? c.rows + i * bytes : nullptr;
    int32x4_t sum[2] = {vdupq_n_s32(0), vdupq_n_s32(0)};
    for (size_t k = 0; k < c.k; k += 16) {
      const int8x16_t x = copied_codes(c, from, k, flip), y = copied_codes(c, from + c.row_stride, k, flip);
      if (to) store_pair(to + 2 * k, 16, x, y, true);
      sum[0] = vdotq_s32(sum[0], x, one);
      sum[1] = vdotq_s32(sum[1], y, one);
    }
    if (c.sums) {
      c.sums[i] = vaddvq_s32(sum[0]);
      c.sums[i + 1] = vaddvq_s32(sum[1]);
    }
  }
  if (i == c.m) return;
  GemmCopy last = c;
  last.a = c.a + i * c.row_stride;
  last.m = 1;
  last.rows = c.rows ? c.rows + i * bytes : nullptr;
  last.sums = c.sums ? c.sums + i : nullptr;
  copy_rows(last, bytes, [&](int32x4_t sum, int8x16_t x) SB_INLINE_LAMBDA { return vdotq_s32(sum, x, one); });
}

/// P pairs of rows from row i against NV groups of 4 columns, to out[rows][NV * 4]. kOdd: the last pair is
/// one row. KU sets of accumulators take consecutive groups of k: more chains where P * NV are too few.
template <int P, bool kOdd, int NV, int KU>
__attribute__((noinline)) void tile(const GemmPanel& p, size_t i, int32_t* out) {
  constexpr int kNB = 2 * NV;
  const uint8_t* a[P];
  unroll<P>([&](auto r) SB_INLINE_LAMBDA { a[r] = p.a + (i + 2 * r) * p.lda; });
  const uint8_t* b = p.panel + 64;
  int32x4_t acc[KU][P][kNB];
  unroll<KU>([&](auto u) SB_INLINE_LAMBDA {
    unroll<P>([&](auto r) SB_INLINE_LAMBDA {
      unroll<kNB>([&](auto v) SB_INLINE_LAMBDA { acc[u][r][v] = vdupq_n_s32(0); });
    });
  });
  const auto step = [&](auto u) SB_INLINE_LAMBDA {
    int8x16_t x[P];
    unroll<P>([&](auto r) SB_INLINE_LAMBDA {
      if constexpr (kOdd && r == P - 1) {
        x[r] = vcombine_s8(vreinterpret_s8_u8(vld1_u8(a[r] + 8 * u)), vdup_n_s8(0));
      } else {
        x[r] = load_16(a[r] + 16 * u);
      }
    });
    unroll<kNB>([&](auto v) SB_INLINE_LAMBDA {
      const int8x16_t y = load_16(b + 16 * (kNB * u + v));
      unroll<P>([&](auto r) SB_INLINE_LAMBDA {
        acc[u % KU][r][v] = vmmlaq_s32(acc[u % KU][r][v], x[r], y);
        // clang 14 moves accumulators of odd rows about without it, g++ 12 all with it.
        if constexpr (kClang && kOdd) SB_PIN(acc[u % KU][r][v]);
      });
    });
  };
  const auto forward = [&](size_t count) SB_INLINE_LAMBDA {
    unroll<P>([&](auto r) SB_INLINE_LAMBDA { a[r] += (kOdd && r == P - 1 ? 8 : 16) * count; });
    b += 16 * kNB * count;
  };
  size_t k = (p.k + 7) / 8;
  // Two steps at least: pointers move half as often.
  constexpr int kSteps = KU > 1 ? KU : 2;
  for (; k >= kSteps; k -= kSteps) {
    unroll<kSteps>([&](auto u) SB_INLINE_LAMBDA { step(u); });
    forward(kSteps);
  }
  for (; k > 0; --k) {
    step(Index<0>());
    forward(1);
  }
  unroll<P>([&](auto r) SB_INLINE_LAMBDA {
    unroll<kNB>([&](auto v) SB_INLINE_LAMBDA {
      unroll<KU - 1>([&](auto u)
                         SB_INLINE_LAMBDA { acc[0][r][v] = vaddq_s32(acc[0][r][v], acc[u + 1][r][v]); });
    });
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      // Two blocks: lanes 0 and 1 of each are columns of the first row, 2 and 3 of the second.
      const int64x2_t left = vreinterpretq_s64_s32(acc[0][r][2 * v]),
                      right = vreinterpretq_s64_s32(acc[0][r][2 * v + 1]);
      int32_t* to = out + 8 * NV * r + 4 * v;
      vst1q_s32(to, vreinterpretq_s32_s64(vzip1q_s64(left, right)));
      if constexpr (!(kOdd && r == P - 1))
        vst1q_s32(to + 4 * NV, vreinterpretq_s32_s64(vzip2q_s64(left, right)));
    });
  });
}

/// As many sets of accumulators as 24 registers hold: 1, 2 or 4.
constexpr int sets(int p, int nv) { return 12 / (p * nv) >= 4 ? 4 : 12 / (p * nv) >= 2 ? 2 : 1; }

template <int NV>
SB_INLINE void rows(const GemmPanel& p, size_t i, size_t count, int32_t* out) {
  switch (count) {
    case 1:
      return tile<1, true, NV, sets(1, NV)>(p, i, out);
    case 2:
      return tile<1, false, NV, sets(1, NV)>(p, i, out);
    case 3:
      return tile<2, true, NV, sets(2, NV)>(p, i, out);
    case 4:
      return tile<2, false, NV, sets(2, NV)>(p, i, out);
    case 5:
      return tile<3, true, NV, sets(3, NV)>(p, i, out);
    default:
      return tile<3, false, NV, sets(3, NV)>(p, i, out);
  }
}

template <int NV, GemmOutput kOutput>
void run_registers(const GemmPanel& p) {
  alignas(64) int32_t acc[kRows * NV * 4];
  GemmEnd<GemmNeon, NV> end;
  prepare_end(p, reinterpret_cast<const int32_t*>(p.panel), &end);
  for (size_t i = 0; i < p.m; i += kRows) {
    const size_t count = p.m - i < kRows ? p.m - i : kRows;
    rows<NV>(p, i, count, acc);
    finish<GemmNeon, NV, kOutput>(end, acc, i, count);
  }
}

template <GemmOutput kOutput>
void run_output(const GemmPanel& p) {
  switch (registers(p.n)) {
    case 1:
      return run_registers<1, kOutput>(p);
    case 2:
      return run_registers<2, kOutput>(p);
    case 3:
      return run_registers<3, kOutput>(p);
    default:
      return run_registers<4, kOutput>(p);
  }
}

void run(const GemmPanel& p) {
  switch (p.output) {
    case GemmOutput::s32:
      return run_output<GemmOutput::s32>(p);
    case GemmOutput::f32:
    case GemmOutput::f32_fused:
      return run_output<GemmOutput::f32>(p);
    default:
      return run_output<GemmOutput::u8_clamp>(p);
  }
}

constexpr GemmKernel kKernel = {"smmla2x2",  kColumns,  kRows, true, false,
                                panel_bytes, row_bytes, pack,  copy, run};

}  // namespace i8mm
}  // namespace
}  // namespace samebit
