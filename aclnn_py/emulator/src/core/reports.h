// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// Under ACLNN_PY_CHECK=1: what is wrong with a program although no call fails. Whoever is
// interested takes the reports (aclnn_py_emulator_take_report); the oldest are dropped when nobody
// does.
namespace emu {

void add_report(int32_t stream, uint32_t task, std::string text);

}  // namespace emu
