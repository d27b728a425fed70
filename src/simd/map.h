// The loop of every element-wise kernel: whole steps, then one partial step through the same operation.
// Inputs and outputs are ports: a pointer with the loads or stores that fit its width.
#pragma once

#include "simd/vec.h"

namespace samebit {
namespace {

/// Bytes of one call (read and written) from which inputs are fetched ahead of their use: no second-level
/// cache holds them.
constexpr size_t kFetchBytes = size_t{12} << 20;

/// Bytes from which stores bypass the caches, KernelTable::stream_bytes. Set once, when the table is filled.
size_t stream_bytes = 0;

/// How far ahead: several streams keep the hardware's prefetchers from running far enough ahead, and they
/// stop at pages.
constexpr size_t kPrefetchBytes = 2048;

/// Prefetches the lines of `bytes` bytes at p, kPrefetchBytes ahead. Addresses beyond the array do no harm.
template <size_t bytes>
SB_INLINE void fetch(const void* p) {
  for (size_t i = 0; i < bytes; i += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(p) + kPrefetchBytes + i));
}

template <class V, class T>
struct BytesIn {
  const T* p;
  static constexpr size_t width = 1;
  SB_INLINE auto load(size_t i) const { return V::load_bytes(p + i); }
  SB_INLINE auto load_partial(size_t i, size_t n) const { return V::load_bytes_partial(p + i, n); }
  SB_INLINE void prefetch(size_t i) const { fetch<V::step>(p + i); }
  SB_INLINE void advance(size_t) {}
};

/// Codes widened to int32 in memory order.
template <class V, class T>
struct CodesIn {
  const T* p;
  static constexpr size_t width = 1;
  SB_INLINE auto load(size_t i) const { return V::load_codes(p + i); }
  SB_INLINE auto load_partial(size_t i, size_t n) const {
    T copy[V::step] = {};
    std::memcpy(copy, p + i, n);
    return V::load_codes(static_cast<const T*>(copy));
  }
  SB_INLINE void prefetch(size_t i) const { fetch<V::step>(p + i); }
  SB_INLINE void advance(size_t) {}
};

/// float or int32_t, in memory order.
template <class V, class X>
struct WordsIn {
  const X* p;
  static constexpr size_t width = 4;
  SB_INLINE auto load(size_t i) const { return V::load4(p + i); }
  SB_INLINE auto load_partial(size_t i, size_t n) const { return V::load4_partial(p + i, n); }
  SB_INLINE void prefetch(size_t i) const { fetch<4 * V::step>(p + i); }
  SB_INLINE void advance(size_t) {}
};

template <class V, class T>
struct BytesOut {
  T* p;
  static constexpr size_t width = 1;
  /// Values before the first address that stream() accepts; step when there is none.
  SB_INLINE size_t misaligned() const { return (0 - reinterpret_cast<uintptr_t>(p)) % V::step; }
  template <class R>
  SB_INLINE void store(size_t i, const R& r) const {
    V::store_bytes(p + i, r);
  }
  template <class R>
  SB_INLINE void stream(size_t i, const R& r) const {
    V::stream_bytes(p + i, r);
  }
  template <class R>
  SB_INLINE void store_partial(size_t i, size_t n, const R& r) const {
    V::store_bytes_partial(p + i, r, n);
  }
};

template <class V>
struct FloatsOut {
  float* p;
  static constexpr size_t width = 4;
  SB_INLINE size_t misaligned() const {
    const size_t bytes = (0 - reinterpret_cast<uintptr_t>(p)) % (4 * V::lanes);
    return bytes % 4 == 0 ? bytes / 4 : V::step;
  }
  template <class R>
  SB_INLINE void store(size_t i, const R& r) const {
    V::store4(p + i, r);
  }
  template <class R>
  SB_INLINE void stream(size_t i, const R& r) const {
    V::stream4(p + i, r);
  }
  template <class R>
  SB_INLINE void store_partial(size_t i, size_t n, const R& r) const {
    V::store4_partial(p + i, r, n);
  }
};

/// out[i] = op(in[i]...), 0 <= i < n. `in_place`: the output is one of the inputs, its lines are in the cache
/// already.
template <class V, class Out, class Op, class... In>
SB_INLINE void map(size_t n, bool in_place, Out out, const Op& op, In... in) {
  size_t i = 0;
  constexpr size_t kWidth = Out::width + (In::width + ...);
  if (n >= kFetchBytes / kWidth) {
    const size_t head = out.misaligned();
    const bool stream = n >= stream_bytes / kWidth && !in_place && head < V::step;
    if (stream && head) {
      out.store_partial(0, head, op(in.load_partial(0, head)...));
      (in.advance(head), ...);
      i = head;
    }
    for (; n - i >= V::step; i += V::step) {
      (in.prefetch(i), ...);
      const auto result = op(in.load(i)...);
      if (stream) out.stream(i, result);
      else out.store(i, result);
      (in.advance(V::step), ...);
    }
    if (stream) V::fence();
  } else {
    for (; n - i >= V::step; i += V::step) {
      out.store(i, op(in.load(i)...));
      (in.advance(V::step), ...);
    }
  }
  if (i < n) out.store_partial(i, n - i, op(in.load_partial(i, n - i)...));
}

}  // namespace
}  // namespace samebit
