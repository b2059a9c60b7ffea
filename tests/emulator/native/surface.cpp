// SPDX-License-Identifier: Apache-2.0
// What later releases added to the runtime: effects, refusals, null pointers.
#include <dlfcn.h>

#include <fstream>
#include <string>
#include <vector>

#include "acl/acl_rt_memory_soma.h"
#include "expect.h"
#include "hccl/hccl.h"
#include "mstx/ms_tools_ext.h"

namespace {

constexpr size_t kPage = size_t{2} << 20;

struct Calls {
  int count = 0;
  char text[64] = "";  // what the library calls must not throw
  aclError answer = 0;
};

aclError on_init(const char *text, size_t size, void *data) {
  auto *calls = static_cast<Calls *>(data);
  ++calls->count;
  snprintf(calls->text, sizeof calls->text, "%.*s", static_cast<int>(size), text);
  return calls->answer;
}

aclError on_finalize(void *data) {
  auto *calls = static_cast<Calls *>(data);
  ++calls->count;
  return calls->answer;
}

void init_callbacks(const std::string &directory) {
  const std::string path = directory + "/acl.json", text = "{\"err_msg_mode\": \"0\"}\n";
  std::ofstream(path) << text;
  Calls before, after, failing, end;
  failing.answer = 4711;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclInitCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclInitCallbackRegister(static_cast<aclRegisterCallbackType>(99), on_init, &before));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr));
  EXPECT_OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, on_init, &before));
  EXPECT_OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_MODEL, on_finalize, &end));
  EXPECT(before.count == 0);
  EXPECT_OK(aclInit(path.c_str()));
  EXPECT(before.count == 1 && before.text == text);
  EXPECT_CODE(ACL_ERROR_REPEAT_INITIALIZE, aclInit(path.c_str()));
  EXPECT(before.count == 1);
  // Registered late: called at once.
  EXPECT_OK(aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, on_init, &after));
  EXPECT(after.count == 1 && after.text == text);
  EXPECT_CODE(4711, aclInitCallbackRegister(ACL_REG_TYPE_ACL_RETR, on_init, &failing));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_RETR, on_init));
  EXPECT_OK(aclFinalize());
  EXPECT(end.count == 1);
  EXPECT_OK(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, on_init));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, on_init));
  before.answer = 4712;
  EXPECT_CODE(4712, aclInit(nullptr));
  EXPECT(before.count == 2 && text != before.text && *before.text == 0 && after.count == 1);
  EXPECT_CODE(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());  // the failure left nothing initialized
  EXPECT_OK(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, on_init));
  EXPECT_OK(aclInit(nullptr));
  uint64_t left = 9;
  EXPECT_OK(aclFinalizeReference(&left));
  EXPECT(left == 0 && end.count == 2);
  EXPECT_OK(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, on_finalize));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, on_finalize));
}

