// SPDX-License-Identifier: Apache-2.0
// Streams: order, waiting, destruction while busy, faults, abort.
#include <chrono>
#include <thread>
#include <vector>

#include "gate.h"

namespace {

void *device_memory(size_t size) {
  void *p = nullptr;
  EXPECT_OK(aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST));
  return p;
}

void fault(aclrtStream stream) {
  // Device memory that is gone by the time the stream gets to it.
  Gate gate;
  gate.close(stream);
  void *p = device_memory(64);
  EXPECT_OK(aclrtMemsetAsync(p, 64, 1, 64, stream));
  EXPECT_OK(aclrtFree(p));
  gate.open();
}

void order_and_query() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  Gate gate;
  gate.close(stream);
  std::vector<int> seen;
  seen.reserve(1000);  // what the library calls must not throw
  struct Step {
    std::vector<int> *seen;
    int number;
  };
  std::vector<Step> steps;
  for (int i = 0; i < 1000; ++i) steps.push_back({&seen, i});
  for (Step &step : steps) {
    EXPECT_OK(aclrtLaunchHostFunc(
        stream,
        [](void *p) { static_cast<Step *>(p)->seen->push_back(static_cast<Step *>(p)->number); },
        &step));
  }
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  EXPECT_OK(aclrtStreamQuery(stream, &status));
  EXPECT(status == ACL_STREAM_STATUS_NOT_READY);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 60));
  EXPECT(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(55));
  EXPECT(seen.empty());
  gate.open();
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, -1));
  EXPECT(seen.size() == 1000);
  for (int i = 0; i < 1000; ++i) EXPECT(seen[static_cast<size_t>(i)] == i);
  EXPECT_OK(aclrtStreamQuery(stream, &status));
  EXPECT(status == ACL_STREAM_STATUS_COMPLETE);
  EXPECT_OK(aclrtDestroyStream(stream));
}

void streams_run_side_by_side() {
  aclrtStream held = nullptr, free_one = nullptr;
  EXPECT_OK(aclrtCreateStream(&held));
  EXPECT_OK(
      aclrtCreateStreamWithConfig(&free_one, 3, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
  Gate gate;
  gate.close(held);
  void *p = device_memory(64);
  EXPECT_OK(aclrtMemsetAsync(p, 64, 1, 64, free_one));
  EXPECT_OK(aclrtSynchronizeStream(free_one));
  gate.open();
  uint32_t priority = 9, flags = 0;
  int32_t first = -1, second = -1;
  EXPECT_OK(aclrtStreamGetPriority(free_one, &priority));
  EXPECT_OK(aclrtStreamGetFlags(free_one, &flags));
  EXPECT(priority == 3 && flags == (ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
  EXPECT_OK(aclrtStreamGetId(held, &first));
  EXPECT_OK(aclrtStreamGetId(free_one, &second));
  EXPECT(first != second);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamWithConfig(&free_one, 0, 0x4000));
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_OK(aclrtDestroyStream(held));
  EXPECT_OK(aclrtDestroyStream(free_one));
  EXPECT_OK(aclrtFree(p));
}

void destroy_while_busy() {
  aclrtStream stream = nullptr;
  void *p = device_memory(64);
  unsigned char host[64] = {};
  EXPECT_OK(aclrtCreateStream(&stream));
  Gate gate;
  gate.close(stream);
  EXPECT_OK(aclrtMemsetAsync(p, 64, 7, 64, stream));
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    gate.open();
  });
  EXPECT_OK(aclrtDestroyStream(stream));  // waits for what is queued
  opener.join();
  EXPECT_OK(aclrtMemcpy(host, 64, p, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(host[0] == 7 && host[63] == 7);

  EXPECT_OK(aclrtCreateStream(&stream));
  Gate second;
  second.close(stream);
  second.wait_reached();
  EXPECT_OK(aclrtMemsetAsync(p, 64, 9, 64, stream));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    second.open();
  });
  EXPECT_OK(aclrtDestroyStreamForce(stream));  // drops it
  later.join();
  EXPECT_OK(aclrtMemcpy(host, 64, p, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(host[0] == 7 && host[63] == 7);
  EXPECT_OK(aclrtFree(p));
}

void wrong_handles() {
  aclrtStream stream = nullptr, other = nullptr;
  int junk = 0;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(nullptr));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(&junk));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE,
              aclrtSynchronizeStream(reinterpret_cast<aclrtStream>(uintptr_t{0x1234})));
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(stream));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtCtxGetCurrentDefaultStream(&stream));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyStream(stream));

  EXPECT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtCreateStream(&other));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(other));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CONTEXT, aclrtDestroyStream(other));
  void *p = device_memory(32);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CONTEXT, aclrtMemsetAsync(p, 32, 0, 32, other));
  EXPECT_OK(aclrtFree(p));
  EXPECT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtDestroyStream(other));
  EXPECT_OK(aclrtResetDevice(1));
  EXPECT_OK(aclrtSetDevice(0));
}

