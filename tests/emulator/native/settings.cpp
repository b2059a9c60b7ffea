// SPDX-License-Identifier: Apache-2.0
// Parameters, limits, overflow, signals, the allocator hook, profiling and dump states, missing
// families.
#include <string>

#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/acl_tdt.h"
#include "gate.h"

namespace {

void parameters_and_limits() {
  int64_t value = 9;
  uint32_t cores = 0;
  EXPECT_OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT(value == 0);
  EXPECT_CODE(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET,
              aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT_OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
  EXPECT_OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT(value == 1);
  EXPECT_OK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
  EXPECT_OK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
  EXPECT(value == 1);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSetSysParamOpt(static_cast<aclSysParamOpt>(77), 1));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 9));

  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &cores));
  EXPECT(cores == 24);
  EXPECT_OK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 12));
  EXPECT_OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, &cores));
  EXPECT(cores == 12);
  EXPECT_OK(aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_CUBE_CORE, 6));
  EXPECT_OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
  EXPECT(cores == 12);
  EXPECT_OK(aclrtUseStreamResInCurrentThread(stream));
  EXPECT_OK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores));
  EXPECT(cores == 6);
  EXPECT_OK(aclrtUnuseStreamResInCurrentThread(stream));
  EXPECT_OK(aclrtResetStreamResLimit(stream));
  EXPECT_OK(aclrtResetDeviceResLimit(0));
  EXPECT_OK(aclrtGetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, &cores));
  EXPECT(cores == 48);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 25));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtSetDeviceResLimit(0, static_cast<aclrtDevResLimitType>(3), 1));
  uint64_t actual = 0;
  uint32_t milliseconds = 0;
  EXPECT_OK(aclrtSetOpExecuteTimeOutV2(5000000, &actual));
  EXPECT(actual == 5000000);
  EXPECT_OK(aclrtGetOpExecuteTimeout(&milliseconds));
  EXPECT(milliseconds == 5000);
  EXPECT_OK(aclrtSetOpExecuteTimeOut(2));
  EXPECT_OK(aclrtGetOpExecuteTimeout(&milliseconds));
  EXPECT(milliseconds == 2000);
  EXPECT_OK(aclrtSetOpWaitTimeout(0));
  EXPECT_OK(aclrtDestroyStream(stream));
}

// Programs set the mode before they set a device.
void saturation_mode_needs_no_device() {
  EXPECT_OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
  EXPECT_OK(aclrtGetDeviceSatMode(&mode));
  EXPECT(mode == ACL_RT_OVERFLOW_MODE_INFNAN);
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceSatMode(NULL));
}

void overflow() {
  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
  EXPECT_OK(aclrtGetDeviceSatMode(&mode));
  EXPECT(mode == ACL_RT_OVERFLOW_MODE_INFNAN);
  EXPECT_OK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
  uint32_t flag = 9;
  EXPECT_OK(aclrtSetStreamOverflowSwitch(nullptr, 1));
  EXPECT_OK(aclrtGetStreamOverflowSwitch(nullptr, &flag));
  EXPECT(flag == 1);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSetStreamOverflowSwitch(nullptr, 2));
  void *block = nullptr;
  unsigned char host[64] = {1};
  EXPECT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(block, 64, 0xEE, 64));
  EXPECT_OK(aclrtGetOverflowStatus(block, 64, nullptr));
  EXPECT_OK(aclrtResetOverflowStatus(nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtMemcpy(host, 64, block, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  for (unsigned char byte : host) EXPECT(byte == 0);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtGetOverflowStatus(block, 32, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtGetOverflowStatus(host, 64, nullptr));
  EXPECT_OK(aclrtFree(block));
}

void signals() {
  aclrtStream a = nullptr, b = nullptr;
  EXPECT_OK(aclrtCreateStream(&a));
  EXPECT_OK(aclrtCreateStream(&b));
  void *word = nullptr;
  EXPECT_OK(aclrtMalloc(&word, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(word, 8, 0, 8));
  EXPECT_OK(aclrtValueWait(word, 5, ACL_STREAM_WAIT_VALUE_GEQ, a));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 30));
  EXPECT_OK(aclrtValueWrite(word, 6, 0, b));
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(a, 10000));
  EXPECT_CODE(ACL_ERROR_RT_ADDR_UNALIGNED, aclrtValueWrite(static_cast<char *>(word) + 4, 6, 0, b));
  uint64_t host = 0;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(&host, 6, 0, b));
  aclrtNotify notify = nullptr;
  EXPECT_OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(aclrtWaitAndResetNotify(notify, a, 0));
    EXPECT_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(a, 30));
    EXPECT_OK(aclrtRecordNotify(notify, b));
    EXPECT_OK(aclrtSynchronizeStreamWithTimeout(a, 10000));
  }
  EXPECT_OK(aclrtWaitAndResetNotify(notify, a, 1));  // seconds
  EXPECT_CODE(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(a));
  EXPECT_OK(aclrtDestroyNotify(notify));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(notify, b));
  EXPECT_OK(aclrtFree(word));
  EXPECT_OK(aclrtDestroyStream(a));
  EXPECT_OK(aclrtDestroyStream(b));
}

