// Probes of QLinearAdd and QLinearMul.
#include <cstdio>
#include <memory>

#include "params/add.h"
#include "params/mul.h"
#include "probe/guard.h"
#include "probe/inputs.h"
#include "probe/lists.h"

namespace samebit::probe {
namespace {

template <class T>
constexpr const char* kType = T(-1) < T(0) ? "int8" : "uint8";

/// A rule: the kernel's member, the constants from a parameter set, and how explain is asked for it.
struct AddFma {
  using P = sb_ref_add_f32;
  static constexpr const char *op = "QLinearAdd", *profile = "ort_x64_vnni";
  static constexpr bool special = true;
  template <class T>
  static constexpr auto kernel = &ByteKernels<T>::add_f32_fma;
  static P make(const Quants& q) {
    return sb_ref_add_f32_fma_init(q.a.scale, q.a.zero_point, q.b.scale, q.b.zero_point, q.y.scale,
                                   q.y.zero_point, nullptr);
  }
  static Quants fit(Quants q) { return q; }
};
struct AddMulAdd : AddFma {
  static constexpr const char* profile = "ort_x64_sse";
  template <class T>
  static constexpr auto kernel = &ByteKernels<T>::add_f32_mul_add;
  static P make(const Quants& q) {
    return sb_ref_add_f32_mul_add_init(q.a.scale, q.a.zero_point, q.b.scale, q.b.zero_point, q.y.scale,
                                       q.y.zero_point, nullptr);
  }
};
struct AddFixed {
  using P = sb_ref_add_fixed21;
  static constexpr const char *op = "QLinearAdd", *profile = "ort_arm64_dot";
  static constexpr bool special = true;
  template <class T>
  static constexpr auto kernel = &ByteKernels<T>::add_fixed21;
  static bool fits(const Quants& q, P* p) {
    return sb_ref_add_fixed21_init(q.a.scale, q.a.zero_point, q.b.scale, q.b.zero_point, q.y.scale,
                                   q.y.zero_point, p, nullptr) != 0;
  }
  static P make(const Quants& q) {
    P p{};
    fits(q, &p);
    return p;
  }
  /// Sets that the rule refuses are replaced by one at its limits.
  static Quants fit(Quants q) {
    P p;
    if (!fits(q, &p)) q.a.scale = 0x1.fffff0p7f, q.b.scale = 0x1p-14f, q.y.scale = 1.0f;
    return q;
  }
};
struct AddDivide {
  using P = sb_ref_add_divide;
  static constexpr const char *op = "QLinearAdd", *profile = "ort_arm64_dot";
  static constexpr bool special = true;
  template <class T>
  static constexpr auto kernel = &ByteKernels<T>::add_f32_divide;
  static P make(const Quants& q) {
    return {q.a.scale, q.b.scale, q.y.scale, q.a.zero_point, q.b.zero_point, q.y.zero_point};
  }
  static Quants fit(Quants q) { return q; }
};
struct AddExact {
  using P = sb_ref_binary_exact;
  static constexpr const char *op = "QLinearAdd", *profile = "exact";
  static constexpr bool special = false;
  template <class T>
  static constexpr auto kernel = &ByteKernels<T>::add_exact;
  static P make(const Quants& q) {
    return sb_ref_add_exact_init(q.a.scale, q.a.zero_point, q.b.scale, q.b.zero_point, q.y.scale,
                                 q.y.zero_point);
  }
  static Quants fit(Quants q) { return q; }
};
struct MulMulAdd {
  using P = sb_ref_mul_f32;
  static constexpr const char *op = "QLinearMul", *profile = "ort_x64_vnni";
  static constexpr bool special = true;
  template <class T>
  static constexpr auto kernel = &ByteKernels<T>::mul_f32_mul_add;
  static P make(const Quants& q) {
    return sb_ref_mul_f32_init(q.a.scale, q.a.zero_point, q.b.scale, q.b.zero_point, q.y.scale,
                               q.y.zero_point, nullptr);
  }
  static Quants fit(Quants q) { return q; }
};
struct MulFma : MulMulAdd {
  static constexpr const char* profile = "ort_arm64_dot";
  template <class T>
  static constexpr auto kernel = &ByteKernels<T>::mul_f32_fma;
};
struct MulExact : AddExact {
  static constexpr const char* op = "QLinearMul";
  template <class T>
  static constexpr auto kernel = &ByteKernels<T>::mul_exact;
  static P make(const Quants& q) {
    return sb_ref_mul_exact_init(q.a.scale, q.a.zero_point, q.b.scale, q.b.zero_point, q.y.scale,
                                 q.y.zero_point);
  }
};

template <class T, class R>
struct Binary {
  static Quants quants(const Case& c) {
    return R::fit(draw_quants(c.seed, kRange<T>.lo, kRange<T>.hi, R::special));
  }

