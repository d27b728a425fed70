// Probes of requantize: per tensor and per column, with and without bias.
#include "params/requantize.h"

#include <cmath>
#include <cstdio>
#include <memory>

#include "probe/guard.h"
#include "probe/inputs.h"
#include "probe/lists.h"

namespace samebit::probe {
namespace {

/// What a case stands for. size = rows * columns; the variant's bits from 9 on hold the columns.
struct Shape {
  size_t rows, columns;
  bool per_column, with_bias;
};
Shape shape(const Case& c) {
  const size_t columns = static_cast<size_t>(c.variant >> 9);
  return {c.size / columns, columns, (c.seed & 1) != 0, (c.seed & 2) != 0};
}

template <class T, RequantizeRule kRule>
struct Requant {
  struct Data {
    std::vector<int32_t> acc, bias;
    std::vector<float> scale;
    int32_t zero_point;
  };
  static Data data(const Case& c) {
    const Shape s = shape(c);
    Data d;
    d.acc = draw_words(c.seed, c.size);
    d.bias = draw_words(c.seed + 1000003, s.columns);
    d.scale.resize(s.columns);
    Rng r(c.seed * 17 + 9);
    for (float& v : d.scale) {
      // Powers of two and their sums give exact ties with integer accumulators.
      const float m = r.below(2) ? 1.0f : r.below(2) ? 1.5f : from_bits(0x3f800000u | r.below(1u << 23));
      v = std::ldexp(m, -r.between(0, 24));
      if (kRule != RequantizeRule::exact && c.seed % 5 == 4 && r.below(3) == 0) {
        static const uint32_t kBits[] = {0x7fc00000, 0x7f800000, 0xff800000,
                                         0x00000000, 0xbf000000, 0x00000001};
        v = from_bits(kBits[r.below(6)]);
      }
    }
    // Accumulators around the range of codes, where rounding decides; the rest stays far outside.
    for (size_t i = 0; i < d.acc.size(); ++i) {
      if (i % 3 == 0) continue;
      const float scale = d.scale[s.per_column ? i % s.columns : 0];
      const float inverse = scale > 0 && scale <= 1 ? 1.0f / scale : 1.0f;
      d.acc[i] =
          static_cast<int32_t>(static_cast<float>(r.between(-600, 600)) * 0.5f * std::fmin(inverse, 3e6f));
      if (s.with_bias)
        d.acc[i] = static_cast<int32_t>(static_cast<uint32_t>(d.acc[i]) -
                                        static_cast<uint32_t>(d.bias[i % s.columns]));
    }
    d.zero_point = r.below(3) == 0 ? kRange<T>.lo : r.between(kRange<T>.lo, kRange<T>.hi);
    return d;
  }
  static auto kernel(const KernelTable& t) {
    if constexpr (kRule == RequantizeRule::f32_clamp) return t.of<T>().requantize_f32_clamp;
    else if constexpr (kRule == RequantizeRule::f32_saturate) return t.of<T>().requantize_f32_saturate;
    else return t.of<T>().requantize_exact;
  }
  static bool same(const KernelTable& s, const KernelTable& t) { return kernel(s) == kernel(t); }

