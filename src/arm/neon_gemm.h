// GEMM for arm64 without dot products: int8 A, int8 B.
//
// SMULL gives eight int16 products, and SADALP adds them in pairs to four int32 sums of one element of the
// result: eight products for two instructions, on two different pipes of most CPUs. SMLAL of codes widened to
// int16 would be four products each and twice the bytes of B. Where no code of B is -128, SMLAL adds a second
// product in 16 bits first (2 * 128 * 127 = 32512 < 2^15) and SADALP is needed half as often; 2 * 128 * 128
// would not fit.
//
// Rule pairwrap is the second of these for every B: the sums j and j + 8 in 16 bits wrap, as they do in ONNX
// Runtime.
//
// Panel: int32 column sums; at byte 64 an int32, 1 when no code is -128; from byte 128 on blocks of 4
// columns, each: for every 16 values of k, 16 bytes of each column. K is padded with zeros to a multiple of
// 16, columns to one of 4. A is read in place.
#pragma once

#include "arm/neon_gemm_pack.h"

namespace samebit {
namespace {
namespace neon_mull {

// 4 x 4 accumulators, 4 registers of A, 1 of B; the rest holds products under way. Four blocks, so that a row
// of codes is stored as one register.
constexpr size_t kColumns = 16, kRows = 4, kBlock = 4, kHead = 128;

SB_INLINE size_t blocks(size_t n) { return (n + kBlock - 1) / kBlock; }
SB_INLINE size_t block_bytes(size_t k) { return (k + 15) / 16 * 16 * kBlock; }
size_t panel_bytes(size_t n, size_t k) { return kHead + blocks(n) * block_bytes(k); }
size_t row_bytes(size_t k) { return (k + 63) / 64 * 64; }

void pack(const GemmPack& p) {
  std::memset(p.panel, 0, kHead);
  const size_t columns = kBlock * blocks(p.n), stride = block_bytes(p.k);
  int8x16_t least = vdupq_n_s8(0);
  pack_columns(p, reinterpret_cast<int32_t*>(p.panel), [&](size_t k, uint8_t(*column)[16]) SB_INLINE_LAMBDA {
    for (size_t j = 0; j < columns; ++j) {
      const uint8x16_t x = vld1q_u8(column[j]);
      least = vminq_s8(least, vreinterpretq_s8_u8(x));
      vst1q_u8(p.panel + kHead + j / kBlock * stride + k * kBlock + j % kBlock * 16, x);
    }
  });
  const int32_t no_least = vminvq_s8(least) > -128;
  std::memcpy(p.panel + 64, &no_least, sizeof no_least);
}

void copy(const GemmCopy& c) {
  copy_rows(c, row_bytes(c.k),
            [](int32x4_t sum, int8x16_t x) SB_INLINE_LAMBDA { return vpadalq_s16(sum, vpaddlq_s8(x)); });
}

SB_INLINE int8x16_t load_b(const uint8_t* p) { return vreinterpretq_s8_u8(vld1q_u8(p)); }

/// R rows from row i against `count` blocks, to out[R][ld]. KU sets of accumulators take 16 values of k in
/// turn. kPairs: no code of B is
/// -128, or the rule is pairwrap.
template <int R, int KU, bool kPairs>
__attribute__((noinline)) void tile(const GemmPanel& p, size_t i, size_t count, int32_t* out) {
  const uint8_t* b = p.panel + kHead;
  const size_t ld = count * kBlock;
  // Columns: as many as make four products with the rows.
  constexpr int kTogether = R == 1 ? 4 : R == 2 ? 2 : 1;
  for (; count > 0; --count, out += kBlock) {
    const uint8_t* a[R];
    unroll<R>([&](auto r) SB_INLINE_LAMBDA { a[r] = p.a + (i + r) * p.lda; });
    int32x4_t acc[KU][R][4];
    unroll<KU>([&](auto u) SB_INLINE_LAMBDA {
      unroll<R>([&](auto r) SB_INLINE_LAMBDA {
        unroll<4>([&](auto v) SB_INLINE_LAMBDA { acc[u][r][v] = vdupq_n_s32(0); });
      });
    });
    const auto step = [&](auto u, const int8x16_t(&x)[R]) SB_INLINE_LAMBDA {
      unroll<4 / kTogether>([&](auto first) SB_INLINE_LAMBDA {
        // Product after product in every stage: CPUs that keep the order have something to do until one is
        // there.
        int8x16_t y[kTogether];
        int16x8_t product[kTogether][R];
        const auto each = [&](const auto& f) SB_INLINE_LAMBDA {
          unroll<kTogether>([&](auto c) SB_INLINE_LAMBDA {
            unroll<R>([&](auto r) SB_INLINE_LAMBDA { f(c, r, Index<first * kTogether + c>()); });
          });
        };
        unroll<kTogether>([&](auto c) SB_INLINE_LAMBDA { y[c] = load_b(b + 16 * (first * kTogether + c)); });
        each([&](auto c, auto r, auto) SB_INLINE_LAMBDA {
          product[c][r] = vmull_s8(vget_low_s8(x[r]), vget_low_s8(y[c]));
          SB_PIN(product[c][r]);
        });
        if constexpr (kPairs) {
          each([&](auto c, auto r, auto)
                   SB_INLINE_LAMBDA { product[c][r] = vmlal_high_s8(product[c][r], x[r], y[c]); });
        } else {
          int16x8_t high[kTogether][R];
          each([&](auto c, auto r, auto) SB_INLINE_LAMBDA { high[c][r] = vmull_high_s8(x[r], y[c]); });
          each([&](auto c, auto r, auto v)
                   SB_INLINE_LAMBDA { acc[u][r][v] = vpadalq_s16(acc[u][r][v], high[c][r]); });
        }
        each([&](auto c, auto r, auto v)
                 SB_INLINE_LAMBDA { acc[u][r][v] = vpadalq_s16(acc[u][r][v], product[c][r]); });
      });
      b += 16 * kBlock;
    };
    const auto whole_step = [&](auto u) SB_INLINE_LAMBDA {
      int8x16_t x[R];
      unroll<R>([&](auto r) SB_INLINE_LAMBDA {
        x[r] = vreinterpretq_s8_u8(vld1q_u8(a[r]));
        a[r] += 16;
      });
      step(u, x);
    };
    size_t k = p.k;
    for (; k >= 16 * KU; k -= 16 * KU) {
      unroll<KU>([&](auto u) SB_INLINE_LAMBDA { whole_step(u); });
    }
    for (; k >= 16; k -= 16) whole_step(Index<0>());
    if (k > 0) {
      int8x16_t x[R];
      unroll<R>([&](auto r) SB_INLINE_LAMBDA { x[r] = load_codes(a[r], k); });
      step(Index<0>(), x);
    }
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      unroll<4>([&](auto v) SB_INLINE_LAMBDA {
        unroll<KU - 1>([&](auto u)
                           SB_INLINE_LAMBDA { acc[0][r][v] = vaddq_s32(acc[0][r][v], acc[u + 1][r][v]); });
      });
      // Lane v: the sum of the four lanes of acc[v].
      GemmNeon::store(out + static_cast<size_t>(r) * ld, vpaddq_s32(vpaddq_s32(acc[0][r][0], acc[0][r][1]),
                                                                    vpaddq_s32(acc[0][r][2], acc[0][r][3])));
    });
  }
}

template <bool kPairs>
SB_INLINE void rows(const GemmPanel& p, size_t i, size_t rows, size_t count, int32_t* out) {
  switch (rows) {
    case 1:
      return tile<1, 2, kPairs>(p, i, count, out);
    case 2:
      return tile<2, 1, kPairs>(p, i, count, out);
    case 3:
      return tile<3, 1, kPairs>(p, i, count, out);
    default:
      return tile<4, 1, kPairs>(p, i, count, out);
  }
}

template <bool kPairwrap, int NV, GemmOutput kOutput>
void run_registers(const GemmPanel& p) {
  alignas(64) int32_t acc[kRows * NV * 4];
  GemmEnd<GemmNeon, NV> end;
  prepare_end(p, reinterpret_cast<const int32_t*>(p.panel), &end);
  int32_t no_least;
  std::memcpy(&no_least, p.panel + 64, sizeof no_least);
  for (size_t i = 0; i < p.m; i += kRows) {
    const size_t count = p.m - i < kRows ? p.m - i : kRows;
    if (kPairwrap || no_least) rows<true>(p, i, count, NV, acc);
    else rows<false>(p, i, count, NV, acc);
    finish<GemmNeon, NV, kOutput>(end, acc, i, count);
  }
}

template <bool kPairwrap, GemmOutput kOutput>
void run_output(const GemmPanel& p) {
  switch (blocks(p.n)) {
    case 1:
      return run_registers<kPairwrap, 1, kOutput>(p);
    case 2:
      return run_registers<kPairwrap, 2, kOutput>(p);
    case 3:
      return run_registers<kPairwrap, 3, kOutput>(p);
    default:
      return run_registers<kPairwrap, 4, kOutput>(p);
  }
}

template <bool kPairwrap>
void run(const GemmPanel& p) {
  switch (p.output) {
    case GemmOutput::s32:
      return run_output<kPairwrap, GemmOutput::s32>(p);
    case GemmOutput::f32:
    case GemmOutput::f32_fused:
      return run_output<kPairwrap, GemmOutput::f32>(p);
    default:
      return run_output<kPairwrap, GemmOutput::u8_clamp>(p);
  }
}

template <bool kPairwrap>
constexpr GemmKernel kKernel = {"smull4x16", kColumns,  kRows, true, true,
                                panel_bytes, row_bytes, pack,  copy, run<kPairwrap>};

}  // namespace neon_mull
}  // namespace
}  // namespace samebit
