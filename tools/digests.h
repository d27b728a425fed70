// Cases, outputs and digest files of `samebit crosscheck`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probe/probe.h"

namespace samebit::tools {

/// XXH64 of the bytes, 16 hexadecimal digits.
std::string digest(const std::vector<uint8_t>& bytes);

const probe::Probe& find_probe(const std::string& name);

/// "PROBE SEED SIZE VARIANT", what --replay takes.
std::string case_text(const std::string& probe, const probe::Case& c);

/// Usable backends stronger than scalar: all, or the one that is named (an error when it is not usable).
std::vector<size_t> usable_backends(const std::string& only);

/// Index of the first value that differs, or c.size.
size_t first_difference(const probe::Case& c, const probe::Output& want, const probe::Output& got);

/// Value `index` of an output: a code, or a float32 with its bits.
std::string value_text(const probe::Probe& p, const probe::Case& c, const probe::Output& out, size_t index);

/// Probe::describe for a value: its inputs as a `samebit explain` line.
std::string describe(const probe::Probe& p, const probe::Case& c, const probe::Output& out, size_t index);

/// --compare: 0 when both files hold the same digests. Names the first differing case of each probe where the
/// files have case lines, and the value where this CPU can produce it or the files have it.
int compare(const std::string& a_path, const std::string& b_path);

}  // namespace samebit::tools
