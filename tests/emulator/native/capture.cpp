// SPDX-License-Identifier: Apache-2.0
// Capture and replay: recording, joined streams, modes, refusals, task groups, conditional bodies.
#include <cstdint>
#include <thread>
#include <vector>

#include "gate.h"

namespace {

unsigned char *g_p, *g_q;

std::vector<unsigned char> read(const void *p, size_t size) {
  std::vector<unsigned char> host(size);
  EXPECT_OK(aclrtMemcpy(host.data(), size, p, size, ACL_MEMCPY_DEVICE_TO_HOST));
  return host;
}

aclrtStream make_stream() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  return stream;
}

void fill(unsigned char *p, int value, aclrtStream stream) {
  EXPECT_OK(aclrtMemsetAsync(p, 64, value, 64, stream));
}

void records_and_repeats() {
  aclrtStream stream = make_stream();
  aclmdlRI graph = nullptr, info = nullptr;
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  EXPECT_OK(aclmdlRICaptureGetInfo(stream, &status, &info));
  EXPECT(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE && info == nullptr);
  EXPECT_OK(aclrtMemset(g_p, 64, 0, 64));
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_OK(aclmdlRICaptureGetInfo(stream, &status, &info));
  EXPECT(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE && info != nullptr);
  fill(g_p, 3, stream);
  EXPECT_OK(aclrtMemcpyAsync(g_q, 64, g_p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  void *aside = nullptr;
  EXPECT_OK(aclrtMalloc(&aside, 64, ACL_MEM_MALLOC_HUGE_FIRST));  // allowed on the side
  EXPECT_CODE(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIDestroy(info));
  EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  EXPECT(graph == info);
  EXPECT(read(g_p, 64)[0] == 0);  // recorded, not run
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(aclrtMemset(g_q, 64, 0, 64));
    EXPECT_OK(aclmdlRIExecuteAsync(graph, stream));
    EXPECT_OK(aclrtSynchronizeStream(stream));
    EXPECT(read(g_q, 64)[63] == 3);
  }
  EXPECT_OK(aclmdlRIExecuteAsync(graph, nullptr));  // on the default stream as well
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclmdlRIExecute(graph, 1000));
  EXPECT_OK(aclmdlRISetName(graph, "steps"));
  char name[16] = "";
  uint32_t id = 0;
  EXPECT_OK(aclmdlRIGetName(graph, sizeof name, name));
  EXPECT(strcmp(name, "steps") == 0);
  EXPECT_OK(aclmdlRIGetId(graph, &id));
  EXPECT_OK(aclmdlRIExecuteAsync(graph, stream));
  EXPECT_OK(aclmdlRIDestroy(graph));  // while a replay may be queued
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecuteAsync(graph, stream));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDestroy(graph));
  EXPECT_OK(aclrtFree(aside));
  EXPECT_OK(aclrtDestroyStream(stream));
}

void side_streams_join() {
  aclrtStream stream = make_stream(), side = make_stream();
  aclrtEvent fork = nullptr, join = nullptr;
  aclmdlRI graph = nullptr;
  EXPECT_OK(aclrtCreateEvent(&fork));
  EXPECT_OK(aclrtCreateEvent(&join));
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  fill(g_p, 1, stream);
  EXPECT_OK(aclrtRecordEvent(fork, stream));
  EXPECT_OK(aclrtStreamWaitEvent(side, fork));
  EXPECT_OK(aclrtMemcpyAsync(g_q, 64, g_p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, side));
  EXPECT_OK(aclrtRecordEvent(join, side));
  EXPECT_OK(aclrtStreamWaitEvent(stream, join));
  fill(g_p, 2, stream);  // after the copy
  EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  for (int i = 0; i < 50; ++i) {
    EXPECT_OK(aclmdlRIExecuteAsync(graph, stream));
    EXPECT_OK(aclrtSynchronizeStream(stream));
    EXPECT(read(g_q, 64)[0] == 1 && read(g_p, 64)[0] == 2);
  }
  fill(g_q, 9, side);  // the side stream is an ordinary one again
  EXPECT_OK(aclrtSynchronizeStream(side));
  EXPECT(read(g_q, 64)[0] == 9);
  EXPECT_OK(aclmdlRIDestroy(graph));

  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(aclrtRecordEvent(fork, stream));
  EXPECT_OK(aclrtStreamWaitEvent(side, fork));
  fill(g_q, 1, side);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_UNJOINED, aclmdlRICaptureEnd(stream, &graph));
  EXPECT(graph == nullptr);
  EXPECT_OK(aclrtSynchronizeStream(side));
  EXPECT_OK(aclrtDestroyEvent(fork));
  EXPECT_OK(aclrtDestroyEvent(join));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyStream(side));
}

