// GEMM for AVX-512 VNNI: uint8 A, int8 B. The instruction adds four products to each int32 and wraps.
#pragma once

#include "x86/avx512vnni_pack.h"

namespace samebit {
namespace {
namespace vnni512 {

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
  // Whole vectors of codes are packed as int8: for uint8 with a zero point 128 less, then flipped.
  __m512i zero_point16, flip;
  bool nan_is_zero, whole;
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
  const bool is_signed = p.output == GemmOutput::s8_clamp || p.output == GemmOutput::s8_saturate;
  out->zero_point16 = Avx512::splat16(p.zero_point - (is_signed ? 0 : 128));
  out->flip = _mm512_set1_epi8(static_cast<char>(is_signed ? 0 : 0x80));
  out->whole = p.n == 16 * NV;
  out->nan_is_zero = p.output == GemmOutput::s8_saturate || p.output == GemmOutput::u8_saturate;
}

/// Copies of what the stores of NV vectors need. A store may change any memory, so the panel would be read
/// again after each.
template <int NV>
struct Finish {
  uint8_t* y;
  size_t stride;  // bytes
  __mmask16 mask[NV];
  __m512 scale[NV], bias[NV];
  __m512 least, most;
  __m512i zero_point, zero_point16, flip;
  bool nan_is_zero, fused, add_bias;
};

template <int NV, int kFirst, GemmOutput kOutput>
SB_INLINE Finish<NV> finish(const Panel& panel, size_t i) {
  const GemmPanel& p = *panel.p;
  constexpr size_t kWidth = kOutput == GemmOutput::u8_clamp ? 1 : 4;
  Finish<NV> f;
  f.y = static_cast<uint8_t*>(p.y) + (i * p.ldy + 16 * kFirst) * kWidth;
  f.stride = p.ldy * kWidth;
  unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
    f.mask[v] = panel.column[kFirst + v].mask;
    f.scale[v] = panel.column[kFirst + v].scale;
    f.bias[v] = panel.column[kFirst + v].bias;
  });
  f.least = panel.least;
  f.most = panel.most;
  f.zero_point = panel.zero_point;
  f.zero_point16 = panel.zero_point16;
  f.flip = panel.flip;
  f.nan_is_zero = panel.nan_is_zero;
  f.fused = p.float_bias && p.output == GemmOutput::f32_fused;
  f.add_bias = p.float_bias && p.output == GemmOutput::f32;
  return f;
}

/// 16 accumulators to y. kOutput: s32, f32 (for both float rules) or u8_clamp (for all codes).
template <GemmOutput kOutput, int NV>
SB_INLINE void store(const Finish<NV>& f, uint8_t* y, int v, __m512i acc) {
  if constexpr (kOutput == GemmOutput::s32) {
    _mm512_mask_storeu_epi32(y, f.mask[v], acc);
  } else if constexpr (kOutput == GemmOutput::f32) {
    __m512 x = _mm512_cvtepi32_ps(acc);
    if (f.fused) x = _mm512_fmadd_ps(x, f.scale[v], f.bias[v]);
    else x = _mm512_mul_ps(x, f.scale[v]);
    if (f.add_bias) x = _mm512_add_ps(x, f.bias[v]);
    _mm512_mask_storeu_ps(y, f.mask[v], x);
  } else {
    // Bounds first, so that the low byte of the sum is the code. maxps gives its second operand for NaN: the
    // least.
    __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), f.scale[v]);
    if (f.nan_is_zero) x = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
    x = _mm512_min_ps(_mm512_max_ps(x, f.least), f.most);
    const __m512i q = _mm512_add_epi32(_mm512_cvtps_epi32(x), f.zero_point);
    _mm_mask_storeu_epi8(y, f.mask[v], _mm512_cvtepi32_epi8(q));
  }
}

