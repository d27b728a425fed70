// Backend avx512: AVX-512 F, BW, DQ, VL, CD.
#include "table/backends.h"
#include "x86/avx512_prims.h"

#include "simd/fill.h"

namespace samebit {

void fill_avx512(KernelTable& table) { fill_elementwise<Avx512>(table); }

}  // namespace samebit
