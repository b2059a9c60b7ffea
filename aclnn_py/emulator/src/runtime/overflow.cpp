// SPDX-License-Identifier: Apache-2.0
// Overflow of floating arithmetic: saturation mode, switches, status block.
#include <cstring>

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/stream.h"

using emu::fail;
using emu::Status;

namespace {

constexpr size_t kStatusBytes = 64;

Status get_status(const char *routine, void *address, size_t size, aclrtStream raw) {
  EMU_ENTER_AS(routine);
  emu::Stream *stream = nullptr;
  if (const Status s = emu::resolve(raw, routine, &stream)) return s;
  if (address == nullptr || size < kStatusBytes) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: outputAddr %p of %zu bytes, %zu are needed.", routine,
                address, size, kStatusBytes);
  }
  if (!emu::on_device(address, kStatusBytes, nullptr)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: outputAddr is %s.", routine,
                emu::describe_address(address).c_str());
  }
  return emu::enqueue_on(
      *stream, "aclrtGetOverflowStatus", [address, id = stream->device]() -> Status {
        if (!emu::on_device(address, kStatusBytes, nullptr)) {
          return fail(ACL_ERROR_RT_SYS_DMA, "aclrtGetOverflowStatus: outputAddr is %s.",
                      emu::describe_address(address).c_str());
        }
        uint32_t words[kStatusBytes / 4] = {};
        words[0] = emu::device(id).overflow.load();
        std::memcpy(address, words, sizeof words);
        return 0;
      });
}

Status reset_status(const char *routine, aclrtStream raw) {
  EMU_ENTER_AS(routine);
  emu::Stream *stream = nullptr;
  if (const Status s = emu::resolve(raw, routine, &stream)) return s;
  return emu::enqueue_on(*stream, "aclrtResetOverflowStatus", [id = stream->device]() -> Status {
    emu::device(id).overflow.store(0);
    return 0;
  });
}

}  // namespace

EMU_EXPORT aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) try {
  EMU_ENTER();
  if (mode == ACL_RT_OVERFLOW_MODE_SATURATION) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtSetDeviceSatMode: arithmetic of this device gives infinities and "
                "NaNs (ACL_RT_OVERFLOW_MODE_INFNAN); it does not saturate.");
  }
  if (mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetDeviceSatMode: %d is not a mode.",
                static_cast<int>(mode));
  }
  emu::saturation_mode().store(mode);  // before any device is set, as programs call it
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode) try {
  EMU_ENTER();
  if (mode == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceSatMode: mode is null.");
  *mode = static_cast<aclrtFloatOverflowMode>(emu::saturation_mode().load());
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) try {
  EMU_ENTER();
  if (flag > 1)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamOverflowSwitch: flag is %u, not 0 or 1.",
                flag);
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  found->overflow_switch.store(flag);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag) try {
  EMU_ENTER();
  if (flag == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamOverflowSwitch: flag is null.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  *flag = found->overflow_switch.load();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize,
                                           aclrtStream stream) try {
  EMU_TIMED();
  return get_status(__func__, outputAddr, outputSize, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize,
                                                aclrtStream stream) try {
  return get_status(__func__, outputAddr, outputSize, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclrtResetOverflowStatus(aclrtStream stream) try {
  EMU_TIMED();
  return reset_status(__func__, stream);
}
EMU_CATCH
EMU_EXPORT aclError aclrtResetFloatOverflowStatus(aclrtStream stream) try {
  return reset_status(__func__, stream);
}
EMU_CATCH

// The forms with a mode: 0 is the only one.
EMU_EXPORT aclError aclrtNpuGetFloatOverFlowStatus(void *outputAddr, uint64_t outputSize,
                                                   uint32_t checkMode, aclrtStream stream) try {
  if (checkMode != 0)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtNpuGetFloatOverFlowStatus: checkMode is %u, not 0.",
                checkMode);
  return get_status(__func__, outputAddr, outputSize, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream) try {
  if (checkMode != 0)
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtNpuClearFloatOverFlowStatus: checkMode is %u, not 0.", checkMode);
  return reset_status(__func__, stream);
}
EMU_CATCH
