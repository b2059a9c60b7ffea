// SPDX-License-Identifier: Apache-2.0
// Communicators of another library, described so that phase one of fused operators can judge calls
// that name them. They have no peers: nothing is ever exchanged through them.
#pragma once

#include <memory>

#include "hccl/communicator.h"

namespace emu::hccl {

// Null when no communicator of that name was described.
std::shared_ptr<Communicator> find_described(const char *name);

}  // namespace emu::hccl
