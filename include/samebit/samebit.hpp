/// samebit for C++17: typed, header-only forms of the C interface in samebit.h, which documents shapes,
/// aliasing, errors and thread safety. No exceptions: whatever can fail returns a Result.
#ifndef SAMEBIT_SAMEBIT_HPP
#define SAMEBIT_SAMEBIT_HPP

#include <samebit/samebit.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <type_traits>

namespace samebit {

/// Whose bits; same values as sb_profile.
enum class Profile : int {
  ort_x64_vnni = SB_ORT_X64_VNNI,
  ort_x64_avx2 = SB_ORT_X64_AVX2,
  ort_x64_sse = SB_ORT_X64_SSE,
  ort_arm64_dot = SB_ORT_ARM64_DOT,
  ort_arm64_neon = SB_ORT_ARM64_NEON,
  exact = SB_EXACT
};

using Quant = sb_quant;

/// A value, or the error that kept it from being made. T is default constructible and copyable.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(const T& value) : value_(value), error_{SB_OK, ""} {}
  Result(const sb_error& error) : value_(), error_(error) {}
  explicit operator bool() const { return error_.status == SB_OK; }
  sb_status status() const { return error_.status; }
  /// One sentence that names the argument and its value; empty on success.
  std::string_view message() const { return error_.message; }
  /// Only meaningful on success.
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_;
  sb_error error_;
};

/// Success or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result(const sb_error& error) : error_(error) {}
  explicit operator bool() const { return error_.status == SB_OK; }
  sb_status status() const { return error_.status; }
  std::string_view message() const { return error_.message; }

 private:
  sb_error error_;
};

namespace detail {

template <class T>
constexpr sb_type type_of() {
  static_assert(
      std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::int32_t>,
      "codes are int8_t, uint8_t or int32_t");
  return std::is_same_v<T, std::int8_t> ? SB_INT8 : std::is_same_v<T, std::uint8_t> ? SB_UINT8 : SB_INT32;
}

/// Runs prepare(&value.plan, &error) and wraps the outcome.
template <class T, class F>
Result<T> make(const F& prepare) {
  T value;
  sb_error error{SB_OK, ""};
  if (prepare(&value, &error) != SB_OK) return error;
  return value;
}

template <class F>
Result<void> call(const F& run) {
  sb_error error{SB_OK, ""};
  run(&error);
  return error;
}

}  // namespace detail

/// Profile and backend cap; see sb_context_init.
class Context {
 public:
  Context() : context_{} {}
  /// @param backend  strongest backend allowed, e.g. "avx2"; null: the best of this CPU.
  static Result<Context> create(Profile profile = Profile::ort_x64_vnni, const char* backend = nullptr) {
    return detail::make<Context>([&](Context* c, sb_error* e) {
      const sb_options options{static_cast<sb_profile>(profile), backend};
      return sb_context_init(&c->context_, &options, e);
    });
  }
  Profile profile() const { return static_cast<Profile>(sb_context_profile(&context_)); }
  const char* backend() const { return sb_context_backend(&context_); }
  const sb_context* get() const { return &context_; }

 private:
  sb_context context_;
};

/// Extents of a tensor, outermost first; refers to the caller's array.
struct Shape {
  const std::size_t* dims;
  std::size_t rank;
};

/// QLinearAdd on codes of type T (int8_t or uint8_t).
template <class T>
class QLinearAdd {
 public:
  QLinearAdd() : plan_{} {}
  static Result<QLinearAdd> prepare(const Context& context, Quant a, Quant b, Quant y) {
    return detail::make<QLinearAdd>([&](QLinearAdd* op, sb_error* e) {
      return sb_qlinear_add_prepare(context.get(), detail::type_of<T>(), a, b, y, &op->plan_, e);
    });
  }
  Result<void> run(const T* a, const T* b, T* y, std::size_t n) const {
    return detail::call([&](sb_error* e) { sb_qlinear_add_run(&plan_, a, b, y, n, e); });
  }
  Result<void> run_scalar_a(T a, const T* b, T* y, std::size_t n) const {
    return detail::call([&](sb_error* e) { sb_qlinear_add_run_scalar_a(&plan_, &a, b, y, n, e); });
  }
  Result<void> run_scalar_b(const T* a, T b, T* y, std::size_t n) const {
    return detail::call([&](sb_error* e) { sb_qlinear_add_run_scalar_b(&plan_, a, &b, y, n, e); });
  }
  Result<void> run_nd(const T* a, Shape a_shape, const T* b, Shape b_shape, T* y) const {
    return detail::call([&](sb_error* e) {
      sb_qlinear_add_run_nd(&plan_, a, a_shape.dims, a_shape.rank, b, b_shape.dims, b_shape.rank, y, e);
    });
  }
  const char* kernel() const { return sb_qlinear_add_kernel(&plan_); }

