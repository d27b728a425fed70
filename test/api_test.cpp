// The C interface: statuses and sentences, forms, memory rules, the caller's floating-point environment,
// threads.
#include <gtest/gtest.h>

#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "core/registry.h"
#include "params/add.h"
#include "params/mul.h"
#include "params/quantize.h"
#include "params/requantize.h"
#include "probe/inputs.h"
#include "samebit/samebit.h"

namespace samebit {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const sb_quant kA{0.008010663092136383f, 7}, kB{0.00622713053599f, -128}, kY{0.006873490754514933f, -128};

sb_context context(sb_profile profile = SB_ORT_X64_VNNI, const char* backend = nullptr) {
  const sb_options options{profile, backend};
  sb_context c;
  sb_error error;
  EXPECT_EQ(sb_context_init(&c, &options, &error), SB_OK) << error.message;
  return c;
}

sb_qlinear_add_plan add_plan(sb_profile profile = SB_ORT_X64_VNNI, const char* backend = nullptr) {
  const sb_context c = context(profile, backend);
  sb_qlinear_add_plan plan;
  sb_error error;
  EXPECT_EQ(sb_qlinear_add_prepare(&c, SB_INT8, kA, kB, kY, &plan, &error), SB_OK) << error.message;
  return plan;
}

/// The status and every piece of the sentence.
void expect(sb_status got, const sb_error& error, sb_status want, std::vector<std::string> pieces) {
  EXPECT_EQ(got, want) << error.message;
  EXPECT_EQ(error.status, got);
  for (const std::string& piece : pieces)
    EXPECT_NE(std::string(error.message).find(piece), std::string::npos)
        << piece << " not in: " << error.message;
}

TEST(Api, ReportedCaseOnEveryProfile) {
  const int8_t a = -8, b = -64;
  const int8_t want[SB_PROFILE_COUNT] = {-88, -88, -88, -87, -87, -87};
  for (int p = 0; p < SB_PROFILE_COUNT; ++p) {
    const sb_qlinear_add_plan plan = add_plan(static_cast<sb_profile>(p));
    int8_t y = 0;
    ASSERT_EQ(sb_qlinear_add_run(&plan, &a, &b, &y, 1, nullptr), SB_OK);
    EXPECT_EQ(y, want[p]) << sb_profile_name(static_cast<sb_profile>(p));
  }
}

TEST(Api, ContextErrors) {
  sb_context c;
  sb_error e;
  expect(sb_context_init(nullptr, nullptr, &e), e, SB_BAD_ARGUMENT, {"context is null"});
  sb_options o{static_cast<sb_profile>(7), nullptr};
  expect(sb_context_init(&c, &o, &e), e, SB_BAD_ARGUMENT, {"profile is 7"});
  o = {SB_EXACT, "quantum"};
  expect(sb_context_init(&c, &o, &e), e, SB_UNSUPPORTED, {"backend is \"quantum\"", "scalar"});
  EXPECT_EQ(sb_context_backend(&c), nullptr);
  for (size_t i = 0; i < sb_backend_count(); ++i) {
    sb_backend row;
    ASSERT_EQ(sb_backend_get(i, &row, &e), SB_OK);
    o.backend = row.name;
    if (row.usable) {
      ASSERT_EQ(sb_context_init(&c, &o, &e), SB_OK);
      EXPECT_STREQ(sb_context_backend(&c), row.name);
    } else {
      expect(sb_context_init(&c, &o, &e), e, SB_UNSUPPORTED, {row.name, row.missing});
    }
  }
  sb_backend row;
  expect(sb_backend_get(99, &row, &e), e, SB_BAD_ARGUMENT, {"index is 99"});
  sb_profile profile;
  expect(sb_profile_from_name("ort", &profile, &e), e, SB_BAD_ARGUMENT, {"\"ort\"", "ort_arm64_dot"});
  ASSERT_EQ(sb_profile_from_name("exact", &profile, &e), SB_OK);
  EXPECT_EQ(profile, SB_EXACT);
}

TEST(Api, EnvironmentCapsTheBackend) {
  sb_context c;
  sb_error e;
  setenv("SAMEBIT_BACKEND", "scalar", 1);
  ASSERT_EQ(sb_context_init(&c, nullptr, &e), SB_OK) << e.message;
  EXPECT_STREQ(sb_context_backend(&c), "scalar");
  setenv("SAMEBIT_BACKEND", "nonesuch", 1);
  expect(sb_context_init(&c, nullptr, &e), e, SB_UNSUPPORTED, {"SAMEBIT_BACKEND is \"nonesuch\""});
  unsetenv("SAMEBIT_BACKEND");
  ASSERT_EQ(sb_context_init(&c, nullptr, &e), SB_OK);
  EXPECT_STREQ(sb_context_backend(&c), backend(best_backend(backend_count() - 1)).name);
}

TEST(Api, PrepareErrorsNameTheArgument) {
  const sb_context c = context(), exact = context(SB_EXACT);
  sb_qlinear_add_plan plan;
  sb_error e;
  expect(sb_qlinear_add_prepare(nullptr, SB_INT8, kA, kB, kY, &plan, &e), e, SB_BAD_ARGUMENT,
         {"context is null"});
  expect(sb_qlinear_add_prepare(&c, SB_INT8, kA, kB, kY, nullptr, &e), e, SB_BAD_ARGUMENT, {"plan is null"});
  const sb_context zero{};
  expect(sb_qlinear_add_prepare(&zero, SB_INT8, kA, kB, kY, &plan, &e), e, SB_BAD_ARGUMENT,
         {"sb_context_init"});
  expect(sb_qlinear_add_prepare(&c, SB_INT32, kA, kB, kY, &plan, &e), e, SB_UNSUPPORTED,
         {"type is 3", "int32"});
  expect(sb_qlinear_add_prepare(&c, SB_INT8, kA, kB, {1, 300}, &plan, &e), e, SB_BAD_ZERO_POINT,
         {"y", "300", "127"});
  expect(sb_qlinear_add_prepare(&c, SB_UINT8, kA, kB, {1, 3}, &plan, &e), e, SB_BAD_ZERO_POINT,
         {"b", "-128", "255"});
  expect(sb_qlinear_add_prepare(&exact, SB_INT8, kA, {kNan, 0}, kY, &plan, &e), e, SB_BAD_SCALE,
         {"b scale is nan"});
  expect(sb_qlinear_add_prepare(&exact, SB_INT8, kA, kB, {0, 0}, &plan, &e), e, SB_BAD_SCALE,
         {"y scale is 0"});
  EXPECT_EQ(sb_qlinear_add_prepare(&c, SB_INT8, {kNan, 0}, kB, {0, 0}, &plan, &e),
            SB_OK);  // defined by the runtime

  sb_quantize_linear_plan q;
  expect(sb_quantize_linear_prepare(&c, SB_FLOAT32, kY, &q, &e), e, SB_UNSUPPORTED, {"y_type is 4"});
  sb_dequantize_linear_plan d;
  expect(sb_dequantize_linear_prepare(&c, SB_FLOAT32, kY, &d, &e), e, SB_UNSUPPORTED, {"x_type is 4"});
  EXPECT_EQ(sb_dequantize_linear_prepare(&c, SB_INT32, {1, 1 << 30}, &d, &e), SB_OK);

  sb_requantize_plan r;
  const float scale[2] = {0.5f, kNan};
  expect(sb_requantize_prepare(&c, SB_INT8, nullptr, 1, nullptr, 2, 0, &r, &e), e, SB_BAD_ARGUMENT,
         {"scale is null"});
  expect(sb_requantize_prepare(&c, SB_INT8, scale, 1, nullptr, 0, 0, &r, &e), e, SB_BAD_ARGUMENT,
         {"columns is 0"});
  expect(sb_requantize_prepare(&c, SB_INT8, scale, 2, nullptr, 3, 0, &r, &e), e, SB_BAD_ARGUMENT,
         {"scale_count is 2", "3"});
  expect(sb_requantize_prepare(&exact, SB_INT8, scale, 2, nullptr, 2, 0, &r, &e), e, SB_BAD_SCALE,
         {"scale[1] is nan"});
}

TEST(Api, RunErrors) {
  const sb_qlinear_add_plan plan = add_plan(), zero{};
  int8_t memory[64] = {}, other[64] = {};
  sb_error e;
  expect(sb_qlinear_add_run(nullptr, memory, memory, memory, 1, &e), e, SB_BAD_ARGUMENT, {"plan is null"});
  expect(sb_qlinear_add_run(&zero, memory, memory, memory, 1, &e), e, SB_BAD_ARGUMENT, {"prepare"});
  expect(sb_qlinear_add_run(&plan, nullptr, memory, memory, 1, &e), e, SB_BAD_ARGUMENT, {"a is null"});
  expect(sb_qlinear_add_run(&plan, memory, nullptr, memory, 1, &e), e, SB_BAD_ARGUMENT, {"b is null"});
  expect(sb_qlinear_add_run(&plan, memory, memory, nullptr, 1, &e), e, SB_BAD_ARGUMENT, {"y is null"});
  expect(sb_qlinear_add_run(&plan, memory, other, memory + 8, 16, &e), e, SB_BAD_ARGUMENT,
         {"y at", "overlaps a"});
  expect(sb_qlinear_add_run(&plan, other, memory + 4, memory, 16, &e), e, SB_BAD_ARGUMENT, {"overlaps b"});
  EXPECT_EQ(sb_qlinear_add_run(&plan, memory, other, memory, 64, &e), SB_OK);
  EXPECT_EQ(sb_qlinear_add_run(&plan, nullptr, nullptr, nullptr, 0, &e), SB_OK);
  EXPECT_EQ(sb_qlinear_add_kernel(&zero), nullptr);

  const sb_context c = context();
  sb_quantize_linear_plan q;
  ASSERT_EQ(sb_quantize_linear_prepare(&c, SB_INT8, kY, &q, &e), SB_OK);
  float x[16] = {};
  expect(sb_quantize_linear_run(&q, x, x, 16, &e), e, SB_BAD_ARGUMENT, {"overlaps x"});
  expect(sb_quantize_linear_run(&q, x, memory, SIZE_MAX / 2, &e), e, SB_BAD_ARGUMENT, {"n is"});
  const float scale = 0.5f;
  sb_requantize_plan r;
  ASSERT_EQ(sb_requantize_prepare(&c, SB_INT8, &scale, 1, nullptr, 1 << 20, 0, &r, &e), SB_OK);
  int32_t acc[4] = {};
  expect(sb_requantize_run(&r, acc, memory, SIZE_MAX >> 20, &e), e, SB_BAD_ARGUMENT, {"rows is"});
}

TEST(Api, ScalarFormsEqualTheReferenceForEveryLengthAndBackend) {
  const std::vector<uint8_t> codes = probe::draw_codes(1, 2000);
  uint64_t compared = 0;
  for (size_t i = 0; i < backend_count(); ++i) {
    if (backend(i).missing(cpu())) continue;
    for (int p = 0; p < SB_PROFILE_COUNT; ++p) {
      const auto profile = static_cast<sb_profile>(p);
      const sb_context c = context(profile, backend(i).name);
      for (uint64_t seed = 0; seed < 16; ++seed) {
        const probe::Quants q = probe::draw_quants(seed, 0, 255, profile != SB_EXACT);
        sb_qlinear_add_plan plan;
        ASSERT_EQ(sb_qlinear_add_prepare(&c, SB_UINT8, q.a, q.b, q.y, &plan, nullptr), SB_OK);
        const AddParams pa = prepare_add(profile, Form::scalar_a, q.a, q.b, q.y);
        const AddParams pb = prepare_add(profile, Form::scalar_b, q.a, q.b, q.y);
        for (const size_t n : {1, 63, 64, 200, 255, 256, 257, 511, 512, 513, 1023, 1024, 1500}) {
          const uint8_t scalar = static_cast<uint8_t>(37 * seed + n);
          std::vector<uint8_t> y(codes.begin(), codes.begin() + static_cast<long>(n));
          ASSERT_EQ(sb_qlinear_add_run_scalar_a(&plan, &scalar, y.data(), y.data(), n, nullptr), SB_OK);
          for (size_t k = 0; k < n; ++k) ASSERT_EQ(y[k], add_value(pa, scalar, codes[k], kRange<uint8_t>));
          ASSERT_EQ(sb_qlinear_add_run_scalar_b(&plan, codes.data(), &scalar, y.data(), n, nullptr), SB_OK);
          for (size_t k = 0; k < n; ++k) ASSERT_EQ(y[k], add_value(pb, codes[k], scalar, kRange<uint8_t>));
          compared += 2 * n;
        }
      }
    }
  }
  EXPECT_GT(compared, 100000u);
}

/// Results under an odd floating-point environment must be those of the default one, and the environment must
/// survive.
template <class Run>
void expect_environment_ignored(const Run& run) {
  const auto want = run();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const auto got = run();
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(after, mode);
    EXPECT_EQ(got, want) << "rounding mode " << mode;
  }
#if defined(__x86_64__)
  const unsigned odd = 0x1f80 | 0x8040;  // flush to zero, denormals are zero
  _mm_setcsr(odd);
  const auto got = run();
  const unsigned after = _mm_getcsr() & ~0x3fu;
  _mm_setcsr(0x1f80);
  EXPECT_EQ(after, odd);
  EXPECT_EQ(got, want) << "flush to zero";
#elif defined(__aarch64__)
  uint64_t after;
  __asm__ volatile("msr fpcr, %0" ::"r"(uint64_t{1} << 24));  // flush to zero
  const auto got = run();
  __asm__ volatile("mrs %0, fpcr" : "=r"(after));
  __asm__ volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
  EXPECT_EQ(after, uint64_t{1} << 24);
  EXPECT_EQ(got, want) << "flush to zero";
#endif
}

