// Probes of the GEMM kernels: one panel of B against rows of A, every output, through pack, copy and run.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "params/quant.h"
#include "probe/guard.h"
#include "probe/inputs.h"
#include "probe/lists.h"

namespace samebit::probe {
namespace {

constexpr size_t kMaxColumns = 64;

/// What a case stands for. size = m * n; seed and variant give the rest.
struct Shape {
  size_t m, n, k;
};
Shape shape(const Case& c) {
  const size_t n = static_cast<size_t>(c.variant & 127);
  return {c.size / n, n, static_cast<size_t>(c.variant >> 7)};
}

template <class X>
void place(const std::vector<X>& from, const Guarded& to) {
  if (!from.empty()) std::memcpy(to.as<X>(), from.data(), from.size() * sizeof(X));
}

template <GemmOutput kOutput, const GemmKernel* KernelTable::*kKernel = &KernelTable::gemm_exact>
struct Gemm {
  using Y = std::conditional_t<
      kOutput == GemmOutput::s32, int32_t,
      std::conditional_t<kOutput == GemmOutput::f32 || kOutput == GemmOutput::f32_fused, float, uint8_t>>;
  static constexpr bool kFloat = std::is_same_v<Y, float>;

  struct Data {
    std::vector<uint8_t> a, b;  // m x k and k x n
    std::vector<int32_t> zb, bias, add;
    std::vector<float> scale, float_bias;
    int32_t za, zero_point;
    bool flip_a, flip_b, transposed_b, copied;
  };

  static Data data(const Case& c) {
    const Shape s = shape(c);
    Rng r(c.seed * 271 + 31);
    Data d;
    // 0: ordinary codes; 1: extremes only (the sums that saturate in 16 bits); 2: one value everywhere; 3:
    // small weights, for kernels that look at their size.
    const uint32_t kind = r.below(4);
    const auto codes = [&](size_t count, uint64_t seed) {
      std::vector<uint8_t> v = draw_codes(seed, count);
      static const uint8_t kExtremes[] = {0, 255, 128, 127};
      Rng e(seed);
      const uint8_t all = kExtremes[e.below(4)];
      for (uint8_t& x : v) {
        if (kind == 1) x = kExtremes[e.below(4)];
        if (kind == 2) x = all;
      }
      return v;
    };
    d.a = codes(s.m * s.k, 2 * c.seed);
    d.b = codes(s.k * s.n, 2 * c.seed + 1);
    if (r.below(2)) {
      d.zb.resize(s.n);
      for (int32_t& z : d.zb) z = r.between(-256, 255);
    }
    if (r.below(2)) d.bias = draw_words(c.seed + 77, s.n);
    if (r.below(3) == 0) d.add = draw_words(c.seed + 78, s.m * s.n);
    d.za = r.below(3) == 0 ? 0 : r.between(-128, 383);
    d.zero_point = 0;
    if (kOutput == GemmOutput::s8_clamp || kOutput == GemmOutput::s8_saturate)
      d.zero_point = r.between(-128, 127);
    if (kOutput == GemmOutput::u8_clamp || kOutput == GemmOutput::u8_saturate)
      d.zero_point = r.between(0, 255);
    d.scale.resize(r.below(2) ? s.n : 1);
    for (float& v : d.scale) {
      const float m = r.below(2) ? 1.0f : r.below(2) ? 1.5f : from_bits(0x3f800000u | r.below(1u << 23));
      v = std::ldexp(m, -r.between(0, 20));
      if (c.seed % 7 == 6 && r.below(3) == 0) {
        static const uint32_t kBits[] = {0x7fc00000, 0x7f800000, 0xff800000,
                                         0x00000000, 0xbf000000, 0x00000001};
        // The sign of a NaN result differs between CPUs; float outputs get none.
        v = from_bits(kBits[kFloat ? 3 + r.below(3) : r.below(6)]);
      }
    }
    if (kFloat && r.below(3) != 0) {
      d.float_bias.resize(s.n);
      for (float& v : d.float_bias) v = static_cast<float>(r.between(-1000, 1000)) * d.scale[0];
    }
    d.flip_a = r.below(2) != 0;
    d.flip_b = r.below(2) != 0;
    d.transposed_b = r.below(2) != 0;
    d.copied = r.below(2) != 0;
    if (kind == 3) {
      // Sums of 2 or 4 weights of a sign reach 128 (255 * 128 < 2^15 <= 255 * 129), or pass it by 1 or 2.
      static const int kMost[] = {32, 33, 64, 65, 31, 127};
      const uint8_t zero = d.flip_b ? 128 : 0;
      const uint32_t column_kind = r.below(3);
      int most = 32;
      for (size_t k = 0; k < s.k; ++k) {
        if (k % 16 == 0) most = kMost[r.below(column_kind == 0 ? 2 : 6)];
        const bool edge = r.below(2) != 0;
        for (size_t j = 0; j < s.n; ++j) {
          int w = r.between(-most, most);
          if (edge) w = w < 0 ? -most : most;
          if (column_kind == 1 && r.below(100) != 0) w %= 33;
          d.b[k * s.n + j] = static_cast<uint8_t>(w + zero);
        }
      }
      if (r.below(2)) std::fill(d.a.begin(), d.a.end(), uint8_t{255});
    }
    return d;
  }

