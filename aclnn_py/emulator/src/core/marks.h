// SPDX-License-Identifier: Apache-2.0
// Marks and ranges that a program sets for its profile. They do nothing while none is kept.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"
#include "core/timeline.h"

namespace emu {

// The name of the tasks by which a stream tells when it reached a mark.
extern const char *const kMarkTask;

// `stream` is null for a mark of the host alone; so is one on a stream that is being captured.
Status set_mark(TimedMark::Kind kind, std::string message, std::string domain, Stream *stream);
// Begins a range and gives it a number, or 0 when no marks are kept.
Status begin_range(TimedMark::Kind kind, std::string message, std::string domain, Stream *stream,
                   uint64_t *range, TimedOperands operands = {});
// Ends a range of any thread. One that has no such number, or that began before this profile,
// is left out.
Status end_range(uint64_t range);
void forget_ranges();

}  // namespace emu
