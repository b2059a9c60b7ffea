// SPDX-License-Identifier: Apache-2.0
// The functions of the driver's library that programs look up or link themselves. They answer with
// the driver's own status codes.
#include <cstdint>

#include "core/device.h"
#include "core/export.h"
#include "core/host_memory.h"
#include "core/process.h"
#include "core/status.h"

namespace {

using emu::Status;

// drvError_t
constexpr int kInvalidDevice = 2;
constexpr int kInvalidValue = 3;
constexpr int kNotSupported = 0xfffe;

// drvRegisterTpye: which side's memory the other side is to see
constexpr uint32_t kHostForDevice = 0;
constexpr uint32_t kSharedForDevice = 1;
constexpr uint32_t kHostForDeviceOverPcie = 3;

Status check_device(const char *routine, uint32_t device) {
  if (device < static_cast<uint32_t>(emu::device_count())) return 0;
  return emu::fail(kInvalidDevice, "%s: devid is %u; there are %d devices.", routine, device,
                   emu::device_count());
}

// What the runtime refuses, under the driver's status; the message stays.
int driver_status(Status status) { return status == 0 ? 0 : kInvalidValue; }

int unregister(const char *routine, void *address, uint32_t device) {
  if (address == nullptr) return emu::fail(kInvalidValue, "%s: srcPtr is null.", routine);
  if (const Status s = check_device(routine, device)) return s;
  return driver_status(emu::host_unregister(address, routine));
}

}  // namespace

EMU_EXPORT int drvGetDevNum(uint32_t *num_dev) try {
  if (num_dev == nullptr) return emu::fail(kInvalidValue, "drvGetDevNum: num_dev is null.");
  *num_dev = static_cast<uint32_t>(emu::device_count());
  return 0;
}
EMU_CATCH

EMU_EXPORT int halHostRegister(void *srcPtr, unsigned long long size, uint32_t flag, uint32_t devid,
                               void **dstPtr) try {
  EMU_ENTER();
  if (srcPtr == nullptr || dstPtr == nullptr || size == 0) {
    return emu::fail(kInvalidValue, "halHostRegister: %s.",
                     srcPtr == nullptr   ? "srcPtr is null"
                     : dstPtr == nullptr ? "dstPtr is null"
                                         : "size is 0");
  }
  if (const Status s = check_device(__func__, devid)) return s;
  if (flag != kHostForDevice && flag != kSharedForDevice && flag != kHostForDeviceOverPcie) {
    return emu::fail(kNotSupported,
                     "halHostRegister: flag is %u; host memory is made visible to the device with "
                     "0, 1 or 3, and device memory is not made visible to the host.",
                     flag);
  }
  if (const Status s = emu::host_register(srcPtr, size, true, __func__)) return driver_status(s);
  *dstPtr = srcPtr;
  return 0;
}
EMU_CATCH

EMU_EXPORT int halHostUnregister(void *srcPtr, uint32_t devid) try {
  EMU_ENTER();
  return unregister(__func__, srcPtr, devid);
}
EMU_CATCH

EMU_EXPORT int halHostUnregisterEx(void *srcPtr, uint32_t devid, uint32_t flag) try {
  EMU_ENTER();
  if (flag != kHostForDevice && flag != kSharedForDevice && flag != kHostForDeviceOverPcie) {
    return emu::fail(kNotSupported, "halHostUnregisterEx: flag is %u; allowed are 0, 1 and 3.",
                     flag);
  }
  return unregister(__func__, srcPtr, devid);
}
EMU_CATCH