  static bool same(const KernelTable& s, const KernelTable& t) { return s.*kKernel == t.*kKernel; }

  static Output run(const KernelTable& t, const Case& c) {
    const Shape s = shape(c);
    const Data d = data(c);
    const GemmKernel& kernel = *(t.*kKernel);
    const Layout at_end{0, 0, true};
    const size_t lda = s.k + c.seed % 3;
    const Guarded a(s.m ? (s.m - 1) * lda + s.k : 0, 1, at_end), b(s.k * s.n, 1, at_end),
        zb(4 * d.zb.size(), 4, at_end), bias(4 * d.bias.size(), 4, at_end), add(4 * d.add.size(), 4, at_end),
        scale(4 * d.scale.size(), 4, at_end), float_bias(4 * d.float_bias.size(), 4, at_end);
    for (size_t i = 0; i < s.m && s.k; ++i) std::memcpy(a.as<uint8_t>() + i * lda, d.a.data() + i * s.k, s.k);
    for (size_t k = 0; k < s.k; ++k)
      for (size_t j = 0; j < s.n; ++j)
        b.as<uint8_t>()[d.transposed_b ? j * s.k + k : k * s.n + j] = d.b[k * s.n + j];
    place(d.zb, zb);
    place(d.bias, bias);
    place(d.add, add);
    place(d.scale, scale);
    place(d.float_bias, float_bias);

    // B in panels of the kernel's width: the bytes do not depend on it.
    Output out;
    out.bytes.resize(s.m * s.n * sizeof(Y));
    out.guards_intact = true;
    // Codes are drawn for uint8 A: a kernel of int8 A flips once more, and its zero point is 128 less.
    const bool flip_a = d.flip_a != kernel.a_signed;
    const size_t row_bytes = kernel.row_bytes(s.k);
    const Guarded rows(s.m * row_bytes, 64, at_end), sums(4 * s.m, 4, at_end);
    const bool flips = s.n <= kernel.flips_up_to;
    const bool in_place = kernel.in_place && (!flip_a || flips) && !d.copied;
    GemmCopy copy{a.as<uint8_t>(),   lda, 1, s.m, s.k, flip_a, in_place ? nullptr : rows.as<uint8_t>(),
                  sums.as<int32_t>()};
    kernel.copy(copy);
    for (size_t i = 0; i < s.m; ++i) {
      int32_t& sum = sums.as<int32_t>()[i];
      sum = static_cast<int32_t>(0u - static_cast<uint32_t>(sum));
    }
    for (size_t j = 0; j < s.n; j += kernel.nr) {
      const size_t n = s.n - j < kernel.nr ? s.n - j : kernel.nr;
      const Guarded panel(kernel.panel_bytes(n, s.k), 64, at_end);
      kernel.pack({b.as<uint8_t>() + (d.transposed_b ? j * s.k : j), d.transposed_b ? 1 : s.n,
                   d.transposed_b ? s.k : 1, n, s.k, d.flip_b, panel.as<uint8_t>()});
      const size_t ldy = n + c.seed % 2;
      const Guarded y(s.m ? ((s.m - 1) * ldy + n) * sizeof(Y) : 0, sizeof(Y), at_end);
      GemmPanel p{};
      p.a = in_place ? a.as<uint8_t>() : rows.as<uint8_t>();
      p.lda = in_place ? lda : row_bytes;
      p.m = s.m;
      p.flip_a = in_place && flip_a;
      p.k = s.k;
      p.panel = panel.as<uint8_t>();
      p.n = n;
      p.za = d.za - (kernel.a_signed ? 128 : 0);
      p.zb = d.zb.empty() ? nullptr : zb.as<int32_t>() + j;
      p.row_zb = d.zb.empty() ? nullptr : sums.as<int32_t>();
      p.bias = d.bias.empty() ? nullptr : bias.as<int32_t>() + j;
      p.add = d.add.empty() ? nullptr : add.as<int32_t>() + j;
      p.ld_add = s.n;
      p.output = kOutput;
      p.y = y.as<uint8_t>();
      p.ldy = ldy;
      p.per_column = d.scale.size() > 1;
      p.scale = scale.as<float>() + (p.per_column ? j : 0);
      p.float_bias = d.float_bias.empty() ? nullptr : float_bias.as<float>() + j;
      p.zero_point = d.zero_point;
      kernel.run(p);
      for (size_t i = 0; i < s.m; ++i)
        std::memcpy(out.bytes.data() + (i * s.n + j) * sizeof(Y), y.as<uint8_t>() + i * ldy * sizeof(Y),
                    n * sizeof(Y));
      // Between the rows of y nothing is written.
      for (size_t i = 0; i + 1 < s.m && ldy > n; ++i)
        out.guards_intact &= y.as<uint8_t>()[(i * ldy + n) * sizeof(Y)] == 0xa5;
      out.guards_intact &= panel.intact() && y.intact();
    }
    out.guards_intact &= a.intact() && b.intact() && rows.intact() && sums.intact();
    return out;
  }

