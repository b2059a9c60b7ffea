// SPDX-License-Identifier: Apache-2.0
// Every family of the runtime with each of its allocations refused in turn.
#include "scarce.h"

#include <cstring>

#include "acl/acl_mdl.h"
#include "acl/acl_prof.h"

using scarce::every_allocation;
using scarce::kNull;

namespace {

aclrtStream g_stream = nullptr;

int made(const void *handle) { return handle != nullptr ? 0 : kNull; }

void nothing(void *) {}

void memory() {
  void *p = nullptr;
  const auto release = [&] { EXPECT_OK(aclrtFree(p)); };
  every_allocation(
      "aclrtMalloc", [&] { return aclrtMalloc(&p, 4096, ACL_MEM_MALLOC_HUGE_FIRST); }, release);
  every_allocation(
      "aclrtMallocHost", [&] { return aclrtMallocHost(&p, 4096); },
      [&] { EXPECT_OK(aclrtFreeHost(p)); });
  p = nullptr;
  every_allocation(
      "aclrtFree",
      [&] {
        if (p == nullptr) {
          const long left = scarce::g_left.exchange(0);
          EXPECT_OK(aclrtMalloc(&p, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
          scarce::g_left = left;
        }
        const int code = aclrtFree(p);
        if (code == 0) p = nullptr;
        return code;
      },
      [] {});
  alignas(4096) static char host[4096];
  void *seen = nullptr;
  every_allocation(
      "aclrtHostRegister",
      [&] { return aclrtHostRegister(host, sizeof host, ACL_HOST_REGISTER_MAPPED, &seen); },
      [&] { EXPECT_OK(aclrtHostUnregister(host)); });
  void *a = nullptr, *b = nullptr;
  EXPECT_OK(aclrtMalloc(&a, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMalloc(&b, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  every_allocation(
      "aclrtMemcpy", [&] { return aclrtMemcpy(a, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE); },
      [] {});
  every_allocation(
      "aclrtMemcpyAsync",
      [&] {
        const int code = aclrtMemcpyAsync(a, 4096, b, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE, g_stream);
        return code != 0 ? code : scarce::wait_for(g_stream);
      },
      [] {});
  every_allocation(
      "aclrtMemsetAsync",
      [&] {
        const int code = aclrtMemsetAsync(a, 4096, 1, 4096, g_stream);
        return code != 0 ? code : scarce::wait_for(g_stream);
      },
      [] {});
  char key[65] = {};
  every_allocation(
      "aclrtIpcMemGetExportKey",
      [&] { return aclrtIpcMemGetExportKey(a, 4096, key, sizeof key, 0); },
      [&] { EXPECT_OK(aclrtIpcMemClose(key)); });
  EXPECT_OK(aclrtFree(a));
  EXPECT_OK(aclrtFree(b));
}

void mapping() {
  aclrtPhysicalMemProp property{};
  property.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  property.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  property.memAttr = ACL_HBM_MEM_HUGE;
  property.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  size_t unit = 0;
  EXPECT_OK(
      aclrtMemGetAllocationGranularity(&property, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &unit));
  aclrtDrvMemHandle handle = nullptr;
  every_allocation(
      "aclrtMallocPhysical", [&] { return aclrtMallocPhysical(&handle, unit, &property, 0); },
      [&] { EXPECT_OK(aclrtFreePhysical(handle)); });
  void *range = nullptr;
  every_allocation(
      "aclrtReserveMemAddress", [&] { return aclrtReserveMemAddress(&range, unit, 0, nullptr, 1); },
      [&] { EXPECT_OK(aclrtReleaseMemAddress(range)); });
  EXPECT_OK(aclrtMallocPhysical(&handle, unit, &property, 0));
  EXPECT_OK(aclrtReserveMemAddress(&range, unit, 0, nullptr, 1));
  every_allocation(
      "aclrtMapMem", [&] { return aclrtMapMem(range, unit, 0, handle, 0); },
      [&] { EXPECT_OK(aclrtUnmapMem(range)); });
  EXPECT_OK(aclrtReleaseMemAddress(range));
  EXPECT_OK(aclrtFreePhysical(handle));
}

void streams_and_events() {
  aclrtStream stream = nullptr;
  const auto end = [&] { EXPECT_OK(aclrtDestroyStream(stream)); };
  every_allocation("aclrtCreateStream", [&] { return aclrtCreateStream(&stream); }, end);
  every_allocation(
      "the first work of a stream",
      [&] {
        int code = aclrtCreateStream(&stream);
        if (code != 0) return code;
        code = aclrtLaunchHostFunc(stream, nothing, nullptr);
        if (code == 0) code = aclrtSynchronizeStream(stream);
        if (code != 0) EXPECT(aclrtDestroyStream(stream) == 0);
        return code;
      },
      end);
  every_allocation(
      "a hundred tasks",
      [&] {
        for (int i = 0; i < 100; ++i) {
          if (const int code = aclrtLaunchHostFunc(g_stream, nothing, nullptr)) {
            EXPECT(aclrtSynchronizeStream(g_stream) == 0);
            return code;
          }
        }
        return scarce::wait_for(g_stream);
      },
      [] {});
  aclrtEvent event = nullptr;
  const auto forget = [&] { EXPECT_OK(aclrtDestroyEvent(event)); };
  every_allocation("aclrtCreateEvent", [&] { return aclrtCreateEvent(&event); }, forget);
  every_allocation(
      "aclrtCreateEventWithFlag", [&] { return aclrtCreateEventWithFlag(&event, ACL_EVENT_IPC); },
      forget);
  EXPECT_OK(aclrtCreateEvent(&event));
  every_allocation(
      "aclrtRecordEvent",
      [&] {
        int code = aclrtRecordEvent(event, g_stream);
        if (code == 0) code = aclrtStreamWaitEvent(g_stream, event);
        if (code == 0) code = aclrtSynchronizeEvent(event);
        return code;
      },
      [] {});
  forget();
  aclrtNotify notify = nullptr;
  every_allocation(
      "aclrtCreateNotify", [&] { return aclrtCreateNotify(&notify, 0); },
      [&] { EXPECT_OK(aclrtDestroyNotify(notify)); });
  aclrtContext context = nullptr;
  every_allocation(
      "aclrtCreateContext", [&] { return aclrtCreateContext(&context, 0); },
      [&] {
        EXPECT_OK(aclrtDestroyContext(context));
        EXPECT_OK(aclrtSetDevice(0));
      });
  const auto self = static_cast<uint64_t>(pthread_self());
  every_allocation(
      "aclrtSubscribeReport", [&] { return aclrtSubscribeReport(self, g_stream); },
      [&] { EXPECT_OK(aclrtUnSubscribeReport(self, g_stream)); });
  every_allocation(
      "aclrtLaunchCallback",
      [&] {
        const long left = scarce::g_left.exchange(0);
        EXPECT_OK(aclrtSubscribeReport(self, g_stream));
        scarce::g_left = left;
        int code = aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_NO_BLOCK, g_stream);
        if (code == 0) code = scarce::wait_for(g_stream);
        if (code == 0) code = aclrtProcessReport(10000);
        if (code != 0) (void)aclrtUnSubscribeReport(self, g_stream);
        return code;
      },
      [&] { EXPECT_OK(aclrtUnSubscribeReport(self, g_stream)); });
  every_allocation("aclrtSynchronizeDevice", [] { return aclrtSynchronizeDevice(); }, [] {});
}

// A capture of two streams, so that a task, an event and a branch are recorded.
void graphs() {
  aclrtStream side = nullptr;
  aclrtEvent fork = nullptr, join = nullptr;
  EXPECT_OK(aclrtCreateStream(&side));
  EXPECT_OK(aclrtCreateEventWithFlag(&fork, ACL_EVENT_SYNC));
  EXPECT_OK(aclrtCreateEventWithFlag(&join, ACL_EVENT_SYNC));
  void *data = nullptr;
  EXPECT_OK(aclrtMalloc(&data, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  aclmdlRI graph = nullptr;
  const auto record = [&] {
    int code = aclrtMemsetAsync(data, 4096, 1, 4096, g_stream);
    if (code == 0) code = aclrtRecordEvent(fork, g_stream);
    if (code == 0) code = aclrtStreamWaitEvent(side, fork);
    if (code == 0) code = aclrtMemsetAsync(data, 64, 2, 64, side);
    if (code == 0) code = aclrtRecordEvent(join, side);
    if (code == 0) code = aclrtStreamWaitEvent(g_stream, join);
    return code;
  };
  const auto release = [&] { EXPECT_OK(aclmdlRIDestroy(graph)); };
  every_allocation(
      "a capture",
      [&] {
        if (const int code = aclmdlRICaptureBegin(g_stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED))
          return code;
        const int code = record();
        const int ended = aclmdlRICaptureEnd(g_stream, &graph);
        if (code == 0) return ended;
        if (ended == 0) EXPECT(aclmdlRIDestroy(graph) == 0);
        return code;
      },
      release);
  EXPECT_OK(aclmdlRICaptureBegin(g_stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  EXPECT_OK(record());
  EXPECT_OK(aclmdlRICaptureEnd(g_stream, &graph));
  every_allocation(
      "a replay",
      [&] {
        const int code = aclmdlRIExecuteAsync(graph, g_stream);
        return code != 0 ? code : scarce::wait_for(g_stream);
      },
      [] {});
  release();
  EXPECT_OK(aclrtFree(data));
  EXPECT_OK(aclrtDestroyEvent(fork));
  EXPECT_OK(aclrtDestroyEvent(join));
  EXPECT_OK(aclrtDestroyStream(side));
}

void descriptions() {
  aclDataBuffer *buffer = nullptr;
  char bytes[64];
  every_allocation(
      "aclCreateDataBuffer",
      [&] { return made(buffer = aclCreateDataBuffer(bytes, sizeof bytes)); },
      [&] { EXPECT_OK(aclDestroyDataBuffer(buffer)); });
  const int64_t dims[] = {2, 3, 4};
  aclTensorDesc *description = nullptr;
  every_allocation(
      "aclCreateTensorDesc",
      [&] { return made(description = aclCreateTensorDesc(ACL_FLOAT, 3, dims, ACL_FORMAT_ND)); },
      [&] { aclDestroyTensorDesc(description); });
  uint32_t devices[] = {0};
  aclprofConfig *config = nullptr;
  every_allocation(
      "aclprofCreateConfig",
      [&] {
        return made(
            config = aclprofCreateConfig(devices, 1, ACL_AICORE_NONE, nullptr, ACL_PROF_TASK_TIME));
      },
      [&] { EXPECT_OK(aclprofDestroyConfig(config)); });
}

// The objects that operators take.
void objects() {
  const int64_t shape[] = {2, 3};
  float number = 1;
  char memory[64];
  aclTensor *tensor = nullptr;
  const auto create = [&] {
    return aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 2, memory);
  };
  every_allocation(
      "aclCreateTensor", [&] { return made(tensor = create()); },
      [&] { EXPECT_OK(aclDestroyTensor(tensor)); });
  aclScalar *scalar = nullptr;
  every_allocation(
      "aclCreateScalar", [&] { return made(scalar = aclCreateScalar(&number, ACL_FLOAT)); },
      [&] { EXPECT_OK(aclDestroyScalar(scalar)); });
  aclIntArray *ints = nullptr;
  every_allocation(
      "aclCreateIntArray", [&] { return made(ints = aclCreateIntArray(shape, 2)); },
      [&] { EXPECT_OK(aclDestroyIntArray(ints)); });
  aclFloatArray *floats = nullptr;
  every_allocation(
      "aclCreateFloatArray", [&] { return made(floats = aclCreateFloatArray(&number, 1)); },
      [&] { EXPECT_OK(aclDestroyFloatArray(floats)); });
  const bool truth = true;
  aclBoolArray *bools = nullptr;
  every_allocation(
      "aclCreateBoolArray", [&] { return made(bools = aclCreateBoolArray(&truth, 1)); },
      [&] { EXPECT_OK(aclDestroyBoolArray(bools)); });
  tensor = create();
  aclTensorList *list = nullptr;
  every_allocation(
      "aclCreateTensorList", [&] { return made(list = aclCreateTensorList(&tensor, 1)); },
      [&] {
        EXPECT_OK(aclDestroyTensorList(list));  // and its member
        tensor = create();
      });
  int64_t *values = nullptr;
  uint64_t count = 0;
  every_allocation(
      "aclGetViewShape", [&] { return aclGetViewShape(tensor, &values, &count); },
      [&] { free(values); });
  EXPECT_OK(aclDestroyTensor(tensor));
  // More than a host has is no crash either.
  EXPECT(aclCreateIntArray(shape, uint64_t{1} << 60) == nullptr);
  EXPECT(aclGetRecentErrMsg() != nullptr);
}

void device() {
  every_allocation(
      "aclrtSetDevice", [] { return aclrtSetDevice(1); }, [] { EXPECT_OK(aclrtResetDevice(1)); });
  EXPECT_OK(aclrtSetDevice(0));
  // The words of a refusal are lost before its status is.
  every_allocation(
      "a refusal",
      [] {
        const int code = aclrtSetDevice(99);
        EXPECT(code == 107001);
        EXPECT(aclGetRecentErrMsg() != nullptr);
        return 0;
      },
      [] {});
}

}  // namespace

int main() {
  (void)scarce::real_pthread_create();
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtCreateStream(&g_stream));
  device();
  memory();
  mapping();
  streams_and_events();
  graphs();
  descriptions();
  objects();
  EXPECT_OK(aclrtDestroyStream(g_stream));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
