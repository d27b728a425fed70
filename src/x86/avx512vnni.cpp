// Backend avx512vnni: matrix products.
#include "table/backends.h"
#include "x86/avx512vnni_gemm.h"

namespace samebit {

void fill_avx512vnni(KernelTable& table) { table.gemm_exact = &vnni512::kKernel; }

}  // namespace samebit
