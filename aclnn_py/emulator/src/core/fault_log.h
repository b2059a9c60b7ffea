// SPDX-License-Identifier: Apache-2.0
// The faults of one stream, kept until those who wait for it have heard of them (docs/emulator.md
// has the rule).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"

namespace emu {

struct Fault {
  Status code = 0;
  std::string text;
  const char *what = "";
  int32_t stream = 0;
  uint64_t task = 0;    // its number on the stream
  uint32_t thread = 0;  // that queued the task (program_thread)
};

// The calling thread, as faults name it: its number is not used again (core/stream.cpp).
uint32_t program_thread();

// A wait that hears of faults.
struct Waiter {
  uint64_t last = 0;   // the last task that it waits for
  uint64_t since = 0;  // FaultLog::reports when it began
  // It waits for all streams of the device: its thread hears, and nobody else misses anything.
  bool whole_device = false;
};

// Guarded by the stream's mutex, except what says that it needs no lock.
class FaultLog {
 public:
  // Without a lock: whether there is anything that a wait may have to hear of, and whether there is
  // a fault that no wait for the stream has reported.
  bool any() const { return any_.load(std::memory_order_acquire); }
  bool open() const { return open_.load(std::memory_order_acquire); }
  // Without a lock: how many waits for the stream have reported something.
  uint64_t reports() const { return reports_.load(std::memory_order_acquire); }

  void make_room() { kept_.reserve(4); }  // so that the first faults need no memory
  void add(Fault fault) noexcept;
  // What the calling thread has to hear of now, oldest first; it has heard of it then.
  std::vector<Fault> tell(const Waiter &waiter);
  // All that is kept; nobody counts as having heard of it.
  std::vector<Fault> all() const;
  // The first fault up to a task that no wait for the stream has reported, or null.
  const Fault *first_open(uint64_t last) const;
  // The same of the tasks behind one.
  const Fault *first_open_after(uint64_t task) const;
  // Hands over the faults that no wait for the stream has reported.
  void move_open_to(FaultLog &other) noexcept;
  void clear();

 private:
  struct Kept {
    Fault fault;
    uint64_t told_at = 0;         // the report of a wait for the stream; 0: none yet
    bool owner_knows = false;     // the thread that queued the task has heard
    std::vector<uint32_t> heard;  // threads that heard of it by waiting for the device
  };
  bool concerns(const Kept &kept, uint32_t thread, const Waiter &waiter) const;
  void forget_known() noexcept;
  void make_way() noexcept;
  void settle() noexcept;

  std::vector<Kept> kept_;
  std::atomic<bool> any_{false}, open_{false};
  std::atomic<uint64_t> reports_{0};
};

}  // namespace emu
