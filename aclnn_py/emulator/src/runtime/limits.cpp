// SPDX-License-Identifier: Apache-2.0
// System parameters, time limits of operators, limits on cores.
#include <atomic>
#include <mutex>

#include "acl/acl_rt.h"
#include "core/chip.h"
#include "core/context.h"
#include "core/device.h"
#include "core/event.h"
#include "core/export.h"
#include "core/process.h"
#include "core/stream.h"

using emu::fail;
using emu::Status;

namespace {

constexpr int kParameters = 4;
std::atomic<int64_t> g_parameters[kParameters];

thread_local int64_t t_cores[2] = {-1, -1};

Status check_parameter(const char *routine, int opt) {
  if (opt >= 0 && opt < kParameters) return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "%s: %d is no system parameter.", routine, opt);
}

Status check_value(const char *routine, int opt, int64_t value) {
  const int64_t most = opt == ACL_OPT_DETERMINISTIC ? 3 : 1;
  if (value >= 0 && value <= most) return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "%s: parameter %d takes 0 to %lld, not %lld.", routine, opt,
              static_cast<long long>(most), static_cast<long long>(value));
}

int cores_of_chip(int type) {
  return type == ACL_RT_DEV_RES_CUBE_CORE ? emu::cube_cores() : emu::vector_cores();
}

Status check_resource(const char *routine, int type) {
  if (type == ACL_RT_DEV_RES_CUBE_CORE || type == ACL_RT_DEV_RES_VECTOR_CORE) return 0;
  return fail(ACL_ERROR_INVALID_PARAM,
              "%s: %d is not a resource; allowed: 0 (cube cores), 1 (vector cores).", routine,
              type);
}

Status check_cores(const char *routine, int type, uint32_t value) {
  if (const Status s = check_resource(routine, type)) return s;
  if (value > 0 && value <= static_cast<uint32_t>(cores_of_chip(type))) return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "%s: %u; the chip has %d.", routine, value,
              cores_of_chip(type));
}

Status check_device(const char *routine, int id) {
  EMU_ENTER_AS(routine);
  if (emu::valid_device(id)) return 0;
  return fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: device %d does not exist.", routine, id);
}

uint32_t device_limit(int id, int type) {
  const int64_t set = emu::device(id).resource_limit[type].load();
  return static_cast<uint32_t>(set >= 0 ? set : cores_of_chip(type));
}

uint32_t stream_limit(const emu::Stream &stream, int type) {
  const int64_t set = stream.resource_limit[type].load();
  return set >= 0 ? static_cast<uint32_t>(set) : device_limit(stream.device, type);
}

}  // namespace

EMU_EXPORT aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) try {
  EMU_ENTER();
  if (const Status s = check_parameter(__func__, opt)) return s;
  if (const Status s = check_value(__func__, opt, value)) return s;
  g_parameters[opt].store(value);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value) try {
  EMU_ENTER();
  if (value == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetSysParamOpt: value is null.");
  if (const Status s = check_parameter(__func__, opt)) return s;
  *value = g_parameters[opt].load();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) try {
  EMU_ENTER();
  if (const Status s = check_parameter(__func__, opt)) return s;
  if (const Status s = check_value(__func__, opt, value)) return s;
  emu::Context *context = nullptr;
  if (const Status s = emu::current_context(__func__, &context)) return s;
  std::lock_guard<std::mutex> lock(context->mutex);
  context->sys_param[opt] = value;
  context->sys_param_set[opt] = true;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value) try {
  EMU_ENTER();
  if (value == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCtxGetSysParamOpt: value is null.");
  if (const Status s = check_parameter(__func__, opt)) return s;
  emu::Context *context = nullptr;
  if (const Status s = emu::current_context(__func__, &context)) return s;
  std::lock_guard<std::mutex> lock(context->mutex);
  if (!context->sys_param_set[opt]) {
    return fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
                "aclrtCtxGetSysParamOpt: parameter %d was not set on this context.",
                static_cast<int>(opt));
  }
  *value = context->sys_param[opt];
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetOpWaitTimeout(uint32_t timeout) try {
  EMU_ENTER();
  emu::set_wait_limit(int64_t{timeout} * 1000);
  return 0;
}
EMU_CATCH

// Only a kernel that sleeps takes so long that the limit stops it.
EMU_EXPORT aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) try {
  EMU_ENTER();
  emu::set_execute_limit(uint64_t{timeout} * 1000000);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) try {
  EMU_ENTER();
  emu::set_execute_limit(uint64_t{timeout} * 1000);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t *actualTimeout) try {
  EMU_ENTER();
  if (actualTimeout == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtSetOpExecuteTimeOutV2: actualTimeout is null.");
  emu::set_execute_limit(timeout);
  *actualTimeout = emu::execute_limit();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs) try {
  EMU_ENTER();
  if (timeoutMs == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetOpExecuteTimeout: timeoutMs is null.");
  *timeoutMs = static_cast<uint32_t>(emu::execute_limit() / 1000);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                           uint32_t value) try {
  if (const Status s = check_device(__func__, deviceId)) return s;
  if (const Status s = check_cores(__func__, type, value)) return s;
  emu::device(deviceId).resource_limit[type].store(value);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                           uint32_t *value) try {
  if (const Status s = check_device(__func__, deviceId)) return s;
  if (value == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceResLimit: value is null.");
  if (const Status s = check_resource(__func__, type)) return s;
  *value = device_limit(deviceId, type);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtResetDeviceResLimit(int32_t deviceId) try {
  if (const Status s = check_device(__func__, deviceId)) return s;
  for (auto &limit : emu::device(deviceId).resource_limit) limit.store(-1);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                           uint32_t value) try {
  EMU_ENTER();
  if (const Status s = check_cores(__func__, type, value)) return s;
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  found->resource_limit[type].store(value);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                           uint32_t *value) try {
  EMU_ENTER();
  if (value == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetStreamResLimit: value is null.");
  if (const Status s = check_resource(__func__, type)) return s;
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  *value = stream_limit(*found, type);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtResetStreamResLimit(aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  for (auto &limit : found->resource_limit) limit.store(-1);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  for (int type = 0; type < 2; ++type) t_cores[type] = stream_limit(*found, type);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) try {
  (void)stream;  // the parameter came with 8.5; callers of 8.3 pass nothing there
  EMU_ENTER();
  t_cores[0] = t_cores[1] = -1;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value) try {
  EMU_ENTER();
  if (value == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetResInCurrentThread: value is null.");
  if (const Status s = check_resource(__func__, type)) return s;
  int id = 0;
  if (const Status s = emu::current_device(__func__, &id)) return s;
  *value = t_cores[type] >= 0 ? static_cast<uint32_t>(t_cores[type]) : device_limit(id, type);
  return 0;
}
EMU_CATCH
