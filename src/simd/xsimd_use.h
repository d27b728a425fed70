// The only include of xsimd. xsimd carries operators (+ - * / & | comparisons, select) on named batches;
// everything where an instruction set's choice could change a bit (fma, rounding, NaN, conversions,
// narrowing) is a primitive of our own in src/<arch>/<isa>_prims.h. The build renames namespace xsimd per
// instruction set (-Dxsimd=...), so that inline functions of two instruction sets can never be merged by the
// linker.
#pragma once

#include <xsimd/xsimd.hpp>

static_assert(XSIMD_VERSION_MAJOR >= 8, "xsimd 8 or newer");
