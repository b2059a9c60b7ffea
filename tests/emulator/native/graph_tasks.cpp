// SPDX-License-Identifier: Apache-2.0
// Tasks of model instances as objects: their types, which run no longer, and new arguments.
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <thread>
#include <vector>

#include "operands.h"

namespace {

constexpr int32_t kLimitMs = 60000;

struct Device {
  aclrtStream stream = nullptr, other = nullptr, plain = nullptr;
  uint64_t *words = nullptr;  // four
};

uint64_t word(const Device &d, int i) {
  uint64_t value = 0;
  EXPECT_OK(
      aclrtMemcpy(&value, sizeof value, d.words + i, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  return value;
}

void clear(const Device &d) {
  EXPECT_OK(aclrtMemset(d.words, 4 * sizeof(uint64_t), 0, 4 * sizeof(uint64_t)));
}

std::vector<aclrtStream> streams_of(aclmdlRI model) {
  uint32_t count = 77;
  EXPECT_OK(aclmdlRIGetStreams(model, nullptr, &count));
  std::vector<aclrtStream> all(count);
  EXPECT_OK(aclmdlRIGetStreams(model, all.data(), &count));
  EXPECT(count == all.size());
  return all;
}

std::vector<aclmdlRITask> tasks_of(aclrtStream stream) {
  uint32_t count = 0;
  EXPECT_OK(aclmdlRIGetTasksByStream(stream, nullptr, &count));
  std::vector<aclmdlRITask> all(count), again(count);
  EXPECT_OK(aclmdlRIGetTasksByStream(stream, all.data(), &count));
  EXPECT_OK(aclmdlRIGetTasksByStream(stream, again.data(), &count));
  EXPECT(all == again);
  return all;
}

aclmdlRITaskType type_of(aclmdlRITask task) {
  aclmdlRITaskType type = ACL_MODEL_RI_TASK_DEFAULT;
  EXPECT_OK(aclmdlRITaskGetType(task, &type));
  return type;
}

void expect_types(aclrtStream stream, std::initializer_list<aclmdlRITaskType> types) {
  const std::vector<aclmdlRITask> tasks = tasks_of(stream);
  EXPECT(tasks.size() == types.size());
  uint32_t number = 0;
  for (size_t i = 0; i < tasks.size(); ++i) {
    EXPECT(type_of(tasks[i]) == types.begin()[i]);
    EXPECT_OK(aclmdlRITaskGetSeqId(tasks[i], &number));
    EXPECT(number == i + 1);
  }
}

// An operator, a copy, events between two streams, numbers written and waited for.
void types(const Device &d) {
  Vector a({1, 2}), b({3, 4}), out({0, 0});
  aclrtEvent event = nullptr, back = nullptr;
  EXPECT_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  EXPECT_OK(aclrtCreateEventWithFlag(&back, ACL_EVENT_SYNC));
  uint64_t size = 0;
  EXPECT_OK(aclmdlRICaptureBegin(d.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  aclOpExecutor *executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, d.stream));
  EXPECT_OK(aclrtRecordEvent(event, d.stream));
  EXPECT_OK(aclrtStreamWaitEvent(d.other, event));
  EXPECT_OK(aclrtResetEvent(event, d.other));
  EXPECT_OK(aclrtValueWrite(d.words, 5, 0, d.other));
  EXPECT_OK(aclrtRecordEvent(back, d.other));
  EXPECT_OK(aclrtValueWait(d.words, 5, ACL_STREAM_WAIT_VALUE_EQ, d.stream));
  EXPECT_OK(aclrtMemsetAsync(d.words + 1, 8, 1, 8, d.stream));
  EXPECT_OK(aclrtStreamWaitEvent(d.stream, back));
  aclmdlRI model = nullptr;
  EXPECT_OK(aclmdlRICaptureEnd(d.stream, &model));
  const std::vector<aclrtStream> streams = streams_of(model);
  EXPECT(streams.size() == 2 && streams == streams_of(model));
  expect_types(streams[0], {ACL_MODEL_RI_TASK_KERNEL, ACL_MODEL_RI_TASK_EVENT_RECORD,
                            ACL_MODEL_RI_TASK_VALUE_WAIT, ACL_MODEL_RI_TASK_DEFAULT,
                            ACL_MODEL_RI_TASK_EVENT_WAIT});
  expect_types(streams[1], {ACL_MODEL_RI_TASK_EVENT_WAIT, ACL_MODEL_RI_TASK_EVENT_RESET,
                            ACL_MODEL_RI_TASK_VALUE_WRITE, ACL_MODEL_RI_TASK_EVENT_RECORD});
  for (int i = 0; i < 2; ++i) {
    clear(d);
    EXPECT_OK(aclmdlRIExecute(model, kLimitMs));
    EXPECT(word(d, 0) == 5 && word(d, 1) == 0x0101010101010101u);
  }
  aclmdlRITaskParams params;
  const std::vector<aclmdlRITask> tasks = tasks_of(streams[0]);
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclmdlRITaskGetParams(tasks[0], &params));
  EXPECT_OK(aclmdlRITaskGetParams(tasks[1], &params));
  EXPECT(params.type == ACL_MODEL_RI_TASK_EVENT_RECORD && params.taskGrp == nullptr);
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclmdlRITaskSetParams(tasks[1], &params));
  // A wait that nothing would end.
  EXPECT_OK(aclmdlRITaskDisable(tasks[1]));
  EXPECT_CODE(ACL_ERROR_RT_MODEL_UPDATE_FAILED, aclmdlRIUpdate(model));
  EXPECT_OK(aclmdlRITaskDisable(tasks_of(streams[1])[0]));
  EXPECT_OK(aclmdlRIUpdate(model));
  clear(d);
  EXPECT_OK(aclmdlRIExecute(model, kLimitMs));
  EXPECT(word(d, 0) == 5);
  EXPECT_OK(aclmdlRIDestroy(model));
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtDestroyEvent(back));
}

