#include "params/status.h"

#include <cstdio>

namespace samebit {

sb_status fail(sb_error* error, sb_status status, const char* format, ...) {
  if (error) {
    error->status = status;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
  }
  return status;
}

sb_status ok(sb_error* error) {
  if (error) {
    error->status = SB_OK;
    error->message[0] = '\0';
  }
  return SB_OK;
}

FloatText::FloatText(float value) { std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value)); }

}  // namespace samebit
