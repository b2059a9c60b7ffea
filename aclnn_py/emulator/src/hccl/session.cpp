// SPDX-License-Identifier: Apache-2.0
#include "hccl/session.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "core/stream.h"

namespace emu::hccl {
namespace {

constexpr Status kMismatch = 507049;  // ACL_ERROR_RT_FFTS_PLUS_EXCEPTION
constexpr uint64_t kShortBytes = 8192;  // below it waiting for a second step costs more than the arithmetic

// The negative control of the tests moves no data, but keeps the ranks in step.
void copy(void *to, const void *from, uint64_t bytes) {
  if (to != from && bytes != 0 && !kEmptyKernels) std::memcpy(to, from, bytes);
}

bool overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

const char *offset(const void *base, uint64_t bytes) { return static_cast<const char *>(base) + bytes; }
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
    : comm_(comm), region_(comm.region()), call_(std::move(call)), ticket_(ticket), rank_(comm.rank()),
      size_(comm.size()), direct_(comm.region().direct()) {}

Session::~Session() {
  if (entered_) comm_.exit(ticket_);
}

Status Session::begin() {
  if (Status status = comm_.enter(ticket_, call_)) return status;
  entered_ = true;
  return 0;
}

// Where the bytes that this rank shows in the next step go: the source itself when the ranks can read it
// where it lies, else this rank's staging area.
char *Session::place(const void *source, void *target) {
  StepRecord &record = region_.record(rank_, comm_.step);
  record.source = source;
  record.target = target;
  return direct_ ? const_cast<char *>(static_cast<const char *>(source)) : region_.staging(rank_, comm_.step);
}

uint64_t Session::room() const { return direct_ ? UINT64_MAX : region_.step_bytes(); }

const char *Session::shown(uint32_t rank) const {
  return direct_ ? static_cast<const char *>(region_.record(rank, comm_.step - 1).source)
                 : region_.staging(rank, comm_.step - 1);
}

void *Session::target(uint32_t rank) const { return region_.record(rank, comm_.step - 1).target; }

void Session::show_call() {
  StepRecord &record = region_.record(rank_, comm_.step);
  std::memcpy(record.text, call_.text, sizeof record.text);
  record.vectors = call_.vectors;
  const std::vector<uint64_t> *vectors[3] = {&call_.a, &call_.b, &call_.c};
  for (uint32_t which = 0; which < 3; ++which) {
    uint64_t *shared = region_.vector(rank_, comm_.step, which);
    for (uint32_t r = 0; r < size_; ++r) shared[r] = r < vectors[which]->size() ? (*vectors[which])[r] : 0;
  }
}

// Shows this rank's step and waits for everyone's. A record and a staging area are used again two steps
// later; a rank gets there only after all arrived at the step between, so all have read the old contents.
Status Session::arrive() {
  const uint64_t step = comm_.step;
  if (fresh_) show_call();
  region_.state(rank_).step.store(step + 1, std::memory_order_seq_cst);
  comm_.ring_all();
  Status status = comm_.wait({Awaits::step, size_, step + 1}, [&] {
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
    // what most ranks called is taken as meant; of two equal camps, that of the lower rank
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
    return comm_.abandon("EI0005", kMismatch, "the ranks called different things: %s, but %s called %s", others.c_str(),
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
        return comm_.abandon("EI0005", kMismatch,
                             "the ranks called %s with different counts: for block %u, %s gave %llu bytes and %s gave %llu",
                             text(r), i, comm_.who(r).c_str(), static_cast<unsigned long long>(here),
                             comm_.who(0).c_str(), static_cast<unsigned long long>(there));
      }
      return comm_.abandon("EI0005", kMismatch, "in %s, %s sends %llu bytes to %s, which expects %llu", text(r),
                           comm_.who(r).c_str(), static_cast<unsigned long long>(here), comm_.who(i).c_str(),
                           static_cast<unsigned long long>(there));
    }
  }
  return 0;
}

// Ranks that read each other's buffers where they lie leave together.
Status Session::finish() { return direct_ ? arrive() : 0; }

Status Session::barrier() {
  place(nullptr);
  return arrive();
}

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
  const uint64_t room = this->room();
  uint64_t at = 0;
  do {
    const uint64_t own = part(mine, at, room);
    copy(place(offset(send, at)), offset(send, at), own);
    if (Status status = arrive()) return status;
    for (uint32_t i = 0; i < size_; ++i) {
      const uint32_t r = (rank_ + i) % size_;
      copy(offset(recv, blocks[r].offset + at), r == rank_ ? offset(send, at) : shown(r), part(blocks[r], at, room));
    }
    at += std::min(room, longest - at);
  } while (at < longest);
  return finish();
}

Status Session::broadcast(void *data, uint64_t bytes, uint32_t root) {
  const uint64_t room = this->room();
  uint64_t at = 0;
  do {
    const uint64_t n = std::min(room, bytes - at);
    char *shared = place(offset(data, at));
    if (rank_ == root) copy(shared, offset(data, at), n);
    if (Status status = arrive()) return status;
    if (rank_ != root) copy(offset(data, at), shown(root), n);
    at += n;
  } while (at < bytes);
  return finish();
}

Status Session::scatter(const void *send, void *recv, uint64_t bytes, uint32_t root) {
  Snapshot snapshot;
  if (rank_ == root && recv != offset(send, root * bytes) && overlap(send, size_ * bytes, recv, bytes)) {
    send = snapshot.take(send, size_ * bytes);
  }
  const uint64_t room = direct_ ? bytes : this->room() / size_ / 64 * 64;
  uint64_t at = 0;
  do {
    const uint64_t n = std::min(room, bytes - at);
    char *shared = place(send);
    if (rank_ == root && !direct_) {
      for (uint32_t r = 0; r < size_; ++r) copy(shared + r * room, offset(send, r * bytes + at), n);
    }
    if (Status status = arrive()) return status;
    const char *from = direct_ ? offset(shown(root), rank_ * bytes) : offset(shown(root), rank_ * room);
    copy(offset(recv, at), from, n);
    at += n;
  } while (at < bytes);
  return finish();
}

Status Session::all_to_all_v(const void *send, const std::vector<Block> &to, void *recv,
                             const std::vector<Block> &from) {
  Snapshot snapshot;
  if (overlap(send, extent(to), recv, extent(from))) send = snapshot.take(send, extent(to));
  const uint64_t room = direct_ ? UINT64_MAX : this->room() / size_ / 64 * 64;
  call_.vectors = Vectors::transposed;
  call_.a.clear();
  call_.b.clear();
  call_.c.clear();
  for (uint32_t r = 0; r < size_; ++r) {
    call_.a.push_back(to[r].bytes);
    call_.b.push_back(from[r].bytes);
    call_.c.push_back(to[r].offset);
  }
  std::vector<uint64_t> displacement(size_, 0);
  uint64_t longest = 0, at = 0;
  show_call();
  for (;;) {
    char *shared = place(send);
    if (!direct_) {
      for (uint32_t r = 0; r < size_; ++r) copy(shared + r * room, offset(send, to[r].offset + at), part(to[r], at, room));
    }
    if (Status status = arrive()) return status;
    if (at == 0) {
      // how many rounds there are depends on the longest transfer of any pair: everybody's counts are known now
      for (uint32_t r = 0; r < size_; ++r) {
        displacement[r] = region_.vector(r, comm_.step - 1, 2)[rank_];
        const uint64_t *counts = region_.vector(r, comm_.step - 1, 0);
        for (uint32_t i = 0; i < size_; ++i) longest = std::max(longest, counts[i]);
      }
    }
    for (uint32_t i = 0; i < size_; ++i) {
      const uint32_t r = (rank_ + i) % size_;
      const char *data = direct_ ? offset(shown(r), displacement[r]) : offset(shown(r), rank_ * room);
      copy(offset(recv, from[r].offset + at), data, part(from[r], at, room));
    }
    if (longest <= room || at + room >= longest) break;
    at += room;
  }
  return finish();
}

Status Session::all_reduce(const void *send, void *recv, uint64_t count, ReduceType type) {
  return reduce_to(send, recv, count, type, -1);
}

Status Session::reduce(const void *send, void *recv, uint64_t count, ReduceType type, uint32_t root) {
  return reduce_to(send, recv, count, type, root);
}

// Each rank reduces its piece of every chunk. With a root (root >= 0) only the root gets the result.
Status Session::reduce_to(const void *send, void *recv, uint64_t count, ReduceType type, int64_t root) {
  Snapshot snapshot;
  const bool receives = root < 0 || root == rank_;
  const uint64_t item = type.item_bytes, bytes = count * item;
  if (receives && send != recv && overlap(send, bytes, recv, bytes)) send = snapshot.take(send, bytes);
  std::vector<const void *> sources(size_);
  if (!direct_ && bytes <= kShortBytes) {
    // one step: every rank that wants the result reduces all of it
    copy(place(send), send, bytes);
    if (Status status = arrive()) return status;
    for (uint32_t r = 0; r < size_; ++r) sources[r] = shown(r);
    if (receives) reduce_in_order(type, sources.data(), size_, &recv, 1, count);
    return 0;
  }
  const uint64_t room = direct_ ? count : this->room() / item;
  std::vector<void *> targets;
  for (uint64_t at = 0; at < count; at += room) {
    const uint64_t n = std::min(room, count - at);
    // pieces begin on cache lines
    const uint64_t line = 64 / item, piece = (n + size_ * line - 1) / (size_ * line) * line;
    const uint64_t begin = std::min(n, rank_ * piece), length = std::min(n, begin + piece) - begin;
    copy(place(offset(send, at * item), receives ? recv : nullptr), offset(send, at * item), n * item);
    if (Status status = arrive()) return status;
    for (uint32_t r = 0; r < size_; ++r) sources[r] = offset(shown(r), begin * item);
    targets.clear();
    if (direct_) {
      for (uint32_t r = 0; r < size_; ++r) {
        if (root < 0 || root == r) targets.push_back(offset(target(r), begin * item));
      }
    } else {
      targets.push_back(place(nullptr));
    }
    reduce_in_order(type, sources.data(), size_, targets.data(), static_cast<uint32_t>(targets.size()), length);
    if (direct_) continue;
    if (Status status = arrive()) return status;
    for (uint32_t i = 0; receives && i < size_; ++i) {
      const uint32_t r = (rank_ + i) % size_;
      const uint64_t first = std::min(n, r * piece), last = std::min(n, first + piece);
      copy(offset(recv, (at + first) * item), shown(r), (last - first) * item);
    }
  }
  return finish();
}

Status Session::reduce_scatter(const void *send, void *recv, uint64_t count, ReduceType type) {
  const uint64_t bytes = count * type.item_bytes;
  std::vector<Block> blocks(size_);
  for (uint32_t r = 0; r < size_; ++r) blocks[r] = {bytes, r * bytes};
  return reduce_scatter_v(send, recv, blocks, type);
}

Status Session::reduce_scatter_v(const void *send, void *recv, const std::vector<Block> &blocks, ReduceType type) {
  Snapshot snapshot;
  const Block &mine = blocks[rank_];
  if (recv != offset(send, mine.offset) && overlap(send, extent(blocks), recv, mine.bytes)) {
    send = snapshot.take(send, extent(blocks));
  }
  uint64_t longest = 0;
  for (const Block &block : blocks) longest = std::max(longest, block.bytes);
  agree_on(blocks);
  const uint64_t room = direct_ ? std::max<uint64_t>(longest, 1) : this->room() / size_ / 64 * 64;
  std::vector<const void *> sources(size_);
  uint64_t at = 0;
  show_call();
  do {
    char *shared = place(send);
    if (!direct_) {
      for (uint32_t r = 0; r < size_; ++r) copy(shared + r * room, offset(send, blocks[r].offset + at), part(blocks[r], at, room));
    }
    if (Status status = arrive()) return status;
    for (uint32_t r = 0; r < size_; ++r) {
      sources[r] = direct_ ? offset(shown(r), region_.vector(r, comm_.step - 1, 2)[rank_]) : offset(shown(r), rank_ * room);
    }
    void *target = offset(recv, at);
    reduce_in_order(type, sources.data(), size_, &target, 1, part(mine, at, room) / type.item_bytes);
    at += std::min(room, longest - at);
  } while (at < longest);
  return finish();
}

}  // namespace emu::hccl
