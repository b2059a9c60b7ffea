// SPDX-License-Identifier: Apache-2.0
// Notifies: one stream waits until another one, perhaps of another process, says so.
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <memory>
#include <mutex>

#include "acl/acl_rt.h"
#include "core/cancel.h"
#include "core/device.h"
#include "core/export.h"
#include "core/process.h"
#include "core/stream.h"
#include "runtime/sharing.h"

namespace emu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kKeyBytes = 65;
constexpr int64_t kSliceMs = 50;  // how often a wait looks whether it is still wanted
constexpr uint64_t kNotifyMagic = 0x61636c6e6e6e7466ull;

// A futex word: 1 between a record and the wait that takes it back.
using Flag = std::atomic<uint32_t>;

struct SharedNotify {
  uint64_t magic;
  Flag flag;
};

struct Mapping {
  int file;
  SharedNotify *shared;
  Mapping(int f, SharedNotify *s) : file(f), shared(s) {}
  ~Mapping() {
    munmap(shared, sizeof *shared);
    close(file);
  }
};

// Shared by the handle and the queued work. The flag moves once, into shared memory, when the
// notify is exported.
struct NotifyState {
  std::mutex mutex;  // guards what follows; the flag's value may change without it
  std::shared_ptr<Mapping> mapping;
  Flag own{0};

  Flag &flag() { return mapping ? mapping->shared->flag : own; }
};

struct Notify {
  Notify(uint32_t number, int owner)
      : id(number), device(owner), state(std::make_shared<NotifyState>()) {}
  ~Notify() { drop_ticket(ticket); }
  const uint32_t id;
  const int device;
  const std::shared_ptr<NotifyState> state;
  std::mutex ticket_mutex;
  OwnTicket ticket;
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

void wake(Flag &flag) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&flag), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void record(NotifyState &state) {
  std::lock_guard<std::mutex> lock(state.mutex);
  state.flag().store(1);
  wake(state.flag());
}

Status wait_and_reset(NotifyState &state, uint32_t timeout_s) {
  const auto deadline = Clock::now() + std::chrono::seconds(timeout_s);
  for (;;) {
    Flag *flag = nullptr;
    std::shared_ptr<Mapping> mapped;  // keeps the flag's memory while this thread sleeps on it
    {
      std::lock_guard<std::mutex> lock(state.mutex);
      mapped = state.mapping;
      flag = &state.flag();
      uint32_t expected = 1;
      if (flag->compare_exchange_strong(expected, 0)) return 0;
    }
    if (wait_cancelled()) return 0;
    if (timeout_s != 0 && Clock::now() >= deadline) {
      return fail(ACL_ERROR_RT_TASK_TIMEOUT, "aclrtWaitAndResetNotify: nothing came within %u s.",
                  timeout_s);
    }
    timespec span{0, kSliceMs * 1000000};
    syscall(SYS_futex, reinterpret_cast<uint32_t *>(flag), FUTEX_WAIT, 0, &span, nullptr, 0);
  }
}

// The flag of a notify in shared memory, made at the first export.
Status share(Notify &notify, const char *routine) {
  std::lock_guard<std::mutex> lock(notify.state->mutex);
  if (notify.state->mapping) return 0;
  void *mapped = nullptr;
  const int file = make_shared_file("aclnn_py_notify", sizeof(SharedNotify), routine, &mapped);
  if (file < 0) return ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
  auto *shared = ::new (mapped) SharedNotify{};
  shared->magic = kNotifyMagic;
  shared->flag.store(notify.state->own.exchange(0));
  notify.state->mapping = std::make_shared<Mapping>(file, shared);
  wake(notify.state->own);  // who slept there looks again
  return 0;
}

// The notify that a ticket names. Another process made the file behind it: it may hold anything.
Status open_shared(const char *routine, int file, std::shared_ptr<Mapping> *mapping) {
  struct stat status{};
  void *mapped = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size >= static_cast<off_t>(sizeof(SharedNotify))) {
    mapped = mmap(nullptr, sizeof(SharedNotify), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (mapped != MAP_FAILED && static_cast<SharedNotify *>(mapped)->magic == kNotifyMagic) {
    *mapping = std::make_shared<Mapping>(file, static_cast<SharedNotify *>(mapped));
    return 0;
  }
  if (mapped != MAP_FAILED) munmap(mapped, sizeof(SharedNotify));
  close(file);
  return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: the key does not lead to a notify.", routine);
}

Status create(const char *routine, int device, aclrtNotify *notify) {
  *notify = notifies().create(g_next_notify.fetch_add(1), device);
  return *notify != nullptr
             ? 0
             : fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "%s: too many notifies.", routine);
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::Notify;
using emu::Status;

EMU_EXPORT aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag) try {
  EMU_ENTER();
  if (notify == nullptr || flag > ACL_NOTIFY_DEVICE_USE_ONLY) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateNotify: notify is null or flag is not known.");
  }
  int device = 0;
  if (const Status s = emu::current_device(__func__, &device)) return s;
  return emu::create(__func__, device, notify);
}
EMU_CATCH

