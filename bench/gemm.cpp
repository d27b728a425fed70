// Matrix products: ours through the C interface with packed B, oneDNN with its own packed format and
// XNNPACK's fully connected operator, on the same data, one thread. GOPS count 2 * m * n * k.
#include <sched.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/bench.h"
#include "probe/inputs.h"
#include "samebit/parallel_std.hpp"
#include "samebit/samebit.h"
#ifdef SAMEBIT_HAVE_DNNL
#include <dnnl.hpp>
#endif
#ifdef SAMEBIT_HAVE_XNNPACK
#include <xnnpack.h>
#endif

namespace samebit::bench {
namespace {

using Call = std::function<void()>;

struct Shape {
  size_t m, n, k;
};
constexpr Shape kShapes[] = {{64, 64, 64},       {128, 128, 128},    {256, 256, 256},  {512, 512, 512},
                             {1024, 1024, 1024}, {2048, 2048, 2048}, {1, 768, 768},    {1, 3072, 768},
                             {1, 768, 3072},     {1, 4096, 4096},    {8, 768, 768},    {8, 768, 3072},
                             {8, 4096, 4096},    {128, 768, 768},    {128, 3072, 768}, {128, 768, 3072},
                             {128, 4096, 4096},  {3136, 64, 576},    {784, 128, 1152}, {196, 256, 2304},
                             {49, 512, 4608},    {1024, 8, 1024},    {37, 53, 91}};

struct Types {
  const char* name;
  sb_type a, b;
};
constexpr Types kTypes[] = {{"u8s8", SB_UINT8, SB_INT8},
                            {"s8s8", SB_INT8, SB_INT8},
                            {"u8u8", SB_UINT8, SB_UINT8},
                            {"s8u8", SB_INT8, SB_UINT8}};

template <class X>
std::shared_ptr<X> aligned(size_t count) {
  const size_t bytes = (count * sizeof(X) + 4095) / 4096 * 4096 + 4096;
  return {static_cast<X*>(std::aligned_alloc(4096, bytes)), std::free};
}

constexpr float kScaleA = 0.02f, kScaleB = 0.03f, kScaleY = 8.0f;
constexpr int32_t kZeroY = 5;

/// One row's data and our plan.
struct Row {
  Shape shape;
  Types types;
  bool codes;  // requantized output, else int32
  std::shared_ptr<uint8_t> a, b, y, packed, workspace;

