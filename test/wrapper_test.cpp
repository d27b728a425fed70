// The C++ wrapper: the same answers as the C interface, errors as values.
#include <gtest/gtest.h>

#include <samebit/samebit.hpp>
#include <string>
#include <vector>

namespace {

TEST(Wrapper, ComputesAndReportsErrors) {
  const auto context = samebit::Context::create(samebit::Profile::ort_arm64_dot);
  ASSERT_TRUE(context) << context.message();
  EXPECT_EQ(context->profile(), samebit::Profile::ort_arm64_dot);
  const auto add = samebit::QLinearAdd<std::int8_t>::prepare(
      *context, {0.008010663092136383f, 7}, {0.00622713053599f, -128}, {0.006873490754514933f, -128});
  ASSERT_TRUE(add) << add.message();
  const std::int8_t a[3] = {-8, 0, 20}, b[3] = {-64, -100, -128};
  std::int8_t y[3];
  ASSERT_TRUE(add->run(a, b, y, 3));
  EXPECT_EQ(y[0], -87);
  ASSERT_TRUE(add->run_scalar_b(a, -64, y, 1));
  EXPECT_EQ(y[0], -87);
  const auto failed = add->run(nullptr, b, y, 3);
  EXPECT_EQ(failed.status(), SB_BAD_ARGUMENT);
  EXPECT_NE(std::string(failed.message()).find("a is null"), std::string::npos);

  const auto unknown = samebit::Context::create(samebit::Profile::exact, "nonesuch");
  EXPECT_FALSE(unknown);
  EXPECT_EQ(unknown.status(), SB_UNSUPPORTED);
}

TEST(Wrapper, QuantizesAndBack) {
  const auto context = samebit::Context::create();
  ASSERT_TRUE(context);
  const auto quantize = samebit::QuantizeLinear<std::uint8_t>::prepare(*context, {0.5f, 10});
  const auto dequantize = samebit::DequantizeLinear<std::uint8_t>::prepare(*context, {0.5f, 10});
  ASSERT_TRUE(quantize && dequantize);
  const float x[4] = {0.25f, 0.75f, -100.0f, 7.0f};
  std::uint8_t codes[4];
  float back[4];
  ASSERT_TRUE(quantize->run(x, codes, 4));
  EXPECT_EQ(codes[0], 10);  // 0.5 rounds to even, then the zero point
  EXPECT_EQ(codes[1], 12);
  EXPECT_EQ(codes[2], 0);
  ASSERT_TRUE(dequantize->run(codes, back, 4));
  EXPECT_EQ(back[3], 7.0f);

  const std::int32_t acc[4] = {1, 3, 5, 1000}, bias[2] = {0, 2};
  const float scale[2] = {0.5f, 0.25f};
  const auto requantize = samebit::Requantize<std::int8_t>::per_column(*context, scale, bias, 2, 1);
  ASSERT_TRUE(requantize) << requantize.message();
  std::int8_t y[4];
  ASSERT_TRUE(requantize->run(acc, y, 2));
  EXPECT_EQ(y[0], 1);    // 0.5 -> 0
  EXPECT_EQ(y[1], 2);    // 1.25 -> 1
  EXPECT_EQ(y[2], 3);    // 2.5 -> 2
  EXPECT_EQ(y[3], 127);  // saturates
  const auto mul = samebit::QLinearMul<std::uint8_t>::prepare(*context, {1, 0}, {1, 0}, {1, 300});
  EXPECT_EQ(mul.status(), SB_BAD_ZERO_POINT);
}

TEST(Wrapper, MatrixProducts) {
  const auto context = samebit::Context::create();
  ASSERT_TRUE(context);
  const std::uint8_t a[6] = {1, 2, 3, 4, 5, 6};
  const std::int8_t b[6] = {1, -1, 2, -2, 3, -3};  // 3 x 2
  const float scale = 0.5f, bias[2] = {100.0f, 200.0f};
  const sb_matmul matmul{SB_UINT8, SB_INT8, 2, 3, 0, 0, 1, nullptr, 0};
  const sb_matmul_scales scales{1, 1, &scale, 1, nullptr};
  const auto integer = samebit::Gemm::matmul_integer(*context, matmul);
  const auto codes = samebit::Gemm::qgemm<std::int8_t>(*context, matmul, scales, {1.0f, 3});
  const auto real = samebit::Gemm::to_float(*context, matmul, scales, bias);
  ASSERT_TRUE(integer && codes && real);
  const auto packed = integer->pack(b, 2);
  ASSERT_TRUE(packed) << packed.message();
  std::int32_t y[4];
  std::int8_t q[4];
  float f[4];
  sb_gemm_args args{2, a, 3, nullptr, 0, packed->data(), packed->bytes(), nullptr, 0, 0, y, 2};
  const auto bytes = integer->workspace_bytes(args);
  ASSERT_TRUE(bytes);
  std::vector<char> workspace(*bytes + 1);
  ASSERT_TRUE(integer->run(args, workspace.data(), workspace.size()));
  EXPECT_EQ(y[0], 8);  // 0 * 1 + 1 * 2 + 2 * 3
  EXPECT_EQ(y[3], -26);
  // One packed B serves every output.
  args.y = q;
  ASSERT_TRUE(codes->run(args, workspace.data(), workspace.size()));
  EXPECT_EQ(q[0], 7);
  EXPECT_EQ(q[3], -10);
  args.y = f;
  ASSERT_TRUE(real->run(args, workspace.data(), workspace.size()));
  EXPECT_EQ(f[0], 104.0f);
  EXPECT_EQ(f[3], 187.0f);
  EXPECT_EQ(integer->run(args, nullptr, 0).status(), *bytes > 0 ? SB_SMALL_BUFFER : SB_OK);
  const auto wrong =
      samebit::Gemm::matmul_integer(*context, {SB_UINT8, SB_INT8, 2, 3, 0, 0, 256, nullptr, 0});
  EXPECT_EQ(wrong.status(), SB_BAD_ZERO_POINT);
}

}  // namespace
