// Backend avx512: AVX-512 F, BW, DQ, VL, CD.
#include "simd/fill.h"
#include "table/backends.h"
#include "x86/avx512_prims.h"

namespace samebit {

void fill_avx512(KernelTable& table) { fill_elementwise<Avx512>(table); }

}  // namespace samebit
