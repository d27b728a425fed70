// Backend neon_dot: matrix products with SDOT.
#include "arm/neon_dot_gemm.h"
#include "table/backends.h"

namespace samebit {

void fill_neon_dot(KernelTable& table) { table.gemm_exact = &dot::kKernel; }

}  // namespace samebit
