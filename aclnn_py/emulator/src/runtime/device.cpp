// SPDX-License-Identifier: Apache-2.0
// Devices and contexts.
#include "core/device.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "acl/acl_rt.h"
#include "core/capture.h"
#include "core/context.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/stream.h"
#include "faults/objects.h"
#include "runtime/state_callbacks.h"

using emu::fail;
using emu::Status;

namespace {

Status check_device(const char *routine, int id) {
  if (emu::valid_device(id)) return 0;
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: device %d does not exist, there are %d.", routine,
              id, emu::device_count());
}

Status check_out(const char *routine, const void *out) {
  return out != nullptr ? 0
                        : fail(ACL_ERROR_INVALID_PARAM, "%s: the output pointer is null.", routine);
}

// Waiting for a device during a capture is always illegal.
Status check_no_capture(int id, const char *routine) {
  const emu::PinnedStreams all(id);
  for (emu::Stream *stream : all) {
    if (stream->capture.load() != nullptr) return emu::refuse_while_captured(*stream, routine);
  }
  return 0;
}

Status synchronize(const char *routine, int64_t timeout_ms) {
  EMU_ENTER_AS(routine);
  emu::Context *context = nullptr;
  if (const Status s = emu::current_context(routine, &context)) return s;
  if (const Status s = check_no_capture(context->device, routine)) return s;
  return emu::synchronize_device(context->device, timeout_ms, routine);
}

Status reset(const char *routine, int id, bool force) {
  EMU_ENTER_AS(routine);
  emu::tell_device_state(id, ACL_RT_DEVICE_STATE_RESET_PRE);
  const Status s = emu::reset_device(id, force, routine);
  if (s != 0) return s;
  emu::faults::device_reset(id, force);
  emu::tell_device_state(id, ACL_RT_DEVICE_STATE_RESET_POST);
  return s;
}

}  // namespace

EMU_EXPORT aclError aclrtGetDeviceCount(uint32_t *count) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, count)) return s;
  *count = static_cast<uint32_t>(emu::device_count());
  if (*count == 0)
    return fail(ACL_ERROR_RT_NO_DEVICE,
                "aclrtGetDeviceCount: no device is visible to this process.");
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetDevice(int32_t deviceId) try {
  EMU_ENTER();
  emu::tell_device_state(deviceId, ACL_RT_DEVICE_STATE_SET_PRE);
  const Status s = emu::set_device(deviceId, __func__);
  if (s != 0) return s;
  emu::faults::device_set(deviceId);
  emu::tell_device_state(deviceId, ACL_RT_DEVICE_STATE_SET_POST);
  return s;
}
EMU_CATCH

EMU_EXPORT aclError aclrtResetDevice(int32_t deviceId) try {
  EMU_TIMED();
  return reset(__func__, deviceId, false);
}
EMU_CATCH

EMU_EXPORT aclError aclrtResetDeviceForce(int32_t deviceId) try {
  EMU_TIMED();
  return reset(__func__, deviceId, true);
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetDevice(int32_t *deviceId) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, deviceId)) return s;
  const emu::Context *context = emu::peek_context();
  if (context == nullptr) {  // asked by programs that look whether others have set one
    return emu::inform(ACL_ERROR_RT_CONTEXT_NULL,
                       "%s: this thread has no device; call aclrtSetDevice or "
                       "aclrtSetCurrentContext on it first.",
                       __func__);
  }
  *deviceId = context->device;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetRunMode(aclrtRunMode *runMode) try {
  if (const Status s = check_out(__func__, runMode)) return s;
  *runMode = ACL_HOST;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetTsDevice(aclrtTsId tsId) try {
  EMU_ENTER();
  if (tsId == ACL_TS_ID_AICORE) return 0;
  return fail(ACL_ERROR_INVALID_PARAM,
              "aclrtSetTsDevice: this device has the task scheduler ACL_TS_ID_AICORE only.");
}
EMU_CATCH

EMU_EXPORT aclError aclrtSynchronizeDevice(void) try {
  EMU_TIMED();
  return synchronize(__func__, -1);
}
EMU_CATCH

EMU_EXPORT aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) try {
  EMU_TIMED();
  if (timeout < -1)
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSynchronizeDeviceWithTimeout: timeout is %d.",
                timeout);
  return synchronize(__func__, timeout);
}
EMU_CATCH

