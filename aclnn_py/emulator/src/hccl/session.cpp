// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "hccl/session.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "core/copying.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "core/stream.h"

namespace emu::hccl {
namespace {

// up to here a second step costs more than copying and adding more
constexpr uint64_t kShortBytes = 32768;

// The negative control of the tests moves no data, but keeps the ranks in step.
void copy(void *to, const void *from, uint64_t bytes, int width = 1) {
  if (to == from || bytes == 0 || kEmptyKernels) return;
  constexpr uint64_t kLeast = uint64_t{1} << 20;  // below it another thread is not worth waking
  const uint64_t share =
      std::max(kLeast, (bytes / static_cast<uint64_t>(width) + 4095) / 4096 * 4096);
  parallel_for(static_cast<int64_t>(bytes), static_cast<int64_t>(share),
               [&](int64_t begin, int64_t end) {
                 char *target = static_cast<char *>(to) + begin;
                 const char *source = static_cast<const char *>(from) + begin;
                 if (bytes >= kPastCaches)
                   copy_past_caches(target, source, static_cast<size_t>(end - begin));
                 else std::memcpy(target, source, static_cast<size_t>(end - begin));
               });
}

bool overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

const char *offset(const void *base, uint64_t bytes) {
  return static_cast<const char *>(base) + bytes;
}
char *offset(void *base, uint64_t bytes) { return static_cast<char *>(base) + bytes; }

// The part [at, at + room) of a block.
uint64_t part(const Block &block, uint64_t at, uint64_t room) {
  return block.bytes > at ? std::min(room, block.bytes - at) : 0;
}

uint64_t extent(const std::vector<Block> &blocks) {
  uint64_t end = 0;
  for (const Block &block : blocks) end = std::max(end, block.offset + block.bytes);
  return end;
}

// A send buffer that the same call overwrites in another way than the documented in-place form.
class Snapshot {
 public:
  const void *take(const void *data, uint64_t bytes) {
    held_.reset(new char[bytes]);
    std::memcpy(held_.get(), data, bytes);
    return held_.get();
  }

