// What `samebit explain` prints: the steps of one value under every profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "samebit/samebit.h"

namespace samebit::tools {

struct Step {
  std::string name;
  double value;
  bool rounded;  // rounded to an integer next
};

/// What one profile computes.
struct Trace {
  sb_profile profile;
  std::string rule;
  std::vector<Step> steps;
  double result;
  int32_t zero_point;  // of the output, 0 when it has none
};

/// An explanation: traces of the profiles that have an answer, and remarks for the reader.
struct Explanation {
  std::string op;
  std::vector<Trace> traces;
  std::vector<std::string> notes;
};

void print_text(const Explanation& explanation);
void print_json(const Explanation& explanation);

}  // namespace samebit::tools