EMU_EXPORT aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus *deviceStatus) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, deviceStatus)) return s;
  if (const Status s = check_device(__func__, deviceId)) return s;
  *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDeviceGetBareTgid(int32_t *pid) try {
  if (const Status s = check_out(__func__, pid)) return s;
  *pid = getpid();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDeviceCanAccessPeer(int32_t *canAccessPeer, int32_t deviceId,
                                             int32_t peerDeviceId) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, canAccessPeer)) return s;
  if (const Status s = check_device(__func__, deviceId)) return s;
  if (const Status s = check_device(__func__, peerDeviceId)) return s;
  if (deviceId == peerDeviceId) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDeviceCanAccessPeer: both are device %d.",
                deviceId);
  }
  *canAccessPeer = 1;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) try {
  EMU_ENTER();
  if (flags != 0)
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtDeviceEnablePeerAccess: flags must be 0.");
  if (const Status s = check_device(__func__, peerDeviceId)) return s;
  int id = 0;
  if (const Status s = emu::current_device(__func__, &id)) return s;
  if (id == peerDeviceId) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtDeviceEnablePeerAccess: device %d is the current device.", id);
  }
  emu::set_peer_access(id, peerDeviceId, true);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) try {
  EMU_ENTER();
  if (const Status s = check_device(__func__, peerDeviceId)) return s;
  int id = 0;
  if (const Status s = emu::current_device(__func__, &id)) return s;
  emu::set_peer_access(id, peerDeviceId, false);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId,
                                                int32_t *status) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, status)) return s;
  if (const Status s = check_device(__func__, deviceId)) return s;
  if (const Status s = check_device(__func__, peerDeviceId)) return s;
  *status = emu::peer_access(deviceId, peerDeviceId) ? 1 : 0;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetDeviceUtilizationRate(int32_t deviceId,
                                                  aclrtUtilizationInfo *utilizationInfo) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, utilizationInfo)) return s;
  if (const Status s = check_device(__func__, deviceId)) return s;
  // Busy means that a stream has work; the parts this device does not have answer -1.
  bool busy = false;
  const emu::PinnedStreams all(deviceId);
  for (emu::Stream *stream : all)
    busy = busy || stream->completed.load() < stream->submitted.load();
  utilizationInfo->cubeUtilization = busy ? 100 : 0;
  utilizationInfo->vectorUtilization = busy ? 100 : 0;
  utilizationInfo->aicpuUtilization = -1;
  utilizationInfo->memoryUtilization = -1;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid *uuid) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, uuid)) return s;
  if (const Status s = check_device(__func__, deviceId)) return s;
  std::memset(uuid, 0, sizeof *uuid);
  char host[64] = "";
  gethostname(host, sizeof host - 1);
  // Stable on one host: a hash of its name (FNV-1a) and the device's number.
  uint64_t hash = 14695981039346656037ull;
  for (const char *c = host; *c != '\0'; ++c)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211ull;
  std::memcpy(uuid->bytes, &hash, sizeof hash);
  const int32_t number = emu::physical_device(deviceId);
  std::memcpy(uuid->bytes + 8, &number, sizeof number);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId,
                                                 int32_t *const phyDevId) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, phyDevId)) return s;
  if (const Status s = check_device(__func__, logicDevId)) return s;
  *phyDevId = emu::physical_device(logicDevId);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId,
                                                 int32_t *const logicDevId) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, logicDevId)) return s;
  const int id = emu::logical_device(phyDevId);
  if (id < 0) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID,
                "aclrtGetLogicDevIdByPhyDevId: device %d is not visible here.", phyDevId);
  }
  *logicDevId = id;
  return 0;
}
EMU_CATCH

// A user device id is what aclrtSetDevice takes, which is the logical id on a host without virtual
// devices.
EMU_EXPORT aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid,
                                                  int32_t *const logicDevId) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, logicDevId)) return s;
  if (const Status s = check_device(__func__, userDevid)) return s;
  *logicDevId = userDevid;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId,
                                                  int32_t *const userDevid) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, userDevid)) return s;
  if (const Status s = check_device(__func__, logicDevId)) return s;
  *userDevid = logicDevId;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDeviceGetStreamPriorityRange(int32_t *leastPriority,
                                                      int32_t *greatestPriority) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, leastPriority)) return s;
  if (const Status s = check_out(__func__, greatestPriority)) return s;
  *leastPriority = 7;
  *greatestPriority = 0;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, context)) return s;
  if (const Status s = check_device(__func__, deviceId)) return s;
  emu::Context *made = emu::create_context(deviceId);
  if (made == nullptr)
    return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "aclrtCreateContext: too many contexts.");
  emu::set_current_context(made);
  emu::faults::made("context", made);
  *context = made;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDestroyContext(aclrtContext context) try {
  EMU_ENTER();
  const Status s = emu::destroy_context(context, __func__);
  if (s == 0) emu::faults::ended(context);
  return s;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetCurrentContext(aclrtContext context) try {
  EMU_ENTER();
  if (context == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext: the context is null.");
  emu::Context *found = emu::contexts().find(context);
  if (found == nullptr) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetCurrentContext: %p is not a live context.",
                context);
  }
  emu::set_current_context(found);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetCurrentContext(aclrtContext *context) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, context)) return s;
  emu::Context *found = nullptr;
  if (const Status s = emu::current_context(__func__, &found)) return s;
  *context = found;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, stream)) return s;
  emu::Context *context = nullptr;
  if (const Status s = emu::current_context(__func__, &context)) return s;
  *stream = emu::default_stream(*context);
  return *stream != nullptr ? 0 : ACL_ERROR_RT_NO_STREAM_RESOURCE;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t *flags,
                                            int32_t *active) try {
  EMU_ENTER();
  if (const Status s = check_out(__func__, active)) return s;
  if (const Status s = check_device(__func__, deviceId)) return s;
  if (flags != nullptr) *flags = 0;
  emu::Device &device = emu::device(deviceId);
  *active = device.primary.load() != nullptr && device.active.load() ? 1 : 0;
  return 0;
}
EMU_CATCH
