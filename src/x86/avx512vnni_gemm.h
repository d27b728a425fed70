// GEMM for AVX-512 VNNI: uint8 A, int8 B. The instruction adds four products to each int32 and wraps.
//
// Panel: int32 column sums of its vectors, then for every 4 values of k the vectors of 16 columns, 4 bytes a
// column: dword c of vector v holds b[k .. k + 3][16 * v + c]. K is padded with zeros to a multiple of 4,
// columns to one of 16. A is read in place: a broadcast of 4 bytes is a load and costs nothing else.
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

size_t panel_bytes(size_t n, size_t k) { return interleaved_bytes<4>(16 * vectors(n), k); }
size_t row_bytes(size_t k) { return (k + 63) / 64 * 64; }

void pack(const GemmPack& p) { pack_interleaved<4>(p, 16 * vectors(p.n)); }

/// Copies rows with their flip, and adds them up.
void copy(const GemmCopy& c) {
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(c.flip ? 0x80 : 0)), one = _mm512_set1_epi8(1);
  for (size_t i = 0; i < c.m; ++i) {
    const uint8_t* from = c.a + i * c.row_stride;
    uint8_t* to = c.rows ? c.rows + i * row_bytes(c.k) : nullptr;
    __m512i sum = _mm512_setzero_si512();
    for (size_t k = 0; k < c.k; k += 64) {
      const size_t n = c.k - k < 64 ? c.k - k : 64;
      const __mmask64 mask = Avx512::first(n);
      __m512i x;
      if (c.column_stride == 1) {
        x = _mm512_maskz_loadu_epi8(mask, from + k);
      } else {
        alignas(64) uint8_t gathered[64] = {};
        for (size_t j = 0; j < n; ++j) gathered[j] = from[(k + j) * c.column_stride];
        x = _mm512_load_si512(gathered);
      }
      x = _mm512_xor_si512(x, flip);
      x = _mm512_maskz_mov_epi8(mask, x);
      if (to) _mm512_store_si512(to + k, x);
      sum = _mm512_dpbusd_epi32(sum, x, one);
    }
    if (c.sums) c.sums[i] = _mm512_reduce_add_epi32(sum);
  }
}

/// What a panel needs for every row, for 16 columns.
struct Column {
  __m512i start, zb;
  __m512 scale, bias;
  __mmask16 mask;
};

struct Panel {
  const GemmPanel* p;
  Column column[4];
  __m512 least, most;
  __m512i zero_point;
  bool nan_is_zero;
};

template <int NV>
SB_INLINE void prepare(const GemmPanel& p, Panel* out) {
  out->p = &p;
  for (int v = 0; v < NV; ++v) {
    Column& c = out->column[v];
    const size_t at = 16 * static_cast<size_t>(v);
    c.mask = columns_mask(p.n - at);
    const __m512i sums = _mm512_load_si512(p.panel + 64 * v);
    c.start =
        _mm512_mullo_epi32(sums, _mm512_set1_epi32(static_cast<int32_t>(0u - static_cast<uint32_t>(p.za))));
    c.zb = _mm512_setzero_si512();
    if (p.zb) {
      c.zb = _mm512_maskz_loadu_epi32(c.mask, p.zb + at);
      const uint32_t kza = static_cast<uint32_t>(p.k) * static_cast<uint32_t>(p.za);
      c.start =
          _mm512_add_epi32(c.start, _mm512_mullo_epi32(c.zb, _mm512_set1_epi32(static_cast<int32_t>(kza))));
    }
    if (p.bias) c.start = _mm512_add_epi32(c.start, _mm512_maskz_loadu_epi32(c.mask, p.bias + at));
    c.scale = _mm512_setzero_ps();
    c.bias = _mm512_setzero_ps();
    if (p.scale)
      c.scale = p.per_column ? _mm512_maskz_loadu_ps(c.mask, p.scale + at) : _mm512_set1_ps(*p.scale);
    if (p.float_bias) c.bias = _mm512_maskz_loadu_ps(c.mask, p.float_bias + at);
  }
  const CodeBounds bounds = code_bounds(p.output, p.zero_point);
  out->least = _mm512_set1_ps(bounds.least);
  out->most = _mm512_set1_ps(bounds.most);
  out->zero_point = _mm512_set1_epi32(p.zero_point);
  out->nan_is_zero = p.output == GemmOutput::s8_saturate || p.output == GemmOutput::u8_saturate;
}

