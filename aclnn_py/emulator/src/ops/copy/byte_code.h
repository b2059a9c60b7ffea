// SPDX-License-Identifier: Apache-2.0
// Bytes coded with about as many bits as their frequencies ask for, by asymmetric numeral systems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace emu {

class ByteCode {
 public:
  // `counts` says how often each of the 256 bytes occurs. A byte that it gives no count can be
  // coded as well, at a higher price.
  explicit ByteCode(const int32_t *counts);

  std::vector<uint8_t> encode(const uint8_t *bytes, int64_t count) const;
  // False when `code` is not the code of `count` bytes.
  bool decode(const uint8_t *code, size_t size, uint8_t *bytes, int64_t count) const;

 private:
  std::vector<uint32_t> shares_, starts_;  // of each byte, in slots
  std::vector<uint8_t> byte_in_;           // of each slot
};

}  // namespace emu
