#include "params/add.h"

namespace samebit {

const char* name(AddRule rule) {
  switch (rule) {
    case AddRule::f32_fma:
      return "f32_fma";
    case AddRule::f32_mul_add:
      return "f32_mul_add";
    case AddRule::fixed21:
      return "fixed21";
    case AddRule::f32_divide:
      return "f32_divide";
    case AddRule::exact:
      return "exact";
  }
  return nullptr;
}

AddParams prepare_add(sb_profile profile, Form form, sb_quant a, sb_quant b, sb_quant y,
                      const sb_ref_trace* trace) {
  AddParams p{};
  if (profile == SB_EXACT) {
    p.rule = AddRule::exact;
    p.exact = sb_ref_add_exact_init(a.scale, a.zero_point, b.scale, b.zero_point, y.scale, y.zero_point);
    return p;
  }
  // A scalar a: the runtime swaps the operands, so that the scalar is the second one.
  p.swapped = form == Form::scalar_a;
  const sb_quant first = p.swapped ? b : a, second = p.swapped ? a : b;
  const float sa = first.scale, sb = second.scale;
  const int32_t za = first.zero_point, zb = second.zero_point;
  if (is_arm(profile)) {
    if (sb_ref_add_fixed21_init(sa, za, sb, zb, y.scale, y.zero_point, &p.fixed21, trace)) {
      p.rule = AddRule::fixed21;
    } else {
      p.rule = AddRule::f32_divide;
      p.divide = {sa, sb, y.scale, za, zb, y.zero_point};
    }
  } else if (profile == SB_ORT_X64_SSE) {
    p.rule = AddRule::f32_mul_add;
    p.f32 = sb_ref_add_f32_mul_add_init(sa, za, sb, zb, y.scale, y.zero_point, trace);
    if (form != Form::vector) {
      // The scalar form adds its second operand first: the vector formula with the operands exchanged once
      // more.
      p.swapped = !p.swapped;
      p.f32 = {p.f32.rb, p.f32.ra, p.f32.fixed};
    }
  } else {
    p.rule = AddRule::f32_fma;
    p.f32 = sb_ref_add_f32_fma_init(sa, za, sb, zb, y.scale, y.zero_point, trace);
  }
  return p;
}

int32_t add_value(const AddParams& p, int32_t a, int32_t b, Range range, const sb_ref_trace* trace) {
  const int32_t first = p.swapped ? b : a, second = p.swapped ? a : b;
  switch (p.rule) {
    case AddRule::f32_fma:
      return sb_ref_add_f32_fma_value(first, second, &p.f32, range.lo, range.hi, trace);
    case AddRule::f32_mul_add:
      return sb_ref_add_f32_mul_add_value(first, second, &p.f32, range.lo, range.hi, trace);
    case AddRule::fixed21:
      return sb_ref_add_fixed21_value(first, second, &p.fixed21, range.lo, range.hi, trace);
    case AddRule::f32_divide:
      return sb_ref_add_divide_value(first, second, &p.divide, range.lo, range.hi, trace);
    case AddRule::exact:
      return sb_ref_add_exact_value(first, second, &p.exact, range.lo, range.hi, trace);
  }
  return 0;
}

}  // namespace samebit
