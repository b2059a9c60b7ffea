// SPDX-License-Identifier: Apache-2.0
// ACLNN_PY_TRACE=FILE in a process without Python: every call of the C interface, in the form that
// `aclnn-py trace` reads.
#pragma once

#include <cstdint>
#include <string>

#include "faults/gate.h"
#include "faults/values.h"

namespace emu::faults {

int64_t trace_clock();  // nanoseconds since it was first asked

// What a line has of a call before it was made.
struct Traced {
  std::vector<std::string> arguments;
  int64_t begun = 0;
};
void trace_begins(const Call &call, const Signature &signature, Traced &traced);
void trace_ends(const Call &call, const Signature &signature, const Traced &traced,
                const Value &result, int64_t ended);

}  // namespace emu::faults
