// A linear layer, uint8 x int8 -> uint8: weights packed once, run on two threads of the C++ library.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "samebit/parallel_std.hpp"
#include "samebit/samebit.h"

namespace {

void check(sb_status status, const sb_error& error) {
  if (status == SB_OK) return;
  std::fprintf(stderr, "%s\n", error.message);
  std::exit(1);
}

}  // namespace

int main() {
  constexpr std::size_t m = 100, n = 96, k = 256;
  std::vector<std::uint8_t> x(m * k), y(m * n);
  std::vector<std::int8_t> w(k * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i * 7);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::int8_t>(i * 13);

  sb_error error;
  sb_context context;
  check(sb_context_init(&context, nullptr, &error), error);

  const std::vector<float> w_scale(n, 0.01f);  // one per output channel
  std::vector<float> column_scale(n);
  sb_matmul matmul{};
  matmul.a_type = SB_UINT8;
  matmul.b_type = SB_INT8;
  matmul.n = n;
  matmul.k = k;
  matmul.a_zero_point = 128;
  const sb_matmul_scales scales{1.0f, 0.05f, w_scale.data(), n, column_scale.data()};
  sb_gemm_plan plan;
  check(sb_qgemm_prepare(&context, &matmul, &scales, SB_UINT8, {0.5f, 120}, &plan, &error), error);

  std::size_t packed_bytes = 0;
  check(sb_gemm_packed_bytes(&plan, &packed_bytes, &error), error);
  const std::unique_ptr<void, decltype(&std::free)> packed(
      std::aligned_alloc(64, (packed_bytes + 63) / 64 * 64), std::free);
  check(sb_gemm_pack(&plan, w.data(), n, packed.get(), packed_bytes, &error), error);

  samebit::ThreadPool pool(2);
  const sb_parallel parallel = pool.parallel();
  sb_gemm_args args{};
  args.m = m;
  args.a = x.data();
  args.lda = k;
  args.packed_b = packed.get();
  args.packed_bytes = packed_bytes;
  args.y = y.data();
  args.ldy = n;
  std::size_t workspace_bytes = 0;
  check(sb_gemm_workspace_bytes(&plan, &args, &parallel, &workspace_bytes, &error), error);
  std::vector<std::uint8_t> workspace(workspace_bytes);
  check(sb_gemm_run(&plan, &args, &parallel, workspace.data(), workspace.size(), &error), error);

  unsigned sum = 0;
  for (const std::uint8_t code : y) sum = sum * 31 + code;
  std::printf("%s: first codes %d %d %d, hash %08x\n", sb_gemm_kernel(&plan), y[0], y[1], y[2], sum);
  return 0;
}
