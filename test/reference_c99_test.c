/* samebit/reference.h as a golden model of its own: C99, no library. */
#include "samebit/reference.h"

int main(void) {
  /* The reported values: -88 on x64, -87 on arm64 and in exact arithmetic. */
  const float sa = 0.008010663092136383f, sb = 0.00622713053599f, sy = 0.006873490754514933f;
  const sb_ref_add_f32 x64 = sb_ref_add_f32_fma_init(sa, 7, sb, -128, sy, -128, NULL);
  const sb_ref_binary_exact exact = sb_ref_add_exact_init(sa, 7, sb, -128, sy, -128);
  sb_ref_add_fixed21 arm;
  if (!sb_ref_add_fixed21_init(sa, 7, sb, -128, sy, -128, &arm, NULL)) return 1;
  if (sb_ref_add_f32_fma_value(-8, -64, &x64, -128, 127, NULL) != -88) return 2;
  if (sb_ref_add_fixed21_value(-8, -64, &arm, -128, 127, NULL) != -87) return 3;
  if (sb_ref_add_exact_value(-8, -64, &exact, -128, 127, NULL) != -87) return 4;
  return 0;
}
