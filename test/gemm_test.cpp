// Matrix products through the C interface: every type pair, layout, output and profile against plain loops,
// on every usable backend, packed or not, with any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "probe/guard.h"
#include "probe/inputs.h"
#include "samebit/parallel_std.hpp"
#include "samebit/reference.h"
#include "samebit/samebit.h"

namespace samebit {
namespace {

using probe::Guarded;
using probe::Rng;

uint64_t g_values = 0, g_differences = 0;

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

std::vector<Target> targets() {
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

bool is_arm(sb_profile p) { return p == SB_ORT_ARM64_DOT || p == SB_ORT_ARM64_NEON; }

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
    const sb_parallel parallel{threads % 2 ? Pool::reversed : Pool::threads, &threads, threads};
    const sb_parallel* p = threads ? &parallel : nullptr;
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

void compare(uint64_t seed, size_t m, size_t n, size_t k, const std::vector<Target>& list, size_t threads) {
  Product p(seed, m, n, k);
  std::vector<uint8_t> wanted[SB_PROFILE_COUNT];
  for (int i = 0; i < SB_PROFILE_COUNT; ++i) wanted[i] = p.expected(static_cast<sb_profile>(i));
  for (const Target& s : list) {
    for (const bool packed : {false, true}) {
      const std::vector<uint8_t> got = p.run(s.context, packed, threads);
      g_values += m * n;
      if (got == wanted[s.profile]) continue;
      ++g_differences;
      const size_t at = static_cast<size_t>(
          std::mismatch(got.begin(), got.end(), wanted[s.profile].begin()).first - got.begin());
      FAIL() << "seed " << seed << " m " << m << " n " << n << " k " << k << " packed " << packed
             << " threads " << threads << ", " << sb_profile_name(s.profile) << " on " << s.backend
             << ", types " << p.matmul.a_type << " " << p.matmul.b_type << " -> " << p.y_type
             << ", first at byte " << at;
    }
  }
}

bool small_effort() {
  const char* effort = std::getenv("SAMEBIT_EFFORT");
  return effort && std::string(effort) == "small";
}

TEST(Gemm, SmallShapes) {
  const std::vector<Target> list = targets();
  uint64_t seed = 1;
  for (size_t m : {0, 1, 2, 3, 5, 6, 7, 12, 13}) {
    for (size_t n : {0, 1, 2, 5, 8, 15, 16, 17, 33, 64, 65, 80}) {
      for (size_t k : {0, 1, 2, 3, 4, 7, 16, 17, 33}) {
        ++seed;
        if (small_effort() && seed % 5 != 0) continue;
        ASSERT_NO_FATAL_FAILURE(compare(seed, m, n, k, list, seed % 7));
      }
    }
  }
}

TEST(Gemm, RandomShapes) {
  const std::vector<Target> list = targets();
  Rng r(99);
  for (uint64_t seed = 5000; seed < (small_effort() ? 5012 : 5060); ++seed) {
    const size_t m = 1 + r.below(40), n = 1 + r.below(200), k = r.below(300), threads = r.below(9);
    ASSERT_NO_FATAL_FAILURE(compare(seed, m, n, k, list, threads));
  }
}

TEST(Gemm, ManyRowsAreCutIntoBlocks) {
  const std::vector<Target> list = targets();
  for (uint64_t seed = 9000; seed < 9004; ++seed)
    ASSERT_NO_FATAL_FAILURE(
        compare(seed, 150, 20, 4000, {list[seed % 6], list[list.size() - 1 - seed % 6]}, seed % 4));
}

TEST(Gemm, LongSums) {
  const std::vector<Target> list = targets();
  // 255 * 255 * 100,000 is beyond int32: sums wrap.
  for (uint64_t seed = 9100; seed < 9104; ++seed)
    ASSERT_NO_FATAL_FAILURE(
        compare(seed, 3, 5, 100000, {list[seed % 6], list[list.size() - 1 - seed % 6]}, seed % 3));
}

// ------------------------------------------------------------------------------------------------- tensors
TEST(GemmTensors, BroadcastAsInMatMul) {
  using Dims = std::vector<size_t>;
  const struct {
    Dims a, b, y;
  } cases[] = {{{4, 7}, {7, 5}, {4, 5}},
               {{7}, {7, 5}, {5}},
               {{4, 7}, {7}, {4}},
               {{3, 4, 7}, {7, 5}, {3, 4, 5}},
               {{3, 4, 7}, {1, 7, 5}, {3, 4, 5}},
               {{3, 4, 7}, {3, 7, 5}, {3, 4, 5}},
               {{4, 7}, {3, 7, 5}, {3, 4, 5}},
               {{2, 1, 4, 7}, {3, 7, 5}, {2, 3, 4, 5}},
               {{1, 3, 4, 7}, {2, 1, 7, 5}, {2, 3, 4, 5}},
               {{0, 4, 7}, {7, 5}, {0, 4, 5}}};
  for (const Target& target : targets()) {
    for (const auto& c : cases) {
      const auto count = [](const Dims& d) {
        size_t n = 1;
        for (const size_t x : d) n *= x;
        return n;
      };
      const std::vector<uint8_t> a = probe::draw_codes(1, count(c.a)), b = probe::draw_codes(2, count(c.b));
      const size_t m = c.a.size() == 1 ? 1 : c.a[c.a.size() - 2], k = 7, n = c.b.size() == 1 ? 1 : c.b.back();
      const sb_matmul matmul{SB_UINT8, SB_UINT8, n, k, 0, 0, 9, nullptr, 0};
      sb_gemm_plan plan;
      sb_error error;
      ASSERT_EQ(sb_matmul_integer_prepare(&target.context, &matmul, &plan, &error), SB_OK) << error.message;
      size_t bytes = 0;
      ASSERT_EQ(sb_gemm_nd_workspace_bytes(&plan, c.a.data(), c.a.size(), c.b.data(), c.b.size(), 0, nullptr,
                                           &bytes, &error),
                SB_OK)
          << error.message;
      std::vector<uint8_t> workspace(bytes + 1);
      std::vector<int32_t> y(count(c.y) + 1, 12345);
      ASSERT_EQ(sb_gemm_run_nd(&plan, a.data(), c.a.data(), c.a.size(), b.data(), nullptr, 0, c.b.data(),
                               c.b.size(), y.data(), nullptr, workspace.data(), bytes, &error),
                SB_OK)
          << error.message;
      // Every output by its index: batch dimensions counted from the last.
      const size_t batch_rank = std::max<size_t>({c.a.size(), c.b.size(), 2}) - 2;
      for (size_t at = 0; at < count(c.y); ++at) {
        const size_t i = at / n % m, j = at % n;
        size_t rest = at / (m * n), a_batch = 0, b_batch = 0, a_step = 1, b_step = 1;
        for (size_t d = 0; d < batch_rank; ++d) {
          const size_t from_end = 3 + d, extent = c.y[c.y.size() - from_end], index = rest % extent;
          rest /= extent;
          const auto take = [&](const Dims& dims, size_t* batch, size_t* step) {
            if (dims.size() < from_end) return;
            if (dims[dims.size() - from_end] > 1) *batch += index * *step;
            *step *= dims[dims.size() - from_end];
          };
          take(c.a, &a_batch, &a_step);
          take(c.b, &b_batch, &b_step);
        }
        int32_t sum = 0;
        for (size_t x = 0; x < k; ++x)
          sum += (a[(a_batch * m + i) * k + x] - 9) * b[(b_batch * k + x) * n + j];
        ASSERT_EQ(y[at], sum) << at << " on " << target.backend;
        ++g_values;
      }
      EXPECT_EQ(y.back(), 12345);
    }
  }
  sb_gemm_plan plan;
  sb_error e;
  const sb_matmul matmul{SB_UINT8, SB_UINT8, 5, 7, 0, 0, 9, nullptr, 0};
  ASSERT_EQ(sb_matmul_integer_prepare(&targets()[0].context, &matmul, &plan, &e), SB_OK);
  const size_t a[] = {2, 4, 7}, b[] = {3, 7, 5}, wrong[] = {6, 5};
  size_t bytes;
  EXPECT_EQ(sb_gemm_nd_workspace_bytes(&plan, a, 3, b, 3, 0, nullptr, &bytes, &e), SB_BAD_ARGUMENT);
  EXPECT_EQ(sb_gemm_nd_workspace_bytes(&plan, a, 3, wrong, 2, 0, nullptr, &bytes, &e), SB_BAD_ARGUMENT);
  EXPECT_NE(std::string(e.message).find("k = 7 and b 6"), std::string::npos) << e.message;
  EXPECT_EQ(sb_gemm_nd_workspace_bytes(&plan, a, 0, b, 3, 0, nullptr, &bytes, &e), SB_UNSUPPORTED);
}

TEST(GemmThreads, ThePoolsOfTheAdaptersRunEveryTaskOnce) {
  ThreadPool pool(4);
  const sb_parallel parallel = pool.parallel();
  EXPECT_EQ(parallel.threads, 4u);
  for (size_t count : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> seen(count + 1);
    parallel.run(
        parallel.pool, count, [](void* arg, size_t i) { ++(*static_cast<decltype(seen)*>(arg))[i]; }, &seen);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], 1) << i << " of " << count;
    EXPECT_EQ(seen[count], 0);
  }
}

// ---------------------------------------------------------------------------------------------- rule exact
TEST(GemmExact, CodesEqualTheRealQuotientRounded) {
  Rng r(5);
  size_t ties = 0;
  for (int i = 0; i < 600000; ++i) {
    // Small significands: the quotient is exact in long double, or far from a tie.
    const int32_t acc = r.between(-3000, 3000), c = r.between(-100, 100);
    const float alpha = static_cast<float>(1 + r.below(8)) / 4, sa = static_cast<float>(1 + r.below(32)) / 64,
                sb = static_cast<float>(1 + r.below(32)) / 128, sy = static_cast<float>(1 + r.below(16)) / 8;
    const long double q = static_cast<long double>(acc + c) * alpha * sa * sb / sy;
    ties += std::fabs(q - std::floor(q) - 0.5L) < 1e-12L;
    const int32_t want = static_cast<int32_t>(std::clamp(std::nearbyint(q) + 7, -128.0L, 127.0L));
    ASSERT_EQ(sb_ref_gemm_exact_code(acc, c, alpha, sa, sb, sy, 7, -128, 127), want)
        << acc << " " << c << " " << alpha << " " << sa << " " << sb << " " << sy;
  }
  EXPECT_GT(ties, 1000u);
  // In float32 this product is exactly 6.5; in real numbers it is 6.50000047.
  EXPECT_EQ(sb_ref_gemm_exact_code(585, 0, 1, 0.05296124517917633f, 0.024093778803944588f,
                                   0.11484327912330627f, -126, -128, 127),
            -119);
  EXPECT_EQ(sb_ref_gemm_exact_code(INT32_MIN, INT32_MIN, 3e38f, 3e38f, 3e38f, 1e-45f, 0, -128, 127), -128);
  EXPECT_EQ(sb_ref_gemm_exact_code(INT32_MAX, INT32_MAX, 3e38f, 3e38f, -3e38f, -1e-45f, 0, -128, 127), 127);
  EXPECT_EQ(sb_ref_gemm_exact_code(INT32_MAX, 0, 1e-45f, 1e-45f, 1e-45f, 3e38f, 5, -128, 127), 5);
  EXPECT_EQ(sb_ref_gemm_exact_code(1, 0, 1e-45f, 1, 1, 1e-45f, 5, -128, 127), 6);
  EXPECT_EQ(sb_ref_gemm_exact_code(1, 0, 1e-45f, 1, 1, 2.8e-45f, 0, -128, 127), 0) << "a tie goes to even";
  EXPECT_EQ(sb_ref_gemm_exact_code(3, 0, 1e-45f, 1, 1, 2.8e-45f, 0, -128, 127), 2);
}

TEST(GemmExact, FloatsAreTheNearest) {
  Rng r(6);
  for (int i = 0; i < 200000; ++i) {
    const int32_t acc = r.between(-2000000, 2000000);
    const float sa = std::ldexp(static_cast<float>(1 + r.below(4095)), -10),
                sb = std::ldexp(static_cast<float>(1 + r.below(4095)), -20);
    // 21 + 12 + 12 bits and a bias nearby: exact in double.
    const double product = static_cast<double>(acc) * sa * sb;
    const float bias = r.below(4) == 0 ? static_cast<float>(-product)
                                       : std::ldexp(static_cast<float>(r.between(-9999, 9999)), -12);
    ASSERT_EQ(sb_ref_gemm_exact_float(acc, 0, 1, sa, sb, bias), static_cast<float>(product + bias))
        << acc << " " << sa << " " << sb << " " << bias;
  }
  EXPECT_EQ(sb_ref_gemm_exact_float(1, 0, 1, 1, 1, 0x1p24f), 0x1p24f) << "a tie goes to even";
  EXPECT_EQ(sb_ref_gemm_exact_float(1, 0, 1, 1, 1.0000001f, 0x1p24f), 0x1.000002p24f);
  EXPECT_EQ(sb_ref_gemm_exact_float(1, 0, 1, 1e-45f, 1e-45f, 0x1p24f), 0x1p24f);
  EXPECT_EQ(sb_ref_gemm_exact_float(-1, 0, 1, 1e-45f, 1e-45f, 1.0f), 1.0f);
  EXPECT_EQ(sb_ref_gemm_exact_float(INT32_MAX, 0, 1, 3e38f, 3e38f, 1.0f),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(sb_ref_gemm_exact_float(1, 0, 1, 1e-45f, 1, 0), 1e-45f);
}

// ------------------------------------------------------------------------------------------ packed weights
TEST(GemmPacked, EveryFlippedBitIsFound) {
  sb_context context;
  ASSERT_EQ(sb_context_init(&context, nullptr, nullptr), SB_OK);
  Product p(3, 4, 20, 30);
  sb_gemm_plan plan;
  sb_error error;
  ASSERT_EQ(p.prepare(context, &plan, &error), SB_OK) << error.message;
  size_t bytes = 0;
  ASSERT_EQ(sb_gemm_packed_bytes(&plan, &bytes, &error), SB_OK);
  std::unique_ptr<uint8_t, void (*)(void*)> packed(
      static_cast<uint8_t*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), std::free);
  ASSERT_EQ(sb_gemm_pack(&plan, p.b.data(), p.ldb, packed.get(), bytes, &error), SB_OK) << error.message;
  std::vector<uint8_t> y(4 * p.m * p.ldy), workspace(1 << 16);
  sb_gemm_args args{};
  args.m = p.m;
  args.a = p.a.data();
  args.lda = p.lda;
  args.packed_b = packed.get();
  args.packed_bytes = bytes;
  args.y = y.data();
  args.ldy = p.ldy;
  for (size_t i = 0; i < bytes; ++i) {
    packed.get()[i] ^= static_cast<uint8_t>(1u << i % 8);
    EXPECT_EQ(sb_gemm_check_packed(&plan, packed.get(), bytes, &error), SB_BAD_PACKED) << i;
    if (i < 64) {
      EXPECT_EQ(sb_gemm_run(&plan, &args, nullptr, workspace.data(), workspace.size(), &error), SB_BAD_PACKED)
          << i;
    }
    packed.get()[i] ^= static_cast<uint8_t>(1u << i % 8);
  }
  EXPECT_EQ(sb_gemm_run(&plan, &args, nullptr, workspace.data(), workspace.size(), &error), SB_OK)
      << error.message;

  Product other(3, 4, 21, 30);
  ASSERT_EQ(other.prepare(context, &plan, &error), SB_OK);
  EXPECT_EQ(sb_gemm_check_packed(&plan, packed.get(), bytes * 2, &error), SB_BAD_PACKED);
  EXPECT_NE(std::string(error.message).find("another shape"), std::string::npos) << error.message;
}

TEST(GemmPacked, AnotherBackendIsRefused) {
  sb_context scalar, best;
  const sb_options options{SB_ORT_X64_VNNI, "scalar"};
  ASSERT_EQ(sb_context_init(&scalar, &options, nullptr), SB_OK);
  ASSERT_EQ(sb_context_init(&best, nullptr, nullptr), SB_OK);
  Product p(3, 4, 20, 30);
  sb_gemm_plan plan_scalar, plan_best;
  ASSERT_EQ(p.prepare(scalar, &plan_scalar, nullptr), SB_OK);
  ASSERT_EQ(p.prepare(best, &plan_best, nullptr), SB_OK);
  if (std::string(sb_gemm_kernel(&plan_best)).rfind("scalar/", 0) == 0)
    GTEST_SKIP() << "this CPU has one backend";
  alignas(64) static uint8_t packed[1 << 14];
  ASSERT_EQ(sb_gemm_pack(&plan_scalar, p.b.data(), p.ldb, packed, sizeof packed, nullptr), SB_OK);
  sb_error error;
  EXPECT_EQ(sb_gemm_check_packed(&plan_best, packed, sizeof packed, &error), SB_BAD_PACKED);
  EXPECT_NE(std::string(error.message).find("another backend"), std::string::npos) << error.message;
}

// ------------------------------------------------------------------------------------------ bad arguments
TEST(GemmErrors, NameTheArgumentAndItsValue) {
  sb_context context;
  ASSERT_EQ(sb_context_init(&context, nullptr, nullptr), SB_OK);
  sb_gemm_plan plan;
  sb_error e;
  const auto says = [&](sb_status got, sb_status want, const char* text) {
    EXPECT_EQ(got, want) << e.message;
    EXPECT_NE(std::string(e.message).find(text), std::string::npos) << e.message << " / " << text;
  };
  sb_matmul m{SB_UINT8, SB_INT8, 4, 8, 0, 0, 3, nullptr, 0};
  says(sb_matmul_integer_prepare(&context, nullptr, &plan, &e), SB_BAD_ARGUMENT, "matmul is null");
  sb_matmul bad = m;
  bad.a_type = SB_FLOAT32;
  says(sb_matmul_integer_prepare(&context, &bad, &plan, &e), SB_UNSUPPORTED, "a_type is 4");
  bad = m;
  bad.a_zero_point = 256;
  says(sb_matmul_integer_prepare(&context, &bad, &plan, &e), SB_BAD_ZERO_POINT, "256");
  bad = m;
  bad.k = size_t{1} << 40;
  says(sb_matmul_integer_prepare(&context, &bad, &plan, &e), SB_BAD_ARGUMENT, "k is 1099511627776");
  bad = m;
  bad.b_zero_point_count = 3;
  says(sb_matmul_integer_prepare(&context, &bad, &plan, &e), SB_BAD_ARGUMENT, "b_zero_point_count is 3");
  const int32_t zeros[4] = {0, 1, 128, 0};
  bad.b_zero_point = zeros;
  bad.b_zero_point_count = 4;
  says(sb_matmul_integer_prepare(&context, &bad, &plan, &e), SB_BAD_ZERO_POINT, "b_zero_point[2] is 128");

  const float one = 1;
  sb_matmul_scales s{1, 1, &one, 2, nullptr};
  says(sb_qgemm_prepare(&context, &m, &s, SB_UINT8, {1, 0}, &plan, &e), SB_BAD_ARGUMENT,
       "b_scale_count is 2");
  s.b_scale_count = 1;
  says(sb_qgemm_prepare(&context, &m, &s, SB_INT32, {1, 0}, &plan, &e), SB_UNSUPPORTED, "y_type is 3");
  says(sb_qgemm_prepare(&context, &m, &s, SB_INT8, {1, 200}, &plan, &e), SB_BAD_ZERO_POINT, "200");
  sb_context exact;
  const sb_options options{SB_EXACT, nullptr};
  ASSERT_EQ(sb_context_init(&exact, &options, nullptr), SB_OK);
  s.a_scale = std::numeric_limits<float>::infinity();
  says(sb_qgemm_prepare(&exact, &m, &s, SB_INT8, {1, 0}, &plan, &e), SB_BAD_SCALE, "a scale is inf");
  s.a_scale = 1;
  says(sb_qgemm_prepare(&exact, &m, &s, SB_INT8, {0, 0}, &plan, &e), SB_BAD_SCALE, "0");

  ASSERT_EQ(sb_qgemm_prepare(&context, &m, &s, SB_INT8, {1, 0}, &plan, &e), SB_OK) << e.message;
  uint8_t a[16] = {}, b[32] = {}, y[8];
  alignas(64) uint8_t packed[4096];
  sb_gemm_args args{2, a, 8, b, 4, nullptr, 0, nullptr, 0, 0, y, 4};
  const auto run = [&](const sb_gemm_args& x) { return sb_gemm_run(&plan, &x, nullptr, nullptr, 0, &e); };
  sb_gemm_args x = args;
  x.lda = 7;
  says(run(x), SB_BAD_ARGUMENT, "lda is 7");
  x = args;
  x.ldb = 3;
  says(run(x), SB_BAD_ARGUMENT, "ldb is 3");
  x = args;
  x.ldy = 2;
  says(run(x), SB_BAD_ARGUMENT, "ldy is 2");
  x = args;
  x.m = SIZE_MAX / 2;
  says(run(x), SB_BAD_ARGUMENT, "overflow");
  x = args;
  x.a = nullptr;
  says(run(x), SB_BAD_ARGUMENT, "a is null");
  x = args;
  x.b = nullptr;
  says(run(x), SB_BAD_ARGUMENT, "b and packed_b are null");
  x = args;
  x.y = a;
  says(run(x), SB_BAD_ARGUMENT, "overlaps a");
  says(run(args), SB_SMALL_BUFFER, "workspace_bytes is 0");
  says(sb_gemm_pack(&plan, b, 4, packed + 1, sizeof packed - 64, &e), SB_BAD_ARGUMENT, "not aligned");
  says(sb_gemm_pack(&plan, b, 4, packed, 64, &e), SB_SMALL_BUFFER, "packed_bytes is 64");
  size_t bytes = 0;
  const sb_parallel none{nullptr, nullptr, 1}, many{Pool::reversed, nullptr, 0};
  says(sb_gemm_workspace_bytes(&plan, &args, &none, &bytes, &e), SB_BAD_ARGUMENT, "parallel->run is null");
  says(sb_gemm_workspace_bytes(&plan, &args, &many, &bytes, &e), SB_BAD_ARGUMENT, "parallel->threads is 0");
  sb_gemm_plan empty{};
  says(sb_gemm_run(&empty, &args, nullptr, nullptr, 0, &e), SB_BAD_ARGUMENT, "plan was not filled");
}

class Summary : public testing::Environment {
 public:
  void TearDown() override {
    std::printf("compared gemm       %12llu values, %llu differences\n",
                static_cast<unsigned long long>(g_values), static_cast<unsigned long long>(g_differences));
  }
};
const testing::Environment* const g_summary = testing::AddGlobalTestEnvironment(new Summary);

}  // namespace
}  // namespace samebit
