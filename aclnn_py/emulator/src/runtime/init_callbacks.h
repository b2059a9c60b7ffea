// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/status.h"

namespace emu {

// Tells the functions of aclInitCallbackRegister that the process is initialized with this
// configuration. The first status that is not 0 ends the round.
Status tell_initialized(const std::string &configuration);

// The same for aclFinalizeCallbackRegister; all are told, the first status that is not 0 is the
// answer.
Status tell_finalizing();

}  // namespace emu