  /// Codes of operand 0 or 1: all pairs for the grid, otherwise random.
  static std::vector<uint8_t> codes(const Case& c, int which) {
    if (c.size != 65536) return draw_codes(2 * c.seed + static_cast<uint64_t>(which), c.size);
    std::vector<uint8_t> v(c.size);
    for (size_t i = 0; i < c.size; ++i) v[i] = static_cast<uint8_t>(which ? i >> 8 : i);
    return v;
  }
  static bool same(const KernelTable& s, const KernelTable& t) {
    return s.of<T>().*R::template kernel<T> == t.of<T>().*R::template kernel<T>;
  }
  static Output run(const KernelTable& t, const Case& c) {
    const Layout layout = decode(c.variant);
    const size_t n = c.size;
    const Guarded a(n, 1, layout), b(n, 1, {0, layout.offset * 7 % 64, layout.at_end}),
        own(n, 1, {0, layout.offset * 3 % 64, layout.at_end});
    const std::vector<uint8_t> a_codes = codes(c, 0), b_codes = codes(c, 1);
    if (n) {
      std::memcpy(a.as<uint8_t>(), a_codes.data(), n);
      std::memcpy(b.as<uint8_t>(), b_codes.data(), n);
    }
    T* y = layout.in_place == 0 ? own.as<T>() : layout.in_place == 1 ? a.as<T>() : b.as<T>();
    (t.of<T>().*R::template kernel<T>)(a.as<T>(), b.as<T>(), y, n, R::make(quants(c)));
    Output out;
    out.bytes.assign(reinterpret_cast<uint8_t*>(y), reinterpret_cast<uint8_t*>(y) + n);
    out.guards_intact = a.intact() && b.intact() && own.intact();
    return out;
  }
  static std::vector<Case> cases(Effort effort) { return elementwise_cases(effort, 65536, 2, 3); }
  static std::string describe(const Case& c, size_t i) {
    const Quants q = quants(c);
    char line[400];
    std::snprintf(line, sizeof line,
                  "samebit explain %s --type %s --a %d --b %d --a-scale %s --a-zero-point %d --b-scale %s "
                  "--b-zero-point %d --y-scale %s --y-zero-point %d --profile %s",
                  R::op, kType<T>, static_cast<T>(codes(c, 0)[i]), static_cast<T>(codes(c, 1)[i]),
                  text(q.a.scale).c_str(), q.a.zero_point, text(q.b.scale).c_str(), q.b.zero_point,
                  text(q.y.scale).c_str(), q.y.zero_point, R::profile);
    return line;
  }
  static Bench bench(const KernelTable& t, size_t n) {
    const auto kernel = t.of<T>().*R::template kernel<T>;
    const auto p = R::make(R::fit({{0.11f, 12}, {0.07f, 20}, {0.13f, 27}}));
    auto memory = std::make_shared<std::vector<uint8_t>>(3 * (n + 8192));
    uint8_t* base = memory->data() + (64 - reinterpret_cast<uintptr_t>(memory->data()) % 64);
    // 64-byte aligned and 1344 bytes apart modulo a page: a load must not have the page offset of a recent
    // store.
    uint8_t *a = base, *b = a + (n + 4095) / 4096 * 4096 + 1344, *y = b + (n + 4095) / 4096 * 4096 + 1344;
    const auto codes = draw_codes(1, n);
    std::memcpy(a, codes.data(), n);
    std::memcpy(b, codes.data(), n);
    return {[=] {
              (void)memory;
              kernel(reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b), reinterpret_cast<T*>(y), n,
                     p);
            },
            3.0 * static_cast<double>(n)};
  }
  static Probe probe(const char* name) { return {name, same, run, cases, describe, bench}; }
};

}  // namespace

void add_binary(std::vector<Probe>* list) {
  list->push_back(Binary<int8_t, AddFma>::probe("add_s8.f32_fma"));
  list->push_back(Binary<uint8_t, AddFma>::probe("add_u8.f32_fma"));
  list->push_back(Binary<int8_t, AddMulAdd>::probe("add_s8.f32_mul_add"));
  list->push_back(Binary<uint8_t, AddMulAdd>::probe("add_u8.f32_mul_add"));
  list->push_back(Binary<int8_t, AddFixed>::probe("add_s8.fixed21"));
  list->push_back(Binary<uint8_t, AddFixed>::probe("add_u8.fixed21"));
  list->push_back(Binary<int8_t, AddDivide>::probe("add_s8.f32_divide"));
  list->push_back(Binary<uint8_t, AddDivide>::probe("add_u8.f32_divide"));
  list->push_back(Binary<int8_t, AddExact>::probe("add_s8.exact"));
  list->push_back(Binary<uint8_t, AddExact>::probe("add_u8.exact"));
  list->push_back(Binary<int8_t, MulMulAdd>::probe("mul_s8.f32_mul_add"));
  list->push_back(Binary<uint8_t, MulMulAdd>::probe("mul_u8.f32_mul_add"));
  list->push_back(Binary<int8_t, MulFma>::probe("mul_s8.f32_fma"));
  list->push_back(Binary<uint8_t, MulFma>::probe("mul_u8.f32_fma"));
  list->push_back(Binary<int8_t, MulExact>::probe("mul_s8.exact"));
  list->push_back(Binary<uint8_t, MulExact>::probe("mul_u8.exact"));
}

}  // namespace samebit::probe
