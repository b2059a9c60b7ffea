// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace emu {

// Calls the functions of aclmdlRIDestroyRegisterCallback for the graph of this number, and forgets
// them.
void tell_graph_end(uint32_t graph);

}  // namespace emu
