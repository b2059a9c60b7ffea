// SPDX-License-Identifier: Apache-2.0
// Model instances built by hand, and listeners to dumps.
#include <fstream>
#include <string>

#include "acl/acl_dump.h"
#include "expect.h"

namespace {

constexpr size_t kBytes = 64;

struct Device {
  aclrtStream stream = nullptr, other = nullptr, plain = nullptr;
  void *data = nullptr;
};

unsigned char first_byte(const Device &d) {
  unsigned char byte = 0;
  EXPECT_OK(aclrtMemcpy(&byte, 1, d.data, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  return byte;
}

void build_and_run(const Device &d) {
  aclmdlRI model = nullptr;
  EXPECT_OK(aclrtMemset(d.data, kBytes, 1, kBytes));
  EXPECT_OK(aclmdlRIBuildBegin(&model, 0));
  EXPECT_OK(aclmdlRIBindStream(model, d.stream, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_OK(aclrtMemsetAsync(d.data, kBytes, 7, kBytes, d.stream));
  EXPECT(first_byte(d) == 1);  // nothing runs before the instance is executed
  EXPECT(aclmdlRIExecuteAsync(model, d.plain) != 0);
  EXPECT_OK(aclmdlRIEndTask(model, d.stream));
  EXPECT(aclmdlRIExecuteAsync(model, d.plain) != 0);
  EXPECT_OK(aclmdlRIBuildEnd(model, nullptr));
  EXPECT(first_byte(d) == 1);
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(aclrtMemset(d.data, kBytes, 1, kBytes));
    EXPECT_OK(aclmdlRIExecuteAsync(model, d.plain));
    EXPECT_OK(aclrtSynchronizeStream(d.plain));
    EXPECT(first_byte(d) == 7);
  }
  EXPECT_OK(aclrtMemset(d.data, kBytes, 1, kBytes));
  EXPECT_OK(aclmdlRIExecute(model, 20000));
  EXPECT(first_byte(d) == 7);
  // A stream belongs to one instance until it is unbound.
  aclmdlRI next = nullptr;
  EXPECT_OK(aclmdlRIBuildBegin(&next, 0));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL,
              aclmdlRIBindStream(next, d.stream, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_OK(aclmdlRIUnbindStream(model, d.stream));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclmdlRIUnbindStream(model, d.stream));
  EXPECT_OK(aclmdlRIBindStream(next, d.stream, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_OK(aclmdlRIEndTask(next, d.stream));
  EXPECT_OK(aclmdlRIUnbindStream(next, d.stream));
  EXPECT_OK(aclmdlRIBuildEnd(next, nullptr));
  EXPECT_OK(aclmdlRIExecute(next, 20000));  // of nothing
  EXPECT_OK(aclmdlRIDestroy(next));
  EXPECT_OK(aclmdlRIExecute(model, 20000));
  EXPECT_OK(aclmdlRIDestroy(model));
  EXPECT(aclmdlRIBuildEnd(model, nullptr) != 0);
}

void refusals(const Device &d) {
  aclmdlRI model = nullptr, captured = nullptr;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRIBuildBegin(nullptr, 0));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIBuildBegin(&model, 1));
  EXPECT_OK(aclmdlRIBuildBegin(&model, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclmdlRIBindStream(model, nullptr, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclmdlRIBindStream(model, d.plain, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIBindStream(model, d.stream, 5));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIBuildEnd(model, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRIEndTask(model, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclmdlRIEndTask(model, d.stream));
  EXPECT_OK(aclmdlRIBindStream(model, d.stream, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIBuildEnd(model, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIUnbindStream(model, d.stream));
  EXPECT_CODE(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIDestroy(model));
  EXPECT_OK(aclmdlRIEndTask(model, d.stream));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIEndTask(model, d.stream));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRIBuildEnd(model, model));
  EXPECT_OK(aclmdlRIBuildEnd(model, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIBuildEnd(model, nullptr));
  EXPECT_OK(aclmdlRIDestroy(model));
  // What was captured was not built.
  EXPECT_OK(aclmdlRICaptureBegin(d.plain, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  EXPECT_OK(aclmdlRICaptureEnd(d.plain, &captured));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclmdlRIBindStream(captured, d.stream, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIBuildEnd(captured, nullptr));
  EXPECT_OK(aclmdlRIDestroy(captured));
  EXPECT(aclmdlRIBuildEnd(nullptr, nullptr) != 0);
  // The stream goes while an instance is being built on it.
  aclrtStream gone = nullptr;
  EXPECT_OK(aclrtCreateStreamWithConfig(&gone, 0, ACL_STREAM_PERSISTENT));
  EXPECT_OK(aclmdlRIBuildBegin(&model, 0));
  EXPECT_OK(aclmdlRIBindStream(model, gone, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_OK(aclrtDestroyStreamForce(gone));
  EXPECT(aclmdlRIEndTask(model, gone) != 0);
}

// A task of random numbers gets another seed, place and length between two executions.
void update_random(const Device &d) {
  constexpr uint64_t kCount = 8;
  float *first = nullptr;
  char *memory = nullptr;
  EXPECT_OK(aclrtMalloc(reinterpret_cast<void **>(&memory), 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(memory, 4096, 0, 4096));
  first = reinterpret_cast<float *>(memory);
  char *const second = memory + 256, *const counter = memory + 512, *const source = memory + 1024;
  const auto value = [](auto number) {
    aclrtRandomParaInfo made = {};
    made.size = sizeof number;
    memcpy(made.valueOrAddr, &number, sizeof number);
    return made;
  };
  aclrtRandomNumTaskInfo info = {};
  info.dataType = ACL_FLOAT;
  info.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
  info.randomNumFuncParaInfo.paramInfo.uniformDisInfo.min = value(1.0f);
  info.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = value(2.0f);
  info.randomResultAddr = first;
  info.randomCounterAddr = counter;
  info.randomSeed = value(uint64_t{5});
  info.randomNum = value(kCount);

  aclmdlRI model = nullptr;
  uint32_t number = 0;
  EXPECT_OK(aclmdlRIBuildBegin(&model, 0));
  EXPECT_OK(aclmdlRIBindStream(model, d.stream, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_OK(aclrtMemsetAsync(d.data, kBytes, 7, kBytes, d.stream));
  EXPECT_OK(aclrtRandomNumAsync(&info, d.stream, nullptr));
  EXPECT_OK(aclrtGetThreadLastTaskId(&number));
  EXPECT_OK(aclmdlRIEndTask(model, d.stream));
  EXPECT_OK(aclmdlRIBuildEnd(model, nullptr));
  EXPECT_OK(aclmdlRIExecute(model, 20000));

  info.randomResultAddr = second;
  info.randomNum = value(kCount / 2);
  info.dataType = ACL_FLOAT16;  // of this nothing is taken over
  EXPECT_OK(aclrtMemcpy(source, sizeof info, &info, sizeof info, ACL_MEMCPY_HOST_TO_DEVICE));
  aclrtTaskUpdateInfo update = {};
  update.id = ACL_RT_UPDATE_RANDOM_TASK;
  update.val.randomTaskAttr.srcAddr = source;
  update.val.randomTaskAttr.size = sizeof info;
  EXPECT_OK(aclrtTaskUpdateAsync(d.stream, number, &update, d.plain));
  EXPECT_OK(aclrtSynchronizeStream(d.plain));
  EXPECT_OK(aclmdlRIExecute(model, 20000));
  float before[kCount], after[kCount];
  EXPECT_OK(aclrtMemcpy(before, sizeof before, first, sizeof before, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_OK(aclrtMemcpy(after, sizeof after, second, sizeof after, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(before[0] >= 1 && before[0] < 2 && memcmp(before, after, sizeof after / 2) == 0);
  for (uint64_t i = 0; i < kCount; ++i) EXPECT(i < kCount / 2 ? after[i] >= 1 : after[i] == 0);

  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtTaskUpdateAsync(d.stream, number, nullptr, d.plain));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtTaskUpdateAsync(d.stream, number + 1000, &update, d.plain));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtTaskUpdateAsync(d.plain, number, &update, d.plain));
  update.val.randomTaskAttr.size = 8;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtTaskUpdateAsync(d.stream, number, &update, d.plain));
  update.id = ACL_RT_UPDATE_AIC_AIV_TASK;
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              aclrtTaskUpdateAsync(d.stream, number, &update, d.plain));
  EXPECT_OK(aclmdlRIUnbindStream(model, d.stream));
  EXPECT_OK(aclmdlRIDestroy(model));
  update.id = ACL_RT_UPDATE_RANDOM_TASK;
  update.val.randomTaskAttr.size = sizeof info;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtTaskUpdateAsync(d.stream, number, &update, d.plain));
  EXPECT_OK(aclrtFree(memory));
}

int32_t listen(const acldumpChunk *, int32_t) { return 0; }

void dump_listeners(const std::string &directory) {
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acldumpRegCallback(nullptr, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acldumpRegCallback(listen, 1));
  EXPECT_OK(acldumpRegCallback(listen, 0));
  EXPECT_CODE(ACL_ERROR_REPEAT_SUBSCRIBE, acldumpRegCallback(listen, 0));
  acldumpUnregCallback();
  acldumpUnregCallback();
  EXPECT_OK(acldumpRegCallback(listen, 0));
  acldumpUnregCallback();
  // With dumps to files as well, the function of the program takes their place.
  EXPECT_OK(aclFinalize());
  const std::string path = directory + "/dump.json";
  std::ofstream(path) << "{\"dump\": {\"dump_path\": \"" << directory
                      << "\", \"dump_op_switch\": \"on\"}}";
  EXPECT_OK(aclInit(path.c_str()));
  EXPECT_OK(acldumpRegCallback(listen, 0));
  acldumpUnregCallback();
  EXPECT_OK(aclFinalize());
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(acldumpRegCallback(listen, 0));
  acldumpUnregCallback();
}

}  // namespace

int main(int, char **argv) {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  Device d;
  EXPECT_OK(aclrtCreateStreamWithConfig(&d.stream, 0, ACL_STREAM_PERSISTENT));
  EXPECT_OK(aclrtCreateStreamWithConfig(&d.other, 0, ACL_STREAM_PERSISTENT));
  EXPECT_OK(aclrtCreateStream(&d.plain));
  EXPECT_OK(aclrtMalloc(&d.data, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  build_and_run(d);
  update_random(d);
  refusals(d);
  EXPECT_OK(aclrtFree(d.data));
  for (aclrtStream stream : {d.stream, d.other, d.plain}) EXPECT_OK(aclrtDestroyStream(stream));
  dump_listeners(argv[1]);
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