EMU_EXPORT aclError aclrtDestroyNotify(aclrtNotify notify) try {
  EMU_TIMED();
  Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  if (!emu::notifies().retire(found)) return emu::find_notify(__func__, notify, &found);
  emu::notifies().destroy(found);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId) try {
  Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  if (notifyId == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetNotifyId: notifyId is null.");
  *notifyId = found->id;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) try {
  EMU_TIMED();
  Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  return emu::enqueue(stream, "aclrtRecordNotify", [state = found->state]() -> Status {
    emu::record(*state);
    return 0;
  });
}
EMU_CATCH

// The timeout is in seconds; 0 waits without end.
EMU_EXPORT aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream,
                                            uint32_t timeout) try {
  EMU_TIMED();
  Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  return emu::enqueue(
      stream, "aclrtWaitAndResetNotify",
      [state = found->state, timeout]() -> Status { return emu::wait_and_reset(*state, timeout); });
}
EMU_CATCH

EMU_EXPORT aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num) try {
  EMU_ENTER();
  if (notifies == nullptr || num == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtNotifyBatchReset: notifies is %p, num is %zu.",
                static_cast<void *>(notifies), num);
  }
  Notify *found = nullptr;
  for (size_t i = 0; i < num; ++i) {  // all of them, or none
    if (const Status s = emu::find_notify(__func__, notifies[i], &found)) return s;
  }
  for (size_t i = 0; i < num; ++i) {
    if (const Status s = emu::find_notify(__func__, notifies[i], &found)) return s;
    std::lock_guard<std::mutex> lock(found->state->mutex);
    found->state->flag().store(0);
  }
  return 0;
}
EMU_CATCH

// --- between processes -----------------------------------------------------------------

EMU_EXPORT aclError aclrtNotifyGetExportKey(aclrtNotify notify, char *key, size_t len,
                                            uint64_t flags) try {
  Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  if (key == nullptr || len < emu::kKeyBytes) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtNotifyGetExportKey: key %p of %zu bytes (%zu needed).",
                static_cast<void *>(key), len, emu::kKeyBytes);
  }
  if (flags != ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT &&
      flags != ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtNotifyGetExportKey: flags are 0x%" PRIx64 ", allowed are 0 and 2.", flags);
  }
  if (const Status s = emu::share(*found, __func__)) return s;
  const bool any = flags == ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION;
  std::lock_guard<std::mutex> lock(found->ticket_mutex);
  if (found->ticket.file < 0) {
    const int file = found->state->mapping->file;
    if (const Status s = emu::make_ticket(file, 0, sizeof(emu::SharedNotify), found->device, any,
                                          __func__, &found->ticket)) {
      return s;
    }
  } else if (any) {
    found->ticket.ticket->any_process.store(1);
  }
  std::snprintf(key, len, "aclnn-ntf-%d-%d-%016" PRIx64, static_cast<int>(getpid()),
                found->ticket.file, found->ticket.ticket->nonce);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t *pid, size_t num) try {
  Notify *found = nullptr;
  if (const Status s = emu::find_notify(__func__, notify, &found)) return s;
  std::lock_guard<std::mutex> lock(found->ticket_mutex);
  if (found->ticket.file < 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtNotifySetImportPid: aclrtNotifyGetExportKey comes first.");
  }
  return emu::allow_pids(found->ticket, pid, num, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtNotifyImportByKey(aclrtNotify *notify, const char *key,
                                           uint64_t flags) try {
  EMU_ENTER();
  if (notify == nullptr || key == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtNotifyImportByKey: %s is null.",
                notify == nullptr ? "notify" : "key");
  }
  if (flags != ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT &&
      flags != ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtNotifyImportByKey: flags are 0x%" PRIx64 ", allowed are 0 and 2.", flags);
  }
  int pid = 0, file = 0, device = 0;
  uint64_t nonce = 0;
  if (std::sscanf(key, "aclnn-ntf-%d-%d-%" SCNx64, &pid, &file, &nonce) != 3) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtNotifyImportByKey: \"%.80s\" is not a key.",
                key);
  }
  if (const Status s = emu::current_device(__func__, &device)) return s;
  emu::Ticket ticket{};
  int backing = -1;
  if (const Status s = emu::open_ticket(pid, file, nonce, __func__, &ticket, &backing)) return s;
  std::shared_ptr<emu::Mapping> mapping;
  if (const Status s = emu::open_shared(__func__, backing, &mapping)) return s;
  if (flags == ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS && ticket.device != device &&
      emu::valid_device(ticket.device)) {
    emu::set_peer_access(device, ticket.device, true);
  }
  aclrtNotify made = nullptr;
  if (const Status s = emu::create(__func__, device, &made)) return s;
  static_cast<Notify *>(made)->state->mapping = std::move(mapping);
  *notify = made;
  return 0;
}
EMU_CATCH
