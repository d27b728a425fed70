// Matrix products of tensors: ONNX MatMul's broadcasting over the driver's matrices.
#include "api/gemm_plan.h"
#include "core/broadcast.h"

using namespace samebit;

namespace {

struct Batches {
  size_t m;
  size_t y_rank, y_dims[SB_MAX_RANK];  // of the batch dimensions
  size_t count;
  Walk walk;
  bool one_b;  // B does not vary: all rows of A are one matrix
};

sb_status check_dims(const char* name, const size_t* dims, size_t rank, sb_error* error) {
  if (rank == 0 || rank > SB_MAX_RANK)
    return fail(error, SB_UNSUPPORTED, "%s_rank is %zu; 1 to %d are supported", name, rank, SB_MAX_RANK);
  if (!dims) return fail(error, SB_BAD_ARGUMENT, "%s_dims is null", name);
  return SB_OK;
}

sb_status batches(const GemmPlan& plan, const size_t* a_dims, size_t a_rank, const size_t* b_dims,
                  size_t b_rank, Batches* out, sb_error* error) {
  const sb_matmul& mm = plan.matmul;
  if (mm.trans_a || mm.trans_b)
    return fail(error, SB_UNSUPPORTED, "the plan transposes %s; tensors are multiplied as they are stored",
                mm.trans_a ? "a" : "b");
  sb_status s = check_dims("a", a_dims, a_rank, error);
  if (s == SB_OK) s = check_dims("b", b_dims, b_rank, error);
  if (s != SB_OK) return s;
  Batches b{};
  b.m = a_rank == 1 ? 1 : a_dims[a_rank - 2];
  const size_t k = a_dims[a_rank - 1], b_k = b_dims[b_rank == 1 ? 0 : b_rank - 2],
               n = b_rank == 1 ? 1 : b_dims[b_rank - 1];
  if (k != mm.k || b_k != mm.k)
    return fail(error, SB_BAD_ARGUMENT, "a has k = %zu and b %zu; the plan was prepared for %zu", k, b_k,
                mm.k);
  if (n != mm.n) return fail(error, SB_BAD_ARGUMENT, "b has n = %zu; the plan was prepared for %zu", n, mm.n);
  s = broadcast(a_dims, a_rank > 2 ? a_rank - 2 : 0, b_dims, b_rank > 2 ? b_rank - 2 : 0, b.y_dims, &b.y_rank,
                &b.count, &b.walk, error);
  if (s != SB_OK) return s;
  b.one_b = true;
  for (size_t i = 0; i + 2 < b_rank; ++i) b.one_b &= b_dims[i] == 1;
  if (b.one_b && __builtin_mul_overflow(b.m, b.count, &b.m))
    return fail(error, SB_BAD_ARGUMENT, "the rows of a overflow size_t");
  *out = b;
  return SB_OK;
}

sb_gemm_args arguments(const GemmPlan& plan, const Batches& b, const void* a, const void* matrix,
                       const void* packed, size_t packed_bytes, void* y) {
  sb_gemm_args args{};
  args.m = b.m;
  args.a = a;
  args.lda = plan.matmul.k;
  args.b = packed ? nullptr : matrix;
  args.ldb = plan.matmul.n;
  args.packed_b = packed;
  args.packed_bytes = packed_bytes;
  args.y = y;
  args.ldy = plan.matmul.n;
  return args;
}

}  // namespace

extern "C" {

sb_status sb_gemm_nd_workspace_bytes(const sb_gemm_plan* in, const size_t* a_dims, size_t a_rank,
                                     const size_t* b_dims, size_t b_rank, int b_is_packed,
                                     const sb_parallel* parallel, size_t* bytes, sb_error* error) {
  GemmPlan plan{};
  Batches b{};
  sb_status s = open_plan(in, &plan, error);
  if (s == SB_OK) s = batches(plan, a_dims, a_rank, b_dims, b_rank, &b, error);
  if (s != SB_OK) return s;
  static const uint8_t some = 0;
  const sb_gemm_args args = arguments(plan, b, nullptr, nullptr, b_is_packed ? &some : nullptr, 0, nullptr);
  return sb_gemm_workspace_bytes(in, &args, parallel, bytes, error);
}

sb_status sb_gemm_run_nd(const sb_gemm_plan* in, const void* a, const size_t* a_dims, size_t a_rank,
                         const void* b, const void* packed_b, size_t packed_bytes, const size_t* b_dims,
                         size_t b_rank, void* y, const sb_parallel* parallel, void* workspace,
                         size_t workspace_bytes, sb_error* error) {
  GemmPlan plan{};
  Batches batch{};
  sb_status s = open_plan(in, &plan, error);
  if (s == SB_OK) s = batches(plan, a_dims, a_rank, b_dims, b_rank, &batch, error);
  if (s != SB_OK) return s;
  if (packed_b && !batch.one_b)
    return fail(error, SB_UNSUPPORTED, "packed_b is one matrix; b_dims has more than one");
  if (batch.one_b) {
    const sb_gemm_args args = arguments(plan, batch, a, b, packed_b, packed_bytes, y);
    return sb_gemm_run(in, &args, parallel, workspace, workspace_bytes, error);
  }
  const size_t a_size = batch.m * plan.matmul.k, b_size = plan.matmul.k * plan.matmul.n;
  const size_t y_bytes = batch.m * plan.matmul.n * width(plan.y_type);
  if (batch.count > 0 && (!a || !b || !y))
    return fail(error, SB_BAD_ARGUMENT, "%s is null", !a ? "a" : !b ? "b" : "y");
  // The walk's strides count batches, as every element of its shapes is a matrix.
  size_t index[SB_MAX_RANK] = {};
  for (size_t i = 0; i < batch.count && s == SB_OK; ++i) {
    size_t a_at = 0, b_at = 0;
    for (size_t d = 0; d < batch.walk.rank; ++d) {
      a_at += index[d] * batch.walk.a_strides[d];
      b_at += index[d] * batch.walk.b_strides[d];
    }
    const sb_gemm_args args = arguments(plan, batch, static_cast<const uint8_t*>(a) + a_at * a_size,
                                        static_cast<const uint8_t*>(b) + b_at * b_size, nullptr, 0,
                                        static_cast<uint8_t*>(y) + i * y_bytes);
    s = sb_gemm_run(in, &args, parallel, workspace, workspace_bytes, error);
    for (size_t d = batch.walk.rank; d-- > 0;) {
      if (++index[d] < batch.walk.dims[d]) break;
      index[d] = 0;
    }
  }
  return s;
}

}  // extern "C"
