// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "meta/executor.h"

namespace emu {

struct PlanState;

// One queued run of a repeatable plan. It carries its own copy of the tensors: addresses may be
// bound anew at once.
struct RepeatedRun {
  std::shared_ptr<PlanState> plan;  // none while it is spare
  std::vector<PlanTensor> tensors;
  RepeatedRun *next = nullptr;
};

// Runs of one plan that are over, for its next launches: what the worker frees the host would ask
// for again, and between two threads that costs more than a small kernel. Any thread may give and
// take.
class SpareRuns {
 public:
  SpareRuns() = default;
  ~SpareRuns() {
    for (RepeatedRun *run = first_.load(); run != nullptr;) delete std::exchange(run, run->next);
  }
  SpareRuns(const SpareRuns &) = delete;
  SpareRuns &operator=(const SpareRuns &) = delete;

  void give(std::unique_ptr<RepeatedRun> run) noexcept {
    if (count_.fetch_add(1, std::memory_order_relaxed) >= kMost) {
      count_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    put(run.get(), run.get());
    run.release();
  }

  // A spare one or none. All are taken, and the others put back: a single one could be taken by
  // another thread, and come back with another follower, between the look at it and the exchange.
  std::unique_ptr<RepeatedRun> take() noexcept {
    RepeatedRun *run = first_.exchange(nullptr, std::memory_order_acquire);
    if (run == nullptr) return nullptr;
    RepeatedRun *rest = std::exchange(run->next, nullptr), *none = nullptr;
    if (rest != nullptr && !first_.compare_exchange_strong(none, rest, std::memory_order_release)) {
      RepeatedRun *last = rest;
      while (last->next != nullptr) last = last->next;
      put(rest, last);
    }
    count_.fetch_sub(1, std::memory_order_relaxed);
    return std::unique_ptr<RepeatedRun>(run);
  }

 private:
  static constexpr uint32_t kMost = 64;

  void put(RepeatedRun *run, RepeatedRun *last) noexcept {
    last->next = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(last->next, run, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
  }

  std::atomic<RepeatedRun *> first_{nullptr};
  std::atomic<uint32_t> count_{0};
};

}  // namespace emu
