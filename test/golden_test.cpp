// What ONNX Runtime 1.30.0 answered on six CPU classes (test/golden, made by scripts/golden), repeated
// through the C interface by every usable backend and compared by digest. Each file's header describes its
// columns and inputs.
#include "test/golden.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "samebit/samebit.h"

namespace samebit {
namespace {

using golden::Answer;
using golden::Bytes;
using golden::Case;
using golden::expect_ok;
using golden::SplitMix64;

struct CpuClass {
  const char* name;
  sb_profile profile;
};
/// The digest columns, in the files' order.
constexpr std::array<CpuClass, golden::kCpuClasses> kClasses{{{"x64-vnni", SB_ORT_X64_VNNI},
                                                              {"x64-avx2", SB_ORT_X64_AVX2},
                                                              {"x64-sse", SB_ORT_X64_SSE},
                                                              {"arm64-neon", SB_ORT_ARM64_NEON},
                                                              {"arm64-dot", SB_ORT_ARM64_DOT},
                                                              {"arm64-max", SB_ORT_ARM64_DOT}}};

struct Count {
  uint64_t cases = 0, values = 0, differences = 0;
};
std::array<Count, kClasses.size()> g_counts;

// ------------------------------------------------------------------------------------- two operands
template <class Plan, auto kPrepare, auto kRun, auto kRunNd, auto kKernel>
Answer pairs(const sb_context& context, const Case& c) {
  constexpr size_t kSide = 256, kAll = kSide * kSide;
  static const std::array<Bytes, 3> kCodes = [] {
    std::array<Bytes, 3> codes{Bytes(kAll), Bytes(kAll), Bytes(kSide)};
    for (size_t k = 0; k < kAll; ++k) {
      codes[0][k] = static_cast<uint8_t>(k % kSide);
      codes[1][k] = static_cast<uint8_t>(k / kSide);
    }
    std::copy_n(codes[0].begin(), kSide, codes[2].begin());
    return codes;
  }();
  constexpr size_t kColumn[2] = {kSide, 1}, kRow[2] = {1, kSide};
  Plan plan;
  sb_error error;
  Answer answer{Bytes(kAll), kAll, ""};
  expect_ok(kPrepare(&context, c.type(), c.quant(2), c.quant(4), c.quant(6), &plan, &error), error);
  if (c.word(1) == "vector") {
    expect_ok(kRun(&plan, kCodes[0].data(), kCodes[1].data(), answer.bytes.data(), kAll, &error), error);
  } else {
    const bool scalar_a = c.word(1) == "scalar_a";
    EXPECT_TRUE(scalar_a || c.word(1) == "scalar_b");
    expect_ok(kRunNd(&plan, kCodes[2].data(), scalar_a ? kColumn : kRow, 2, kCodes[2].data(),
                     scalar_a ? kRow : kColumn, 2, answer.bytes.data(), &error),
              error);
  }
  answer.kernel = kKernel(&plan);
  return answer;
}

// ------------------------------------------------------------------------------ float32 and integers
Answer quantize(const sb_context& context, const Case& c) {
  const float scale = c.real(1);
  std::vector<uint32_t> bits;
  SplitMix64 random(static_cast<uint64_t>(c.integer(3)));
  for (int32_t n = c.integer(4); n > 0; --n) bits.push_back(random.high());
  for (int k = -300; k < 300; ++k) {
    const uint32_t base = std::bit_cast<uint32_t>((static_cast<float>(k) + 0.5f) * scale);
    for (uint32_t step = 0; step < 5; ++step) bits.push_back(base - 2 + step);
  }
  for (const uint32_t magnitude :
       {0x00000000u, 0x7F800000u, 0x7FC00000u, 0x7F800001u, 0x7F7FFFFFu, 0x00000001u, 0x00800000u,
        0x4F000000u, 0x501502F9u, 0x3F000000u, 0x3FC00000u, 0x40200000u}) {
    bits.push_back(magnitude);
    bits.push_back(magnitude | 0x80000000u);
  }
  std::vector<float> x(bits.size());
  std::memcpy(x.data(), bits.data(), bits.size() * sizeof(float));

  sb_quantize_linear_plan plan;
  sb_error error;
  Answer answer{Bytes(x.size()), x.size(), ""};
  expect_ok(sb_quantize_linear_prepare(&context, c.type(), c.quant(1), &plan, &error), error);
  expect_ok(sb_quantize_linear_run(&plan, x.data(), answer.bytes.data(), x.size(), &error), error);
  answer.kernel = sb_quantize_linear_kernel(&plan);
  return answer;
}

Answer dequantize(const sb_context& context, const Case& c) {
  Bytes codes;
  std::vector<int32_t> words;
  if (c.type() == SB_INT32) {
    SplitMix64 random(static_cast<uint64_t>(c.integer(3)));
    for (int32_t n = c.integer(4); n > 0; --n) words.push_back(static_cast<int32_t>(random.high()));
    for (const int32_t word :
         {INT32_MIN, INT32_MAX, 0, 1, -1, 16777217, -16777217, 16777219, -16777219, 1073741825, -1073741825})
      words.push_back(word);
  } else {
    for (unsigned code = 0; code < 256; ++code) codes.push_back(static_cast<uint8_t>(code));
  }
  const size_t n = words.size() + codes.size();
  const void* x = words.empty() ? static_cast<const void*>(codes.data()) : words.data();
  std::vector<float> y(n);
  sb_dequantize_linear_plan plan;
  sb_error error;
  expect_ok(sb_dequantize_linear_prepare(&context, c.type(), c.quant(1), &plan, &error), error);
  expect_ok(sb_dequantize_linear_run(&plan, x, y.data(), n, &error), error);
  Answer answer{Bytes(n * sizeof(float)), n, sb_dequantize_linear_kernel(&plan)};
  std::memcpy(answer.bytes.data(), y.data(), answer.bytes.size());
  return answer;
}

Answer requantize(const sb_context& context, const Case& c) {
  constexpr float kFactors[8] = {1, 0.5f, 0.25f, 1.5f, 0.75f, 2, 0.125f, 1.25f};
  constexpr int32_t kEdges[4] = {INT32_MIN, INT32_MAX, INT32_MIN + 100, INT32_MAX - 100};
  const bool per_column = c.word(1) == "column";
  EXPECT_TRUE(per_column || c.word(1) == "tensor");
  const size_t n = static_cast<size_t>(c.integer(5));
  std::vector<int32_t> acc(n), bias(n);
  std::vector<float> scale(n);
  SplitMix64 random(static_cast<uint64_t>(c.integer(4)));
  for (size_t i = 0; i < n; ++i) {
    const uint64_t u = random.next();
    const int32_t v = static_cast<int32_t>(static_cast<uint32_t>(u >> 32));
    const int32_t choice[4] = {v, v >> 12, v >> 20, kEdges[u >> 10 & 3]};
    acc[i] = static_cast<int32_t>(u & 255) - 128;
    bias[i] = choice[u >> 8 & 3];
    scale[i] = per_column ? c.real(3) * kFactors[u >> 16 & 7] : c.real(3);
  }
  sb_requantize_plan plan;
  sb_error error;
  Answer answer{Bytes(n), n, ""};
  expect_ok(sb_requantize_prepare(&context, c.type(), scale.data(), per_column ? n : 1, bias.data(), n,
                                  c.integer(2), &plan, &error),
            error);
  expect_ok(sb_requantize_run(&plan, acc.data(), answer.bytes.data(), 1, &error), error);
  answer.kernel = sb_requantize_kernel(&plan);
  return answer;
}

// ------------------------------------------------------------------------------------------- the test
std::string digest(const Bytes& bytes) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(XXH64(bytes.data(), bytes.size(), 0)));
  return text;
}

