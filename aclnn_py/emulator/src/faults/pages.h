// SPDX-License-Identifier: Apache-2.0
// Under ACLNN_PY_CHECK=1: device memory is closed to the program. An access of the program ends the
// process, as a segmentation fault does, after a report that names the memory and the place. The
// library reaches the same memory through a second mapping; kernels use the program's addresses, so
// the pages of their operands are open while they run, and an access of another thread to these is
// not noticed meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faults/modes.h"

namespace emu::faults {

struct Pages {
  uintptr_t low, high;
};

// A range of addresses that holds device memory, and the file behind it. Without a file the memory
// stays open.
void guard_window(void *start, size_t size, int file);
void stop_guarding();

// Where the library finds this memory itself.
void *second_way(const void *address);
template <class T>
T *unguarded(T *address) {
  return checking() ? static_cast<T *>(second_way(address)) : address;
}

// Opens all device memory, or the pages of some of it, during its lifetime.
class Access {
 public:
  Access();
  explicit Access(std::vector<Pages> pages);
  ~Access();
  Access(const Access &) = delete;
  Access &operator=(const Access &) = delete;

 private:
  const bool open_;
  bool all_ = false;
  std::vector<Pages> pages_;
};

}  // namespace emu::faults
