// SPDX-License-Identifier: Apache-2.0
// Under ACLNN_PY_CHECK=1: pools of device memory that a program divides itself, as
// mstxMemHeapRegister and its kin tell it. Work may use the parts of a pool that are given out,
// each for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "faults/modes.h"

namespace emu::faults {

void note_pool(const void *start, size_t size);
void note_pool_end(const void *start);
void note_part(const void *start, size_t size);
void note_part_end(const void *start);

inline void pool_begun(const void *start, size_t size) {
  if (checking()) note_pool(start, size);
}
inline void pool_ended(const void *start) {
  if (checking()) note_pool_end(start);
}
inline void part_given(const void *start, size_t size) {
  if (checking()) note_part(start, size);
}
inline void part_taken_back(const void *start) {
  if (checking()) note_part_end(start);
}

// Reports a range of a pool that is not all in one part; `what` says who uses it.
void look_in_pools(const std::string &what, uintptr_t low, uintptr_t high);

}  // namespace emu::faults
