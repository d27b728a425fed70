// Matrix products: rule exact, packed weights, bad arguments.
#include <limits>
#include <memory>

#include "test/gemm_product.h"

namespace samebit {
namespace {

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

}  // namespace
}  // namespace samebit
