// SPDX-License-Identifier: Apache-2.0
// One-dimensional copies and fills.
#include "runtime/copy.h"

#include <vector>

#include "core/capture.h"
#include "core/context.h"
#include "core/device.h"
#include "core/export.h"
#include "core/host_memory.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "faults/arguments.h"
#include "faults/findings.h"
#include "faults/launches.h"

namespace emu {

constexpr size_t kBriefBytes = size_t{256} << 10;  // tens of microseconds

Status place_of(const char *routine, const char *name, const void *p, size_t size, Place *place) {
  if (on_device(p, size, &place->device)) {
    place->on_device = true;
    return 0;
  }
  if (device_of_address(p) < 0) return 0;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %s needs %zu bytes at %p, which is %s.", routine,
              name, size, p, describe_address(p).c_str());
}

Status check_copy(const char *routine, const void *dst, size_t room, const void *src, size_t size,
                  aclrtMemcpyKind kind, bool *nothing) {
  *nothing = false;
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %d is not a kind of copy.", routine,
                static_cast<int>(kind));
  }
  if (size == 0) {
    *nothing = true;
    return 0;
  }
  if (dst == nullptr || src == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s is null.", routine,
                dst == nullptr ? "dst" : "src");
  }
  if (size > room) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: count (%zu) is more than destMax (%zu).", routine,
                size, room);
  }
  return 0;
}

namespace {

// As `place_of`, of memory that was there when the work was queued.
Status still_there(const char *what, const void *p, size_t size, Place *place) {
  place->on_device = on_device(p, size, &place->device);
  if (place->on_device || device_of_address(p) < 0) return 0;
  return fail(ACL_ERROR_RT_SYS_DMA, "%s: %zu bytes at %p are gone: %s.", what, size, p,
              describe_address(p).c_str());
}

// What every copy and fill ends with; where `dst` lies was found out before. `code` is the answer
// to host memory that cannot be accessed.
Status move(const char *what, Status code, void *dst, const void *src, size_t size,
            const Place &to) {
  if (to.on_device) use_large_pages(dst, size, to.device);
  if (const Status s = copy_memory(what, code, dst, src, size)) return s;
  if (check_mode()) note_written(dst, size);
  return 0;
}

Status fill(const char *what, Status code, void *dst, int value, size_t size, const Place &to) {
  if (to.on_device) use_large_pages(dst, size, to.device);
  const auto byte = static_cast<unsigned char>(value);
  if (const Status s = fill_memory(what, code, dst, byte * 0x01010101u, size)) return s;
  if (check_mode()) note_written(dst, size);
  return 0;
}

}  // namespace

Status move_bytes(const char *what, void *dst, const void *src, size_t size) {
  Place to, from;
  if (const Status s = still_there(what, dst, size, &to)) return s;
  if (const Status s = still_there(what, src, size, &from)) return s;
  return move(what, ACL_ERROR_RT_SYS_DMA, dst, src, size, to);
}

Status fill_bytes(const char *what, void *dst, int value, size_t size) {
  Place to;
  if (const Status s = still_there(what, dst, size, &to)) return s;
  return fill(what, ACL_ERROR_RT_SYS_DMA, dst, value, size, to);
}

Status begin_synchronous(const char *routine) {
  EMU_ENTER_AS(routine);
  Context *context = nullptr;
  if (const Status s = current_context(routine, &context)) return s;
  if (const Status s = check_unsafe_call(routine, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT)) return s;
  Stream *const own = context->default_stream.load();
  if (own == nullptr || !own->faults.any()) return 0;
  // It waits for nothing: the faults are those of the work that is done.
  const uint64_t since = own->faults.reports();
  return report_faults(*own, {own->completed.load(std::memory_order_acquire), since}, routine);
}

Status synchronous_failed(Status status) {
  if (const Context *context = peek_context()) mention_faults(context->device);
  return status;
}

namespace {

bool wants_device(aclrtMemcpyKind kind, bool destination) {
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE: return destination;
    case ACL_MEMCPY_DEVICE_TO_HOST: return !destination;
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE: return true;
    default: return false;
  }
}

Status wait_here(Stream &stream, const char *routine) { return synchronize(stream, -1, routine); }

Status copy_sync(const char *routine, void *dst, size_t room, const void *src, size_t size,
                 aclrtMemcpyKind kind) {
  bool nothing = false;
  if (const Status s = check_copy(routine, dst, room, src, size, kind, &nothing)) return s;
  if (nothing) return 0;
  Place to, from;
  if (const Status s = place_of(routine, "dst", dst, size, &to)) return s;
  if (const Status s = place_of(routine, "src", src, size, &from)) return s;
  if (faults::checking()) {
    faults::look_at_copy(routine, dst, to.on_device, src, from.on_device, size, kind);
    faults::host_touches(faults::Host::reads, routine, src, size);
    faults::host_touches(faults::Host::writes, routine, dst, size);
  }
  return move(routine, ACL_ERROR_RT_PARAM_INVALID, dst, src, size, to);
}

Status fill_sync(const char *routine, void *dst, size_t room, int32_t value, size_t size) {
  if (size == 0) return 0;
  if (dst == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: devPtr is null.", routine);
  if (size > room) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: count (%zu) is more than maxCount (%zu).", routine,
                size, room);
  }
  Place place;
  if (const Status s = place_of(routine, "devPtr", dst, size, &place)) return s;
  if (faults::checking()) faults::host_touches(faults::Host::writes, routine, dst, size);
  return fill(routine, ACL_ERROR_RT_PARAM_INVALID, dst, value, size, place);
}

}  // namespace

