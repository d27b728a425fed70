// Names of the public enums.
#include "params/status.h"

#include <cstring>

using samebit::fail;

namespace {
constexpr const char* kProfiles[SB_PROFILE_COUNT] = {"ort_x64_vnni",  "ort_x64_avx2",   "ort_x64_sse",
                                                     "ort_arm64_dot", "ort_arm64_neon", "exact"};
}

extern "C" {

const char* sb_status_name(sb_status status) {
  switch (status) {
    case SB_OK:
      return "SB_OK";
    case SB_BAD_ARGUMENT:
      return "SB_BAD_ARGUMENT";
    case SB_BAD_SCALE:
      return "SB_BAD_SCALE";
    case SB_BAD_ZERO_POINT:
      return "SB_BAD_ZERO_POINT";
    case SB_UNSUPPORTED:
      return "SB_UNSUPPORTED";
    case SB_SMALL_BUFFER:
      return "SB_SMALL_BUFFER";
    case SB_BAD_PACKED:
      return "SB_BAD_PACKED";
  }
  return "unknown status";
}

const char* sb_version(void) { return SAMEBIT_VERSION; }

const char* sb_profile_name(sb_profile profile) {
  const int i = static_cast<int>(profile);
  return i >= 0 && i < SB_PROFILE_COUNT ? kProfiles[i] : nullptr;
}

sb_status sb_profile_from_name(const char* name, sb_profile* profile, sb_error* error) {
  if (!name || !profile) return fail(error, SB_BAD_ARGUMENT, "%s is null", name ? "profile" : "name");
  for (int i = 0; i < SB_PROFILE_COUNT; ++i) {
    if (std::strcmp(kProfiles[i], name) == 0) {
      *profile = static_cast<sb_profile>(i);
      return samebit::ok(error);
    }
  }
  return fail(error, SB_BAD_ARGUMENT,
              "profile is \"%.40s\"; known are ort_x64_vnni, ort_x64_avx2, ort_x64_sse, ort_arm64_dot, "
              "ort_arm64_neon, exact",
              name);
}

const char* sb_type_name(sb_type type) {
  switch (type) {
    case SB_INT8:
      return "int8";
    case SB_UINT8:
      return "uint8";
    case SB_INT32:
      return "int32";
    case SB_FLOAT32:
      return "float32";
  }
  return nullptr;
}

}  // extern "C"
