// Broadcasting of two shapes: result, operand roles and the walk over memory.
#pragma once

#include <cstddef>

#include "params/add.h"
#include "samebit/samebit.h"

namespace samebit {

/// The operand form that ONNX Runtime gives two shapes for the whole call.
Form broadcast_form(const size_t* a_dims, size_t a_rank, const size_t* b_dims, size_t b_rank);

/// The walk: dimensions merged where both operands allow it, outermost first; a stride is 0 where an operand
/// repeats.
struct Walk {
  size_t rank;
  size_t dims[SB_MAX_RANK], a_strides[SB_MAX_RANK], b_strides[SB_MAX_RANK];
  size_t size;                // values of the result
  bool a_is_full, b_is_full;  // the operand's shape is the result's
};

/// Checks the shapes and fills the result's dims (room for max rank) and, when walk is not null, the walk.
sb_status broadcast(const size_t* a_dims, size_t a_rank, const size_t* b_dims, size_t b_rank, size_t* y_dims,
                    size_t* y_rank, size_t* y_size, Walk* walk, sb_error* error);

}  // namespace samebit
