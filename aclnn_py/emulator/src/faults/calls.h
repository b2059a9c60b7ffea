// SPDX-License-Identifier: Apache-2.0
// The two phases of an operator among the calls that gates show.
#pragma once

#include <string_view>

#include "faults/gate.h"

namespace emu::faults {

// Every phase two, and nothing else, has these four parameters.
inline bool is_phase_two(const Call &call) {
  return call.count == 4 && call.value(0).kind == Kind::address &&
         call.value(1).kind == Kind::natural && call.value(2).kind == Kind::executor &&
         call.value(3).kind == Kind::address;
}

// Phase one ends with the size of the workspace and the executor.
inline bool is_phase_one(const Call &call) {
  if (call.count < 2) return false;
  const Value size = call.value(call.count - 2), executor = call.value(call.count - 1);
  return executor.kind == Kind::pointers && executor.element == Kind::executor &&
         size.kind == Kind::numbers && size.writable;
}

}  // namespace emu::faults
