// SPDX-License-Identifier: Apache-2.0
// Reports of device faults, abort of a device's work, memory errors.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/process.h"
#include "core/stream.h"

// What aclrtExceptionInfo points at while its callback runs.
struct rtExceptionInfo {
  uint32_t task, stream, thread, device, code;
};

namespace emu {
namespace {

struct Listeners {
  std::mutex mutex;
  // aclrtSetExceptionInfoCallback: the last one set
  aclrtExceptionInfoCallback single = nullptr;
  std::vector<aclrtExceptionInfoCallback> registered;
};

Listeners &listeners() {
  static auto *const instance = new Listeners;
  return *instance;
}

void tell(const Stream &stream, const Fault &fault) {
  // One at a time, without a copy of the list: this may run because the host has no memory left.
  const auto nth = [](size_t i) -> aclrtExceptionInfoCallback {
    std::lock_guard<std::mutex> lock(listeners().mutex);
    const auto &all = listeners().registered;
    return i < all.size() ? all[i] : i == all.size() ? listeners().single : nullptr;
  };
  rtExceptionInfo info{static_cast<uint32_t>(fault.task), static_cast<uint32_t>(stream.id),
                       static_cast<uint32_t>(gettid()), static_cast<uint32_t>(stream.device),
                       static_cast<uint32_t>(fault.code)};
  for (size_t i = 0; const auto callback = nth(i); ++i) callback(&info);
}

Status check_device(const char *routine, int id) {
  EMU_ENTER_AS(routine);
  if (valid_device(id)) return 0;
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: device %d does not exist.", routine, id);
}

struct AbortCallbacks {
  std::mutex mutex;
  std::map<std::string, std::pair<aclrtDeviceTaskAbortCallback, void *>> all;

  Status tell(int device, aclrtDeviceTaskAbortStage stage, uint32_t timeout) {
    std::map<std::string, std::pair<aclrtDeviceTaskAbortCallback, void *>> copy;
    {
      std::lock_guard<std::mutex> lock(mutex);
      copy = all;
    }
    for (const auto &[name, entry] : copy) {
      if (const int32_t code = entry.first(device, stage, timeout, entry.second)) {
        return fail(ACL_ERROR_RT_DEVICE_TASK_ABORT,
                    "aclrtDeviceTaskAbort: callback \"%s\" answered %d.", name.c_str(), code);
      }
    }
    return 0;
  }
};

AbortCallbacks &abort_callbacks() {
  static auto *const instance = new AbortCallbacks;
  return *instance;
}

// Drops the work of all streams of the device, then lets them take new work.
Status abort_device(int id, uint32_t timeout_ms) {
  const PinnedStreams all(id);
  for (Stream *stream : all) abort_stream(*stream);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  for (Stream *stream : all) {
    while (stream->completed.load() < stream->submitted.load()) {
      if (timeout_ms != 0 && std::chrono::steady_clock::now() > deadline) {
        return fail(ACL_ERROR_RT_TASK_TIMEOUT,
                    "aclrtDeviceTaskAbort: stream %d still works after %u ms.", stream->id,
                    timeout_ms);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  for (Stream *stream : all) revive_stream(*stream);
  return 0;
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) try {
  EMU_ENTER();
  emu::set_fault_listener(emu::tell);
  std::lock_guard<std::mutex> lock(emu::listeners().mutex);
  emu::listeners().single = callback;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) try {
  EMU_ENTER();
  if (callback == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtExceptionInfoCallbackRegister: callback is null.");
  emu::set_fault_listener(emu::tell);
  std::lock_guard<std::mutex> lock(emu::listeners().mutex);
  emu::listeners().registered.push_back(callback);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) try {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(emu::listeners().mutex);
  auto &all = emu::listeners().registered;
  for (auto at = all.begin(); at != all.end(); ++at) {
    if (*at != callback) continue;
    all.erase(at);
    return 0;
  }
  return fail(ACL_ERROR_RT_PARAM_INVALID,
              "aclrtExceptionInfoCallbackUnregister: the callback is not registered.");
}
EMU_CATCH

EMU_EXPORT uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info) try {
  return info != nullptr ? info->task : 0xFFFFFFFFu;
}
EMU_CATCH
EMU_EXPORT uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info) try {
  return info != nullptr ? info->stream : 0xFFFFFFFFu;
}
EMU_CATCH
EMU_EXPORT uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info) try {
  return info != nullptr ? info->thread : 0xFFFFFFFFu;
}
EMU_CATCH
EMU_EXPORT uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info) try {
  return info != nullptr ? info->device : 0xFFFFFFFFu;
}
EMU_CATCH
EMU_EXPORT uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info) try {
  return info != nullptr ? info->code : 0xFFFFFFFFu;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetDeviceTaskAbortCallback(const char *regName,
                                                    aclrtDeviceTaskAbortCallback callback,
                                                    void *args) try {
  EMU_ENTER();
  if (regName == nullptr || *regName == '\0') {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtSetDeviceTaskAbortCallback: regName is null or empty.");
  }
  std::lock_guard<std::mutex> lock(emu::abort_callbacks().mutex);
  if (callback == nullptr) {
    emu::abort_callbacks().all.erase(regName);
  } else {
    emu::abort_callbacks().all[regName] = {callback, args};
  }
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) try {
  if (const Status s = emu::check_device(__func__, deviceId)) return s;
  if (const Status s = emu::abort_callbacks().tell(deviceId, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout))
    return s;
  if (const Status s = emu::abort_device(deviceId, timeout)) return s;
  return emu::abort_callbacks().tell(deviceId, ACL_RT_DEVICE_TASK_ABORT_POST, timeout);
}
EMU_CATCH

// Host memory corrects its errors or ends the process: there are never addresses to report or
// repair.
EMU_EXPORT aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray,
                                       size_t arraySize, size_t *retSize) try {
  if (const Status s = emu::check_device(__func__, deviceId)) return s;
  if (memUceInfoArray == nullptr || retSize == nullptr || arraySize == 0) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtGetMemUceInfo: an output is null or arraySize is 0.");
  }
  *retSize = 0;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray,
                                      size_t arraySize) try {
  if (const Status s = emu::check_device(__func__, deviceId)) return s;
  if (memUceInfoArray == nullptr || arraySize == 0 || arraySize > MAX_MEM_UCE_INFO_ARRAY_SIZE) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtMemUceRepair: the array is null or has %zu entries (1 to %d).", arraySize,
                MAX_MEM_UCE_INFO_ARRAY_SIZE);
  }
  return fail(ACL_ERROR_RT_PARAM_INVALID,
              "aclrtMemUceRepair: device %d reported no memory error to repair.", deviceId);
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo) try {
  if (const Status s = emu::check_device(__func__, deviceId)) return s;
  if (errorInfo == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetErrorVerbose: errorInfo is null.");
  *errorInfo = {};
  if (emu::device(deviceId).pending_faults.load() > 0) {
    errorInfo->errorType = ACL_RT_ERROR_AICORE;
    errorInfo->hasDetail = 1;
    errorInfo->detail.aicoreErrType = ACL_RT_AICORE_ERROR_SW;
  }
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo) try {
  if (const Status s = emu::check_device(__func__, deviceId)) return s;
  if (errorInfo == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtRepairError: errorInfo is null.");
  return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              "aclrtRepairError: error type %d cannot be repaired.",
              static_cast<int>(errorInfo->errorType));
}
EMU_CATCH
