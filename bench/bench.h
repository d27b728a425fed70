// What the benchmark's files share.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace samebit::bench {

/// Bytes per second of the better of two copies (memcpy; non-temporal stores where the CPU has them),
/// counting bytes read and written, with `bytes` of traffic per call. The limit that element-wise kernels are
/// compared with.
double copy_bandwidth(size_t bytes);

/// Best and median seconds per call of each function, sampled round-robin so that noise hits all alike.
struct Sample {
  double best, median;
};
std::vector<Sample> interleave(const std::vector<std::function<void()>>& calls, int samples = 21);

/// The table of element-wise rows: ours through the C interface, and every peer, on the same data.
int compare_with_peers(const char* json_path);

/// The table of matrix products on one backend.
int compare_gemm(const char* backend, const char* json_path);

}  // namespace samebit::bench
