#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "bench/bench.h"

namespace samebit::bench {
namespace {

double seconds_of(const std::function<void()>& call, size_t repetitions) {
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < repetitions; ++i) call();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / static_cast<double>(repetitions);
}

#if defined(__x86_64__)
void stream_copy(uint8_t* y, const uint8_t* x, size_t n) {
  for (size_t i = 0; i + 64 <= n; i += 64) {
    for (size_t k = 0; k < 64; k += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(y + i + k),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i + k)));
  }
  _mm_sfence();
}
#endif

}  // namespace

std::vector<Sample> interleave(const std::vector<std::function<void()>>& calls, int samples) {
  std::vector<size_t> repetitions;
  for (const auto& call : calls) {
    call();
    // At least 0.1 ms per sample.
    const double once = std::max(seconds_of(call, 3), 1e-9);
    repetitions.push_back(std::max<size_t>(1, static_cast<size_t>(1e-4 / once)));
  }
  std::vector<std::vector<double>> times(calls.size());
  for (int s = 0; s < samples; ++s)
    for (size_t i = 0; i < calls.size(); ++i) times[i].push_back(seconds_of(calls[i], repetitions[i]));
  std::vector<Sample> result;
  for (auto& t : times) {
    std::sort(t.begin(), t.end());
    result.push_back({t.front(), t[t.size() / 2]});
  }
  return result;
}

double copy_bandwidth(size_t bytes) {
  static std::map<size_t, double> known;
  if (const auto found = known.find(bytes); found != known.end()) return found->second;
  const size_t n = std::max<size_t>(bytes / 2, 64);
  const std::unique_ptr<uint8_t, decltype(&std::free)> memory(
      static_cast<uint8_t*>(std::aligned_alloc(4096, (2 * n + 12288) / 4096 * 4096)), &std::free);
  std::memset(memory.get(), 1, 2 * n + 4096);
  uint8_t* x = memory.get();
  uint8_t* y = x + (n + 63) / 64 * 64 + 1088;  // no 4 KiB aliasing
  std::vector<std::function<void()>> copies = {[=] { std::memcpy(y, x, n); }};
#if defined(__x86_64__)
  copies.push_back([=] { stream_copy(y, x, n); });
#endif
  double best = 1e9;
  for (const Sample& s : interleave(copies, 15)) best = std::min(best, s.best);
  return known[bytes] = 2.0 * static_cast<double>(n) / best;
}

}  // namespace samebit::bench