void graph_callbacks() {
  aclrtStream stream = nullptr;
  void *word = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  aclmdlRI graphs[2] = {};
  for (aclmdlRI &graph : graphs) {
    EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    EXPECT_OK(aclrtMemsetAsync(word, 64, 1, 64, stream));
    EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  }
  static int first, second;
  const aclrtCallback count = [](void *data) { ++*static_cast<int *>(data); };
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclmdlRIDestroyRegisterCallback(graphs[0], nullptr, nullptr));
  EXPECT(aclmdlRIDestroyRegisterCallback(nullptr, count, nullptr) != 0);
  EXPECT_OK(aclmdlRIDestroyRegisterCallback(graphs[0], count, &first));
  EXPECT_OK(aclmdlRIDestroyRegisterCallback(graphs[1], count, &second));
  EXPECT_OK(aclmdlRIDestroyUnregisterCallback(graphs[1], count));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclmdlRIDestroyUnregisterCallback(graphs[1], count));
  EXPECT_OK(aclmdlRIExecuteAsync(graphs[0], stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT(first == 0);
  for (aclmdlRI graph : graphs) EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT(first == 1 && second == 0);
  EXPECT(aclmdlRIDestroyRegisterCallback(graphs[0], count, &first) != 0);
  EXPECT_OK(aclrtFree(word));
  EXPECT_OK(aclrtDestroyStream(stream));
}

void device_queries() {
  int32_t number = -1;
  EXPECT_OK(aclrtGetPhyDevIdByUserDevId(3, &number));
  EXPECT(number == 3);
  EXPECT_OK(aclrtGetUserDevIdByPhyDevId(5, &number));
  EXPECT(number == 5);
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetPhyDevIdByUserDevId(-1, &number));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetUserDevIdByPhyDevId(64, &number));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtGetPhyDevIdByUserDevId(0, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtGetUserDevIdByPhyDevId(0, nullptr));
  uint64_t topology = 0;
  EXPECT_OK(aclrtGetDevicesTopo(0, 1, &topology));
  EXPECT(topology == ACL_RT_DEVS_TOPOLOGY_HCCS);
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtGetDevicesTopo(1, 1, &topology));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDevicesTopo(0, 99, &topology));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDevicesTopo(UINT32_MAX, 0, &topology));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtGetDevicesTopo(0, 1, nullptr));
  EXPECT_OK(aclrtDeviceL2CacheFlush(nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtDeviceL2CacheFlush(&topology));
  int32_t compatible = -1;  // the emulated chip is a 910B1
  for (const char *same : {"Ascend910B1", "Ascend910B4", "Ascend910_9391"}) {
    EXPECT_OK(aclrtCheckArchCompatibility(same, &compatible));
    EXPECT(compatible == 1);
  }
  for (const char *other :
       {"Ascend310P3", "Ascend910A", "Ascend950PR_9579", "Ascend310B1", "Ascend910B"}) {
    EXPECT_OK(aclrtCheckArchCompatibility(other, &compatible));
    EXPECT(compatible == 0);
  }
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCheckArchCompatibility("Somebody", &compatible));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCheckArchCompatibility(nullptr, &compatible));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCheckArchCompatibility("Ascend910B1", nullptr));
  // The driver's own library and status codes.
  const auto devices = reinterpret_cast<int (*)(uint32_t *)>(dlsym(RTLD_DEFAULT, "drvGetDevNum"));
  uint32_t count = 0, visible = 0;
  EXPECT(devices != nullptr && devices(&count) == 0);
  EXPECT_OK(aclrtGetDeviceCount(&visible));
  EXPECT(count == visible);
  EXPECT(devices(nullptr) == 3);
}

// Host memory registered through the driver's library is what the runtime takes for registered.
void driver_memory() {
  const auto enroll =
      reinterpret_cast<int (*)(void *, unsigned long long, uint32_t, uint32_t, void **)>(
          dlsym(RTLD_DEFAULT, "halHostRegister"));
  const auto drop =
      reinterpret_cast<int (*)(void *, uint32_t)>(dlsym(RTLD_DEFAULT, "halHostUnregister"));
  const auto drop_kind = reinterpret_cast<int (*)(void *, uint32_t, uint32_t)>(
      dlsym(RTLD_DEFAULT, "halHostUnregisterEx"));
  EXPECT(enroll != nullptr && drop != nullptr && drop_kind != nullptr);
  std::vector<char> memory(3 * 4096);
  char *const page = memory.data() + (4096 - reinterpret_cast<uintptr_t>(memory.data()) % 4096);
  void *seen = nullptr;
  for (const uint32_t flag : {0u, 1u, 3u}) {
    EXPECT(enroll(page, 4096, flag, 0, &seen) == 0 && seen != nullptr);
    aclrtPtrAttributes attributes;
    EXPECT_OK(aclrtPointerGetAttributes(page, &attributes));
    EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
    EXPECT_CODE(3, enroll(page, 4096, flag, 0, &seen));  // already
    EXPECT((flag == 0 ? drop(page, 0) : drop_kind(page, 0, flag)) == 0);
    EXPECT_CODE(3, drop(page, 0));
  }
  EXPECT_CODE(3, enroll(nullptr, 4096, 0, 0, &seen));
  EXPECT_CODE(3, enroll(page, 0, 0, 0, &seen));
  EXPECT_CODE(3, enroll(page, 4096, 0, 0, nullptr));
  EXPECT_CODE(2, enroll(page, 4096, 0, 9999, &seen));
  EXPECT_CODE(0xfffe, enroll(page, 4096, 2, 0, &seen));
  EXPECT_CODE(0xfffe, drop_kind(page, 0, 2));
  EXPECT_CODE(3, drop(nullptr, 0));
}

