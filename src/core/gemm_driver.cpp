#include "core/gemm_driver.h"

#include <algorithm>

#include "core/fp_env.h"

namespace samebit {
namespace {

/// Rows of A that stay in the second-level cache while all panels pass by.
constexpr size_t kBlockBytes = size_t{256} << 10;
constexpr size_t kAlign = 64;
constexpr size_t kMaxColumns = 64;  // of a panel: GemmKernel::nr

constexpr size_t align_up(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }
constexpr size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

/// How a problem is cut. A unit is a block of rows and a range of panels; tasks take consecutive units.
struct Cut {
  size_t block_rows, row_blocks;
  size_t panels, panel_parts;
  size_t tasks;
  bool copy_a, flip_in_place, sum_rows, expand_c;
  size_t rows_bytes, sums_bytes, c_bytes, acc_bytes, panel_bytes, task_bytes;
};

bool all_zero_points_zero(const GemmProblem& p) {
  if (p.zb_count == 0) return p.zb_shift == 0;
  for (size_t j = 0; j < p.zb_count; ++j)
    if (p.zb[j] + p.zb_shift != 0) return false;
  return true;
}

bool multiply(size_t a, size_t b, size_t* product) { return !__builtin_mul_overflow(a, b, product); }
bool add(size_t a, size_t b, size_t* sum) { return !__builtin_add_overflow(a, b, sum); }

bool cut(const GemmProblem& p, size_t threads, Cut* out) {
  const GemmKernel& kernel = *p.kernel;
  Cut c{};
  c.flip_in_place = p.flip_a && p.n <= kernel.flips_up_to;
  c.copy_a = !kernel.in_place || (p.flip_a && !c.flip_in_place) || p.a_column != 1;
  c.sum_rows = !all_zero_points_zero(p);
  c.expand_c = p.c && p.c_column != 1 && p.c_row != 0 && !p.exact;
  const size_t row_bytes = kernel.row_bytes(p.k);
  // Whole tiles. An unpacked B is packed panel by panel, each for all rows at once.
  const size_t fitting = kBlockBytes / std::max<size_t>(row_bytes, 1) / kernel.mr * kernel.mr;
  c.block_rows = p.panels ? std::min(p.m, std::max<size_t>(fitting, kernel.mr)) : p.m;
  c.row_blocks = divide_up(p.m, c.block_rows);
  c.panels = divide_up(p.n, kernel.nr);
  const size_t wanted = threads > 1 ? 2 * threads : 1;
  c.panel_parts = c.row_blocks >= wanted ? 1 : std::min(c.panels, divide_up(wanted, c.row_blocks));
  c.tasks = std::min(wanted, c.row_blocks * c.panel_parts);

  bool ok = true;
  const auto align = [&](size_t bytes) {
    ok = ok && bytes <= SIZE_MAX - kAlign;
    return align_up(bytes);
  };
  if (c.copy_a) ok = ok && multiply(c.block_rows, row_bytes, &c.rows_bytes);
  if (c.sum_rows) ok = ok && multiply(c.block_rows, sizeof(int32_t), &c.sums_bytes);
  if (c.expand_c) ok = ok && multiply(c.block_rows, kernel.nr * sizeof(int32_t), &c.c_bytes);
  if (p.exact) ok = ok && multiply(c.block_rows, kernel.nr * sizeof(int32_t), &c.acc_bytes);
  if (!p.panels) c.panel_bytes = kernel.panel_bytes(std::min<size_t>(p.n, kernel.nr), p.k);
  for (size_t* bytes : {&c.rows_bytes, &c.sums_bytes, &c.c_bytes, &c.acc_bytes, &c.panel_bytes}) {
    *bytes = align(*bytes);
    ok = ok && add(c.task_bytes, *bytes, &c.task_bytes);
  }
  *out = c;
  return ok;
}

struct Task {
  const GemmProblem* p;
  Cut cut;
  uint8_t* workspace;
};

template <class X>
const X* offset(const X* p, size_t n) {
  return p ? p + n : nullptr;
}

/// Zero points of B with their shift, one per column of the panel.
const int32_t* zero_points(const GemmProblem& p, size_t column, size_t n, int32_t* room) {
  for (size_t j = 0; j < n; ++j)
    room[j] = p.zb_shift + (p.zb_count == 0 ? 0 : p.zb[p.zb_count == 1 ? 0 : column + j]);
  return room;
}

void run_unit(const Task& t, size_t block, size_t first_panel, size_t last_panel, uint8_t* memory) {
  const GemmProblem& p = *t.p;
  const GemmKernel& kernel = *p.kernel;
  const Cut& c = t.cut;
  uint8_t* rows = memory;
  auto* sums = reinterpret_cast<int32_t*>(rows + c.rows_bytes);
  auto* addend = reinterpret_cast<int32_t*>(rows + c.rows_bytes + c.sums_bytes);
  auto* acc = reinterpret_cast<int32_t*>(rows + c.rows_bytes + c.sums_bytes + c.c_bytes);
  uint8_t* unpacked = rows + c.rows_bytes + c.sums_bytes + c.c_bytes + c.acc_bytes;

  const size_t first_row = block * c.block_rows;
  const size_t m = std::min(c.block_rows, p.m - first_row);
  const uint8_t* a = p.a + first_row * p.a_row;
  if (c.copy_a || c.sum_rows) {
    kernel.copy(
        {a, p.a_row, p.a_column, m, p.k, p.flip_a, c.copy_a ? rows : nullptr, c.sum_rows ? sums : nullptr});
    if (c.sum_rows)
      for (size_t i = 0; i < m; ++i) sums[i] = static_cast<int32_t>(0u - static_cast<uint32_t>(sums[i]));
  }

  const size_t full_panel = kernel.panel_bytes(kernel.nr, p.k);
  int32_t zb[kMaxColumns], bias[kMaxColumns];
  for (size_t panel = first_panel; panel < last_panel; ++panel) {
    const size_t column = panel * kernel.nr;
    GemmPanel g{};
    g.n = std::min<size_t>(kernel.nr, p.n - column);
    if (p.panels) {
      g.panel = p.panels + panel * full_panel;
    } else {
      kernel.pack({p.b + column * p.b_column, p.b_row, p.b_column, g.n, p.k, p.flip_b, unpacked});
      g.panel = unpacked;
    }
    g.a = c.copy_a ? rows : a;
    g.lda = c.copy_a ? kernel.row_bytes(p.k) : p.a_row;
    g.m = m;
    g.k = p.k;
    g.za = p.za;
    g.flip_a = c.flip_in_place && !c.copy_a;
    if (c.sum_rows) {
      g.zb = zero_points(p, column, g.n, zb);
      g.row_zb = sums;
    }
    if (p.c && !p.exact) {
      const int32_t* from = p.c + first_row * p.c_row + column * p.c_column;
      if (p.c_row == 0) {
        for (size_t j = 0; j < g.n; ++j) bias[j] = from[j * p.c_column];
        g.bias = bias;
      } else if (p.c_column == 1) {
        g.add = from;
        g.ld_add = p.c_row;
      } else {
        for (size_t i = 0; i < m; ++i)
          for (size_t j = 0; j < g.n; ++j) addend[i * g.n + j] = from[i * p.c_row + j * p.c_column];
        g.add = addend;
        g.ld_add = g.n;
      }
    }
    const size_t at = first_row * p.ldy + column;
    g.output = p.output;
    g.y = static_cast<uint8_t*>(p.y) + at * p.y_width;
    g.ldy = p.ldy;
    g.per_column = p.per_column;
    g.scale = p.per_column ? offset(p.scale, column) : p.scale;
    g.float_bias = offset(p.float_bias, column);
    g.zero_point = p.zero_point;
    if (p.exact) {
      g.output = GemmOutput::s32;
      g.y = acc;
      g.ldy = g.n;
    }
    kernel.run(g);
    if (p.exact) {
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < g.n; ++j) {
          const int32_t addend_value = p.c ? p.c[(first_row + i) * p.c_row + (column + j) * p.c_column] : 0;
          p.exact->store(p.exact->self, acc[i * g.n + j], addend_value, column + j, p.y, at + i * p.ldy + j);
        }
      }
    }
  }
}