/// 16 accumulators of row i to y. kOutput: s32, f32 (for both float rules) or u8_clamp (for all codes).
template <GemmOutput kOutput>
SB_INLINE void store(const Panel& panel, int v, size_t i, __m512i acc) {
  const GemmPanel& p = *panel.p;
  const Column& c = panel.column[v];
  const size_t at = i * p.ldy + 16 * static_cast<size_t>(v);
  if constexpr (kOutput == GemmOutput::s32) {
    _mm512_mask_storeu_epi32(static_cast<int32_t*>(p.y) + at, c.mask, acc);
  } else if constexpr (kOutput == GemmOutput::f32) {
    __m512 f = _mm512_cvtepi32_ps(acc);
    if (p.float_bias && p.output == GemmOutput::f32_fused) f = _mm512_fmadd_ps(f, c.scale, c.bias);
    else f = _mm512_mul_ps(f, c.scale);
    if (p.float_bias && p.output == GemmOutput::f32) f = _mm512_add_ps(f, c.bias);
    _mm512_mask_storeu_ps(static_cast<float*>(p.y) + at, c.mask, f);
  } else {
    // Bounds first, so that the low byte of the sum is the code. maxps gives its second operand for NaN: the
    // least.
    __m512 f = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), c.scale);
    if (panel.nan_is_zero) f = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(f, f, _CMP_ORD_Q), f);
    f = _mm512_min_ps(_mm512_max_ps(f, panel.least), panel.most);
    const __m512i q = _mm512_add_epi32(_mm512_cvtps_epi32(f), panel.zero_point);
    _mm_mask_storeu_epi8(static_cast<uint8_t*>(p.y) + at, c.mask, _mm512_cvtepi32_epi8(q));
  }
}