void allocator_hook() {
  aclrtAllocatorDesc desc = aclrtAllocatorCreateDesc(), found = nullptr;
  int object = 0;
  aclrtAllocator owner = nullptr;
  EXPECT_OK(aclrtAllocatorSetObjToDesc(desc, &object));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtAllocatorRegister(nullptr, desc));
  EXPECT_OK(aclrtAllocatorSetAllocFuncToDesc(
      desc, [](aclrtAllocator, size_t) -> void * { return nullptr; }));
  EXPECT_OK(aclrtAllocatorSetFreeFuncToDesc(desc, [](aclrtAllocator, aclrtAllocatorBlock) {}));
  EXPECT_OK(aclrtAllocatorSetAllocAdviseFuncToDesc(
      desc, [](aclrtAllocator, size_t, aclrtAllocatorAddr) -> void * { return nullptr; }));
  EXPECT_OK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
      desc, [](aclrtAllocatorBlock block) -> void * { return block; }));
  EXPECT_OK(aclrtAllocatorRegister(nullptr, desc));
  EXPECT_OK(aclrtAllocatorGetByStream(nullptr, &found, &owner, nullptr, nullptr, nullptr, nullptr));
  EXPECT(found == desc && owner == &object);
  EXPECT_OK(aclrtAllocatorUnregister(nullptr));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtAllocatorUnregister(nullptr));
  EXPECT_OK(aclrtAllocatorDestroyDesc(desc));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtAllocatorDestroyDesc(desc));
}

void tools(const char *path) {
  uint32_t device = 0;
  aclprofConfig *config =
      aclprofCreateConfig(&device, 1, ACL_AICORE_NONE, nullptr, ACL_PROF_ACL_API);
  EXPECT(config != nullptr);
  EXPECT_CODE(ACL_ERROR_PROF_NOT_RUN, aclprofStart(config));
  EXPECT_OK(aclprofInit(path, strlen(path)));
  EXPECT_CODE(ACL_ERROR_PROF_ALREADY_RUN, aclprofInit(path, strlen(path)));
  EXPECT_OK(aclprofStart(config));
  EXPECT_CODE(ACL_ERROR_PROF_ALREADY_RUN, aclprofStart(config));
  EXPECT_OK(aclprofMarkEx("step", 4, nullptr));
  EXPECT_OK(aclprofStop(config));
  EXPECT_CODE(ACL_ERROR_PROF_NOT_RUN, aclprofStop(config));
  EXPECT_OK(aclprofFinalize());
  EXPECT_CODE(ACL_ERROR_PROF_NOT_RUN, aclprofFinalize());
  EXPECT_OK(aclprofDestroyConfig(config));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclprofDestroyConfig(config));
  EXPECT_CODE(ACL_ERROR_DUMP_NOT_RUN, aclmdlFinalizeDump());
  EXPECT_OK(aclmdlInitDump());
  EXPECT_CODE(ACL_ERROR_DUMP_ALREADY_RUN, aclmdlInitDump());
  EXPECT_OK(aclmdlFinalizeDump());
  char jit[16] = "";
  EXPECT_OK(aclGetCompileopt(ACL_OP_JIT_COMPILE, jit, sizeof jit));
  EXPECT(strcmp(jit, "disable") == 0);
  EXPECT_OK(aclSetCompileopt(ACL_OP_JIT_COMPILE, "enable"));
  EXPECT(aclGetCompileoptSize(ACL_OP_JIT_COMPILE) == 7);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclSetCompileopt(ACL_OP_JIT_COMPILE, "perhaps"));
}

void missing_families_say_so() {
  uint32_t id = 0;
  aclrtBinHandle binary = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclmdlLoadFromFile("x.om", &id));
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclopSetModelDir("x"));
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtBinaryLoadFromFile("x.o", nullptr, &binary));
  EXPECT(aclmdlCreateDataset() == nullptr);
  const char *text = aclGetRecentErrMsg();
  EXPECT(text != nullptr && strstr(text, "aclmdlCreateDataset") != nullptr &&
         strstr(text, "offline models") != nullptr);
  EXPECT(aclmdlGetNumInputs(nullptr) == 0);
  EXPECT(aclGetRecentErrMsg() != nullptr);
}

}  // namespace

int main(int, char **words) {
  saturation_mode_needs_no_device();
  EXPECT_OK(aclrtSetDevice(0));
  parameters_and_limits();
  overflow();
  signals();
  allocator_hook();
  tools(words[1]);
  missing_families_say_so();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
