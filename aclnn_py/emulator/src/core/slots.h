// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/host_limits.h"

extern "C" __attribute__((weak)) void __lsan_register_root_region(const void *, size_t);

namespace emu {

// Storage of the objects behind C handles. A slot never returns to the system, so a stale or
// foreign handle can be told from a live one by reading it: that is a refusal, never a crash. Freed
// slots are reused first-in first-out, so a stale handle stays recognisable for as long as
// possible. Their addresses are reserved at the first use, and become memory piece by piece.
template <class T>
class Slots {
 public:
  explicit Slots(size_t capacity) : capacity_(capacity) {}

  // Null when there are as many as there may be; throws where the system refuses the memory.
  template <class... Args>
  T *create(Args &&...args) {
    Slot *slot = acquire();
    if (slot == nullptr) return nullptr;
    T *object = nullptr;
    try {
      object = ::new (static_cast<void *>(slot->bytes)) T(std::forward<Args>(args)...);
    } catch (...) {
      put_back(slot);
      throw;
    }
    live_count_.fetch_add(1, std::memory_order_relaxed);
    slot->state.store(kLive, std::memory_order_release);
    return object;
  }

  // True when `handle` is an object of this kind that has not been destroyed.
  bool live(const void *handle) const {
    const Slot *slot = slot_of(handle);
    return slot != nullptr && slot->state.load(std::memory_order_acquire) == kLive;
  }

  T *find(const void *handle) const {
    return live(handle) ? const_cast<T *>(static_cast<const T *>(handle)) : nullptr;
  }

  // Takes the object from its users: exactly one caller succeeds. `destroy` must follow.
  bool retire(const void *handle) {
    Slot *slot = const_cast<Slot *>(slot_of(handle));
    uint32_t expected = kLive;
    return slot != nullptr && slot->state.compare_exchange_strong(expected, kRetired);
  }

  void destroy(T *object) {
    object->~T();
    Slot *slot = reinterpret_cast<Slot *>(object);  // the object is the first member of its slot
    live_count_.fetch_sub(1, std::memory_order_relaxed);
    slot->state.store(kFree, std::memory_order_release);
    put_back(slot);
  }

  // Destroys what a creation that did not finish left behind; `release` keeps it.
  struct Disposer {
    Slots *slots;
    void operator()(T *object) const {
      if (slots->retire(object)) slots->destroy(object);
    }
  };
  using Guard = std::unique_ptr<T, Disposer>;
  Guard guard(T *object) { return Guard(object, Disposer{this}); }

  size_t live_count() const { return live_count_.load(std::memory_order_relaxed); }

  // Calls f(object) for every live object; the caller keeps creation and destruction away
  // meanwhile.
  template <class F>
  void for_each(F f) {
    const size_t count = used_.load(std::memory_order_acquire);
    for (size_t i = 0; i < count; ++i) {
      if (base_[i].state.load(std::memory_order_acquire) == kLive)
        f(reinterpret_cast<T *>(base_[i].bytes));
    }
  }

 private:
  static constexpr uint32_t kFree = 0, kLive = 1, kRetired = 2;
  static constexpr size_t kKeepBack = 64;  // slots that rest before they are used again

  struct Slot {
    alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes[sizeof(T)];
    std::atomic<uint32_t> state;
    Slot *next;
  };

  const Slot *slot_of(const void *handle) const {
    const Slot *base = base_.load(std::memory_order_acquire);
    const auto address = reinterpret_cast<uintptr_t>(handle),
               start = reinterpret_cast<uintptr_t>(base);
    if (base == nullptr || address < start) return nullptr;
    const uintptr_t distance = address - start;
    if (distance >= used_.load(std::memory_order_acquire) * sizeof(Slot) ||
        distance % sizeof(Slot) != 0)
      return nullptr;
    return reinterpret_cast<const Slot *>(address);
  }

  void put_back(Slot *slot) {
    slot->next = nullptr;
    std::lock_guard<std::mutex> lock(mutex_);
    if (last_ != nullptr) {
      last_->next = slot;
    } else {
      first_ = slot;
    }
    last_ = slot;
    ++free_count_;
  }

  Slot *acquire() {
    std::lock_guard<std::mutex> lock(mutex_);
    const size_t used = used_.load(std::memory_order_relaxed);
    if (free_count_ <= kKeepBack && used < capacity_ && has_memory(used)) return fresh(used);
    if (first_ == nullptr) {
      if (used == capacity_ && !cut_) return nullptr;
      throw HostRefusal("memory for another handle", ENOMEM);
    }
    Slot *slot = first_;
    first_ = slot->next;
    if (first_ == nullptr) last_ = nullptr;
    --free_count_;
    return slot;
  }

  Slot *fresh(size_t index) {
    Slot *base = base_.load(std::memory_order_relaxed);
    // A leak checker finds heap memory owned by slots only when it is told to look here.
    if (__lsan_register_root_region != nullptr)
      __lsan_register_root_region(&base[index], sizeof(Slot));
    Slot *slot = ::new (static_cast<void *>(&base[index])) Slot;
    used_.store(index + 1, std::memory_order_release);
    return slot;
  }

  // Sees to it that a slot is memory; false where the system refuses.
  bool has_memory(size_t index) {
    if (room_ == 0 && !reserve()) return false;
    const size_t end = (index + 1) * sizeof(Slot);
    while (memory_ < end) {
      const size_t piece = std::min(kPiece, room_ - memory_);
      char *const at = reinterpret_cast<char *>(base_.load(std::memory_order_relaxed)) + memory_;
      if (piece == 0 || mprotect(at, piece, PROT_READ | PROT_WRITE) != 0) return false;
      memory_ += piece;
    }
    return true;
  }

  bool reserve() {
    const size_t whole = capacity_ * sizeof(Slot), room = table_room(whole);
    void *region =
        mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) return false;
    room_ = room;
    cut_ = room < whole;
    base_.store(static_cast<Slot *>(region), std::memory_order_release);
    return true;
  }

  static constexpr size_t kPiece = size_t{256} << 10;  // of the region, in whole pages

  const size_t capacity_;
  // Guarded by mutex_: bytes of the region, how many of them are memory, and whether the region has
  // no room for `capacity_` slots.
  size_t room_ = 0, memory_ = 0;
  bool cut_ = false;
  std::atomic<Slot *> base_{nullptr};
  std::atomic<size_t> used_{0};
  std::atomic<size_t> live_count_{0};
  std::mutex mutex_;
  Slot *first_ = nullptr, *last_ = nullptr;
  size_t free_count_ = 0;
};

}  // namespace emu
