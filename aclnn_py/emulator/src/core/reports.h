// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// Under ACLNN_PY_CHECK=1: errors of a program that make no call fail. Without Python in the process
// they are findings (faults/findings.h). Otherwise a reader takes them with
// aclnn_py_emulator_take_report; without one the oldest are dropped.
namespace emu {

struct Stream;

// About the task that the stream runs now.
void add_report(const Stream &stream, const char *op, std::string text);

}  // namespace emu
