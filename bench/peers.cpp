// Element-wise rows against oneDNN and XNNPACK in one process, on the same data. Their arithmetic is not
// ours: the nearest operation of each library is timed. GB/s count bytes read and written.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/bench.h"
#include "probe/inputs.h"
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
using Runners = std::map<std::string, Call>;  // by library

constexpr sb_quant kA{0.11f, 128}, kB{0.07f, 120}, kY{0.13f, 127};

/// 64-byte aligned memory. Buffers start at different places of a page: a load that has the page offset of an
/// earlier store waits for it.
class Arena {
 public:
  explicit Arena(size_t bytes)
      : memory_(static_cast<uint8_t*>(std::aligned_alloc(4096, (bytes + 65535) / 4096 * 4096))) {}
  ~Arena() { std::free(memory_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  template <class X>
  X* take(size_t n) {
    auto* p = reinterpret_cast<X*>(memory_ + used_);
    used_ += (n * sizeof(X) + 4095) / 4096 * 4096 + 1344;
    return p;
  }

 private:
  uint8_t* memory_;
  size_t used_ = 0;
};

struct Buffers {
  uint8_t *a, *b, *y;
  float* f;
  int32_t* i;
};

sb_context context() {
  sb_context c;
  sb_context_init(&c, nullptr, nullptr);
  return c;
}

/// Our rows.
std::map<std::string, Call> ours(const Buffers& m, size_t n) {
  const sb_context c = context();
  std::map<std::string, Call> rows;
  sb_qlinear_add_plan add;
  sb_qlinear_add_prepare(&c, SB_UINT8, kA, kB, kY, &add, nullptr);
  rows["qadd"] = [=] { sb_qlinear_add_run(&add, m.a, m.b, m.y, n, nullptr); };
  rows["qadd_scalar"] = [=] { sb_qlinear_add_run_scalar_b(&add, m.a, m.b, m.y, n, nullptr); };
  sb_qlinear_mul_plan mul;
  sb_qlinear_mul_prepare(&c, SB_UINT8, kA, kB, kY, &mul, nullptr);
  rows["qmul"] = [=] { sb_qlinear_mul_run(&mul, m.a, m.b, m.y, n, nullptr); };
  sb_quantize_linear_plan quantize;
  sb_quantize_linear_prepare(&c, SB_UINT8, kA, &quantize, nullptr);
  rows["quantize"] = [=] { sb_quantize_linear_run(&quantize, m.f, m.y, n, nullptr); };
  sb_dequantize_linear_plan dequantize;
  sb_dequantize_linear_prepare(&c, SB_UINT8, kA, &dequantize, nullptr);
  rows["dequantize"] = [=] { sb_dequantize_linear_run(&dequantize, m.a, m.f, n, nullptr); };
  static const float scale = 1e-3f;
  static const std::vector<float> scales(64, 1e-3f);
  sb_requantize_plan tensor, column;
  sb_requantize_prepare(&c, SB_UINT8, &scale, 1, nullptr, 64, 3, &tensor, nullptr);
  sb_requantize_prepare(&c, SB_UINT8, scales.data(), 64, nullptr, 64, 3, &column, nullptr);
  rows["requant_tensor"] = [=] { sb_requantize_run(&tensor, m.i, m.y, n / 64, nullptr); };
  rows["requant_column"] = [=] { sb_requantize_run(&column, m.i, m.y, n / 64, nullptr); };
  return rows;
}

#ifdef SAMEBIT_HAVE_XNNPACK
/// Keeps an operator alive as long as the call that runs it.
Call runner(xnn_operator_t op) {
  std::shared_ptr<xnn_operator> owner(op, [](xnn_operator_t o) { xnn_delete_operator(o); });
  return [owner] { xnn_run_operator(owner.get(), nullptr); };
}

void xnnpack(const Buffers& m, size_t n, std::map<std::string, Runners>* rows) {
  if (xnn_initialize(nullptr) != xnn_status_success) return;
  xnn_operator_t op = nullptr;
  const size_t shape[1] = {n}, one[1] = {1};
  const auto byte = [](int32_t v) { return static_cast<uint8_t>(v); };
  for (const bool scalar : {false, true}) {
    if (xnn_create_add_nd_qu8(byte(kA.zero_point), kA.scale, byte(kB.zero_point), kB.scale,
                              byte(kY.zero_point), kY.scale, 0, 255, 0, &op) == xnn_status_success &&
        xnn_setup_add_nd_qu8(op, 1, shape, 1, scalar ? one : shape, m.a, m.b, m.y, nullptr) ==
            xnn_status_success)
      (*rows)[scalar ? "qadd_scalar" : "qadd"]["XNNPACK"] = runner(op);
  }
  if (xnn_create_multiply_nd_qu8(byte(kA.zero_point), kA.scale, byte(kB.zero_point), kB.scale,
                                 byte(kY.zero_point), kY.scale, 0, 255, 0, &op) == xnn_status_success &&
      xnn_setup_multiply_nd_qu8(op, 1, shape, 1, shape, m.a, m.b, m.y, nullptr) == xnn_status_success)
    (*rows)["qmul"]["XNNPACK"] = runner(op);
  if (xnn_create_convert_nc_f32_qu8(1, 1, 1, kA.scale, byte(kA.zero_point), 0, 255, 0, &op) ==
          xnn_status_success &&
      xnn_setup_convert_nc_f32_qu8(op, n, m.f, m.y, nullptr) == xnn_status_success)
    (*rows)["quantize"]["XNNPACK"] = runner(op);
  if (xnn_create_convert_nc_qu8_f32(1, 1, 1, kA.scale, byte(kA.zero_point), 0, &op) == xnn_status_success &&
      xnn_setup_convert_nc_qu8_f32(op, n, m.a, m.f, nullptr) == xnn_status_success)
    (*rows)["dequantize"]["XNNPACK"] = runner(op);
}
#endif

#ifdef SAMEBIT_HAVE_DNNL
void onednn(const Buffers& m, size_t n, std::map<std::string, Runners>* rows) {
  using dnnl::memory;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::stream stream(engine);
  const auto tensor = [&](memory::data_type type, memory::dims dims, void* data) {
    return memory({dims, type, dims.size() == 1 ? memory::format_tag::a : memory::format_tag::ab}, engine,
                  data);
  };
  const auto size = static_cast<memory::dim>(n);
  const auto u8 = memory::data_type::u8, f32 = memory::data_type::f32, s32 = memory::data_type::s32;
  for (const bool scalar : {false, true}) {
    const memory a = tensor(u8, {size}, m.a), b = tensor(u8, {scalar ? 1 : size}, m.b),
                 y = tensor(u8, {size}, m.y);
    dnnl::primitive_attr attr;
    attr.set_scales(DNNL_ARG_SRC_0, 0, {kA.scale / kY.scale});
    attr.set_scales(DNNL_ARG_SRC_1, 0, {kB.scale / kY.scale});
    const dnnl::binary op(
        {{dnnl::algorithm::binary_add, a.get_desc(), b.get_desc(), y.get_desc()}, attr, engine});
    (*rows)[scalar ? "qadd_scalar" : "qadd"]["oneDNN"] = [=]() mutable {
      op.execute(stream, {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, y}});
    };
  }
  const auto reorder = [&](const char* row, const memory& x, const memory& y, int mask,
                           std::vector<float> scales) {
    dnnl::primitive_attr attr;
    attr.set_output_scales(mask, scales);
    const dnnl::reorder op({engine, x.get_desc(), engine, y.get_desc(), attr});
    (*rows)[row]["oneDNN"] = [=]() mutable { op.execute(stream, {{DNNL_ARG_FROM, x}, {DNNL_ARG_TO, y}}); };
  };
  reorder("quantize", tensor(f32, {size}, m.f), tensor(u8, {size}, m.y), 0, {1 / kA.scale});
  reorder("dequantize", tensor(u8, {size}, m.a), tensor(f32, {size}, m.f), 0, {kA.scale});
  const memory::dims matrix = {size / 64, 64};
  reorder("requant_tensor", tensor(s32, matrix, m.i), tensor(u8, matrix, m.y), 0, {1e-3f});
  reorder("requant_column", tensor(s32, matrix, m.i), tensor(u8, matrix, m.y), 2,
          std::vector<float>(64, 1e-3f));
}
#endif

}  // namespace

