// SPDX-License-Identifier: Apache-2.0
#include "core/stream.h"

#include <algorithm>
#include <cstring>

#include "acl/acl_rt.h"
#include "core/capture.h"
#include "core/context.h"
#include "core/device.h"
#include "core/export.h"
#include "core/process.h"
#include "core/slots.h"
#include "faults/launches.h"
#include "faults/objects.h"
#include "runtime/state_callbacks.h"

using emu::fail;
using emu::Status;

namespace {

constexpr uint32_t kKnownFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC |
                                 ACL_STREAM_PERSISTENT | ACL_STREAM_HUGE | ACL_STREAM_CPU_SCHEDULE |
                                 ACL_STREAM_DEVICE_USE_ONLY;
constexpr uint32_t kLeastPriority = 7;

emu::Slots<aclrtStreamConfigHandle> &configurations() {
  static auto *const all = new emu::Slots<aclrtStreamConfigHandle>(1 << 12);
  return *all;
}

Status check_configuration(const char *routine, const aclrtStreamConfigHandle *handle) {
  if (configurations().live(handle)) return 0;
  return fail(ACL_ERROR_INVALID_PARAM,
              "%s: handle is %p, which aclrtCreateStreamConfigHandle did not make, or which was "
              "destroyed.",
              routine, static_cast<const void *>(handle));
}

Status create(const char *routine, aclrtStream *stream, uint32_t priority, uint32_t flags) {
  EMU_ENTER_AS(routine);
  if (stream == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: the output pointer is null.", routine);
  if ((flags & ~kKnownFlags) != 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: 0x%x has flags this device does not know.", routine,
                flags);
  }
  emu::Context *context = nullptr;
  if (const Status s = emu::current_context(routine, &context)) return s;
  Status status = 0;
  *stream =
      emu::create_stream(*context, flags, std::min(priority, kLeastPriority), routine, &status);
  if (status == 0) {
    emu::faults::made("stream", *stream);
    emu::tell_stream_state(*stream, ACL_RT_STREAM_STATE_CREATE_POST);
  }
  return status;
}

Status destroy(const char *routine, aclrtStream raw, bool drain) {
  EMU_ENTER_AS(routine);
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: the stream is null.", routine);
  emu::Stream *stream = emu::streams().find(raw);
  if (stream == nullptr) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE,
                "%s: %p is not a live stream (destroyed, or never one).", routine, raw);
  }
  emu::Context *context = nullptr;
  if (const Status s = emu::current_context(routine, &context)) return s;
  if (&stream->context != context) {
    return fail(ACL_ERROR_RT_STREAM_CONTEXT,
                "%s: stream %d belongs to another context (device %d).", routine, stream->id,
                stream->device);
  }
  if (context->default_stream.load() == stream) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: the default stream ends with its context.",
                routine);
  }
  emu::tell_stream_state(raw, ACL_RT_STREAM_STATE_DESTROY_PRE);
  const Status s = emu::destroy_stream(stream, drain, routine);
  if (s == 0) emu::faults::ended(raw);
  return s;
}

Status synchronize(const char *routine, aclrtStream raw, int64_t timeout_ms) {
  EMU_ENTER_AS(routine);
  emu::Stream *stream = nullptr;
  if (const Status s = emu::resolve(raw, routine, &stream)) return s;
  return emu::synchronize(*stream, timeout_ms, routine);
}

}  // namespace

EMU_EXPORT aclError aclrtCreateStream(aclrtStream *stream) try {
  EMU_TIMED();
  return create(__func__, stream, 0, 0);
}
EMU_CATCH

EMU_EXPORT aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
                                                uint32_t flag) try {
  EMU_TIMED();
  return create(__func__, stream, priority, flag);
}
EMU_CATCH

EMU_EXPORT aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void) try {
  if (emu::check_process(__func__)) return nullptr;
  aclrtStreamConfigHandle *made = configurations().create();
  if (made == nullptr) fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many handles.", __func__);
  emu::faults::made("stream configuration", made);
  return made;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle) try {
  EMU_ENTER();
  if (const Status s = check_configuration(__func__, handle)) return s;
  if (!configurations().retire(handle)) return check_configuration(__func__, handle);
  emu::faults::ended(handle);
  configurations().destroy(handle);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle,
                                            aclrtStreamConfigAttr attr, const void *attrValue,
                                            size_t valueSize) try {
  EMU_ENTER();
  if (const Status s = check_configuration(__func__, handle)) return s;
  if (attrValue == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamConfigOpt: attrValue is null.");
  void *field = nullptr;
  size_t size = 0;
  switch (attr) {
    case ACL_RT_STREAM_WORK_ADDR_PTR:
      field = &handle->workptr;
      size = sizeof handle->workptr;
      break;
    case ACL_RT_STREAM_WORK_SIZE:
      field = &handle->workSize;
      size = sizeof handle->workSize;
      break;
    case ACL_RT_STREAM_FLAG:
      field = &handle->flag;
      size = sizeof handle->flag;
      break;
    case ACL_RT_STREAM_PRIORITY:
      field = &handle->priority;
      size = sizeof handle->priority;
      break;
    default:
      return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamConfigOpt: %d is no attribute.",
                  static_cast<int>(attr));
  }
  if (valueSize != size) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtSetStreamConfigOpt: attribute %d takes %zu bytes, %zu were given.",
                static_cast<int>(attr), size, valueSize);
  }
  std::memcpy(field, attrValue, size);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtCreateStreamV2(aclrtStream *stream,
                                        const aclrtStreamConfigHandle *handle) try {
  EMU_TIMED();
  if (handle == nullptr) return create(__func__, stream, 0, 0);
  if (const Status s = check_configuration(__func__, handle)) return s;
  return create(__func__, stream, handle->priority, static_cast<uint32_t>(handle->flag));
}
EMU_CATCH

