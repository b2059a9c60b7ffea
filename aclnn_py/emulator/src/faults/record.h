// SPDX-License-Identifier: Apache-2.0
// ACLNN_PY_RECORD=FILE in a process without Python: every call of an operator with its data, in a
// file that `aclnn-py replay` reads (docs/record_format.md).
#pragma once

#include <memory>

#include "faults/gate.h"
#include "faults/values.h"

namespace emu::faults {

// A run of an operator, between the two looks at its memory.
struct Recorded;
struct RecordedDeleter {
  void operator()(Recorded *run) const;
};
using RecordedRun = std::unique_ptr<Recorded, RecordedDeleter>;

// Before and after a call of either phase; nothing for other calls.
RecordedRun record_begins(const Call &call, const Signature &signature);
void record_ends(const Call &call, const Signature &signature, RecordedRun run,
                 const Value &result);

// A call of an operator could not be recorded.
void record_failed(const Call &call) noexcept;

}  // namespace emu::faults
