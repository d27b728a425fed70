// Calls the installed library from C++17: broadcasting, per-column requantization, error messages, every
// profile on every backend of this CPU.
#include <cstdint>
#include <cstdio>
#include <samebit/samebit.hpp>
#include <string>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

std::vector<int8_t> add_2d(sb_profile profile, const char* backend) {
  const sb_quant a_quant{0.013721438124775887f, -27}, b_quant{0.026481106877326965f, 92};
  const sb_quant y_quant{0.001596352201886475f, -118};
  const size_t a_dims[] = {40, 50}, b_dims[] = {50};
  std::vector<int8_t> a(2000), b(50), y(2000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int8_t>(i * 37 % 256);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int8_t>(i * 101 % 256);
  const sb_options options{profile, backend};
  sb_context context;
  sb_qlinear_add_plan plan;
  sb_error error{};
  expect(sb_context_init(&context, &options, &error) == SB_OK, "context");
  expect(sb_qlinear_add_prepare(&context, SB_INT8, a_quant, b_quant, y_quant, &plan, &error) == SB_OK,
         "prepare");
  const sb_qlinear_add_plan copy = plan;  // plans are values
  expect(sb_qlinear_add_run_nd(&copy, a.data(), a_dims, 2, b.data(), b_dims, 1, y.data(), &error) == SB_OK,
         "run");
  return y;
}

void every_backend() {
  for (int p = 0; p < SB_PROFILE_COUNT; ++p) {
    const auto profile = static_cast<sb_profile>(p);
    const std::vector<int8_t> scalar = add_2d(profile, "scalar");
    for (size_t i = 0; i < sb_backend_count(); ++i) {
      sb_backend backend{};
      sb_error error{};
      expect(sb_backend_get(i, &backend, &error) == SB_OK, "backend");
      if (backend.usable) expect(add_2d(profile, backend.name) == scalar, backend.name);
    }
  }
}

void per_column() {
  const float scale[3] = {0.5f, 0.25f, 1.0f};
  const int32_t bias[3] = {1, -2, 0}, acc[6] = {0, 4, 1000, 2, 12, -1000};
  uint8_t y[6];
  sb_context context;
  sb_requantize_plan plan;
  sb_error error{};
  expect(sb_context_init(&context, nullptr, &error) == SB_OK, "context");
  expect(sb_requantize_prepare(&context, SB_UINT8, scale, 3, bias, 3, 10, &plan, &error) == SB_OK, "prepare");
  expect(sb_requantize_run(&plan, acc, y, 2, &error) == SB_OK, "run");
  // 0.5 -> 0, 0.5 -> 0, 1000 | 1.5 -> 2, 2.5 -> 2, -1000: ties to even, then 10 is added
  const uint8_t want[6] = {10, 10, 255, 12, 12, 0};
  for (int i = 0; i < 6; ++i) expect(y[i] == want[i], "requantize per column");
}

/// The wrapper's types: the reported case, -87 in real numbers.
void wrapper() {
  const auto context = samebit::Context::create(samebit::Profile::exact);
  expect(static_cast<bool>(context), "wrapper: context");
  const auto add = samebit::QLinearAdd<int8_t>::prepare(
      *context, {0.008010663092136383f, 7}, {0.00622713053599f, -128}, {0.006873490754514933f, -128});
  expect(static_cast<bool>(add), "wrapper: prepare");
  const int8_t a = -8, b = -64;
  int8_t y = 0;
  expect(static_cast<bool>(add->run(&a, &b, &y, 1)) && y == -87, "wrapper: run");
  expect(samebit::Context::create(samebit::Profile::exact, "no_such_backend").status() == SB_UNSUPPORTED,
         "wrapper: an error is a status");
}

void errors() {
  sb_context context;
  sb_qlinear_mul_plan plan;
  sb_error error{};
  expect(sb_context_init(&context, nullptr, &error) == SB_OK, "context");
  expect(
      sb_qlinear_mul_prepare(&context, SB_INT8, {1, 0}, {1, 200}, {1, 0}, &plan, &error) == SB_BAD_ZERO_POINT,
      "zero point out of range");
  expect(std::string(error.message).find("200") != std::string::npos, "the message names the value");
}

}  // namespace

int main() {
  every_backend();
  per_column();
  wrapper();
  errors();
  std::printf("samebit %s from C++17: %d failures\n", sb_version(), failures);
  return failures != 0;
}