  static Output run(const KernelTable& t, const Case& c) {
    const Shape s = shape(c);
    const Data d = data(c);
    const Layout layout = decode(c.variant & 0x1ff);
    const Guarded acc(4 * c.size, 4, layout), bias(4 * s.columns, 4, {0, 0, true}),
        scale(4 * s.columns, 4, {0, 0, true}), y(c.size, 1, {0, layout.offset * 3 % 64, layout.at_end});
    if (c.size) std::memcpy(acc.as<int32_t>(), d.acc.data(), 4 * c.size);
    std::memcpy(bias.as<int32_t>(), d.bias.data(), 4 * s.columns);
    std::memcpy(scale.as<float>(), d.scale.data(), 4 * s.columns);
    const Requantize p{scale.as<float>(), s.with_bias ? bias.as<int32_t>() : nullptr, s.columns, s.per_column,
                       d.zero_point};
    kernel(t)(acc.as<int32_t>(), y.as<T>(), s.rows, p);
    Output out;
    out.bytes.assign(y.as<uint8_t>(), y.as<uint8_t>() + c.size);
    out.guards_intact = acc.intact() && bias.intact() && scale.intact() && y.intact();
    return out;
  }
  static std::vector<Case> cases(Effort effort) {
    std::vector<Case> list;
    uint64_t seed = 0;
    const auto add = [&](size_t rows, size_t columns, Layout layout) {
      for (int form = 0; form < 4; ++form)
        list.push_back({seed++, rows * columns, encode(layout) | static_cast<int>(columns) << 9});
    };
    for (size_t columns = 1; columns <= 130; ++columns) {
      for (size_t rows : {0, 1, 2, 3, 7}) add(rows, columns, {0, columns % 64, rows % 2 == 1});
    }
    for (size_t columns : {511, 512, 513, 514, 768, 1000}) {
      for (size_t rows : {1, 2, 5}) add(rows, columns, {0, columns % 64, rows % 2 == 1});
    }
    for (size_t offset = 0; offset < 64; ++offset) add(3, 100 + offset, {0, offset, false});
    if (effort != Effort::small) add((size_t{14} << 20) / 5 / 333, 333, {0, 5, false});
    if (effort == Effort::full) {
      for (int i = 0; i < 50; ++i) add(100, 500, {0, 0, false});
      add((size_t{14} << 20) / 5 / 3000, 3000, {0, 1, false});
      add((size_t{14} << 20) / 5, 1, {0, 0, false});
    }
    return list;
  }
  static std::string describe(const Case& c, size_t i) {
    const Shape s = shape(c);
    const Data d = data(c);
    char line[300];
    std::snprintf(
        line, sizeof line,
        "samebit explain Requantize --type %s --acc %d --bias %d --scale %s --y-zero-point %d --profile %s",
        kRange<T>.lo < 0 ? "int8" : "uint8", d.acc[i], s.with_bias ? d.bias[i % s.columns] : 0,
        text(d.scale[s.per_column ? i % s.columns : 0]).c_str(), d.zero_point,
        kRule == RequantizeRule::exact       ? "exact"
        : kRule == RequantizeRule::f32_clamp ? "ort_x64_vnni"
                                             : "ort_arm64_dot");
    return line;
  }
  static Bench bench(const KernelTable& t, size_t n) {
    // 64 columns with a scale each: the harder of the two forms.
    constexpr size_t kColumns = 64;
    auto memory = std::make_shared<std::vector<uint8_t>>(5 * n + 16384);
    auto scale = std::make_shared<std::vector<float>>(kColumns, 1e-3f);
    uint8_t* base = memory->data() + (64 - reinterpret_cast<uintptr_t>(memory->data()) % 64);
    auto* acc = reinterpret_cast<int32_t*>(base);
    auto* y = reinterpret_cast<T*>(base + (4 * n + 4095) / 4096 * 4096 + 1344);
    Rng r(1);
    for (size_t i = 0; i < n; ++i) acc[i] = r.between(-100000, 100000);
    const Requantize p{scale->data(), nullptr, kColumns, true, 3};
    const auto k = kernel(t);
    return {[=] {
              (void)memory;
              (void)scale;
              k(acc, y, n / kColumns, p);
            },
            5.0 * static_cast<double>(n)};
  }
  static Probe probe(const char* name) { return {name, same, run, cases, describe, bench}; }
};

}  // namespace

void add_requantize(std::vector<Probe>* list) {
  list->push_back(Requant<int8_t, RequantizeRule::f32_clamp>::probe("requantize_s8.f32_clamp"));
  list->push_back(Requant<uint8_t, RequantizeRule::f32_clamp>::probe("requantize_u8.f32_clamp"));
  list->push_back(Requant<int8_t, RequantizeRule::f32_saturate>::probe("requantize_s8.f32_saturate"));
  list->push_back(Requant<uint8_t, RequantizeRule::f32_saturate>::probe("requantize_u8.f32_saturate"));
  list->push_back(Requant<int8_t, RequantizeRule::exact>::probe("requantize_s8.exact"));
  list->push_back(Requant<uint8_t, RequantizeRule::exact>::probe("requantize_u8.exact"));
}

}  // namespace samebit::probe
