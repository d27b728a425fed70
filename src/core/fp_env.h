// Runs a scope in the default floating-point environment: round to nearest even, subnormals kept, no traps.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace samebit {

/// The control register is read always and written only when the caller changed it. Status flags are not
/// restored.
class FpGuard {
 public:
#if defined(__x86_64__)
  FpGuard() : saved_(_mm_getcsr()) {
    if ((saved_ & ~kStatus) != kDefault) _mm_setcsr(kDefault);
  }
  ~FpGuard() {
    if ((saved_ & ~kStatus) != kDefault) _mm_setcsr(saved_);
  }

 private:
  static constexpr uint32_t kStatus = 0x3f;     // sticky exception flags
  static constexpr uint32_t kDefault = 0x1f80;  // all exceptions masked, nearest, no FTZ, no DAZ
  uint32_t saved_;
#elif defined(__aarch64__)
  FpGuard() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved_));
    if (saved_ != 0) __asm__ volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
  }
  ~FpGuard() {
    if (saved_ != 0) __asm__ volatile("msr fpcr, %0" ::"r"(saved_));
  }

 private:
  uint64_t saved_;
#endif
 public:
  FpGuard(const FpGuard&) = delete;
  FpGuard& operator=(const FpGuard&) = delete;
};

}  // namespace samebit
