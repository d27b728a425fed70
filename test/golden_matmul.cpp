// Matrix products of test/golden/matmul.txt: inputs and the call, by the file's header.
#include <cstring>

#include "test/golden.h"

namespace samebit::golden {
namespace {

constexpr float kFactors[8] = {1, 0.5f, 0.25f, 1.5f, 0.75f, 2, 0.125f, 1.25f};

Bytes codes(SplitMix64* random, size_t count, bool extremes) {
  static const uint8_t kExtremes[4] = {0, 255, 128, 127};
  Bytes x(count);
  for (uint8_t& code : x) {
    const uint32_t u = random->high();
    code = extremes ? kExtremes[u & 3] : static_cast<uint8_t>(u);
  }
  return x;
}

}  // namespace

Answer matmul(const sb_context& context, const Case& c) {
  const std::string& op = c.word(0);
  const size_t m = static_cast<size_t>(c.integer(3)), n = static_cast<size_t>(c.integer(4)),
               k = static_cast<size_t>(c.integer(5));
  const bool extremes = c.integer(15) == 1, per_column = c.word(9) == "column";
  SplitMix64 random(static_cast<uint64_t>(c.integer(16)));
  const Bytes a = codes(&random, m * k, extremes), b = codes(&random, k * n, extremes);
  std::vector<int32_t> zero(c.word(7) == "none" ? 0 : c.word(7) == "tensor" ? 1 : n);
  for (int32_t& z : zero) z = (c.type(2) == SB_INT8 ? -128 : 0) + static_cast<int32_t>(random.high() & 255);
  std::vector<float> scale(per_column ? n : 1, c.real(10)), column_scale(n);
  if (per_column)
    for (float& s : scale) s *= kFactors[random.high() & 7];

  const std::string& form = c.word(14);
  const bool rows = form == "rows" || form == "all", columns = form == "columns" || form == "all";
  std::vector<int32_t> addend(form == "none" ? 0 : (rows ? m : 1) * (columns ? n : 1));
  for (int32_t& v : addend) {
    v = static_cast<int32_t>(random.high());
    if (v % 2 == 0) v >>= 14;
  }
  std::vector<float> bias;
  const float product = c.real(8) * c.real(10);
  for (const int32_t v : addend) bias.push_back(static_cast<float>(v) * product);

  const sb_matmul matmul{c.type(1), c.type(2), n, k, 0, 0, c.integer(6), zero.data(), zero.size()};
  const sb_matmul_scales scales{c.real(13), c.real(8), scale.data(), scale.size(), column_scale.data()};
  sb_gemm_plan plan;
  sb_error error;
  size_t width = 4;
  if (op == "MatMulInteger") {
    expect_ok(sb_matmul_integer_prepare(&context, &matmul, &plan, &error), error);
  } else if (op == "MatMulIntegerToFloat") {
    expect_ok(sb_matmul_integer_to_float_prepare(&context, &matmul, &scales,
                                                 bias.empty() ? nullptr : bias.data(), &plan, &error),
              error);
  } else if (op == "QGemmFloat") {
    expect_ok(sb_qgemm_prepare(&context, &matmul, &scales, SB_FLOAT32, {}, &plan, &error), error);
  } else {
    EXPECT_TRUE(op == "QGemm" || op == "QLinearMatMul") << op;
    width = 1;
    expect_ok(sb_qgemm_prepare(&context, &matmul, &scales, c.type(1), c.quant(11), &plan, &error), error);
  }
  sb_gemm_args args{};
  args.m = m;
  args.a = a.data();
  args.lda = k;
  args.b = b.data();
  args.ldb = n;
  if (op != "MatMulIntegerToFloat" && !addend.empty()) {
    args.c = addend.data();
    args.c_row_stride = !rows ? 0 : columns ? n : 1;
    args.c_column_stride = columns ? 1 : 0;
  }
  Answer answer{Bytes(m * n * width), m * n, sb_gemm_kernel(&plan)};
  args.y = answer.bytes.data();
  args.ldy = n;
  size_t bytes = 0;
  expect_ok(sb_gemm_workspace_bytes(&plan, &args, nullptr, &bytes, &error), error);
  Bytes workspace(bytes);
  expect_ok(sb_gemm_run(&plan, &args, nullptr, workspace.data(), bytes, &error), error);
  return answer;
}

}  // namespace samebit::golden
