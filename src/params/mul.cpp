#include "params/mul.h"

namespace samebit {

const char* name(MulRule rule) {
  switch (rule) {
    case MulRule::f32_mul_add:
      return "f32_mul_add";
    case MulRule::f32_fma:
      return "f32_fma";
    case MulRule::exact:
      return "exact";
  }
  return nullptr;
}

MulParams prepare_mul(sb_profile profile, sb_quant a, sb_quant b, sb_quant y, const sb_ref_trace* trace) {
  MulParams p{};
  if (profile == SB_EXACT) {
    p.rule = MulRule::exact;
    p.exact = sb_ref_mul_exact_init(a.scale, a.zero_point, b.scale, b.zero_point, y.scale, y.zero_point);
  } else {
    p.rule = is_arm(profile) ? MulRule::f32_fma : MulRule::f32_mul_add;
    p.f32 = sb_ref_mul_f32_init(a.scale, a.zero_point, b.scale, b.zero_point, y.scale, y.zero_point, trace);
  }
  return p;
}

int32_t mul_value(const MulParams& p, int32_t a, int32_t b, Range range, const sb_ref_trace* trace) {
  switch (p.rule) {
    case MulRule::f32_mul_add:
      return sb_ref_mul_f32_mul_add_value(a, b, &p.f32, range.lo, range.hi, trace);
    case MulRule::f32_fma:
      return sb_ref_mul_f32_fma_value(a, b, &p.f32, range.lo, range.hi, trace);
    case MulRule::exact:
      return sb_ref_mul_exact_value(a, b, &p.exact, range.lo, range.hi, trace);
  }
  return 0;
}

}  // namespace samebit
