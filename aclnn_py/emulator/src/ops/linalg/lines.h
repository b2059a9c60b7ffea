// SPDX-License-Identifier: Apache-2.0
// Lines: vectors that lie one after the other.
#pragma once

#include <vector>

#include "ops/linalg/blocked.h"

namespace emu {

// Rows of memory that do not lie a multiple of a page apart: such would share a few cache sets.
template <class T>
class Lines {
 public:
  Lines() = default;
  Lines(int64_t count, int64_t length)
      : count_(count),
        length_(length),
        stride_((length + 7) / 8 * 8 + 8),
        items_(static_cast<size_t>(count * stride_)) {}

  int64_t count() const { return count_; }
  int64_t length() const { return length_; }
  int64_t stride() const { return stride_; }
  T *at(int64_t line) { return items_.data() + line * stride_; }
  const T *at(int64_t line) const { return items_.data() + line * stride_; }
  // Lines [line, line + height) from element `from` on.
  Part<T> part(int64_t line, int64_t from, int64_t height) {
    return {items_.data() + line * stride_ + from, height, length_ - from, stride_};
  }

 private:
  int64_t count_ = 0, length_ = 0, stride_ = 0;
  Numbers<T> items_;
};

}  // namespace emu
