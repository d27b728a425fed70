// Memory between two unmapped pages: any access outside faults.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "probe/inputs.h"

namespace samebit::probe {

class Guarded {
 public:
  /// `bytes` usable bytes, placed by `layout` for elements of `width` bytes.
  Guarded(size_t bytes, size_t width, const Layout& layout) : bytes_(bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t room = (bytes + layout.offset * width + 64 + page - 1) / page * page;
    mapped_ = room + 2 * page;
    base_ = static_cast<uint8_t*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) std::abort();
    if (mprotect(base_, page, PROT_NONE) || mprotect(base_ + page + room, page, PROT_NONE)) std::abort();
    inside_ = base_ + page;
    inside_bytes_ = room;
    std::memset(inside_, kFill, room);
    data_ = layout.at_end ? inside_ + room - bytes : inside_ + layout.offset * width;
  }
  ~Guarded() { munmap(base_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  template <class X>
  X* as() const {
    return reinterpret_cast<X*>(data_);
  }
  /// True when nothing around the data has changed.
  bool intact() const {
    for (const uint8_t* p = inside_; p < data_; ++p)
      if (*p != kFill) return false;
    for (const uint8_t* p = data_ + bytes_; p < inside_ + inside_bytes_; ++p)
      if (*p != kFill) return false;
    return true;
  }

 private:
  static constexpr uint8_t kFill = 0xa5;
  size_t bytes_, mapped_, inside_bytes_;
  uint8_t *base_, *inside_, *data_;
};

}  // namespace samebit::probe
