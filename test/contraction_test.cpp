// a * b + c must keep two roundings in every kind of translation unit: here, in the library's base code and
// in kernels.
#include <gtest/gtest.h>

#include "core/registry.h"
#include "params/add.h"
#include "samebit/reference.h"

namespace samebit {
namespace {

// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last term is lost by rounding the product, kept by a fused
// operation.
volatile float g_a = 1.000244140625f, g_c = -1.00048828125f;

TEST(Contraction, IsOffInTests) {
  const float a = g_a, c = g_c;
  EXPECT_EQ(a * a + c, 0.0f);
  EXPECT_EQ(sb_ref_fma(a, a, c), 0x1p-24f);
}

// A rule with separate roundings and one with fused ones, on values where they differ, in every backend's
// objects.
TEST(Contraction, IsOffInEveryBackend) {
  const int8_t a[64] = {-61}, b[64] = {-78};
  for (size_t i = 0; i < backend_count(); ++i) {
    if (backend(i).missing(cpu())) continue;
    int8_t separate[64], fused[64];
    const sb_ref_mul_f32 p = sb_ref_mul_f32_init(0.0012995193246752024f, -122, 0.042162247002124786f, 19,
                                                 0.013795585371553898f, -47, nullptr);
    table_for(i).s8.mul_f32_mul_add(a, b, separate, 64, p);
    table_for(i).s8.mul_f32_fma(a, b, fused, 64, p);
    EXPECT_EQ(separate[0], -70) << backend(i).name;
    EXPECT_EQ(fused[0], -71) << backend(i).name;
  }
}

}  // namespace
}  // namespace samebit
