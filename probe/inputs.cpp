#include "probe/inputs.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace samebit::probe {

float from_bits(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

uint32_t to_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::string text(float v) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.9g", static_cast<double>(v));
  return buffer;
}

namespace {

/// m * 2^e with m in 1/16 steps of [1, 2).
float dyadic(Rng& r, int least, int most) {
  const float m = static_cast<float>(16 + r.below(16)) / 16.0f;
  return std::ldexp(m, r.between(least, most));
}

/// Any mantissa, exponent within the bounds.
float random_scale(Rng& r, int least, int most) {
  const float m = from_bits(0x3f800000u | r.below(1u << 23));
  return std::ldexp(m, r.between(least, most));
}

float special_scale(Rng& r) {
  static const uint32_t kBits[] = {0x00000000, 0x80000000, 0xbf800000, 0x00000001, 0x007fffff, 0x7f800000,
                                   0xff800000, 0x7fc00000, 0x7f7fffff, 0x00800000, 0x3f800000, 0x4b800000};
  return from_bits(kBits[r.below(sizeof kBits / sizeof *kBits)]);
}

int zero_point(Rng& r, int lo, int hi) {
  switch (r.below(4)) {
    case 0:
      return lo;
    case 1:
      return hi;
    default:
      return r.between(lo, hi);
  }
}

}  // namespace

Quants draw_quants(uint64_t seed, int lo, int hi, bool special) {
  Rng r(seed * 977 + 5);
  Quants q{};
  q.a.zero_point = zero_point(r, lo, hi);
  q.b.zero_point = zero_point(r, lo, hi);
  q.y.zero_point = zero_point(r, lo, hi);
  // One draw per statement: the order of a call's arguments is the compiler's choice.
  const auto within_ulps = [&](float v, int n) {
    return from_bits(to_bits(v) + static_cast<uint32_t>(r.between(-n, n)));
  };
  switch (seed % 8) {
    case 0:  // exact ties: quotients are multiples of 1/32
      q = {{dyadic(r, -2, 1), q.a.zero_point}, {dyadic(r, -2, 1), q.b.zero_point}, {1.0f, q.y.zero_point}};
      break;
    case 1:  // a few ulp from ties
      q.a.scale = within_ulps(dyadic(r, -2, 0), 3);
      q.b.scale = within_ulps(dyadic(r, -2, 0), 3);
      q.y.scale = within_ulps(1.0f, 3);
      break;
    case 2:  // power-of-two ratios of an arbitrary scale
      q.y.scale = random_scale(r, -9, 2);
      q.a.scale = std::ldexp(q.y.scale, r.between(-4, 2));
      q.b.scale = std::ldexp(q.y.scale, r.between(-4, 2));
      break;
    case 3:
      q.y.scale = 1.0f;
      if (r.below(
              2)) {  // two ratios just below a power of two, codes far from the zero points: the largest sums
        const uint32_t power = to_bits(std::ldexp(1.0f, r.between(-9, 7)));
        q.a.scale = from_bits(power - 3 - r.below(8));
        q.b.scale = from_bits(power - 3 - r.below(8));
        q.a.zero_point = q.b.zero_point = r.below(2) ? lo : hi;
        break;
      }
      // ratios at the limits of fixed-point arithmetic: 2^-14 and 2^8
      q.a.scale = within_ulps(std::ldexp(1.0f, r.below(2) ? -14 : 8), 2);
      q.b.scale = within_ulps(std::ldexp(1.0f, r.between(-14, 7)), 2);
      break;
    case 4:
      if (special) {
        q.a.scale = r.below(2) ? special_scale(r) : random_scale(r, -3, 1);
        q.b.scale = r.below(2) ? special_scale(r) : random_scale(r, -3, 1);
        q.y.scale = r.below(2) ? special_scale(r) : random_scale(r, -3, 1);
      } else {
        q.a.scale = -random_scale(r, -3, 1);
        q.b.scale = random_scale(r, -3, 1);
        q.y.scale = r.below(2) ? -random_scale(r, -3, 1) : random_scale(r, -3, 1);
      }
      break;
    case 5:  // far apart
      q.a.scale = random_scale(r, -60, 60);
      q.b.scale = random_scale(r, -60, 60);
      q.y.scale = random_scale(r, -60, 60);
      break;
    default:  // as in networks
      q.a.scale = random_scale(r, -9, -2);
      q.b.scale = random_scale(r, -9, -2);
      q.y.scale = random_scale(r, -8, -1);
      break;
  }
  return q;
}