void memory_kinds() {
  void *plain = nullptr, *scheduler = nullptr, *base = nullptr, *retained = nullptr;
  EXPECT_OK(aclrtMalloc(&plain, 100, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMallocForTaskScheduler(&scheduler, 100, ACL_MEM_MALLOC_HUGE_FIRST, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtMallocForTaskScheduler(nullptr, 100, ACL_MEM_MALLOC_HUGE_FIRST, nullptr));
  EXPECT_OK(aclrtReserveMemAddress(&base, 2 * kPage, 0, nullptr, 1));
  uint32_t same = 9;
  int host = 0;
  void *devices[] = {plain, scheduler}, *all[] = {plain, base}, *none[] = {plain, &host};
  EXPECT_OK(aclrtCheckMemType(devices, 2, ACL_RT_MEM_TYPE_DEV, &same, 0));
  EXPECT(same == 1);
  EXPECT_OK(aclrtCheckMemType(all, 2, ACL_RT_MEM_TYPE_DEV, &same, 0));
  EXPECT(same == 0);
  EXPECT_OK(aclrtCheckMemType(all, 2, ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_RSVD, &same, 0));
  EXPECT(same == 1);
  EXPECT_OK(aclrtCheckMemType(none, 2, ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_RSVD, &same, 0));
  EXPECT(same == 0);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtCheckMemType(nullptr, 2, ACL_RT_MEM_TYPE_DEV, &same, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCheckMemType(all, 0, ACL_RT_MEM_TYPE_DEV, &same, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCheckMemType(all, 2, ACL_RT_MEM_TYPE_DEV, nullptr, 0));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtCheckMemType(all, 2, 1, &same, 0));

  aclrtPhysicalMemProp prop{};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle handle = nullptr, again = nullptr;
  EXPECT_OK(aclrtMallocPhysical(&handle, kPage, &prop, 0));
  EXPECT_OK(aclrtMapMem(base, kPage, 0, handle, 0));
  aclrtMemLocation here{0, ACL_MEM_LOCATION_TYPE_DEVICE}, there{1, ACL_MEM_LOCATION_TYPE_DEVICE},
      outside{0, ACL_MEM_LOCATION_TYPE_HOST};
  uint64_t access = 9;
  EXPECT_OK(aclrtMemGetAccess(base, &here, &access));
  EXPECT(access == ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
  EXPECT_OK(aclrtMemGetAccess(base, &there, &access));
  EXPECT(access == ACL_RT_MEM_ACCESS_FLAGS_NONE);
  aclrtMemAccessDesc open{};
  open.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  open.location = there;
  EXPECT_OK(aclrtMemSetAccess(base, kPage, &open, 1));
  EXPECT_OK(aclrtMemGetAccess(base, &there, &access));
  EXPECT(access == ACL_RT_MEM_ACCESS_FLAGS_READWRITE);
  EXPECT_OK(aclrtMemGetAccess(base, &outside, &access));
  EXPECT(access == ACL_RT_MEM_ACCESS_FLAGS_NONE);
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemGetAccess(plain, &here, &access));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemGetAccess(nullptr, &here, &access));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemGetAccess(base, nullptr, &access));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemGetAccess(base, &here, nullptr));

  // Retained twice, freed three times; a handle retained after all were freed is a new one of the
  // same memory.
  EXPECT_OK(aclrtMemRetainAllocationHandle(base, &again));
  EXPECT(again == handle);
  EXPECT_OK(aclrtFreePhysical(handle));
  EXPECT_OK(aclrtFreePhysical(again));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(handle));
  EXPECT_OK(aclrtMemset(base, kPage, 0x21, kPage));
  EXPECT_OK(aclrtMemRetainAllocationHandle(base, &again));
  retained = static_cast<char *>(base) + kPage;
  EXPECT_OK(aclrtMapMem(retained, kPage, 0, again, 0));
  unsigned char byte = 0;
  EXPECT_OK(aclrtMemcpy(&byte, 1, static_cast<char *>(retained) + kPage - 1, 1,
                        ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(byte == 0x21);
  EXPECT_OK(aclrtUnmapMem(base));
  EXPECT_OK(aclrtUnmapMem(retained));
  EXPECT_OK(aclrtFreePhysical(again));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemRetainAllocationHandle(base, &again));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemRetainAllocationHandle(nullptr, &again));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemRetainAllocationHandle(base, nullptr));
  EXPECT_OK(aclrtReleaseMemAddress(base));
  EXPECT_OK(aclrtFree(plain));
  EXPECT_OK(aclrtFree(scheduler));
}

