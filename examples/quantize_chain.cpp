// float32 -> int8 -> QLinearMul by one value -> float32, on every backend of this CPU: the codes are the
// same.
#include <samebit/samebit.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(sb_status status, const sb_error& error) {
  if (status == SB_OK) return;
  std::fprintf(stderr, "%s: %s\n", sb_status_name(status), error.message);
  std::exit(1);
}

/// Quantizes x, multiplies by the code `factor`, and returns the codes of the product.
std::vector<int8_t> run(const char* backend, const std::vector<float>& x, sb_quant x_quant, int8_t factor,
                        sb_quant factor_quant, sb_quant y_quant) {
  sb_error error{};
  const sb_options options{SB_ORT_ARM64_DOT, backend};  // the codes a phone would compute
  sb_context context;
  check(sb_context_init(&context, &options, &error), error);

  sb_quantize_linear_plan quantize;
  check(sb_quantize_linear_prepare(&context, SB_INT8, x_quant, &quantize, &error), error);
  std::vector<int8_t> codes(x.size());
  check(sb_quantize_linear_run(&quantize, x.data(), codes.data(), x.size(), &error), error);

  sb_qlinear_mul_plan multiply;
  check(sb_qlinear_mul_prepare(&context, SB_INT8, x_quant, factor_quant, y_quant, &multiply, &error), error);
  // In place: the output may be an input.
  check(sb_qlinear_mul_run_scalar_b(&multiply, codes.data(), &factor, codes.data(), codes.size(), &error),
        error);
  std::printf("%-11s %s, %s\n", backend, sb_quantize_linear_kernel(&quantize),
              sb_qlinear_mul_kernel(&multiply));
  return codes;
}

}  // namespace

int main() {
  std::vector<float> x(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.01f * static_cast<float>(static_cast<int>(i) - 500);
  const sb_quant x_quant{0.042f, 3}, factor_quant{0.0125f, -128}, y_quant{0.07f, -10};

  std::vector<int8_t> first;
  sb_error error{};
  for (size_t i = 0; i < sb_backend_count(); ++i) {
    sb_backend backend;
    check(sb_backend_get(i, &backend, &error), error);
    if (!backend.usable) {
      std::printf("%-11s not usable here, missing %s\n", backend.name, backend.missing);
      continue;
    }
    const std::vector<int8_t> codes = run(backend.name, x, x_quant, 27, factor_quant, y_quant);
    if (first.empty()) first = codes;
    if (codes != first) {
      std::fprintf(stderr, "%s differs from scalar\n", backend.name);
      return 1;
    }
  }

  sb_context context;
  sb_dequantize_linear_plan dequantize;
  check(sb_context_init(&context, nullptr, &error), error);
  check(sb_dequantize_linear_prepare(&context, SB_INT8, y_quant, &dequantize, &error), error);
  std::vector<float> y(first.size());
  check(sb_dequantize_linear_run(&dequantize, first.data(), y.data(), y.size(), &error), error);
  std::printf("x = %g * %g = %g\n", static_cast<double>(x[900]), 0.0125 * (27 + 128),
              static_cast<double>(y[900]));
  return 0;
}
