// Profile exact against integer arithmetic of unlimited width: real numbers without a rounding of their own.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "params/add.h"
#include "params/mul.h"
#include "params/quantize.h"
#include "params/requantize.h"
#include "probe/inputs.h"

namespace samebit {
namespace {

/// Signed integers of 1280 bits in two's complement: enough for any sum of float32 products on a common
/// exponent.
class Big {
 public:
  Big(int64_t v = 0) {
    for (auto& w : words_) w = v < 0 ? ~0u : 0;
    words_[0] = static_cast<uint32_t>(v);
    words_[1] = static_cast<uint32_t>(static_cast<uint64_t>(v) >> 32);
  }
  Big operator+(const Big& o) const {
    Big r;
    uint64_t carry = 0;
    for (int i = 0; i < kWords; ++i) {
      carry += uint64_t{words_[i]} + o.words_[i];
      r.words_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    return r;
  }
  Big operator-() const {
    Big r;
    for (int i = 0; i < kWords; ++i) r.words_[i] = ~words_[i];
    return r + Big(1);
  }
  Big operator-(const Big& o) const { return *this + -o; }
  Big operator*(int64_t m) const {  // |m| < 2^48
    Big r;
    for (int bit = 0; bit < 48; ++bit)
      if ((m < 0 ? -m : m) >> bit & 1) r = r + (*this << bit);
    return m < 0 ? -r : r;
  }
  Big operator<<(int n) const {
    Big r;
    for (int i = kWords - 1; i >= 0; --i) {
      const int from = i - n / 32;
      uint64_t v = from >= 0 ? uint64_t{words_[from]} << 32 : 0;
      if (from >= 1) v |= words_[from - 1];
      r.words_[i] = static_cast<uint32_t>((v << (n % 32)) >> 32);
    }
    return r;
  }
  int sign() const {
    if (words_[kWords - 1] >> 31) return -1;
    for (uint32_t w : words_)
      if (w) return 1;
    return 0;
  }

 private:
  static constexpr int kWords = 40;
  uint32_t words_[kWords];
};

/// v = mantissa * 2^exponent.
struct Parts {
  int64_t mantissa;
  int exponent;
};
Parts parts(float v) {
  int e;
  const float m = std::frexp(v, &e);
  return {static_cast<int64_t>(std::ldexp(m, 24)), e - 24};
}

/// numerator / denominator rounded half to even, clamped to +-1000; the denominator is not zero.
int round_quotient(Big numerator, Big denominator) {
  if (denominator.sign() < 0) numerator = -numerator, denominator = -denominator;
  int low = -1001, high = 1001;  // the answer by bisection on 2 * numerator - (2q + 1) * denominator
  while (low < high) {
    const int q = low + (high - low) / 2;
    const int side = (numerator * 2 - denominator * (2 * q + 1)).sign();
    if (side < 0 || (side == 0 && q % 2 == 0)) high = q;
    else low = q + 1;
  }
  return low;
}

int saturate(int q, int zp, Range r) { return sb_ref_clamp(q + zp, r.lo, r.hi); }

/// Common exponent far below every product's: 2^-500.
Big scaled(Parts p) { return Big(p.mantissa) << (p.exponent + 500); }

TEST(Exact, AddEqualsIntegerArithmetic) {
  int checked = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const probe::Quants q = probe::draw_quants(seed, -128, 127, false);
    const AddParams p = prepare_add(SB_EXACT, Form::vector, q.a, q.b, q.y);
    probe::Rng r(seed);
    for (int i = 0; i < 60; ++i) {
      const int a = r.between(-128, 127), b = r.between(-128, 127);
      const Big sum =
          scaled(parts(q.a.scale)) * (a - q.a.zero_point) + scaled(parts(q.b.scale)) * (b - q.b.zero_point);
      ASSERT_EQ(add_value(p, a, b, kRange<int8_t>),
                saturate(round_quotient(sum, scaled(parts(q.y.scale))), q.y.zero_point, kRange<int8_t>))
          << "seed " << seed << " a " << a << " b " << b;
      ++checked;
    }
  }
  EXPECT_EQ(checked, 24000);
}

TEST(Exact, MulEqualsIntegerArithmetic) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const probe::Quants q = probe::draw_quants(seed, 0, 255, false);
    const MulParams p = prepare_mul(SB_EXACT, q.a, q.b, q.y);
    const Parts sa = parts(q.a.scale), sb = parts(q.b.scale);
    probe::Rng r(seed);
    for (int i = 0; i < 60; ++i) {
      const int a = r.between(0, 255), b = r.between(0, 255);
      const int product = (a - q.a.zero_point) * (b - q.b.zero_point);
      const Big numerator = (Big(sa.mantissa) * sb.mantissa << (sa.exponent + sb.exponent + 500)) * product;
      ASSERT_EQ(
          mul_value(p, a, b, kRange<uint8_t>),
          saturate(round_quotient(numerator, scaled(parts(q.y.scale))), q.y.zero_point, kRange<uint8_t>))
          << "seed " << seed << " a " << a << " b " << b;
    }
  }
}

