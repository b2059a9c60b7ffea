// SPDX-License-Identifier: Apache-2.0
// Allocation of device and host memory, and questions about addresses.
#include "core/memory.h"

#include <cstdio>
#include <cstring>

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/host_memory.h"
#include "core/process.h"
#include "core/stream.h"
#include "faults/launches.h"
#include "faults/objects.h"
#include "faults/program_pools.h"
#include "runtime/memory_pool.h"

using emu::fail;
using emu::Status;

namespace {

Status allocate(const char *routine, void **address, size_t size) {
  EMU_ENTER_AS(routine);
  if (address == nullptr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s.", routine,
                address == nullptr ? "devPtr is null" : "size is 0");
  }
  int device = 0;
  if (const Status s = emu::current_device(routine, &device)) return s;
  const Status s = emu::device_malloc(device, size, address, routine);
  if (s == 0) emu::faults::made("device memory", *address, size);
  return s;
}

Status release(const char *routine, void *address) {
  EMU_ENTER_AS(routine);
  if (address == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: devPtr is null.", routine);
  if (emu::of_a_pool(address)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: %p is memory of a pool; aclrtMemPoolFreeAsync gives it back.", routine,
                address);
  }
  size_t size = 0;
  if (emu::faults::checking() && emu::find_block(address, nullptr, &size, nullptr))
    emu::faults::host_touches(emu::faults::Host::frees, routine, address, size);
  const Status s = emu::device_free(address, routine);
  if (s == 0) {
    emu::faults::ended(address);
    emu::faults::pool_ended(address);
  }
  return s;
}

Status check_config(const char *routine, const aclrtMallocConfig *cfg) {
  if (cfg == nullptr) return 0;
  if (cfg->attrs == nullptr && cfg->numAttrs != 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: cfg->attrs is null while numAttrs is %zu.", routine,
                cfg->numAttrs);
  }
  for (size_t i = 0; i < cfg->numAttrs; ++i) {
    if (static_cast<unsigned>(cfg->attrs[i].attr) > ACL_RT_MEM_ATTR_VA_FLAG) {
      return fail(ACL_ERROR_INVALID_PARAM, "%s: attribute %zu (%d) is not known.", routine, i,
                  static_cast<int>(cfg->attrs[i].attr));
    }
  }
  return 0;
}

Status allocate_host(const char *routine, void **address, size_t size) {
  EMU_ENTER_AS(routine);
  if (address == nullptr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s.", routine,
                address == nullptr ? "hostPtr is null" : "size is 0");
  }
  const Status s = emu::host_malloc(size, address, routine);
  if (s == 0) emu::faults::made("pinned host memory", *address, size);
  return s;
}

}  // namespace

EMU_EXPORT aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy) try {
  EMU_TIMED();
  (void)policy;  // page sizes do not change what a program can see here
  return allocate(__func__, devPtr, size);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMallocAlign32(void **devPtr, size_t size,
                                       aclrtMemMallocPolicy policy) try {
  EMU_TIMED();
  (void)policy;
  return allocate(__func__, devPtr, size);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy) try {
  EMU_TIMED();
  (void)policy;
  return allocate(__func__, devPtr, size);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                                       aclrtMallocConfig *cfg) try {
  EMU_TIMED();
  (void)policy;
  if (const Status s = check_config(__func__, cfg)) return s;
  return allocate(__func__, devPtr, size);
}
EMU_CATCH

EMU_EXPORT aclError aclrtFree(void *devPtr) try {
  EMU_TIMED();
  return release(__func__, devPtr);
}
EMU_CATCH

EMU_EXPORT aclError aclrtFreeWithDevSync(void *devPtr) try {
  EMU_ENTER();
  int device = -1;
  if (devPtr != nullptr && emu::find_block(devPtr, nullptr, nullptr, &device)) {
    if (const Status s = emu::synchronize_device(device, -1, __func__)) return s;
  }
  return release(__func__, devPtr);
}
EMU_CATCH

// There is one memory: what the processor wrote is what the device sees.
EMU_EXPORT aclError aclrtMemFlush(void *devPtr, size_t size) try {
  EMU_ENTER();
  if (devPtr != nullptr && emu::on_device(devPtr, size, nullptr)) return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemFlush: %zu bytes at %p (%s).", size, devPtr,
              emu::describe_address(devPtr).c_str());
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemInvalidate(void *devPtr, size_t size) try {
  EMU_ENTER();
  if (devPtr != nullptr && emu::on_device(devPtr, size, nullptr)) return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemInvalidate: %zu bytes at %p (%s).", size, devPtr,
              emu::describe_address(devPtr).c_str());
}
EMU_CATCH

EMU_EXPORT aclError aclrtMallocHost(void **hostPtr, size_t size) try {
  EMU_TIMED();
  return allocate_host(__func__, hostPtr, size);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg) try {
  EMU_TIMED();
  if (const Status s = check_config(__func__, cfg)) return s;
  return allocate_host(__func__, ptr, size);
}
EMU_CATCH