TEST(Api, CallersFloatingPointEnvironmentDoesNotMatter) {
  const std::vector<uint8_t> a = probe::draw_codes(1, 4096), b = probe::draw_codes(2, 4096);
  for (int p = 0; p < SB_PROFILE_COUNT; ++p) {
    const sb_context c = context(static_cast<sb_profile>(p));
    expect_environment_ignored([&] {
      std::vector<uint8_t> y(a.size());
      sb_qlinear_add_plan plan;
      sb_qlinear_add_prepare(&c, SB_UINT8, {0.5f, 3}, {0.7f, 9}, {0.9f, 100}, &plan, nullptr);
      sb_qlinear_add_run(&plan, a.data(), b.data(), y.data(), y.size(), nullptr);
      return y;
    });
    const std::vector<float> x = probe::draw_floats(7, 4096, 1e-39f);
    expect_environment_ignored([&] {
      std::vector<uint8_t> y(x.size());
      sb_quantize_linear_plan plan;
      sb_quantize_linear_prepare(&c, SB_UINT8, {1e-39f, 100}, &plan, nullptr);
      sb_quantize_linear_run(&plan, x.data(), y.data(), y.size(), nullptr);
      return y;
    });
    const std::vector<int32_t> acc = probe::draw_words(3, 4096);
    expect_environment_ignored([&] {
      std::vector<uint8_t> y(4 * acc.size());
      sb_dequantize_linear_plan plan;
      sb_dequantize_linear_prepare(&c, SB_INT32, {0x1p-140f, 77}, &plan, nullptr);
      std::vector<float> f(acc.size());
      sb_dequantize_linear_run(&plan, acc.data(), f.data(), f.size(), nullptr);
      std::memcpy(y.data(), f.data(), y.size());
      return y;
    });
    expect_environment_ignored([&] {
      std::vector<uint8_t> y(acc.size());
      const float scale = 0.0123f;
      sb_requantize_plan plan;
      sb_requantize_prepare(&c, SB_UINT8, &scale, 1, nullptr, 64, 100, &plan, nullptr);
      sb_requantize_run(&plan, acc.data(), y.data(), acc.size() / 64, nullptr);
      return y;
    });
  }
}

