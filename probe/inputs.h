// Deterministic inputs: the same bits on every machine, no std distributions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "probe/probe.h"
#include "samebit/samebit.h"

namespace samebit::probe {

/// splitmix64.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }
  int between(int lo, int hi) { return lo + static_cast<int>(below(static_cast<uint32_t>(hi - lo + 1))); }

 private:
  uint64_t state_;
};

float from_bits(uint32_t bits);
uint32_t to_bits(float value);

/// Quantizations of two inputs and an output.
struct Quants {
  sb_quant a, b, y;
};

/// Parameter sets that find errors: exact ties, near ties, extreme ratios and zero points, typical ones, and
/// with `special` also zero, negative, subnormal, infinite and NaN scales. The kind is seed % 8.
Quants draw_quants(uint64_t seed, int lo, int hi, bool special);

/// Scale and zero point for a one-input operator, same kinds.
sb_quant draw_quant(uint64_t seed, int lo, int hi, bool special);

/// Float32 inputs around every tie (k + 1/2) * scale, random bit patterns, moderate values and specials.
std::vector<float> draw_floats(uint64_t seed, size_t n, float scale);

/// Random int32 of all magnitudes, with limits and neighbours of powers of two.
std::vector<int32_t> draw_words(uint64_t seed, size_t n);

/// Random codes with many extremes.
std::vector<uint8_t> draw_codes(uint64_t seed, size_t n);

/// What a case's variant says about memory.
struct Layout {
  int in_place;   // 0: own output, 1: y = a, 2: y = b
  size_t offset;  // bytes by which operands are shifted from a 64-byte boundary (in units of their element)
  bool at_end;    // operands end at an unmapped page; otherwise they begin right after one
};
int encode(Layout layout);
Layout decode(int variant);

/// The cases of an element-wise probe: `grid` values for several seeds, every length, every offset, in place,
/// and sizes that reach the streaming stores.
std::vector<Case> elementwise_cases(Effort effort, size_t grid, int in_place_forms, size_t bytes_per_value);

/// "%.9g" and the bits of a float.
std::string text(float v);

}  // namespace samebit::probe
