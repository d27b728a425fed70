// Types, ranges and checks shared by the parameter functions. This folder turns quantization parameters and a
// profile into a rule and its constants; it is the only place where a profile is looked at.
#pragma once

#include <cstdint>

#include "params/status.h"
#include "samebit/reference.h"
#include "samebit/samebit.h"

namespace samebit {

struct Range {
  int32_t lo, hi;
};

template <class T>
inline constexpr Range kRange = T(-1) < T(0) ? Range{-128, 127} : Range{0, 255};

inline Range range_of(sb_type type) { return type == SB_INT8 ? kRange<int8_t> : kRange<uint8_t>; }

inline bool is_byte(sb_type type) { return type == SB_INT8 || type == SB_UINT8; }
inline bool is_arm(sb_profile profile) { return profile == SB_ORT_ARM64_DOT || profile == SB_ORT_ARM64_NEON; }
inline bool is_finite(float v) { return v - v == 0; }

/// Type must be int8 or uint8. `name` is the argument's name for the message.
sb_status check_byte_type(const char* name, sb_type type, sb_error* error);

/// Zero point within the type's range.
sb_status check_zero_point(const char* name, sb_type type, int32_t zero_point, sb_error* error);

/// SB_EXACT only: finite, and not zero when it is divided by. The other profiles define an answer for every
/// scale.
sb_status check_scale(const char* name, sb_profile profile, float scale, bool divisor, sb_error* error);

}  // namespace samebit
