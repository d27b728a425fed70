// GEMM for arm64 with the dot product instructions: int8 A, int8 B. SDOT adds four products to each int32 and
// wraps.
//
// Panel: int32 column sums, then for every 4 values of k the registers of 4 columns, 4 bytes a column: word c
// of register v holds b[k .. k + 3][4 * v + c]. K is padded with zeros to a multiple of 4, columns to one
// of 4. A is read in place, 16 codes of each row at a time; word u of the register meets the u-th group of k.
#pragma once

#include "arm/neon_gemm_pack.h"

namespace samebit {
namespace {
namespace dot {

// 6 x 4 accumulators, 6 registers of A, 2 of B: all 32.
constexpr size_t kColumns = 16, kRows = 6;

SB_INLINE size_t registers(size_t n) { return (n + 3) / 4; }
size_t panel_bytes(size_t n, size_t k) { return interleaved_bytes<4>(4 * registers(n), k); }
size_t row_bytes(size_t k) { return (k + 63) / 64 * 64; }

void pack(const GemmPack& p) {
  std::memset(p.panel, 0, panel_bytes(p.n, p.k));
  const size_t nv = registers(p.n);
  pack_columns(p, reinterpret_cast<int32_t*>(p.panel), [&](size_t k, uint8_t(*column)[16]) SB_INLINE_LAMBDA {
    const size_t groups = p.k - k < 16 ? (p.k - k + 3) / 4 : 4;
    for (size_t v = 0; v < nv; ++v) {
      uint32x4_t x[4], word[4];
      unroll<4>([&](auto c) SB_INLINE_LAMBDA { x[c] = vreinterpretq_u32_u8(vld1q_u8(column[4 * v + c])); });
      // word[u] = word u of x[0], x[1], x[2], x[3]
      word[0] = vzip1q_u32(vzip1q_u32(x[0], x[2]), vzip1q_u32(x[1], x[3]));
      word[1] = vzip2q_u32(vzip1q_u32(x[0], x[2]), vzip1q_u32(x[1], x[3]));
      word[2] = vzip1q_u32(vzip2q_u32(x[0], x[2]), vzip2q_u32(x[1], x[3]));
      word[3] = vzip2q_u32(vzip2q_u32(x[0], x[2]), vzip2q_u32(x[1], x[3]));
      uint8_t* to = p.panel + 64 + 4 * nv * k + 16 * v;
      unroll<4>([&](auto u) SB_INLINE_LAMBDA {
        if (u < static_cast<int>(groups)) vst1q_u8(to + 16 * nv * u, vreinterpretq_u8_u32(word[u]));
      });
    }
  });
}

void copy(const GemmCopy& c) {
  copy_rows(c, row_bytes(c.k),
            [](int32x4_t sum, int8x16_t x) SB_INLINE_LAMBDA { return vdotq_s32(sum, x, vdupq_n_s8(1)); });
}

SB_INLINE int8x16_t load_b(const uint8_t* p) { return vreinterpretq_s8_u8(vld1q_u8(p)); }

/// R rows from row i against NV registers of columns, to out[R][NV * 4]. KU sets of accumulators take the
/// groups of k in turn: more chains where R * NV are too few.
template <int R, int NV, int KU>
__attribute__((noinline)) void tile(const GemmPanel& p, size_t i, int32_t* out) {
  const uint8_t* a[R];
  unroll<R>([&](auto r) SB_INLINE_LAMBDA { a[r] = p.a + (i + r) * p.lda; });
  const uint8_t* b = p.panel + 64;
  int32x4_t acc[KU][R][NV];
  unroll<KU>([&](auto u) SB_INLINE_LAMBDA {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA { acc[u][r][v] = vdupq_n_s32(0); });
    });
  });
  int8x16_t x[R];
  // clang 14 needs it; g++ 12 moves accumulators about without it, and with it where all registers are used.
  constexpr bool kPin = kClang || R * NV < 24;
  const auto step = [&](auto u) SB_INLINE_LAMBDA {
    // The next register of B is on its way while this one is used: CPUs that keep the order would wait.
    int8x16_t y[2] = {load_b(b + 16 * NV * u)};
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      if constexpr (v + 1 < NV) {
        y[(v + 1) % 2] = load_b(b + 16 * (NV * u + v + 1));
        SB_PIN(y[(v + 1) % 2]);
      }
      unroll<R>([&](auto r) SB_INLINE_LAMBDA {
        acc[u % KU][r][v] = vdotq_laneq_s32(acc[u % KU][r][v], y[v % 2], x[r], u);
        if constexpr (kPin) SB_PIN(acc[u % KU][r][v]);
      });
    });
  };
  size_t k = p.k;
  for (; k >= 16; k -= 16, b += 64 * NV) {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      x[r] = vreinterpretq_s8_u8(vld1q_u8(a[r]));
      a[r] += 16;
    });
    unroll<4>([&](auto u) SB_INLINE_LAMBDA { step(u); });
  }
  if (k > 0) {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA { x[r] = load_codes(a[r], k); });
    step(Index<0>());
    if (k > 4) step(Index<1>());
    if (k > 8) step(Index<2>());
    if (k > 12) step(Index<3>());
  }
  unroll<R>([&](auto r) SB_INLINE_LAMBDA {
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      unroll<KU - 1>([&](auto u)
                         SB_INLINE_LAMBDA { acc[0][r][v] = vaddq_s32(acc[0][r][v], acc[u + 1][r][v]); });
      GemmNeon::store(out + 4 * (NV * r + v), acc[0][r][v]);
    });
  });
}

/// As many sets of accumulators as 24 registers hold: 1, 2 or 4.
constexpr int sets(int r, int nv) { return 24 / (r * nv) >= 4 ? 4 : 24 / (r * nv) >= 2 ? 2 : 1; }

/// The tile of `rows` rows, 1 .. R.
template <int R, int NV>
SB_INLINE void tail(const GemmPanel& p, size_t i, size_t rows, int32_t* out) {
  if (rows == R) return tile<R, NV, sets(R, NV)>(p, i, out);
  if constexpr (R > 1) tail<R - 1, NV>(p, i, rows, out);
}

template <int NV, GemmOutput kOutput>
void run_registers(const GemmPanel& p) {
  alignas(64) int32_t acc[kRows * NV * 4];
  GemmEnd<GemmNeon, NV> end;
  prepare_end(p, reinterpret_cast<const int32_t*>(p.panel), &end);
  size_t i = 0;
  for (; i + kRows <= p.m; i += kRows) {
    tile<kRows, NV, sets(kRows, NV)>(p, i, acc);
    finish<GemmNeon, NV, kOutput>(end, acc, i, kRows);
  }
  if (i == p.m) return;
  tail<kRows - 1, NV>(p, i, p.m - i, acc);
  finish<GemmNeon, NV, kOutput>(end, acc, i, p.m - i);
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

constexpr GemmKernel kKernel = {"sdot4x4",   kColumns,  kRows, true, true,
                                panel_bytes, row_bytes, pack,  copy, run};

}  // namespace dot
}  // namespace
}  // namespace samebit
