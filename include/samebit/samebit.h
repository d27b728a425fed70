/// samebit: SIMD integer kernels for quantized neural networks with the same bits on every CPU.
///
/// C99 interface. General rules, valid wherever a function does not say otherwise:
///  - A context names whose bits are computed (profile) and the strongest instruction set allowed (backend
///  cap).
///    `*_prepare` checks every parameter, chooses the arithmetic and the kernel, and fills a plan. `*_run`
///    runs it.
///  - Contexts and plans are fixed-size, trivially copyable values: no destroy function, usable from static
///  memory,
///    and shared by threads once filled. Every function is reentrant.
///  - No allocation, no thread, no output, no exception, no use of errno or of the locale's state.
///  - Arrays need no alignment beyond that of their element type. n counts values, not bytes, and may be 0.
///  - The caller's rounding mode, flush-to-zero and denormals-are-zero do not change a result and are kept;
///    floating-point status flags may be raised.
///  - Errors: a status is returned, and a sentence that names the argument and its value is written to
///  `error`, which
///    may be NULL. On error no output is written and plans are left invalid.
/// The arithmetic of every operator and profile is in docs/numerics.md.
#ifndef SAMEBIT_SAMEBIT_H
#define SAMEBIT_SAMEBIT_H

#include <stddef.h>
#include <stdint.h>

#define SAMEBIT_VERSION_MAJOR 0
#define SAMEBIT_VERSION_MINOR 1
#define SAMEBIT_VERSION_PATCH 0

#if defined(__GNUC__)
#define SAMEBIT_API __attribute__((visibility("default")))
#else
#define SAMEBIT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- status */

typedef enum {
  SB_OK = 0,
  SB_BAD_ARGUMENT = 1,   /**< null pointer, overlap, shape, size overflow, invalid context or plan */
  SB_BAD_SCALE = 2,      /**< a scale without meaning under the profile */
  SB_BAD_ZERO_POINT = 3, /**< a zero point outside the range of its type */
  SB_UNSUPPORTED = 4,    /**< a type, rank or backend that is not available */
  SB_SMALL_BUFFER = 5,   /**< a caller's buffer is too small */
  SB_BAD_PACKED = 6      /**< packed weights that are foreign, stale or damaged */
} sb_status;

typedef struct {
  sb_status status;
  char message[240]; /**< one sentence, zero-terminated */
} sb_error;

/// Name of a status, e.g. "SB_BAD_SCALE". Static storage.
SAMEBIT_API const char* sb_status_name(sb_status status);

/// Version of the library that is linked, "major.minor.patch". Static storage.
SAMEBIT_API const char* sb_version(void);

/* ---------------------------------------------------------------------------------- profiles and types */

/// Whose bits. An ONNX Runtime 1.30 machine class, or real arithmetic rounded once.
typedef enum {
  SB_ORT_X64_VNNI = 0,   /**< x64 with AVX-512 VNNI (the default) */
  SB_ORT_X64_AVX2 = 1,   /**< x64 with AVX2 and FMA, no VNNI */
  SB_ORT_X64_SSE = 2,    /**< x64 without AVX2 */
  SB_ORT_ARM64_DOT = 3,  /**< arm64 with dot product instructions */
  SB_ORT_ARM64_NEON = 4, /**< arm64 without them */
  SB_EXACT = 5 /**< the operator's formula in real numbers, rounded once (half to even), then saturated */
} sb_profile;
#define SB_PROFILE_COUNT 6

/// Name of a profile, e.g. "ort_x64_vnni"; NULL for an invalid value. Static storage.
SAMEBIT_API const char* sb_profile_name(sb_profile profile);
/// Finds a profile by its name. Returns SB_BAD_ARGUMENT for an unknown name.
SAMEBIT_API sb_status sb_profile_from_name(const char* name, sb_profile* profile, sb_error* error);

typedef enum { SB_INT8 = 1, SB_UINT8 = 2, SB_INT32 = 3, SB_FLOAT32 = 4 } sb_type;

