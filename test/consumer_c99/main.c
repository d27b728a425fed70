/* Calls every operator of the installed library once and compares with the formulas of the installed
 * reference.h. */
#include <samebit/reference.h>
#include <samebit/samebit.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(const char* what, long got, long want) {
  if (got == want) return;
  printf("%s: got %ld, expected %ld\n", what, got, want);
  ++failures;
}

static void expect_ok(const char* what, sb_status status, const sb_error* error) {
  if (status == SB_OK) return;
  printf("%s: %s: %s\n", what, sb_status_name(status), error->message);
  ++failures;
}

/* The codes of the reported disagreement: -88 on x64, -87 on arm64 and in real numbers. */
static void qlinear_add(sb_profile profile, long want) {
  const sb_quant a = {0.008010663092136383f, 7}, b = {0.00622713053599f, -128};
  const sb_quant y = {0.006873490754514933f, -128};
  const int8_t a_code = -8, b_code = -64;
  int8_t y_code = 0;
  sb_options options = {profile, NULL};
  sb_context context;
  sb_qlinear_add_plan plan;
  sb_error error;
  expect_ok("context", sb_context_init(&context, &options, &error), &error);
  expect_ok("prepare", sb_qlinear_add_prepare(&context, SB_INT8, a, b, y, &plan, &error), &error);
  expect_ok("run", sb_qlinear_add_run(&plan, &a_code, &b_code, &y_code, 1, &error), &error);
  expect(sb_profile_name(profile), y_code, want);
}

static void other_operators(void) {
  enum { N = 100 };
  const sb_quant quant = {0.05f, 10};
  const float scale = 0.003f;
  sb_context context;
  sb_error error;
  sb_qlinear_mul_plan mul;
  sb_quantize_linear_plan quantize;
  sb_dequantize_linear_plan dequantize;
  sb_requantize_plan requantize;
  sb_ref_mul_f32 constants = sb_ref_mul_f32_init(0.05f, 10, 0.05f, 10, 0.05f, 10, NULL);
  float x[N], back[N];
  uint8_t codes[N], products[N], narrow[N];
  int32_t acc[N];
  int i;
  for (i = 0; i < N; ++i) {
    x[i] = 0.11f * (float)(i - 50);
    acc[i] = (i - 50) * 999;
  }
  expect_ok("context", sb_context_init(&context, NULL, &error), &error);
  expect_ok("quantize", sb_quantize_linear_prepare(&context, SB_UINT8, quant, &quantize, &error), &error);
  expect_ok("quantize", sb_quantize_linear_run(&quantize, x, codes, N, &error), &error);
  expect_ok("dequantize", sb_dequantize_linear_prepare(&context, SB_UINT8, quant, &dequantize, &error),
            &error);
  expect_ok("dequantize", sb_dequantize_linear_run(&dequantize, codes, back, N, &error), &error);
  expect_ok("mul", sb_qlinear_mul_prepare(&context, SB_UINT8, quant, quant, quant, &mul, &error), &error);
  expect_ok("mul", sb_qlinear_mul_run(&mul, codes, codes, products, N, &error), &error);
  expect_ok("requantize",
            sb_requantize_prepare(&context, SB_UINT8, &scale, 1, NULL, N, 10, &requantize, &error), &error);
  expect_ok("requantize", sb_requantize_run(&requantize, acc, narrow, 1, &error), &error);
  for (i = 0; i < N; ++i) {
    const float want = sb_ref_dequantize_value(codes[i], 0.05f, 10, NULL);
    expect("quantize", codes[i], sb_ref_quantize_value(x[i], 0.05f, 10, 0, 255, NULL));
    expect("dequantize", memcmp(&back[i], &want, sizeof want), 0);
    expect("mul", products[i], sb_ref_mul_f32_mul_add_value(codes[i], codes[i], &constants, 0, 255, NULL));
    expect("requantize", narrow[i], sb_ref_requantize_clamp_value(acc[i], 0, scale, 10, 0, 255, NULL));
  }
}

int main(void) {
  sb_context context;
  sb_error error;
  const sb_options bad = {SB_EXACT, "no_such_backend"};
  qlinear_add(SB_ORT_X64_VNNI, -88);
  qlinear_add(SB_ORT_ARM64_DOT, -87);
  qlinear_add(SB_EXACT, -87);
  other_operators();
  expect("unknown backend", sb_context_init(&context, &bad, &error), SB_UNSUPPORTED);
  expect("message names it", strstr(error.message, "no_such_backend") != NULL, 1);
  printf("samebit %s from C99: %d failures\n", sb_version(), failures);
  return failures != 0;
}
