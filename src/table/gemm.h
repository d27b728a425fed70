// GEMM as a backend implements it: packed panels of B, rows of A, and a function that runs one against the
// other.
//
// Every backend computes with codes of one pair of signs: A as its kernel wants it (GemmKernel::a_signed), B
// as int8. Other types are flipped (x ^ 0x80: 128 less or more) when B is packed and A is copied, and the
// zero points move with them. So all four type pairs run the same tiles:
//
//   acc[i][j] = sum_k a[i][k] * b[k][j]  -  za * column_sum[j]  -  zb[j] * row_sum[i]  +  K * za * zb[j]
//   modulo 2^32
#pragma once

#include <cstddef>
#include <cstdint>

namespace samebit {

/// What becomes of the accumulators. The names of the rules are those of requantize; f32_fused adds the bias
/// in the multiplication's rounding.
enum class GemmOutput : uint8_t { s32, s8_clamp, u8_clamp, s8_saturate, u8_saturate, f32, f32_fused };

/// One panel of B to be packed: n <= nr columns, all of K.
struct GemmPack {
  const uint8_t* b;                  // first code of the panel
  size_t row_stride, column_stride;  // bytes from k to k + 1, from column to column
  size_t n, k;
  bool flip;
  uint8_t* panel;  // panel_bytes(n, k), aligned to 64 bytes
};

/// Rows of A to be copied into the kernel's own format, summed, or both.
struct GemmCopy {
  const uint8_t* a;
  size_t row_stride, column_stride;  // bytes
  size_t m, k;
  bool flip;
  uint8_t* rows;  // m * row_bytes(k), aligned to 64 bytes; null: only the sums
  int32_t* sums;  // m sums of the (flipped) codes; null: only the copy
};

/// m rows of A against one packed panel.
struct GemmPanel {
  const uint8_t* a;  // in place (only when GemmKernel::in_place), or copied
  size_t lda;        // bytes from row to row
  size_t m, k;
  const uint8_t* panel;
  size_t n;  // columns of the panel, 1 .. nr

  // Start of acc[i][j]: bias[j] - za * column_sum[j] + k * za * zb[j] + row_zb[i] * zb[j] + add[i * ld_add +
  // j]
  int32_t za;
  const int32_t* zb;      // n values; null: all 0
  const int32_t* row_zb;  // m values, minus the sums of rows; null without zb
  const int32_t* bias;    // n values or null
  const int32_t* add;     // m x n values or null
  size_t ld_add;

  GemmOutput output;
  void* y;     // int32, codes or float32
  size_t ldy;  // elements
  const float* scale;
  bool per_column;          // scale has n values, else 1
  const float* float_bias;  // n values or null (then f32_fused is f32)
  int32_t zero_point;       // of y

  bool flip_a;  // flip codes of A as they are read; only in panels of up to GemmKernel::flips_up_to columns
};

struct GemmKernel {
  const char* layout;  // names the packed format; part of the header of packed weights
  uint16_t nr;         // columns of a full panel, at most 64
  uint16_t mr;         // rows of the largest tile: blocks of rows are multiples of it
  bool a_signed;       // codes of A are int8, else uint8
  bool in_place;       // panel() can read rows of A where they are, when they need no flip and are contiguous
  size_t (*panel_bytes)(size_t n, size_t k);
  size_t (*row_bytes)(size_t k);  // of one copied row; a multiple of 64
  void (*pack)(const GemmPack&);
  void (*copy)(const GemmCopy&);
  void (*run)(const GemmPanel&);
  uint16_t flips_up_to = 0;  // a copy would cost more than the product there
};

}  // namespace samebit