EMU_EXPORT aclError aclrtFreeHost(void *hostPtr) try {
  EMU_ENTER();
  if (hostPtr == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtFreeHost: hostPtr is null.");
  emu::faults::Life life;
  if (emu::faults::checking() && emu::faults::life_of(hostPtr, &life) && life.live)
    emu::faults::host_touches(emu::faults::Host::frees, __func__, hostPtr, life.bytes);
  const Status s = emu::host_free(hostPtr, __func__);
  if (s == 0) emu::faults::ended(hostPtr);
  return s;
}
EMU_CATCH

EMU_EXPORT aclError aclrtFreeHostWithDevSync(void *hostPtr) try {
  EMU_ENTER();
  if (hostPtr == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtFreeHostWithDevSync: hostPtr is null.");
  for (int i = 0; i < emu::device_count(); ++i) {
    if (const Status s = emu::synchronize_device(i, -1, __func__)) return s;
  }
  return emu::host_free(hostPtr, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type,
                                      void **devPtr) try {
  EMU_ENTER();
  if (ptr == nullptr || size == 0 || devPtr == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtHostRegister: %s.",
                ptr == nullptr ? "ptr is null"
                : size == 0    ? "size is 0"
                               : "devPtr is null");
  }
  if (type != ACL_HOST_REGISTER_MAPPED) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtHostRegister: type %d is not supported by this device.",
                static_cast<int>(type));
  }
  if (reinterpret_cast<uintptr_t>(ptr) % emu::kPageBytes != 0) {
    return fail(ACL_ERROR_RT_ADDR_UNALIGNED, "aclrtHostRegister: %p is not aligned to %zu bytes.",
                ptr, emu::kPageBytes);
  }
  if (const Status s = emu::host_register(ptr, size, true, __func__)) return s;
  *devPtr = ptr;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag) try {
  EMU_ENTER();
  if (ptr == nullptr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtHostRegisterV2: %s.",
                ptr == nullptr ? "ptr is null" : "size is 0");
  }
  if ((flag & ~(ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED)) != 0) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtHostRegisterV2: flag 0x%x is not supported by this device.", flag);
  }
  return emu::host_register(ptr, size, (flag & ACL_HOST_REG_MAPPED) != 0, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtHostUnregister(void *ptr) try {
  EMU_ENTER();
  if (ptr == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtHostUnregister: ptr is null.");
  return emu::host_unregister(ptr, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag) try {
  EMU_ENTER();
  if (pHost == nullptr || pDevice == nullptr || flag != 0) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtHostGetDevicePointer: a pointer is null or flag is not 0.");
  }
  if (!emu::host_mapped(pHost, 1)) {
    return fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                "aclrtHostGetDevicePointer: %p is not registered as mapped.", pHost);
  }
  *pDevice = pHost;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtPointerGetAttributes(const void *ptr, aclrtPtrAttributes *attributes) try {
  EMU_ENTER();
  if (ptr == nullptr || attributes == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtPointerGetAttributes: %s is null.",
                ptr == nullptr ? "ptr" : "attributes");
  }
  *attributes = {};
  int device = -1;
  attributes->pageSize = emu::kPageBytes;
  if (emu::on_device(ptr, 1, &device)) {
    attributes->location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attributes->location.id = static_cast<uint32_t>(device);
    return 0;
  }
  const bool known = emu::host_known(ptr, 1);
  attributes->location.type =
      known ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total) try {
  EMU_ENTER();
  if (free == nullptr || total == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: an output is null.");
  int device = 0;
  if (const Status s = emu::current_device(__func__, &device)) return s;
  *free = *total = 0;
  switch (attr) {
    case ACL_DDR_MEM:
    case ACL_DDR_MEM_HUGE:
    case ACL_DDR_MEM_NORMAL:
    case ACL_HBM_MEM:
    case ACL_HBM_MEM_HUGE:
    case ACL_HBM_MEM_NORMAL:
    case ACL_MEM_NORMAL:
    case ACL_MEM_HUGE: {
      const emu::MemoryUse use = emu::memory_use(device);
      *total = use.total;
      *free = use.total - use.used;
      return 0;
    }
    default: return 0;  // pools this device does not have: nothing free, nothing there
  }
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo *memUsageInfo,
                                         size_t inputNum, size_t *outputNum) try {
  EMU_ENTER();
  if (memUsageInfo == nullptr || outputNum == nullptr || inputNum == 0) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtGetMemUsageInfo: an output is null or inputNum is 0.");
  }
  if (!emu::valid_device(deviceId)) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtGetMemUsageInfo: device %d does not exist.",
                deviceId);
  }
  const emu::MemoryUse use = emu::memory_use(deviceId);
  memUsageInfo[0] = {};
  std::snprintf(memUsageInfo[0].name, sizeof memUsageInfo[0].name, "APP");
  memUsageInfo[0].curMemSize = use.used;
  memUsageInfo[0].memPeakSize = use.peak;
  *outputNum = 1;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemGetAddressRange(void *ptr, void **pbase, size_t *psize) try {
  EMU_ENTER();
  if (ptr == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemGetAddressRange: ptr is null.");
  void *start = nullptr;
  size_t size = 0;
  if (!emu::find_block(ptr, &start, &size, nullptr)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemGetAddressRange: %p is %s.", ptr,
                emu::describe_address(ptr).c_str());
  }
  if (pbase != nullptr) *pbase = start;
  if (psize != nullptr) *psize = size;
  return 0;
}
EMU_CATCH
