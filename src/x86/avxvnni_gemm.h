// GEMM for AVX-VNNI: uint8 A, int8 B. The instruction adds four products to each int32 and wraps.
//
// Panel: int32 column sums of its registers, then for every 4 values of k the registers of 8 columns, 4 bytes
// a column: dword c of register v holds b[k .. k + 3][8 * v + c]. K is padded with zeros to a multiple of 4,
// columns to one of 8. A is read in place: a broadcast of 4 bytes is a load and costs nothing else.
#pragma once

#include <immintrin.h>

#include "x86/avx2_gemm.h"
#include "x86/gemm_copy.h"
#include "simd/gemm_output.h"

namespace samebit {
namespace {
namespace vnni256 {

// 6 x 2 accumulators (the instruction takes 5 cycles and two start in each: 10 or more hide that), 2
// registers of B, 1 of A.
constexpr size_t kColumns = 16, kRows = 6;
constexpr size_t kAhead = 2048;

SB_INLINE size_t registers(size_t n) { return (n + 7) / 8; }
size_t panel_bytes(size_t n, size_t k) { return interleaved_bytes<4>(8 * registers(n), k); }
size_t row_bytes(size_t k) { return (k + 63) / 64 * 64; }

void pack(const GemmPack& p) { pack_interleaved<4>(p, 8 * registers(p.n)); }

void copy(const GemmCopy& c) {
  copy_rows(c, [&](size_t i, size_t k, __m256i x) SB_INLINE_LAMBDA {
    _mm256_store_si256(reinterpret_cast<__m256i*>(c.rows + i * row_bytes(c.k) + k), x);
  });
}

/// R rows from row i against NV registers of columns, to out[R][NV * 8]. KU sets of accumulators take
/// consecutive groups of k: more chains where R * NV are too few.
template <int R, int NV, int KU>
__attribute__((noinline)) void tile(const GemmPanel& p, size_t i, int32_t* out) {
  const uint8_t* a = p.a + i * p.lda;
  const uint8_t* b = p.panel + 64;
  size_t row[R];  // from the first row, bytes
  unroll<R>([&](auto r) SB_INLINE_LAMBDA {
    row[r] = r * p.lda;
    if constexpr (r > 0) SB_KEEP(row[r]);
  });
  __m256i acc[KU][R][NV];
  unroll<KU>([&](auto u) SB_INLINE_LAMBDA {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA { acc[u][r][v] = _mm256_setzero_si256(); });
    });
  });
  const auto step = [&](auto u, const uint8_t* ak, const uint8_t* bk) SB_INLINE_LAMBDA {
    __m256i x[NV];
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      x[v] = Gemm256::load_bytes(bk + 32 * v);
      if constexpr (R == 2) SB_PIN(x[v]);  // g++ 12 would load it twice
    });
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      const __m256i y = Gemm256::splat_dword(ak + row[r]);
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        acc[u][r][v] = _mm256_dpbusd_avx_epi32(acc[u][r][v], y, x[v]);
        SB_PIN(acc[u][r][v]);
      });
    });
  };
  const auto forward = [&](size_t count) SB_INLINE_LAMBDA {
    a += 4 * count;
    b += 32 * NV * count;
    SB_KEEP(a);
    SB_KEEP(b);
  };
  size_t n = p.k / 4;
  // Two steps at least: additions to pointers take turns with the products on the same ports.
  constexpr int kSteps = KU > 1 ? KU : 2;
  for (; n >= kSteps; n -= kSteps) {
    // One or two rows stream B: it is asked for early, across the page that hardware stops at.
    if constexpr (R <= 2) {
      unroll<(kSteps * NV + 1) / 2>([&](auto line) SB_INLINE_LAMBDA {
        _mm_prefetch(reinterpret_cast<const char*>(b + kAhead + 64 * line), _MM_HINT_T0);
      });
    }
    unroll<kSteps>([&](auto u) SB_INLINE_LAMBDA { step(Index<u % KU>(), a + 4 * u, b + 32 * NV * u); });
    forward(kSteps);
  }
  unroll<kSteps - 1>([&](auto) SB_INLINE_LAMBDA {
    if (n == 0) return;
    step(Index<0>(), a, b);
    forward(1);
    --n;
  });
  if (p.k % 4 != 0) {
    __m256i x[NV];
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA { x[v] = Gemm256::load_bytes(b + 32 * v); });
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      const __m256i y = _mm256_set1_epi32(static_cast<int>(last_codes(a + r * p.lda, p.k % 4)));
      unroll<NV>([&](auto v)
                     SB_INLINE_LAMBDA { acc[0][r][v] = _mm256_dpbusd_avx_epi32(acc[0][r][v], y, x[v]); });
    });
  }
  unroll<R>([&](auto r) SB_INLINE_LAMBDA {
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      unroll<KU - 1>(
          [&](auto u) SB_INLINE_LAMBDA { acc[0][r][v] = _mm256_add_epi32(acc[0][r][v], acc[u + 1][r][v]); });
      Gemm256::store(out + 8 * (NV * r + v), acc[0][r][v]);
    });
  });
}

/// As many sets of accumulators as 12 registers hold, 4 at most.
constexpr int sets(int r, int nv) { return 12 / (r * nv) > 4 ? 4 : 12 / (r * nv); }

/// The tile of `rows` rows, 1 .. R.
template <int R, int NV>
SB_INLINE void tail(const GemmPanel& p, size_t i, size_t rows, int32_t* out) {
  if (rows == R) return tile<R, NV, sets(R, NV)>(p, i, out);
  if constexpr (R > 1) tail<R - 1, NV>(p, i, rows, out);
}

template <int NV, GemmOutput kOutput>
void run_registers(const GemmPanel& p) {
  alignas(64) int32_t acc[kRows * NV * 8];
  GemmEnd<Gemm256, NV> end;
  prepare_end(p, reinterpret_cast<const int32_t*>(p.panel), &end);
  size_t i = 0;
  for (; i + kRows <= p.m; i += kRows) {
    tile<kRows, NV, sets(kRows, NV)>(p, i, acc);
    finish<Gemm256, NV, kOutput>(end, acc, i, kRows);
  }
  if (i == p.m) return;
  tail<kRows - 1, NV>(p, i, p.m - i, acc);
  finish<Gemm256, NV, kOutput>(end, acc, i, p.m - i);
}

template <GemmOutput kOutput>
void run_output(const GemmPanel& p) {
  if (registers(p.n) == 1) run_registers<1, kOutput>(p);
  else run_registers<2, kOutput>(p);
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

constexpr GemmKernel kKernel = {"vnni8x2",   kColumns,  kRows, false, true,
                                panel_bytes, row_bytes, pack,  copy,  run};

}  // namespace vnni256
}  // namespace
}  // namespace samebit