/// Name of a type, e.g. "int8"; NULL for an invalid value. Static storage.
SAMEBIT_API const char* sb_type_name(sb_type type);

/// Quantization of a tensor: real value = scale * (code - zero_point).
/// ONNX Runtime gives a defined answer for any scale (zero, negative, NaN, infinite), and so do the ort_*
/// profiles. SB_EXACT needs finite scales, and a scale that is divided by must not be zero.
typedef struct {
  float scale;
  int32_t zero_point; /**< within the range of the tensor's type */
} sb_quant;

/* -------------------------------------------------------------------------------- context and backends */

typedef struct {
  sb_profile profile;  /**< SB_ORT_X64_VNNI when zero-initialised */
  const char* backend; /**< strongest backend allowed, e.g. "avx2"; NULL: the best of this CPU */
} sb_options;

typedef struct {
  uint64_t opaque[4];
} sb_context;

/// Fills a context. options may be NULL (all defaults). The environment variable SAMEBIT_BACKEND caps the
/// backend like options->backend does; the weaker of both wins. A name that is unknown, not compiled in or
/// not usable on this CPU is an error (SB_UNSUPPORTED), with the missing CPU feature in the message.
SAMEBIT_API sb_status sb_context_init(sb_context* context, const sb_options* options, sb_error* error);

/// Profile and backend of a context; NULL or SB_ORT_X64_VNNI for an invalid one.
SAMEBIT_API sb_profile sb_context_profile(const sb_context* context);
SAMEBIT_API const char* sb_context_backend(const sb_context* context);

typedef struct {
  const char* name;    /**< "scalar", "avx2", "avxvnni", "avx512", "avx512vnni", "avx512vbmi", "neon",
                            "neon_dot", "neon_i8mm" */
  const char* parent;  /**< backend whose kernels are inherited where this one has none; NULL for scalar */
  int usable;          /**< 1 when this CPU and operating system can run it */
  const char* missing; /**< first missing CPU feature, "" when usable */
} sb_backend;

/// Backends compiled into the library, weakest first.
SAMEBIT_API size_t sb_backend_count(void);
SAMEBIT_API sb_status sb_backend_get(size_t index, sb_backend* backend, sb_error* error);

/* ------------------------------------------------------------------------------- QLinearAdd, QLinearMul */

typedef struct {
  uint64_t opaque[40];
} sb_qlinear_add_plan;
typedef struct {
  uint64_t opaque[40];
} sb_qlinear_mul_plan;

/// Largest rank of the N-d functions.
#define SB_MAX_RANK 32

/// Shape of the result of broadcasting a with b by ONNX's (numpy's) rules.
/// @param a_dims, b_dims  extents, outermost first; may be NULL when the rank is 0.
/// @param y_dims          room for max(a_rank, b_rank) extents; y_rank receives that rank, y_size the element
/// count.
SAMEBIT_API sb_status sb_broadcast_shape(const size_t* a_dims, size_t a_rank, const size_t* b_dims,
                                         size_t b_rank, size_t* y_dims, size_t* y_rank, size_t* y_size,
                                         sb_error* error);

/// y = quantize(dequantize(a) + dequantize(b)), ONNX com.microsoft QLinearAdd.
/// @param type  SB_INT8 or SB_UINT8, of a, b and y.
SAMEBIT_API sb_status sb_qlinear_add_prepare(const sb_context* context, sb_type type, sb_quant a, sb_quant b,
                                             sb_quant y, sb_qlinear_add_plan* plan, sb_error* error);

/// Adds two vectors.
/// @param a, b  n codes each. y: n codes; may be equal to a or to b, any other overlap is an error.
SAMEBIT_API sb_status sb_qlinear_add_run(const sb_qlinear_add_plan* plan, const void* a, const void* b,
                                         void* y, size_t n, sb_error* error);

