// SPDX-License-Identifier: Apache-2.0
// Streams that signal each other through values in device memory.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/stream.h"

namespace emu {
namespace {

bool satisfied(uint64_t seen, uint64_t value, uint32_t flag) {
  switch (flag) {
    case ACL_STREAM_WAIT_VALUE_GEQ: return static_cast<int64_t>(seen - value) >= 0;
    case ACL_STREAM_WAIT_VALUE_EQ: return seen == value;
    case ACL_STREAM_WAIT_VALUE_AND: return (seen & value) != 0;
    default: return ~(seen | value) != 0;
  }
}

Status check_value(const char *routine, void *address, aclrtStream raw, Stream **stream) {
  EMU_ENTER_AS(routine);
  if (const Status s = resolve(raw, routine, stream)) return s;
  if (address == nullptr || !on_device(address, sizeof(uint64_t), nullptr)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: devAddr is %s.", routine,
                describe_address(address).c_str());
  }
  if (reinterpret_cast<uintptr_t>(address) % sizeof(uint64_t) != 0) {
    return fail(ACL_ERROR_RT_ADDR_UNALIGNED, "%s: %p is not aligned to 8 bytes.", routine, address);
  }
  return 0;
}

Status wait_value(void *address, uint64_t value, uint32_t flag) {
  // Any processor or process may write the value without waking this thread, so it polls.
  auto pause = std::chrono::microseconds(20);
  for (;;) {
    if (!on_device(address, sizeof(uint64_t), nullptr)) {
      return fail(ACL_ERROR_RT_SYS_DMA, "aclrtValueWait: devAddr is %s.",
                  describe_address(address).c_str());
    }
    if (satisfied(__atomic_load_n(static_cast<uint64_t *>(address), __ATOMIC_ACQUIRE), value, flag))
      return 0;
    if (wait_cancelled()) return 0;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag,
                                    aclrtStream stream) try {
  EMU_TIMED();
  emu::Stream *found = nullptr;
  if (flag != 0) return fail(ACL_ERROR_INVALID_PARAM, "aclrtValueWrite: flag must be 0.");
  if (const Status s = emu::check_value(__func__, devAddr, stream, &found)) return s;
  return emu::enqueue_on(*found, "aclrtValueWrite", [devAddr, value]() -> Status {
    if (!emu::on_device(devAddr, sizeof value, nullptr)) {
      return fail(ACL_ERROR_RT_SYS_DMA, "aclrtValueWrite: devAddr is %s.",
                  emu::describe_address(devAddr).c_str());
    }
    __atomic_store_n(static_cast<uint64_t *>(devAddr), value, __ATOMIC_RELEASE);
    return 0;
  });
}
EMU_CATCH

EMU_EXPORT aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag,
                                   aclrtStream stream) try {
  EMU_TIMED();
  emu::Stream *found = nullptr;
  if (flag > ACL_STREAM_WAIT_VALUE_NOR)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtValueWait: flag is %u.", flag);
  if (const Status s = emu::check_value(__func__, devAddr, stream, &found)) return s;
  return emu::enqueue_on(*found, "aclrtValueWait", [devAddr, value, flag]() -> Status {
    return emu::wait_value(devAddr, value, flag);
  });
}
EMU_CATCH
