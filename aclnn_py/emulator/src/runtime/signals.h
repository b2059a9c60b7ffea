// SPDX-License-Identifier: Apache-2.0
// Tasks that write a number of device memory, or wait for one.
#pragma once

#include "core/graph.h"

namespace emu {

Status check_signal(const char *routine, const Signal &signal);
Task task_of(const Signal &signal);

}  // namespace emu
