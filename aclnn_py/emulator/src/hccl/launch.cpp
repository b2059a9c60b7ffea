// SPDX-License-Identifier: Apache-2.0
#include "hccl/launch.h"

#include <cstring>
#include <utility>

#include "acl/acl_base.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/statuses.h"
#include "core/stream.h"
#include "faults/launches.h"
#include "hccl/arguments.h"
#include "hccl/registry.h"

namespace emu::hccl {
namespace {

// The place of a call in the order of issue. When the task that owns it is dropped before it ran,
// the place is given up, so that later calls and the other ranks do not wait for it.
class Place {
 public:
  Place(std::shared_ptr<Communicator> communicator, uint64_t ticket)
      : communicator_(std::move(communicator)), ticket_(ticket) {}
  Place(Place &&other) noexcept
      : communicator_(std::move(other.communicator_)), ticket_(std::exchange(other.ticket_, 0)) {}
  ~Place() {
    if (ticket_ != 0) communicator_->withdraw(ticket_);
  }
  uint64_t use() { return std::exchange(ticket_, 0); }
  Communicator &communicator() { return *communicator_; }

 private:
  std::shared_ptr<Communicator> communicator_;
  uint64_t ticket_;
};

// The other ranks wait for a call that cannot run, so all of them are told.
Status still_there(Communicator &communicator, const Call &call, const std::vector<Span> &spans) {
  for (const Span &span : spans) {
    int owner = -1;
    if (span.bytes == 0 ||
        (on_device(span.data, span.bytes, &owner) && owner == communicator.device()))
      continue;
    return communicator.abandon("EI0012", kKernelFault,
                                "%s: %s of %s (%llu bytes at %p) was freed before the call ran",
                                call.text, span.name, communicator.who(communicator.rank()).c_str(),
                                static_cast<unsigned long long>(span.bytes), span.data);
  }
  return 0;
}

std::vector<faults::Use> uses_of(const std::vector<Span> &spans) {
  std::vector<faults::Use> uses;
  for (const Span &span : spans) {
    const auto low = reinterpret_cast<uintptr_t>(span.data);
    const bool sent = std::strncmp(span.name, "send", 4) == 0;
    if (span.bytes > 0) uses.push_back({low, low + span.bytes, !sent, span.name});
  }
  return uses;
}

}  // namespace

Status out_of_memory(Communicator &communicator, const char *routine) {
  return communicator.abandon("EI0007", ACL_ERROR_RT_MEMORY_ALLOCATION,
                              "%s: the host of rank %u has no memory left", routine,
                              communicator.rank());
}

Status usable(const char *routine, HcclComm handle, std::shared_ptr<Communicator> *communicator) {
  if (forked()) {
    refuse_forked(routine);
    return HCCL_E_INTERNAL;
  }
  if (const Status status = check_pointer(routine, "comm", handle)) return status;
  *communicator = find_communicator(handle);
  if (!*communicator)
    return refuse(HCCL_E_PARA, "%s: comm %p is not a communicator; it may have been destroyed",
                  routine, handle);
  if ((*communicator)->suspended()) {
    return refuse(HCCL_E_SUSPENDING,
                  "%s: the communicator %s is suspended; HcclCommResume ends that", routine,
                  (*communicator)->name().c_str());
  }
  if ((*communicator)->failed()) {
    return fail_as("EI0012", HCCL_E_REMOTE, "%s: the communicator failed before: %s", routine,
                   (*communicator)->failure_text().c_str());
  }
  return 0;
}

Status launch(const char *routine, const std::shared_ptr<Communicator> &communicator,
              aclrtStream raw, Call call, std::vector<Span> spans, Body body) {
  Stream *stream = streams().find(raw);
  if (!stream)
    return refuse(HCCL_E_PARA, "%s: stream %p is not a stream; it may have been destroyed", routine,
                  raw);
  if (stream->device != communicator->device()) {
    return refuse(HCCL_E_PARA,
                  "%s: the stream belongs to device %d, but the communicator to device %d", routine,
                  stream->device, communicator->device());
  }
  // the order of issue and the order on the stream must be the same
  std::lock_guard<std::mutex> hold(communicator->issue_mutex);
  const uint64_t ticket = stream->capture.load() ? 0 : communicator->issue();
  const bool watched = faults::checking() && stream->capture.load() == nullptr;
  if (watched) faults::before_launch(*stream, routine, uses_of(spans));
  Task task = [place = Place(communicator, ticket), call = std::move(call),
               spans = std::move(spans), body = std::move(body)]() mutable -> Status {
    return together(place.communicator(), call.text, [&]() -> Status {
      Session session(place.communicator(), call, place.use());
      if (const Status status = session.begin()) return status;
      if (const Status status = still_there(place.communicator(), call, spans)) return status;
      return body(session);
    });
  };
  const Status status = enqueue_on(*stream, routine, std::move(task), RunBy::anyone);
  if (watched) faults::after_launch(*stream, status == 0);
  return status == 0 ? 0 : HCCL_E_RUNTIME;
}

}  // namespace emu::hccl