/// R rows from row i, NV vectors, KU sets of accumulators for consecutive groups of k (more chains where R *
/// NV are too few to hide the latency).
template <int R, int NV, int KU, GemmOutput kOutput>
__attribute__((noinline)) void tile(const Panel& panel, size_t i) {
  const GemmPanel& p = *panel.p;
  const uint8_t* a = p.a + i * p.lda;
  const size_t lda = p.lda;
  const uint8_t* b = p.panel + 64 * NV;
  __m512i acc[KU][R][NV];
  unroll<R>([&](auto r) SB_INLINE_LAMBDA {
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      acc[0][r][v] = panel.column[v].start;
      unroll<KU - 1>([&](auto u) SB_INLINE_LAMBDA { acc[u + 1][r][v] = _mm512_setzero_si512(); });
    });
  });
  if (p.row_zb) {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      const __m512i x = _mm512_set1_epi32(p.row_zb[i + r]);
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        acc[0][r][v] = _mm512_add_epi32(acc[0][r][v], _mm512_mullo_epi32(x, panel.column[v].zb));
      });
    });
  }
  if (p.add) {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        const int32_t* at = p.add + (i + r) * p.ld_add + 16 * v;
        acc[0][r][v] = _mm512_add_epi32(acc[0][r][v], _mm512_maskz_loadu_epi32(panel.column[v].mask, at));
      });
    });
  }
  const auto step = [&](auto u, const uint8_t* ak, const uint8_t* bk) SB_INLINE_LAMBDA {
    __m512i x[NV];
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA { x[v] = _mm512_load_si512(bk + 64 * v); });
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      int32_t four;
      std::memcpy(&four, ak + r * lda, sizeof four);
      const __m512i y = _mm512_set1_epi32(four);
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA { acc[u][r][v] = _mm512_dpbusd_epi32(acc[u][r][v], y, x[v]); });
    });
  };
  size_t k = p.k / 4;
  // One row streams B: it comes from far away and is asked for early, across the page that hardware stops at.
  constexpr size_t kAhead = R <= 2 ? 4096 : 1024;
  for (; k >= KU; k -= KU, a += 4 * KU, b += 64 * NV * KU) {
    unroll<KU * NV>([&](auto v) SB_INLINE_LAMBDA {
      _mm_prefetch(reinterpret_cast<const char*>(b + kAhead + 64 * v), _MM_HINT_T0);
    });
    unroll<KU>([&](auto u) SB_INLINE_LAMBDA { step(u, a + 4 * u, b + 64 * NV * u); });
    unroll<KU>([&](auto u) SB_INLINE_LAMBDA {
      unroll<R>([&](auto r)
                    SB_INLINE_LAMBDA { unroll<NV>([&](auto v) SB_INLINE_LAMBDA { SB_PIN(acc[u][r][v]); }); });
    });
  }
  for (; k > 0; --k, a += 4, b += 64 * NV) step(Index<0>(), a, b);
  if (p.k % 4 != 0) {
    uint8_t last[R][4] = {};
    for (int r = 0; r < R; ++r) std::memcpy(last[r], a + static_cast<size_t>(r) * lda, p.k % 4);
    const size_t four = 4;
    __m512i x[NV];
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA { x[v] = _mm512_load_si512(b + 64 * v); });
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      int32_t bytes;
      std::memcpy(&bytes, last[0] + r * four, sizeof bytes);
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        acc[0][r][v] = _mm512_dpbusd_epi32(acc[0][r][v], _mm512_set1_epi32(bytes), x[v]);
      });
    });
  }
  unroll<R>([&](auto r) SB_INLINE_LAMBDA {
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      unroll<KU - 1>(
          [&](auto u) SB_INLINE_LAMBDA { acc[0][r][v] = _mm512_add_epi32(acc[0][r][v], acc[u + 1][r][v]); });
      store<kOutput>(panel, v, i + r, acc[0][r][v]);
    });
  });
}

/// All rows against NV vectors of columns.
template <int NV, GemmOutput kOutput>
void run_vectors(const GemmPanel& p) {
  Panel panel;
  prepare<NV>(p, &panel);
  size_t i = 0;
  if constexpr (NV == 1)
    for (; i + 12 <= p.m; i += 12) tile<12, NV, 1, kOutput>(panel, i);
  for (; i + 6 <= p.m; i += 6) tile<6, NV, NV == 1 ? 2 : 1, kOutput>(panel, i);
  switch (p.m - i) {
    case 1:
      return tile<1, NV, 4, kOutput>(panel, i);
    case 2:
      return tile < 2, NV, NV == 4 ? 2 : 4, kOutput > (panel, i);
    case 3:
      return tile < 3, NV, NV <= 2 ? 2 : 1, kOutput > (panel, i);
    case 4:
      return tile < 4, NV, NV == 1 ? 2 : 1, kOutput > (panel, i);
    case 5:
      return tile < 5, NV, NV == 1 ? 2 : 1, kOutput > (panel, i);
    default:
      return;
  }
}

template <GemmOutput kOutput>
void run_output(const GemmPanel& p) {
  switch (vectors(p.n)) {
    case 1:
      return run_vectors<1, kOutput>(p);
    case 2:
      return run_vectors<2, kOutput>(p);
    case 3:
      return run_vectors<3, kOutput>(p);
    default:
      return run_vectors<4, kOutput>(p);
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

constexpr GemmKernel kKernel = {"vnni64x4",  kColumns,  6,    false, true,
                                panel_bytes, row_bytes, pack, copy,  run};

}  // namespace vnni512
}  // namespace
}  // namespace samebit