 private:
  sb_qlinear_add_plan plan_;
};

/// QLinearMul on codes of type T (int8_t or uint8_t).
template <class T>
class QLinearMul {
 public:
  QLinearMul() : plan_{} {}
  static Result<QLinearMul> prepare(const Context& context, Quant a, Quant b, Quant y) {
    return detail::make<QLinearMul>([&](QLinearMul* op, sb_error* e) {
      return sb_qlinear_mul_prepare(context.get(), detail::type_of<T>(), a, b, y, &op->plan_, e);
    });
  }
  Result<void> run(const T* a, const T* b, T* y, std::size_t n) const {
    return detail::call([&](sb_error* e) { sb_qlinear_mul_run(&plan_, a, b, y, n, e); });
  }
  Result<void> run_scalar_a(T a, const T* b, T* y, std::size_t n) const {
    return detail::call([&](sb_error* e) { sb_qlinear_mul_run_scalar_a(&plan_, &a, b, y, n, e); });
  }
  Result<void> run_scalar_b(const T* a, T b, T* y, std::size_t n) const {
    return detail::call([&](sb_error* e) { sb_qlinear_mul_run_scalar_b(&plan_, a, &b, y, n, e); });
  }
  Result<void> run_nd(const T* a, Shape a_shape, const T* b, Shape b_shape, T* y) const {
    return detail::call([&](sb_error* e) {
      sb_qlinear_mul_run_nd(&plan_, a, a_shape.dims, a_shape.rank, b, b_shape.dims, b_shape.rank, y, e);
    });
  }
  const char* kernel() const { return sb_qlinear_mul_kernel(&plan_); }

 private:
  sb_qlinear_mul_plan plan_;
};

/// QuantizeLinear float32 -> T (int8_t or uint8_t).
template <class T>
class QuantizeLinear {
 public:
  QuantizeLinear() : plan_{} {}
  static Result<QuantizeLinear> prepare(const Context& context, Quant y) {
    return detail::make<QuantizeLinear>([&](QuantizeLinear* op, sb_error* e) {
      return sb_quantize_linear_prepare(context.get(), detail::type_of<T>(), y, &op->plan_, e);
    });
  }
  Result<void> run(const float* x, T* y, std::size_t n) const {
    return detail::call([&](sb_error* e) { sb_quantize_linear_run(&plan_, x, y, n, e); });
  }
  const char* kernel() const { return sb_quantize_linear_kernel(&plan_); }

 private:
  sb_quantize_linear_plan plan_;
};

/// DequantizeLinear T (int8_t, uint8_t or int32_t) -> float32.
template <class T>
class DequantizeLinear {
 public:
  DequantizeLinear() : plan_{} {}
  static Result<DequantizeLinear> prepare(const Context& context, Quant x) {
    return detail::make<DequantizeLinear>([&](DequantizeLinear* op, sb_error* e) {
      return sb_dequantize_linear_prepare(context.get(), detail::type_of<T>(), x, &op->plan_, e);
    });
  }
  Result<void> run(const T* x, float* y, std::size_t n) const {
    return detail::call([&](sb_error* e) { sb_dequantize_linear_run(&plan_, x, y, n, e); });
  }
  const char* kernel() const { return sb_dequantize_linear_kernel(&plan_); }

 private:
  sb_dequantize_linear_plan plan_;
};