EMU_EXPORT aclError aclrtDestroyStream(aclrtStream stream) try {
  EMU_TIMED();
  return destroy(__func__, stream, true);
}
EMU_CATCH
EMU_EXPORT aclError aclrtDestroyStreamForce(aclrtStream stream) try {
  EMU_TIMED();
  return destroy(__func__, stream, false);
}
EMU_CATCH

EMU_EXPORT aclError aclrtSynchronizeStream(aclrtStream stream) try {
  EMU_TIMED();
  return synchronize(__func__, stream, -1);
}
EMU_CATCH

EMU_EXPORT aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) try {
  EMU_TIMED();
  if (timeout < -1)
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSynchronizeStreamWithTimeout: timeout is %d.",
                timeout);
  return synchronize(__func__, stream, timeout);
}
EMU_CATCH

EMU_EXPORT aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status) try {
  EMU_ENTER();
  if (status == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: status is null.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (found->capture.load() != nullptr) return emu::refuse_while_captured(*found, __func__);
  const bool done = found->completed.load() >= found->submitted.load();
  if (done) emu::faults::waited();
  *status = done ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId) try {
  EMU_ENTER();
  if (streamId == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetId: streamId is null.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  *streamId = found->id;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags) try {
  EMU_ENTER();
  if (flags == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetFlags: flags is null.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  *flags = found->flags;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority) try {
  EMU_ENTER();
  if (priority == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamGetPriority: priority is null.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  *priority = found->priority;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetStreamAvailableNum(uint32_t *streamCount) try {
  EMU_ENTER();
  if (streamCount == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAvailableNum: streamCount is null.");
  int id = 0;
  if (const Status s = emu::current_device(__func__, &id)) return s;
  *streamCount = emu::kMaxStreams - emu::device(id).live_streams.load();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetThreadLastTaskId(uint32_t *taskId) try {
  EMU_ENTER();
  if (taskId == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetThreadLastTaskId: taskId is null.");
  *taskId = emu::last_task_id();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) try {
  EMU_ENTER();
  if (mode > ACL_STOP_ON_FAILURE) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtSetStreamFailureMode: mode is %llu; 0 (continue) and 1 (stop) are known.",
                static_cast<unsigned long long>(mode));
  }
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  int unset = -1;
  if (!found->failure_mode.compare_exchange_strong(unset, static_cast<int>(mode))) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtSetStreamFailureMode: the mode of stream %d is set already (%d).", found->id,
                unset);
  }
  if (mode == ACL_STOP_ON_FAILURE) found->context.stop_on_failure.store(true);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                            aclrtStreamAttrValue *value) try {
  EMU_ENTER();
  if (value == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetStreamAttribute: value is null.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE: return aclrtSetStreamFailureMode(stream, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      found->overflow_switch.store(value->overflowSwitch);
      return 0;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG: found->custom_tag.store(value->userCustomTag); return 0;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      found->cache_op_info.store(value->cacheOpInfoSwitch);
      return 0;
    default:
      return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "aclrtSetStreamAttribute: attribute %d cannot be set.",
                  static_cast<int>(stmAttrType));
  }
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                            aclrtStreamAttrValue *value) try {
  EMU_ENTER();
  if (value == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamAttribute: value is null.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  *value = {};
  switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      value->failureMode = found->failure_mode.load() == ACL_STOP_ON_FAILURE
                               ? ACL_STOP_ON_FAILURE
                               : ACL_CONTINUE_ON_FAILURE;
      return 0;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      value->overflowSwitch = found->overflow_switch.load();
      return 0;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG: value->userCustomTag = found->custom_tag.load(); return 0;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      value->cacheOpInfoSwitch = found->cache_op_info.load();
      return 0;
    default:
      return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                  "aclrtGetStreamAttribute: %d is not an attribute of this device.",
                  static_cast<int>(stmAttrType));
  }
}
EMU_CATCH

EMU_EXPORT aclError aclrtStreamAbort(aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  emu::abort_stream(*found);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtStreamStop(aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  emu::abort_stream(*found);
  return 0;
}
EMU_CATCH
