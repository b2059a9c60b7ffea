// SPDX-License-Identifier: Apache-2.0
// Elements that are true, and results whose extent only the data tell.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/pool.h"
#include "ops/op.h"
#include "ops/scan_kernels.h"

namespace emu {

// Whether each element of a view (of any computable dtype) is non-zero, in row-major order, and how
// many are before each part of it. Empty views are taken.
class Truth {
 public:
  // A view that shares memory with one of `outs` is copied.
  explicit Truth(const View &view, std::initializer_list<View> outs = {});

  int64_t count() const { return before_.back(); }
  bool operator[](int64_t i) const { return bytes_[i] != 0; }

  // Calls f(begin, end, true elements before `begin`) for parts of at most kBlock elements, on the
  // threads of the pool.
  template <class F>
  void each(F &&f) const {
    parallel_for(static_cast<int64_t>(before_.size()) - 1, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        int64_t before = before_[static_cast<size_t>(part)];
        const int64_t end = std::min((part + 1) * kPart, total_);
        for (int64_t i = part * kPart; i < end; i += kBlock) {
          const int64_t n = std::min(kBlock, end - i);
          f(i, i + n, before);
          before += true_among(i, n);
        }
      }
    });
  }

  // Puts those of `count` items whose element from `first` on is true behind one another; returns
  // how many. Room for `count` is needed. Without a branch: half the branches would be foreseen
  // wrongly.
  template <class T>
  int64_t keep(int64_t first, int64_t count, const T *items, T *to) const {
    int64_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {
      to[kept] = items[i];
      kept += bytes_[first + i] != 0 ? 1 : 0;
    }
    return kept;
  }
  // The same for the numbers from `from` on.
  int64_t keep_numbers(int64_t first, int64_t count, int64_t from, int64_t *to) const {
    return scan_kernels().positions(bytes_ + first, count, from, to);
  }

 private:
  static constexpr int64_t kPart = 32 * kBlock;
  int64_t true_among(int64_t first, int64_t count) const;

  std::unique_ptr<unsigned char[]> own_;
  const unsigned char *bytes_;
  int64_t total_;
  std::vector<int64_t> before_;
};

// The coordinates of the true elements of a mask of that shape, in row-major order: coordinate d of
// the k-th goes to first[d][k * step]. A mask without dimensions has none.
void write_coordinates(const Truth &truth, const Layout &shape, int64_t *const *first,
                       int64_t step);
// The same, appended as one vector per dimension.
void true_coordinates(const View &mask, std::vector<std::vector<int64_t>> *coordinates);

// The caller's out parameter of an operator whose result is shorter than the memory for it. The
// caller keeps the tensor until the stream has run and then asks it for its shape.
class GrowingResult {
 public:
  explicit GrowingResult(const aclTensor *handle) : handle_(handle), data_(handle->data) {}
  // Gives the tensor its true shape, dense. Nothing happens when it is gone or became another
  // tensor.
  void settle(const Layout &shape) const;

 private:
  const aclTensor *handle_;
  const void *data_;
};

}  // namespace emu
