// What the API files share: contexts and plans as seen from inside, argument checks.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/registry.h"
#include "params/status.h"
#include "samebit/samebit.h"

namespace samebit {

/// Marks a filled context or plan, one value per kind; a zeroed or foreign one is refused.
enum Magic : uint32_t {
  kContextMagic = 0x53420001,
  kAddMagic,
  kMulMagic,
  kQuantizeMagic,
  kDequantizeMagic,
  kRequantizeMagic,
  kGemmMagic,
  kDynamicGemmMagic
};

struct ContextView {
  uint32_t magic;
  sb_profile profile;
  uint32_t backend;
};

/// Stores `view` in the opaque words of a public struct, and reads it back. The words are only ever accessed
/// by memcpy.
template <class View, class Public>
void seal(const View& view, Public* out) {
  static_assert(std::is_trivially_copyable_v<View> && sizeof(View) <= sizeof(Public));
  std::memcpy(out->opaque, &view, sizeof view);
}
template <class View, class Public>
View open(const Public* in) {
  View view;
  std::memcpy(static_cast<void*>(&view), in->opaque, sizeof view);
  return view;
}

/// Plan and context pointers of a prepare function; fills `context`. Invalidates the plan.
template <class Public>
sb_status begin(const sb_context* from, Public* plan, ContextView* context, sb_error* error) {
  if (!plan) return fail(error, SB_BAD_ARGUMENT, "plan is null");
  std::memset(plan->opaque, 0, sizeof plan->opaque);
  if (!from) return fail(error, SB_BAD_ARGUMENT, "context is null");
  *context = open<ContextView>(from);
  if (context->magic != kContextMagic)
    return fail(error, SB_BAD_ARGUMENT, "context was not filled by sb_context_init");
  return SB_OK;
}

inline bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

/// Null and overlap of one input and the output of a run. `in_place` allows y == x.
inline sb_status check_buffers(const char* name, const void* x, size_t x_bytes, const void* y, size_t y_bytes,
                               bool in_place, sb_error* error) {
  if (!x || !y) return fail(error, SB_BAD_ARGUMENT, "%s is null with n > 0", x ? "y" : name);
  if (overlap(x, x_bytes, y, y_bytes) && !(in_place && x == y))
    return fail(
        error, SB_BAD_ARGUMENT,
        in_place ? "y at %p overlaps %s at %p without being equal to it" : "y at %p overlaps %s at %p", y,
        name, x);
  return SB_OK;
}

}  // namespace samebit
