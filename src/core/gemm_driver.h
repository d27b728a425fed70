// Runs a GEMM: blocks of rows, panels of columns, tasks, and a caller's workspace. Knows nothing of
// instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "samebit/samebit.h"
#include "table/gemm.h"

namespace samebit {

/// What becomes of an accumulator under profile exact, one value at a time: writes y[at].
struct ExactOutput {
  void (*store)(const void* self, int32_t acc, int32_t c, size_t column, void* y, size_t at);
  const void* self;
};

/// One product of an m x k and a k x n matrix. Codes of A and B are flipped on the way to the kernel; zero
/// points are those of the flipped codes.
struct GemmProblem {
  const GemmKernel* kernel;
  size_t m, n, k;

  const uint8_t* a;
  size_t a_row, a_column;  // bytes
  bool flip_a;
  int32_t za;

  const uint8_t* panels;  // packed B, or null and:
  const uint8_t* b;
  size_t b_row, b_column;  // bytes
  bool flip_b;
  const int32_t* zb;  // zb_count values, to which zb_shift is added
  size_t zb_count;    // 0: all zero points are zb_shift; 1; n
  int32_t zb_shift;

  // Added to the accumulators: c[i * c_row + j * c_column]; null: nothing. Strides may be 0.
  const int32_t* c;
  size_t c_row, c_column;

  GemmOutput output;
  void* y;
  size_t ldy, y_width;  // elements, bytes of an element
  const float* scale;
  bool per_column;
  const float* float_bias;
  int32_t zero_point;
  const ExactOutput* exact;  // null: as `output` says
};

size_t packed_panels_bytes(const GemmKernel& kernel, size_t n, size_t k);

/// Packs all of B; `panels` has packed_panels_bytes(), aligned to 64.
void pack_panels(const GemmKernel& kernel, const uint8_t* b, size_t b_row, size_t b_column, bool flip,
                 size_t n, size_t k, uint8_t* panels);

/// Bytes of workspace for gemm_run with these members of the problem: kernel, m, n, k, a_column, flip_a,
/// panels, zb_*, c*, exact. False when the size overflows.
bool gemm_workspace(const GemmProblem& p, size_t threads, size_t* bytes);

/// `workspace` has gemm_workspace() bytes, any alignment.
void gemm_run(const GemmProblem& p, const sb_parallel* parallel, void* workspace);

}  // namespace samebit