void cache_hints() {
  size_t size = 0;
  EXPECT_OK(aclrtCmoGetDescSize(&size));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCmoGetDescSize(nullptr));
  void *desc = nullptr, *data = nullptr;
  EXPECT_OK(aclrtMalloc(&desc, size, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMalloc(&data, 256, ACL_MEM_MALLOC_HUGE_FIRST));
  char host[64] = "";
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCmoSetDesc(nullptr, data, 256));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCmoSetDesc(desc, nullptr, 256));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCmoSetDesc(desc, data, 0));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtCmoSetDesc(host, data, 256));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtCmoSetDesc(desc, host, 64));
  // Without a description the stream finds nothing to act on.
  EXPECT_OK(aclrtMemset(desc, size, 0, size));
  EXPECT_OK(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, nullptr, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtCmoSetDesc(desc, data, 256));
  EXPECT_OK(aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_PREFETCH, nullptr, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtCmoAsyncWithDesc(desc, ACL_RT_CMO_TYPE_FLUSH, nullptr, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtCmoAsyncWithDesc(nullptr, ACL_RT_CMO_TYPE_PREFETCH, nullptr, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtCmoAsyncWithDesc(host, ACL_RT_CMO_TYPE_PREFETCH, nullptr, nullptr));
  EXPECT_OK(aclrtFree(desc));
  EXPECT_OK(aclrtFree(data));
}

uint64_t of(aclrtMemPool pool, aclrtMemPoolAttr attr) {
  uint64_t value = 0;
  EXPECT_OK(aclrtMemPoolGetAttr(pool, attr, &value));
  return value;
}

void pools() {
  aclrtMemPoolProps props{};
  props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  props.maxSize = 1 << 20;
  aclrtMemPool pool = nullptr;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(nullptr, &props));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemPoolCreate(&pool, nullptr));
  props.location.id = 99;
  EXPECT_CODE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtMemPoolCreate(&pool, &props));
  props.location.id = 0;
  EXPECT_OK(aclrtMemPoolCreate(&pool, &props));
  aclrtStream a = nullptr, b = nullptr;
  EXPECT_OK(aclrtCreateStream(&a));
  EXPECT_OK(aclrtCreateStream(&b));
  void *first = nullptr, *second = nullptr, *third = nullptr, *gate = nullptr;
  EXPECT_OK(aclrtMemPoolMallocAsync(&first, 1000, pool, a));
  EXPECT_OK(aclrtMemsetAsync(first, 1000, 7, 1000, a));
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 1000);
  // A stream that is held up: its later work may have the block, others' may not.
  EXPECT_OK(aclrtMalloc(&gate, 8, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(gate, 8, 0, 8));
  EXPECT_OK(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, a));
  EXPECT_OK(aclrtMemPoolFreeAsync(first, a));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolFreeAsync(first, a));
  EXPECT_OK(aclrtMemPoolMallocAsync(&second, 1000, pool, b));
  EXPECT(second != first);
  EXPECT_OK(aclrtMemPoolMallocAsync(&third, 900, pool, a));
  EXPECT(third == first);
  EXPECT_OK(aclrtValueWrite(gate, 1, 0, b));
  EXPECT_OK(aclrtSynchronizeStream(a));
  // the free of the first use took nothing from the third
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 2000);
  EXPECT_OK(aclrtMemset(third, 900, 3, 900));
  // Free memory goes back to the device, unless the pool is told to keep some.
  EXPECT_OK(aclrtMemPoolFreeAsync(second, b));
  EXPECT_OK(aclrtSynchronizeStream(b));
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 1000);
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH) == 2000);
  uint64_t keep = 4096, zero = 0, one = 1;
  EXPECT_OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &keep));
  EXPECT_OK(aclrtMemPoolFreeAsync(third, a));
  EXPECT_OK(aclrtSynchronizeStream(a));
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 1000);
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 0);
  EXPECT_OK(aclrtMemPoolMallocAsync(&second, 1000, pool, b));
  EXPECT(second == third);
  EXPECT_OK(aclrtMemPoolFreeAsync(second, b));
  EXPECT_OK(aclrtSynchronizeStream(b));
  EXPECT_OK(aclrtMemPoolTrimTo(pool, 1000));
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 1000);
  EXPECT_OK(aclrtMemPoolTrimTo(pool, 0));
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);
  // Attributes.
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) == 2000);
  EXPECT_OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &zero));
  EXPECT(of(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) == 0);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &one));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &zero));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtMemPoolGetAttr(pool, static_cast<aclrtMemPoolAttr>(0), &one));
  uint32_t flag = 2;
  EXPECT_OK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &flag));
  flag = 3;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &flag));
  EXPECT_OK(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &flag));
  EXPECT(flag == 2);
  // Limits and nulls.
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtMemPoolMallocAsync(&first, (1 << 20) + 1, pool, a));
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMemPoolMallocAsync(&first, SIZE_MAX, pool, a));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemPoolMallocAsync(&first, 0, pool, a));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemPoolMallocAsync(nullptr, 8, pool, a));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemPoolMallocAsync(&first, 8, nullptr, a));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemPoolFreeAsync(nullptr, a));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemPoolFreeAsync(gate, a));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemPoolTrimTo(nullptr, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemPoolDestroy(nullptr));
  EXPECT_OK(aclmdlRICaptureBegin(a, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemPoolMallocAsync(&first, 8, pool, a));
  aclmdlRI graph = nullptr;
  EXPECT_OK(aclmdlRICaptureEnd(a, &graph));
  EXPECT_OK(aclmdlRIDestroy(graph));
  // A pool is destroyed while a block is in use: the block stays until it is freed.
  EXPECT_OK(aclrtMemPoolMallocAsync(&first, 64, pool, a));
  EXPECT_OK(aclrtMemPoolDestroy(pool));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtMemPoolDestroy(pool));
  EXPECT_OK(aclrtMemset(first, 64, 1, 64));
  EXPECT_OK(aclrtMemPoolFreeAsync(first, a));
  EXPECT_OK(aclrtSynchronizeStream(a));
  EXPECT(aclrtMemset(first, 64, 1, 64) != 0);
  EXPECT_OK(aclrtFree(gate));
  EXPECT_OK(aclrtDestroyStream(a));
  EXPECT_OK(aclrtDestroyStream(b));
}

