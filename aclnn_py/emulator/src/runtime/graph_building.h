// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace emu {

// Forgets what aclmdlRIBuildBegin and its kin keep of the graph of this number.
void forget_building(uint32_t graph);

}  // namespace emu
