// One list of probes drives tests, benchmarks and the cross-check: an entry per kernel of the table, which
// makes deterministic inputs, runs them through any kernel table and returns the output bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "table/kernel_table.h"

namespace samebit::probe {

/// How many cases: small for emulated CPUs, quick for every run, full for tens of millions of values per kernel.
enum class Effort { small, quick, full };

/// One deterministic input of a probe: same seed, size and variant give the same bytes on every machine.
struct Case {
  uint64_t seed;
  size_t size;  // values
  int variant;  // parameter set, operand offsets, in place: the probe's own meaning
};

struct Output {
  std::vector<uint8_t> bytes;
  bool guards_intact;  // nothing was written outside the output
};

struct Bench {
  std::function<void()> run;  // one kernel call on warmed buffers
  double bytes;               // read and written per call
};

struct Probe {
  const char* name;  // "<op>_<type>.<rule>", e.g. "add_s8.f32_fma"
  /// True when both tables hold the same kernel, i.e. one inherits it from the other.
  bool (*same)(const KernelTable&, const KernelTable&);
  Output (*run)(const KernelTable&, const Case&);
  std::vector<Case> (*cases)(Effort);
  /// Parameters and inputs of the output byte `index`, and a `samebit explain` command line that replays it.
  std::string (*describe)(const Case&, size_t index);
  Bench (*bench)(const KernelTable&, size_t n);  // null: not measured by its bytes
};

/// All probes, in a fixed order.
const std::vector<Probe>& probes();

}  // namespace samebit::probe