void refusals() {
  aclrtStream stream = make_stream(), other = make_stream();
  aclrtEvent event = nullptr;
  aclmdlRI graph = nullptr;
  std::vector<unsigned char> host(64);
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtRecordEvent(event, other));
  EXPECT_OK(aclrtSynchronizeEvent(event));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
              aclmdlRICaptureBegin(nullptr, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureEnd(stream, &graph));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclmdlRICaptureBegin(stream, static_cast<aclmdlRICaptureMode>(5)));

  const auto begin = [&](aclmdlRICaptureMode mode) {
    EXPECT_OK(aclmdlRICaptureBegin(stream, mode));
  };
  const auto invalid = [&] {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    EXPECT_OK(aclmdlRICaptureGetInfo(stream, &status, nullptr));
    EXPECT(status == ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    EXPECT_CODE(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, aclrtMemsetAsync(g_p, 64, 1, 64, stream));
    EXPECT_CODE(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, aclmdlRICaptureEnd(stream, &graph));
    EXPECT(graph == nullptr);
    EXPECT_OK(aclrtSynchronizeStream(stream));  // ordinary again
  };

  begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CAPTURED,
              aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  EXPECT_CODE(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
              aclrtMemcpy(g_p, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
  invalid();
  begin(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_CODE(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, aclrtMemset(g_p, 64, 0, 64));
  invalid();
  begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  EXPECT_CODE(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
              aclrtMemcpyAsync(g_p, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  invalid();
  begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CAPTURED, aclrtSynchronizeStream(stream));
  invalid();
  begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CAPTURED, aclrtSynchronizeDevice());
  invalid();
  begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  aclrtStreamStatus query;
  EXPECT_CODE(ACL_ERROR_RT_STREAM_CAPTURED, aclrtStreamQuery(stream, &query));
  invalid();
  begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  EXPECT_OK(aclrtRecordEvent(event, stream));
  EXPECT_CODE(ACL_ERROR_RT_EVENT_CAPTURED, aclrtSynchronizeEvent(event));
  invalid();
  begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  // not recorded in it
  EXPECT_CODE(ACL_ERROR_RT_CAPTURE_DEPENDENCY, aclrtStreamWaitEvent(stream, event));
  invalid();

  // Another thread: a global capture forbids, a thread-local one does not, and a thread may opt
  // out.
  begin(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL);
  std::thread([&] {
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtMemset(g_q, 64, 0, 64));
    EXPECT_CODE(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD, aclmdlRICaptureEnd(stream, &graph));
    EXPECT_OK(aclrtResetDevice(0));
  }).join();
  EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  EXPECT_OK(aclmdlRIDestroy(graph));
  begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  std::thread([&] {
    EXPECT_OK(aclrtSetDevice(0));
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    EXPECT_OK(aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT(mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    EXPECT_OK(aclrtMemset(g_q, 64, 0, 64));
    EXPECT_OK(aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT_CODE(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, aclrtMemset(g_q, 64, 0, 64));
    EXPECT_OK(aclrtResetDevice(0));
  }).join();
  invalid();
  begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  EXPECT_OK(aclrtMemset(g_q, 64, 0, 64));
  EXPECT_OK(aclrtDestroyStream(stream));  // takes the capture along
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtDestroyStream(other));
}

void task_groups() {
  aclrtStream stream = make_stream(), updates = make_stream();
  aclmdlRI graph = nullptr;
  aclrtTaskGrp group = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureTaskGrpBegin(stream));
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(aclmdlRICaptureTaskGrpBegin(stream));
  EXPECT_CODE(ACL_ERROR_STREAM_TASK_GROUP_STATUS, aclmdlRICaptureTaskGrpBegin(stream));
  fill(g_p, 1, stream);
  EXPECT_OK(aclmdlRICaptureTaskGrpEnd(stream, &group));
  EXPECT_CODE(ACL_ERROR_STREAM_TASK_GROUP_STATUS, aclmdlRICaptureTaskGrpEnd(stream, &group));
  EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  EXPECT_OK(aclmdlRIExecute(graph, -1));
  EXPECT(read(g_p, 64)[0] == 1);
  EXPECT_OK(aclmdlRICaptureTaskUpdateBegin(updates, group));
  fill(g_p, 8, updates);
  EXPECT_OK(aclmdlRICaptureTaskUpdateEnd(updates));
  EXPECT_OK(aclrtSynchronizeStream(updates));
  EXPECT(read(g_p, 64)[0] == 1);  // an update runs nothing
  EXPECT_OK(aclmdlRIExecute(graph, -1));
  EXPECT(read(g_p, 64)[0] == 8);
  EXPECT_OK(aclmdlRICaptureTaskUpdateBegin(updates, group));
  // another number of tasks
  EXPECT_CODE(ACL_ERROR_RT_MODEL_UPDATE_FAILED, aclmdlRICaptureTaskUpdateEnd(updates));
  EXPECT_OK(aclmdlRICaptureTaskUpdateBegin(updates, group));
  EXPECT_OK(aclrtMemcpyAsync(g_q, 64, g_p, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, updates));
  // another kind
  EXPECT_CODE(ACL_ERROR_RT_MODEL_UPDATE_FAILED, aclmdlRICaptureTaskUpdateEnd(updates));
  EXPECT_CODE(ACL_ERROR_STREAM_TASK_GROUP_STATUS, aclmdlRICaptureTaskUpdateEnd(updates));
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRICaptureTaskUpdateBegin(updates, group));
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(aclmdlRICaptureTaskGrpBegin(stream));
  EXPECT_CODE(ACL_ERROR_STREAM_TASK_GROUP_INTR, aclmdlRICaptureEnd(stream, &graph));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyStream(updates));
}

void external_events() {
  aclrtStream stream = make_stream(), outside = make_stream();
  aclrtEvent go = nullptr;
  aclmdlRI graph = nullptr;
  EXPECT_OK(aclrtCreateEventWithFlag(&go, ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL));
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(aclrtStreamWaitEvent(stream, go));
  EXPECT_OK(aclrtResetEvent(go, stream));
  fill(g_p, 4, stream);
  EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(aclrtMemset(g_p, 64, 0, 64));
    EXPECT_OK(aclmdlRIExecuteAsync(graph, stream));
    EXPECT_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 30));
    EXPECT(read(g_p, 64)[0] == 0);
    EXPECT_OK(aclrtRecordEvent(go, outside));
    EXPECT_OK(aclrtSynchronizeStream(stream));
    EXPECT(read(g_p, 64)[0] == 4);
  }
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_OK(aclrtDestroyEvent(go));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyStream(outside));
}