sb_quant draw_quant(uint64_t seed, int lo, int hi, bool special) {
  Rng r(seed * 353 + 11);
  const int zp = zero_point(r, lo, hi);
  switch (seed % 8) {
    case 0:
      return {std::ldexp(1.0f, r.between(-10, 3)), zp};
    case 1: {
      // Mantissas whose low bits are next to zero are the hard ones of a reciprocal.
      const uint32_t low = static_cast<uint32_t>(r.between(-40, 40));
      return {from_bits(0x3c000000u + (r.below(1u << 10) << 15) + low), zp};
    }
    case 2:
      return {1.0f / static_cast<float>(r.between(3, 255)), zp};
    case 3:
      return {special ? special_scale(r) : random_scale(r, -3, 3), zp};
    case 4:
      return {random_scale(r, -120, 120), zp};
    default:
      return {random_scale(r, -10, 4), zp};
  }
}

std::vector<float> draw_floats(uint64_t seed, size_t n, float scale) {
  static const uint32_t kSpecials[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0xffc00000, 0x7f800001, 0xff800001, 0x7f7fffff, 0xff7fffff,
                                       0x00000001, 0x80000001, 0x00800000, 0x80800000, 0x4f000000,
                                       0xcf000000, 0x501502f9, 0xd01502f9};
  Rng r(seed * 131 + 3);
  std::vector<float> x(n);
  for (size_t i = 0; i < n; ++i) {
    switch (r.below(8)) {
      case 0:
        x[i] = from_bits(static_cast<uint32_t>(r.next() >> 32));
        break;
      case 1:
        x[i] = from_bits(kSpecials[r.below(sizeof kSpecials / sizeof *kSpecials)]);
        break;
      case 2:
        x[i] = static_cast<float>(r.between(-300 << 8, 300 << 8)) / 256.0f * scale;
        break;
      default: {
        const float tie = (static_cast<float>(r.between(-300, 299)) + 0.5f) * scale;
        x[i] = from_bits(to_bits(tie) + static_cast<uint32_t>(r.between(-2, 2)));
      }
    }
  }
  return x;
}

std::vector<int32_t> draw_words(uint64_t seed, size_t n) {
  static const int32_t kSpecials[] = {
      INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1, 0,          1,          -1,
      16777217,  -16777217,     16777219,  33554434,      1073741824, -1073741823};
  Rng r(seed * 389 + 7);
  std::vector<int32_t> x(n);
  for (size_t i = 0; i < n; ++i) {
    if (r.below(16) == 0) x[i] = kSpecials[r.below(sizeof kSpecials / sizeof *kSpecials)];
    else x[i] = static_cast<int32_t>(static_cast<int64_t>(r.next()) >> (32 + r.below(31)));
  }
  return x;
}

std::vector<uint8_t> draw_codes(uint64_t seed, size_t n) {
  static const uint8_t kExtremes[] = {0, 255, 128, 127, 1, 254, 126, 129};
  Rng r(seed * 757 + 13);
  std::vector<uint8_t> x(n);
  for (size_t i = 0; i < n; ++i)
    x[i] = r.below(4) == 0 ? kExtremes[r.below(8)] : static_cast<uint8_t>(r.below(256));
  return x;
}

int encode(Layout l) { return l.in_place | static_cast<int>(l.offset) << 2 | (l.at_end ? 1 << 8 : 0); }
Layout decode(int v) { return {v & 3, static_cast<size_t>(v >> 2 & 63), (v >> 8 & 1) != 0}; }

std::vector<Case> elementwise_cases(Effort effort, size_t grid, int in_place_forms, size_t bytes_per_value) {
  std::vector<Case> cases;
  const bool full = effort == Effort::full, small = effort == Effort::small;
  uint64_t seed = 0;
  for (; seed < (full ? 400u : small ? 8u : 24u); ++seed) cases.push_back({seed, grid, 0});
  // Every length, at the end of a page and after the beginning of one, at moving offsets.
  for (size_t n = 0; n <= 3 * 64 + 8; ++n) {
    cases.push_back({seed++, n, encode({0, 0, true})});
    cases.push_back({seed++, n, encode({static_cast<int>(n) % (in_place_forms + 1), n % 64, false})});
  }
  for (size_t offset = 0; offset < 64; ++offset) {
    for (int form = 0; form <= in_place_forms; ++form)
      cases.push_back({seed++, 200 + offset, encode({form, offset, false})});
  }
  // Past the size from which stores bypass the caches; odd offsets of the output.
  const size_t large = (size_t{14} << 20) / bytes_per_value;
  for (size_t offset : {0, 1, 37}) {
    if ((!full && offset == 37) || (small && offset == 0)) continue;
    for (int form = 0; form <= (full ? in_place_forms : 0); ++form)
      cases.push_back({seed++, large + offset, encode({form, offset, false})});
  }
  return cases;
}

}  // namespace samebit::probe
