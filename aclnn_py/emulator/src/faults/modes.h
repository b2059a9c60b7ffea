// SPDX-License-Identifier: Apache-2.0
// The modes that look for mistakes in programs without Python: ACLNN_PY_CHECK and its kin. While
// all are off, a call costs one read of a flag.
//
// The border to Python: the package aclnn_py handles these variables itself. It says so when it
// opens the library (aclnn_py_emulator_python_reports), before its first call; from then on every
// mode here is off.
#pragma once

#include <atomic>
#include <cstdint>

namespace emu::faults {

constexpr uint32_t kCheck = 1, kBlocking = 2, kTrace = 4, kRecord = 8;

extern std::atomic<uint32_t> g_modes;

inline bool mode(uint32_t which) {
  return __builtin_expect((g_modes.load(std::memory_order_relaxed) & which) != 0, 0);
}
inline bool checking() { return mode(kCheck); }
inline bool blocking() { return mode(kBlocking); }
// Whether gates show the calls of the program.
inline bool watched() { return mode(kTrace | kRecord); }

}  // namespace emu::faults