TEST(Api, PlansAreCopiedAndSharedByThreads) {
  const sb_qlinear_add_plan original = add_plan();
  const sb_qlinear_add_plan copy = original;
  const std::vector<uint8_t> a = probe::draw_codes(1, 10000), b = probe::draw_codes(2, 10000);
  std::vector<uint8_t> want(a.size());
  ASSERT_EQ(sb_qlinear_add_run(&original, a.data(), b.data(), want.data(), a.size(), nullptr), SB_OK);
  std::vector<std::vector<uint8_t>> got(8, std::vector<uint8_t>(a.size()));
  std::vector<std::thread> threads;
  for (auto& y : got)
    threads.emplace_back([&] { sb_qlinear_add_run(&copy, a.data(), b.data(), y.data(), y.size(), nullptr); });
  for (auto& t : threads) t.join();
  for (const auto& y : got) EXPECT_EQ(y, want);
}

TEST(Api, KernelNamesSayWhatRuns) {
  EXPECT_STREQ(sb_qlinear_add_kernel([] {
                 static const sb_qlinear_add_plan plan = add_plan(SB_ORT_ARM64_DOT, "scalar");
                 return &plan;
               }()),
               "scalar/add_s8.fixed21");
  const sb_context c = context();
  sb_quantize_linear_plan q;
  ASSERT_EQ(sb_quantize_linear_prepare(&c, SB_UINT8, {0.1f, 0}, &q, nullptr), SB_OK);
  EXPECT_NE(std::string(sb_quantize_linear_kernel(&q)).find("/quantize_u8.f32_reciprocal"),
            std::string::npos);
}

}  // namespace
}  // namespace samebit
