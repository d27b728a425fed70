#include "core/registry.h"

#include <algorithm>
#include <cstring>

#include "table/backends.h"

namespace samebit {
namespace {

const char* nothing(const Cpu&) { return nullptr; }

#if defined(__x86_64__)
// Unused where the compiler cannot build a backend.
[[maybe_unused]] const char* missing_avx2(const Cpu& c) {
  return !c.avx2 ? "AVX2" : !c.fma ? "FMA" : nullptr;
}
[[maybe_unused]] const char* missing_avxvnni(const Cpu& c) {
  if (const char* feature = missing_avx2(c)) return feature;
  return !c.avxvnni ? "AVX-VNNI" : nullptr;
}
[[maybe_unused]] const char* missing_avx512(const Cpu& c) {
  if (const char* feature = missing_avx2(c)) return feature;
  return !c.avx512f    ? "AVX-512F"
         : !c.avx512bw ? "AVX-512BW"
         : !c.avx512dq ? "AVX-512DQ"
         : !c.avx512vl ? "AVX-512VL"
         : !c.avx512cd ? "AVX-512CD"
                       : nullptr;
}
[[maybe_unused]] const char* missing_avx512vnni(const Cpu& c) {
  if (const char* feature = missing_avx512(c)) return feature;
  return !c.avx512vnni ? "AVX-512VNNI" : nullptr;
}
[[maybe_unused]] const char* missing_avx512vbmi(const Cpu& c) {
  if (const char* feature = missing_avx512vnni(c)) return feature;
  return !c.avx512vbmi ? "AVX-512VBMI" : nullptr;
}
#elif defined(__aarch64__)
[[maybe_unused]] const char* missing_neon_dot(const Cpu& c) { return !c.dotprod ? "DotProd" : nullptr; }
[[maybe_unused]] const char* missing_neon_i8mm(const Cpu& c) {
  if (const char* feature = missing_neon_dot(c)) return feature;
  return !c.i8mm ? "I8MM" : nullptr;
}
#endif

// Weakest first; a parent stands above its children. A new instruction set is one row (and a fill function).
constexpr Backend kBackends[] = {
    {"scalar", nullptr, nothing, fill_scalar},
#if defined(__x86_64__)
#ifndef SB_NO_AVX2
    {"avx2", "scalar", missing_avx2, fill_avx2},
#ifndef SB_NO_AVXVNNI
    {"avxvnni", "avx2", missing_avxvnni, fill_avxvnni},
#endif
#ifndef SB_NO_AVX512
    {"avx512", "avx2", missing_avx512, fill_avx512},
#ifndef SB_NO_AVX512VNNI
    {"avx512vnni", "avx512", missing_avx512vnni, fill_avx512vnni},
#ifndef SB_NO_AVX512VBMI
    {"avx512vbmi", "avx512vnni", missing_avx512vbmi, fill_avx512vbmi},
#endif
#endif
#endif
#endif
#elif defined(__aarch64__)
#ifndef SB_NO_NEON
    {"neon", "scalar", nothing, fill_neon},
#ifndef SB_NO_NEON_DOT
    {"neon_dot", "neon", missing_neon_dot, fill_neon_dot},
#ifndef SB_NO_NEON_I8MM
    {"neon_i8mm", "neon_dot", missing_neon_i8mm, fill_neon_i8mm},
#endif
#endif
#endif
#endif
};
constexpr size_t kCount = sizeof kBackends / sizeof kBackends[0];

struct Tables {
  KernelTable table[kCount];
};

/// Below three quarters of the last cache a result is worth keeping there, and stores that bypass it would
/// wait for memory; above, reading lines only to overwrite them costs a third of the traffic. At least what
/// no second-level cache holds (measured on Zen 5, 1 MiB).
size_t stream_bytes() { return std::max(size_t{12} << 20, cpu().l3 / 4 * 3); }

Tables build() {
  Tables t{};
  for (size_t i = 0; i < kCount; ++i) {
    if (kBackends[i].missing(cpu())) continue;  // its code must not run here
    if (kBackends[i].parent) t.table[i] = t.table[find_backend(kBackends[i].parent)];
    t.table[i].stream_bytes = stream_bytes();
    kBackends[i].fill(t.table[i]);
  }
  return t;
}

}  // namespace

size_t backend_count() { return kCount; }

const Backend& backend(size_t index) { return kBackends[index]; }

size_t find_backend(const char* name) {
  size_t i = 0;
  while (i < kCount && std::strcmp(kBackends[i].name, name) != 0) ++i;
  return i;
}

size_t best_backend(size_t cap) {
  size_t i = cap;
  while (i > 0 && kBackends[i].missing(cpu())) --i;
  return i;
}

const KernelTable& table_for(size_t index) {
  static const Tables tables = build();
  return tables.table[index];
}

}  // namespace samebit
