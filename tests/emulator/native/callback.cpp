// SPDX-License-Identifier: Apache-2.0
// Host callbacks on both routes.
#include <pthread.h>

#include <chrono>
#include <vector>

#include "gate.h"

namespace {

struct Note {
  std::vector<int> *seen;
  int number;
  pthread_t thread;
};

void write_down(void *p) {
  auto *note = static_cast<Note *>(p);
  note->thread = pthread_self();
  note->seen->push_back(note->number);
}

}  // namespace

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  const auto me = static_cast<uint64_t>(pthread_self());
  std::vector<int> seen;
  seen.reserve(16);  // what the library calls must not throw
  Note first{&seen, 1, {}}, second{&seen, 2, {}};

  EXPECT_CODE(ACL_ERROR_RT_STREAM_NO_CB_REG,
              aclrtLaunchCallback(write_down, &first, ACL_CALLBACK_BLOCK, stream));
  EXPECT_CODE(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(10));
  EXPECT_OK(aclrtSubscribeReport(me, stream));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeReport(me, stream));

  const auto start = std::chrono::steady_clock::now();
  // blocks as long as it was told
  EXPECT_CODE(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(60));
  EXPECT(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(55));

  // Later work waits for a blocking callback.
  void *p = nullptr;
  unsigned char host[32] = {};
  EXPECT_OK(aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(p, 32, 0, 32));
  EXPECT_OK(aclrtLaunchCallback(write_down, &first, ACL_CALLBACK_BLOCK, stream));
  EXPECT_OK(aclrtMemsetAsync(p, 32, 5, 32, stream));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 50));
  EXPECT_OK(aclrtMemcpy(host, 32, p, 32, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(host[0] == 0);
  EXPECT_OK(aclrtProcessReport(1000));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtMemcpy(host, 32, p, 32, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(host[0] == 5 && seen.size() == 1 && pthread_equal(first.thread, pthread_self()));

  // One that does not block lets the stream go on.
  EXPECT_OK(aclrtLaunchCallback(write_down, &second, ACL_CALLBACK_NO_BLOCK, stream));
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 2000));
  EXPECT(seen.size() == 1);
  EXPECT_OK(aclrtProcessReport(1000));
  EXPECT(seen.size() == 2);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, stream));
  EXPECT_CODE(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtUnSubscribeReport(me + 1, stream));
  EXPECT_OK(aclrtUnSubscribeReport(me, stream));
  EXPECT_CODE(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessReport(10));

  // The newer route runs on a thread of the device.
  EXPECT_OK(aclrtLaunchHostFunc(stream, write_down, &first));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT(seen.size() == 3 && !pthread_equal(first.thread, pthread_self()));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtLaunchHostFunc(stream, nullptr, nullptr));

  // A stream made later does not inherit a subscription.
  EXPECT_OK(aclrtSubscribeReport(me, stream));
  EXPECT_OK(aclrtDestroyStream(stream));
  for (int i = 0; i < 100; ++i) {
    EXPECT_OK(aclrtCreateStream(&stream));
    EXPECT_CODE(ACL_ERROR_RT_STREAM_NO_CB_REG,
                aclrtLaunchCallback(write_down, &first, ACL_CALLBACK_BLOCK, stream));
    EXPECT_OK(aclrtDestroyStream(stream));
  }
  EXPECT_OK(aclrtFree(p));
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
