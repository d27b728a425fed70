// What this CPU and operating system can run. Own cpuid/xgetbv (x86) and getauxval (arm64) code that cannot
// fail; names and cache sizes come from cpuinfo when it is available (it may know neither in a virtual
// machine).
#pragma once

#include <cstddef>

namespace samebit {

struct Cpu {
  // x86: instruction bits that the operating system also saves the registers of.
  bool avx2, fma, avxvnni, avx512f, avx512bw, avx512dq, avx512vl, avx512cd, avx512vnni, avx512vbmi;
  // arm64
  bool neon, dotprod, i8mm;
  char name[64];       // "" when unknown
  size_t l1d, l2, l3;  // bytes, 0 when unknown
};

/// Detected once; thread-safe.
const Cpu& cpu();

}  // namespace samebit
