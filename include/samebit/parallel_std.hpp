/// sb_parallel on threads of the C++ library (C++17): a small pool that runs one call at a time.
///
///     samebit::ThreadPool pool(4);
///     const sb_parallel parallel = pool.parallel();
#ifndef SAMEBIT_PARALLEL_STD_HPP
#define SAMEBIT_PARALLEL_STD_HPP

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "samebit/samebit.h"

namespace samebit {

/// `threads` threads, the calling one included. Calls from several threads take turns. Must outlive its
/// calls.
class ThreadPool {
 public:
  explicit ThreadPool(std::size_t threads) : threads_(threads < 1 ? 1 : threads) {
    for (std::size_t i = 1; i < threads_; ++i) workers_.emplace_back([this] { work(); });
  }
  ~ThreadPool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    started_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  sb_parallel parallel() { return {run, this, threads_}; }

 private:
  static void run(void* pool, std::size_t count, sb_task task, void* arg) {
    auto* self = static_cast<ThreadPool*>(pool);
    const std::lock_guard<std::mutex> turn(self->turn_);
    std::unique_lock<std::mutex> lock(self->mutex_);
    self->task_ = task;
    self->arg_ = arg;
    self->next_ = 0;
    self->count_ = count;
    self->left_ = count;
    self->started_.notify_all();
    self->take(lock);
    self->finished_.wait(lock, [self] { return self->left_ == 0; });
  }

  /// Tasks one after the other, until none is left to begin. The lock is held but for the tasks themselves.
  void take(std::unique_lock<std::mutex>& lock) {
    while (next_ < count_) {
      const std::size_t index = next_++;
      const sb_task task = task_;
      void* const arg = arg_;
      lock.unlock();
      task(arg, index);
      lock.lock();
      if (--left_ == 0) finished_.notify_one();
    }
  }

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop_) {
      take(lock);
      if (!stop_) started_.wait(lock);
    }
  }

  const std::size_t threads_;
  std::vector<std::thread> workers_;
  std::mutex turn_, mutex_;
  std::condition_variable started_, finished_;
  bool stop_ = false;
  sb_task task_ = nullptr;
  void* arg_ = nullptr;
  std::size_t next_ = 0, count_ = 0, left_ = 0;
};

}  // namespace samebit

#endif  // SAMEBIT_PARALLEL_STD_HPP
