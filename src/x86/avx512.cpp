// Backend avx512: AVX-512 F, BW, DQ, VL, CD.
#include "simd/fill.h"
#include "table/backends.h"
#include "x86/avx512_gemm.h"
#include "x86/avx512_prims.h"
#include "x86/gemm_int16.h"

namespace samebit {

void fill_avx512(KernelTable& table) {
  fill_elementwise<Avx512>(table);
  table.gemm_exact = &int16::kKernel<Gemm512>;
}

}  // namespace samebit