TEST(Exact, QuantizeEqualsIntegerArithmetic) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const sb_quant y = probe::draw_quant(seed, -128, 127, false);
    const QuantizeParams p = prepare_quantize(SB_EXACT, SB_INT8, y);
    for (const float x : probe::draw_floats(seed, 100, y.scale)) {
      const int got = quantize_value(p, x, kRange<int8_t>);
      if (x != x) ASSERT_EQ(got, -128);
      else if (x - x != 0) ASSERT_EQ(got, x > 0 ? 127 : -128);
      else
        ASSERT_EQ(got, saturate(round_quotient(scaled(parts(x)), scaled(parts(y.scale))), y.zero_point,
                                kRange<int8_t>))
            << "seed " << seed << " x " << x;
    }
  }
}

TEST(Exact, RequantizeEqualsIntegerArithmetic) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    probe::Rng r(seed);
    const float scale = std::ldexp(static_cast<float>(r.between(1, 1 << 24)), -r.between(20, 50));
    const std::vector<int32_t> acc = probe::draw_words(seed, 100), bias = probe::draw_words(seed + 1, 100);
    for (size_t i = 0; i < acc.size(); ++i) {
      const Big numerator = scaled(parts(scale)) * (int64_t{acc[i]} + bias[i]);
      ASSERT_EQ(requantize_value(RequantizeRule::exact, acc[i], bias[i], scale, 5, kRange<int8_t>),
                saturate(round_quotient(numerator, Big(1) << 500), 5, kRange<int8_t>))
          << "acc " << acc[i] << " bias " << bias[i] << " scale " << scale;
    }
  }
}

TEST(Exact, DequantizeIsTheNearestFloat) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const sb_quant q{probe::draw_quant(seed, -128, 127, false).scale, probe::draw_words(seed, 1)[0]};
    const DequantizeParams p = prepare_dequantize(SB_EXACT, SB_INT32, q);
    for (const int32_t x : probe::draw_words(seed + 9, 100)) {
      const float y = dequantize_value(p, x);
      const Big real = scaled(parts(q.scale)) * (int64_t{x} - q.zero_point);
      if (y - y != 0 || real.sign() == 0) continue;
      // No neighbour is nearer; in a tie the last bit is even.
      const auto distance = [&](float v) {
        const Big d = scaled(parts(v)) - real;
        return d.sign() < 0 ? -d : d;
      };
      const Big mine = distance(y);
      for (const float other : {std::nextafterf(y, INFINITY), std::nextafterf(y, -INFINITY)}) {
        if (other - other != 0) continue;
        const int side = (distance(other) - mine).sign();
        ASSERT_TRUE(side > 0 || (side == 0 && (probe::to_bits(y) & 1) == 0)) << "x " << x << " y " << y;
      }
    }
  }
}

}  // namespace
}  // namespace samebit