void notifies() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  aclrtNotify both[2] = {};
  for (aclrtNotify &notify : both) {
    EXPECT_OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
    EXPECT_OK(aclrtRecordNotify(notify, stream));
  }
  EXPECT_OK(aclrtSynchronizeStream(stream));
  aclrtNotify broken[2] = {both[0], nullptr};
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(broken, 2));
  EXPECT_OK(aclrtWaitAndResetNotify(both[0], stream, 0));  // still set: the refusal reset none
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 20000));
  EXPECT_OK(aclrtNotifyBatchReset(both, 2));
  EXPECT_OK(aclrtWaitAndResetNotify(both[1], stream, 1));
  EXPECT_CODE(ACL_ERROR_RT_TASK_TIMEOUT, aclrtSynchronizeStream(stream));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(nullptr, 2));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(both, 0));

  // In one process, too, an exported notify is the same one, whichever handle is used.
  char key[65] = "", small[10] = "";
  int32_t pid = 1;
  aclrtNotify imported = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtNotifySetImportPid(both[0], &pid, 1));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyGetExportKey(both[0], small, sizeof small, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyGetExportKey(both[0], nullptr, 65, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyGetExportKey(both[0], key, sizeof key, 1));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyGetExportKey(nullptr, key, sizeof key, 0));
  EXPECT_OK(aclrtWaitAndResetNotify(both[0], stream, 0));  // waits already when the flag moves
  EXPECT_OK(aclrtNotifyGetExportKey(both[0], key, sizeof key, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifySetImportPid(both[0], nullptr, 1));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyImportByKey(nullptr, key, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyImportByKey(&imported, nullptr, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNotifyImportByKey(&imported, key, 4));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtNotifyImportByKey(&imported, "nonsense", 0));
  EXPECT_OK(aclrtNotifyImportByKey(&imported, key, ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
  EXPECT_OK(aclrtRecordNotify(imported, nullptr));
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 20000));
  for (aclrtNotify notify : both) EXPECT_OK(aclrtDestroyNotify(notify));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtNotifyImportByKey(&imported, key, 0));
  EXPECT_OK(aclrtDestroyNotify(imported));
  EXPECT_OK(aclrtDestroyStream(stream));
}

