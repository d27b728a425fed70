// samebit_bench: Google Benchmark over the probe list (kernel/backend/values); with --peers [--json FILE] the
// table of element-wise rows against other libraries, with --gemm [BACKEND] [--json FILE] that of matrix
// products.
#include "bench/bench.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/registry.h"
#include "probe/probe.h"
#include "samebit/samebit.h"

namespace samebit::bench {
namespace {

void run_probe(benchmark::State& state, const probe::Probe* p, size_t backend_index, size_t n) {
  const probe::Bench b = p->bench(table_for(backend_index), n);
  const double copy = copy_bandwidth(static_cast<size_t>(b.bytes));
  b.run();
  for (auto _ : state) {
    b.run();
    benchmark::ClobberMemory();
  }
  const double bytes = b.bytes * static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  // Seconds are only known to the library: a rate of bytes over the copy's bytes per second is the share.
  state.counters["of_copy"] = benchmark::Counter(bytes / copy, benchmark::Counter::kIsRate);
}

void call_overhead(benchmark::State& state) {
  sb_context context;
  sb_qlinear_add_plan plan;
  sb_context_init(&context, nullptr, nullptr);
  sb_qlinear_add_prepare(&context, SB_UINT8, {0.1f, 1}, {0.2f, 2}, {0.3f, 3}, &plan, nullptr);
  uint8_t a[16] = {}, b[16] = {}, y[16];
  for (auto _ : state) {
    sb_qlinear_add_run(&plan, a, b, y, sizeof y, nullptr);
    benchmark::DoNotOptimize(y);
  }
}

void register_all() {
  benchmark::RegisterBenchmark("sb_qlinear_add_run/16", call_overhead);
  for (const probe::Probe& p : probe::probes()) {
    for (size_t b = 0; b < backend_count() && p.bench; ++b) {
      if (backend(b).missing(cpu())) continue;
      if (b > 0 && p.same(table_for(b), table_for(find_backend(backend(b).parent)))) continue;  // inherited
      for (const size_t n : {1u << 10, 1u << 16, 1u << 20, 1u << 24}) {
        const std::string name = std::string(p.name) + "/" + backend(b).name + "/" + std::to_string(n);
        benchmark::RegisterBenchmark(name.c_str(), run_probe, &p, b, n);
      }
    }
  }
}

}  // namespace
}  // namespace samebit::bench

int main(int argc, char** argv) {
  setenv("OMP_NUM_THREADS", "1", 1);  // peers are measured on one thread, as we are
  const char* json = nullptr;
  const char* gemm = nullptr;  // backend
  bool peers = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--peers") == 0) peers = true;
    if (std::strcmp(argv[i], "--gemm") == 0)
      gemm = i + 1 < argc && argv[i + 1][0] != '-'
                 ? argv[i + 1]
                 : samebit::backend(samebit::best_backend(samebit::backend_count() - 1)).name;
    if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) json = argv[i + 1];
  }
  // The peers' choice of instructions is ours: oneDNN would take AMX where the CPU has it.
  if (gemm)
    setenv("DNNL_MAX_CPU_ISA",
           std::strncmp(gemm, "avx512v", 7) == 0 ? "AVX512_CORE_VNNI"
           : std::strcmp(gemm, "avx512") == 0    ? "AVX512_CORE"
           : std::strcmp(gemm, "avxvnni") == 0   ? "AVX2_VNNI"
                                                 : "AVX2",
           0);
  if (gemm) return samebit::bench::compare_gemm(gemm, json);
  if (peers) return samebit::bench::compare_with_peers(json);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  samebit::bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