/// As sb_qlinear_add_run with one value for a (or b), which ONNX Runtime computes in another operand order:
/// some results differ from the vector form, see docs/numerics.md. b (or a) may be equal to y.
SAMEBIT_API sb_status sb_qlinear_add_run_scalar_a(const sb_qlinear_add_plan* plan, const void* a,
                                                  const void* b, void* y, size_t n, sb_error* error);
SAMEBIT_API sb_status sb_qlinear_add_run_scalar_b(const sb_qlinear_add_plan* plan, const void* a,
                                                  const void* b, void* y, size_t n, sb_error* error);

/// Broadcasting form: dense row-major tensors, y of the shape given by sb_broadcast_shape. The operand roles
/// are those ONNX Runtime gives the two shapes. y may be equal to an input whose shape is that of y.
SAMEBIT_API sb_status sb_qlinear_add_run_nd(const sb_qlinear_add_plan* plan, const void* a,
                                            const size_t* a_dims, size_t a_rank, const void* b,
                                            const size_t* b_dims, size_t b_rank, void* y, sb_error* error);

/// Backend and kernel the plan is bound to, e.g. "avx512/add_s8.f32_fma". Static storage; NULL for an invalid
/// plan.
SAMEBIT_API const char* sb_qlinear_add_kernel(const sb_qlinear_add_plan* plan);

/// y = quantize(dequantize(a) * dequantize(b)), ONNX com.microsoft QLinearMul. Parameters as for QLinearAdd.
/// The forms give equal results; they exist because a scalar operand is faster.
SAMEBIT_API sb_status sb_qlinear_mul_prepare(const sb_context* context, sb_type type, sb_quant a, sb_quant b,
                                             sb_quant y, sb_qlinear_mul_plan* plan, sb_error* error);
SAMEBIT_API sb_status sb_qlinear_mul_run(const sb_qlinear_mul_plan* plan, const void* a, const void* b,
                                         void* y, size_t n, sb_error* error);
SAMEBIT_API sb_status sb_qlinear_mul_run_scalar_a(const sb_qlinear_mul_plan* plan, const void* a,
                                                  const void* b, void* y, size_t n, sb_error* error);
SAMEBIT_API sb_status sb_qlinear_mul_run_scalar_b(const sb_qlinear_mul_plan* plan, const void* a,
                                                  const void* b, void* y, size_t n, sb_error* error);
SAMEBIT_API sb_status sb_qlinear_mul_run_nd(const sb_qlinear_mul_plan* plan, const void* a,
                                            const size_t* a_dims, size_t a_rank, const void* b,
                                            const size_t* b_dims, size_t b_rank, void* y, sb_error* error);
SAMEBIT_API const char* sb_qlinear_mul_kernel(const sb_qlinear_mul_plan* plan);

/* ------------------------------------------------------------------- QuantizeLinear, DequantizeLinear */

typedef struct {
  uint64_t opaque[16];
} sb_quantize_linear_plan;
typedef struct {
  uint64_t opaque[16];
} sb_dequantize_linear_plan;

/// y = saturate(round(x / scale) + zero_point), ONNX QuantizeLinear, float32 -> int8 or uint8, per tensor.
/// The quotient is that of a true float32 division; NaN gives the lowest code. SB_EXACT rounds the real
/// quotient once.
/// @param y_type  SB_INT8 or SB_UINT8.
SAMEBIT_API sb_status sb_quantize_linear_prepare(const sb_context* context, sb_type y_type, sb_quant y,
                                                 sb_quantize_linear_plan* plan, sb_error* error);
/// @param x  n float32. y: n codes; must not overlap x.
SAMEBIT_API sb_status sb_quantize_linear_run(const sb_quantize_linear_plan* plan, const float* x, void* y,
                                             size_t n, sb_error* error);
SAMEBIT_API const char* sb_quantize_linear_kernel(const sb_quantize_linear_plan* plan);

