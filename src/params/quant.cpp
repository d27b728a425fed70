#include "params/quant.h"

namespace samebit {

sb_status check_byte_type(const char* name, sb_type type, sb_error* error) {
  if (is_byte(type)) return SB_OK;
  return fail(error, SB_UNSUPPORTED, "%s is %d (%s); supported are SB_INT8 and SB_UINT8", name,
              static_cast<int>(type), sb_type_name(type) ? sb_type_name(type) : "no sb_type");
}

sb_status check_zero_point(const char* name, sb_type type, int32_t zero_point, sb_error* error) {
  const Range range = range_of(type);
  if (zero_point >= range.lo && zero_point <= range.hi) return SB_OK;
  return fail(error, SB_BAD_ZERO_POINT, "%s zero point is %d; an %s zero point lies within [%d, %d]", name,
              static_cast<int>(zero_point), sb_type_name(type), static_cast<int>(range.lo),
              static_cast<int>(range.hi));
}

sb_status check_scale(const char* name, sb_profile profile, float scale, bool divisor, sb_error* error) {
  if (profile != SB_EXACT) return SB_OK;
  if (!is_finite(scale))
    return fail(error, SB_BAD_SCALE, "%s scale is %s; profile exact needs a finite scale", name,
                FloatText(scale).text);
  if (divisor && scale == 0)
    return fail(error, SB_BAD_SCALE, "%s scale is %s; profile exact cannot divide by zero", name,
                FloatText(scale).text);
  return SB_OK;
}

}  // namespace samebit
