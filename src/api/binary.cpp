// QLinearAdd and QLinearMul: one plan layout and one set of run functions for both.
#include <algorithm>
#include <cstddef>

#include "api/plan.h"
#include "core/broadcast.h"
#include "core/fp_env.h"
#include "core/kernel_names.h"
#include "params/add.h"
#include "params/mul.h"

using namespace samebit;

namespace {

union Constants {
  sb_ref_add_f32 add_f32;
  sb_ref_add_fixed21 fixed21;
  sb_ref_add_divide divide;
  sb_ref_mul_f32 mul_f32;
  sb_ref_binary_exact exact;
};

/// A kernel bound to its constants. The kernel's own type is known to `invoke`, which was chosen together
/// with it.
struct Bound {
  void (*invoke)(AnyKernel, const void* first, const void* second, void* y, size_t n, const Constants&);
  AnyKernel kernel;
  bool swapped;  // the kernel's first operand is b
  Constants constants;

  void operator()(const void* a, const void* b, void* y, size_t n) const {
    invoke(kernel, swapped ? b : a, swapped ? a : b, y, n, constants);
  }
};

struct Header {
  uint32_t magic;
  uint32_t table_from;  // length from which a scalar operand is served by a table
  AnyKernel lookup;
  const char* kernel;
};

struct BinaryPlan {
  Header header;
  Bound forms[3];  // indexed by Form
};

template <class T, class P>
void invoke(AnyKernel kernel, const void* first, const void* second, void* y, size_t n,
            const Constants& constants) {
  // bind() put a P there. No copy: reloading it in other pieces than it was stored in stalls for 20 ns.
  const P& p = *reinterpret_cast<const P*>(&constants);
  reinterpret_cast<BinaryKernel<T, P>>(kernel)(static_cast<const T*>(first), static_cast<const T*>(second),
                                               static_cast<T*>(y), n, p);
}

template <class T, class P>
Bound bind(BinaryKernel<T, P> kernel, const P& p, bool swapped) {
  Bound bound{};
  bound.invoke = invoke<T, P>;
  bound.kernel = reinterpret_cast<AnyKernel>(kernel);
  bound.swapped = swapped;
  std::memcpy(&bound.constants, &p, sizeof p);
  return bound;
}

template <class T>
Bound bind_add(const ByteKernels<T>& k, const AddParams& p) {
  switch (p.rule) {
    case AddRule::f32_fma:
      return bind<T>(k.add_f32_fma, p.f32, p.swapped);
    case AddRule::f32_mul_add:
      return bind<T>(k.add_f32_mul_add, p.f32, p.swapped);
    case AddRule::fixed21:
      return bind<T>(k.add_fixed21, p.fixed21, p.swapped);
    case AddRule::f32_divide:
      return bind<T>(k.add_f32_divide, p.divide, p.swapped);
    case AddRule::exact:
      return bind<T>(k.add_exact, p.exact, p.swapped);
  }
  return {};
}

template <class T>
Bound bind_mul(const ByteKernels<T>& k, const MulParams& p) {
  switch (p.rule) {
    case MulRule::f32_mul_add:
      return bind<T>(k.mul_f32_mul_add, p.f32, false);
    case MulRule::f32_fma:
      return bind<T>(k.mul_f32_fma, p.f32, false);
    case MulRule::exact:
      return bind<T>(k.mul_exact, p.exact, false);
  }
  return {};
}

/// Kernels, table threshold and name for type T.
template <class T>
void bind_plan(BinaryPlan* plan, const ContextView& c, sb_quant a, sb_quant b, sb_quant y) {
  const KernelTable& table = table_for(c.backend);
  const ByteKernels<T>& k = table.of<T>();
  const char* type = kRange<T>.lo < 0 ? "s8" : "u8";
  plan->header.lookup = reinterpret_cast<AnyKernel>(k.lookup256);
  plan->header.table_from =
      static_cast<uint32_t>(std::min<size_t>(table.scalar_operand_table_from, UINT32_MAX));
  if (plan->header.magic == kAddMagic) {
    for (const Form form : {Form::vector, Form::scalar_a, Form::scalar_b})
      plan->forms[static_cast<int>(form)] = bind_add(k, prepare_add(c.profile, form, a, b, y));
    const AddRule rule = prepare_add(c.profile, Form::vector, a, b, y).rule;
    plan->header.kernel = kernel_name(c.backend, find_entry("add", type, name(rule)));
  } else {
    const MulParams params = prepare_mul(c.profile, a, b, y);
    for (Bound& form : plan->forms) form = bind_mul(k, params);
    plan->header.kernel = kernel_name(c.backend, find_entry("mul", type, name(params.rule)));
  }
}

template <class Public>
sb_status prepare(Magic magic, const sb_context* context, sb_type type, sb_quant a, sb_quant b, sb_quant y,
                  Public* out, sb_error* error) {
  const FpGuard guard;  // before the checks: a subnormal scale is not zero
  ContextView c{};
  sb_status s = begin(context, out, &c, error);
  if (s == SB_OK) s = check_byte_type("type", type, error);
  if (s == SB_OK) s = check_zero_point("a", type, a.zero_point, error);
  if (s == SB_OK) s = check_zero_point("b", type, b.zero_point, error);
  if (s == SB_OK) s = check_zero_point("y", type, y.zero_point, error);
  if (s == SB_OK) s = check_scale("a", c.profile, a.scale, false, error);
  if (s == SB_OK) s = check_scale("b", c.profile, b.scale, false, error);
  if (s == SB_OK) s = check_scale("y", c.profile, y.scale, true, error);
  if (s != SB_OK) return s;
  BinaryPlan plan{};
  plan.header.magic = magic;
  if (type == SB_INT8) bind_plan<int8_t>(&plan, c, a, b, y);
  else bind_plan<uint8_t>(&plan, c, a, b, y);
  seal(plan, out);
  return ok(error);
}

/// Constant operands are repeated into a buffer of this many codes.
constexpr size_t kChunk = 256;

/// A span in which one operand is a single value: a table of all 256 results for long spans (exact by
/// construction), otherwise the kernel against a buffer of that value.
void run_constant(const Header& plan, const Bound& form, bool a_is_constant, const uint8_t* a,
                  const uint8_t* b, uint8_t* y, size_t n) {
  uint8_t constant[kChunk];
  std::memset(constant, a_is_constant ? *a : *b, kChunk);
  const uint8_t* x = a_is_constant ? b : a;
  if (n >= plan.table_from) {
    alignas(64) uint8_t codes[256], table[256];
    for (int i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(i);
    form(a_is_constant ? constant : codes, a_is_constant ? codes : constant, table, 256);
    reinterpret_cast<LookupKernel<uint8_t>>(plan.lookup)(x, y, n, table);
    return;
  }
  for (size_t i = 0; i < n; i += kChunk) {
    const size_t count = std::min(kChunk, n - i);
    form(a_is_constant ? constant : x + i, a_is_constant ? x + i : constant, y + i, count);
  }
}

template <class Public>
sb_status open_header(Magic magic, const Public* in, Header* header, sb_error* error) {
  if (!in) return fail(error, SB_BAD_ARGUMENT, "plan is null");
  *header = open<Header>(in);
  return header->magic == magic ? SB_OK
                                : fail(error, SB_BAD_ARGUMENT, "plan was not filled by its prepare function");
}

template <class Public>
Bound open_form(const Public* in, Form form) {
  Bound bound;
  const auto* bytes = reinterpret_cast<const unsigned char*>(in->opaque);
  std::memcpy(&bound, bytes + offsetof(BinaryPlan, forms) + static_cast<size_t>(form) * sizeof bound,
              sizeof bound);
  return bound;
}

template <class Public>
sb_status run(Magic magic, Form form, const Public* in, const void* a, const void* b, void* y, size_t n,
              sb_error* error) {
  Header plan{};
  sb_status s = open_header(magic, in, &plan, error);
  if (s != SB_OK || n == 0) return s == SB_OK ? ok(error) : s;
  const size_t a_n = form == Form::scalar_a ? 1 : n, b_n = form == Form::scalar_b ? 1 : n;
  s = check_buffers("a", a, a_n, y, n, true, error);
  if (s == SB_OK) s = check_buffers("b", b, b_n, y, n, true, error);
  if (s != SB_OK) return s;
  const FpGuard guard;
  const Bound bound = open_form(in, form);
  if (form == Form::vector) {
    bound(a, b, y, n);
  } else {
    run_constant(plan, bound, form == Form::scalar_a, static_cast<const uint8_t*>(a),
                 static_cast<const uint8_t*>(b), static_cast<uint8_t*>(y), n);
  }
  return ok(error);
}

/// Position in a walk: an index per dimension and the operands' offsets.
struct Cursor {
  size_t index[SB_MAX_RANK] = {};
  size_t a = 0, b = 0;

  /// One step of dimension `d`, carrying into the outer ones.
  void next(const Walk& w, size_t d) {
    for (;;) {
      a += w.a_strides[d];
      b += w.b_strides[d];
      if (++index[d] < w.dims[d] || d == 0) return;
      a -= w.a_strides[d] * w.dims[d];
      b -= w.b_strides[d] * w.dims[d];
      index[d--] = 0;
    }
  }
};

/// Inner spans from this length on are handed to the kernels where they lie; shorter ones are gathered first.
constexpr size_t kDirectSpan = 128;

void run_walk(const Header& plan, const Bound& form, const Walk& w, const uint8_t* a, const uint8_t* b,
              uint8_t* y) {
  if (w.rank == 0) return form(a, b, y, 1);
  const size_t inner = w.rank - 1, span = w.dims[inner];
  Cursor at;
  if (span >= kDirectSpan) {
    for (size_t done = 0; done < w.size; done += span) {
      if (w.a_strides[inner] && w.b_strides[inner]) form(a + at.a, b + at.b, y + done, span);
      else run_constant(plan, form, w.a_strides[inner] == 0, a + at.a, b + at.b, y + done, span);
      if (inner > 0) at.next(w, inner - 1);
    }
    return;
  }
  uint8_t a_codes[1024], b_codes[1024];
  for (size_t done = 0; done < w.size;) {
    const size_t count = std::min<size_t>(sizeof a_codes, w.size - done);
    for (size_t i = 0; i < count; ++i) {
      a_codes[i] = a[at.a];
      b_codes[i] = b[at.b];
      at.next(w, inner);
    }
    form(a_codes, b_codes, y + done, count);
    done += count;
  }
}

template <class Public>
sb_status run_nd(Magic magic, const Public* in, const void* a, const size_t* a_dims, size_t a_rank,
                 const void* b, const size_t* b_dims, size_t b_rank, void* y, sb_error* error) {
  Header plan{};
  sb_status s = open_header(magic, in, &plan, error);
  if (s != SB_OK) return s;
  Walk w;
  s = broadcast(a_dims, a_rank, b_dims, b_rank, nullptr, nullptr, nullptr, &w, error);
  if (s != SB_OK || w.size == 0) return s;
  const auto count = [](const size_t* dims, size_t rank) {
    size_t n = 1;
    for (size_t i = 0; i < rank; ++i) n *= dims[i];
    return n;
  };
  s = check_buffers("a", a, count(a_dims, a_rank), y, w.size, w.a_is_full, error);
  if (s == SB_OK) s = check_buffers("b", b, count(b_dims, b_rank), y, w.size, w.b_is_full, error);
  if (s != SB_OK) return s;
  const FpGuard guard;
  run_walk(plan, open_form(in, broadcast_form(a_dims, a_rank, b_dims, b_rank)), w,
           static_cast<const uint8_t*>(a), static_cast<const uint8_t*>(b), static_cast<uint8_t*>(y));
  return ok(error);
}

template <class Public>
const char* kernel(Magic magic, const Public* in) {
  Header plan{};
  return open_header(magic, in, &plan, nullptr) == SB_OK ? plan.kernel : nullptr;
}

}  // namespace

extern "C" {

sb_status sb_broadcast_shape(const size_t* a_dims, size_t a_rank, const size_t* b_dims, size_t b_rank,
                             size_t* y_dims, size_t* y_rank, size_t* y_size, sb_error* error) {
  return broadcast(a_dims, a_rank, b_dims, b_rank, y_dims, y_rank, y_size, nullptr, error);
}

sb_status sb_qlinear_add_prepare(const sb_context* context, sb_type type, sb_quant a, sb_quant b, sb_quant y,
                                 sb_qlinear_add_plan* plan, sb_error* error) {
  return prepare(kAddMagic, context, type, a, b, y, plan, error);
}
sb_status sb_qlinear_add_run(const sb_qlinear_add_plan* plan, const void* a, const void* b, void* y, size_t n,
                             sb_error* error) {
  return run(kAddMagic, Form::vector, plan, a, b, y, n, error);
}
sb_status sb_qlinear_add_run_scalar_a(const sb_qlinear_add_plan* plan, const void* a, const void* b, void* y,
                                      size_t n, sb_error* error) {
  return run(kAddMagic, Form::scalar_a, plan, a, b, y, n, error);
}
sb_status sb_qlinear_add_run_scalar_b(const sb_qlinear_add_plan* plan, const void* a, const void* b, void* y,
                                      size_t n, sb_error* error) {
  return run(kAddMagic, Form::scalar_b, plan, a, b, y, n, error);
}
sb_status sb_qlinear_add_run_nd(const sb_qlinear_add_plan* plan, const void* a, const size_t* a_dims,
                                size_t a_rank, const void* b, const size_t* b_dims, size_t b_rank, void* y,
                                sb_error* error) {
  return run_nd(kAddMagic, plan, a, a_dims, a_rank, b, b_dims, b_rank, y, error);
}
const char* sb_qlinear_add_kernel(const sb_qlinear_add_plan* plan) { return kernel(kAddMagic, plan); }

sb_status sb_qlinear_mul_prepare(const sb_context* context, sb_type type, sb_quant a, sb_quant b, sb_quant y,
                                 sb_qlinear_mul_plan* plan, sb_error* error) {
  return prepare(kMulMagic, context, type, a, b, y, plan, error);
}
sb_status sb_qlinear_mul_run(const sb_qlinear_mul_plan* plan, const void* a, const void* b, void* y, size_t n,
                             sb_error* error) {
  return run(kMulMagic, Form::vector, plan, a, b, y, n, error);
}
sb_status sb_qlinear_mul_run_scalar_a(const sb_qlinear_mul_plan* plan, const void* a, const void* b, void* y,
                                      size_t n, sb_error* error) {
  return run(kMulMagic, Form::scalar_a, plan, a, b, y, n, error);
}
sb_status sb_qlinear_mul_run_scalar_b(const sb_qlinear_mul_plan* plan, const void* a, const void* b, void* y,
                                      size_t n, sb_error* error) {
  return run(kMulMagic, Form::scalar_b, plan, a, b, y, n, error);
}
sb_status sb_qlinear_mul_run_nd(const sb_qlinear_mul_plan* plan, const void* a, const size_t* a_dims,
                                size_t a_rank, const void* b, const size_t* b_dims, size_t b_rank, void* y,
                                sb_error* error) {
  return run_nd(kMulMagic, plan, a, a_dims, a_rank, b, b_dims, b_rank, y, error);
}
const char* sb_qlinear_mul_kernel(const sb_qlinear_mul_plan* plan) { return kernel(kMulMagic, plan); }

}  // extern "C"
