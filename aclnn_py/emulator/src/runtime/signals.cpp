// SPDX-License-Identifier: Apache-2.0
// Streams that signal each other through values in device memory.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "acl/acl_rt.h"
#include "core/cancel.h"
#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/stream.h"
#include "runtime/signals.h"

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

Status write_value(void *address, uint64_t value) {
  if (!on_device(address, sizeof value, nullptr)) {
    return fail(ACL_ERROR_RT_SYS_DMA, "aclrtValueWrite: devAddr is %s.",
                describe_address(address).c_str());
  }
  __atomic_store_n(static_cast<uint64_t *>(address), value, __ATOMIC_RELEASE);
  return 0;
}

Status launch(const char *routine, const Signal &signal, aclrtStream raw) {
  EMU_ENTER_AS(routine);
  Stream *stream = nullptr;
  if (const Status s = resolve(raw, routine, &stream)) return s;
  if (const Status s = check_signal(routine, signal)) return s;
  if (const Status s = enqueue_on(*stream, routine, task_of(signal))) return s;
  if (stream->capture.load() != nullptr) name_signal(*stream, signal);
  return 0;
}

}  // namespace

Status check_signal(const char *routine, const Signal &signal) {
  if (signal.waits && signal.flag > ACL_STREAM_WAIT_VALUE_NOR)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: flag is %u.", routine, signal.flag);
  if (signal.address == nullptr || !on_device(signal.address, sizeof(uint64_t), nullptr)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: devAddr is %s.", routine,
                describe_address(signal.address).c_str());
  }
  if (reinterpret_cast<uintptr_t>(signal.address) % sizeof(uint64_t) != 0) {
    return fail(ACL_ERROR_RT_ADDR_UNALIGNED, "%s: %p is not aligned to 8 bytes.", routine,
                signal.address);
  }
  return 0;
}

Task task_of(const Signal &signal) {
  return [signal]() -> Status {
    return signal.waits ? wait_value(signal.address, signal.value, signal.flag)
                        : write_value(signal.address, signal.value);
  };
}

}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag,
                                    aclrtStream stream) try {
  EMU_TIMED();
  if (flag != 0) return fail(ACL_ERROR_INVALID_PARAM, "aclrtValueWrite: flag must be 0.");
  return emu::launch(__func__, emu::Signal{false, devAddr, value, 0}, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag,
                                   aclrtStream stream) try {
  EMU_TIMED();
  if (flag > ACL_STREAM_WAIT_VALUE_NOR)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtValueWait: flag is %u.", flag);
  return emu::launch(__func__, emu::Signal{true, devAddr, value, flag}, stream);
}
EMU_CATCH