/// y = (x - zero_point) * scale, ONNX DequantizeLinear, int8, uint8 or int32 -> float32, per tensor.
/// @param x_type  SB_INT8, SB_UINT8 or SB_INT32. Any scale is allowed, except NaN and infinities under
/// SB_EXACT.
SAMEBIT_API sb_status sb_dequantize_linear_prepare(const sb_context* context, sb_type x_type, sb_quant x,
                                                   sb_dequantize_linear_plan* plan, sb_error* error);
/// @param x  n codes. y: n float32; must not overlap x, but may be equal to it for SB_INT32.
SAMEBIT_API sb_status sb_dequantize_linear_run(const sb_dequantize_linear_plan* plan, const void* x, float* y,
                                               size_t n, sb_error* error);
SAMEBIT_API const char* sb_dequantize_linear_kernel(const sb_dequantize_linear_plan* plan);

/// ONNX DynamicQuantizeLinear: float32 -> uint8 with the scale and zero point of x itself,
/// scale = f32(f32(max - min) / 255) over the values and 0, zero_point = round(-min / scale). Where x holds
/// NaN the extremes are those that the profile's machine finds, docs/numerics.md; SB_EXACT leaves NaN out.
/// @param x         n float32. y: n codes; must not overlap x.
/// @param y_quant   receives scale and zero point.
SAMEBIT_API sb_status sb_dynamic_quantize_linear(const sb_context* context, const float* x, uint8_t* y,
                                                 size_t n, sb_quant* y_quant, sb_error* error);

/* ------------------------------------------------------------------------------------------- requantize */

typedef struct {
  uint64_t opaque[16];
} sb_requantize_plan;

/// y = saturate(round((acc + bias) * scale) + zero_point): int32 accumulators of a matrix product or
/// convolution to codes, as ONNX Runtime does after QLinearMatMul and QLinearConv. For those, scale =
/// f32(f32(x_scale * w_scale) / y_scale). acc + bias wraps modulo 2^32 (not under SB_EXACT).
/// @param y_type       SB_INT8 or SB_UINT8.
/// @param scale        scale_count values: 1 (per tensor) or `columns` (per column).
/// @param bias         `columns` values, or NULL.
/// @param columns      values per row, at least 1. scale (when per column) and bias are not copied: they must
/// stay
///                     valid and unchanged as long as the plan is used.
SAMEBIT_API sb_status sb_requantize_prepare(const sb_context* context, sb_type y_type, const float* scale,
                                            size_t scale_count, const int32_t* bias, size_t columns,
                                            int32_t y_zero_point, sb_requantize_plan* plan, sb_error* error);
/// @param acc  rows x columns int32, dense. y: rows x columns codes, dense; must not overlap acc.
SAMEBIT_API sb_status sb_requantize_run(const sb_requantize_plan* plan, const int32_t* acc, void* y,
                                        size_t rows, sb_error* error);
SAMEBIT_API const char* sb_requantize_kernel(const sb_requantize_plan* plan);

/* ------------------------------------------------------------------------------------- matrix products */

/// Runs task(arg, 0) .. task(arg, count - 1), each exactly once, on any threads, and returns when all are
/// done. Adapters for thread pools: samebit/parallel_std.hpp, samebit/parallel_pthreadpool.h.
typedef void (*sb_task)(void* arg, size_t index);
typedef struct {
  void (*run)(void* pool, size_t count, sb_task task, void* arg);
  void* pool;
  size_t threads; /**< threads that `run` uses, at least 1 */
} sb_parallel;

/// The integer part of A x B: A is m x k, B is k x n, row-major.
/// acc = sum over k of (a - a_zero_point) * (b - b_zero_point), modulo 2^32; how products are added is the
/// profile's.
typedef struct {
  sb_type a_type, b_type; /**< SB_INT8 or SB_UINT8 each */
  size_t n, k;            /**< k may be 0 (sums are 0) and is at most 2^24 */
  int trans_a, trans_b;   /**< 1: A is stored as k x m, B as n x k */
  int32_t a_zero_point;
  const int32_t* b_zero_point; /**< b_zero_point_count values; not copied */
  size_t b_zero_point_count;   /**< 0 (all are 0), 1 or n (per column) */
} sb_matmul;

