// SPDX-License-Identifier: Apache-2.0
// From an API call to a task on a stream.
#pragma once

#include <functional>
#include <memory>
#include <new>

#include "acl/acl_base_rt.h"
#include "hccl/session.h"

namespace emu::hccl {

// The communicator behind a handle, ready for a call: HCCL_E_PTR for null, HCCL_E_PARA for a stale
// handle, HCCL_E_SUSPENDING, HCCL_E_REMOTE after a failure.
Status usable(const char *routine, HcclComm handle, std::shared_ptr<Communicator> *communicator);

using Body = std::function<Status(Session &)>;

// Device memory that a call reads or writes. It was good when the call was issued; it must still be
// when the task runs.
struct Span {
  const char *name;
  const void *data;
  uint64_t bytes;
};

// Runs `body` in a session of the communicator as the stream's next task. `routine` is a literal.
Status launch(const char *routine, const std::shared_ptr<Communicator> &communicator,
              aclrtStream stream, Call call, std::vector<Span> spans, Body body);

// Tells all ranks that this one has no memory for the call they make together.
Status out_of_memory(Communicator &communicator, const char *routine);

// Runs what the other ranks wait for: they hear of it when the host has no memory for it.
template <class F>
Status together(Communicator &communicator, const char *routine, F &&body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return out_of_memory(communicator, routine);
  }
}

}  // namespace emu::hccl
