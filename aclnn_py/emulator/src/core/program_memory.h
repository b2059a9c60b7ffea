// SPDX-License-Identifier: Apache-2.0
// Host memory that a program names by an address and a length, which need not be its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"

namespace emu {

// Copies and fills that refuse, with `code` and a message, memory that the process may not read or
// write; a part of it may have been written then. The two ranges of a copy may overlap.
Status copy_memory(const char *routine, Status code, void *dst, const void *src, size_t size);
// Refuses an array that reaches beyond what is mapped, before memory for a copy is taken.
Status check_array(const char *routine, Status code, const void *from, uint64_t count, size_t item);
// Repeats the four bytes of `word`.
Status fill_memory(const char *routine, Status code, void *dst, uint32_t word, size_t size);

// Reads the elements of an array that the program describes by its start and its length.
template <class T, class From>
Status read_array(const char *routine, Status code, const From *from, uint64_t count,
                  std::vector<T> *to) {
  static_assert(sizeof(T) == sizeof(From));
  if (const Status s = check_array(routine, code, from, count, sizeof(T))) return s;
  to->resize(count);
  return copy_memory(routine, code, to->data(), from, count * sizeof(T));
}

// Why the process may not read and write all of the range, at the first address where it may not;
// empty when it may. Where /proc/self/maps cannot be read, only that all of the range is mapped and
// that its first and last byte can be read and written.
std::string trouble_with_memory(void *start, size_t size);

// Whether all of the range is mapped, in any way.
bool memory_is_mapped(const void *start, size_t size);

}  // namespace emu