/// NV (2 or 4) whole vectors of accumulators to codes. Saturating packs are the lower bound, and NaN's.
template <int NV>
SB_INLINE void store_codes(const Finish<NV>& f, uint8_t* y, const __m512i (&acc)[NV]) {
  __m512i q[NV];
  unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
    __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(acc[v]), f.scale[v]);
    if (f.nan_is_zero) x = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
    q[v] = _mm512_cvtps_epi32(_mm512_min_ps(f.most, x));
  });
  const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(q[0], q[1]), f.zero_point16);
  if constexpr (NV == 4) {
    const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(q[2], q[3]), f.zero_point16);
    // dword 4 * lane + j holds columns 16 * j + 4 * lane .. + 3; it belongs at dword 4 * j + lane
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i codes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high));
    _mm512_storeu_si512(y, _mm512_xor_si512(codes, f.flip));
  } else {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m512i codes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, low));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y),
                        _mm512_castsi512_si256(_mm512_xor_si512(codes, f.flip)));
  }
}

/// Start values of row i, column vector v.
SB_INLINE __m512i start(const Panel& panel, size_t i, int v) {
  const GemmPanel& p = *panel.p;
  const Column& c = panel.column[v];
  __m512i acc = c.start;
  if (p.row_zb) acc = _mm512_add_epi32(acc, _mm512_mullo_epi32(_mm512_set1_epi32(p.row_zb[i]), c.zb));
  if (p.add) {
    const int32_t* at = p.add + i * p.ld_add + 16 * static_cast<size_t>(v);
    acc = _mm512_add_epi32(acc, _mm512_maskz_loadu_epi32(c.mask, at));
  }
  return acc;
}

/// R rows from row i against NV vectors, from vector kFirst of the panel's kAll. KU sets of accumulators for
/// consecutive groups of k: more chains where R * NV are too few to hide the latency.
template <int R, int NV, int KU, GemmOutput kOutput, int kAll = NV, int kFirst = 0>
__attribute__((noinline)) void tile(const Panel& panel, size_t i) {
  const GemmPanel& p = *panel.p;
  const uint8_t* a = p.a + i * p.lda;
  const size_t lda = p.lda;
  const uint8_t* b = p.panel + 64 * (kAll + kFirst);
  constexpr size_t kStep = 64 * kAll;
  __m512i acc[KU][R][NV];
  if (p.row_zb || p.add) {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA { acc[0][r][v] = start(panel, i + r, kFirst + v); });
    });
  } else {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA { acc[0][r][v] = panel.column[kFirst + v].start; });
    });
  }
  unroll<KU - 1>([&](auto u) SB_INLINE_LAMBDA {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA { acc[u + 1][r][v] = _mm512_setzero_si512(); });
    });
  });
  const auto step = [&](auto u, const uint8_t* ak, size_t a_stride, const uint8_t* bk) SB_INLINE_LAMBDA {
    __m512i x[NV];
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA { x[v] = _mm512_load_si512(bk + 64 * v); });
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      int32_t four;
      std::memcpy(&four, ak + r * a_stride, sizeof four);
      const __m512i y = _mm512_set1_epi32(four);
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA { acc[u][r][v] = _mm512_dpbusd_epi32(acc[u][r][v], y, x[v]); });
    });
  };
  // Lines of y are fetched while the sums are made: their stores would wait for them.
  if constexpr (kOutput != GemmOutput::u8_clamp) {
    const uint8_t* y = static_cast<const uint8_t*>(p.y) + (i * p.ldy + 16 * kFirst) * 4;
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        _mm_prefetch(reinterpret_cast<const char*>(y + r * p.ldy * 4 + 64 * v), _MM_HINT_T0);
      });
    });
  }
  size_t k = p.k / 4;
  // B comes from the second cache or beyond and is asked for early, across the page that hardware stops at: 8
  // rows gain a tenth over 1024, more rows neither gain nor lose.
  constexpr size_t kAhead = 4096;
  for (; k >= KU; k -= KU, a += 4 * KU, b += kStep * KU) {
    unroll<KU * NV>([&](auto v) SB_INLINE_LAMBDA {
      _mm_prefetch(reinterpret_cast<const char*>(b + kAhead + kStep * (v / NV) + 64 * (v % NV)), _MM_HINT_T0);
    });
    unroll<KU>([&](auto u) SB_INLINE_LAMBDA { step(u, a + 4 * u, lda, b + kStep * u); });
    unroll<KU>([&](auto u) SB_INLINE_LAMBDA {
      unroll<R>([&](auto r)
                    SB_INLINE_LAMBDA { unroll<NV>([&](auto v) SB_INLINE_LAMBDA { SB_PIN(acc[u][r][v]); }); });
    });
  }
  for (; k > 0; --k, a += 4, b += kStep) {
    step(Index<0>(), a, lda, b);
    unroll<R>([&](auto r)
                  SB_INLINE_LAMBDA { unroll<NV>([&](auto v) SB_INLINE_LAMBDA { SB_PIN(acc[0][r][v]); }); });
  }
  if (p.k % 4 != 0) {
    uint32_t last[R];
    unroll<R>([&](auto r) SB_INLINE_LAMBDA { last[r] = last_codes(a + r * lda, p.k % 4); });
    step(Index<0>(), reinterpret_cast<const uint8_t*>(last), 4, b);
  }
  unroll<KU - 1>([&](auto u) SB_INLINE_LAMBDA {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      unroll<NV>([&](auto v)
                     SB_INLINE_LAMBDA { acc[0][r][v] = _mm512_add_epi32(acc[0][r][v], acc[u + 1][r][v]); });
    });
  });
  const Finish<NV> f = finish<NV, kFirst, kOutput>(panel, i);
  constexpr size_t kBytes = kOutput == GemmOutput::u8_clamp ? 16 : 64;  // of a vector in y
  if constexpr (kOutput == GemmOutput::u8_clamp && NV % 2 == 0) {
    if (panel.whole) {
      unroll<R>([&](auto r) SB_INLINE_LAMBDA { store_codes<NV>(f, f.y + r * f.stride, acc[0][r]); });
      return;
    }
  }
  unroll<R>([&](auto r) SB_INLINE_LAMBDA {
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      store<kOutput, NV>(f, f.y + r * f.stride + kBytes * v, v, acc[0][r][v]);
    });
  });
}

