/* Adds two int8 tensors with the bits of three machines. Build: see examples/CMakeLists.txt, or
 *   cc qlinear_add.c $(pkg-config --cflags --libs samebit) */
#include <samebit/samebit.h>
#include <stdio.h>

int main(void) {
  /* value = scale * (code - zero_point), one pair per tensor */
  const sb_quant a_quant = {0.008010663092136383f, 7};
  const sb_quant b_quant = {0.00622713053599f, -128};
  const sb_quant y_quant = {0.006873490754514933f, -128};
  const int8_t a[4] = {-8, 0, 20, 100};
  const int8_t b[4] = {-64, -100, -128, 27};
  const sb_profile profiles[3] = {SB_ORT_X64_VNNI, SB_ORT_ARM64_DOT, SB_EXACT};

  for (int i = 0; i < 3; ++i) {
    sb_options options = {profiles[i], NULL}; /* NULL: the best kernels of this CPU */
    sb_context context;
    sb_qlinear_add_plan plan;
    sb_error error;
    int8_t y[4];
    if (sb_context_init(&context, &options, &error) != SB_OK ||
        sb_qlinear_add_prepare(&context, SB_INT8, a_quant, b_quant, y_quant, &plan, &error) != SB_OK ||
        sb_qlinear_add_run(&plan, a, b, y, 4, &error) != SB_OK) {
      fprintf(stderr, "%s\n", error.message);
      return 1;
    }
    printf("%-14s %4d %4d %4d %4d   %s\n", sb_profile_name(profiles[i]), y[0], y[1], y[2], y[3],
           sb_qlinear_add_kernel(&plan));
  }
  return 0;
}
