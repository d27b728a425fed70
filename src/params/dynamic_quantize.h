// DynamicQuantizeLinear: profile -> how extremes are found where NaN or infinities make a difference.
#pragma once

#include "params/quant.h"
#include "table/kernel_table.h"

namespace samebit {

/// Scale and zero point (uint8) of x. `fast` is what the kernel found; x itself is read again only when it
/// holds values that are not finite.
sb_quant dynamic_quantize_params(sb_profile profile, const MinMax& fast, const float* x, size_t n);

}  // namespace samebit
