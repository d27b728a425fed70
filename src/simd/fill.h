// Every element-wise entry that a vector type V can serve.
#pragma once

#include "simd/add.h"
#include "simd/quantize.h"
#include "simd/requantize.h"
#include "table/kernel_table.h"

namespace samebit {
namespace {

template <class V, class T>
void fill_codes(ByteKernels<T>& k) {
  k.add_f32_fma = binary<V, T, sb_ref_add_f32, AddF32Fma<V, T>>;
  k.add_f32_mul_add = binary<V, T, sb_ref_add_f32, AddF32MulAdd<V, T>>;
  k.add_fixed21 = binary<V, T, sb_ref_add_fixed21, AddFixed21<V, T>>;
  k.add_f32_divide = binary<V, T, sb_ref_add_divide, AddF32Divide<V, T>>;
  k.add_exact = binary<V, T, sb_ref_binary_exact, BinaryExact<V, T, false>>;
  k.mul_f32_mul_add = binary<V, T, sb_ref_mul_f32, MulF32<V, T, false>>;
  k.mul_f32_fma = binary<V, T, sb_ref_mul_f32, MulF32<V, T, true>>;
  k.mul_exact = binary<V, T, sb_ref_binary_exact, BinaryExact<V, T, true>>;
  k.quantize_f32_divide = quantize<V, T, QuantizeF32, QuantizeDivide<V, T>>;
  k.quantize_f32_reciprocal = quantize<V, T, QuantizeF32, QuantizeReciprocal<V, T>>;
  k.quantize_exact = quantize<V, T, sb_ref_quantize_exact, QuantizeExact<V, T>>;
  k.dequantize_f32 = dequantize<V, T>;
  k.requantize_f32_clamp = requantize<V, T, RequantizeF32<V, T, false>>;
  k.requantize_f32_saturate = requantize<V, T, RequantizeF32<V, T, true>>;
  k.requantize_exact = requantize<V, T, RequantizeExact<V, T>>;
}

template <class V>
void fill_elementwise(KernelTable& table) {
  stream_bytes = table.stream_bytes;
  fill_codes<V>(table.s8);
  fill_codes<V>(table.u8);
  table.dequantize_s32_f32 = dequantize_s32<V, DequantizeF32, Dequantize<V, int32_t>>;
  table.min_max_f32 = min_max<V>;
  table.dequantize_s32_exact = dequantize_s32<V, sb_ref_dequantize_exact, DequantizeExact<V>>;
}

}  // namespace
}  // namespace samebit
