// SPDX-License-Identifier: Apache-2.0
// What kind of memory addresses are of, and an allocation that differs by purpose alone.
#include "acl/acl_rt.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "runtime/mapping.h"

using emu::fail;

namespace {

constexpr uint32_t kKinds = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;

// 0 for what is no memory of a device. Nothing here is memory of the image processor.
uint32_t kind_of(const void *address) {
  if (emu::reserved_address(address)) return ACL_RT_MEM_TYPE_RSVD;
  return emu::on_device(address, 1, nullptr) ? ACL_RT_MEM_TYPE_DEV : 0;
}

}  // namespace

EMU_EXPORT aclError aclrtCheckMemType(void **addrList, uint32_t size, uint32_t memType,
                                      uint32_t *checkResult, uint32_t reserve) try {
  EMU_ENTER();
  if (addrList == nullptr || checkResult == nullptr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCheckMemType: %s.",
                size == 0             ? "size is 0"
                : addrList == nullptr ? "addrList is null"
                                      : "checkResult is null");
  }
  if (memType == 0 || (memType & ~kKinds) != 0 || reserve != 0) {
    return fail(
        ACL_ERROR_RT_PARAM_INVALID,
        "aclrtCheckMemType: memType is 0x%x, reserve is %u; allowed are the bits 0x%x, and 0.",
        memType, reserve, kKinds);
  }
  uint32_t all = 1;
  for (uint32_t i = 0; i < size; ++i) all = (kind_of(addrList[i]) & memType) != 0 ? all : 0;
  *checkResult = all;
  return 0;
}
EMU_CATCH

// The scheduler reads all memory of its device.
EMU_EXPORT aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size,
                                                aclrtMemMallocPolicy policy,
                                                aclrtMallocConfig *cfg) try {
  EMU_TIMED();
  return aclrtMallocWithCfg(devPtr, size, policy, cfg);
}
EMU_CATCH
