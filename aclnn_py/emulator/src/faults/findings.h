// SPDX-License-Identifier: Apache-2.0
// What is found under ACLNN_PY_CHECK=1 in a process without Python: written to stderr at once, each
// mistake of a place once, and a count at the end.
#pragma once

#include <initializer_list>
#include <string>

#include "core/status.h"
#include "faults/sites.h"

namespace emu {
struct Stream;
}

namespace emu::faults {

struct Place {
  const char *label;  // "made", "destroyed"
  Site site;
};

// `name` says what kind of mistake it is, `text` what was found.
void finding(const char *name, const std::string &text, const Site &site,
             std::initializer_list<Place> places = {});
// The same for a call that is being made.
void finding(const char *name, const std::string &text);

// A call of the program is refused with this message. Under ACLNN_PY_CHECK=1.
void refused(Status code, const std::string &text) noexcept;
// Names the mistake behind the next refusal of this thread.
void name_refusal(const char *name);

// The fault that the running task is about to return comes from work that was captured at one place
// and replayed at another.
void set_fault_places(const Site &captured, const Site &replayed);
// A task failed on the device.
void faulted(const Stream &stream, Status code, const char *what, uint32_t task,
             const std::string &text) noexcept;

}  // namespace emu::faults
