// The scalar backend: loops over the formulas of samebit/reference.h. It fills every entry and defines every
// result.
#include "params/quant.h"
#include "scalar/gemm.h"
#include "table/backends.h"

namespace samebit {
namespace scalar {
namespace {

/// y[i] = value(a[i], b[i]) for a formula of reference.h.
template <class T, class P,
          int32_t (*Value)(int32_t, int32_t, const P*, int32_t, int32_t, const sb_ref_trace*)>
void binary(const T* a, const T* b, T* y, size_t n, const P& p) {
  constexpr Range r = kRange<T>;
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<T>(Value(a[i], b[i], &p, r.lo, r.hi, nullptr));
}

template <class T>
void quantize_f32(const float* x, T* y, size_t n, const QuantizeF32& p) {
  constexpr Range r = kRange<T>;
  for (size_t i = 0; i < n; ++i)
    y[i] = static_cast<T>(sb_ref_quantize_value(x[i], p.scale, p.zero_point, r.lo, r.hi, nullptr));
}

template <class T>
void quantize_exact(const float* x, T* y, size_t n, const sb_ref_quantize_exact& p) {
  constexpr Range r = kRange<T>;
  for (size_t i = 0; i < n; ++i)
    y[i] = static_cast<T>(sb_ref_quantize_exact_value(x[i], &p, r.lo, r.hi, nullptr));
}

template <class T>
void dequantize_f32(const T* x, float* y, size_t n, const DequantizeF32& p) {
  for (size_t i = 0; i < n; ++i) y[i] = sb_ref_dequantize_value(x[i], p.scale, p.zero_point, nullptr);
}

template <class T>
void dequantize_f32_infinite(const T* x, float* y, size_t n, const sb_ref_dequantize_infinite& p) {
  for (size_t i = 0; i < n; ++i) y[i] = sb_ref_dequantize_infinite_value(x[i], &p, nullptr);
}

void dequantize_s32_exact(const int32_t* x, float* y, size_t n, const sb_ref_dequantize_exact& p) {
  for (size_t i = 0; i < n; ++i) y[i] = sb_ref_dequantize_exact_value(x[i], &p, nullptr);
}

template <class T, int32_t (*Value)(int32_t, int32_t, float, int32_t, int32_t, int32_t, const sb_ref_trace*)>
void requantize(const int32_t* acc, T* y, size_t rows, const Requantize& p) {
  constexpr Range r = kRange<T>;
  for (size_t row = 0; row < rows; ++row, acc += p.columns, y += p.columns)
    for (size_t c = 0; c < p.columns; ++c)
      y[c] = static_cast<T>(Value(acc[c], p.bias ? p.bias[c] : 0, p.scale[p.per_column ? c : 0], p.zero_point,
                                  r.lo, r.hi, nullptr));
}

void min_max(const float* x, size_t n, MinMax* result) {
  const sb_ref_min_max r = sb_ref_min_max_numbers(x, n);
  *result = {r.min, r.max, true};
  for (size_t i = 0; i < n; ++i) result->all_finite &= x[i] - x[i] == 0;
}

template <class T>
void lookup256(const T* x, T* y, size_t n, const T* table) {
  for (size_t i = 0; i < n; ++i) y[i] = table[static_cast<uint8_t>(x[i])];
}

template <class T>
void fill(ByteKernels<T>& k) {
  k.add_f32_fma = binary<T, sb_ref_add_f32, sb_ref_add_f32_fma_value>;
  k.add_f32_mul_add = binary<T, sb_ref_add_f32, sb_ref_add_f32_mul_add_value>;
  k.add_fixed21 = binary<T, sb_ref_add_fixed21, sb_ref_add_fixed21_value>;
  k.add_f32_divide = binary<T, sb_ref_add_divide, sb_ref_add_divide_value>;
  k.add_exact = binary<T, sb_ref_binary_exact, sb_ref_add_exact_value>;
  k.mul_f32_mul_add = binary<T, sb_ref_mul_f32, sb_ref_mul_f32_mul_add_value>;
  k.mul_f32_fma = binary<T, sb_ref_mul_f32, sb_ref_mul_f32_fma_value>;
  k.mul_exact = binary<T, sb_ref_binary_exact, sb_ref_mul_exact_value>;
  k.quantize_f32_divide = quantize_f32<T>;
  k.quantize_f32_reciprocal = quantize_f32<T>;  // defined by the division
  k.quantize_exact = quantize_exact<T>;
  k.dequantize_f32 = dequantize_f32<T>;
  k.dequantize_f32_infinite = dequantize_f32_infinite<T>;
  k.requantize_f32_clamp = requantize<T, sb_ref_requantize_clamp_value>;
  k.requantize_f32_saturate = requantize<T, sb_ref_requantize_saturate_value>;
  k.requantize_exact = requantize<T, sb_ref_requantize_exact_value>;
  k.lookup256 = lookup256<T>;
}

}  // namespace
}  // namespace scalar

void fill_scalar(KernelTable& table) {
  scalar::fill(table.s8);
  scalar::fill(table.u8);
  table.dequantize_s32_f32 = scalar::dequantize_f32<int32_t>;
  table.dequantize_s32_f32_infinite = scalar::dequantize_f32_infinite<int32_t>;
  table.dequantize_s32_exact = scalar::dequantize_s32_exact;
  table.min_max_f32 = scalar::min_max;
  scalar::fill_gemm(table);
  // 256 table entries cost as much as 256 results; a lookup is several times cheaper than the formula.
  table.scalar_operand_table_from = 512;
}

}  // namespace samebit
