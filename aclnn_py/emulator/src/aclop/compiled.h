// SPDX-License-Identifier: Apache-2.0
// Which operators the program compiled: aclopExecuteV2 and handles find no others.
#pragma once

#include <cstdint>
#include <string>

#include "aclop/call.h"

namespace emu::aclop {

void note_compiled(const Call &call);
bool is_compiled(const Call &call);
// The most operators that are kept; the oldest is forgotten first.
void keep_at_most(uint64_t count);
// From now on an operator is compiled for all shapes of a rank, or for one.
void compile_for_any_shape(bool any);

}  // namespace emu::aclop
