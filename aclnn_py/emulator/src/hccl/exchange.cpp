// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Transfers between pairs of ranks: any number of sends and receives that make progress together.
#include <algorithm>
#include <cstring>

#include "core/statuses.h"
#include "core/stream.h"
#include "hccl/arguments.h"
#include "hccl/session.h"

namespace emu::hccl {
namespace {

struct Progress {
  const Transfer *transfer;
  uint64_t bytes;      // of the whole message
  uint64_t moved = 0;  // bytes posted or taken
  bool started = false, done = false;
  bool shown = false;  // a send whose receiver reads the memory where it lies
};

class Exchange {
 public:
  Exchange(Communicator &comm, const std::vector<Transfer> &transfers)
      : comm_(comm), region_(comm.region()), rank_(comm.rank()) {
    for (const Transfer &transfer : transfers) {
      Progress progress{};
      progress.transfer = &transfer;
      progress.bytes = transfer.count * transfer.item_bytes;
      progress.shown = transfer.send && reaches(transfer.remote) &&
                       comm.peers().open_to_others(transfer.data, progress.bytes);
      work_.push_back(progress);
    }
  }

  Status run() {
    for (;;) {
      bool moved = false, pending = false;
      busy_send_.assign(comm_.size(), false);
      busy_recv_.assign(comm_.size(), false);
      for (Progress &item : work_) {
        if (item.done) continue;
        // messages of one pair keep their order: only the first unfinished one may move
        auto &busy = item.transfer->send ? busy_send_ : busy_recv_;
        if (busy[item.transfer->remote]) continue;
        const Status status = item.transfer->send ? push(item, &moved) : pull(item, &moved);
        if (status != 0) return status;
        if (!item.done) {
          busy[item.transfer->remote] = true;
          pending = true;
        }
      }
      if (!pending) return 0;
      if (moved) continue;
      if (const Status status = rest()) return status;
    }
  }

 private:
  Channel &channel(const Progress &item) {
    return item.transfer->send ? region_.channel(rank_, item.transfer->remote)
                               : region_.channel(item.transfer->remote, rank_);
  }

  // What the first waiting message of a pair waits for.
  Wait awaited(const Progress &item) {
    Channel &line = channel(item);
    const uint32_t peer = item.transfer->remote;
    if (!item.transfer->send)
      return {Awaits::posted, peer, line.taken.load(std::memory_order_relaxed) + 1};
    const uint64_t posted = line.posted.load(std::memory_order_relaxed);
    // a sender waits for a free slot, and at the end for the receiver to have taken everything
    return {Awaits::taken, peer,
            item.started && item.moved == item.bytes ? posted : posted + 1 - kRing};
  }

  // A receiver that has not said yet whose memory it sees gets the bytes through the staging.
  bool reaches(uint32_t remote) {
    return region_.state(remote).reach.load(std::memory_order_acquire) == Reach::everyone;
  }

  bool may_move(const Progress &item) {
    const Wait wait = awaited(item);
    Channel &line = channel(item);
    return (wait.what == Awaits::posted ? line.posted : line.taken)
               .load(std::memory_order_acquire) >= wait.value;
  }

  Status rest() {
    std::vector<const Progress *> heads;
    std::vector<bool> seen_send(comm_.size(), false), seen_recv(comm_.size(), false);
    for (const Progress &item : work_) {
      auto &seen = item.transfer->send ? seen_send : seen_recv;
      if (item.done || seen[item.transfer->remote]) continue;
      seen[item.transfer->remote] = true;
      heads.push_back(&item);
    }
    // With one peer left the wait is for that rank; with several, any of them may end it.
    Wait wait = awaited(*heads[0]);
    std::vector<uint32_t> peers;
    for (const Progress *item : heads) peers.push_back(item->transfer->remote);
    if (heads.size() > 1) wait = {wait.what, comm_.size(), 0, &peers};
    return comm_.wait(wait, [&] {
      return std::any_of(heads.begin(), heads.end(),
                         [&](const Progress *item) { return may_move(*item); });
    });
  }

  Status push(Progress &item, bool *moved) {
    const Transfer &transfer = *item.transfer;
    Channel &line = channel(item);
    uint64_t posted = line.posted.load(std::memory_order_relaxed);
    while (!item.started || item.moved < item.bytes) {
      if (posted - line.taken.load(std::memory_order_acquire) >= kRing) return 0;
      const uint64_t n =
          item.shown ? item.bytes : std::min(region_.piece_bytes(), item.bytes - item.moved);
      MessageHead &head = line.head[posted % kRing];
      head = {transfer.count, item.bytes, transfer.dtype, item.shown, transfer.data};
      if (!item.shown && !kEmptyKernels) {
        std::memcpy(region_.piece(rank_, transfer.remote, posted),
                    static_cast<char *>(transfer.data) + item.moved, n);
      }
      item.started = true;
      item.moved += n;
      line.posted.store(++posted, std::memory_order_seq_cst);
      comm_.ring(transfer.remote);
      *moved = true;
    }
    if (line.taken.load(std::memory_order_acquire) == posted) {
      item.done = true;
      *moved = true;
    }
    return 0;
  }

  Status pull(Progress &item, bool *moved) {
    const Transfer &transfer = *item.transfer;
    Channel &line = channel(item);
    uint64_t taken = line.taken.load(std::memory_order_relaxed);
    while (line.posted.load(std::memory_order_acquire) > taken) {
      const MessageHead &head = line.head[taken % kRing];
      if (head.count != transfer.count || head.dtype != transfer.dtype) {
        return comm_.abandon(
            "EI0005", kRanksDisagree,
            "%s sends %llu elements of %s to %s, which receives %llu of %s",
            comm_.who(transfer.remote).c_str(), static_cast<unsigned long long>(head.count),
            dtype_text(head.dtype), comm_.who(rank_).c_str(),
            static_cast<unsigned long long>(transfer.count), dtype_text(transfer.dtype));
      }
      const uint64_t n =
          head.open ? item.bytes : std::min(region_.piece_bytes(), item.bytes - item.moved);
      const void *from = head.open ? comm_.peers().here(transfer.remote, head.source)
                                   : region_.piece(transfer.remote, rank_, taken);
      if (!kEmptyKernels) std::memmove(static_cast<char *>(transfer.data) + item.moved, from, n);
      item.moved += n;
      line.taken.store(++taken, std::memory_order_seq_cst);
      comm_.ring(transfer.remote);
      *moved = true;
      if (item.moved >= item.bytes) {
        item.done = true;
        return 0;
      }
    }
    return 0;
  }

  Communicator &comm_;
  Region &region_;
  const uint32_t rank_;
  std::vector<Progress> work_;
  std::vector<bool> busy_send_, busy_recv_;
};

}  // namespace

Status Session::exchange(const std::vector<Transfer> &transfers) {
  return Exchange(comm_, transfers).run();
}

}  // namespace emu::hccl
