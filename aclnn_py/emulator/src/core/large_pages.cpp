// SPDX-License-Identifier: Apache-2.0
#include "core/large_pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <new>

namespace emu {
namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE of Linux 6.1, which older headers lack
constexpr size_t kWorthwhile = kLargePage / 2;

std::atomic<bool> g_refused{false};

uintptr_t round_up(uintptr_t value) { return (value + kLargePage - 1) / kLargePage * kLargePage; }

// The page exists after its first byte was read: the system makes no large page of nothing, and
// other threads may write here meanwhile.
void ask_for(uintptr_t at) {
  static_cast<void>(*reinterpret_cast<const volatile char *>(at));
  if (madvise(reinterpret_cast<void *>(at), kLargePage, kCollapse) != 0 && errno == EINVAL)
    g_refused.store(true, std::memory_order_relaxed);
}

}  // namespace

char *reserve_large_pages(size_t size) {
  const size_t room = size + kLargePage;
  void *const taken =
      mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (taken == MAP_FAILED) return nullptr;
  const auto first = reinterpret_cast<uintptr_t>(taken), start = round_up(first);
  if (start > first) munmap(taken, start - first);
  if (first + room > start + size)
    munmap(reinterpret_cast<void *>(start + size), first + room - start - size);
  return reinterpret_cast<char *>(start);
}

bool LargePages::open(uintptr_t start, size_t size) {
  asked_.reset(new (std::nothrow) std::atomic<bool>[size / kLargePage] {});
  start_ = start;
  return asked_ != nullptr;
}

void LargePages::use(uintptr_t at, size_t nbytes) {
  if (nbytes < kWorthwhile || asked_ == nullptr || g_refused.load(std::memory_order_relaxed))
    return;
  const size_t last = (at + nbytes - 1 - start_) / kLargePage;
  for (size_t page = (at - start_) / kLargePage; page <= last; ++page) {
    if (asked_[page].load(std::memory_order_relaxed) || asked_[page].exchange(true)) continue;
    ask_for(start_ + page * kLargePage);
  }
}

void LargePages::forget(uintptr_t at, size_t nbytes) {
  if (asked_ == nullptr) return;
  const size_t end = (at + nbytes - start_) / kLargePage;
  for (size_t page = (round_up(at) - start_) / kLargePage; page < end; ++page)
    asked_[page].store(false, std::memory_order_relaxed);
}

}  // namespace emu
