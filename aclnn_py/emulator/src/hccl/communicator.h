// SPDX-License-Identifier: Apache-2.0
// One rank's end of a communicator: who the others are, how to wait for them, and how all of them
// learn that one failed.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/status.h"
#include "core/timed_wait.h"
#include "hccl/config.h"
#include "hccl/peers.h"
#include "hccl/region.h"

namespace emu::hccl {

// A call as the other ranks see it. Calls of two ranks belong together when their texts are equal
// and their vectors agree; so the text carries everything the ranks must have in common, and
// nothing else. The operations of a session fill the vectors.
struct Call {
  char text[kCallText] = {};
  Vectors vectors = Vectors::none;
  std::vector<uint64_t> a, b;  // byte counts per rank, compared as `vectors` says
  std::vector<uint64_t> c;     // byte displacements in this rank's send buffer; not compared
};

[[gnu::format(printf, 1, 2)]] Call describe(const char *format, ...);

// `rank` is the one rank that can end the wait; the number of ranks when there are several: all of
// them (a step) or any of `peers` (a batch of transfers).
struct Wait {
  Awaits what = Awaits::nothing;
  uint32_t rank = 0;
  uint64_t value = 0;
  const std::vector<uint32_t> *peers = nullptr;
  double limit = 0;  // seconds; 0: HCCL_EXEC_TIMEOUT
};

class Communicator {
 public:
  Communicator(std::string name, uint32_t rank, int device, Config config,
               std::shared_ptr<Region> region, uint32_t crowd);
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  const std::string &name() const { return name_; }
  uint32_t rank() const { return rank_; }
  uint32_t size() const { return region_->ranks(); }
  int device() const { return device_; }
  const Config &config() const { return config_; }
  bool is_sub() const { return is_sub_; }
  void mark_sub() { is_sub_ = true; }
  Region &region() { return *region_; }
  const Peers &peers() const { return peers_; }
  // Can every rank use every other rank's device memory where it lies? All ranks have answered once
  // they arrived at a step, and from then on they give the same answer.
  bool direct();
  // Ranks that share the processors of this host, those outside this communicator too.
  uint32_t crowd() const { return crowd_; }
  // Threads this rank may use for one call.
  int width() const { return width_; }

  // Waits until ready() holds. `wait` says what for, so that others can see it and messages can
  // name it; ready() must be about monotone counters written by that rank. Returns a device status
  // on failure.
  template <class Ready>
  Status wait(const Wait &wait, Ready ready) {
    if (ready()) return 0;
    const TimedWait waiting;
    for (int i = 0; i < spins_; ++i) {
      cpu_pause();
      if (ready()) return 0;
    }
    using Target = std::remove_reference_t<Ready>;
    return wait_asleep(
        wait, [](void *context) { return (*static_cast<Target *>(context))(); },
        const_cast<void *>(static_cast<const void *>(&ready)));
  }
  void ring(uint32_t rank);
  void ring_all();

  // Ends the communicator for all ranks; the first report wins. Returns `status` of the report that
  // won, with its text as this thread's message.
  [[gnu::format(printf, 4, 5)]] Status abandon(const char *message_code, Status status,
                                               const char *format, ...);
  bool failed() { return region_->header().failure.load(std::memory_order_acquire) != 0; }
  Status report_failure();
  std::string failure_text();

  // Called once by HcclCommDestroy.
  void leave();
  void suspend() { suspended_.store(true); }
  bool suspended() const { return suspended_.load(); }
  // Clears the suspension; after a failure, waits until every rank resumed and starts anew.
  Status resume();

  // Calls run one at a time. Those issued on streams keep the order of their issue: `ticket` is the
  // place in that order, 0 for a call that has none (replayed graphs, fused operators).
  std::mutex issue_mutex;  // held over issue() and the enqueueing of the task
  uint64_t issue();
  void withdraw(uint64_t ticket) noexcept;
  Status enter(uint64_t ticket, const Call &call);
  void exit(uint64_t ticket);
  bool busy();

  uint64_t step = 0;  // steps this rank has arrived at; used between enter and exit
  std::string current_call(uint32_t rank);
  std::string who(uint32_t rank);

  // Ranges announced with HcclCommSetMemoryRange, and the parts of them that were activated.
  struct MemoryRange {
    size_t size = 0;
    std::map<uintptr_t, size_t> active;
  };
  std::mutex ranges_mutex;
  std::map<uintptr_t, MemoryRange> ranges;

  std::atomic<uint64_t> children{0};  // sub-communicators made from it, for unique rendezvous names
  const std::string &secret() const { return secret_; }
  void set_secret(std::string secret) { secret_ = std::move(secret); }

 private:
  static void cpu_pause();
  Status wait_asleep(const Wait &wait, bool (*ready)(void *), void *context);
  Status look_around(const Wait &wait, double waited, bool (*ready)(void *), void *context);
  Status find_deadlock(const Wait &wait);
  bool unsatisfied(uint32_t waiter, Wait *wait);
  // Is it this call's turn? Only with turn_mutex_ held, as what follows.
  bool may_go(uint64_t ticket) const {
    return !running_ && (ticket == 0 || open_.empty() || *open_.begin() == ticket);
  }
  void close_turn(uint64_t ticket) noexcept;
  void give_up(uint64_t ticket) noexcept;

  const std::string name_;
  const uint32_t rank_;
  const int device_;
  const Config config_;
  const std::shared_ptr<Region> region_;
  std::string secret_;
  bool is_sub_ = false;
  const uint32_t crowd_;
  Peers peers_;
  int spins_ = 0, width_ = 1;
  std::atomic<bool> suspended_{false};

  std::mutex turn_mutex_;
  std::condition_variable turn_changed_;
  uint64_t issued_ = 0;
  std::set<uint64_t> open_;  // tickets whose calls are not over; leaving needs no memory
  bool running_ = false;
};

}  // namespace emu::hccl