struct Operator {
  const char* name;
  size_t parameters;  // fields before the digests
  size_t least;       // cases
  Answer (*run)(const sb_context&, const Case&);
};

void PrintTo(const Operator& op, std::ostream* out) { *out << op.name; }

const Operator kOperators[] = {
    {"qlinear_add", 8, 360,
     pairs<sb_qlinear_add_plan, sb_qlinear_add_prepare, sb_qlinear_add_run, sb_qlinear_add_run_nd,
           sb_qlinear_add_kernel>},
    {"qlinear_mul", 8, 100,
     pairs<sb_qlinear_mul_plan, sb_qlinear_mul_prepare, sb_qlinear_mul_run, sb_qlinear_mul_run_nd,
           sb_qlinear_mul_kernel>},
    {"quantize_linear", 5, 100, quantize},
    {"dequantize_linear", 5, 60, dequantize},
    {"requantize", 6, 100, requantize},
    {"matmul", 17, 190, golden::matmul},
    {"dynamic_quantize", 12, 140, golden::dynamic_quantize},
};

std::vector<Case> read(const Operator& op) {
  std::vector<Case> cases;
  std::ifstream file(std::string(SAMEBIT_TEST_DATA "/golden/") + op.name + ".txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    cases.emplace_back(line);
    EXPECT_TRUE(cases.back().complete(op.parameters)) << "not a case: " << line;
  }
  return cases;
}

