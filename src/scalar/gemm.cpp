#include "scalar/gemm.h"

#include <cstring>

#include "params/quant.h"

namespace samebit::scalar {
namespace {

// A panel is `n` int32 column sums, padded to 64 bytes, then k rows of n int8 codes. Sizes that no vector
// has: the driver's edges are tested by them.
constexpr uint16_t kColumns = 5, kRows = 3;

size_t head_bytes(size_t n) { return (n * sizeof(int32_t) + 63) / 64 * 64; }
size_t panel_bytes(size_t n, size_t k) { return (head_bytes(n) + n * k + 63) / 64 * 64; }
size_t row_bytes(size_t k) { return (k + 63) / 64 * 64; }

void pack(const GemmPack& p) {
  auto* sums = reinterpret_cast<int32_t*>(p.panel);
  auto* codes = reinterpret_cast<int8_t*>(p.panel + head_bytes(p.n));
  std::memset(p.panel, 0, panel_bytes(p.n, p.k));
  for (size_t k = 0; k < p.k; ++k) {
    for (size_t j = 0; j < p.n; ++j) {
      const uint8_t code = p.b[k * p.row_stride + j * p.column_stride] ^ (p.flip ? 0x80 : 0);
      codes[k * p.n + j] = static_cast<int8_t>(code);
      sums[j] += static_cast<int8_t>(code);
    }
  }
}

template <bool kSigned>
void copy(const GemmCopy& c) {
  for (size_t i = 0; i < c.m; ++i) {
    int32_t sum = 0;
    for (size_t k = 0; k < c.k; ++k) {
      const uint8_t code = c.a[i * c.row_stride + k * c.column_stride] ^ (c.flip ? 0x80 : 0);
      if (c.rows) c.rows[i * row_bytes(c.k) + k] = code;
      sum += sb_ref_code(code, kSigned);
    }
    if (c.sums) c.sums[i] = sum;
  }
}

void store(const GemmPanel& p, size_t i, size_t j, int32_t acc) {
  const size_t at = i * p.ldy + j;
  const float scale = p.scale ? p.scale[p.per_column ? j : 0] : 0.0f;
  switch (p.output) {
    case GemmOutput::s32:
      static_cast<int32_t*>(p.y)[at] = acc;
      break;
    case GemmOutput::s8_clamp:
      static_cast<int8_t*>(p.y)[at] =
          static_cast<int8_t>(sb_ref_requantize_clamp_value(acc, 0, scale, p.zero_point, -128, 127, nullptr));
      break;
    case GemmOutput::u8_clamp:
      static_cast<uint8_t*>(p.y)[at] =
          static_cast<uint8_t>(sb_ref_requantize_clamp_value(acc, 0, scale, p.zero_point, 0, 255, nullptr));
      break;
    case GemmOutput::s8_saturate:
      static_cast<int8_t*>(p.y)[at] = static_cast<int8_t>(
          sb_ref_requantize_saturate_value(acc, 0, scale, p.zero_point, -128, 127, nullptr));
      break;
    case GemmOutput::u8_saturate:
      static_cast<uint8_t*>(p.y)[at] = static_cast<uint8_t>(
          sb_ref_requantize_saturate_value(acc, 0, scale, p.zero_point, 0, 255, nullptr));
      break;
    case GemmOutput::f32:
    case GemmOutput::f32_fused:
      static_cast<float*>(p.y)[at] = sb_ref_gemm_to_float(
          acc, scale, p.float_bias ? p.float_bias + j : nullptr, p.output == GemmOutput::f32_fused, nullptr);
      break;
  }
}

template <sb_ref_dot_rule kRule, bool kSigned>
void run(const GemmPanel& p) {
  const auto* sums = reinterpret_cast<const int32_t*>(p.panel);
  const uint8_t* codes = p.panel + head_bytes(p.n);
  for (size_t i = 0; i < p.m; ++i) {
    for (size_t j = 0; j < p.n; ++j) {
      const int32_t d = sb_ref_dot(kRule, p.a + i * p.lda, 1, kSigned, codes + j, p.n, 1, p.k);
      const int32_t zb = p.zb ? p.zb[j] : 0;
      // row_zb is minus the sum of the row.
      const int32_t row_sum = p.zb ? sb_ref_wrap_sub(0, p.row_zb[i]) : 0;
      int32_t acc = sb_ref_gemm_acc(d, p.za, zb, row_sum, sums[j], p.k, nullptr);
      if (p.bias) acc = sb_ref_wrap_add(acc, p.bias[j]);
      if (p.add) acc = sb_ref_wrap_add(acc, p.add[i * p.ld_add + j]);
      store(p, i, j, acc);
    }
  }
}

template <sb_ref_dot_rule kRule, bool kSigned>
constexpr GemmKernel kKernel = {"scalar",    kColumns,  kRows, kSigned,       true,
                                panel_bytes, row_bytes, pack,  copy<kSigned>, run<kRule, kSigned>};

}  // namespace

void fill_gemm(KernelTable& table) {
  table.gemm_exact = &kKernel<SB_REF_DOT_EXACT, false>;
  table.gemm_pairsat = &kKernel<SB_REF_DOT_PAIRSAT, false>;
  table.gemm_pairwrap = &kKernel<SB_REF_DOT_PAIRWRAP, true>;
}

}  // namespace samebit::scalar
