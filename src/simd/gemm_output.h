// The end of a GEMM tile: from int32 sums of products, written by the tile to a small array, to the
// result. Keeping it out of the tile costs one store and one load per register and leaves the compiler nothing
// but the loop over k to find registers for.
//
// V is a struct of primitives (Gemm256 in x86/avx2_gemm.h, Gemm512 in x86/avx512_gemm.h, GemmNeon in
// arm/neon_gemm_prims.h).
#pragma once

#include "simd/gemm.h"

namespace samebit {
namespace {

/// What a panel of NV registers of columns needs for every row.
template <class V, int NV>
struct GemmEnd {
  const GemmPanel* p;
  size_t n[NV];  // columns of the register, 0 .. lanes
  typename V::Int start[NV], zb[NV];
  typename V::Float scale[NV], bias[NV];
};

/// `sums` are the column sums of the panel, NV registers of them.
template <class V, int NV>
SB_INLINE void prepare_end(const GemmPanel& p, const int32_t* sums, GemmEnd<V, NV>* out) {
  out->p = &p;
  const auto minus_za = V::splat(static_cast<int32_t>(0u - static_cast<uint32_t>(p.za)));
  const auto kza = V::splat(static_cast<int32_t>(static_cast<uint32_t>(p.k) * static_cast<uint32_t>(p.za)));
  for (int v = 0; v < NV; ++v) {
    const size_t at = V::lanes * static_cast<size_t>(v);
    const size_t n = p.n - at < V::lanes ? p.n - at : V::lanes;
    out->n[v] = n;
    auto start = V::multiply(V::load(sums + at), minus_za);
    out->zb[v] = V::splat(0);
    if (p.zb) {
      out->zb[v] = V::load_first(p.zb + at, n);
      start = V::add(start, V::multiply(out->zb[v], kza));
    }
    if (p.bias) start = V::add(start, V::load_first(p.bias + at, n));
    out->start[v] = start;
    out->scale[v] = V::splat(0.0f);
    out->bias[v] = V::splat(0.0f);
    if (p.scale) out->scale[v] = p.per_column ? V::load_first(p.scale + at, n) : V::splat(*p.scale);
    if (p.float_bias) out->bias[v] = V::load_first(p.float_bias + at, n);
  }
}

template <GemmOutput>
struct Result {
  using Type = uint8_t;
};
template <>
struct Result<GemmOutput::s32> {
  using Type = int32_t;
};
template <>
struct Result<GemmOutput::f32> {
  using Type = float;
};

/// kAll: whole registers of columns, and the columns' start is all that is added.
template <class V, int NV, GemmOutput kOutput, bool kAll>
SB_INLINE void finish_rows(const GemmEnd<V, NV>& end, const int32_t* acc, size_t i, size_t rows) {
  const GemmPanel& p = *end.p;
  const CodeBounds bounds = code_bounds(p.output, p.zero_point);
  const auto least = V::splat(bounds.least), most = V::splat(bounds.most);
  const auto zero_point = V::splat(p.zero_point);
  const bool nan_is_zero = p.output == GemmOutput::s8_saturate || p.output == GemmOutput::u8_saturate;
  using Y = typename Result<kOutput>::Type;
  const size_t ldy = p.ldy;
  Y* y = static_cast<Y*>(p.y) + i * ldy;
  for (; rows > 0; --rows, ++i, acc += NV * V::lanes, y += ldy) {
    typename V::Int x[NV];
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA { x[v] = V::add(V::load(acc + V::lanes * v), end.start[v]); });
    if (!kAll && p.row_zb) {
      const auto row = V::splat(p.row_zb[i]);
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA { x[v] = V::add(x[v], V::multiply(row, end.zb[v])); });
    }
    if (!kAll && p.add) {
      const int32_t* from = p.add + i * p.ld_add;
      unroll<NV>([&](auto v)
                     SB_INLINE_LAMBDA { x[v] = V::add(x[v], V::load_first(from + V::lanes * v, end.n[v])); });
    }
    if constexpr (kOutput == GemmOutput::s32) {
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        V::store_first(y + V::lanes * v, x[v], kAll ? V::lanes : end.n[v]);
      });
    } else if constexpr (kOutput == GemmOutput::f32) {
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        auto f = V::to_float(x[v]);
        if (p.float_bias && p.output == GemmOutput::f32_fused) f = V::fma(f, end.scale[v], end.bias[v]);
        else f = V::multiply(f, end.scale[v]);
        if (p.float_bias && p.output == GemmOutput::f32) f = V::add(f, end.bias[v]);
        V::store_first(y + V::lanes * v, f, kAll ? V::lanes : end.n[v]);
      });
    } else {
      // Bounds first, so that the low byte of the sum is the code. The larger of NaN and `least` is `least`.
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        auto f = V::multiply(V::to_float(x[v]), end.scale[v]);
        if (nan_is_zero) f = V::nan_to_zero(f);
        f = V::smaller(V::larger(f, least), most);
        x[v] = V::add(V::round(f), zero_point);
      });
      V::template store_codes<NV>(y, x, kAll ? NV * V::lanes : p.n);
    }
  }
}

/// Rows i .. i + rows - 1 from acc[rows][NV * lanes]. kOutput: s32, f32 (for both float rules) or u8_clamp
/// (for all codes).
template <class V, int NV, GemmOutput kOutput>
__attribute__((noinline)) void finish(const GemmEnd<V, NV>& end, const int32_t* acc, size_t i, size_t rows) {
  const GemmPanel& p = *end.p;
  if (p.n == NV * V::lanes && !p.row_zb && !p.add) finish_rows<V, NV, kOutput, true>(end, acc, i, rows);
  else finish_rows<V, NV, kOutput, false>(end, acc, i, rows);
}

}  // namespace
}  // namespace samebit
