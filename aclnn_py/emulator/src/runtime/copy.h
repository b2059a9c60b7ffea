// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "acl/acl_rt.h"
#include "core/stream.h"

namespace emu {

// Where an address lies, which is what decides the direction of a copy.
struct Place {
  bool on_device = false;
  int device = -1;
};

// 107000 when the address is in a device's range but not wholly inside live memory.
Status place_of(const char *routine, const char *name, const void *p, size_t size, Place *place);

// The checks every copy shares; a copy of nothing passes with *nothing set.
Status check_copy(const char *routine, const void *dst, size_t room, const void *src, size_t size,
                  aclrtMemcpyKind kind, bool *nothing);

// Moves the bytes inside a worker, after checking that device memory is still there.
Status move_bytes(const char *what, void *dst, const void *src, size_t size);
Status fill_bytes(const char *what, void *dst, int value, size_t size);

// Puts a copy into the stream; waits for it when pageable host memory takes part.
Status copy_async(const char *routine, void *dst, size_t room, const void *src, size_t size,
                  aclrtMemcpyKind kind, aclrtStream stream);

// Before a copy or fill outside of streams: the context, captures, faults of the default stream.
Status begin_synchronous(const char *routine);
// Adds to the message of one that failed which streams have unreported faults.
Status synchronous_failed(Status status);

// A copy or fill outside of streams.
template <class F>
Status synchronously(const char *routine, F &&body) {
  Status status = begin_synchronous(routine);
  if (status == 0) status = body();
  return status == 0 ? 0 : synchronous_failed(status);
}

}  // namespace emu