/// int32 accumulators -> T (int8_t or uint8_t). Arrays of scales and bias stay the caller's and must outlive
/// the plan.
template <class T>
class Requantize {
 public:
  Requantize() : plan_{} {}
  /// One scale for all columns. @param bias  `columns` values or null.
  static Result<Requantize> per_tensor(const Context& context, float scale, const std::int32_t* bias,
                                       std::size_t columns, std::int32_t y_zero_point) {
    return prepare(context, &scale, 1, bias, columns, y_zero_point);
  }
  /// @param scale  `columns` values.
  static Result<Requantize> per_column(const Context& context, const float* scale, const std::int32_t* bias,
                                       std::size_t columns, std::int32_t y_zero_point) {
    return prepare(context, scale, columns, bias, columns, y_zero_point);
  }
  Result<void> run(const std::int32_t* acc, T* y, std::size_t rows) const {
    return detail::call([&](sb_error* e) { sb_requantize_run(&plan_, acc, y, rows, e); });
  }
  const char* kernel() const { return sb_requantize_kernel(&plan_); }

 private:
  static Result<Requantize> prepare(const Context& context, const float* scale, std::size_t count,
                                    const std::int32_t* bias, std::size_t columns,
                                    std::int32_t y_zero_point) {
    return detail::make<Requantize>([&](Requantize* op, sb_error* e) {
      return sb_requantize_prepare(context.get(), detail::type_of<T>(), scale, count, bias, columns,
                                   y_zero_point, &op->plan_, e);
    });
  }
  sb_requantize_plan plan_;
};

/// A packed B: memory of its own, aligned as sb_gemm_pack wants it. Shared by threads once filled.
class PackedB {
 public:
  PackedB() = default;
  const void* data() const { return memory_.get(); }
  std::size_t bytes() const { return bytes_; }

 private:
  friend class Gemm;
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::shared_ptr<void> memory_;
  std::size_t bytes_ = 0;
};

/// Matrix products; see sb_matmul and the functions named here. What `matmul` and `scales` point to must
/// outlive the plan.
class Gemm {
 public:
  Gemm() : plan_{} {}
  static Result<Gemm> matmul_integer(const Context& context, const sb_matmul& matmul) {
    return detail::make<Gemm>([&](Gemm* g, sb_error* e) {
      return sb_matmul_integer_prepare(context.get(), &matmul, &g->plan_, e);
    });
  }
  /// QLinearMatMul and QGemm with codes as output. @tparam Y  int8_t or uint8_t
  template <class Y>
  static Result<Gemm> qgemm(const Context& context, const sb_matmul& matmul, const sb_matmul_scales& scales,
                            Quant y) {
    return detail::make<Gemm>([&](Gemm* g, sb_error* e) {
      return sb_qgemm_prepare(context.get(), &matmul, &scales, detail::type_of<Y>(), y, &g->plan_, e);
    });
  }
  /// @param bias  n values or null
  static Result<Gemm> to_float(const Context& context, const sb_matmul& matmul,
                               const sb_matmul_scales& scales, const float* bias) {
    return detail::make<Gemm>([&](Gemm* g, sb_error* e) {
      return sb_matmul_integer_to_float_prepare(context.get(), &matmul, &scales, bias, &g->plan_, e);
    });
  }

  /// Packs B into memory of its own: the one allocation of this header.
  Result<PackedB> pack(const void* b, std::size_t ldb) const {
    PackedB packed;
    sb_error error{SB_OK, ""};
    if (sb_gemm_packed_bytes(&plan_, &packed.bytes_, &error) != SB_OK) return error;
    packed.memory_.reset(std::aligned_alloc(64, (packed.bytes_ + 63) / 64 * 64), PackedB::Free());
    if (sb_gemm_pack(&plan_, b, ldb, packed.memory_.get(), packed.bytes_, &error) != SB_OK) return error;
    return packed;
  }
  Result<std::size_t> workspace_bytes(const sb_gemm_args& args, const sb_parallel* parallel = nullptr) const {
    return detail::make<std::size_t>([&](std::size_t* bytes, sb_error* e) {
      return sb_gemm_workspace_bytes(&plan_, &args, parallel, bytes, e);
    });
  }
  Result<void> run(const sb_gemm_args& args, void* workspace, std::size_t bytes,
                   const sb_parallel* parallel = nullptr) const {
    return detail::call([&](sb_error* e) { sb_gemm_run(&plan_, &args, parallel, workspace, bytes, e); });
  }
  const char* kernel() const { return sb_gemm_kernel(&plan_); }
  const sb_gemm_plan* get() const { return &plan_; }

 private:
  sb_gemm_plan plan_;
};

}  // namespace samebit

#endif  // SAMEBIT_SAMEBIT_HPP
