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

Answer dynamic_quantize(const sb_context& context, const Case& c) {
  static const uint32_t kSpecials[8] = {0x7FC00000, 0xFFC00000, 0x7F800000, 0xFF800000,
                                        0x7F7FFFFF, 0xFF7FFFFF, 0,          0x80000000};
  const size_t m = static_cast<size_t>(c.integer(3)), n = static_cast<size_t>(c.integer(4)),
               k = static_cast<size_t>(c.integer(5));
  const bool product = c.word(0) == "DynamicQuantizeMatMul";
  SplitMix64 random(static_cast<uint64_t>(c.integer(11)));
  std::vector<uint32_t> bits(product ? m * k : n);
  for (uint32_t& x : bits) {
    const uint32_t u = random.high();
    const auto number = [](float v) { return std::bit_cast<uint32_t>(v); };
    switch (c.integer(10)) {
      case 0:
        x = number(static_cast<float>(static_cast<int32_t>(u)) * 0x1p-20f);
        break;
      case 1:
        x = u & 15 ? number(static_cast<float>(static_cast<int32_t>(u)) * 0x1p-20f) : kSpecials[u >> 4 & 7];
        break;
      case 2:
        x = u & 0x807FFFFF;
        break;
      case 3:
        x = u;
        break;
      case 4:
        x = number(1.0f + static_cast<float>(u >> 8) * 0x1p-10f);
        break;
      default:
        x = 0;
    }
  }
  const auto* a = reinterpret_cast<const float*>(bits.data());
  sb_error error;
  if (!product) {
    Answer answer{Bytes(n), n, "DynamicQuantizeLinear"};
    sb_quant q{};
    expect_ok(sb_dynamic_quantize_linear(&context, a, answer.bytes.data(), n, &q, &error), error);
    // A NaN scale comes with any payload: the one that stands for all.
    if (q.scale != q.scale) q.scale = std::bit_cast<float>(0x7FC00000u);
    answer.bytes.resize(n + 5);
    std::memcpy(answer.bytes.data() + n, &q.scale, 4);
    answer.bytes[n + 4] = static_cast<uint8_t>(q.zero_point);
    return answer;
  }
  const Bytes b = codes(&random, k * n, false);
  const bool per_column = c.word(7) == "column";
  std::vector<int32_t> zero(c.word(6) == "none" ? 0 : c.word(6) == "tensor" ? 1 : n);
  for (int32_t& z : zero) z = (c.type(2) == SB_INT8 ? -128 : 0) + static_cast<int32_t>(random.high() & 255);
  std::vector<float> scale(per_column ? n : 1, c.real(8)), bias(c.word(9) == "bias" ? n : 0);
  if (per_column)
    for (float& s : scale) s *= kFactors[random.high() & 7];
  for (float& v : bias) v = static_cast<float>(static_cast<int32_t>(random.high())) * 0x1p-16f;
  const sb_matmul matmul{SB_UINT8, c.type(2), n, k, 0, 0, 0, zero.data(), zero.size()};
  const sb_matmul_scales scales{1, 1, scale.data(), scale.size(), nullptr};
  sb_gemm_plan plan;
  expect_ok(sb_dynamic_quantize_matmul_prepare(&context, &matmul, &scales,
                                               bias.empty() ? nullptr : bias.data(), &plan, &error),
            error);
  std::vector<float> y(m * n);
  sb_gemm_args args{};
  args.m = m;
  args.a = a;
  args.lda = k;
  args.b = b.data();
  args.ldb = n;
  args.y = y.data();
  args.ldy = n;
  size_t bytes = 0;
  expect_ok(sb_dynamic_quantize_matmul_workspace_bytes(&plan, &args, nullptr, &bytes, &error), error);
  Bytes workspace(bytes);
  expect_ok(sb_dynamic_quantize_matmul_run(&plan, &args, nullptr, workspace.data(), bytes, &error), error);
  Answer answer{Bytes(m * n * 4), m * n, "DynamicQuantizeMatMul"};
  for (float& v : y)
    if (v != v) v = std::bit_cast<float>(0x7FC00000u);
  std::memcpy(answer.bytes.data(), y.data(), answer.bytes.size());
  return answer;
}

}  // namespace samebit::golden
