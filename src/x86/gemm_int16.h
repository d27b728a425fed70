// Exact GEMM where the only multiplication of 8-bit codes (vpmaddubsw) saturates its 16-bit sums: AVX2 and
// AVX-512 BW. uint8 A, int8 B.
//
// vpmaddwd on codes widened to 16 bits is exact for all codes: 2 products to an int32. vpmaddubsw does twice
// the products per instruction and is exact where no sum can leave int16 whatever A holds. Packing looks at
// the weights and decides for every kBlock values of k:
//
//   wide  any weights:                               1 vpmaddwd per 2 products of a column
//   pair  w0, w1 of one sum, the positive ones <= 128 in total, the negative ones >= -128:
//         255 * 128 = 32640 < 2^15, so the sum fits;  1 vpmaddubsw, 1 vpmaddwd (by ones) per 4
//   quad  the same for 4 weights, whose sums are added in 16 bits:  2 vpmaddubsw, 1 vpmaddwd per 8
//
// Panel: int32 column sums; the segments (equal blocks in a row, 4 * groups + kind, uint32); the codes in
// groups of 4 values of k. A group of `wide` is b[k, k + 1] of all columns, then b[k + 2, k + 3]; of the
// others b[k .. k + 3] of all columns. Both have 4 bytes a column, so the panel's size does not depend on the
// weights. K is padded with zeros to a multiple of 4, columns to whole registers.
//
// Copied row of A: int16, padded to 64 bytes, then the same codes as uint8 (for pair and quad). So 4 bytes of
// either are one broadcasting load. Zeros from K on.
#pragma once

#include <immintrin.h>

#include "x86/gemm_copy.h"
#include "simd/gemm_output.h"

