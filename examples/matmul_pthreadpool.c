/* Vector times matrix on a pthreadpool, B as it is: y = x * w, int32. */
#include <stdio.h>
#include <stdlib.h>

#include "samebit/parallel_pthreadpool.h"

int main(void) {
  enum { N = 300, K = 64 };
  static uint8_t x[K];
  static int8_t w[K * N];
  static int32_t y[N];
  sb_error error;
  sb_context context;
  sb_gemm_plan plan;
  sb_matmul matmul = {SB_UINT8, SB_INT8, N, K, 0, 0, 3, NULL, 0};
  sb_gemm_args args = {1, NULL, K, NULL, N, NULL, 0, NULL, 0, 0, NULL, N};
  pthreadpool_t pool = pthreadpool_create(2);
  sb_parallel parallel = sb_parallel_pthreadpool(pool);
  size_t bytes = 0;
  void* workspace;
  long sum = 0;
  int i;

  for (i = 0; i < K; ++i) x[i] = (uint8_t)(i + 3);
  for (i = 0; i < K * N; ++i) w[i] = (int8_t)(i % 5 - 2);
  args.a = x;
  args.b = w;
  args.y = y;
  if (sb_context_init(&context, NULL, &error) ||
      sb_matmul_integer_prepare(&context, &matmul, &plan, &error) ||
      sb_gemm_workspace_bytes(&plan, &args, &parallel, &bytes, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  workspace = malloc(bytes + 1);
  if (sb_gemm_run(&plan, &args, &parallel, workspace, bytes, &error)) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  for (i = 0; i < N; ++i) sum += (i + 1) * (long)y[i];
  printf("threads %d, y[0] %d, y[1] %d, weighted sum %ld\n", (int)parallel.threads, (int)y[0], (int)y[1],
         sum);
  free(workspace);
  pthreadpool_destroy(pool);
  return 0;
}
