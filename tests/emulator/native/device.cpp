// SPDX-License-Identifier: Apache-2.0
// Devices and contexts: counting, threads, reset.
#include <thread>

#include "expect.h"

namespace {

template <class F>
void on_thread(F f) {
  std::thread(f).join();
}

void a_fresh_thread_has_no_device() {
  on_thread([] {
    int32_t id = -1;
    aclrtContext context = nullptr;
    void *p = nullptr;
    aclrtStream stream = nullptr;
    EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&id));
    EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
    EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream));
    EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(nullptr));
    EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
    EXPECT(p == nullptr && stream == nullptr);
  });
}

void counting() {
  uint32_t count = 0;
  EXPECT_OK(aclrtGetDeviceCount(&count));
  EXPECT(count == 8);
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(8));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtResetDevice(1));  // below zero
  EXPECT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtSetDevice(1));
  int32_t id = -1, active = 0;
  EXPECT_OK(aclrtResetDevice(1));
  EXPECT_OK(aclrtGetDevice(&id));
  EXPECT(id == 1);
  EXPECT_OK(aclrtGetPrimaryCtxState(1, nullptr, &active));
  EXPECT(active == 1);
  EXPECT_OK(aclrtResetDevice(1));
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&id));
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtResetDevice(1));
  EXPECT_OK(aclrtGetPrimaryCtxState(1, nullptr, &active));
  EXPECT(active == 0);
}

void force_releases_at_once() {
  EXPECT_OK(aclrtSetDevice(2));
  EXPECT_OK(aclrtSetDevice(2));
  void *p = nullptr;
  size_t before = 0, total = 0, after = 0;
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  EXPECT_OK(aclrtMalloc(&p, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtResetDeviceForce(2));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(p));
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtResetDeviceForce(2));
  EXPECT_OK(aclrtSetDevice(2));
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  EXPECT(after == before && after <= total);
  EXPECT_OK(aclrtResetDevice(2));
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtResetDevice(2));
}

void device_0_stays_usable() {
  EXPECT_OK(aclrtSetDevice(0));
  aclrtContext explicit_context = nullptr, primary = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&primary));
  EXPECT_OK(aclrtCreateContext(&explicit_context, 0));
  EXPECT_OK(aclrtSetCurrentContext(primary));
  EXPECT_OK(aclrtResetDevice(0));
  void *p = nullptr;
  EXPECT_OK(aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemsetAsync(p, 32, 1, 32, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtFree(p));
  EXPECT_OK(aclrtDestroyContext(explicit_context));  // after the reset
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyContext(explicit_context));
}

void contexts() {
  EXPECT_OK(aclrtSetDevice(0));
  aclrtContext primary = nullptr, other = nullptr, now = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&primary));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyContext(primary));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtDestroyContext(nullptr));
  EXPECT_OK(aclrtCreateContext(&other, 3));
  EXPECT_OK(aclrtGetCurrentContext(&now));
  EXPECT(now == other && other != primary);
  aclrtStream first = nullptr, second = nullptr;
  EXPECT_OK(aclrtCtxGetCurrentDefaultStream(&first));
  EXPECT_OK(aclrtSetCurrentContext(primary));
  EXPECT_OK(aclrtCtxGetCurrentDefaultStream(&second));
  EXPECT(first != second);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(first));
  on_thread([&] {  // a context may move to another thread
    int32_t id = -1;
    EXPECT_OK(aclrtSetCurrentContext(other));
    EXPECT_OK(aclrtGetDevice(&id));
    EXPECT(id == 3);
  });
  EXPECT_OK(aclrtDestroyContext(other));
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetCurrentContext(other));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(first));
  int junk = 0;
  EXPECT_CODE(ACL_ERROR_RT_CONTEXT_NULL, aclrtSetCurrentContext(&junk));
  EXPECT_OK(aclrtResetDevice(0));
}

void peers() {
  EXPECT_OK(aclrtSetDevice(0));
  int32_t can = 0, status = 1;
  EXPECT_OK(aclrtDeviceCanAccessPeer(&can, 0, 1));
  EXPECT(can == 1);
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceCanAccessPeer(&can, 1, 1));
  EXPECT_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
  EXPECT(status == 0);
  EXPECT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_OK(aclrtDevicePeerAccessStatus(0, 1, &status));
  EXPECT(status == 1);
  EXPECT_OK(aclrtDevicePeerAccessStatus(1, 0, &status));
  EXPECT(status == 0);
  EXPECT_OK(aclrtDeviceDisablePeerAccess(1));
  aclrtUtilizationInfo use;
  EXPECT_OK(aclrtGetDeviceUtilizationRate(0, &use));
  EXPECT(use.cubeUtilization == 0 && use.memoryUtilization == -1);
  EXPECT_OK(aclrtResetDevice(0));
}

}  // namespace

int main() {
  a_fresh_thread_has_no_device();
  counting();
  force_releases_at_once();
  device_0_stays_usable();
  contexts();
  peers();
  return 0;
}