void changes(const Device &d) {
  EXPECT_OK(aclmdlRICaptureBegin(d.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  EXPECT_OK(aclmdlRICaptureTaskGrpBegin(d.stream));
  EXPECT_OK(aclrtValueWrite(d.words, 1, 0, d.stream));
  aclrtTaskGrp group = nullptr;
  EXPECT_OK(aclmdlRICaptureTaskGrpEnd(d.stream, &group));
  EXPECT_OK(aclrtValueWait(d.words, 1, ACL_STREAM_WAIT_VALUE_GEQ, d.stream));
  EXPECT_OK(aclrtMemsetAsync(d.words + 3, 8, 1, 8, d.stream));
  aclmdlRI model = nullptr;
  EXPECT_OK(aclmdlRICaptureEnd(d.stream, &model));
  const std::vector<aclmdlRITask> tasks = tasks_of(streams_of(model)[0]);
  aclmdlRITaskParams write, wait;
  EXPECT_OK(aclmdlRITaskGetParams(tasks[0], &write));
  EXPECT(write.type == ACL_MODEL_RI_TASK_VALUE_WRITE && write.taskGrp == group);
  EXPECT(write.valueWriteTaskParams.devAddr == d.words && write.valueWriteTaskParams.value == 1);
  EXPECT_OK(aclmdlRITaskGetParams(tasks[1], &wait));
  EXPECT(wait.type == ACL_MODEL_RI_TASK_VALUE_WAIT && wait.taskGrp == nullptr);
  EXPECT(wait.valueWaitTaskParams.devAddr == d.words && wait.valueWaitTaskParams.value == 1 &&
         wait.valueWaitTaskParams.flag == ACL_STREAM_WAIT_VALUE_GEQ);

  write.valueWriteTaskParams = {d.words + 2, 9};
  wait.valueWaitTaskParams = {d.words + 2, 9, ACL_STREAM_WAIT_VALUE_EQ};
  EXPECT_OK(aclmdlRITaskSetParams(tasks[0], &write));
  EXPECT_OK(aclmdlRITaskSetParams(tasks[1], &wait));
  clear(d);
  EXPECT_OK(aclmdlRIExecute(model, kLimitMs));
  EXPECT(word(d, 0) == 1 && word(d, 2) == 0);  // until the instance is updated
  EXPECT_OK(aclmdlRIUpdate(model));
  clear(d);
  EXPECT_OK(aclmdlRIExecute(model, kLimitMs));
  EXPECT(word(d, 0) == 0 && word(d, 2) == 9 && word(d, 3) != 0);
  EXPECT_OK(aclmdlRITaskGetParams(tasks[0], &write));
  EXPECT(write.valueWriteTaskParams.devAddr == d.words + 2 &&
         write.valueWriteTaskParams.value == 9);
  // The update of a task group is another way to the same task.
  EXPECT_OK(aclmdlRICaptureTaskUpdateBegin(d.other, group));
  EXPECT_OK(aclrtValueWrite(d.words + 2, 9, 0, d.other));
  EXPECT_OK(aclmdlRICaptureTaskUpdateEnd(d.other));
  EXPECT_OK(aclrtSynchronizeStream(d.other));

  EXPECT_OK(aclmdlRITaskDisable(tasks[2]));
  clear(d);
  EXPECT_OK(aclmdlRIExecute(model, kLimitMs));
  EXPECT(word(d, 3) != 0);
  EXPECT_OK(aclmdlRIUpdate(model));
  clear(d);
  EXPECT_OK(aclmdlRIExecute(model, kLimitMs));
  EXPECT(word(d, 2) == 9 && word(d, 3) == 0);

  // While it waits it runs.
  wait.valueWaitTaskParams = {d.words, 3, ACL_STREAM_WAIT_VALUE_EQ};
  EXPECT_OK(aclmdlRITaskSetParams(tasks[1], &wait));
  EXPECT_OK(aclmdlRIUpdate(model));
  clear(d);
  EXPECT_OK(aclmdlRIExecuteAsync(model, d.plain));
  while (word(d, 2) != 9) {
  }
  EXPECT_CODE(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIUpdate(model));
  EXPECT_OK(aclrtValueWrite(d.words, 3, 0, d.other));
  EXPECT_OK(aclrtSynchronizeStream(d.other));
  EXPECT_OK(aclrtSynchronizeStream(d.plain));
  EXPECT_OK(aclmdlRIUpdate(model));

  write.type = ACL_MODEL_RI_TASK_VALUE_WAIT;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRITaskSetParams(tasks[0], &write));
  write.type = ACL_MODEL_RI_TASK_VALUE_WRITE;
  write.valueWriteTaskParams.devAddr = &write;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRITaskSetParams(tasks[0], &write));
  wait.valueWaitTaskParams.flag = 9;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRITaskSetParams(tasks[1], &wait));
  EXPECT_OK(aclmdlRIDestroy(model));
  aclmdlRITaskType type;
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRITaskGetType(tasks[0], &type));
}

