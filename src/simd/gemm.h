// What the GEMM tiles of all instruction sets share.
#pragma once

#include "simd/vec.h"
#include "table/gemm.h"

/// Keeps an accumulator in a register: g++ 12 stores the tile to the stack in every step when a long epilogue
/// follows the loop. Costs no instruction. The copy matters: an array whose element is itself the operand of
/// an asm stays in memory.
#if defined(__x86_64__)
#define SB_PIN(x)                        \
  do {                                   \
    auto pinned = (x);                   \
    __asm__ volatile("" : "+v"(pinned)); \
    (x) = pinned;                        \
  } while (0)
#else
#define SB_PIN(x)                        \
  do {                                   \
    auto pinned = (x);                   \
    __asm__ volatile("" : "+w"(pinned)); \
    (x) = pinned;                        \
  } while (0)
#endif

/// Makes a pointer or offset unknown: clang 14 otherwise follows every row of A with a pointer of its own, or
/// adds up the rows' distances anew in every step, and runs out of registers.
#define SB_KEEP(x) __asm__("" : "+r"(x))

namespace samebit {
namespace {

template <int I>
struct Index {
  constexpr operator int() const { return I; }
};

/// f(Index<0>()), ... f(Index<N - 1>()): loops over registers must be gone before the optimiser looks for
/// arrays that it can take apart.
template <int N, int I = 0, class F>
SB_INLINE void unroll(const F& f) {
  if constexpr (I < N) {
    f(Index<I>());
    unroll<N, I + 1>(f);
  }
}

/// Packs columns for instructions that add kGroup products per int32: for every kGroup values of k, `columns`
/// columns of kGroup bytes. The panel begins with `columns` int32 column sums, padded to 64 bytes; K and
/// columns are padded with zeros.
template <size_t kGroup>
SB_INLINE size_t interleaved_bytes(size_t columns, size_t k) {
  return (columns * 4 + 63) / 64 * 64 + (columns * ((k + kGroup - 1) / kGroup * kGroup) + 63) / 64 * 64;
}
template <size_t kGroup>
SB_INLINE void pack_interleaved(const GemmPack& p, size_t columns) {
  std::memset(p.panel, 0, interleaved_bytes<kGroup>(columns, p.k));
  auto* sums = reinterpret_cast<int32_t*>(p.panel);
  uint8_t* to = p.panel + (columns * 4 + 63) / 64 * 64;
  const uint8_t flip = p.flip ? 0x80 : 0;
  for (size_t k = 0; k < p.k; ++k) {
    const uint8_t* from = p.b + k * p.row_stride;
    uint8_t* group = to + k / kGroup * kGroup * columns + k % kGroup;
    for (size_t j = 0; j < p.n; ++j) {
      const uint8_t code = from[j * p.column_stride] ^ flip;
      group[j * kGroup] = code;
      sums[j] += static_cast<int8_t>(code);
    }
  }
}

/// Range of codes less the zero point, where the product is clamped before it is rounded.
struct CodeBounds {
  float least, most;
};
SB_INLINE CodeBounds code_bounds(GemmOutput output, int32_t zero_point) {
  const bool is_signed = output == GemmOutput::s8_clamp || output == GemmOutput::s8_saturate;
  return {static_cast<float>((is_signed ? -128 : 0) - zero_point),
          static_cast<float>((is_signed ? 127 : 255) - zero_point)};
}

}  // namespace
}  // namespace samebit