void run_task(void* arg, size_t index) {
  const FpGuard guard;  // the thread is the caller's, with modes of its own
  const Task& t = *static_cast<const Task*>(arg);
  const Cut& c = t.cut;
  const size_t units = c.row_blocks * c.panel_parts;
  const size_t first = units * index / c.tasks, last = units * (index + 1) / c.tasks;
  for (size_t unit = first; unit < last; ++unit) {
    const size_t part = unit % c.panel_parts;
    run_unit(t, unit / c.panel_parts, c.panels * part / c.panel_parts, c.panels * (part + 1) / c.panel_parts,
             t.workspace + index * c.task_bytes);
  }
}

}  // namespace

size_t packed_panels_bytes(const GemmKernel& kernel, size_t n, size_t k) {
  const size_t full = n / kernel.nr, rest = n % kernel.nr;
  return full * kernel.panel_bytes(kernel.nr, k) + (rest ? kernel.panel_bytes(rest, k) : 0);
}

void pack_panels(const GemmKernel& kernel, const uint8_t* b, size_t b_row, size_t b_column, bool flip,
                 size_t n, size_t k, uint8_t* panels) {
  const size_t full_panel = kernel.panel_bytes(kernel.nr, k);
  for (size_t column = 0; column < n; column += kernel.nr) {
    kernel.pack({b + column * b_column, b_row, b_column, std::min<size_t>(kernel.nr, n - column), k, flip,
                 panels + column / kernel.nr * full_panel});
  }
}

bool gemm_workspace(const GemmProblem& p, size_t threads, size_t* bytes) {
  *bytes = 0;
  if (p.m == 0 || p.n == 0) return true;
  Cut c;
  size_t total = 0;
  const bool ok =
      cut(p, threads, &c) && multiply(c.task_bytes, c.tasks, &total) && add(total, kAlign, &total);
  *bytes = c.task_bytes == 0 ? 0 : total;
  return ok;
}

void gemm_run(const GemmProblem& p, const sb_parallel* parallel, void* workspace) {
  if (p.m == 0 || p.n == 0) return;
  const size_t threads = parallel ? parallel->threads : 1;
  Task t{&p, {}, nullptr};
  if (!cut(p, threads, &t.cut)) return;  // refused when the workspace's size was asked for
  t.workspace = reinterpret_cast<uint8_t*>(align_up(reinterpret_cast<uintptr_t>(workspace)));
  if (t.cut.tasks == 1 || !parallel) {
    for (size_t i = 0; i < t.cut.tasks; ++i) run_task(&t, i);
  } else {
    parallel->run(parallel->pool, t.cut.tasks, run_task, &t);
  }
}

}  // namespace samebit