void faults_surface_at_the_next_wait() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  void *p = device_memory(64);
  unsigned char host[64] = {};
  EXPECT_OK(aclrtMemset(p, 64, 0, 64));
  fault(stream);
  EXPECT_OK(aclrtMemsetAsync(p, 64, 3, 64, stream));  // continues after the fault
  EXPECT_CODE(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));  // reported once
  EXPECT_OK(aclrtMemcpy(host, 64, p, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(host[5] == 3);
  fault(stream);
  while (true) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    EXPECT_OK(aclrtStreamQuery(stream, &status));
    if (status == ACL_STREAM_STATUS_COMPLETE) break;
  }
  // A copy is no wait for that stream; a wait for the device is one, for this thread.
  EXPECT_OK(aclrtMemcpy(host, 64, p, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_CODE(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeDevice());
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtFree(p));
}

void stop_on_failure() {
  aclrtContext before = nullptr, context = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&before));
  EXPECT_OK(aclrtCreateContext(&context, 0));
  aclrtStream stream = nullptr, neighbour = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateStream(&neighbour));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSetStreamFailureMode(stream, 2));
  EXPECT_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
  void *p = device_memory(64);
  unsigned char host[64] = {};
  EXPECT_OK(aclrtMemset(p, 64, 0, 64));
  fault(stream);
  EXPECT_OK(aclrtMemsetAsync(p, 64, 3, 64, stream));  // dropped
  EXPECT_CODE(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
  EXPECT_CODE(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));  // stays
  EXPECT(aclrtSynchronizeStream(neighbour) != 0);
  EXPECT_OK(aclrtDestroyContext(context));
  EXPECT_OK(aclrtSetCurrentContext(before));
  EXPECT_OK(aclrtMemcpy(host, 64, p, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(host[0] == 0);
  EXPECT_OK(aclrtFree(p));
}

void abort_and_recover() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  Gate gate;
  gate.close(stream);
  gate.wait_reached();
  void *p = device_memory(64);
  EXPECT_OK(aclrtMemset(p, 64, 0, 64));
  EXPECT_OK(aclrtMemsetAsync(p, 64, 3, 64, stream));
  EXPECT_OK(aclrtStreamAbort(stream));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_ABORT, aclrtSynchronizeStream(stream));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_ABORT, aclrtMemsetAsync(p, 64, 3, 64, stream));
  gate.open();
  EXPECT_OK(aclrtDeviceTaskAbort(0, 2000));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  unsigned char host[64] = {1};
  EXPECT_OK(aclrtMemcpy(host, 64, p, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(host[0] == 0);
  EXPECT_OK(aclrtMemsetAsync(p, 64, 5, 64, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtMemcpy(host, 64, p, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(host[0] == 5);
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtFree(p));
}

void many_streams() {
  uint32_t available = 0;
  EXPECT_OK(aclrtGetStreamAvailableNum(&available));
  std::vector<aclrtStream> all(available);
  for (aclrtStream &stream : all) EXPECT_OK(aclrtCreateStream(&stream));
  aclrtStream one_more = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_NO_STREAM_RESOURCE, aclrtCreateStream(&one_more));
  for (aclrtStream stream : all) EXPECT_OK(aclrtDestroyStream(stream));
}

}  // namespace

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  order_and_query();
  streams_run_side_by_side();
  destroy_while_busy();
  wrong_handles();
  faults_surface_at_the_next_wait();
  stop_on_failure();
  abort_and_recover();
  many_streams();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
