// N-d broadcasting: shapes, the operand roles, and every element against a loop over indices.
#include "core/broadcast.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probe/inputs.h"
#include "samebit/samebit.h"

namespace samebit {
namespace {

using Dims = std::vector<size_t>;

size_t count(const Dims& d) {
  size_t n = 1;
  for (size_t x : d) n *= x;
  return n;
}

Form form(const Dims& a, const Dims& b) { return broadcast_form(a.data(), a.size(), b.data(), b.size()); }

TEST(Broadcast, RolesOfOnnxRuntime) {
  EXPECT_EQ(form({}, {3}), Form::scalar_a);
  EXPECT_EQ(form({3}, {}), Form::scalar_b);
  EXPECT_EQ(form({}, {}), Form::scalar_a);
  EXPECT_EQ(form({1, 1}, {3, 1}), Form::scalar_a);
  EXPECT_EQ(form({2, 3, 4}, {4}), Form::vector);
  EXPECT_EQ(form({2, 3, 4, 5}, {3, 1, 1}), Form::scalar_b);
  EXPECT_EQ(form({3, 1}, {1, 4}), Form::scalar_a);
  EXPECT_EQ(form({1}, {1}), Form::scalar_a);
}

TEST(Broadcast, ShapeErrors) {
  const size_t two = 2, three = 3, huge[2] = {SIZE_MAX / 2, 4};
  size_t y[SB_MAX_RANK], rank, size;
  sb_error e;
  EXPECT_EQ(sb_broadcast_shape(&two, 1, &three, 1, y, &rank, &size, &e), SB_BAD_ARGUMENT);
  EXPECT_NE(std::string(e.message).find("2 in a and 3 in b"), std::string::npos) << e.message;
  EXPECT_EQ(sb_broadcast_shape(huge, 2, &three, 0, y, &rank, &size, &e), SB_BAD_ARGUMENT);
  EXPECT_NE(std::string(e.message).find("overflow"), std::string::npos) << e.message;
  EXPECT_EQ(sb_broadcast_shape(nullptr, 2, &three, 1, y, &rank, &size, &e), SB_BAD_ARGUMENT);
  EXPECT_EQ(sb_broadcast_shape(huge, SB_MAX_RANK + 1, &three, 1, y, &rank, &size, &e), SB_UNSUPPORTED);
  const size_t a[3] = {4, 1, 3}, b[2] = {5, 1};
  ASSERT_EQ(sb_broadcast_shape(a, 3, b, 2, y, &rank, &size, &e), SB_OK);
  EXPECT_EQ(rank, 3u);
  EXPECT_EQ(size, 60u);
  EXPECT_EQ(y[0], 4u);
  EXPECT_EQ(y[1], 5u);
  EXPECT_EQ(y[2], 3u);
}

/// Offset of output index `flat` in an operand.
size_t offset(const Dims& dims, const Dims& out, size_t flat) {
  size_t result = 0, stride = 1;
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t d = out.size() - 1 - i, at = flat % out[d];
    flat /= out[d];
    if (i < dims.size()) {
      const size_t extent = dims[dims.size() - 1 - i];
      result += (extent == 1 ? 0 : at) * stride;
      stride *= extent;
    }
  }
  return result;
}

TEST(Broadcast, EveryElementEqualsTheReference) {
  const std::vector<std::pair<Dims, Dims>> shapes = {{{}, {}},
                                                     {{}, {7}},
                                                     {{7}, {}},
                                                     {{1}, {1}},
                                                     {{3, 1}, {1, 4}},
                                                     {{1, 4}, {3, 1}},
                                                     {{2, 3, 4}, {4}},
                                                     {{4}, {2, 3, 4}},
                                                     {{2, 3, 4, 5}, {3, 1, 1}},
                                                     {{3, 1, 1}, {2, 3, 4, 5}},
                                                     {{2, 3, 20, 20}, {3, 1, 1}},
                                                     {{5, 300}, {300}},
                                                     {{5, 300}, {5, 1}},
                                                     {{5, 1}, {5, 1200}},
                                                     {{1, 1}, {3, 1}},
                                                     {{300, 1}, {1, 700}},
                                                     {{2, 1, 3, 1, 2}, {4, 1, 5, 1}},
                                                     {{0, 3}, {1, 3}},
                                                     {{1000}, {1000}},
                                                     {{3, 1, 1, 1}, {2, 2, 1}},
                                                     {{1, 1, 1, 5}, {9, 1, 5}},
                                                     {{128, 1}, {129}},
                                                     {{1, 2, 128}, {2, 1, 1}}};
  uint64_t compared = 0;
  for (int p = 0; p < SB_PROFILE_COUNT; ++p) {
    const auto profile = static_cast<sb_profile>(p);
    const sb_options options{profile, nullptr};
    sb_context c;
    ASSERT_EQ(sb_context_init(&c, &options, nullptr), SB_OK);
    const sb_quant qa{0.013721438124775887f, -27}, qb{0.026481106877326965f, 92},
        qy{0.011596352201886475f, -118};
    sb_qlinear_add_plan plan;
    ASSERT_EQ(sb_qlinear_add_prepare(&c, SB_INT8, qa, qb, qy, &plan, nullptr), SB_OK);
    for (const auto& [a_dims, b_dims] : shapes) {
      Dims y_dims(std::max(a_dims.size(), b_dims.size()));
      size_t rank, size;
      ASSERT_EQ(sb_broadcast_shape(a_dims.data(), a_dims.size(), b_dims.data(), b_dims.size(), y_dims.data(),
                                   &rank, &size, nullptr),
                SB_OK);
      const auto a = probe::draw_codes(3, count(a_dims)), b = probe::draw_codes(4, count(b_dims));
      std::vector<uint8_t> y(size);
      sb_error error;
      ASSERT_EQ(sb_qlinear_add_run_nd(&plan, a.data(), a_dims.data(), a_dims.size(), b.data(), b_dims.data(),
                                      b_dims.size(), y.data(), &error),
                SB_OK)
          << error.message;
      const AddParams params = prepare_add(profile, form(a_dims, b_dims), qa, qb, qy);
      for (size_t i = 0; i < size; ++i) {
        const auto av = static_cast<int8_t>(a[offset(a_dims, y_dims, i)]);
        const auto bv = static_cast<int8_t>(b[offset(b_dims, y_dims, i)]);
        ASSERT_EQ(static_cast<int8_t>(y[i]), add_value(params, av, bv, kRange<int8_t>)) << "element " << i;
      }
      compared += size;
    }
  }
  EXPECT_GT(compared, 1000000u);
}

TEST(Broadcast, InPlaceOnlyWhereTheShapeIsTheResults) {
  sb_context c;
  ASSERT_EQ(sb_context_init(&c, nullptr, nullptr), SB_OK);
  sb_qlinear_mul_plan plan;
  ASSERT_EQ(sb_qlinear_mul_prepare(&c, SB_UINT8, {0.1f, 3}, {0.2f, 4}, {0.3f, 5}, &plan, nullptr), SB_OK);
  std::vector<uint8_t> a = probe::draw_codes(1, 60), b = probe::draw_codes(2, 4), y(60);
  const size_t a_dims[2] = {15, 4}, b_dims[1] = {4};
  ASSERT_EQ(sb_qlinear_mul_run_nd(&plan, a.data(), a_dims, 2, b.data(), b_dims, 1, y.data(), nullptr), SB_OK);
  std::vector<uint8_t> small(60, 7);
  sb_error e;
  EXPECT_EQ(sb_qlinear_mul_run_nd(&plan, a.data(), a_dims, 2, small.data(), b_dims, 1, small.data(), &e),
            SB_BAD_ARGUMENT);
  ASSERT_EQ(sb_qlinear_mul_run_nd(&plan, a.data(), a_dims, 2, b.data(), b_dims, 1, a.data(), &e), SB_OK)
      << e.message;
  EXPECT_EQ(a, y);
}

}  // namespace
}  // namespace samebit
