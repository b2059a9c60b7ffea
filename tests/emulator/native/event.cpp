// SPDX-License-Identifier: Apache-2.0
// Events: what they order, what they answer, what they refuse.
#include <chrono>
#include <thread>

#include "gate.h"

namespace {

void status_and_order() {
  aclrtStream stream = nullptr, second = nullptr;
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateStream(&second));
  EXPECT_OK(aclrtCreateEvent(&event));
  // The enumerations disagree about 0 and 1; never recorded means complete in all of them.
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  aclrtEventStatus status = ACL_EVENT_STATUS_NOT_READY;
  aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_NOT_READY;
  EXPECT_OK(aclrtQueryEventStatus(event, &recorded));
  EXPECT_OK(aclrtQueryEvent(event, &status));
  EXPECT_OK(aclrtQueryEventWaitStatus(event, &waited));
  EXPECT(recorded == ACL_EVENT_RECORDED_STATUS_COMPLETE && static_cast<int>(recorded) == 1);
  EXPECT(status == ACL_EVENT_STATUS_COMPLETE && static_cast<int>(status) == 0);
  EXPECT(waited == ACL_EVENT_WAIT_STATUS_COMPLETE);
  EXPECT_OK(aclrtSynchronizeEvent(event));
  EXPECT_OK(aclrtStreamWaitEvent(second, event));
  EXPECT_OK(aclrtSynchronizeStream(second));

  Gate gate;
  gate.close(stream);
  EXPECT_OK(aclrtRecordEvent(event, stream));
  EXPECT_OK(aclrtStreamWaitEvent(second, event));
  EXPECT_OK(aclrtQueryEventStatus(event, &recorded));
  EXPECT(recorded == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_OK(aclrtQueryEventWaitStatus(event, &waited));
  EXPECT(waited == ACL_EVENT_WAIT_STATUS_NOT_READY);
  EXPECT_CODE(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 40));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(second, 40));
  gate.open();
  EXPECT_OK(aclrtSynchronizeEventWithTimeout(event, 5000));
  EXPECT_OK(aclrtSynchronizeStream(second));
  EXPECT_OK(aclrtQueryEventWaitStatus(event, &waited));
  EXPECT(waited == ACL_EVENT_WAIT_STATUS_COMPLETE);
  EXPECT_OK(aclrtResetEvent(event, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(event));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(event, stream));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtRecordEvent(nullptr, stream));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyStream(second));
}

void times() {
  aclrtStream stream = nullptr;
  aclrtEvent start = nullptr, end = nullptr, plain = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateEvent(&start));
  EXPECT_OK(aclrtCreateEventExWithFlag(&end, ACL_EVENT_TIME_LINE));
  EXPECT_OK(aclrtCreateEventWithFlag(&plain, ACL_EVENT_SYNC));
  float ms = -1;
  uint64_t first = 0, last = 0;
  EXPECT_CODE(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, start, end));
  EXPECT_OK(aclrtRecordEvent(start, stream));
  EXPECT_OK(aclrtLaunchHostFunc(
      stream, [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  EXPECT_OK(aclrtRecordEvent(end, stream));
  EXPECT_OK(aclrtRecordEvent(plain, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtEventElapsedTime(&ms, start, end));
  EXPECT(ms >= 20.0f && ms < 20000.0f);
  EXPECT_CODE(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, aclrtEventElapsedTime(&ms, end, start));
  EXPECT_CODE(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, start, plain));
  EXPECT_OK(aclrtEventGetTimestamp(start, &first));
  EXPECT_OK(aclrtEventGetTimestamp(end, &last));
  EXPECT(last - first >= 20000 && last - first < 20000000);  // microseconds
  Gate gate;
  gate.close(stream);
  EXPECT_OK(aclrtRecordEvent(end, stream));
  EXPECT_CODE(ACL_ERROR_RT_EVENT_NOT_COMPLETE, aclrtEventElapsedTime(&ms, start, end));
  gate.open();
  EXPECT_OK(aclrtSynchronizeEvent(end));
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetEvent(end, stream));
  aclrtEventStatus status;
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtQueryEvent(end, &status));
  EXPECT_OK(aclrtDestroyEvent(start));
  EXPECT_OK(aclrtDestroyEvent(end));
  EXPECT_OK(aclrtDestroyEvent(plain));
  EXPECT_OK(aclrtDestroyStream(stream));
}

void recording_again_replaces() {
  aclrtStream a = nullptr, b = nullptr;
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateStream(&a));
  EXPECT_OK(aclrtCreateStream(&b));
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtRecordEvent(event, a));
  EXPECT_OK(aclrtSynchronizeEvent(event));
  Gate gate;
  gate.close(b);
  EXPECT_OK(aclrtRecordEvent(event, b));
  EXPECT_CODE(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event, 30));
  EXPECT_OK(aclrtDestroyEvent(event));  // while its record is queued
  gate.open();
  EXPECT_OK(aclrtSynchronizeStream(b));
  EXPECT_OK(aclrtDestroyStream(a));
  EXPECT_OK(aclrtDestroyStream(b));
}

void waits_have_a_limit() {
  aclrtStream a = nullptr, b = nullptr;
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateStream(&a));
  EXPECT_OK(aclrtCreateStream(&b));
  EXPECT_OK(aclrtCreateEvent(&event));
  Gate gate;
  gate.close(a);
  EXPECT_OK(aclrtRecordEvent(event, a));
  EXPECT_OK(aclrtStreamWaitEventWithTimeout(b, event, 1));
  EXPECT_CODE(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(b));
  gate.open();
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtDestroyStream(a));
  EXPECT_OK(aclrtDestroyStream(b));
}

void refusals() {
  aclrtEvent event = nullptr;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCreateEvent(nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(&event, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(&event, 0x100));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtCreateEventWithFlag(&event, ACL_EVENT_IPC | ACL_EVENT_SYNC));
  uint32_t before = 0, after = 0;
  EXPECT_OK(aclrtGetEventAvailNum(&before));
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtGetEventAvailNum(&after));
  EXPECT(after == before - 1);
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtGetEventAvailNum(&after));
  EXPECT(after == before);
}

}  // namespace

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  status_and_order();
  times();
  recording_again_replaces();
  waits_have_a_limit();
  refusals();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