int compare_with_peers(const char* json_path) {
  static const std::vector<std::pair<const char*, double>> kRows = {
      {"qadd", 3},       {"qadd_scalar", 2},    {"qmul", 3},          {"quantize", 5},
      {"dequantize", 5}, {"requant_tensor", 5}, {"requant_column", 5}};
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::printf(
      "| row | n | samebit GB/s best (median) | of copy | peer | GB/s best (median) | ratio |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const size_t n : {size_t{1} << 10, size_t{1} << 16, size_t{1} << 20, size_t{1} << 24}) {
    Arena arena(11 * n + 65536);
    const Buffers m{arena.take<uint8_t>(n), arena.take<uint8_t>(n), arena.take<uint8_t>(n),
                    arena.take<float>(n), arena.take<int32_t>(n)};
    probe::Rng r(1);
    for (size_t i = 0; i < n; ++i) {
      m.a[i] = static_cast<uint8_t>(r.next());
      m.b[i] = static_cast<uint8_t>(r.next());
      m.f[i] = static_cast<float>(r.between(-1500, 1500)) / 100.0f;
      m.i[i] = r.between(-150000, 150000);
    }
    std::map<std::string, Runners> peers;
#ifdef SAMEBIT_HAVE_XNNPACK
    xnnpack(m, n, &peers);
#endif
#ifdef SAMEBIT_HAVE_DNNL
    onednn(m, n, &peers);
#endif
    const auto own = ours(m, n);
    for (const auto& [row, bytes_per_value] : kRows) {
      std::vector<Call> calls = {own.at(row)};
      std::vector<std::string> names = {"samebit"};
      for (const auto& [library, call] : peers[row]) {
        calls.push_back(call);
        names.push_back(library);
      }
      const std::vector<Sample> samples = interleave(calls);
      const double bytes = bytes_per_value * static_cast<double>(n);
      const double copy = copy_bandwidth(static_cast<size_t>(bytes));
      const auto gb = [&](double seconds) { return bytes / seconds * 1e-9; };
      size_t best = 0;
      for (size_t i = 1; i < samples.size(); ++i)
        if (best == 0 || samples[i].best < samples[best].best) best = i;
      std::printf("| %s | %zu | %.1f (%.1f) | %.2f |", row, n, gb(samples[0].best), gb(samples[0].median),
                  bytes / samples[0].best / copy);
      if (best) {
        std::printf(" %s | %.1f (%.1f) | **%.2f** |\n", names[best].c_str(), gb(samples[best].best),
                    gb(samples[best].median), samples[best].best / samples[0].best);
      } else {
        std::printf(" - | - | - |\n");
      }
      for (size_t i = 0; i < samples.size(); ++i)
        json.push_back({{"row", row},
                        {"n", n},
                        {"library", names[i]},
                        {"gb_per_s", gb(samples[i].best)},
                        {"gb_per_s_median", gb(samples[i].median)},
                        {"copy_gb_per_s", copy * 1e-9}});
    }
  }
  if (json_path) {
    std::ofstream file(json_path);
    file << json.dump(1) << '\n';
    if (!file.flush()) return 1;
  }
  return 0;
}

}  // namespace samebit::bench
