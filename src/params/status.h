// Writes a status and its sentence.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include "samebit/samebit.h"

namespace samebit {

/// Fills `error` (may be null) and returns `status`. `format` is printf's.
__attribute__((format(printf, 3, 4))) sb_status fail(sb_error* error, sb_status status, const char* format,
                                                     ...);

/// Clears `error` (may be null).
sb_status ok(sb_error* error);

/// Formats a float32 for a message: shortest of 9 significant digits plus nan, inf.
struct FloatText {
  char text[32];
  explicit FloatText(float value);
};

}  // namespace samebit
