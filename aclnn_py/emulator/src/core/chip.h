// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the emulated chip is.
namespace emu {

// ACLNN_PY_EMULATOR_SOC, Ascend910B1 when unset.
const char *soc_name();
// Chips of the 950 series take more dtypes in some operators.
bool chip_is_950();
// The 310P has a few operators that the others lack.
bool chip_is_310p();
int cube_cores();
int vector_cores();

}  // namespace emu
