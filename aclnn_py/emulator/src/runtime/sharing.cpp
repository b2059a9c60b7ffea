// SPDX-License-Identifier: Apache-2.0
#include "runtime/sharing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/process.h"
#include "core/undo.h"

namespace emu {
namespace {

constexpr uint64_t kTicketMagic = 0x61636c6e6e74696bull, kEventMagic = 0x61636c6e6e657674ull;

uint64_t fresh_nonce() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
    value = static_cast<uint64_t>(getpid()) << 32 ^ reinterpret_cast<uintptr_t>(&value);
  }
  return value | 1;
}

}  // namespace

int make_shared_file(const char *name, size_t size, const char *routine, void **mapped) {
  const int file = memfd_create(name, MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(size)) == 0) {
    *mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (*mapped != MAP_FAILED) return file;
  }
  fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: the host gave no memory file: %s.", routine,
       std::strerror(errno));
  if (file >= 0) close(file);
  return -1;
}

Status make_ticket(int backing, uint64_t offset, uint64_t size, int device, bool any_process,
                   const char *routine, OwnTicket *made) {
  void *mapped = nullptr;
  const int file = make_shared_file("aclnn_py_ticket", sizeof(Ticket), routine, &mapped);
  if (file < 0) return ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
  auto *ticket = ::new (mapped) Ticket{};
  ticket->nonce = fresh_nonce();
  ticket->offset = offset;
  ticket->size = size;
  ticket->file = backing;
  ticket->device = device;
  ticket->any_process.store(any_process ? 1 : 0);
  ticket->magic = kTicketMagic;
  made->file = file;
  made->ticket = ticket;
  return 0;
}

void drop_ticket(OwnTicket &ticket) {
  if (ticket.file < 0) return;
  // a key still held elsewhere leads nowhere, whatever gets this descriptor next
  ticket.ticket->magic = 0;
  munmap(ticket.ticket, sizeof(Ticket));
  close(ticket.file);
  ticket = OwnTicket{};
}

Status allow_pids(OwnTicket &own, const int32_t *pids, size_t count, const char *routine) {
  if (pids == nullptr || count == 0)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: no process numbers are given.", routine);
  Ticket &ticket = *own.ticket;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t at = ticket.pid_count.load();
    if (at == kMaxAllowedPids) {
      return fail(ACL_ERROR_RT_OVER_LIMIT, "%s: more than %zu processes.", routine,
                  kMaxAllowedPids);
    }
    ticket.pids[at].store(pids[i]);
    ticket.pid_count.store(at + 1);
  }
  return 0;
}

Status open_ticket(int32_t pid, int32_t file, uint64_t nonce, const char *routine, Ticket *copy,
                   int *backing) {
  const int ticket_file = open_of_process(pid, file);
  if (ticket_file < 0) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE,
                "%s: process %d has not what the key names (ended, or closed it): %s.", routine,
                pid, std::strerror(errno));
  }
  alignas(Ticket) unsigned char bytes[sizeof(Ticket)];
  const ssize_t got = pread(ticket_file, bytes, sizeof bytes, 0);
  close(ticket_file);
  const auto &ticket = *reinterpret_cast<const Ticket *>(bytes);
  if (got != static_cast<ssize_t>(sizeof bytes) || ticket.magic != kTicketMagic ||
      ticket.nonce != nonce) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: the key is not valid any more.", routine);
  }
  bool allowed = ticket.any_process.load() != 0 || pid == getpid();
  const uint32_t count = ticket.pid_count.load();
  for (uint32_t i = 0; i < count && i < kMaxAllowedPids && !allowed; ++i)
    allowed = ticket.pids[i].load() == getpid();
  if (!allowed) {
    return fail(ACL_ERROR_RT_NO_PERMISSION, "%s: process %d did not allow process %d to use it.",
                routine, pid, static_cast<int>(getpid()));
  }
  *backing = open_of_process(pid, ticket.file);
  if (*backing < 0) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: the memory behind the key is gone: %s.", routine,
                std::strerror(errno));
  }
  std::memcpy(static_cast<void *>(copy), bytes, sizeof bytes);
  return 0;
}

namespace {

struct SharedEvent {
  uint64_t magic;
  uint64_t nonce;
  EventCell cell;
};

// Unmaps and closes when the last task that uses the event is done.
struct EventMapping {
  int file;
  SharedEvent *shared;
  EventMapping(int f, SharedEvent *s) : file(f), shared(s) {}
  ~EventMapping() {
    munmap(shared, sizeof *shared);
    close(file);
  }
};

struct EventHandle {
  uint64_t magic, nonce;
  int32_t pid, file;
};
static_assert(sizeof(EventHandle) <= sizeof(aclrtIpcEventHandle), "the handle has 64 bytes");

}  // namespace

Status share_event(Event &event, const char *routine) {
  void *mapped = nullptr;
  const int file = make_shared_file("aclnn_py_event", sizeof(SharedEvent), routine, &mapped);
  if (file < 0) return ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;
  auto *shared = ::new (mapped) SharedEvent{};
  shared->nonce = fresh_nonce();
  shared->magic = kEventMagic;
  Undo opened([&] {
    munmap(mapped, sizeof(SharedEvent));
    close(file);
  });
  event.state->mapping = std::make_shared<EventMapping>(file, shared);
  opened.keep();
  event.state->cell = &shared->cell;
  return 0;
}

}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle) try {
  EMU_ENTER();
  if (handle == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcGetEventHandle: handle is null.");
  emu::Event *found = nullptr;
  if (const Status s = emu::find_event(event, __func__, &found)) return s;
  if ((found->flags & ACL_EVENT_IPC) == 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtIpcGetEventHandle: the event was created without ACL_EVENT_IPC.");
  }
  const auto mapping = std::static_pointer_cast<emu::EventMapping>(found->state->mapping);
  const emu::EventHandle content{emu::kEventMagic, mapping->shared->nonce, getpid(), mapping->file};
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &content, sizeof content);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event) try {
  EMU_ENTER();
  if (event == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcOpenEventHandle: event is null.");
  emu::EventHandle content;
  std::memcpy(&content, &handle, sizeof content);
  if (content.magic != emu::kEventMagic) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE,
                "aclrtIpcOpenEventHandle: the bytes are not a handle.");
  }
  const int file = emu::open_of_process(content.pid, content.file);
  void *mapped = file < 0 ? MAP_FAILED
                          : mmap(nullptr, sizeof(emu::SharedEvent), PROT_READ | PROT_WRITE,
                                 MAP_SHARED, file, 0);
  auto *shared = static_cast<emu::SharedEvent *>(mapped);
  if (mapped == MAP_FAILED || shared->magic != emu::kEventMagic || shared->nonce != content.nonce) {
    if (mapped != MAP_FAILED) munmap(mapped, sizeof(emu::SharedEvent));
    if (file >= 0) close(file);
    return fail(ACL_ERROR_RT_INVALID_HANDLE,
                "aclrtIpcOpenEventHandle: the event of process %d is gone.", content.pid);
  }
  emu::Undo opened([&] {
    munmap(mapped, sizeof(emu::SharedEvent));
    close(file);
  });
  const auto mapping = std::make_shared<emu::EventMapping>(file, shared);
  opened.keep();
  int device = 0;
  if (const Status s = emu::current_device(__func__, &device)) return s;
  emu::Event *made = emu::events().create(device, ACL_EVENT_IPC, true, 0u);
  if (made == nullptr)
    return fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "aclrtIpcOpenEventHandle: too many events.");
  made->state->mapping = mapping;
  made->state->cell = &shared->cell;
  *event = made;
  return 0;
}
EMU_CATCH