void conditional_bodies() {
  aclrtStream stream = make_stream(), body_stream = make_stream();
  aclmdlRI graph = nullptr, body = nullptr, end = nullptr;
  aclmdlRICondHandle condition = nullptr;
  uint64_t *value = nullptr;
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  EXPECT_OK(aclmdlRICaptureGetInfo(stream, nullptr, &graph));
  EXPECT_OK(
      aclmdlRICondHandleCreate(graph, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition));
  EXPECT_OK(aclmdlRICondHandleGetCondPtr(condition, &value));
  aclmdlRICondTaskParams params = {};
  params.handle = condition;
  params.type = ACL_MODEL_RI_COND_TYPE_WHILE;
  params.size = 2;
  params.modelRIArray = &body;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIAddCondTask(params, stream, 0));
  params.size = 1;
  EXPECT_OK(aclmdlRIAddCondTask(params, stream, 0));
  EXPECT_OK(aclmdlRICaptureToModelRIBegin(body_stream, body, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  fill(g_p, 6, body_stream);
  EXPECT_OK(aclrtMemsetAsync(value, 8, 0, 8, body_stream));  // leaves the loop
  EXPECT_OK(aclmdlRICaptureEnd(body_stream, &end));
  EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(aclrtMemset(g_p, 64, 0, 64));
    EXPECT_OK(aclmdlRIExecute(graph, 5000));
    EXPECT(read(g_p, 64)[0] == 6);
  }
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRICondHandleGetCondPtr(condition, &value));
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtDestroyStream(body_stream));
}

void a_fault_in_a_graph() {
  aclrtStream stream = make_stream();
  aclmdlRI graph = nullptr;
  void *gone = nullptr;
  EXPECT_OK(aclrtMalloc(&gone, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  fill(static_cast<unsigned char *>(gone), 1, stream);
  EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  EXPECT_OK(aclrtFree(gone));
  EXPECT_OK(aclmdlRIExecuteAsync(graph, stream));
  EXPECT_CODE(ACL_ERROR_RT_MODEL_EXECUTE, aclrtSynchronizeStream(stream));
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_OK(aclrtDestroyStream(stream));
}

}  // namespace

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtMalloc(reinterpret_cast<void **>(&g_p), 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMalloc(reinterpret_cast<void **>(&g_q), 64, ACL_MEM_MALLOC_HUGE_FIRST));
  records_and_repeats();
  side_streams_join();
  refusals();
  task_groups();
  external_events();
  conditional_bodies();
  a_fault_in_a_graph();
  EXPECT_OK(aclrtFree(g_p));
  EXPECT_OK(aclrtFree(g_q));
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
