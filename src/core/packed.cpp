#include "core/packed.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace samebit {
namespace {

constexpr char kMagic[8] = {'s', 'b', ' ', 'g', 'e', 'm', 'm', '\n'};
constexpr uint32_t kVersion = 1;

uint64_t header_hash(const PackedHeader& header) {
  return XXH64(&header, offsetof(PackedHeader, header_hash), kVersion);
}

}  // namespace

uint32_t panels_hash(const uint8_t* panels, size_t bytes) {
  return static_cast<uint32_t>(XXH64(panels, bytes, kVersion));
}

void write_header(const GemmKernel& kernel, size_t n, size_t k, bool flipped, const uint8_t* panels,
                  size_t bytes, PackedHeader* out) {
  PackedHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  std::strncpy(header.layout, kernel.layout, sizeof header.layout - 1);
  header.n = n;
  header.k = k;
  header.flipped = flipped;
  header.panels_hash = panels_hash(panels, bytes);
  header.header_hash = header_hash(header);
  *out = header;
}

const char* header_problem(const PackedHeader& header, const GemmKernel& kernel, size_t n, size_t k,
                           bool flipped) {
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return "not written by sb_gemm_pack";
  if (header.header_hash != header_hash(header)) return "damaged: the header's checksum does not fit";
  if (header.version != kVersion) return "of another version of the layout";
  if (std::strncmp(header.layout, kernel.layout, sizeof header.layout) != 0)
    return "packed for another backend";
  if (header.n != n || header.k != k) return "of another shape";
  if (header.flipped != static_cast<uint32_t>(flipped)) return "of another type";
  return nullptr;
}

}  // namespace samebit
