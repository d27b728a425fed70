// What the GEMM tiles of all instruction sets share.
#pragma once

#include <utility>

#include "simd/vec.h"
#include "table/gemm.h"

/// Keeps an accumulator in a register: g++ 12 stores the tile to the stack in every step when a long epilogue
/// follows the loop. Costs no instruction.
#if defined(__x86_64__)
#define SB_PIN(x) __asm__ volatile("" : "+v"(x))
#else
#define SB_PIN(x) __asm__ volatile("" : "+w"(x))
#endif

namespace samebit {
namespace {

/// f(integral_constant 0), ... f(integral_constant N - 1): loops over registers must be gone before the
/// optimiser looks for arrays that it can take apart.
template <class F, int... I>
SB_INLINE void unroll_over(std::integer_sequence<int, I...>, const F& f) {
  (f(std::integral_constant<int, I>()), ...);
}
template <int N, class F>
SB_INLINE void unroll(const F& f) {
  unroll_over(std::make_integer_sequence<int, N>(), f);
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
