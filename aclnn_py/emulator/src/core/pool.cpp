// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "core/pool.h"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/process.h"

namespace emu {
namespace {

struct Job {
  pool_detail::Body body;
  void *context;
  int64_t n, piece;
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  int others_wanted = 0;     // guarded by Pool::mutex
  int others_inside = 0;     // guarded by Pool::mutex
  std::exception_ptr error;  // written once, by whoever turns `failed`
  std::condition_variable done;
};

thread_local bool t_inside = false;

void work_on(Job &job) {
  t_inside = true;
  while (!job.failed.load(std::memory_order_relaxed)) {
    const int64_t begin = job.next.fetch_add(job.piece, std::memory_order_relaxed);
    if (begin >= job.n) break;
    try {
      job.body(job.context, begin, std::min(begin + job.piece, job.n));
    } catch (...) {
      if (!job.failed.exchange(true)) job.error = std::current_exception();
    }
  }
  t_inside = false;
}

class Pool {
 public:
  void run(Job &job, int others) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      start_threads(others);
      others = std::min(others, threads_);
      job.others_wanted = others;
      if (others > 0) waiting_.push_back(&job);
    }
    for (int i = 0; i < others; ++i) wake_.notify_one();
    work_on(job);
    std::unique_lock<std::mutex> lock(mutex_);
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      if (*at == &job) {
        waiting_.erase(at);
        break;
      }
    }
    job.done.wait(lock, [&] { return job.others_inside == 0; });
  }

 private:
  void start_threads(int wanted) {
    const int limit = parallel_width() - 1;
    while (threads_ < std::min(wanted, limit)) {
      try {
        std::thread([this] { loop(); }).detach();
      } catch (const std::system_error &) {
        return;  // the caller does the work with the threads there are
      }
      ++threads_;
    }
  }

  void loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !waiting_.empty(); });
      // Take the oldest job and put it behind the others when it wants more: ranks in one process
      // share fairly.
      Job *job = waiting_.front();
      waiting_.pop_front();
      ++job->others_inside;
      if (--job->others_wanted > 0) waiting_.push_back(job);
      lock.unlock();
      work_on(*job);
      lock.lock();
      if (--job->others_inside == 0) job->done.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job *> waiting_;
  int threads_ = 0;
};

Pool &pool() {
  // never destroyed: its threads may outlive static destruction
  static auto *const instance = new Pool;
  return *instance;
}

int ranks_on_this_host() {
  for (const char *name : {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                           "SLURM_NTASKS_PER_NODE"}) {
    const int64_t value = environment_number(name, 0);
    if (value > 0) return static_cast<int>(std::min<int64_t>(value, 1 << 16));
  }
  return 1;
}

int width_from_environment() {
  const int64_t asked = environment_number("ACLNN_PY_THREADS", 0);
  if (asked > 0) return static_cast<int>(std::min<int64_t>(asked, 256));
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  int processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                       ? CPU_COUNT(&allowed)
                       : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::max(1, processors) / ranks_on_this_host());
}

}  // namespace

int parallel_width() {
  static const int width = width_from_environment();
  return width;
}

void pool_detail::share_out(int64_t n, int64_t grain, Body body, void *context) {
  if (t_inside) {
    body(context, 0, n);
    return;
  }
  const int64_t width = parallel_width();
  const int64_t most_pieces = (n + grain - 1) / grain;
  // About four pieces per thread balance unequal work without much contention on the counter.
  const int64_t pieces = std::min(most_pieces, width * 4);
  Job job;
  job.body = body;
  job.context = context;
  job.n = n;
  job.piece = (n + pieces - 1) / pieces;
  pool().run(job, static_cast<int>(std::min(width, most_pieces)) - 1);
  if (job.failed) std::rethrow_exception(job.error);
}

}  // namespace emu
