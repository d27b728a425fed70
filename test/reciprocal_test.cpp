// QuantizeLinear by a reciprocal in two parts has the codes of the division: at every tie of many scales, and
// with SAMEBIT_EFFORT=full for every float32.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/registry.h"
#include "params/quantize.h"
#include "probe/inputs.h"

namespace samebit {
namespace {

using probe::from_bits;
using probe::to_bits;

/// Division (scalar) against the best backend's kernel for one scale on the given inputs.
template <class T>
uint64_t differences(float scale, int zero_point, const std::vector<float>& x) {
  const QuantizeParams p =
      prepare_quantize(SB_ORT_X64_VNNI, T(-1) < T(0) ? SB_INT8 : SB_UINT8, {scale, zero_point});
  EXPECT_EQ(p.rule, QuantizeRule::f32_reciprocal);
  std::vector<T> want(x.size()), got(x.size());
  table_for(0).of<T>().quantize_f32_divide(x.data(), want.data(), x.size(), p.f32);
  table_for(best_backend(backend_count() - 1))
      .of<T>()
      .quantize_f32_reciprocal(x.data(), got.data(), x.size(), p.f32);
  uint64_t n = 0;
  for (size_t i = 0; i < x.size(); ++i) n += want[i] != got[i];
  return n;
}

/// Seven floats around every tie.
std::vector<float> ties(float scale) {
  std::vector<float> x;
  for (int k = -259; k < 259; ++k) {
    const uint32_t bits = to_bits((static_cast<float>(k) + 0.5f) * scale);
    for (int d = -3; d <= 3; ++d) x.push_back(from_bits(bits + static_cast<uint32_t>(d)));
  }
  return x;
}

TEST(Reciprocal, EqualsDivisionAtEveryTie) {
  probe::Rng r(1);
  int scales = 0;
  for (int i = 0; i < 3000; ++i) {
    // Mantissas whose low 15 bits are just outside the excluded neighbourhood of zero, and arbitrary ones.
    uint32_t mantissa = r.below(1u << 23);
    if (i % 2)
      mantissa = (mantissa & ~0x7fffu) + static_cast<uint32_t>(r.between(17, 60) * (r.below(2) ? 1 : -1));
    const float scale =
        from_bits((static_cast<uint32_t>(127 + r.between(-99, 99)) << 23) + (mantissa & 0x7fffff));
    if (!reciprocal_is_exact(scale)) continue;
    ++scales;
    ASSERT_EQ(differences<int8_t>(scale, r.between(-128, 127), ties(scale)), 0u) << scale;
    ASSERT_EQ(differences<uint8_t>(scale, r.between(0, 255), ties(scale)), 0u) << scale;
  }
  EXPECT_GT(scales, 2500);
}

TEST(Reciprocal, EqualsDivisionForEveryFloat) {
  const char* effort = std::getenv("SAMEBIT_EFFORT");
  if (!effort || std::string(effort) != "full") GTEST_SKIP() << "2^32 inputs per scale: SAMEBIT_EFFORT=full";
  for (const float scale : {1.0f / 255, 0.1f}) {
    std::vector<float> x(1 << 20);
    uint64_t count = 0;
    for (uint64_t base = 0; base < (uint64_t{1} << 32); base += x.size()) {
      for (size_t i = 0; i < x.size(); ++i) x[i] = from_bits(static_cast<uint32_t>(base + i));
      ASSERT_EQ(differences<int8_t>(scale, 3, x), 0u) << scale << " from bits " << base;
      count += x.size();
    }
    EXPECT_EQ(count, uint64_t{1} << 32);
  }
}

}  // namespace
}  // namespace samebit
