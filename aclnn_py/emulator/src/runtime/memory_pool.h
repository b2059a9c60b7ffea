// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace emu {

// Whether the address is the start of a block that a pool took from its device.
bool of_a_pool(void *address);

}  // namespace emu
