#include "core/cpu.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif
#ifdef SAMEBIT_HAVE_CPUINFO
#include <cpuinfo.h>
#endif

namespace samebit {
namespace {

#if defined(__x86_64__)

bool bit(uint32_t word, int index) { return (word >> index) & 1; }

void detect_isa(Cpu& c) {
  uint32_t a, b, cx, d;
  if (!__get_cpuid_count(1, 0, &a, &b, &cx, &d)) return;
  const bool fma = bit(cx, 12), osxsave = bit(cx, 27);
  if (!osxsave) return;
  uint32_t xcr0, high;
  __asm__ volatile("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  const bool ymm = (xcr0 & 0x06) == 0x06;  // the operating system saves xmm and ymm
  const bool zmm = (xcr0 & 0xe6) == 0xe6;  // and opmask, zmm0-15 high halves, zmm16-31
  if (!__get_cpuid_count(7, 0, &a, &b, &cx, &d)) return;
  c.fma = ymm && fma;
  c.avx2 = ymm && bit(b, 5);
  c.avx512f = zmm && bit(b, 16);
  c.avx512dq = zmm && bit(b, 17);
  c.avx512cd = zmm && bit(b, 28);
  c.avx512bw = zmm && bit(b, 30);
  c.avx512vl = zmm && bit(b, 31);
  c.avx512vbmi = zmm && bit(cx, 1);
  c.avx512vnni = zmm && bit(cx, 11);
  const uint32_t subleaves = a;
  if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &cx, &d)) c.avxvnni = ymm && bit(a, 4);
}

#elif defined(__aarch64__)

void detect_isa(Cpu& c) {
  c.neon = true;                                // part of the base architecture
#if defined(__linux__)
  c.dotprod = (getauxval(AT_HWCAP) >> 20) & 1;  // HWCAP_ASIMDDP
  c.i8mm = (getauxval(AT_HWCAP2) >> 13) & 1;    // HWCAP2_I8MM
#endif
}

#else

void detect_isa(Cpu&) {}

#endif

/// Name and caches: a convenience that may be missing altogether, as in virtual machines.
void describe(Cpu& c) {
#ifdef SAMEBIT_HAVE_CPUINFO
  if (!cpuinfo_initialize()) return;
  if (const cpuinfo_package* package = cpuinfo_get_packages_count() ? cpuinfo_get_package(0) : nullptr) {
    std::strncpy(c.name, package->name, sizeof c.name - 1);
  }
  const auto size = [](uint32_t count, const cpuinfo_cache* (*get)(uint32_t)) -> size_t {
    const cpuinfo_cache* cache = count ? get(0) : nullptr;
    return cache ? cache->size : 0;
  };
  c.l1d = size(cpuinfo_get_l1d_caches_count(), cpuinfo_get_l1d_cache);
  c.l2 = size(cpuinfo_get_l2_caches_count(), cpuinfo_get_l2_cache);
  c.l3 = size(cpuinfo_get_l3_caches_count(), cpuinfo_get_l3_cache);
#else
  (void)c;
#endif
}

Cpu detect() {
  Cpu c{};
  detect_isa(c);
  describe(c);
  return c;
}

}  // namespace

const Cpu& cpu() {
  static const Cpu instance = detect();
  return instance;
}

}  // namespace samebit
