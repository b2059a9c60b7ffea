// SPDX-License-Identifier: Apache-2.0
// The addresses of a device: which of them are free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/large_pages.h"

namespace emu {

inline size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

// The entries of a free range. They are allocated together with the block, so that freeing needs no
// host memory.
class FreeEntry {
 public:
  FreeEntry() = default;
  static FreeEntry make() {
    std::map<uintptr_t, size_t> place;
    std::set<std::pair<size_t, uintptr_t>> room;
    FreeEntry entry;
    entry.place_ = place.extract(place.emplace(0, 0).first);
    entry.room_ = room.extract(room.emplace(0, 0).first);
    return entry;
  }
  void enter(std::map<uintptr_t, size_t> &places, std::set<std::pair<size_t, uintptr_t>> &rooms,
             uintptr_t at, size_t size) {
    place_.key() = at;
    place_.mapped() = size;
    places.insert(std::move(place_));
    room_.value() = {size, at};
    rooms.insert(std::move(room_));
  }

 private:
  std::map<uintptr_t, size_t>::node_type place_;
  std::set<std::pair<size_t, uintptr_t>>::node_type room_;
};

// Freed under ACLNN_PY_CHECK=1 and not given out again yet.
struct Resting {
  uintptr_t at;
  size_t extent;
  FreeEntry back;
};

// A device's range of addresses. Its members are guarded by the lock of whoever has it.
struct AddressWindow {
  uintptr_t start = 0;
  size_t size = 0;
  int file = -1;
  size_t used = 0, peak = 0, resident_free = 0, blocks = 0;
  std::map<uintptr_t, size_t> free_by_address;
  std::set<std::pair<size_t, uintptr_t>> free_by_size;
  std::vector<Resting> resting;  // has room for all blocks of the window
  size_t resting_bytes = 0;
  LargePages pages;
};

// Takes the addresses from the host, at the first call. False, with errno, where it has none.
bool open_window(AddressWindow &window);

// Takes the start of the smallest free range of at least `size` bytes; 0 where there is none.
uintptr_t take_free(AddressWindow &window, size_t size);

// Gives a range back; its pages go back to the host where enough free ones are kept for reuse.
void recycle(AddressWindow &window, uintptr_t at, size_t extent, FreeEntry back);
// The same for the range that rests longest.
void recycle_oldest(AddressWindow &window);

}  // namespace emu
