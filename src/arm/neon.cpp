// Backend neon: the base instruction set of arm64.
#include "arm/neon_gemm.h"
#include "arm/neon_prims.h"
#include "simd/fill.h"
#include "table/backends.h"

namespace samebit {
namespace {

template <class T>
struct Lookup256 {
  uint8x16x4_t t0, t1, t2, t3;
  explicit Lookup256(const T* table)
      : t0(vld1q_u8_x4(reinterpret_cast<const uint8_t*>(table))),
        t1(vld1q_u8_x4(reinterpret_cast<const uint8_t*>(table) + 64)),
        t2(vld1q_u8_x4(reinterpret_cast<const uint8_t*>(table) + 128)),
        t3(vld1q_u8_x4(reinterpret_cast<const uint8_t*>(table) + 192)) {}
  SB_INLINE uint8x16_t operator()(uint8x16_t x) const {
    // tbl gives 0 and tbx keeps the lane for indexes beyond 63; the index moves down by 64 from quarter to
    // quarter.
    const uint8x16_t quarter = vdupq_n_u8(64);
    uint8x16_t y = vqtbl4q_u8(t0, x);
    x = vsubq_u8(x, quarter);
    y = vqtbx4q_u8(y, t1, x);
    x = vsubq_u8(x, quarter);
    y = vqtbx4q_u8(y, t2, x);
    x = vsubq_u8(x, quarter);
    return vqtbx4q_u8(y, t3, x);
  }
};

template <class T>
void lookup256(const T* x, T* y, size_t n, const T* table) {
  map<Neon>(n, x == y, BytesOut<Neon, T>{y}, Lookup256<T>(table), BytesIn<Neon, T>{x});
}

}  // namespace

void fill_neon(KernelTable& table) {
  fill_elementwise<Neon>(table);
  table.s8.lookup256 = lookup256<int8_t>;
  table.u8.lookup256 = lookup256<uint8_t>;
  table.gemm_exact = &neon_mull::kKernel<false>;
  table.gemm_pairwrap = &neon_mull::kKernel<true>;
  // Four dependent 64-byte lookups per 16 codes: about a third of the arithmetic's instructions.
  table.scalar_operand_table_from = 1024;
}

}  // namespace samebit