class Golden : public testing::TestWithParam<Operator> {};

TEST_P(Golden, EqualsOnnxRuntime) {
  const Operator& op = GetParam();
  const std::vector<Case> cases = read(op);
  ASSERT_GE(cases.size(), op.least);
  ASSERT_FALSE(HasFailure());

  for (size_t b = 0; b < sb_backend_count(); ++b) {
    sb_backend backend;
    ASSERT_EQ(sb_backend_get(b, &backend, nullptr), SB_OK);
    if (!backend.usable) continue;
    std::array<sb_context, kClasses.size()> contexts;
    for (size_t k = 0; k < kClasses.size(); ++k) {
      const sb_options options{kClasses[k].profile, backend.name};
      sb_error error;
      ASSERT_EQ(sb_context_init(&contexts[k], &options, &error), SB_OK) << error.message;
    }
    int shown = 0;
    for (const Case& c : cases) {
      Answer answer{};
      std::string got;
      for (size_t k = 0; k < kClasses.size(); ++k) {
        if (c.digest(k) == "-") continue;  // that machine has no profile
        if (k == 0 || kClasses[k].profile != kClasses[k - 1].profile) {
          answer = op.run(contexts[k], c);
          got = digest(answer.bytes);
        }
        ++g_counts[k].cases;
        g_counts[k].values += answer.values;
        if (got == c.digest(k)) continue;
        ++g_counts[k].differences;
        if (++shown <= 10)
          ADD_FAILURE() << op.name << " " << kClasses[k].name << ", " << answer.kernel << " gives " << got
                        << "\n"
                        << c.line();
      }
    }
    EXPECT_LE(shown, 10) << "and more, " << shown << " in all on " << backend.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Golden, testing::ValuesIn(kOperators),
                         [](const testing::TestParamInfo<Operator>& of) {
                           return std::string(of.param.name);
                         });

/// Prints what was really compared, after all tests. A case counts once for every backend that ran it.
class Summary : public testing::Environment {
 public:
  void TearDown() override {
    for (size_t k = 0; k < kClasses.size(); ++k)
      std::printf("golden   %-10s %5llu cases, %11llu values, %llu differences\n", kClasses[k].name,
                  static_cast<unsigned long long>(g_counts[k].cases),
                  static_cast<unsigned long long>(g_counts[k].values),
                  static_cast<unsigned long long>(g_counts[k].differences));
  }
};
const testing::Environment* const g_summary = testing::AddGlobalTestEnvironment(new Summary);

}  // namespace
}  // namespace samebit
