// Which rule a profile gives, and the constants at the limits of a rule.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "params/add.h"
#include "params/mul.h"
#include "params/quantize.h"
#include "params/requantize.h"

namespace samebit {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

AddRule arm_rule(float ra, float rb) {
  return prepare_add(SB_ORT_ARM64_DOT, Form::vector, {ra, 0}, {rb, 0}, {1.0f, 0}).rule;
}

TEST(AddParams, EveryProfileHasItsRule) {
  const sb_quant q{0.5f, 1};
  EXPECT_EQ(prepare_add(SB_ORT_X64_VNNI, Form::vector, q, q, q).rule, AddRule::f32_fma);
  EXPECT_EQ(prepare_add(SB_ORT_X64_AVX2, Form::vector, q, q, q).rule, AddRule::f32_fma);
  EXPECT_EQ(prepare_add(SB_ORT_X64_SSE, Form::vector, q, q, q).rule, AddRule::f32_mul_add);
  EXPECT_EQ(prepare_add(SB_ORT_ARM64_DOT, Form::vector, q, q, q).rule, AddRule::fixed21);
  EXPECT_EQ(prepare_add(SB_ORT_ARM64_NEON, Form::vector, q, q, q).rule, AddRule::fixed21);
  EXPECT_EQ(prepare_add(SB_EXACT, Form::vector, q, q, q).rule, AddRule::exact);
}

TEST(AddParams, RatioOutsideFixedPointUsesDivide) {
  EXPECT_EQ(arm_rule(0x1p-14f, 1.0f), AddRule::fixed21);
  EXPECT_EQ(arm_rule(std::nextafterf(0x1p-14f, 0.0f), 1.0f), AddRule::f32_divide);
  EXPECT_EQ(arm_rule(std::nextafterf(256.0f, 0.0f), 1.0f),
            AddRule::f32_divide);  // the multiplier rounds up to 2^22
  EXPECT_EQ(arm_rule(255.9999f, 1.0f), AddRule::fixed21);
  EXPECT_EQ(arm_rule(256.0f, 1.0f), AddRule::f32_divide);
  EXPECT_EQ(arm_rule(-1.0f, 1.0f), AddRule::f32_divide);
  EXPECT_EQ(arm_rule(0x1p-11f, 0x1p-12f), AddRule::f32_divide);  // shift 32
  EXPECT_EQ(arm_rule(0x1p-10f, 0x1p-12f), AddRule::fixed21);     // shift 31
}

TEST(AddParams, NanRatioOfTheSecondOperandIsIgnoredOnArm) {
  EXPECT_EQ(arm_rule(kNan, 1.0f), AddRule::f32_divide);
  const AddParams p = prepare_add(SB_ORT_ARM64_DOT, Form::vector, {1.0f, 0}, {kNan, 0}, {1.0f, 5});
  ASSERT_EQ(p.rule, AddRule::fixed21);
  EXPECT_EQ(p.fixed21.mb, 0);
  EXPECT_EQ(add_value(p, 20, 0, kRange<int8_t>), 25);
}

TEST(AddParams, FormsExchangeOperands) {
  const sb_quant a{0.3f, 1}, b{0.7f, 2}, y{0.9f, 3};
  EXPECT_FALSE(prepare_add(SB_ORT_X64_VNNI, Form::scalar_b, a, b, y).swapped);
  EXPECT_TRUE(prepare_add(SB_ORT_X64_VNNI, Form::scalar_a, a, b, y).swapped);
  EXPECT_TRUE(prepare_add(SB_ORT_X64_SSE, Form::scalar_b, a, b, y).swapped);
  EXPECT_FALSE(prepare_add(SB_ORT_X64_SSE, Form::scalar_a, a, b, y).swapped);
}

// ONNX Runtime's own answers.
TEST(AddParams, FormsOfTheSameValuesDiffer) {
  const sb_quant a{0.013721438124775887f, -27}, b{0.026481106877326965f, 92}, y{0.001596352201886475f, -118};
  const auto value = [&](sb_profile profile, Form form) {
    return add_value(prepare_add(profile, form, a, b, y), -89, 125, kRange<int8_t>);
  };
  EXPECT_EQ(value(SB_ORT_X64_SSE, Form::vector), -104);
  EXPECT_EQ(value(SB_ORT_X64_SSE, Form::scalar_b), -103);
  EXPECT_EQ(value(SB_ORT_X64_SSE, Form::scalar_a), -104);
  for (Form form : {Form::vector, Form::scalar_a, Form::scalar_b}) {
    EXPECT_EQ(value(SB_ORT_X64_VNNI, form), -103);
    EXPECT_EQ(value(SB_ORT_ARM64_DOT, form), -103);
  }
}

TEST(AddParams, OverflowGoesDownOnX64AndUpOnArm) {
  const sb_quant a{1e30f, 0}, one{1.0f, 0};
  EXPECT_EQ(add_value(prepare_add(SB_ORT_X64_VNNI, Form::vector, a, one, one), 1, 1, kRange<int8_t>), -128);
  EXPECT_EQ(add_value(prepare_add(SB_ORT_ARM64_DOT, Form::vector, a, one, one), 1, 1, kRange<int8_t>), 127);
  EXPECT_EQ(
      add_value(prepare_add(SB_ORT_ARM64_DOT, Form::vector, {kNan, 0}, one, {1.0f, 5}), 1, 1, kRange<int8_t>),
      0);
}

TEST(MulParams, RoundingsDifferBetweenMachines) {
  const sb_quant a{0.0012995193246752024f, -122}, b{0.042162247002124786f, 19}, y{0.013795585371553898f, -47};
  EXPECT_EQ(mul_value(prepare_mul(SB_ORT_X64_VNNI, a, b, y), -61, -78, kRange<int8_t>), -70);
  EXPECT_EQ(mul_value(prepare_mul(SB_ORT_ARM64_DOT, a, b, y), -61, -78, kRange<int8_t>), -71);
}

TEST(QuantizeParams, ReciprocalOnlyWhereItIsProven) {
  EXPECT_TRUE(reciprocal_is_exact(1.0f));
  EXPECT_TRUE(reciprocal_is_exact(1.0f / 255));
  EXPECT_TRUE(reciprocal_is_exact(0.1f));
  EXPECT_FALSE(reciprocal_is_exact(0x1.000002p-7f));
  EXPECT_FALSE(reciprocal_is_exact(0x1.fffffep-1f));
  EXPECT_FALSE(reciprocal_is_exact(0.0f));
  EXPECT_FALSE(reciprocal_is_exact(-0.1f));
  EXPECT_FALSE(reciprocal_is_exact(0x1p101f));
  EXPECT_FALSE(reciprocal_is_exact(0x1p-101f));
  EXPECT_FALSE(reciprocal_is_exact(kInf));
  EXPECT_FALSE(reciprocal_is_exact(kNan));
}

TEST(RequantizeParams, NanIsTheOnlyDifference) {
  const float finite[] = {0.5f, 0.25f}, odd[] = {0.5f, kNan};
  EXPECT_EQ(prepare_requantize(SB_ORT_X64_VNNI, odd, 2), RequantizeRule::f32_clamp);
  EXPECT_EQ(prepare_requantize(SB_ORT_ARM64_DOT, finite, 2), RequantizeRule::f32_clamp);
  EXPECT_EQ(prepare_requantize(SB_ORT_ARM64_DOT, odd, 2), RequantizeRule::f32_saturate);
  EXPECT_EQ(requantize_value(RequantizeRule::f32_clamp, 7, 0, kNan, 3, kRange<int8_t>), -128);
  EXPECT_EQ(requantize_value(RequantizeRule::f32_saturate, 7, 0, kNan, 3, kRange<int8_t>), 3);
  EXPECT_EQ(requantize_value(RequantizeRule::f32_clamp, INT32_MAX, 1, 0x1p-31f, 0, kRange<int8_t>),
            -1);  // wraps
  EXPECT_EQ(requantize_value(RequantizeRule::exact, INT32_MAX, 1, 0x1p-31f, 0, kRange<int8_t>), 1);
}

}  // namespace
}  // namespace samebit