/// R rows against a panel of four vectors, two at a time: reads B once where tiles of 6 rows would read it
/// twice.
template <int R, GemmOutput kOutput>
SB_INLINE void two_halves(const Panel& panel, size_t i) {
  tile<R, 2, 1, kOutput, 4, 0>(panel, i);
  tile<R, 2, 1, kOutput, 4, 2>(panel, i);
}

/// All rows against NV vectors of columns.
template <int NV, GemmOutput kOutput>
void run_vectors(const GemmPanel& p) {
  Panel panel;
  prepare<NV>(p, &panel);
  size_t i = 0;
  // The last 7, 8 or 9 rows together.
  const size_t last = NV == 4 && p.m > 6 && p.m % 6 >= 1 && p.m % 6 <= 3 ? 6 + p.m % 6 : p.m % 6;
  if constexpr (NV == 1)
    for (; i + 12 <= p.m; i += 12) tile<12, NV, 1, kOutput>(panel, i);
  for (; i + 6 + last <= p.m; i += 6) tile<6, NV, NV == 1 ? 2 : 1, kOutput>(panel, i);
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
    case 7:
      if constexpr (NV == 4) two_halves<7, kOutput>(panel, i);
      return;
    case 8:
      if constexpr (NV == 4) two_halves<8, kOutput>(panel, i);
      return;
    case 9:
      if constexpr (NV == 4) two_halves<9, kOutput>(panel, i);
      return;
    default:
      return;
  }
}

/// kGroup bytes of a row in every column's place.
template <int kGroup>
SB_INLINE __m512i broadcast_group(const uint8_t* a) {
  if constexpr (kGroup == 8) {
    int64_t eight;
    std::memcpy(&eight, a, sizeof eight);
    return _mm512_set1_epi64(eight);
  } else if constexpr (kGroup == 16) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a)));
  } else if constexpr (kGroup == 32) {
    return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a)));
  } else {
    return _mm512_loadu_si512(a);
  }
}

