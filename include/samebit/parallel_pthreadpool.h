/// sb_parallel for pthreadpool (C99): the caller's pool runs the tasks of sb_gemm_run.
///
///     pthreadpool_t pool = pthreadpool_create(4);
///     sb_parallel parallel = sb_parallel_pthreadpool(pool);
#ifndef SAMEBIT_PARALLEL_PTHREADPOOL_H
#define SAMEBIT_PARALLEL_PTHREADPOOL_H

#include <pthreadpool.h>

#include "samebit/samebit.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline void sb_pthreadpool_run(void* pool, size_t count, sb_task task, void* arg) {
  pthreadpool_parallelize_1d((pthreadpool_t)pool, task, arg, count, 0);
}

/// @param pool  NULL is pthreadpool's own meaning of one thread.
static inline sb_parallel sb_parallel_pthreadpool(pthreadpool_t pool) {
  sb_parallel parallel;
  parallel.run = sb_pthreadpool_run;
  parallel.pool = pool;
  parallel.threads = pthreadpool_get_threads_count(pool);
  return parallel;
}

#ifdef __cplusplus
}
#endif

#endif /* SAMEBIT_PARALLEL_PTHREADPOOL_H */