  Call ours(const char* backend, const sb_parallel* parallel = nullptr) {
    sb_context context;
    const sb_options options{SB_ORT_X64_VNNI, backend};
    if (sb_context_init(&context, &options, nullptr) != SB_OK) return nullptr;
    const auto [m, n, k] = shape;
    const sb_matmul matmul{types.a, types.b, n, k, 0, 0, 0, nullptr, 0};
    static const float scale_b = kScaleB;
    const sb_matmul_scales scales{1, kScaleA, &scale_b, 1, nullptr};
    sb_gemm_plan plan;
    const sb_status s =
        codes ? sb_qgemm_prepare(&context, &matmul, &scales, types.a, {kScaleY, kZeroY}, &plan, nullptr)
              : sb_matmul_integer_prepare(&context, &matmul, &plan, nullptr);
    if (s != SB_OK) return nullptr;
    size_t packed_bytes = 0, workspace_bytes = 0;
    sb_gemm_packed_bytes(&plan, &packed_bytes, nullptr);
    packed = aligned<uint8_t>(packed_bytes);
    sb_gemm_pack(&plan, b.get(), n, packed.get(), packed_bytes, nullptr);
    const sb_gemm_args args{m, a.get(), k, nullptr, 0, packed.get(), packed_bytes, nullptr, 0, 0, y.get(), n};
    sb_gemm_workspace_bytes(&plan, &args, parallel, &workspace_bytes, nullptr);
    workspace = aligned<uint8_t>(workspace_bytes + 64);
    return [=, memory = workspace.get()] {
      sb_gemm_run(&plan, &args, parallel, memory, workspace_bytes, nullptr);
    };
  }
};

#ifdef SAMEBIT_HAVE_DNNL
Call onednn(const Row& row, void* y) {
  using dnnl::memory;
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static const dnnl::stream stream(engine);
  if (row.types.b == SB_UINT8) return nullptr;  // its reference code
  const auto dim = [](size_t v) { return static_cast<memory::dim>(v); };
  const auto a_type = row.types.a == SB_UINT8 ? memory::data_type::u8 : memory::data_type::s8;
  const auto y_type = row.codes ? a_type : memory::data_type::s32;
  const memory::desc a({dim(row.shape.m), dim(row.shape.k)}, a_type, memory::format_tag::ab),
      any({dim(row.shape.k), dim(row.shape.n)}, memory::data_type::s8, memory::format_tag::any),
      plain({dim(row.shape.k), dim(row.shape.n)}, memory::data_type::s8, memory::format_tag::ab),
      out({dim(row.shape.m), dim(row.shape.n)}, y_type, memory::format_tag::ab);
  dnnl::primitive_attr attr;
  if (row.codes) {
    attr.set_output_scales(0, {kScaleA * kScaleB / kScaleY});
    attr.set_zero_points(DNNL_ARG_DST, 0, {kZeroY});
  }
  const dnnl::matmul::primitive_desc desc({a, any, out}, attr, engine);
  const memory x(a, engine, row.a.get()), from(plain, engine, row.b.get()), w(desc.weights_desc(), engine),
      z(out, engine, y);
  memory source = from, target = w;
  dnnl::reorder(source, target).execute(stream, source, target);
  const dnnl::matmul op(desc);
  return [=]() mutable { op.execute(stream, {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, z}}); };
}
#endif

#ifdef SAMEBIT_HAVE_XNNPACK
Call xnnpack(const Row& row, void* y) {
  if (!row.codes || row.types.a != row.types.b) return nullptr;
  if (xnn_initialize(nullptr) != xnn_status_success) return nullptr;
  xnn_operator_t op = nullptr;
  const auto [m, n, k] = row.shape;
  const bool is_signed = row.types.a == SB_INT8;
  // Its weights are n x k.
  std::vector<uint8_t> w(n * k);
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < n; ++j) w[j * k + i] = row.b.get()[i * n + j];
  const xnn_status made =
      is_signed ? xnn_create_fully_connected_nc_qs8(k, n, k, n, 0, kScaleA, kScaleB,
                                                    reinterpret_cast<int8_t*>(w.data()), nullptr, kZeroY,
                                                    kScaleY, -128, 127, 0, &op)
                : xnn_create_fully_connected_nc_qu8(k, n, k, n, 0, kScaleA, 0, kScaleB, w.data(), nullptr,
                                                    kZeroY, kScaleY, 0, 255, 0, &op);
  if (made != xnn_status_success) return nullptr;
  std::shared_ptr<xnn_operator> owner(op, [](xnn_operator_t o) { xnn_delete_operator(o); });
  const xnn_status set =
      is_signed ? xnn_setup_fully_connected_nc_qs8(op, m, reinterpret_cast<int8_t*>(row.a.get()),
                                                   static_cast<int8_t*>(y), nullptr)
                : xnn_setup_fully_connected_nc_qu8(op, m, row.a.get(), static_cast<uint8_t*>(y), nullptr);
  if (set != xnn_status_success) return nullptr;
  return [owner] { xnn_run_operator(owner.get(), nullptr); };
}
#endif

#if defined(__x86_64__)
// Sixteen independent sums; each asm block is one instruction (or the pair that does the same work) per
// register.
#define SB_SIXTEEN(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define SB_DPBUSD512(i) "vpdpbusd %%zmm15, %%zmm14, %%zmm" #i "\n"
#define SB_DPBUSD256(i) "%{vex%} vpdpbusd %%ymm15, %%ymm14, %%ymm" #i "\n"
#define SB_MADD512(i) "vpmaddwd %%zmm15, %%zmm14, %%zmm13\n vpaddd %%zmm13, %%zmm" #i ", %%zmm" #i "\n"
#define SB_MADD256(i) "vpmaddwd %%ymm15, %%ymm14, %%ymm13\n vpaddd %%ymm13, %%ymm" #i ", %%ymm" #i "\n"
#define SB_LOOP(X)                                                                                       \
  for (int i = 0; i < kSteps; ++i)                                                                       \
  __asm__ volatile(SB_SIXTEEN(X)::                                                                       \
                       : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", \
                         "xmm10", "xmm11", "xmm13", "xmm14", "xmm15")
#endif

/// Operations of a register-only loop of the kernel's multiplication, and a call of it.
std::pair<double, Call> peak(const std::string& kernel) {
#if defined(__x86_64__)
  constexpr int kSteps = 2000;
  constexpr double kInstructions = 12.0 * kSteps;
  const std::string backend = kernel.substr(0, kernel.find('/'));
  if (backend == "avx512vnni") return {kInstructions * 128, [] { SB_LOOP(SB_DPBUSD512); }};
  if (backend == "avxvnni") return {kInstructions * 64, [] { SB_LOOP(SB_DPBUSD256); }};
  if (backend == "avx512") return {kInstructions * 64, [] { SB_LOOP(SB_MADD512); }};
  if (backend == "avx2") return {kInstructions * 32, [] { SB_LOOP(SB_MADD256); }};
#endif
  (void)kernel;
  return {0, nullptr};
}

std::string kernel_of(const char* backend) {
  sb_context context;
  const sb_options options{SB_ORT_X64_VNNI, backend};
  if (sb_context_init(&context, &options, nullptr) != SB_OK) return "";
  const sb_matmul matmul{SB_UINT8, SB_INT8, 1, 1, 0, 0, 0, nullptr, 0};
  sb_gemm_plan plan;
  sb_matmul_integer_prepare(&context, &matmul, &plan, nullptr);
  return sb_gemm_kernel(&plan);
}

/// One and two threads, where the process may use two CPUs.
void print_threads(const char* backend) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  const Shape shape{1024, 1024, 1024};
  const size_t n = shape.m * shape.n;
  const auto row = [&] {
    return Row{shape,   kTypes[0], false, aligned<uint8_t>(n), aligned<uint8_t>(n), aligned<uint8_t>(4 * n),
               nullptr, nullptr};
  };
  ThreadPool pool(2);
  const sb_parallel parallel = pool.parallel();
  Row one = row(), two = row();
  const std::vector<Sample> samples = interleave({one.ours(backend), two.ours(backend, &parallel)}, 21);
  std::printf("two threads, 1024x1024x1024 u8s8 int32: %.2f times one (best), %.2f (median)\n",
              samples[0].best / samples[1].best, samples[0].median / samples[1].median);
}

}  // namespace

