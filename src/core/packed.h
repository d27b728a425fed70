// Header of packed weights: who can read them, and whether they are whole.
#pragma once

#include <cstddef>
#include <cstdint>

#include "table/gemm.h"

namespace samebit {

struct PackedHeader {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  char layout[16];  // GemmKernel::layout
  uint64_t n, k;
  uint32_t flipped;  // 1: codes were uint8
  uint32_t panels_hash;
  uint64_t header_hash;  // of all above
};
static_assert(sizeof(PackedHeader) == 64, "panels stay aligned");

void write_header(const GemmKernel& kernel, size_t n, size_t k, bool flipped, const uint8_t* panels,
                  size_t bytes, PackedHeader* out);

/// Null when the header fits; otherwise what is wrong, as the end of a sentence about packed weights.
const char* header_problem(const PackedHeader& header, const GemmKernel& kernel, size_t n, size_t k,
                           bool flipped);

uint32_t panels_hash(const uint8_t* panels, size_t bytes);

}  // namespace samebit
