// One random matrix product with all its parameters: what the text of the operators makes of it, and what the
// C interface does, on guarded copies.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "probe/guard.h"
#include "probe/inputs.h"
#include "samebit/reference.h"
#include "samebit/samebit.h"

namespace samebit {

using probe::Guarded;
using probe::Rng;

/// Runs tasks on threads of its own, or in reverse order on none.
struct Pool {
  static void threads(void* pool, size_t count, sb_task task, void* arg) {
    std::vector<std::thread> list;
    const size_t n = *static_cast<size_t*>(pool);
    for (size_t t = 0; t < n; ++t)
      list.emplace_back([=] {
        for (size_t i = t; i < count; i += n) task(arg, i);
      });
    for (std::thread& t : list) t.join();
  }
  static void reversed(void*, size_t count, sb_task task, void* arg) {
    while (count > 0) task(arg, --count);
  }
};

struct Target {
  sb_profile profile;
  std::string backend;
  sb_context context;
};

inline std::vector<Target> targets() {
  std::vector<Target> list;
  for (size_t i = 0; i < sb_backend_count(); ++i) {
    sb_backend backend;
    EXPECT_EQ(sb_backend_get(i, &backend, nullptr), SB_OK);
    if (!backend.usable) continue;
    for (int p = 0; p < SB_PROFILE_COUNT; ++p) {
      Target s{static_cast<sb_profile>(p), backend.name, {}};
      const sb_options options{s.profile, backend.name};
      EXPECT_EQ(sb_context_init(&s.context, &options, nullptr), SB_OK);
      list.push_back(s);
    }
  }
  return list;
}

inline bool is_arm(sb_profile p) { return p == SB_ORT_ARM64_DOT || p == SB_ORT_ARM64_NEON; }

/// One random product with all its parameters.
struct Product {
  size_t m, n, k, lda, ldb, ldy;
  sb_matmul matmul;
  std::vector<uint8_t> a, b;  // as stored
  std::vector<int32_t> zb;
  std::vector<float> b_scale, column_scale, bias;
  float alpha, a_scale;
  std::vector<int32_t> c;
  size_t c_row, c_column;
  sb_type y_type;
  sb_quant y;
  bool to_float;  // MatMulIntegerToFloat, else QGemm (or MatMulInteger for int32)

  int32_t code_a(size_t i, size_t j) const {
    return sb_ref_code(a[matmul.trans_a ? j * lda + i : i * lda + j], matmul.a_type == SB_INT8);
  }
  int32_t code_b(size_t i, size_t j) const {
    return sb_ref_code(b[matmul.trans_b ? j * ldb + i : i * ldb + j], matmul.b_type == SB_INT8);
  }
  int32_t zero_b(size_t j) const { return zb.empty() ? 0 : zb[zb.size() == 1 ? 0 : j]; }

  Product(uint64_t seed, size_t m_, size_t n_, size_t k_) : m(m_), n(n_), k(k_), matmul{} {
    Rng r(seed * 7919 + 1);
    const auto type = [&] { return r.below(2) ? SB_INT8 : SB_UINT8; };
    const auto zero = [&](sb_type t) {
      const int lo = t == SB_INT8 ? -128 : 0;
      const uint32_t which = r.below(4);
      return which == 0 ? lo : which == 1 ? lo + 255 : which == 2 ? 0 : r.between(lo, lo + 255);
    };
    matmul.a_type = type();
    matmul.b_type = type();
    matmul.n = n;
    matmul.k = k;
    matmul.trans_a = r.below(4) == 0;
    matmul.trans_b = r.below(3) == 0;
    matmul.a_zero_point = zero(matmul.a_type);
    const uint32_t zeros = r.below(3);
    zb.resize(zeros == 0 ? 0 : zeros == 1 ? 1 : n);
    for (int32_t& z : zb) z = zero(matmul.b_type);
    matmul.b_zero_point = zb.data();
    matmul.b_zero_point_count = zb.size();
    lda = (matmul.trans_a ? m : k) + r.below(3);
    ldb = (matmul.trans_b ? k : n) + r.below(3);
    ldy = n + r.below(3);
    const bool extreme = r.below(3) == 0;
    const auto codes = [&](size_t count, uint64_t s) {
      std::vector<uint8_t> v = probe::draw_codes(s, count);
      static const uint8_t kExtremes[] = {0, 255, 128, 127};
      if (extreme)
        for (uint8_t& x : v) x = kExtremes[r.below(4)];
      return v;
    };
    a = codes(lda * (matmul.trans_a ? k : m), 2 * seed);
    b = codes(ldb * (matmul.trans_b ? n : k), 2 * seed + 1);
    const uint32_t output = r.below(5);
    y_type = output == 0 ? SB_INT32 : output == 1 ? SB_INT8 : output == 2 ? SB_UINT8 : SB_FLOAT32;
    to_float = output == 3;
    y = {1.0f, 0};
    if (y_type == SB_INT8 || y_type == SB_UINT8)
      y = {r.below(2) ? 1.0f : 0.75f + 0.001f * static_cast<float>(r.between(0, 99)), zero(y_type)};
    alpha = to_float || r.below(2) ? 1.0f : 0.3f + 0.01f * static_cast<float>(r.between(0, 99));
    a_scale = std::ldexp(1.0f + 0.25f * static_cast<float>(r.between(0, 3)), -r.between(0, 8));
    b_scale.resize(r.below(2) && n > 0 ? n : 1);
    for (float& s : b_scale)
      s = std::ldexp(r.below(2) ? 1.0f : 1.0f + 1e-3f * static_cast<float>(r.between(0, 999)),
                     -r.between(0, 8));
    column_scale.resize(n + 1);
    if (to_float && r.below(2)) {
      bias.resize(n);
      for (float& v : bias) v = static_cast<float>(r.between(-999, 999)) * a_scale * b_scale[0];
    }
    c_row = c_column = 0;
    if ((output == 1 || output == 2 || output == 4) && r.below(3) != 0) {
      const uint32_t form = r.below(4);
      c_row = form == 0 ? 0 : form == 1 ? 0 : form == 2 ? 1 : n + 1;
      c_column = form == 0 ? 0 : form == 1 ? 1 : form == 2 ? 0 : 1;
      c = probe::draw_words(seed, m * (n + 1) + 1);
      if (r.below(2))
        for (int32_t& v : c) v >>= 16;
    }
  }

