// The scalar GEMM kernels: what defines a matrix product.
#pragma once

#include "table/kernel_table.h"

namespace samebit::scalar {

void fill_gemm(KernelTable& table);

}  // namespace samebit::scalar
