// QLinearAdd: profile -> rule and constants.
#pragma once

#include "params/quant.h"

namespace samebit {

enum class AddRule : uint8_t { f32_fma, f32_mul_add, fixed21, f32_divide, exact };
const char* name(AddRule rule);

/// Operand forms of a broadcast. With a scalar operand ONNX Runtime calls a kernel whose second operand is
/// the scalar.
enum class Form : uint8_t { vector, scalar_a, scalar_b };

/// One rule with its constants. The kernel is called with (first, second) = swapped ? (b, a) : (a, b).
struct AddParams {
  AddRule rule;
  bool swapped;
  union {
    sb_ref_add_f32 f32;
    sb_ref_add_fixed21 fixed21;
    sb_ref_add_divide divide;
    sb_ref_binary_exact exact;
  };
};

/// Chooses the rule and computes its constants. Inputs are checked already. Same result on every machine.
AddParams prepare_add(sb_profile profile, Form form, sb_quant a, sb_quant b, sb_quant y,
                      const sb_ref_trace* trace = nullptr);

/// One value through the rule: the scalar reference, with an optional trace.
int32_t add_value(const AddParams& params, int32_t a, int32_t b, Range range,
                  const sb_ref_trace* trace = nullptr);

}  // namespace samebit