/// Adds the kGroup / 4 dwords of every column: dword c of the result is column c.
template <int kGroup>
SB_INLINE __m512i add_columns(__m512i x) {
  if constexpr (kGroup == 4) {
    return x;
  } else {
    // Pairs of dwords to one: the low dword of every qword, packed.
    const __m512i pairs = _mm512_add_epi32(x, _mm512_srli_epi64(x, 32));
    return add_columns<kGroup / 2>(_mm512_zextsi256_si512(_mm512_cvtepi64_epi32(pairs)));
  }
}

/// R rows against a narrow panel. KU sets of accumulators.
template <int R, int KU, int kGroup, GemmOutput kOutput>
__attribute__((noinline)) void narrow_tile(const Panel& panel, size_t i) {
  const GemmPanel& p = *panel.p;
  const uint8_t* a = p.a + i * p.lda;
  const uint8_t* b = p.panel + 64;
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(p.flip_a ? 0x80 : 0));
  __m512i acc[KU][R];
  unroll<KU>([&](auto u) SB_INLINE_LAMBDA {
    unroll<R>([&](auto r) SB_INLINE_LAMBDA { acc[u][r] = _mm512_setzero_si512(); });
  });
  const auto step = [&](auto u, const uint8_t* ak, size_t a_stride, const uint8_t* bk) SB_INLINE_LAMBDA {
    const __m512i x = _mm512_load_si512(bk);
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      const __m512i y = _mm512_xor_si512(broadcast_group<kGroup>(ak + r * a_stride), flip);
      acc[u][r] = _mm512_dpbusd_epi32(acc[u][r], y, x);
    });
  };
  const size_t lda = p.lda;
  size_t k = p.k;
  for (; k >= KU * kGroup; k -= KU * kGroup, a += KU * kGroup, b += 64 * KU) {
    unroll<KU>([&](auto u) SB_INLINE_LAMBDA { step(u, a + kGroup * u, lda, b + 64 * u); });
    unroll<KU>([&](auto u)
                   SB_INLINE_LAMBDA { unroll<R>([&](auto r) SB_INLINE_LAMBDA { SB_PIN(acc[u][r]); }); });
  }
  for (; k >= kGroup; k -= kGroup, a += kGroup, b += 64) {
    step(Index<0>(), a, lda, b);
    unroll<R>([&](auto r) SB_INLINE_LAMBDA { SB_PIN(acc[0][r]); });
  }
  if (k > 0) {
    alignas(64) uint8_t last[64 * R];
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      _mm512_store_si512(last + 64 * r, _mm512_maskz_loadu_epi8(Avx512::first(k), a + r * lda));
    });
    step(Index<0>(), last, 64, b);
  }
  unroll<R>([&](auto r) SB_INLINE_LAMBDA {
    unroll<KU - 1>([&](auto u) SB_INLINE_LAMBDA { acc[0][r] = _mm512_add_epi32(acc[0][r], acc[u + 1][r]); });
    acc[0][r] = _mm512_add_epi32(add_columns<kGroup>(acc[0][r]), start(panel, i + r, 0));
  });
  const Finish<1> f = finish<1, 0, kOutput>(panel, i);
  unroll<R>([&](auto r) SB_INLINE_LAMBDA { store<kOutput, 1>(f, f.y + r * f.stride, 0, acc[0][r]); });
}

template <int kGroup, GemmOutput kOutput>
void run_narrow(const GemmPanel& p) {
  Panel panel;
  prepare<1>(p, &panel);
  size_t i = 0;
  for (; i + 8 <= p.m; i += 8) narrow_tile<8, 2, kGroup, kOutput>(panel, i);
  for (; i < p.m; ++i) narrow_tile<1, 8, kGroup, kOutput>(panel, i);
}

template <GemmOutput kOutput>
void run_output(const GemmPanel& p) {
  switch (narrow_columns(p.n)) {
    case 1:
      return run_narrow<64, kOutput>(p);
    case 2:
      return run_narrow<32, kOutput>(p);
    case 4:
      return run_narrow<16, kOutput>(p);
    case 8:
      return run_narrow<8, kOutput>(p);
    default:
      break;
  }
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

constexpr GemmKernel kKernel = {"vnni64x4", kColumns, 6,    false, true, panel_bytes,
                                row_bytes,  pack,     copy, run,   8};

}  // namespace vnni512
}  // namespace
}  // namespace samebit