  static std::vector<Case> cases(Effort effort) {
    std::vector<Case> list;
    uint64_t seed = 0;
    const auto add = [&](size_t m, size_t n, size_t k) {
      list.push_back({seed++, m * n, static_cast<int>(n) | static_cast<int>(k) << 7});
    };
    // Every m and n of two tiles, every k up to three groups, each with the others moving.
    for (size_t m = 0; m <= 26; ++m)
      for (size_t n = 1; n <= kMaxColumns; n += effort == Effort::small ? 5 : 1)
        add(m, n, (m * 7 + n * 3) % 40);
    for (size_t k = 0; k <= 70; ++k) {
      add(1 + k % 13, 1 + k % 64, k);
      add(6, 64, k);
      add(1, 64, k);
      add(4, 17, k);
    }
    for (const size_t k : {127, 128, 129, 255, 256, 257, 511, 777, 1024, 4097}) {
      add(13, 64, k);
      add(1, 48, k);
      add(7, 5, k);
    }
    if (effort == Effort::full)
      for (int i = 0; i < 2000; ++i)
        add(1 + static_cast<size_t>(i) % 40, 1 + static_cast<size_t>(i * 7) % 64,
            static_cast<size_t>(i * 13) % 600);
    return list;
  }

  static std::string describe(const Case& c, size_t byte) {
    const Shape s = shape(c);
    const size_t i = byte / sizeof(Y) / s.n, j = byte / sizeof(Y) % s.n;
    char line[200];
    std::snprintf(line, sizeof line, "m %zu n %zu k %zu, row %zu column %zu of seed %llu", s.m, s.n, s.k, i,
                  j, static_cast<unsigned long long>(c.seed));
    return line;
  }
  static Probe probe(const char* name) { return {name, same, run, cases, describe, nullptr}; }
};

}  // namespace

void add_gemm(std::vector<Probe>* list) {
  list->push_back(Gemm<GemmOutput::s32>::probe("gemm.exact_s32"));
  list->push_back(Gemm<GemmOutput::s8_clamp>::probe("gemm.exact_s8_clamp"));
  list->push_back(Gemm<GemmOutput::u8_clamp>::probe("gemm.exact_u8_clamp"));
  list->push_back(Gemm<GemmOutput::s8_saturate>::probe("gemm.exact_s8_saturate"));
  list->push_back(Gemm<GemmOutput::u8_saturate>::probe("gemm.exact_u8_saturate"));
  list->push_back(Gemm<GemmOutput::f32>::probe("gemm.exact_f32"));
  list->push_back(Gemm<GemmOutput::f32_fused>::probe("gemm.exact_f32_fused"));
  // The ends of the tiles are those of the exact kernels: one that shows the sums, and one of codes.
  list->push_back(Gemm<GemmOutput::s32, &KernelTable::gemm_pairwrap>::probe("gemm.pairwrap_s32"));
  list->push_back(Gemm<GemmOutput::u8_clamp, &KernelTable::gemm_pairwrap>::probe("gemm.pairwrap_u8_clamp"));
}

}  // namespace samebit::probe
