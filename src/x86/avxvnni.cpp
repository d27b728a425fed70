// Backend avxvnni: matrix products.
#include "table/backends.h"
#include "x86/avxvnni_gemm.h"

namespace samebit {

void fill_avxvnni(KernelTable& table) { table.gemm_exact = &vnni256::kKernel; }

}  // namespace samebit
