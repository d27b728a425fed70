#include "core/broadcast.h"

#include <cstdint>

namespace samebit {

Form broadcast_form(const size_t* a, size_t a_rank, const size_t* b, size_t b_rank) {
  if (a_rank == 0) return Form::scalar_a;
  if (b_rank == 0) return Form::scalar_b;
  // From the last dimension, over those both tensors have: the first that is not 1 in both decides.
  const size_t common = a_rank < b_rank ? a_rank : b_rank;
  for (size_t i = 1; i <= common; ++i) {
    const size_t x = a[a_rank - i], y = b[b_rank - i];
    if (x <= 1 && y <= 1 && i < common) continue;
    return x <= 1 ? Form::scalar_a : y <= 1 ? Form::scalar_b : Form::vector;
  }
  return Form::vector;
}

sb_status broadcast(const size_t* a, size_t a_rank, const size_t* b, size_t b_rank, size_t* y_dims,
                    size_t* y_rank, size_t* y_size, Walk* walk, sb_error* error) {
  if (a_rank > SB_MAX_RANK || b_rank > SB_MAX_RANK)
    return fail(error, SB_UNSUPPORTED, "%s rank is %zu; the largest is %d", a_rank > SB_MAX_RANK ? "a" : "b",
                a_rank > SB_MAX_RANK ? a_rank : b_rank, SB_MAX_RANK);
  if ((a_rank > 0 && !a) || (b_rank > 0 && !b))
    return fail(error, SB_BAD_ARGUMENT, "%s is null with rank %zu", a_rank > 0 && !a ? "a_dims" : "b_dims",
                a_rank > 0 && !a ? a_rank : b_rank);
  const size_t rank = a_rank > b_rank ? a_rank : b_rank;
  Walk w{};
  w.size = 1;
  w.a_is_full = w.b_is_full = true;
  // Extents and element strides, aligned at the last dimension.
  size_t a_stride = 1, b_stride = 1, a_strides[SB_MAX_RANK], b_strides[SB_MAX_RANK], dims[SB_MAX_RANK];
  for (size_t i = rank; i-- > 0;) {
    const size_t x = i + a_rank >= rank ? a[i + a_rank - rank] : 1;
    const size_t z = i + b_rank >= rank ? b[i + b_rank - rank] : 1;
    if (x != z && x != 1 && z != 1)
      return fail(error, SB_BAD_ARGUMENT,
                  "a and b do not broadcast: dimension %zu of the result is %zu in a and %zu in b", i, x, z);
    const size_t extent = x == 1 ? z : x;
    if (extent != 0 && w.size > SIZE_MAX / extent)
      return fail(error, SB_BAD_ARGUMENT, "the result's size overflows at dimension %zu of extent %zu", i,
                  extent);
    w.size *= extent;
    dims[i] = extent;
    a_strides[i] = x == 1 ? 0 : a_stride;
    b_strides[i] = z == 1 ? 0 : b_stride;
    w.a_is_full = w.a_is_full && x == extent;
    w.b_is_full = w.b_is_full && z == extent;
    a_stride *= x;
    b_stride *= z;
    if (y_dims) y_dims[i] = extent;
  }
  if (y_rank) *y_rank = rank;
  if (y_size) *y_size = w.size;
  if (walk) {
    for (size_t i = 0; i < rank; ++i) {
      if (dims[i] == 1) continue;
      const size_t last = w.rank - 1;  // only used when w.rank > 0
      if (w.rank > 0 && w.a_strides[last] == a_strides[i] * dims[i] &&
          w.b_strides[last] == b_strides[i] * dims[i]) {
        w.dims[last] *= dims[i];
        w.a_strides[last] = a_strides[i];
        w.b_strides[last] = b_strides[i];
      } else {
        w.dims[w.rank] = dims[i];
        w.a_strides[w.rank] = a_strides[i];
        w.b_strides[w.rank] = b_strides[i];
        ++w.rank;
      }
    }
    *walk = w;
  }
  return ok(error);
}

}  // namespace samebit