  sb_matmul_scales scales() { return {alpha, a_scale, b_scale.data(), b_scale.size(), column_scale.data()}; }

  sb_status prepare(const sb_context& context, sb_gemm_plan* plan, sb_error* error) {
    const sb_matmul_scales s = scales();
    if (y_type == SB_INT32) return sb_matmul_integer_prepare(&context, &matmul, plan, error);
    if (to_float)
      return sb_matmul_integer_to_float_prepare(&context, &matmul, &s, bias.empty() ? nullptr : bias.data(),
                                                plan, error);
    return sb_qgemm_prepare(&context, &matmul, &s, y_type, y, plan, error);
  }

  /// Accumulators by the text of each dot rule.
  std::vector<int32_t> accumulators(sb_profile profile) const {
    const bool pairsat = profile == SB_ORT_X64_AVX2 && matmul.a_type == SB_UINT8 && matmul.b_type == SB_INT8;
    const bool pairwrap = profile == SB_ORT_ARM64_NEON && matmul.b_type == SB_INT8;
    // The pairs of the wrapping rule are those of int8 codes.
    const int32_t shift = pairwrap && matmul.a_type == SB_UINT8 ? 128 : 0;
    std::vector<int32_t> acc(m * n);
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        int64_t sum = 0, row = 0, column = 0;
        const auto product = [&](size_t x) -> int64_t {
          return x < k ? int64_t{code_a(i, x) - shift} * code_b(x, j) : 0;
        };
        for (size_t x = 0; x < k; ++x) {
          row += code_a(i, x) - shift;
          column += code_b(x, j);
          if (!pairsat && !pairwrap) sum += product(x);
          if (pairsat && x % 2 == 0) sum += std::clamp<int64_t>(product(x) + product(x + 1), -32768, 32767);
          if (pairwrap && x % 16 < 8) sum += static_cast<int16_t>(product(x) + product(x + 8));
        }
        const int64_t za = matmul.a_zero_point - shift, z = zero_b(j);
        acc[i * n + j] = static_cast<int32_t>(
            static_cast<uint32_t>(sum - za * column - z * row + static_cast<int64_t>(k) * za * z));
      }
    }
    return acc;
  }

  /// Bytes of y, dense.
  std::vector<uint8_t> expected(sb_profile profile) const {
    const std::vector<int32_t> acc = accumulators(profile);
    const size_t width = y_type == SB_INT32 || y_type == SB_FLOAT32 ? 4 : 1;
    std::vector<uint8_t> out(m * n * width);
    for (size_t i = 0; i < m; ++i) {
      for (size_t j = 0; j < n; ++j) {
        const float sb = b_scale[b_scale.size() == 1 ? 0 : j];
        const int32_t addend = c.empty() ? 0 : c[i * c_row + j * c_column];
        const int32_t sum =
            static_cast<int32_t>(static_cast<uint32_t>(acc[i * n + j]) + static_cast<uint32_t>(addend));
        float s = alpha * a_scale;
        s = s * sb;
        const int32_t lo = y_type == SB_INT8 ? -128 : 0;
        int32_t code = sum;
        float value = 0;
        if (y_type == SB_INT8 || y_type == SB_UINT8) {
          s = s / y.scale;
          if (profile == SB_EXACT)
            code = sb_ref_gemm_exact_code(acc[i * n + j], addend, alpha, a_scale, sb, y.scale, y.zero_point,
                                          lo, lo + 255);
          else code = sb_ref_requantize_clamp_value(sum, 0, s, y.zero_point, lo, lo + 255, nullptr);
        } else if (y_type == SB_FLOAT32) {
          const float* bias_at = bias.empty() ? nullptr : &bias[j];
          value = profile == SB_EXACT ? sb_ref_gemm_exact_float(acc[i * n + j], addend, alpha, a_scale, sb,
                                                                bias_at ? *bias_at : 0.0f)
                                      : sb_ref_gemm_to_float(sum, s, bias_at, is_arm(profile), nullptr);
        }
        uint8_t* to = out.data() + (i * n + j) * width;
        if (y_type == SB_FLOAT32) std::memcpy(to, &value, width);
        else if (width == 4) std::memcpy(to, &code, width);
        else *to = static_cast<uint8_t>(code);
      }
    }
    return out;
  }

  /// Runs on guarded copies. threads 0: no callback.
  std::vector<uint8_t> run(const sb_context& context, bool packed, size_t threads) {
    const sb_parallel parallel{threads % 2 ? Pool::reversed : Pool::threads, &threads, threads};
    return run(context, packed, threads ? &parallel : nullptr);
  }
  std::vector<uint8_t> run(const sb_context& context, bool packed, const sb_parallel& parallel) {
    return run(context, packed, &parallel);
  }

 private:
  std::vector<uint8_t> run(const sb_context& context, bool packed, const sb_parallel* p) {
    const probe::Layout at_end{0, 0, true};
    sb_gemm_plan plan;
    sb_error error;
    EXPECT_EQ(prepare(context, &plan, &error), SB_OK) << error.message;
    const size_t width = y_type == SB_INT32 || y_type == SB_FLOAT32 ? 4 : 1;
    const size_t used_a =
        a.empty() || m == 0 || k == 0 ? 0 : (matmul.trans_a ? (k - 1) * lda + m : (m - 1) * lda + k);
    const size_t used_b =
        b.empty() || n == 0 || k == 0 ? 0 : (matmul.trans_b ? (n - 1) * ldb + k : (k - 1) * ldb + n);
    const size_t used_y = m == 0 || n == 0 ? 0 : ((m - 1) * ldy + n) * width;
    const Guarded ga(used_a, 1, at_end), gb(used_b, 1, at_end), gy(used_y, width, at_end);
    std::memcpy(ga.as<uint8_t>(), a.data(), used_a);
    std::memcpy(gb.as<uint8_t>(), b.data(), used_b);

    sb_gemm_args args{};
    args.m = m;
    args.a = ga.as<void>();
    args.lda = lda;
    args.y = gy.as<void>();
    args.ldy = ldy;
    args.c = c.empty() ? nullptr : c.data();
    args.c_row_stride = c_row;
    args.c_column_stride = c_column;
    size_t packed_bytes = 0;
    EXPECT_EQ(sb_gemm_packed_bytes(&plan, &packed_bytes, &error), SB_OK) << error.message;
    const Guarded gp(packed ? packed_bytes : 0, 64, at_end);
    if (packed) {
      EXPECT_EQ(sb_gemm_pack(&plan, gb.as<void>(), ldb, gp.as<void>(), packed_bytes, &error), SB_OK)
          << error.message;
      EXPECT_EQ(sb_gemm_check_packed(&plan, gp.as<void>(), packed_bytes, &error), SB_OK) << error.message;
      args.packed_b = gp.as<void>();
      args.packed_bytes = packed_bytes;
    } else {
      args.b = gb.as<void>();
      args.ldb = ldb;
    }
    size_t workspace_bytes = 0;
    EXPECT_EQ(sb_gemm_workspace_bytes(&plan, &args, p, &workspace_bytes, &error), SB_OK) << error.message;
    const Guarded workspace(workspace_bytes, 1, at_end);
    EXPECT_EQ(sb_gemm_run(&plan, &args, p, workspace.as<void>(), workspace_bytes, &error), SB_OK)
        << error.message;
    EXPECT_TRUE(ga.intact() && gb.intact() && gy.intact() && gp.intact() && workspace.intact());
    std::vector<uint8_t> out(m * n * width);
    for (size_t i = 0; i < m && n > 0; ++i) {
      std::memcpy(out.data() + i * n * width, gy.as<uint8_t>() + i * ldy * width, n * width);
      if (i + 1 < m && ldy > n) {
        EXPECT_EQ(gy.as<uint8_t>()[(i * ldy + n) * width], 0xa5) << "written between rows";
      }
    }
    return out;
  }
};

}  // namespace samebit
