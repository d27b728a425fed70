// The table of kernels that a backend fills: typed function pointers, one per operator, type and rule.
// Every pointer may be called with n = 0, with any alignment, and with y equal to an input of the same width.
#pragma once

#include <cstddef>
#include <cstdint>

#include "samebit/reference.h"
#include "table/gemm.h"

namespace samebit {

/// Constants of QuantizeLinear, rules f32_divide and f32_reciprocal (equal results, see
/// src/params/quantize.h).
struct QuantizeF32 {
  float scale;
  // f32_reciprocal only:
  float inverse;      // f32(1 / scale)
  float inverse_low;  // f32(1 / scale - inverse)
  float upper;        // x above it gives hi
  int32_t zero_point;
};

struct DequantizeF32 {
  float scale;
  int32_t zero_point;
};

/// Scales and bias of a requantization. Per tensor: scale points at one value.
struct Requantize {
  const float* scale;
  const int32_t* bias;  // `columns` values or null
  size_t columns;
  bool per_column;  // scale has `columns` values
  int32_t zero_point;
};

template <class T, class P>
using BinaryKernel = void (*)(const T* a, const T* b, T* y, size_t n, const P& params);
template <class X, class Y, class P>
using UnaryKernel = void (*)(const X* x, Y* y, size_t n, const P& params);
template <class T>
using RequantizeKernel = void (*)(const int32_t* acc, T* y, size_t rows, const Requantize& params);
template <class T>
using LookupKernel = void (*)(const T* x, T* y, size_t n, const T* table);

/// Kernels whose codes are of type T (int8_t or uint8_t).
template <class T>
struct ByteKernels {
  BinaryKernel<T, sb_ref_add_f32> add_f32_fma;
  BinaryKernel<T, sb_ref_add_f32> add_f32_mul_add;
  BinaryKernel<T, sb_ref_add_fixed21> add_fixed21;
  BinaryKernel<T, sb_ref_add_divide> add_f32_divide;
  BinaryKernel<T, sb_ref_binary_exact> add_exact;

  BinaryKernel<T, sb_ref_mul_f32> mul_f32_mul_add;
  BinaryKernel<T, sb_ref_mul_f32> mul_f32_fma;
  BinaryKernel<T, sb_ref_binary_exact> mul_exact;

  UnaryKernel<float, T, QuantizeF32> quantize_f32_divide;
  UnaryKernel<float, T, QuantizeF32> quantize_f32_reciprocal;
  UnaryKernel<float, T, sb_ref_quantize_exact> quantize_exact;

  UnaryKernel<T, float, DequantizeF32> dequantize_f32;
  UnaryKernel<T, float, sb_ref_dequantize_infinite> dequantize_f32_infinite;

  RequantizeKernel<T> requantize_f32_clamp;
  RequantizeKernel<T> requantize_f32_saturate;
  RequantizeKernel<T> requantize_exact;

  /// y[i] = table[raw byte of x[i]]; table has 256 entries in raw byte order.
  LookupKernel<T> lookup256;
};

/// Extremes of the numbers among n values (FLT_MAX, -FLT_MAX of none). Valid only when no value is NaN or infinite.
struct MinMax {
  float min, max;
  bool all_finite;
};

struct KernelTable {
  ByteKernels<int8_t> s8;
  ByteKernels<uint8_t> u8;
  UnaryKernel<int32_t, float, DequantizeF32> dequantize_s32_f32;
  UnaryKernel<int32_t, float, sb_ref_dequantize_infinite> dequantize_s32_f32_infinite;
  UnaryKernel<int32_t, float, sb_ref_dequantize_exact> dequantize_s32_exact;

  void (*min_max_f32)(const float* x, size_t n, MinMax* result);

  /// Sums of products by dot rule; the last two only where ONNX Runtime's machines use them.
  const GemmKernel* gemm_exact;
  const GemmKernel* gemm_pairsat;
  const GemmKernel* gemm_pairwrap;

  /// Bytes read and written by one call from which its stores bypass the caches. Given to fill_<isa>(), not
  /// set there.
  size_t stream_bytes;

  /// From this length on a scalar operand is served by building a table of 256 results and lookup256.
  size_t scalar_operand_table_from;

  template <class T>
  const ByteKernels<T>& of() const {
    if constexpr (sizeof(T) == 1 && T(-1) < T(0)) return s8;
    else return u8;
  }
  template <class T>
  ByteKernels<T>& of() {
    if constexpr (sizeof(T) == 1 && T(-1) < T(0)) return s8;
    else return u8;
  }
};

}  // namespace samebit