/// Scales of operators whose result is not the accumulator.
typedef struct {
  float alpha; /**< QGemm's factor; 1 for the others */
  float a_scale;
  const float* b_scale; /**< b_scale_count values; not copied */
  size_t b_scale_count; /**< 1 or n (per column) */
  float* column_scale;  /**< with n > 1 scales: room for n values, filled by prepare and used by run */
} sb_matmul_scales;

typedef struct {
  uint64_t opaque[32];
} sb_gemm_plan;

/// y = acc, int32. ONNX MatMulInteger. What `matmul` and `scales` point to must stay valid and unchanged as
/// long as the plan is used.
SAMEBIT_API sb_status sb_matmul_integer_prepare(const sb_context* context, const sb_matmul* matmul,
                                                sb_gemm_plan* plan, sb_error* error);

/// y = saturate(round((acc + c) * s) + y.zero_point), s = f32(f32(f32(alpha * a_scale) * b_scale) / y.scale),
/// or float32 y = f32(acc + c) * f32(f32(alpha * a_scale) * b_scale). ONNX QLinearMatMul (alpha 1, no c) and
/// com.microsoft QGemm. acc + c wraps modulo 2^32. SB_EXACT multiplies and divides real numbers and rounds
/// once.
/// @param y_type  SB_INT8 or SB_UINT8 with `y`, or SB_FLOAT32, which takes no y.
SAMEBIT_API sb_status sb_qgemm_prepare(const sb_context* context, const sb_matmul* matmul,
                                       const sb_matmul_scales* scales, sb_type y_type, sb_quant y,
                                       sb_gemm_plan* plan, sb_error* error);

/// float32 y = f32(acc) * f32(a_scale * b_scale) + bias, com.microsoft MatMulIntegerToFloat. The sum is
/// rounded after the product on x64, with it on arm64.
/// @param bias  n values, or NULL; not copied.
SAMEBIT_API sb_status sb_matmul_integer_to_float_prepare(const sb_context* context, const sb_matmul* matmul,
                                                         const sb_matmul_scales* scales, const float* bias,
                                                         sb_gemm_plan* plan, sb_error* error);

/// Backend and kernel, e.g. "avx512vnni/gemm.exact". Static storage; NULL for an invalid plan.
SAMEBIT_API const char* sb_gemm_kernel(const sb_gemm_plan* plan);

/// Bytes of a packed B for the plan's backend. They may be written to a file and used on any CPU with that
/// backend.
SAMEBIT_API sb_status sb_gemm_packed_bytes(const sb_gemm_plan* plan, size_t* bytes, sb_error* error);

/// Packs B once for many products: with the same b_type, n and k, and any zero points, scales and outputs.
/// @param ldb     codes from row to row of B as it is stored, at least n (k with trans_b).
/// @param packed  sb_gemm_packed_bytes() bytes, aligned to 64.
SAMEBIT_API sb_status sb_gemm_pack(const sb_gemm_plan* plan, const void* b, size_t ldb, void* packed,
                                   size_t packed_bytes, sb_error* error);

/// Whether `packed` is a packed B for this plan (SB_BAD_PACKED if not), every byte included. sb_gemm_run
/// checks the header alone.
SAMEBIT_API sb_status sb_gemm_check_packed(const sb_gemm_plan* plan, const void* packed, size_t packed_bytes,
                                           sb_error* error);

typedef struct {
  size_t m;
  const void* a;
  size_t lda;           /**< codes from row to row of A as it is stored, at least k (m with trans_a) */
  const void* b;        /**< B and ldb, or NULL with packed_b */
  size_t ldb;           /**< at least n (k with trans_b) */
  const void* packed_b; /**< filled by sb_gemm_pack, or NULL */
  size_t packed_bytes;
  const int32_t*
      c; /**< QGemm's C, or NULL: c[i * c_row_stride + j * c_column_stride]; a stride of 0 repeats */
  size_t c_row_stride, c_column_stride;
  void* y;
  size_t ldy; /**< values from row to row, at least n */
} sb_gemm_args;

