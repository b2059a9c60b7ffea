// SPDX-License-Identifier: Apache-2.0
// The memory the ranks of one communicator share: an anonymous file (memfd) that has no name, is
// passed over a private socket, and disappears with the last process that maps it.
//
// Everything in it is written by one owner and read by the others. Progress is told by counters
// that only grow, so there is no lock that a dying rank could leave behind.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hccl/process.h"

namespace emu::hccl {

constexpr size_t kCallText = 256;
constexpr uint32_t kMaxRanks = 1024;
constexpr uint32_t kRing = 2;  // slots of a channel, and parities of a step

// The device memory of a rank, as the other ranks' processes map it; size 0 when they cannot.
struct MemberMemory {
  uint64_t start, size, inode;
  int32_t file;
  int32_t unused;
};

struct Member {
  Process process;
  MemberMemory memory;
  int32_t device;
  int32_t unused;
};

enum class Reach : uint32_t { unknown, everyone, not_everyone };

enum class Awaits : uint32_t { nothing, step, posted, taken };

struct alignas(128) RankState {
  std::atomic<uint32_t> bell;      // rung by anyone who changed something this rank may wait for
  std::atomic<uint32_t> sleeping;  // the rank sleeps on its bell
  std::atomic<uint32_t> left;      // the communicator was destroyed on this rank
  std::atomic<uint32_t> revived;   // how often this rank resumed the communicator
  std::atomic<Reach> reach;        // whose device memory this rank can use where it lies
  std::atomic<uint64_t> step;      // steps of collectives this rank has arrived at
  std::atomic<uint64_t> calls;     // calls this rank has begun
  // What the rank waits for; `serial` is odd while it waits.
  std::atomic<uint64_t> serial;
  std::atomic<uint32_t> awaits;
  std::atomic<uint32_t> awaited_rank;
  std::atomic<uint64_t> awaited_value;
  std::atomic<uint64_t> text[kCallText / 8];  // the call it is in, for the others' messages
};

enum class Vectors : uint32_t { none, equal, transposed };

// What a rank shows in one step of a collective; three vectors of `ranks` numbers follow.
struct alignas(64) StepRecord {
  char text[kCallText];
  Vectors vectors;
  uint32_t open;       // source and target lie where the other ranks can reach them
  const void *source;  // addresses in this rank's process
  void *target;
};

struct MessageHead {
  uint64_t count;
  uint64_t total;  // bytes
  uint32_t dtype;
  uint32_t open;  // the receiver takes the bytes from `source`, else from the pieces
  const void *source;
};

// One direction between two ranks.
struct alignas(128) Channel {
  std::atomic<uint64_t> posted;
  std::atomic<uint64_t> taken;
  MessageHead head[kRing];
};

struct Header {
  uint64_t magic;
  uint32_t ranks;
  uint32_t unused;
  uint64_t step_bytes;
  uint64_t piece_bytes;
  std::atomic<uint32_t> failure;  // 0 none, 1 being written, 2 told
  std::atomic<uint32_t> revived;  // claimed by the rank that clears the failure of a round
  std::atomic<uint32_t> cleared;  // rounds of failure that are over
  int32_t status;
  char prefix[8];
  char reason[1536];
};

class Region {
 public:
  // Makes the file. Returns -1 and says why when that is not possible.
  static int create(const std::vector<Member> &members, std::string *why);
  // Maps the file and closes the descriptor.
  static std::shared_ptr<Region> attach(int fd, std::string *why);
  ~Region();
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;

  Header &header() { return *at<Header>(0); }
  uint32_t ranks() const { return ranks_; }
  const Member &member(uint32_t rank) { return at<Member>(members_)[rank]; }
  RankState &state(uint32_t rank) { return at<RankState>(states_)[rank]; }
  StepRecord &record(uint32_t rank, uint64_t step) {
    return *at<StepRecord>(records_ + (rank * kRing + step % kRing) * record_bytes_);
  }
  uint64_t *vector(uint32_t rank, uint64_t step, uint32_t which) {
    return reinterpret_cast<uint64_t *>(&record(rank, step) + 1) + uint64_t{which} * ranks_;
  }
  Channel &channel(uint32_t source, uint32_t destination) {
    return at<Channel>(channels_)[source * ranks_ + destination];
  }
  char *staging(uint32_t rank, uint64_t step) {
    return at<char>(staging_ + (rank * kRing + step % kRing) * step_bytes_);
  }
  char *piece(uint32_t source, uint32_t destination, uint64_t turn) {
    return at<char>(pieces_ + ((uint64_t{source} * ranks_ + destination) * kRing + turn % kRing) *
                                  piece_bytes_);
  }
  uint64_t step_bytes() const { return step_bytes_; }
  uint64_t piece_bytes() const { return piece_bytes_; }

 private:
  Region() = default;
  uint64_t lay_out(uint32_t ranks);
  template <class T>
  T *at(uint64_t offset) {
    return reinterpret_cast<T *>(base_ + offset);
  }

  char *base_ = nullptr;
  uint64_t size_ = 0;
  uint32_t ranks_ = 0;
  uint64_t record_bytes_ = 0, step_bytes_ = 0, piece_bytes_ = 0;
  uint64_t members_ = 0, states_ = 0, records_ = 0, channels_ = 0, staging_ = 0, pieces_ = 0;
};

}  // namespace emu::hccl
