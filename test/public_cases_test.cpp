// Inputs of public bug reports, with what ONNX Runtime 1.30.0 answers on the CPU classes, on every backend.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "samebit/samebit.h"

namespace samebit {
namespace {

constexpr sb_profile kX64[] = {SB_ORT_X64_VNNI, SB_ORT_X64_AVX2, SB_ORT_X64_SSE};
constexpr sb_profile kArm64[] = {SB_ORT_ARM64_DOT, SB_ORT_ARM64_NEON};
constexpr sb_profile kExact[] = {SB_EXACT};
constexpr sb_profile kOrt[] = {SB_ORT_X64_VNNI, SB_ORT_X64_AVX2, SB_ORT_X64_SSE, SB_ORT_ARM64_DOT,
                               SB_ORT_ARM64_NEON};
constexpr sb_profile kAll[] = {SB_ORT_X64_VNNI,  SB_ORT_X64_AVX2,   SB_ORT_X64_SSE,
                               SB_ORT_ARM64_DOT, SB_ORT_ARM64_NEON, SB_EXACT};

/// Calls check(context, "profile on backend") for the profiles and all usable backends.
template <size_t N, class Check>
void on_every_backend(const sb_profile (&profiles)[N], const Check& check) {
  size_t used = 0;
  for (size_t i = 0; i < sb_backend_count(); ++i) {
    sb_backend backend;
    ASSERT_EQ(sb_backend_get(i, &backend, nullptr), SB_OK);
    if (!backend.usable) continue;
    ++used;
    for (const sb_profile profile : profiles) {
      const sb_options options{profile, backend.name};
      sb_context context;
      sb_error error;
      ASSERT_EQ(sb_context_init(&context, &options, &error), SB_OK) << error.message;
      check(context, std::string(sb_profile_name(profile)) + " on " + backend.name);
    }
  }
  ASSERT_GT(used, 0u);
}

using Codes = std::vector<int8_t>;

template <size_t N>
void expect_sum(const sb_profile (&profiles)[N], sb_quant a, const Codes& x, sb_quant b, const Codes& z,
                sb_quant y, const Codes& expected) {
  on_every_backend(profiles, [&](const sb_context& context, const std::string& where) {
    sb_qlinear_add_plan plan;
    sb_error error;
    Codes result(x.size());
    ASSERT_EQ(sb_qlinear_add_prepare(&context, SB_INT8, a, b, y, &plan, &error), SB_OK) << error.message;
    const size_t shape[1] = {x.size()};  // ONNX shapes: two single values take the scalar form
    ASSERT_EQ(sb_qlinear_add_run_nd(&plan, x.data(), shape, 1, z.data(), shape, 1, result.data(), &error),
              SB_OK)
        << error.message;
    EXPECT_EQ(result, expected) << where;
  });
}

template <size_t N>
void expect_quantized(const sb_profile (&profiles)[N], const std::vector<float>& x, sb_quant y,
                      const Codes& expected) {
  on_every_backend(profiles, [&](const sb_context& context, const std::string& where) {
    sb_quantize_linear_plan plan;
    sb_error error;
    Codes result(x.size());
    ASSERT_EQ(sb_quantize_linear_prepare(&context, SB_INT8, y, &plan, &error), SB_OK) << error.message;
    ASSERT_EQ(sb_quantize_linear_run(&plan, x.data(), result.data(), x.size(), &error), SB_OK);
    EXPECT_EQ(result, expected) << where;
  });
}

template <size_t N>
void expect_requantized(const sb_profile (&profiles)[N], const std::vector<int32_t>& acc,
                        const std::vector<int32_t>& bias, float scale, int32_t zero_point,
                        const Codes& expected) {
  on_every_backend(profiles, [&](const sb_context& context, const std::string& where) {
    sb_requantize_plan plan;
    sb_error error;
    Codes result(acc.size());
    ASSERT_EQ(sb_requantize_prepare(&context, SB_INT8, &scale, 1, bias.empty() ? nullptr : bias.data(),
                                    acc.size(), zero_point, &plan, &error),
              SB_OK)
        << error.message;
    ASSERT_EQ(sb_requantize_run(&plan, acc.data(), result.data(), 1, &error), SB_OK);
    EXPECT_EQ(result, expected) << where;
  });
}

// https://github.com/microsoft/onnxruntime/issues/23202: -88 where a C program computed -87. The two other
// pairs are all of the 65,536 where the machines differ for these parameters.
constexpr sb_quant kA{0.008010663092136383f, 7}, kB{0.00622713053599f, -128}, kY{0.006873490754514933f, -128};

TEST(PublicCases, SumOffByOne) {
  const Codes a{-8, 37, 82}, b{-64, -38, -12};
  expect_sum(kX64, kA, a, kB, b, kY, {-88, -12, 64});
  expect_sum(kArm64, kA, a, kB, b, kY, {-87, -11, 65});
  expect_sum(kExact, kA, a, kB, b, kY, {-87, -12, 64});
}

// https://github.com/microsoft/onnxruntime/issues/32132: the same sum as DequantizeLinear, Add,
// QuantizeLinear is -87 everywhere, as long as the runtime does not fuse the three.
TEST(PublicCases, UnfusedSumIsTheFormula) {
  on_every_backend(kOrt, [](const sb_context& context, const std::string& where) {
    const auto dequantize = [&](sb_quant q, int8_t code) {
      sb_dequantize_linear_plan plan;
      float value = 0;
      EXPECT_EQ(sb_dequantize_linear_prepare(&context, SB_INT8, q, &plan, nullptr), SB_OK);
      EXPECT_EQ(sb_dequantize_linear_run(&plan, &code, &value, 1, nullptr), SB_OK);
      return value;
    };
    const float sum = dequantize(kA, -8) + dequantize(kB, -64);
    sb_quantize_linear_plan plan;
    int8_t code = 0;
    ASSERT_EQ(sb_quantize_linear_prepare(&context, SB_INT8, kY, &plan, nullptr), SB_OK);
    ASSERT_EQ(sb_quantize_linear_run(&plan, &sum, &code, 1, nullptr), SB_OK);
    EXPECT_EQ(code, -87) << where;
  });
}

// https://github.com/microsoft/onnxruntime/issues/25512: the reporter computes -112.50000794 and expects
// -113.
TEST(PublicCases, SumNextToATie) {
  const sb_quant a{0.02534690499305725f, -106}, b{0.035809919238090515f, -120}, y{0.0365859717130661f, -105};
  constexpr sb_profile kFma[] = {SB_ORT_X64_VNNI, SB_ORT_X64_AVX2};
  expect_sum(kX64, a, {-114}, b, {-122}, y, {-112});
  expect_sum(kFma, a, {-114, -114}, b, {-122, -122}, y, {-113, -113});
  expect_sum(kArm64, a, {-114}, b, {-122}, y, {-113});
  expect_sum(kExact, a, {-114}, b, {-122}, y, {-113});
}

// https://github.com/microsoft/onnxruntime/issues/32132: exact halves go to even on x64 and away from zero on
// arm64.
TEST(PublicCases, ExactHalves) {
  const sb_quant half{0.5f, 0}, one{1, 0};
  const Codes a{1, 3, -1, -3, 5, -5}, b(6, 0);
  expect_sum(kX64, half, a, half, b, one, {0, 2, 0, -2, 2, -2});
  expect_sum(kArm64, half, a, half, b, one, {1, 2, -1, -2, 3, -3});
  expect_sum(kExact, half, a, half, b, one, {0, 2, 0, -2, 2, -2});
}

// https://github.com/sonos/tract/pull/2850
TEST(PublicCases, QuantizeTiesToEven) {
  expect_quantized(kAll, {0.25f, 0.75f, 1.25f, 1.75f, -0.25f, -0.75f, -1.25f, -1.75f}, {0.5f, 0},
                   {0, 2, 2, 4, 0, -2, -2, -4});
}

// https://github.com/onnx/onnx/issues/5879: one vector register of them, and a partial one.
TEST(PublicCases, QuantizeNanInfinityAndOverflow) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> some{nan, inf, -inf, 1e30f, -1e30f, 3e9f, -3e9f, 2147483648.0f, 0.0f, -0.0f};
  const Codes answers{-128, 127, -128, 127, -128, 127, -128, 127, 3, 3};
  std::vector<float> x;
  Codes expected;
  for (int i = 0; i < 10; ++i) {
    x.insert(x.end(), some.begin(), some.end());
    expected.insert(expected.end(), answers.begin(), answers.end());
  }
  expect_quantized(kAll, some, {0.5f, 3}, answers);
  expect_quantized(kAll, x, {0.5f, 3}, expected);
}

// https://github.com/tensorflow/tensorflow/issues/102943: 585 * M is 6.50000047 in real numbers, but
// exactly 6.5 in float32 when M is float32((a_scale * b_scale) / y_scale), one rounding each. M itself is
// below the real quotient.
TEST(PublicCases, RequantizeOnTheTie) {
  const float product = 0.05296124517917633f * 0.024093778803944588f;
  expect_requantized(kOrt, {585}, {}, product / 0.11484327912330627f, -126, {-120});
}

// https://github.com/microsoft/onnxruntime/issues/21000: acc + bias wraps. A saturating sum would give +4
// first.
TEST(PublicCases, RequantizeBiasWraps) {
  const float scale = 0.019999999552965164f * 0.009999999776482582f / 100000.0f;
  const int32_t most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min();
  expect_requantized(kOrt, {129032, 129032}, {most, least}, scale, 0, {-4, -4});
}

}  // namespace
}  // namespace samebit
