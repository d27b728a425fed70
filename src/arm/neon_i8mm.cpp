// Backend neon_i8mm: matrix products with SMMLA.
#include "arm/neon_i8mm_gemm.h"
#include "table/backends.h"

namespace samebit {

void fill_neon_i8mm(KernelTable& table) { table.gemm_exact = &i8mm::kKernel; }

}  // namespace samebit
