// SPDX-License-Identifier: Apache-2.0
// Reserved addresses and mapped physical memory: the growing pool of an inference engine.
#include <cstdint>
#include <vector>

#include "expect.h"

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  aclrtPhysicalMemProp prop = {};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = 0;
  size_t unit = 0;
  EXPECT_OK(
      aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED, &unit));
  EXPECT(unit == size_t{2} << 20);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtMemGetAllocationGranularity(
                                           nullptr, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &unit));

  void *base = nullptr;
  // How programs learn whether addresses can be reserved at all.
  EXPECT_OK(aclrtReserveMemAddress(&base, 512, 0, nullptr, 1));
  EXPECT(reinterpret_cast<uintptr_t>(base) % unit == 0);
  EXPECT_OK(aclrtReleaseMemAddress(base));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtReserveMemAddress(&base, 0, 0, nullptr, 1));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtReserveMemAddress(&base, 512, 48, nullptr, 1));
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtReserveMemAddress(&base, SIZE_MAX - 7, 0, nullptr, 1));
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtReserveMemAddress(&base, 512, size_t{1} << 63, nullptr, 1));
  EXPECT_OK(aclrtReserveMemAddress(&base, 8 * unit, 0, nullptr, 1));
  EXPECT(reinterpret_cast<uintptr_t>(base) % unit == 0);
  auto *start = static_cast<unsigned char *>(base);

  size_t before = 0, after = 0, total = 0;
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
  aclrtDrvMemHandle first = nullptr, second = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMallocPhysical(&first, unit / 2, &prop, 0));
  EXPECT_OK(aclrtMallocPhysical(&first, unit, &prop, 0));
  EXPECT_OK(aclrtMallocPhysical(&second, 2 * unit, &prop, 0));
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  EXPECT(before - after == 3 * unit);
  EXPECT_CODE(ACL_ERROR_RT_MEMORY_ALLOCATION,
              aclrtMallocPhysical(&first, (total / unit + 1) * unit, &prop, 0));

  // not its size
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(start, 2 * unit, 0, first, 0));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclrtMapMem(start + 8 * unit, unit, 0, first, 0));  // outside
  EXPECT_OK(aclrtMapMem(start, unit, 0, first, 0));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtMapMem(start, unit, 0, first, 0));  // taken
  EXPECT_OK(aclrtMapMem(start + unit, 2 * unit, 0, second, 0));
  aclrtMemAccessDesc access = {};
  access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  access.location = prop.location;
  EXPECT_OK(aclrtMemSetAccess(start, unit, &access, 1));
  EXPECT_OK(aclrtFreePhysical(second));  // stays while mapped
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtFreePhysical(second));

  // One range over both mappings, and not a byte more.
  std::vector<unsigned char> host(3 * unit, 9), back(3 * unit);
  EXPECT_OK(aclrtMemcpy(start, 3 * unit, host.data(), 3 * unit, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_OK(aclrtMemsetAsync(start + unit - 2, 4, 1, 4, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtMemcpy(back.data(), 3 * unit, start, 3 * unit, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(back[unit - 3] == 9 && back[unit - 2] == 1 && back[unit + 1] == 1 && back[unit + 2] == 9);
  aclrtPtrAttributes attributes;
  EXPECT_OK(aclrtPointerGetAttributes(start + 2 * unit, &attributes));
  EXPECT(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_OK(aclrtPointerGetAttributes(start + 3 * unit, &attributes));
  EXPECT(attributes.location.type != ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(start));

  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(base));  // still mapped
  EXPECT_OK(aclrtUnmapMem(start + unit));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtUnmapMem(start + unit));
  EXPECT_OK(aclrtUnmapMem(start));
  EXPECT_OK(aclrtMapMem(start + 4 * unit, unit, 0, first, 0));  // the same memory elsewhere
  EXPECT_OK(aclrtMemcpy(back.data(), unit, start + 4 * unit, unit, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(back[0] == 9 && back[unit - 1] == 1);
  EXPECT_OK(aclrtUnmapMem(start + 4 * unit));
  EXPECT_OK(aclrtFreePhysical(first));
  EXPECT_OK(aclrtReleaseMemAddress(base));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtReleaseMemAddress(base));
  EXPECT_OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
  EXPECT(after == before);
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
