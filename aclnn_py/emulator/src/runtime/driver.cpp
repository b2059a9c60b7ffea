// SPDX-License-Identifier: Apache-2.0
// The one function of the driver's library that programs call themselves.
#include <cstdint>

#include "core/device.h"
#include "core/export.h"
#include "core/status.h"

namespace {

// DRV_ERROR_INVALID_VALUE; the driver has status codes of its own
constexpr int kDriverInvalidValue = 3;

}  // namespace

EMU_EXPORT int drvGetDevNum(uint32_t *num_dev) try {
  if (num_dev == nullptr) return emu::fail(kDriverInvalidValue, "drvGetDevNum: num_dev is null.");
  *num_dev = static_cast<uint32_t>(emu::device_count());
  return 0;
}
EMU_CATCH