/// Bytes of workspace that sb_gemm_run needs for these arguments (pointers may still be NULL, but whether b
/// or packed_b and c are given counts). 0 is possible.
/// @param parallel  as for the run; NULL: one thread.
SAMEBIT_API sb_status sb_gemm_workspace_bytes(const sb_gemm_plan* plan, const sb_gemm_args* args,
                                              const sb_parallel* parallel, size_t* bytes, sb_error* error);

/// y = A x B as prepared. The result does not depend on threads or on whether B is packed. y must not overlap
/// an input.
/// @param parallel   NULL: the calling thread alone.
/// @param workspace  at least sb_gemm_workspace_bytes() bytes, any alignment; not shared by concurrent runs.
SAMEBIT_API sb_status sb_gemm_run(const sb_gemm_plan* plan, const sb_gemm_args* args,
                                  const sb_parallel* parallel, void* workspace, size_t workspace_bytes,
                                  sb_error* error);

/// A x B of tensors as in ONNX MatMul: dense row-major, the last two dimensions are the matrices (a has .. m
/// x k, b has
/// .. k x n), the others broadcast; a of rank 1 is a row, b of rank 1 a column. y is dense.
/// @param b         B, or NULL with a packed_b of rank 2 (or of ones before its matrix); plans without
/// transposition.
/// @param workspace sb_gemm_nd_workspace_bytes() bytes.
SAMEBIT_API sb_status sb_gemm_nd_workspace_bytes(const sb_gemm_plan* plan, const size_t* a_dims,
                                                 size_t a_rank, const size_t* b_dims, size_t b_rank,
                                                 int b_is_packed, const sb_parallel* parallel, size_t* bytes,
                                                 sb_error* error);
SAMEBIT_API sb_status sb_gemm_run_nd(const sb_gemm_plan* plan, const void* a, const size_t* a_dims,
                                     size_t a_rank, const void* b, const void* packed_b, size_t packed_bytes,
                                     const size_t* b_dims, size_t b_rank, void* y,
                                     const sb_parallel* parallel, void* workspace, size_t workspace_bytes,
                                     sb_error* error);

/// com.microsoft DynamicQuantizeMatMul: A is float32, quantized as a whole by DynamicQuantizeLinear, then
/// y = f32(acc) * f32(a_scale * b_scale) + bias as in MatMulIntegerToFloat.
/// @param matmul  a_type SB_UINT8, no trans_a; a_zero_point is not used.
/// @param scales  alpha 1; a_scale is not used. column_scale is not used: the scales are made in the
/// workspace.
SAMEBIT_API sb_status sb_dynamic_quantize_matmul_prepare(const sb_context* context, const sb_matmul* matmul,
                                                         const sb_matmul_scales* scales, const float* bias,
                                                         sb_gemm_plan* plan, sb_error* error);
/// As sb_gemm_workspace_bytes and sb_gemm_run, for such a plan. args->a: m x k float32, dense (lda is k); no
/// c.
SAMEBIT_API sb_status sb_dynamic_quantize_matmul_workspace_bytes(const sb_gemm_plan* plan,
                                                                 const sb_gemm_args* args,
                                                                 const sb_parallel* parallel, size_t* bytes,
                                                                 sb_error* error);
SAMEBIT_API sb_status sb_dynamic_quantize_matmul_run(const sb_gemm_plan* plan, const sb_gemm_args* args,
                                                     const sb_parallel* parallel, void* workspace,
                                                     size_t workspace_bytes, sb_error* error);

#ifdef __cplusplus
}
#endif

#endif /* SAMEBIT_SAMEBIT_H */
