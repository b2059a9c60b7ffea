// SPDX-License-Identifier: Apache-2.0
// Under ACLNN_PY_CHECK=1: every object and piece of memory a program made, where it did, and where
// it ended. A handle that is given out anew begins a new life.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "faults/modes.h"
#include "faults/sites.h"

namespace emu::faults {

struct Life {
  const char *kind = "";  // "aclTensor", "device memory"
  size_t bytes = 0;       // of memory
  bool live = false;
  Site made, ended;
};

void note_made(const char *kind, const void *handle, size_t bytes);
void note_ended(const void *handle);

inline void made(const char *kind, const void *handle, size_t bytes = 0) {
  if (checking() && handle != nullptr) note_made(kind, handle, bytes);
}
inline void ended(const void *handle) {
  if (checking() && handle != nullptr) note_ended(handle);
}

// The life of a handle, or of the memory around an address.
bool life_of(const void *handle, Life *life);

// At the end of the process: what is still alive, by the place that made it.
void report_left();

// What is counted and has no handle, by the sentence about one that is left.
constexpr const char *kInitialized = "aclInit without aclFinalize";
constexpr const char *kOperators = "aclnnInit without aclnnFinalize";
void note_begun(const std::string &what, int64_t count);
inline void begun(const char *what, int64_t count) {
  if (checking()) note_begun(what, count);
}

// aclrtSetDevice and aclrtResetDevice.
void note_device(int device, int64_t count);
inline void device_set(int device) {
  if (checking()) note_device(device, 1);
}
inline void device_reset(int device, bool force) {
  if (checking()) note_device(device, force ? INT32_MIN : -1);
}

}  // namespace emu::faults
