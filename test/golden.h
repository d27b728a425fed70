// What the golden files' readers share: a line, its inputs' random numbers, an answer.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "samebit/samebit.h"

namespace samebit::golden {

using Bytes = std::vector<uint8_t>;

/// Digests at the end of a line, one per CPU class.
constexpr size_t kCpuClasses = 6;

/// One line of a file: its fields, read one after the other, then the digests.
class Case {
 public:
  explicit Case(const std::string& line) : line_(line) {
    std::istringstream words(line);
    for (std::string word; words >> word;) fields_.push_back(word);
  }
  bool complete(size_t parameters) const { return fields_.size() == parameters + kCpuClasses; }
  const std::string& line() const { return line_; }
  const std::string& digest(size_t column) const { return fields_[fields_.size() - kCpuClasses + column]; }

  const std::string& word(size_t i) const { return fields_[i]; }
  int32_t integer(size_t i) const { return static_cast<int32_t>(std::stol(fields_[i])); }
  float real(size_t i) const {
    return std::bit_cast<float>(static_cast<uint32_t>(std::stoul(fields_[i], nullptr, 16)));
  }
  sb_quant quant(size_t i) const { return {real(i), integer(i + 1)}; }
  sb_type type(size_t i = 0) const {
    return fields_[i] == "int8" ? SB_INT8 : fields_[i] == "uint8" ? SB_UINT8 : SB_INT32;
  }

 private:
  std::string line_;
  std::vector<std::string> fields_;
};

struct Answer {
  Bytes bytes;
  size_t values;
  const char* kernel;
};

inline void expect_ok(sb_status status, const sb_error& error) { EXPECT_EQ(status, SB_OK) << error.message; }

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint32_t high() { return static_cast<uint32_t>(next() >> 32); }

 private:
  uint64_t state_;
};

/// matmul.txt, dynamic_quantize.txt.
Answer matmul(const sb_context& context, const Case& c);
Answer dynamic_quantize(const sb_context& context, const Case& c);

}  // namespace samebit::golden
