// SPDX-License-Identifier: Apache-2.0
// Numbers of 4 bits in memory, two to a byte, the lower half first. Sources that are compiled once
// per instruction set have a reader of their own: a shared inline function would be linked as one
// of theirs.
#pragma once

#include <cstdint>

namespace emu {

// Code `index` of those from `data` on: 0 to 15.
inline int code_of_4_bits(const void *data, int64_t index) {
  return static_cast<const unsigned char *>(data)[index >> 1] >> ((index & 1) * 4) & 15;
}

// The same as a number from -8 to 7.
inline int8_t number_of_4_bits(const void *data, int64_t index) {
  const int code = code_of_4_bits(data, index);
  return static_cast<int8_t>(code < 8 ? code : code - 16);
}

}  // namespace emu
