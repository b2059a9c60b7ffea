// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <new>
#include <vector>

namespace emu {

// Work memory of some size. The system clears what it gives, which takes as long as to read it
// twice; so a thread keeps a few pieces for kernels that want as much again. Megabytes are in large
// pages: a kernel that goes over them would spend much of its time on faults and on translations of
// addresses.
constexpr size_t kWorthKeeping = size_t{64} << 10;
void *take_work_memory(size_t bytes);
void give_work_memory(void *at, size_t bytes);

template <class T>
struct PageAllocator {
  using value_type = T;

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U> &) {}

  T *allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    void *const at = bytes < kWorthKeeping ? std::malloc(bytes) : take_work_memory(bytes);
    if (!at) throw std::bad_alloc();
    return static_cast<T *>(at);
  }
  void deallocate(T *at, size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < kWorthKeeping) std::free(at);
    else give_work_memory(at, bytes);
  }

  bool operator==(const PageAllocator &) const { return true; }
  bool operator!=(const PageAllocator &) const { return false; }
};

// Work memory of a kernel.
template <class T>
using Numbers = std::vector<T, PageAllocator<T>>;

}  // namespace emu
