// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace emu {

// Whether a program waits right after each piece of work that it queues. The thread that waits then
// runs the work itself, and to wake the worker for it costs as much as a small kernel. Who queues
// several pieces first, or waits later, has no such habit.
class Habit {
 public:
  // Under the stream's lock.
  void queued() {
    if (unwaited_.exchange(true, std::memory_order_relaxed)) forget();
    last_.store(now(), std::memory_order_relaxed);
  }

  void waited() {
    if (!unwaited_.exchange(false, std::memory_order_relaxed)) return;
    if (now() - last_.load(std::memory_order_relaxed) > kSoon) forget();
    else times_.fetch_add(1, std::memory_order_relaxed);
  }

  void forget() { times_.store(0, std::memory_order_relaxed); }

  bool formed() const { return times_.load(std::memory_order_relaxed) >= kTimes; }

 private:
  static constexpr int64_t kSoon = 100'000;  // nanoseconds
  static constexpr uint32_t kTimes = 8;

  static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  std::atomic<bool> unwaited_{false};
  std::atomic<int64_t> last_{0};
  std::atomic<uint32_t> times_{0};
};

}  // namespace emu