// Threads that set arguments, read them, and make them hold. Word i is always written with i + 1,
// so an address and a number that do not belong together show.
void threads(const Device &d) {
  constexpr int kTurns = 20000;
  EXPECT_OK(aclmdlRICaptureBegin(d.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  EXPECT_OK(aclrtValueWrite(d.words, 1, 0, d.stream));
  EXPECT_OK(aclrtMemsetAsync(d.words + 3, 8, 1, 8, d.stream));
  aclmdlRI model = nullptr;
  EXPECT_OK(aclmdlRICaptureEnd(d.stream, &model));
  const std::vector<aclmdlRITask> tasks = tasks_of(streams_of(model)[0]);
  std::atomic<int> setting{2};
  const auto set = [&] {
    for (int i = 0; i < kTurns; ++i) {
      aclmdlRITaskParams params{};
      params.type = ACL_MODEL_RI_TASK_VALUE_WRITE;
      params.valueWriteTaskParams = {d.words + i % 3, static_cast<uint64_t>(i % 3 + 1)};
      EXPECT_OK(aclmdlRITaskSetParams(tasks[0], &params));
      EXPECT_OK(aclmdlRITaskDisable(tasks[1]));
    }
    --setting;
  };
  std::vector<std::thread> workers;
  workers.emplace_back(set);
  workers.emplace_back(set);
  workers.emplace_back([&] {
    while (setting.load() != 0) EXPECT_OK(aclmdlRIUpdate(model));
  });
  while (setting.load() != 0) {
    aclmdlRITaskParams params;
    EXPECT_OK(aclmdlRITaskGetParams(tasks[0], &params));
    const auto &write = params.valueWriteTaskParams;
    const auto *const at = static_cast<const uint64_t *>(write.devAddr);
    EXPECT(static_cast<uint64_t>(at - d.words) + 1 == write.value);
  }
  for (std::thread &worker : workers) worker.join();
  EXPECT_OK(aclmdlRIUpdate(model));
  clear(d);
  EXPECT_OK(aclmdlRIExecute(model, kLimitMs));
  EXPECT(word(d, 0) + word(d, 1) + word(d, 2) != 0 && word(d, 3) == 0);
  EXPECT_OK(aclmdlRIDestroy(model));
}

void refusals(const Device &d) {
  uint32_t count = 0;
  aclmdlRI model = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIGetStreams(nullptr, nullptr, &count));
  EXPECT_OK(aclmdlRIBuildBegin(&model, 0));
  EXPECT_CODE(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIGetStreams(model, nullptr, &count));
  EXPECT_CODE(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIUpdate(model));
  EXPECT_OK(aclmdlRIBindStream(model, d.stream, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_OK(aclrtValueWrite(d.words, 1, 0, d.stream));
  EXPECT_OK(aclmdlRIEndTask(model, d.stream));
  EXPECT_OK(aclmdlRIBuildEnd(model, nullptr));
  EXPECT_OK(aclmdlRIUnbindStream(model, d.stream));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRIGetStreams(model, nullptr, nullptr));
  aclrtStream stream = nullptr;
  count = 0;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIGetStreams(model, &stream, &count));
  EXPECT(count == 1);
  EXPECT_OK(aclmdlRIGetStreams(model, &stream, &count));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRIGetTasksByStream(nullptr, nullptr, &count));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRIGetTasksByStream(stream, nullptr, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclmdlRIGetTasksByStream(d.plain, nullptr, &count));
  aclmdlRITask task = nullptr;
  count = 0;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIGetTasksByStream(stream, &task, &count));
  EXPECT_OK(aclmdlRIGetTasksByStream(stream, &task, &count));
  aclmdlRITaskParams params;
  aclmdlRITaskType type;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRITaskGetType(task, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRITaskGetType(nullptr, &type));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRITaskGetType(model, &type));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRITaskGetSeqId(task, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRITaskGetSeqId(model, &count));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRITaskGetParams(task, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRITaskGetParams(nullptr, &params));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRITaskSetParams(task, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRITaskDisable(nullptr));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRITaskDisable(stream));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIUpdate(nullptr));
  EXPECT_OK(aclmdlRIDestroy(model));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclmdlRIGetTasksByStream(stream, nullptr, &count));
}

}  // namespace

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  Device d;
  EXPECT_OK(aclrtCreateStreamWithConfig(&d.stream, 0, ACL_STREAM_PERSISTENT));
  EXPECT_OK(aclrtCreateStream(&d.other));
  EXPECT_OK(aclrtCreateStream(&d.plain));
  EXPECT_OK(aclrtMalloc(reinterpret_cast<void **>(&d.words), 4 * sizeof(uint64_t),
                        ACL_MEM_MALLOC_HUGE_FIRST));
  types(d);
  changes(d);
  threads(d);
  refusals(d);
  EXPECT_OK(aclrtFree(d.words));
  for (aclrtStream stream : {d.stream, d.other, d.plain}) EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
