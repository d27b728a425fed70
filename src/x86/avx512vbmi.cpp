// Backend avx512vbmi: 256-entry lookups by byte permutes across the whole register.
#include "simd/map.h"
#include "table/backends.h"
#include "x86/avx512_prims.h"

namespace samebit {
namespace {

template <class T>
struct Lookup256 {
  __m512i t0, t1, t2, t3;
  explicit Lookup256(const T* table)
      : t0(Avx512::load_bytes(table)),
        t1(Avx512::load_bytes(table + 64)),
        t2(Avx512::load_bytes(table + 128)),
        t3(Avx512::load_bytes(table + 192)) {}
  SB_INLINE __m512i operator()(__m512i x) const {
    // vpermi2b looks at the low 7 bits of an index: entries 0..127 and 128..255, chosen by the top bit.
    const __m512i low = _mm512_permutex2var_epi8(t0, x, t1);
    const __m512i high = _mm512_permutex2var_epi8(t2, x, t3);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
  }
};

template <class T>
void lookup256(const T* x, T* y, size_t n, const T* table) {
  map<Avx512>(n, x == y, BytesOut<Avx512, T>{y}, Lookup256<T>(table), BytesIn<Avx512, T>{x});
}

}  // namespace

void fill_avx512vbmi(KernelTable& table) {
  stream_bytes = table.stream_bytes;
  table.s8.lookup256 = lookup256<int8_t>;
  table.u8.lookup256 = lookup256<uint8_t>;
  // Building the table costs 256 results; a lookup is three times as fast as a result.
  table.scalar_operand_table_from = 512;
}

}  // namespace samebit
