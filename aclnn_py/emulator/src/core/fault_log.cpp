// SPDX-License-Identifier: Apache-2.0
#include "core/fault_log.h"

#include <algorithm>
#include <new>
#include <utility>

namespace emu {
namespace {

// Beyond it what is missed least makes way for new faults.
constexpr size_t kKept = 64;
// So many faults that everybody knows stay, for waits that began before they were reported.
constexpr ptrdiff_t kKnown = 4;

}  // namespace

void FaultLog::add(Fault fault) noexcept {
  forget_known();
  if (kept_.size() >= kKept) make_way();
  Kept entry;
  entry.fault = std::move(fault);
  try {
    kept_.push_back(std::move(entry));
  } catch (const std::bad_alloc &) {
    // The room was made before the stream ran its first task, so there is an older one.
    make_way();
    if (!kept_.empty() && kept_.size() < kept_.capacity()) kept_.push_back(std::move(entry));
  }
  settle();
}

void FaultLog::forget_known() noexcept {
  const auto known = [](const Kept &kept) { return kept.told_at != 0 && kept.owner_knows; };
  auto left = std::count_if(kept_.begin(), kept_.end(), known);
  for (; left >= kKnown; --left) kept_.erase(std::find_if(kept_.begin(), kept_.end(), known));
}

// Drops the entry that is missed least: one that all have heard of, one whose stream has been
// waited for, one behind which the same thread made another fault.
void FaultLog::make_way() noexcept {
  if (kept_.empty()) return;
  auto victim = std::find_if(kept_.begin(), kept_.end(), [](const Kept &kept) {
    return kept.told_at != 0 && kept.owner_knows;
  });
  if (victim == kept_.end()) {
    victim = std::find_if(kept_.begin(), kept_.end(), [&](const Kept &kept) {
      return std::any_of(kept_.begin(), kept_.end(), [&](const Kept &other) {
        return &other > &kept && other.fault.thread == kept.fault.thread &&
               (other.told_at == 0 || kept.told_at != 0);
      });
    });
  }
  kept_.erase(victim != kept_.end() ? victim : kept_.begin());
}

void FaultLog::settle() noexcept {
  any_.store(!kept_.empty(), std::memory_order_release);
  open_.store(
      std::any_of(kept_.begin(), kept_.end(), [](const Kept &kept) { return kept.told_at == 0; }),
      std::memory_order_release);
}

bool FaultLog::concerns(const Kept &kept, uint32_t thread, const Waiter &waiter) const {
  if (std::find(kept.heard.begin(), kept.heard.end(), thread) != kept.heard.end()) return false;
  const bool own = kept.fault.thread == thread;
  return kept.told_at == 0 || kept.told_at > waiter.since || (own && !kept.owner_knows);
}

std::vector<Fault> FaultLog::tell(const Waiter &waiter) {
  const uint32_t thread = program_thread();
  std::vector<Fault> told;
  for (Kept &kept : kept_) {
    if (kept.fault.task > waiter.last || !concerns(kept, thread, waiter)) continue;
    told.push_back(kept.fault);
    if (kept.heard.capacity() == kept.heard.size()) kept.heard.reserve(kept.heard.size() + 4);
  }
  // From here on nothing needs memory: all of it counts as heard, or nothing.
  bool reported = false;
  const uint64_t now = reports_.load(std::memory_order_relaxed) + 1;
  for (Kept &kept : kept_) {
    if (kept.fault.task > waiter.last) continue;
    if (concerns(kept, thread, waiter)) kept.heard.push_back(thread);
    if (kept.fault.thread == thread) kept.owner_knows = true;
    if (waiter.whole_device || kept.told_at != 0) continue;
    kept.told_at = now;
    reported = true;
  }
  if (reported) reports_.store(now, std::memory_order_release);
  settle();
  return told;
}

std::vector<Fault> FaultLog::all() const {
  std::vector<Fault> found;
  for (const Kept &kept : kept_) found.push_back(kept.fault);
  return found;
}

const Fault *FaultLog::first_open(uint64_t last) const {
  for (const Kept &kept : kept_) {
    if (kept.fault.task <= last && kept.told_at == 0) return &kept.fault;
  }
  return nullptr;
}

const Fault *FaultLog::first_open_after(uint64_t task) const {
  for (const Kept &kept : kept_) {
    if (kept.fault.task > task && kept.told_at == 0) return &kept.fault;
  }
  return nullptr;
}

void FaultLog::move_open_to(FaultLog &other) noexcept {
  for (Kept &kept : kept_) {
    if (kept.told_at == 0) other.add(std::move(kept.fault));
  }
  clear();
}

void FaultLog::clear() {
  kept_.clear();
  settle();
}

}  // namespace emu