namespace samebit {
namespace {
namespace int16 {

enum Kind : uint32_t { wide = 0, pair = 1, quad = 2 };

// One misprediction (about 20 cycles) per change of kind must cost less than the better kind saves: 32 values
// of k save 40 cycles of 140 in a tile of 6 rows and 2 registers.
constexpr size_t kBlock = 32;
constexpr size_t kAhead = 2048;

SB_INLINE size_t up64(size_t bytes) { return (bytes + 63) / 64 * 64; }
SB_INLINE size_t groups(size_t k) { return (k + 3) / 4; }
SB_INLINE size_t word_bytes(size_t k) { return up64(8 * groups(k)); }
SB_INLINE size_t table_bytes(size_t k) { return up64(4 * ((k + kBlock - 1) / kBlock)); }
size_t row_bytes(size_t k) { return word_bytes(k) + up64(4 * groups(k)); }

template <class V>
SB_INLINE size_t registers(size_t n) {
  return (n + V::lanes - 1) / V::lanes;
}
template <class V>
size_t panel_bytes(size_t n, size_t k) {
  const size_t columns = V::lanes * registers<V>(n);
  return up64(4 * columns) + table_bytes(k) + up64(4 * columns * groups(k));
}

/// Kind of a block: w[k] of one column each, `count` values (a multiple of 4), stride bytes apart.
SB_INLINE Kind kind_of(const int8_t* w, size_t stride, size_t count) {
  Kind kind = quad;
  int up[4] = {}, down[4] = {};  // sums of positive and negative weights of the pairs of 8 values of k
  for (size_t k = 0; k < count; k += 2) {
    const size_t at = k / 2 % 4;
    const int a = w[k * stride], b = w[(k + 1) * stride];
    up[at] = (a > 0 ? a : 0) + (b > 0 ? b : 0);
    down[at] = (a < 0 ? a : 0) + (b < 0 ? b : 0);
    if (up[at] > 128 || down[at] < -128) return wide;
    // Pairs 0 and 2 meet in one 16-bit sum, and 1 and 3.
    if (at >= 2 && (up[at] + up[at - 2] > 128 || down[at] + down[at - 2] < -128)) kind = pair;
  }
  return kind;
}

template <class V>
void pack(const GemmPack& p) {
  const size_t columns = V::lanes * registers<V>(p.n);
  std::memset(p.panel, 0, panel_bytes<V>(p.n, p.k));
  auto* sums = reinterpret_cast<int32_t*>(p.panel);
  auto* table = reinterpret_cast<uint32_t*>(p.panel + up64(4 * columns));
  uint8_t* to = p.panel + up64(4 * columns) + table_bytes(p.k);
  const uint8_t flip = p.flip ? 0x80 : 0;
  size_t segments = 0;
  uint32_t last = 3;  // no kind
  for (size_t k0 = 0; k0 < p.k; k0 += kBlock) {
    int8_t w[kBlock][V::max_columns] = {};
    const size_t count = p.k - k0 < kBlock ? p.k - k0 : kBlock, block_groups = groups(count);
    for (size_t k = 0; k < count; ++k) {
      const uint8_t* from = p.b + (k0 + k) * p.row_stride;
      for (size_t j = 0; j < p.n; ++j) {
        const uint8_t code = from[j * p.column_stride] ^ flip;
        w[k][j] = static_cast<int8_t>(code);
        sums[j] += w[k][j];
      }
    }
    uint32_t kind = quad;
    for (size_t j = 0; j < p.n && kind != wide; ++j) {
      const uint32_t own = kind_of(w[0] + j, V::max_columns, 4 * block_groups);
      if (own < kind) kind = own;
    }
    if (kind != last) table[segments++] = last = kind;
    // `last` remembers the kind only: the count grows in the table.
    table[segments - 1] += static_cast<uint32_t>(4 * block_groups);
    for (size_t k = 0; k < 4 * block_groups; ++k) {
      uint8_t* group = to + k / 4 * 4 * columns;
      for (size_t j = 0; j < p.n; ++j) {
        const size_t at = kind == wide ? k % 4 / 2 * 2 * columns + 2 * j + k % 2 : 4 * j + k % 4;
        group[at] = static_cast<uint8_t>(w[k][j]);
      }
    }
    to += 4 * columns * block_groups;
  }
}

void copy(const GemmCopy& c) {
  copy_rows(c, [&](size_t i, size_t k, __m256i x) SB_INLINE_LAMBDA {
    uint8_t* row = c.rows + i * row_bytes(c.k);
    auto* words = reinterpret_cast<__m256i*>(row + 2 * k);
    _mm256_store_si256(words, _mm256_cvtepu8_epi16(_mm256_castsi256_si128(x)));
    _mm256_store_si256(words + 1, _mm256_cvtepu8_epi16(_mm256_extracti128_si256(x, 1)));
    _mm256_store_si256(reinterpret_cast<__m256i*>(row + word_bytes(c.k) + k), x);
  });
}

template <int N>
SB_INLINE void keep(const uint8_t* (&p)[N]) {
  unroll<N>([&](auto h) SB_INLINE_LAMBDA {
    const uint8_t* kept = p[h];
    SB_KEEP(kept);
    p[h] = kept;
  });
}

/// R rows of A (copied, lda apart) against NV registers of columns, to out[R][NV * lanes].
template <class V, int R, int NV>
__attribute__((noinline)) void tile(const GemmPanel& p, size_t i, int32_t* out) {
  using Int = typename V::Int;
  constexpr size_t kRegister = V::lanes * 4, kGroup = kRegister * NV;
  const size_t lda = p.lda;
  const uint8_t* a = p.a + i * lda;
  const uint8_t* table = p.panel + up64(kGroup);
  const uint8_t* b = table + table_bytes(p.k);
  // Row r begins at base[r / 6] + row[r % 6]: two pointers and five offsets leave registers for the rest.
  constexpr int kBases = (R + 5) / 6;
  using Bases = const uint8_t* [kBases];
  size_t row[R < 6 ? R : 6];
  unroll<(R < 6 ? R : 6)>([&](auto r) SB_INLINE_LAMBDA {
    row[r] = r * lda;
    if constexpr (r > 0) SB_KEEP(row[r]);
  });
  Int acc[R][NV];
  unroll<R>([&](auto r)
                SB_INLINE_LAMBDA { unroll<NV>([&](auto v) SB_INLINE_LAMBDA { acc[r][v] = V::splat(0); }); });
  // 2 values of k, A and B of 16 bits.
  const auto wide_step = [&](const Bases& ak, const uint8_t* bk) SB_INLINE_LAMBDA {
    Int x[NV];
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA { x[v] = V::widen(bk + kRegister / 2 * v); });
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      const Int y = V::splat_dword(ak[r / 6] + row[r % 6]);
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        acc[r][v] = V::add(acc[r][v], V::multiply_pairs16(y, x[v]));
        SB_PIN(acc[r][v]);
      });
    });
  };
  // 4 values of k, A and B of 8 bits.
  const auto pair_step = [&](const Bases& ak, const uint8_t* bk) SB_INLINE_LAMBDA {
    Int x[NV];
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA { x[v] = V::load_bytes(bk + kRegister * v); });
    unroll<R>([&](auto r) SB_INLINE_LAMBDA {
      const Int y = V::splat_dword(ak[r / 6] + row[r % 6]);
      unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
        acc[r][v] = V::add(acc[r][v], V::add_pairs16(V::multiply_pairs8(y, x[v])));
        SB_PIN(acc[r][v]);
      });
    });
  };
  // 8 values of k. A is loaded for each register of B anew: kept, it would not fit beside the accumulators.
  const auto quad_step = [&](const Bases& ak, const uint8_t* bk) SB_INLINE_LAMBDA {
    Bases again;
    unroll<kBases>([&](auto h) SB_INLINE_LAMBDA { again[h] = ak[h]; });
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA {
      keep(again);
      Int x0 = V::load_bytes(bk + kRegister * v), x1 = V::load_bytes(bk + kGroup + kRegister * v);
      if constexpr (R == 2) {
        SB_PIN(x0);  // g++ 12 would load them twice
        SB_PIN(x1);
      }
      unroll<R>([&](auto r) SB_INLINE_LAMBDA {
        const uint8_t* y = again[r / 6] + row[r % 6];
        const Int low = V::multiply_pairs8(V::splat_dword(y), x0);
        const Int high = V::multiply_pairs8(V::splat_dword(y + 4), x1);
        acc[r][v] = V::add(acc[r][v], V::add_pairs16(V::add16(low, high)));
        SB_PIN(acc[r][v]);
      });
    });
  };
  for (size_t done = 0, all = groups(p.k); done < all; table += 4) {
    uint32_t segment;
    std::memcpy(&segment, table, sizeof segment);
    const uint32_t kind = segment % 4;
    size_t n = segment / 4;
    const uint8_t* codes = a + (kind == wide ? 8 * done : word_bytes(p.k) + 4 * done);
    Bases at;
    unroll<kBases>([&](auto h) SB_INLINE_LAMBDA { at[h] = codes + 6 * h * lda; });
    const auto forward = [&](size_t a_bytes, size_t b_bytes) SB_INLINE_LAMBDA {
      // One or two rows stream B: it is asked for early, across the page that hardware stops at.
      if constexpr (R <= 2) _mm_prefetch(reinterpret_cast<const char*>(b + kAhead), _MM_HINT_T0);
      unroll<kBases>([&](auto h) SB_INLINE_LAMBDA { at[h] += a_bytes; });
      keep(at);
      b += b_bytes;
      SB_KEEP(b);
    };
    done += n;
    if (kind == wide) {
      // Few rows: the loop's own instructions count. Many: g++ 12 moves accumulators between registers when
      // it sees two steps.
      constexpr size_t kSteps = R <= 3 ? 2 : 1;
      for (n = 2 * n / kSteps; n > 0; --n) {
        wide_step(at, b);
        forward(4, kGroup / 2);
        if constexpr (kSteps == 2) {
          wide_step(at, b);
          forward(4, kGroup / 2);
        }
      }
      continue;
    }
    if (kind == quad) {
      for (; n >= 2; n -= 2) {
        quad_step(at, b);
        forward(8, 2 * kGroup);
      }
    }
    for (; n > 0; --n) {
      pair_step(at, b);
      forward(4, kGroup);
    }
  }
  unroll<R>([&](auto r) SB_INLINE_LAMBDA {
    unroll<NV>([&](auto v) SB_INLINE_LAMBDA { V::store(out + V::lanes * (NV * r + v), acc[r][v]); });
  });
}

