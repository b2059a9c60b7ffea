// SPDX-License-Identifier: Apache-2.0
// Streams that signal each other: notifies, and values in device memory.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/stream.h"

namespace emu {
namespace {

struct NotifyState {
  std::mutex mutex;
  std::condition_variable changed;
  bool set = false;
};

struct Notify {
  explicit Notify(uint32_t number) : id(number), state(std::make_shared<NotifyState>()) {}
  const uint32_t id;
  const std::shared_ptr<NotifyState> state;   // shared with queued work
};

Slots<Notify> &notifies() {
  static auto *const all = new Slots<Notify>(1 << 16);
  return *all;
}

std::atomic<uint32_t> g_next_notify{0};

Status find_notify(const char *routine, aclrtNotify raw, Notify **notify) {
  EMU_ENTER_AS(routine);
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: notify is null.", routine);
  *notify = notifies().find(raw);
  if (*notify != nullptr) return 0;
  return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live notify.", routine, raw);
}

Status wait_and_reset(NotifyState &state, uint32_t timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  std::unique_lock<std::mutex> lock(state.mutex);
  while (!state.set) {
    if (wait_cancelled()) return 0;
    if (timeout_ms != 0 && std::chrono::steady_clock::now() > deadline) {
      return fail(ACL_ERROR_RT_TASK_TIMEOUT, "aclrtWaitAndResetNotify: nothing came within %u ms.", timeout_ms);
    }
    state.changed.wait_for(lock, std::chrono::milliseconds(timeout_ms == 0 ? 50 : std::min(timeout_ms, 50u)));
  }
  state.set = false;
  return 0;
}

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
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: devAddr is %s.", routine, describe_address(address).c_str());
  }
  if (reinterpret_cast<uintptr_t>(address) % sizeof(uint64_t) != 0) {
    return fail(ACL_ERROR_RT_ADDR_UNALIGNED, "%s: %p is not aligned to 8 bytes.", routine, address);
  }
  return 0;
}

Status wait_value(void *address, uint64_t value, uint32_t flag) {
  // Written by any processor, perhaps by another process: there is nobody to wake this thread.
  auto pause = std::chrono::microseconds(20);
  for (;;) {
    if (!on_device(address, sizeof(uint64_t), nullptr)) {
      return fail(ACL_ERROR_RT_SYS_DMA, "aclrtValueWait: devAddr is %s.", describe_address(address).c_str());
    }
    if (satisfied(__atomic_load_n(static_cast<uint64_t *>(address), __ATOMIC_ACQUIRE), value, flag)) return 0;
    if (wait_cancelled()) return 0;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag) {
  EMU_ENTER();
  if (notify == nullptr || flag > ACL_NOTIFY_DEVICE_USE_ONLY) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateNotify: notify is null or flag is not known.");
  }
  int device = 0;
  if (const Status s = emu::current_device(__func__, &device)) return s;
  *notify = emu::notifies().create(emu::g_next_notify.fetch_add(1));
  return *notify != nullptr ? 0 : fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "aclrtCreateNotify: too many notifies.");
}

EMU_EXPORT aclError aclrtDestroyNotify(aclrtNotify notify) {
  emu::Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  if (!emu::notifies().retire(found)) return emu::find_notify(__func__, notify, &found);
  emu::notifies().destroy(found);
  return 0;
}

EMU_EXPORT aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId) {
  emu::Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  if (notifyId == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetNotifyId: notifyId is null.");
  *notifyId = found->id;
  return 0;
}

EMU_EXPORT aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  emu::Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  return emu::enqueue(stream, "aclrtRecordNotify", [state = found->state]() -> Status {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->set = true;
    state->changed.notify_all();
    return 0;
  });
}

EMU_EXPORT aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  emu::Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  return emu::enqueue(stream, "aclrtWaitAndResetNotify", [state = found->state, timeout]() -> Status {
    return emu::wait_and_reset(*state, timeout);
  });
}

EMU_EXPORT aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  emu::Stream *found = nullptr;
  if (flag != 0) return fail(ACL_ERROR_INVALID_PARAM, "aclrtValueWrite: flag must be 0.");
  if (const Status s = emu::check_value(__func__, devAddr, stream, &found)) return s;
  return emu::enqueue_on(*found, "aclrtValueWrite", [devAddr, value]() -> Status {
    if (!emu::on_device(devAddr, sizeof value, nullptr)) {
      return fail(ACL_ERROR_RT_SYS_DMA, "aclrtValueWrite: devAddr is %s.", emu::describe_address(devAddr).c_str());
    }
    __atomic_store_n(static_cast<uint64_t *>(devAddr), value, __ATOMIC_RELEASE);
    return 0;
  });
}

EMU_EXPORT aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  emu::Stream *found = nullptr;
  if (flag > ACL_STREAM_WAIT_VALUE_NOR) return fail(ACL_ERROR_INVALID_PARAM, "aclrtValueWait: flag is %u.", flag);
  if (const Status s = emu::check_value(__func__, devAddr, stream, &found)) return s;
  return emu::enqueue_on(*found, "aclrtValueWait",
                         [devAddr, value, flag]() -> Status { return emu::wait_value(devAddr, value, flag); });
}
