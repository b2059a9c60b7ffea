// SPDX-License-Identifier: Apache-2.0
// The tensors of each operator as its prototype has them, generated at build time.
#pragma once

#include <cstdint>

namespace emu {

struct TensorParameter {
  const char *op;    // "aclnnAdd"
  const char *name;  // "self"
  bool list, read, written;
};

// In C order.
struct TensorParameters {
  const TensorParameter *first = nullptr;
  int32_t count = 0;
};

// Empty when there is no such operator.
TensorParameters find_tensor_parameters(const char *op);

// How CANN's executor of an operator finds the tensor that gets a new address.
enum class ExecutorKind : uint8_t {
  composed,   // of several kernels: by the aclTensor given; the position is not looked at
  generated,  // one kernel with the parameters of the call: by position
  // one kernel with parameters the call does not have: by a position that no document states
  wrapped,
};
ExecutorKind executor_kind(const char *op);

}  // namespace emu
