// SPDX-License-Identifier: Apache-2.0
// Under ACLNN_PY_CHECK=1: the work of streams that the host has not waited for, with the memory it
// uses. Work counts as under way until the program knows that it is done, however fast it was: then
// mistakes show in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "faults/modes.h"
#include "faults/sites.h"

namespace emu {
struct Stream;
}

namespace emu::faults {

struct Use {
  uintptr_t low, high;
  bool writes;
  std::string name;  // "x2 (4, 8) FLOAT", "workspace"
};

// Around enqueue_on: the memory that a piece of work uses, and whether the stream took it. Reports
// memory that another stream uses without an order between the two.
void before_launch(Stream &stream, const char *what, std::vector<Use> uses);
void after_launch(Stream &stream, bool taken);

// The host has waited: it knows of all that is completed by now, on other streams through events.
void note_waited();
inline void waited() {
  if (checking()) note_waited();
}
// A stream took a task. One of a kind that may order streams and the host in ways that are not
// followed here makes all work under way count as done.
void note_task(const char *what);

// Order between streams through an event.
void note_recorded(const void *event, Stream &stream);
void note_ordered(Stream &stream, const void *event);

// Reports work under way that touches memory which is freed ("freed"), read or written by the host.
enum class Host : uint8_t { frees, reads, writes };
void host_touches(Host how, const char *routine, const void *start, size_t bytes);

// Where a task was launched.
bool launch_site(const Stream &stream, const char *what, uint32_t task, Site *site);

}  // namespace emu::faults
