// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace emu {

// Whether a program waits right after each piece of work that it queues. The thread that waits then
// runs the work itself, and to wake the worker for it costs as much as a small kernel. Who queues
// several pieces first, or waits later, has no such habit.
class Habit {
 public:
  static constexpr std::chrono::nanoseconds kSoon = std::chrono::microseconds(100);

  // Under the stream's lock.
  void queued() {
    if (unwaited_.exchange(true, std::memory_order_relaxed)) forget();
    else note_thread();
    last_.store(now(), std::memory_order_relaxed);
  }

  void waited() {
    if (!unwaited_.exchange(false, std::memory_order_relaxed)) return;
    if (recent() || held_up()) times_.fetch_add(1, std::memory_order_relaxed);
    else forget();
  }

  void forget() { times_.store(0, std::memory_order_relaxed); }

  bool formed() const { return times_.load(std::memory_order_relaxed) >= kTimes; }

  // The last piece was queued so lately that a thread may be about to wait for it.
  bool recent() const { return now() - last_.load(std::memory_order_relaxed) <= kSoon.count(); }

 private:
  static constexpr uint32_t kTimes = 4;

  // What this thread has done: time it computed, in nanoseconds, and how often it slept.
  struct Done {
    int64_t computed, slept;
  };

  static Done done() {
    rusage used = {};
    getrusage(RUSAGE_THREAD, &used);
    const auto nanoseconds = [](const timeval &time) {
      return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_usec} * 1'000;
    };
    return {nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime), used.ru_nvcsw};
  }

  static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  static const void *this_thread() {
    static thread_local char here;
    return &here;
  }

  void note_thread() {
    if (formed()) return thread_.store(nullptr, std::memory_order_relaxed);
    const Done before = done();
    computed_.store(before.computed, std::memory_order_relaxed);
    slept_.store(before.slept, std::memory_order_relaxed);
    thread_.store(this_thread(), std::memory_order_relaxed);
  }

  // The thread was kept from waiting at once, often by the worker that it woke and that took its
  // processor: it neither computed nor slept meanwhile.
  bool held_up() const {
    if (thread_.load(std::memory_order_relaxed) != this_thread()) return false;
    const Done since = done();
    return since.computed - computed_.load(std::memory_order_relaxed) <= kSoon.count() &&
           since.slept == slept_.load(std::memory_order_relaxed);
  }

  std::atomic<bool> unwaited_{false};
  std::atomic<int64_t> last_{0};
  std::atomic<uint32_t> times_{0};
  // who queued the last piece while there was no habit, and what it had done until then
  std::atomic<const void *> thread_{nullptr};
  std::atomic<int64_t> computed_{0}, slept_{0};
};

}  // namespace emu