int compare_gemm(const char* backend, const char* json_path) {
  const std::string kernel = kernel_of(backend);
  if (kernel.empty()) {
    std::fprintf(stderr, "samebit_bench: backend %s cannot be used here\n", backend);
    return 2;
  }
  const auto [peak_operations, peak_call] = peak(kernel);
  std::printf(
      "kernel %s\n\n| output | types | m x n x k | samebit GOPS best (median) | of peak | peer | GOPS best "
      "(median) | ratio |\n"
      "|---|---|---|---|---|---|---|---|\n",
      kernel.c_str());
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  double log_sum = 0;
  int ratios = 0;
  for (const Shape& shape : kShapes) {
    for (const Types& types : kTypes) {
      for (const bool codes : {false, true}) {
        Row row{shape,
                types,
                codes,
                aligned<uint8_t>(shape.m * shape.k),
                aligned<uint8_t>(shape.k * shape.n),
                aligned<uint8_t>(4 * shape.m * shape.n),
                nullptr,
                nullptr};
        probe::Rng r(1);
        for (size_t i = 0; i < shape.m * shape.k; ++i) row.a.get()[i] = static_cast<uint8_t>(r.next() >> 20);
        for (size_t i = 0; i < shape.k * shape.n; ++i) row.b.get()[i] = static_cast<uint8_t>(r.next() >> 20);
        std::vector<Call> calls = {row.ours(backend)};
        std::vector<std::string> names = {"samebit"};
        const auto other = aligned<uint8_t>(4 * shape.m * shape.n);
        [[maybe_unused]] const auto peer = [&](const char* name, const Call& call) {
          if (!call) return;
          calls.push_back(call);
          names.push_back(name);
        };
#ifdef SAMEBIT_HAVE_DNNL
        peer("oneDNN", onednn(row, other.get()));
#endif
#ifdef SAMEBIT_HAVE_XNNPACK
        peer("XNNPACK", xnnpack(row, other.get()));
#endif
        const size_t rivals = calls.size();
        if (peak_call) calls.push_back(peak_call);
        const std::vector<Sample> samples = interleave(calls, 11);
        const double operations =
            2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
        const auto gops = [&](double seconds) { return operations / seconds * 1e-9; };
        size_t best = 0;
        for (size_t i = 1; i < rivals; ++i)
          if (best == 0 || samples[i].best < samples[best].best) best = i;
        const double share =
            peak_call ? gops(samples[0].best) / (peak_operations / samples.back().best * 1e-9) : 0;
        std::printf("| %s | %s | %zux%zux%zu | %.0f (%.0f) | %.2f |", codes ? "codes" : "int32", types.name,
                    shape.m, shape.n, shape.k, gops(samples[0].best), gops(samples[0].median), share);
        if (best) {
          const double ratio = samples[best].best / samples[0].best;
          log_sum += std::log(ratio);
          ++ratios;
          std::printf(" %s | %.0f (%.0f) | **%.2f** |\n", names[best].c_str(), gops(samples[best].best),
                      gops(samples[best].median), ratio);
        } else {
          std::printf(" - | - | - |\n");
        }
        std::fflush(stdout);
        for (size_t i = 0; i < rivals; ++i)
          json.push_back({{"output", codes ? "codes" : "int32"},
                          {"types", types.name},
                          {"m", shape.m},
                          {"n", shape.n},
                          {"k", shape.k},
                          {"library", names[i]},
                          {"gops", gops(samples[i].best)},
                          {"gops_median", gops(samples[i].median)},
                          {"share_of_peak", i == 0 ? share : 0.0}});
      }
    }
  }
  if (ratios) std::printf("\ngeometric mean of %d ratios: %.2f\n", ratios, std::exp(log_sum / ratios));
  print_threads(backend);
  if (json_path) {
    std::ofstream file(json_path);
    file << json.dump(1) << '\n';
    if (!file.flush()) return 1;
  }
  return 0;
}

}  // namespace samebit::bench
