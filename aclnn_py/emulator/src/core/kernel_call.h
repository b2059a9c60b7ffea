// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace emu {

// While it lives, what this thread calls is a kernel by its type, as the aclop interface does, and
// not an aclnn function: the checks that only the host code of the latter makes do not apply.
class KernelCall {
 public:
  KernelCall() { ++depth(); }
  ~KernelCall() { --depth(); }
  KernelCall(const KernelCall &) = delete;
  KernelCall &operator=(const KernelCall &) = delete;

  static bool now() { return depth() > 0; }

 private:
  static int &depth() {
    static thread_local int calls = 0;
    return calls;
  }
};

}  // namespace emu
