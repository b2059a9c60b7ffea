// SPDX-License-Identifier: Apache-2.0
#include "hccl/peers.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "core/memory.h"
#include "core/process.h"

namespace emu::hccl {
namespace {

// A view takes as many addresses as the device has; beyond this the ranks would fill the address
// space.
constexpr uint32_t kMostViews = 64;

bool wanted() { return environment_number("ACLNN_PY_EMULATOR_PEER_MEMORY", 1) != 0; }

}  // namespace

MemberMemory own_memory(int device) {
  SharedWindow window{};
  if (!wanted() || !shared_window(device, &window)) return {};
  return {window.start, window.size, window.inode, window.file, 0};
}

struct Peers::Mapping {
  explicit Mapping(void *at, size_t length) : base(at), size(length) {}
  ~Mapping() { munmap(base, size); }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  void *const base;
  const size_t size;
};

// All communicators of a process share one mapping of a peer, and the pages it has seen already.
std::shared_ptr<Peers::Mapping> Peers::map(const Member &member) {
  const MemberMemory &memory = member.memory;
  if (memory.size == 0 || !member.process.observable) return nullptr;
  static std::mutex mutex;
  static auto *const known = new std::map<std::pair<uint64_t, uint64_t>, std::weak_ptr<Mapping>>;
  std::lock_guard<std::mutex> hold(mutex);
  for (auto at = known->begin(); at != known->end();)
    at = at->second.expired() ? known->erase(at) : std::next(at);
  auto &entry = (*known)[{member.process.nonce, memory.inode}];
  if (auto mapping = entry.lock()) return mapping;
  const int file = open_of_process(member.process.pid, memory.file);
  if (file < 0) return nullptr;
  struct stat about{};
  void *base = MAP_FAILED;
  if (fstat(file, &about) == 0 && about.st_ino == memory.inode &&
      static_cast<uint64_t>(about.st_size) == memory.size) {
    base = mmap(nullptr, memory.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  }
  close(file);
  if (base == MAP_FAILED) return nullptr;
  auto mapping = std::make_shared<Mapping>(base, memory.size);
  entry = mapping;
  return mapping;
}

Peers::Peers(Region &region, uint32_t rank)
    : views_(region.ranks()), own_(region.member(rank).memory) {
  const uint64_t self = region.member(rank).process.nonce;
  const bool wanted = emu::hccl::wanted();
  for (uint32_t r = 0; r < region.ranks(); ++r) {
    const Member &member = region.member(r);
    View &view = views_[r];
    view.same = wanted && member.process.nonce == self;
    if (view.same) continue;
    alone_ = false;
    if (wanted && region.ranks() <= kMostViews) view.mapping = map(member);
    if (view.mapping) {
      view.shift = reinterpret_cast<uintptr_t>(view.mapping->base) - member.memory.start;
    } else {
      complete_ = false;
    }
  }
}

Peers::~Peers() = default;

bool Peers::open_to_others(const void *data, uint64_t bytes) const {
  const auto at = reinterpret_cast<uintptr_t>(data);
  if (alone_ || bytes == 0) return true;
  return at >= own_.start && at - own_.start < own_.size && bytes <= own_.size - (at - own_.start);
}

}  // namespace emu::hccl