 private:
  std::unique_ptr<char[]> held_;
};

}  // namespace

Session::Session(Communicator &comm, Call call, uint64_t ticket)
    : comm_(comm),
      region_(comm.region()),
      call_(std::move(call)),
      ticket_(ticket),
      rank_(comm.rank()),
      size_(comm.size()),
      width_(comm.width()) {}

Session::~Session() {
  if (entered_) comm_.exit(ticket_);
}

Status Session::begin() {
  if (const Status status = comm_.enter(ticket_, call_)) return status;
  entered_ = true;
  // What a stream has after a fault may be anything: no other rank is to compute with it.
  Stream *const stream = working_stream();
  const std::string fault = size_ > 1 && stream != nullptr ? unreported_fault(*stream) : "";
  if (fault.empty()) return 0;
  return comm_.abandon("EI0012", kPeerLost, "%s comes to %s after a fault: %s",
                       comm_.who(rank_).c_str(), call_.text, fault.c_str());
}

char *Session::staging() { return region_.staging(rank_, comm_.step); }

const char *Session::staged(uint32_t rank) const { return region_.staging(rank, comm_.step - 1); }

// In the next step the others learn where this rank's data lie.
void Session::show(const void *source, uint64_t source_bytes, void *target, uint64_t target_bytes) {
  StepRecord &record = region_.record(rank_, comm_.step);
  record.source = source;
  record.target = target;
  const Peers &peers = comm_.peers();
  record.open =
      peers.open_to_others(source, source_bytes) && peers.open_to_others(target, target_bytes);
}

// Every rank sees the same records, so all go the same way.
bool Session::all_shown() const {
  for (uint32_t r = 0; r < size_; ++r) {
    if (!region_.record(r, comm_.step - 1).open) return false;
  }
  return comm_.direct();
}

const char *Session::source(uint32_t rank) const {
  return static_cast<const char *>(
      comm_.peers().here(rank, region_.record(rank, comm_.step - 1).source));
}

char *Session::target(uint32_t rank) const {
  return static_cast<char *>(comm_.peers().here(rank, region_.record(rank, comm_.step - 1).target));
}

void Session::show_call() {
  StepRecord &record = region_.record(rank_, comm_.step);
  std::memcpy(record.text, call_.text, sizeof record.text);
  record.vectors = call_.vectors;
  const std::vector<uint64_t> *vectors[3] = {&call_.a, &call_.b, &call_.c};
  for (uint32_t which = 0; which < 3; ++which) {
    uint64_t *shared = region_.vector(rank_, comm_.step, which);
    for (uint32_t r = 0; r < size_; ++r)
      shared[r] = r < vectors[which]->size() ? (*vectors[which])[r] : 0;
  }
}

// Shows this rank's step and waits for everyone's. A record and a staging area are used again two
// steps later; a rank gets there only after all arrived at the step between, so all have read the
// old contents.
Status Session::arrive(double limit) {
  const uint64_t step = comm_.step;
  if (fresh_) show_call();
  region_.state(rank_).step.store(step + 1, std::memory_order_seq_cst);
  comm_.ring_all();
  const Status status = comm_.wait({Awaits::step, size_, step + 1, nullptr, limit}, [&] {
    for (uint32_t r = 0; r < size_; ++r) {
      if (region_.state(r).step.load(std::memory_order_acquire) < step + 1) return false;
    }
    return true;
  });
  if (status != 0) return status;
  comm_.step = step + 1;
  if (fresh_) {
    fresh_ = false;
    return compare();
  }
  return 0;
}

// Every rank sees the same records, so every rank comes to the same verdict.
Status Session::compare() {
  const uint64_t step = comm_.step - 1;
  auto text = [&](uint32_t r) { return region_.record(r, step).text; };
  std::map<std::string, uint32_t> votes;
  for (uint32_t r = 0; r < size_; ++r) ++votes[text(r)];
  if (votes.size() > 1) {
    // the call that most ranks made counts as the intended one; on a tie, that of the lowest rank
    uint32_t meant = 0;
    for (uint32_t r = 1; r < size_; ++r) {
      if (votes[text(r)] > votes[text(meant)]) meant = r;
    }
    std::string others;
    for (uint32_t r = 0; r < size_; ++r) {
      if (votes[text(r)] != votes[text(meant)] || std::strcmp(text(r), text(meant)) != 0) {
        others += (others.empty() ? "" : ", ") + comm_.who(r) + " called " + text(r);
      }
    }
    return comm_.abandon("EI0005", kRanksDisagree,
                         "the ranks called different things: %s, but %s called %s", others.c_str(),
                         comm_.who(meant).c_str(), text(meant));
  }
  if (call_.vectors == Vectors::none) return 0;
  for (uint32_t r = 0; r < size_; ++r) {
    for (uint32_t i = 0; i < size_; ++i) {
      const bool equal = call_.vectors == Vectors::equal;
      const uint64_t here = region_.vector(r, step, 0)[i];
      const uint64_t there = equal ? region_.vector(0, step, 0)[i] : region_.vector(i, step, 1)[r];
      if (here == there) continue;
      if (equal) {
        return comm_.abandon("EI0005", kRanksDisagree,
                             "the ranks called %s with different counts: for block %u, %s gave "
                             "%llu bytes and %s gave %llu",
                             text(r), i, comm_.who(r).c_str(),
                             static_cast<unsigned long long>(here), comm_.who(0).c_str(),
                             static_cast<unsigned long long>(there));
      }
      return comm_.abandon("EI0005", kRanksDisagree,
                           "in %s, %s sends %llu bytes to %s, which expects %llu", text(r),
                           comm_.who(r).c_str(), static_cast<unsigned long long>(here),
                           comm_.who(i).c_str(), static_cast<unsigned long long>(there));
    }
  }
  return 0;
}

Status Session::barrier(double limit) { return arrive(limit); }

// Every rank must give the same sizes; where the blocks lie is its own business.
void Session::agree_on(const std::vector<Block> &blocks) {
  call_.vectors = Vectors::equal;
  call_.a.clear();
  call_.c.clear();
  for (const Block &block : blocks) {
    call_.a.push_back(block.bytes);
    call_.c.push_back(block.offset);
  }
}

Status Session::all_gather(const void *send, void *recv, uint64_t bytes) {
  std::vector<Block> blocks(size_);
  for (uint32_t r = 0; r < size_; ++r) blocks[r] = {bytes, r * bytes};
  return all_gather_v(send, recv, blocks);
}

Status Session::all_gather_v(const void *send, void *recv, const std::vector<Block> &blocks) {
  Snapshot snapshot;
  const Block &mine = blocks[rank_];
  if (send != offset(recv, mine.offset) && overlap(send, mine.bytes, recv, extent(blocks))) {
    send = snapshot.take(send, mine.bytes);
  }
  uint64_t longest = 0;
  for (const Block &block : blocks) longest = std::max(longest, block.bytes);
  agree_on(blocks);
  if (longest > kShortBytes) {
    show(send, mine.bytes);
    if (const Status status = arrive()) return status;
    if (all_shown()) {
      // each rank begins with another block, so that not all read the same memory
      for (uint32_t i = 0; i < size_; ++i) {
        const uint32_t r = (rank_ + i) % size_;
        copy(offset(recv, blocks[r].offset), r == rank_ ? send : source(r), blocks[r].bytes,
             width_);
      }
      return arrive();
    }
  }
  const uint64_t room = region_.step_bytes();
  uint64_t at = 0;
  do {
    copy(staging(), offset(send, at), part(mine, at, room));
    if (const Status status = arrive()) return status;
    for (uint32_t i = 0; i < size_; ++i) {
      const uint32_t r = (rank_ + i) % size_;
      copy(offset(recv, blocks[r].offset + at), r == rank_ ? offset(send, at) : staged(r),
           part(blocks[r], at, room));
    }
    at += std::min(room, longest - at);
  } while (at < longest);
  return 0;
}

Status Session::broadcast(void *data, uint64_t bytes, uint32_t root) {
  if (bytes > kShortBytes) {
    show(data, bytes);
    if (const Status status = arrive()) return status;
    if (all_shown()) {
      if (rank_ != root) copy(data, source(root), bytes, width_);
      return arrive();
    }
  }
  const uint64_t room = region_.step_bytes();
  uint64_t at = 0;
  do {
    const uint64_t n = std::min(room, bytes - at);
    if (rank_ == root) copy(staging(), offset(data, at), n);
    if (const Status status = arrive()) return status;
    if (rank_ != root) copy(offset(data, at), staged(root), n);
    at += n;
  } while (at < bytes);
  return 0;
}

Status Session::scatter(const void *send, void *recv, uint64_t bytes, uint32_t root) {
  Snapshot snapshot;
  if (rank_ == root && recv != offset(send, root * bytes) &&
      overlap(send, size_ * bytes, recv, bytes)) {
    send = snapshot.take(send, size_ * bytes);
  }
  if (bytes * size_ > kShortBytes) {
    show(send, rank_ == root ? size_ * bytes : 0);
    if (const Status status = arrive()) return status;
    if (all_shown()) {
      copy(recv, source(root) + rank_ * bytes, bytes, width_);
      return arrive();
    }
  }
  const uint64_t room = region_.step_bytes() / size_ / 64 * 64;
  uint64_t at = 0;
  do {
    const uint64_t n = std::min(room, bytes - at);
    for (uint32_t r = 0; rank_ == root && r < size_; ++r)
      copy(staging() + r * room, offset(send, r * bytes + at), n);
    if (const Status status = arrive()) return status;
    copy(offset(recv, at), staged(root) + rank_ * room, n);
    at += n;
  } while (at < bytes);
  return 0;
}

Status Session::all_to_all_v(const void *send, const std::vector<Block> &to, void *recv,
                             const std::vector<Block> &from) {
  Snapshot snapshot;
  if (overlap(send, extent(to), recv, extent(from))) send = snapshot.take(send, extent(to));
  call_.vectors = Vectors::transposed;
  call_.a.clear();
  call_.b.clear();
  call_.c.clear();
  for (uint32_t r = 0; r < size_; ++r) {
    call_.a.push_back(to[r].bytes);
    call_.b.push_back(from[r].bytes);
    call_.c.push_back(to[r].offset);
  }
  show_call();
  show(send, extent(to));
  // After this first step all ranks know the longest transfer of any pair. The step already carries
  // the beginning of each transfer, as many bytes as a short message has.
  const uint64_t begin = std::min(region_.step_bytes() / size_ / 64 * 64,
                                  std::max<uint64_t>(kShortBytes / size_, 64) / 64 * 64);
  uint64_t longest = 0, at = 0, room = begin;
  for (;;) {
    for (uint32_t r = 0; r < size_; ++r)
      copy(staging() + r * room, offset(send, to[r].offset + at), part(to[r], at, room));
    if (const Status status = arrive()) return status;
    const uint64_t step = comm_.step - 1;
    for (uint32_t r = 0; at == 0 && r < size_; ++r) {
      const uint64_t *counts = region_.vector(r, step, 0);
      for (uint32_t i = 0; i < size_; ++i) longest = std::max(longest, counts[i]);
    }
    const bool shown = at == 0 && longest > begin && all_shown();
    for (uint32_t i = 0; i < size_; ++i) {
      const uint32_t r = (rank_ + i) % size_;
      char *to_here = offset(recv, from[r].offset + at);
      if (shown)
        copy(to_here, source(r) + region_.vector(r, step, 2)[rank_], from[r].bytes, width_);
      else copy(to_here, staged(r) + rank_ * room, part(from[r], at, room));
    }
    if (shown) return arrive();
    at += room;
    room = region_.step_bytes() / size_ / 64 * 64;
    if (at >= longest) return 0;
  }
}

Status Session::all_reduce(const void *send, void *recv, uint64_t count, ReduceType type) {
  return reduce_to(send, recv, count, type, -1);
}

Status Session::reduce(const void *send, void *recv, uint64_t count, ReduceType type,
                       uint32_t root) {
  return reduce_to(send, recv, count, type, root);
}

// Each rank reduces its piece of every chunk. With a root (root >= 0) only the root gets the
// result.
Status Session::reduce_to(const void *send, void *recv, uint64_t count, ReduceType type,
                          int64_t root) {
  Snapshot snapshot;
  const auto receives = [root](uint32_t rank) { return root < 0 || root == rank; };
  const uint64_t item = type.item_bytes, bytes = count * item;
  if (receives(rank_) && send != recv && overlap(send, bytes, recv, bytes))
    send = snapshot.take(send, bytes);
  std::vector<const void *> sources(size_);
  std::vector<void *> targets;
  // pieces begin on cache lines
  const auto piece_of = [&](uint64_t n) {
    const uint64_t line = 64 / item;
    return (n + size_ * line - 1) / (size_ * line) * line;
  };
  if (bytes <= kShortBytes) {
    // one step: every rank that wants the result reduces all of it
    copy(staging(), send, bytes);
    if (const Status status = arrive()) return status;
    for (uint32_t r = 0; r < size_; ++r) sources[r] = staged(r);
    if (receives(rank_)) reduce_in_order(type, sources, {recv}, count, 1);
    return 0;
  }
  show(send, bytes, recv, receives(rank_) ? bytes : 0);
  if (const Status status = arrive()) return status;
  if (all_shown()) {
    const uint64_t piece = piece_of(count), begin = std::min(count, rank_ * piece);
    for (uint32_t r = 0; r < size_; ++r) {
      sources[r] = source(r) + begin * item;
      if (receives(r)) targets.push_back(target(r) + begin * item);
    }
    reduce_in_order(type, sources, targets, std::min(count, begin + piece) - begin, width_);
    return arrive();
  }
  const uint64_t room = region_.step_bytes() / item;
  for (uint64_t at = 0; at < count; at += room) {
    const uint64_t n = std::min(room, count - at), piece = piece_of(n),
                   begin = std::min(n, rank_ * piece);
    copy(staging(), offset(send, at * item), n * item);
    if (const Status status = arrive()) return status;
    for (uint32_t r = 0; r < size_; ++r) sources[r] = staged(r) + begin * item;
    reduce_in_order(type, sources, {staging()}, std::min(n, begin + piece) - begin, width_);
    if (const Status status = arrive()) return status;
    for (uint32_t i = 0; receives(rank_) && i < size_; ++i) {
      const uint32_t r = (rank_ + i) % size_;
      const uint64_t first = std::min(n, r * piece), last = std::min(n, first + piece);
      copy(offset(recv, (at + first) * item), staged(r), (last - first) * item);
    }
  }
  return 0;
}

Status Session::reduce_scatter(const void *send, void *recv, uint64_t count, ReduceType type) {
  const uint64_t bytes = count * type.item_bytes;
  std::vector<Block> blocks(size_);
  for (uint32_t r = 0; r < size_; ++r) blocks[r] = {bytes, r * bytes};
  return reduce_scatter_v(send, recv, blocks, type);
}

Status Session::reduce_scatter_v(const void *send, void *recv, const std::vector<Block> &blocks,
                                 ReduceType type) {
  Snapshot snapshot;
  const Block &mine = blocks[rank_];
  if (recv != offset(send, mine.offset) && overlap(send, extent(blocks), recv, mine.bytes)) {
    send = snapshot.take(send, extent(blocks));
  }
  uint64_t longest = 0;
  for (const Block &block : blocks) longest = std::max(longest, block.bytes);
  agree_on(blocks);
  std::vector<const void *> sources(size_);
  if (longest * size_ > kShortBytes) {
    show_call();
    show(send, extent(blocks));
    if (const Status status = arrive()) return status;
    if (all_shown()) {
      for (uint32_t r = 0; r < size_; ++r)
        sources[r] = source(r) + region_.vector(r, comm_.step - 1, 2)[rank_];
      reduce_in_order(type, sources, {recv}, mine.bytes / type.item_bytes, width_);
      return arrive();
    }
  }
  const uint64_t room = region_.step_bytes() / size_ / 64 * 64;
  uint64_t at = 0;
  do {
    for (uint32_t r = 0; r < size_; ++r)
      copy(staging() + r * room, offset(send, blocks[r].offset + at), part(blocks[r], at, room));
    if (const Status status = arrive()) return status;
    for (uint32_t r = 0; r < size_; ++r) sources[r] = staged(r) + rank_ * room;
    reduce_in_order(type, sources, {offset(recv, at)}, part(mine, at, room) / type.item_bytes,
                    width_);
    at += std::min(room, longest - at);
  } while (at < longest);
  return 0;
}

}  // namespace emu::hccl
