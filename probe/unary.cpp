// Probes of QuantizeLinear, DequantizeLinear and table lookups.
#include <cstdio>
#include <memory>

#include "params/quantize.h"
#include "probe/guard.h"
#include "probe/inputs.h"
#include "probe/lists.h"

namespace samebit::probe {
namespace {

template <class T>
constexpr sb_type kSbType = sizeof(T) == 4 ? SB_INT32
                            : T(-1) < T(0) ? SB_INT8
                                           : SB_UINT8;

/// Input x of n values of X, output y of Y, through `call(table, x, y, n, seed)`; in place where S says so.
template <class S>
struct Unary {
  using X = typename S::X;
  using Y = typename S::Y;
  static bool same(const KernelTable& s, const KernelTable& t) { return S::kernel(s) == S::kernel(t); }
  static Output run(const KernelTable& t, const Case& c) {
    const Layout layout = decode(c.variant);
    const size_t n = c.size;
    const Guarded x(n * sizeof(X), sizeof(X), layout),
        own(n * sizeof(Y), sizeof(Y), {0, layout.offset * 3 % 64, layout.at_end});
    const std::vector<X> values = S::values(c);
    if (n) std::memcpy(x.as<X>(), values.data(), n * sizeof(X));
    Y* y = layout.in_place ? x.as<Y>() : own.as<Y>();
    S::call(t, x.as<X>(), y, n, c.seed);
    Output out;
    const auto* bytes = reinterpret_cast<const uint8_t*>(y);
    out.bytes.assign(bytes, bytes + n * sizeof(Y));
    out.guards_intact = x.intact() && own.intact();
    return out;
  }
  static std::vector<Case> cases(Effort effort) {
    return elementwise_cases(effort, S::kGrid, S::kInPlace, sizeof(X) + sizeof(Y));
  }
  static Bench bench(const KernelTable& t, size_t n) {
    auto memory = std::make_shared<std::vector<uint8_t>>((sizeof(X) + sizeof(Y)) * n + 16384);
    uint8_t* base = memory->data() + (64 - reinterpret_cast<uintptr_t>(memory->data()) % 64);
    X* x = reinterpret_cast<X*>(base);
    Y* y = reinterpret_cast<Y*>(base + (n * sizeof(X) + 4095) / 4096 * 4096 + 1344);
    const Case c{5, n, 0};  // kind 5: an ordinary parameter set
    const std::vector<X> values = S::bench_values(c);
    std::memcpy(x, values.data(), n * sizeof(X));
    return {[=, &t] {
              (void)memory;
              S::call(t, x, y, n, 5);
            },
            static_cast<double>((sizeof(X) + sizeof(Y)) * n)};
  }
  static Probe probe(const char* name) { return {name, same, run, cases, S::describe, bench}; }
};

template <class T, QuantizeRule kRule>
struct Quantize {
  using X = float;
  using Y = T;
  static constexpr size_t kGrid = 32768;
  static constexpr int kInPlace = 0;
  static sb_quant quant(uint64_t seed) {
    sb_quant q = draw_quant(seed, kRange<T>.lo, kRange<T>.hi, kRule == QuantizeRule::f32_divide);
    // Parameter sets that the reciprocal refuses go to the division.
    if (kRule == QuantizeRule::f32_reciprocal && !reciprocal_is_exact(q.scale)) q.scale = 0x1.47ae14p-7f;
    return q;
  }
  static auto kernel(const KernelTable& t) {
    if constexpr (kRule == QuantizeRule::exact) return t.of<T>().quantize_exact;
    else if constexpr (kRule == QuantizeRule::f32_divide) return t.of<T>().quantize_f32_divide;
    else return t.of<T>().quantize_f32_reciprocal;
  }
  static std::vector<float> values(const Case& c) { return draw_floats(c.seed, c.size, quant(c.seed).scale); }
  static std::vector<float> bench_values(const Case& c) {
    std::vector<float> x(c.size);
    Rng r(1);
    for (float& v : x) v = static_cast<float>(r.between(-200, 200)) * quant(c.seed).scale;
    return x;
  }
  static void call(const KernelTable& t, const float* x, T* y, size_t n, uint64_t seed) {
    const sb_quant q = quant(seed);
    const sb_profile profile = kRule == QuantizeRule::exact ? SB_EXACT : SB_ORT_X64_VNNI;
    const QuantizeParams p = prepare_quantize(profile, kSbType<T>, q);
    if constexpr (kRule == QuantizeRule::exact) kernel(t)(x, y, n, p.exact);
    else kernel(t)(x, y, n, p.f32);
  }
  static std::string describe(const Case& c, size_t i) {
    const sb_quant q = quant(c.seed);
    char line[240];
    std::snprintf(
        line, sizeof line,
        "samebit explain QuantizeLinear --type %s --x %s --y-scale %s --y-zero-point %d --profile %s",
        sb_type_name(kSbType<T>), text(values(c)[i]).c_str(), text(q.scale).c_str(), q.zero_point,
        kRule == QuantizeRule::exact ? "exact" : "ort_x64_vnni");
    return line;
  }
};

template <class T, DequantizeRule kRule>
struct Dequantize {
  using X = T;
  using Y = float;
  static constexpr size_t kGrid = sizeof(T) == 1 ? 256 : 32768;
  static constexpr int kInPlace = sizeof(T) == 4 ? 1 : 0;
  static constexpr bool kExact = kRule == DequantizeRule::exact;
  static constexpr bool kInfinite = kRule == DequantizeRule::f32_infinite;
  static constexpr sb_profile kProfile = kExact ? SB_EXACT : SB_ORT_X64_VNNI;
  static sb_quant quant(uint64_t seed) {
    sb_quant q =
        draw_quant(seed, sizeof(T) == 1 ? kRange<T>.lo : -128, sizeof(T) == 1 ? kRange<T>.hi : 127, false);
    if (seed % 16 == 3) q.scale = 0x1.8p-140f;
    if (kInfinite) q.scale = from_bits(seed % 2 ? 0x7f800000 : 0xff800000);
    if (sizeof(T) == 4 && seed % 3 == 1) q.zero_point = draw_words(seed, 1)[0];
    return q;
  }
  static auto kernel(const KernelTable& t) {
    if constexpr (sizeof(T) == 1 && kInfinite) return t.of<T>().dequantize_f32_infinite;
    else if constexpr (sizeof(T) == 1) return t.of<T>().dequantize_f32;
    else if constexpr (kInfinite) return t.dequantize_s32_f32_infinite;
    else if constexpr (kExact) return t.dequantize_s32_exact;
    else return t.dequantize_s32_f32;
  }
  static std::vector<T> values(const Case& c) {
    if constexpr (sizeof(T) == 4) return draw_words(c.seed, c.size);
    std::vector<T> x(c.size);
    const std::vector<uint8_t> codes = draw_codes(c.seed, c.size);
    for (size_t i = 0; i < c.size; ++i) x[i] = static_cast<T>(c.size == 256 ? i : codes[i]);
    return x;
  }
  static std::vector<T> bench_values(const Case& c) { return values(c); }
  static void call(const KernelTable& t, const T* x, float* y, size_t n, uint64_t seed) {
    const DequantizeParams p = prepare_dequantize(kProfile, kSbType<T>, quant(seed));
    if constexpr (kExact) kernel(t)(x, y, n, p.exact);
    else if constexpr (kInfinite) kernel(t)(x, y, n, p.infinite);
    else kernel(t)(x, y, n, p.f32);
  }
  static std::string describe(const Case& c, size_t i) {
    const sb_quant q = quant(c.seed);
    char line[240];
    std::snprintf(
        line, sizeof line,
        "samebit explain DequantizeLinear --type %s --x %d --x-scale %s --x-zero-point %d --profile %s",
        sb_type_name(kSbType<T>), static_cast<int>(values(c)[i / 4]), text(q.scale).c_str(), q.zero_point,
        sb_profile_name(kProfile));
    return line;
  }
};

struct MinMaxF32 {
  using X = float;
  using Y = MinMax;
  static bool same(const KernelTable& s, const KernelTable& t) { return s.min_max_f32 == t.min_max_f32; }
  /// Ordinary numbers, or with one special value at a place that moves with the seed.
  static std::vector<float> values(const Case& c) {
    std::vector<float> x(c.size);
    Rng r(c.seed * 53 + 1);
    for (float& v : x) v = from_bits(0x3f800000u ^ (r.below(1u << 31) & 0x80ffffffu));
    if (c.seed % 3 == 0 && c.size)
      x[c.seed / 3 % c.size] = draw_floats(c.seed, 1, from_bits(0x7f800000 + c.seed % 2))[0];
    if (c.seed % 7 == 0 && c.size) x[c.seed % c.size] = from_bits(c.seed % 2 ? 0xff800000 : 0x7fc00001);
    return x;
  }
  static Output run(const KernelTable& t, const Case& c) {
    const Layout layout = decode(c.variant);
    const Guarded x(c.size * sizeof(float), sizeof(float), layout);
    const std::vector<float> v = values(c);
    if (c.size) std::memcpy(x.as<float>(), v.data(), c.size * sizeof(float));
    MinMax result;
    t.min_max_f32(x.as<float>(), c.size, &result);
    // Extremes count only where all values are finite.
    const float kept[2] = {result.all_finite ? result.min : 0, result.all_finite ? result.max : 0};
    Output out;
    out.bytes.resize(sizeof kept + 1);
    std::memcpy(out.bytes.data(), kept, sizeof kept);
    out.bytes.back() = result.all_finite;
    out.guards_intact = x.intact();
    return out;
  }
  static std::vector<Case> cases(Effort effort) { return elementwise_cases(effort, 4096, 0, sizeof(float)); }
  static std::string describe(const Case& c, size_t) {
    char line[100];
    std::snprintf(line, sizeof line, "extremes of %zu values of seed %llu", c.size,
                  static_cast<unsigned long long>(c.seed));
    return line;
  }
  static Bench bench(const KernelTable& t, size_t n) {
    auto memory = std::make_shared<std::vector<float>>(n, 1.0f);
    return {[=, &t] {
              MinMax result;
              t.min_max_f32(memory->data(), n, &result);
            },
            4.0 * static_cast<double>(n)};
  }
};

template <class T>
struct Lookup {
  using X = T;
  using Y = T;
  static constexpr size_t kGrid = 1024;
  static constexpr int kInPlace = 1;
  static auto kernel(const KernelTable& t) { return t.of<T>().lookup256; }
  static std::vector<T> values(const Case& c) {
    std::vector<T> x(c.size);
    const std::vector<uint8_t> codes = draw_codes(c.seed, c.size);
    for (size_t i = 0; i < c.size; ++i) x[i] = static_cast<T>(c.size == 1024 ? i : codes[i]);
    return x;
  }
  static std::vector<T> bench_values(const Case& c) { return values(c); }
  static void call(const KernelTable& t, const T* x, T* y, size_t n, uint64_t seed) {
    T table[256];
    Rng r(seed);
    for (T& v : table) v = static_cast<T>(r.below(256));
    kernel(t)(x, y, n, table);
  }
  static std::string describe(const Case& c, size_t i) {
    char line[120];
    std::snprintf(line, sizeof line, "table of seed %llu, code %d", static_cast<unsigned long long>(c.seed),
                  static_cast<int>(values(c)[i]));
    return line;
  }
};

}  // namespace

void add_unary(std::vector<Probe>* list) {
  list->push_back(Unary<Quantize<int8_t, QuantizeRule::f32_divide>>::probe("quantize_s8.f32_divide"));
  list->push_back(Unary<Quantize<uint8_t, QuantizeRule::f32_divide>>::probe("quantize_u8.f32_divide"));
  list->push_back(Unary<Quantize<int8_t, QuantizeRule::f32_reciprocal>>::probe("quantize_s8.f32_reciprocal"));
  list->push_back(
      Unary<Quantize<uint8_t, QuantizeRule::f32_reciprocal>>::probe("quantize_u8.f32_reciprocal"));
  list->push_back(Unary<Quantize<int8_t, QuantizeRule::exact>>::probe("quantize_s8.exact"));
  list->push_back(Unary<Quantize<uint8_t, QuantizeRule::exact>>::probe("quantize_u8.exact"));
  list->push_back(Unary<Dequantize<int8_t, DequantizeRule::f32>>::probe("dequantize_s8.f32"));
  list->push_back(
      Unary<Dequantize<int8_t, DequantizeRule::f32_infinite>>::probe("dequantize_s8.f32_infinite"));
  list->push_back(Unary<Dequantize<uint8_t, DequantizeRule::f32>>::probe("dequantize_u8.f32"));
  list->push_back(
      Unary<Dequantize<uint8_t, DequantizeRule::f32_infinite>>::probe("dequantize_u8.f32_infinite"));
  list->push_back(Unary<Dequantize<int32_t, DequantizeRule::f32>>::probe("dequantize_s32.f32"));
  list->push_back(
      Unary<Dequantize<int32_t, DequantizeRule::f32_infinite>>::probe("dequantize_s32.f32_infinite"));
  list->push_back(Unary<Dequantize<int32_t, DequantizeRule::exact>>::probe("dequantize_s32.exact"));
  list->push_back({"min_max.f32", MinMaxF32::same, MinMaxF32::run, MinMaxF32::cases, MinMaxF32::describe,
                   MinMaxF32::bench});
  list->push_back(Unary<Lookup<int8_t>>::probe("lookup256_s8.table"));
  list->push_back(Unary<Lookup<uint8_t>>::probe("lookup256_u8.table"));
}

}  // namespace samebit::probe
