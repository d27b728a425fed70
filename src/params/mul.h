// QLinearMul: profile -> rule and constants. Symmetric in its operands, so the broadcast form does not
// matter.
#pragma once

#include "params/quant.h"

namespace samebit {

enum class MulRule : uint8_t { f32_mul_add, f32_fma, exact };
const char* name(MulRule rule);

struct MulParams {
  MulRule rule;
  union {
    sb_ref_mul_f32 f32;
    sb_ref_binary_exact exact;
  };
};

MulParams prepare_mul(sb_profile profile, sb_quant a, sb_quant b, sb_quant y,
                      const sb_ref_trace* trace = nullptr);
int32_t mul_value(const MulParams& params, int32_t a, int32_t b, Range range,
                  const sb_ref_trace* trace = nullptr);

}  // namespace samebit