/// The tile of `rows` rows, 1 .. R.
template <class V, int R, int NV>
SB_INLINE void tail(const GemmPanel& p, size_t i, size_t rows, int32_t* out) {
  if (rows == R) return tile<V, R, NV>(p, i, out);
  if constexpr (R > 1) tail<V, R - 1, NV>(p, i, rows, out);
}

template <class V, int NV, GemmOutput kOutput>
void run_registers(const GemmPanel& p) {
  constexpr size_t kRows = V::rows;
  alignas(64) int32_t acc[kRows * NV * V::lanes];
  GemmEnd<V, NV> end;
  prepare_end<V, NV>(p, reinterpret_cast<const int32_t*>(p.panel), &end);
  size_t i = 0;
  for (; i + kRows <= p.m; i += kRows) {
    tile<V, kRows, NV>(p, i, acc);
    finish<V, NV, kOutput>(end, acc, i, kRows);
  }
  if (i == p.m) return;
  tail<V, kRows - 1, NV>(p, i, p.m - i, acc);
  finish<V, NV, kOutput>(end, acc, i, p.m - i);
}

template <class V, GemmOutput kOutput, int NV = V::registers>
SB_INLINE void run_output(const GemmPanel& p) {
  if (registers<V>(p.n) == NV) return run_registers<V, NV, kOutput>(p);
  if constexpr (NV > 1) run_output<V, kOutput, NV - 1>(p);
}

template <class V>
void run(const GemmPanel& p) {
  switch (p.output) {
    case GemmOutput::s32:
      return run_output<V, GemmOutput::s32>(p);
    case GemmOutput::f32:
    case GemmOutput::f32_fused:
      return run_output<V, GemmOutput::f32>(p);
    default:
      return run_output<V, GemmOutput::u8_clamp>(p);
  }
}

template <class V>
constexpr GemmKernel kKernel = {V::layout,      V::max_columns, V::rows, false, false,
                                panel_bytes<V>, row_bytes,      pack<V>, copy,  run<V>};

}  // namespace int16
}  // namespace
}  // namespace samebit
