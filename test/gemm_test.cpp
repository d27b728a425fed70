// Matrix products through the C interface: every type pair, layout, output and profile against plain loops,
// on every usable backend, packed or not, with any number of threads.
#include <atomic>
#include <cfenv>
#include <cstdlib>

#include "samebit/parallel_std.hpp"
#include "test/gemm_product.h"

namespace samebit {
namespace {

uint64_t g_values = 0, g_differences = 0;

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

TEST(Gemm, WhatIsAddedFollowsTheBlocksOfRows) {
  const std::vector<Target> list = targets();
  size_t found = 0;
  for (uint64_t seed = 9300; found < 6; ++seed) {
    // 16,000 values of k leave a dozen rows to a block.
    const Product p(seed, 40, 3, 16000);
    if (p.c.empty() || p.c_row == 0) continue;
    ++found;
    const size_t last = list.size() - SB_PROFILE_COUNT;  // the profiles of the strongest backend
    ASSERT_NO_FATAL_FAILURE(
        compare(seed, 40, 3, 16000, {list[last + SB_EXACT], list[last + seed % 5]}, seed % 3));
  }
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

/// A thread that rounds upwards, and must find its mode again after every task.
void run_rounding_upwards(void* kept, size_t count, sb_task task, void* arg) {
  std::thread([=] {
    std::fesetround(FE_UPWARD);
    for (size_t i = 0; i < count; ++i) {
      task(arg, i);
      *static_cast<bool*>(kept) &= std::fegetround() == FE_UPWARD;
    }
  }).join();
}

TEST(GemmThreads, ModesOfTheThreadsDoNotCount) {
  for (const Target& target : targets()) {
    for (uint64_t seed = 700; seed < 720; ++seed) {
      Product p(seed, 20, 70, 33);
      bool kept = true;
      const sb_parallel hostile{run_rounding_upwards, &kept, 2};
      EXPECT_EQ(p.run(target.context, true, hostile), p.expected(target.profile))
          << target.backend << " " << seed;
      EXPECT_TRUE(kept);
      g_values += 20 * 70;
    }
  }
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