void overflow_forms() {
  void *block = nullptr;
  unsigned char host[64] = {1};
  EXPECT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(block, 64, 0xEE, 64));
  EXPECT_OK(aclrtNpuClearFloatOverFlowStatus(0, nullptr));
  EXPECT_OK(aclrtNpuGetFloatOverFlowStatus(block, 64, 0, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtMemcpy(host, 64, block, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  for (unsigned char byte : host) EXPECT(byte == 0);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNpuGetFloatOverFlowStatus(block, 64, 1, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNpuGetFloatOverFlowStatus(nullptr, 64, 0, nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtNpuClearFloatOverFlowStatus(1, nullptr));
  EXPECT_OK(aclrtFree(block));
}

// Nobody profiles: no range has a number.
void markers() {
  mstxMarkA("mark", nullptr);
  EXPECT(mstxRangeStartA("range", nullptr) == 0);
  EXPECT(mstxRangeStartA(nullptr, nullptr) == 0);
  mstxRangeEnd(0);
  const mstxDomainHandle_t domain = mstxDomainCreateA("domain");
  EXPECT(domain != nullptr);
  mstxDomainMarkA(domain, "mark", nullptr);
  EXPECT(mstxDomainRangeStartA(domain, "range", nullptr) == 0);
  mstxDomainDestroy(domain);
  EXPECT(mstxDomainCreateA(nullptr) == nullptr);
  mstxDomainMarkA(nullptr, "mark", nullptr);
  EXPECT(mstxDomainRangeStartA(nullptr, "range", nullptr) == 0);
  mstxDomainRangeEnd(nullptr, 0);
  mstxDomainDestroy(nullptr);
  for (const char *name : {"mstxMemHeapRegister", "mstxMemHeapUnregister", "mstxMemRegionsRegister",
                           "mstxMemRegionsUnregister"}) {
    EXPECT(dlsym(RTLD_DEFAULT, name) != nullptr);
  }
}

void comm_config() {
  const auto exported =
      reinterpret_cast<void (*)(HcclCommConfig *)>(dlsym(RTLD_DEFAULT, "HcclCommConfigInit"));
  EXPECT(exported != nullptr);
  HcclCommConfig ours, theirs;
  memset(&ours, 1, sizeof ours);
  memset(&theirs, 2, sizeof theirs);
  HcclCommConfigInit(&ours);
  exported(&theirs);
  EXPECT(memcmp(&ours, &theirs, sizeof ours) == 0);
  exported(nullptr);
}

void macros() {
  EXPECT(ACL_RT_SUCCESS == 0 && ACL_RT_MEM_ATTACH_GLOBAL == 1 && ACL_RT_MEM_LINK_IDX_1 == 1);
  EXPECT(ACL_DEVICE_FORM_FACTOR_PCIE_CARD == 3 && ACL_HOST_DEVICE_CONNECT_TYPE_UB == 2);
  EXPECT(ACL_WORKSPACE_MEM_OPTIMIZE_INPUTOUTPUT == 1);
  EXPECT(strcmp(ACL_DYNAMIC_TENSOR_NAME, "ascend_mbatch_shape_data") == 0);
  EXPECT(strcmp(ACL_DYNAMIC_AIPP_NAME, "ascend_dynamic_aipp_data") == 0);
  ACL_APP_LOG(ACL_INFO, "no arguments");
  ACL_APP_LOG(ACL_INFO, "%d of %s", 1, "them");
}

}  // namespace

extern "C" ACL_FUNC_VISIBILITY int visible(void);
extern "C" ACL_DEPRECATED int old_one(void);
int visible(void) { return 1; }
int old_one(void) { return visible(); }

int main(int, char **argv) {
  init_callbacks(argv[1]);
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  graph_callbacks();
  device_queries();
  driver_memory();
  memory_kinds();
  cache_hints();
  pools();
  notifies();
  overflow_forms();
  markers();
  comm_config();
  macros();
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
