// The plan of a matrix product, and the checks that its functions share.
#pragma once

#include "api/plan.h"
#include "core/gemm_driver.h"
#include "params/gemm.h"

namespace samebit {

struct GemmPlan {
  uint32_t magic;
  sb_type y_type;
  sb_matmul matmul;
  bool flip_a, flip_b;
  int32_t za;  // of the flipped codes
  GemmOutput output;
  bool exact;            // scales as real numbers
  float alpha, a_scale;  // as given
  const float* b_scale;  // as given
  bool per_column;
  float scale;                // per tensor
  const float* column_scale;  // per column
  const float* float_bias;
  sb_quant y;
  const GemmKernel* kernel;
  const char* name;
  // DynamicQuantizeMatMul
  sb_profile profile;
  const KernelTable* table;
};

size_t width(sb_type type);

/// Shape, types and zero points; chooses the kernel and marks the plan as filled.
sb_status check_matmul(const ContextView& context, const sb_matmul* m, GemmPlan* plan, sb_error* error);
sb_status check_scales(const ContextView& context, const sb_matmul_scales* scales, size_t n, GemmPlan* plan,
                       sb_error* error);
sb_status check_float_bias(const GemmPlan& plan, const float* bias, sb_error* error);
sb_status open_plan(const sb_gemm_plan* in, GemmPlan* plan, sb_error* error);
sb_status check_stride(const char* name, size_t stride, const char* what, size_t least, sb_error* error);
/// Bytes from the first to behind the last value of rows x columns with a stride; false on overflow.
bool extent(size_t rows, size_t columns, size_t stride, size_t value, size_t* bytes);
sb_status packed_size(const GemmPlan& plan, size_t* bytes, sb_error* error);
sb_status check_header(const GemmPlan& plan, const void* packed, size_t packed_bytes, sb_error* error);
sb_status check_parallel(const sb_parallel* parallel, sb_error* error);
size_t thread_count(const sb_parallel* parallel);
/// Shapes, pointers and overlaps of a run.
sb_status check_run(const GemmPlan& plan, const sb_gemm_args& args, sb_error* error);

/// The driver's problem; `exact` must outlive it.
GemmProblem problem(const GemmPlan& plan, const sb_gemm_args& args, ExactOutput* exact);

}  // namespace samebit
