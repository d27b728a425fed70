// Backend avx2: AVX2 with FMA.
#include "simd/fill.h"
#include "table/backends.h"
#include "x86/avx2_gemm.h"
#include "x86/avx2_prims.h"
#include "x86/gemm_int16.h"

namespace samebit {

void fill_avx2(KernelTable& table) {
  fill_elementwise<Avx2>(table);
  table.gemm_exact = &int16::kKernel<Gemm256>;
  // A lookup by byte shuffles costs 16 shuffles and their selects per 32 codes, more than the arithmetic
  // itself.
  table.scalar_operand_table_from = SIZE_MAX;
}

}  // namespace samebit
