// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// Under ACLNN_PY_CHECK=1: errors of a program that make no call fail. A reader takes the reports
// with aclnn_py_emulator_take_report; without one the oldest are dropped.
namespace emu {

void add_report(int32_t stream, uint32_t task, std::string text);

}  // namespace emu
