// SPDX-License-Identifier: Apache-2.0
// Elements that are true, and results whose extent only the data tell.
#pragma once

#include <vector>

#include "ops/op.h"

namespace emu {

// Whether each element of a view (of any computable dtype) is non-zero, in row-major order.
std::vector<unsigned char> truth_of(const View &view);

// Appends one vector per dimension of the mask with the coordinates of its true elements, in
// row-major order. A mask without dimensions adds none.
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
