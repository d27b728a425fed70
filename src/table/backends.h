// One function per backend: overwrites the entries of an inherited table that this instruction set serves
// better.
#pragma once

#include "table/kernel_table.h"

namespace samebit {

void fill_scalar(KernelTable& table);
void fill_avx2(KernelTable& table);
void fill_avxvnni(KernelTable& table);
void fill_avx512(KernelTable& table);
void fill_avx512vnni(KernelTable& table);
void fill_avx512vbmi(KernelTable& table);
void fill_neon(KernelTable& table);
void fill_neon_dot(KernelTable& table);
void fill_neon_i8mm(KernelTable& table);

}  // namespace samebit