static std::vector<faults::Use> uses_of(const void *dst, const void *src, size_t size) {
  const auto to = reinterpret_cast<uintptr_t>(dst), from = reinterpret_cast<uintptr_t>(src);
  return {{to, to + size, true, "dst"}, {from, from + size, false, "src"}};
}

Status copy_async(const char *routine, void *dst, size_t room, const void *src, size_t size,
                  aclrtMemcpyKind kind, aclrtStream raw) {
  EMU_ENTER_AS(routine);
  Stream *stream = nullptr;
  if (const Status s = resolve(raw, routine, &stream)) return s;
  bool nothing = false;
  if (const Status s = check_copy(routine, dst, room, src, size, kind, &nothing)) return s;
  if (nothing) return 0;
  Place to, from;
  if (const Status s = place_of(routine, "dst", dst, size, &to)) return s;
  if (const Status s = place_of(routine, "src", src, size, &from)) return s;
  if (faults::checking())
    faults::look_at_copy(routine, dst, to.on_device, src, from.on_device, size, kind);
  const bool wrong_dst = wants_device(kind, true) && !to.on_device;
  if (wrong_dst || (wants_device(kind, false) && !from.on_device)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: the kind of copy (%d) wants %s on a device, %p is host memory.", routine,
                static_cast<int>(kind), wrong_dst ? "dst" : "src", wrong_dst ? dst : src);
  }
  if (!to.on_device && !from.on_device) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "%s: both addresses are host memory; a stream copies to or from a device.",
                routine);
  }
  if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE && !from.on_device) {
    std::vector<char> bytes(size);
    if (const Status s = copy_memory(routine, ACL_ERROR_RT_PARAM_INVALID, bytes.data(), src, size))
      return s;
    return enqueue_on(*stream, "aclrtMemcpyAsync", [dst, bytes = std::move(bytes)]() -> Status {
      return move_bytes("aclrtMemcpyAsync", dst, bytes.data(), bytes.size());
    });
  }
  const void *host = to.on_device ? (from.on_device ? nullptr : src) : dst;
  const bool pageable = host != nullptr && !host_known(host, size);
  if (pageable) {
    if (const Status s = check_unsafe_call(routine, ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC))
      return s;
  }
  const bool watched = faults::checking() && stream->capture.load() == nullptr;
  if (watched) faults::before_launch(*stream, routine, uses_of(dst, src, size));
  const Status s = enqueue_on(
      *stream, "aclrtMemcpyAsync",
      [dst, src, size]() -> Status { return move_bytes("aclrtMemcpyAsync", dst, src, size); },
      size <= kBriefBytes ? RunBy::anyone_in_haste : RunBy::anyone);
  if (watched) faults::after_launch(*stream, s == 0);
  // Pageable memory cannot be reached by the device later: the call lasts until the copy has
  // happened.
  if (s != 0 || !pageable || stream->capture.load() != nullptr) return s;
  return wait_here(*stream, routine);
}

}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                                aclrtMemcpyKind kind) try {
  EMU_TIMED();
  return emu::synchronously(
      __func__, [&] { return emu::copy_sync("aclrtMemcpy", dst, destMax, src, count, kind); });
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                                     aclrtMemcpyKind kind, aclrtStream stream) try {
  EMU_TIMED();
  return emu::copy_async(__func__, dst, destMax, src, count, kind, stream);
}
EMU_CATCH

// The condition is that source and destination are what `kind` says, which every copy here looks
// at.
EMU_EXPORT aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src,
                                                  size_t count, aclrtMemcpyKind kind,
                                                  aclrtStream stream) try {
  EMU_TIMED();
  return emu::copy_async(__func__, dst, destMax, src, count, kind, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count) try {
  EMU_TIMED();
  return emu::synchronously(
      __func__, [&] { return emu::fill_sync("aclrtMemset", devPtr, maxCount, value, count); });
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count,
                                     aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (count == 0) return 0;
  if (devPtr == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemsetAsync: devPtr is null.");
  if (count > maxCount) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemsetAsync: count (%zu) is more than maxCount (%zu).", count, maxCount);
  }
  emu::Place place;
  if (const Status s = emu::place_of(__func__, "devPtr", devPtr, count, &place)) return s;
  if (!place.on_device) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemsetAsync: %p is host memory, a stream fills device memory.", devPtr);
  }
  const bool watched = emu::faults::checking() && found->capture.load() == nullptr;
  const auto low = reinterpret_cast<uintptr_t>(devPtr);
  if (watched) emu::faults::before_launch(*found, __func__, {{low, low + count, true, "devPtr"}});
  const Status s = emu::enqueue_on(
      *found, "aclrtMemsetAsync",
      [devPtr, value, count]() -> Status {
        return emu::fill_bytes("aclrtMemsetAsync", devPtr, value, count);
      },
      count <= emu::kBriefBytes ? emu::RunBy::anyone_in_haste : emu::RunBy::anyone);
  if (watched) emu::faults::after_launch(*found, s == 0);
  return s;
}
EMU_CATCH
