// SPDX-License-Identifier: Apache-2.0
// Copies with pitches, descriptors, offsets and in batches; fills with 32-bit values; cache hints.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/capture.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "runtime/copy.h"

using emu::fail;
using emu::Place;
using emu::Status;

namespace {

constexpr size_t kMaxWidth = 5000000, kMaxHeight = 5242880;

struct PitchedCopy {
  char *dst;
  const char *src;
  size_t dpitch, spitch, width, height;

  size_t dst_span() const { return (height - 1) * dpitch + width; }
  size_t src_span() const { return (height - 1) * spitch + width; }
};

Status move_rows(const char *what, const PitchedCopy &rows) {
  for (size_t i = 0; i < rows.height; ++i) {
    if (const Status s = emu::move_bytes(what, rows.dst + i * rows.dpitch,
                                         rows.src + i * rows.spitch, rows.width))
      return s;
  }
  return 0;
}

Status check_rows(const char *routine, const PitchedCopy &rows, aclrtMemcpyKind kind, bool async) {
  const bool known = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_HOST ||
                     kind == ACL_MEMCPY_DEFAULT || (async && kind == ACL_MEMCPY_DEVICE_TO_DEVICE);
  if (!known) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: this form does not copy with kind %d.", routine,
                static_cast<int>(kind));
  }
  if (rows.dst == nullptr || rows.src == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s is null.", routine,
                rows.dst == nullptr ? "dst" : "src");
  }
  if (rows.width == 0 || rows.height == 0 || rows.width > rows.dpitch || rows.width > rows.spitch) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: width %zu, height %zu with pitches %zu and %zu.",
                routine, rows.width, rows.height, rows.dpitch, rows.spitch);
  }
  if (async && (rows.width > kMaxWidth || rows.height > kMaxHeight)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %zu by %zu is more than %zu by %zu.", routine,
                rows.width, rows.height, kMaxWidth, kMaxHeight);
  }
  Place to, from;
  if (const Status s = emu::place_of(routine, "dst", rows.dst, rows.dst_span(), &to)) return s;
  if (const Status s = emu::place_of(routine, "src", rows.src, rows.src_span(), &from)) return s;
  if (async && !to.on_device && !from.on_device) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s: both addresses are host memory.", routine);
  }
  return 0;
}

struct CopyDescriptor {
  uint64_t magic;
  void *dst;
  const void *src;
  size_t size;
};
constexpr uint64_t kDescriptorMagic = 0x61636c6e6e646573ull;

// What the batch forms check before anything is copied; *index names the item a refusal is about.
Status check_batch(const char *routine, void **dsts, const size_t *rooms, void **srcs,
                   const size_t *sizes, size_t count, const aclrtMemcpyBatchAttr *attrs,
                   const size_t *starts, size_t attr_count, size_t *index) {
  *index = SIZE_MAX;
  if (dsts == nullptr || rooms == nullptr || srcs == nullptr || sizes == nullptr ||
      attrs == nullptr || starts == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: an array is null.", routine);
  }
  if (count == 0 || attr_count == 0 || attr_count > count || starts[0] != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: %zu copies with %zu attributes, the first of which must start at 0.", routine,
                count, attr_count);
  }
  for (size_t i = 1; i < attr_count; ++i) {
    if (starts[i] <= starts[i - 1] || starts[i] >= count) {
      return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: attrsIndexes must ascend and stay below %zu.",
                  routine, count);
    }
  }
  int direction = -1;
  for (size_t i = 0; i < count; ++i) {
    bool nothing = false;
    Place to, from;
    Status s = emu::check_copy(routine, dsts[i], rooms[i], srcs[i], sizes[i], ACL_MEMCPY_DEFAULT,
                               &nothing);
    if (s == 0 && !nothing) s = emu::place_of(routine, "dst", dsts[i], sizes[i], &to);
    if (s == 0 && !nothing) s = emu::place_of(routine, "src", srcs[i], sizes[i], &from);
    if (s == 0 && !nothing && to.on_device == from.on_device) {
      s = fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s: copy %zu is not between host and device.",
               routine, i);
    }
    if (s == 0 && !nothing && direction >= 0 && direction != static_cast<int>(to.on_device)) {
      s = fail(ACL_ERROR_RT_PARAM_INVALID,
               "%s: copy %zu has another direction than the copies before it.", routine, i);
    }
    if (s != 0) {
      *index = i;
      return s;
    }
    if (!nothing) direction = to.on_device ? 1 : 0;
  }
  return 0;
}

Status batch_sync(const char *routine, void **dsts, size_t *rooms, void **srcs, size_t *sizes,
                  size_t count, aclrtMemcpyBatchAttr *attrs, size_t *starts, size_t attr_count,
                  size_t *fail_index) {
  size_t index = SIZE_MAX;
  const Status s = emu::synchronously(routine, [&] {
    return check_batch(routine, dsts, rooms, srcs, sizes, count, attrs, starts, attr_count, &index);
  });
  if (fail_index != nullptr) *fail_index = index;
  if (s != 0) return s;
  for (size_t i = 0; i < count; ++i) {
    if (sizes[i] == 0) continue;
    if (const Status bad =
            emu::copy_memory(routine, ACL_ERROR_RT_PARAM_INVALID, dsts[i], srcs[i], sizes[i])) {
      if (fail_index != nullptr) *fail_index = i;
      return bad;
    }
    if (emu::check_mode()) emu::note_written(dsts[i], sizes[i]);
  }
  return 0;
}

Status batch_async(const char *routine, void **dsts, size_t *rooms, void **srcs, size_t *sizes,
                   size_t count, aclrtMemcpyBatchAttr *attrs, size_t *starts, size_t attr_count,
                   size_t *fail_index, aclrtStream stream) {
  EMU_ENTER_AS(routine);
  size_t index = SIZE_MAX;
  const Status checked =
      check_batch(routine, dsts, rooms, srcs, sizes, count, attrs, starts, attr_count, &index);
  if (fail_index != nullptr) *fail_index = index;
  if (checked != 0) return checked;
  for (size_t i = 0; i < count; ++i) {
    const Status s =
        emu::copy_async(routine, dsts[i], rooms[i], srcs[i], sizes[i], ACL_MEMCPY_DEFAULT, stream);
    if (s == 0) continue;
    if (fail_index != nullptr) *fail_index = i;
    return s;
  }
  return 0;
}

Status check_words(const char *routine, void *ptr, size_t room, size_t count) {
  if (ptr == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: ptr is null.", routine);
  if (count > room / 4) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %zu values of 4 bytes do not fit into %zu bytes.",
                routine, count, room);
  }
  if (reinterpret_cast<uintptr_t>(ptr) % 4 != 0) {
    return fail(ACL_ERROR_RT_ADDR_UNALIGNED, "%s: %p is not aligned to 4 bytes.", routine, ptr);
  }
  Place place;
  return emu::place_of(routine, "ptr", ptr, count * 4, &place);
}

Status fill_words(const char *routine, Status code, void *ptr, uint32_t value, size_t count) {
  if (const Status s = emu::fill_memory(routine, code, ptr, value, count * sizeof value)) return s;
  if (emu::check_mode()) emu::note_written(ptr, count * sizeof value);
  return 0;
}

}  // namespace

EMU_EXPORT aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch,
                                  size_t width, size_t height, aclrtMemcpyKind kind) try {
  EMU_TIMED();
  const PitchedCopy rows{
      static_cast<char *>(dst), static_cast<const char *>(src), dpitch, spitch, width, height};
  return emu::synchronously(__func__, [&]() -> Status {
    if (const Status s = check_rows("aclrtMemcpy2d", rows, kind, false)) return s;
    return move_rows("aclrtMemcpy2d", rows);
  });
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                                       size_t width, size_t height, aclrtMemcpyKind kind,
                                       aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  const PitchedCopy rows{
      static_cast<char *>(dst), static_cast<const char *>(src), dpitch, spitch, width, height};
  if (const Status s = check_rows(__func__, rows, kind, true)) return s;
  return emu::enqueue_on(*found, "aclrtMemcpy2dAsync",
                         [rows]() -> Status { return move_rows("aclrtMemcpy2dAsync", rows); });
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize) try {
  if (descSize == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemcpyDescSize: descSize is null.");
  if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtGetMemcpyDescSize: descriptors exist for copies inside a device.");
  }
  *descSize = sizeof(CopyDescriptor);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr,
                                       void *dstAddr, size_t count, void *config) try {
  if (const Status s = emu::begin_synchronous(__func__)) return s;
  if (desc == nullptr || srcAddr == nullptr || dstAddr == nullptr || config != nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtSetMemcpyDesc: an address is null or config is not.");
  }
  if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtSetMemcpyDesc: descriptors exist for copies inside a device.");
  }
  if (!emu::on_device(desc, sizeof(CopyDescriptor), nullptr)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSetMemcpyDesc: desc is %s.",
                emu::describe_address(desc).c_str());
  }
  const CopyDescriptor written{kDescriptorMagic, dstAddr, srcAddr, count};
  std::memcpy(desc, &written, sizeof written);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind,
                                             aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE ||
      !emu::on_device(desc, sizeof(CopyDescriptor), nullptr)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpyAsyncWithDesc: kind is %d and desc is %s.",
                static_cast<int>(kind), emu::describe_address(desc).c_str());
  }
  // The descriptor is read when the stream gets there: a program may rewrite it between replays.
  return emu::enqueue_on(*found, "aclrtMemcpyAsyncWithDesc", [desc]() -> Status {
    CopyDescriptor read;
    if (!emu::on_device(desc, sizeof read, nullptr)) {
      return fail(ACL_ERROR_RT_SYS_DMA, "aclrtMemcpyAsyncWithDesc: the descriptor is %s.",
                  emu::describe_address(desc).c_str());
    }
    std::memcpy(&read, desc, sizeof read);
    if (read.magic != kDescriptorMagic || !emu::on_device(read.dst, read.size, nullptr) ||
        !emu::on_device(read.src, read.size, nullptr)) {
      return fail(
          ACL_ERROR_RT_SYS_DMA,
          "aclrtMemcpyAsyncWithDesc: the descriptor does not describe a copy of device memory.");
    }
    return emu::move_bytes("aclrtMemcpyAsyncWithDesc", read.dst, read.src, read.size);
  });
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax, size_t dstDataOffset,
                                               const void **src, size_t count, size_t srcDataOffset,
                                               aclrtMemcpyKind kind, aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE || count > destMax) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemcpyAsyncWithOffset: kind is %d, count %zu of %zu.", static_cast<int>(kind),
                count, destMax);
  }
  if (!emu::on_device(dst, sizeof *dst, nullptr) || !emu::on_device(src, sizeof *src, nullptr)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemcpyAsyncWithOffset: the addresses of the addresses are device memory.");
  }
  return emu::enqueue_on(
      *found, "aclrtMemcpyAsyncWithOffset",
      [dst, dstDataOffset, src, count, srcDataOffset]() -> Status {
        char *to = static_cast<char *>(*dst) + dstDataOffset;
        const char *from = static_cast<const char *>(*src) + srcDataOffset;
        if (!emu::on_device(to, count, nullptr) || !emu::on_device(from, count, nullptr)) {
          return fail(ACL_ERROR_RT_SYS_DMA,
                      "aclrtMemcpyAsyncWithOffset: not a copy of device memory.");
        }
        return emu::move_bytes("aclrtMemcpyAsyncWithOffset", to, from, count);
      });
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                                     size_t numBatches, aclrtMemcpyBatchAttr *attrs,
                                     size_t *attrsIndexes, size_t numAttrs, size_t *failIndex) try {
  EMU_TIMED();
  return batch_sync(__func__, dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes,
                    numAttrs, failIndex);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                                       size_t numBatches, aclrtMemcpyBatchAttr *attrs,
                                       size_t *attrsIndexes, size_t numAttrs) try {
  EMU_TIMED();
  return batch_sync(__func__, dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes,
                    numAttrs, nullptr);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                                          size_t numBatches, aclrtMemcpyBatchAttr *attrs,
                                          size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
                                          aclrtStream stream) try {
  EMU_TIMED();
  return batch_async(__func__, dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes,
                     numAttrs, failIndex, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs,
                                            size_t *sizes, size_t numBatches,
                                            aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                                            size_t numAttrs, aclrtStream stream) try {
  EMU_TIMED();
  return batch_async(__func__, dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes,
                     numAttrs, nullptr, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemsetD32(void *ptr, size_t memSize, uint32_t value, size_t N) try {
  EMU_TIMED();
  return emu::synchronously(__func__, [&]() -> Status {
    if (N == 0) return 0;
    if (const Status s = check_words("aclrtMemsetD32", ptr, memSize, N)) return s;
    return fill_words("aclrtMemsetD32", ACL_ERROR_RT_PARAM_INVALID, ptr, value, N);
  });
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemsetD32Async(void *ptr, size_t memSize, uint32_t value, size_t N,
                                        aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (N == 0) return 0;
  if (const Status s = check_words(__func__, ptr, memSize, N)) return s;
  return emu::enqueue_on(*found, "aclrtMemsetD32Async", [ptr, value, N]() -> Status {
    if (!emu::on_device(ptr, N * 4, nullptr)) {
      return fail(ACL_ERROR_RT_SYS_DMA, "aclrtMemsetD32Async: %p is %s.", ptr,
                  emu::describe_address(ptr).c_str());
    }
    return fill_words("aclrtMemsetD32Async", ACL_ERROR_RT_SYS_DMA, ptr, value, N);
  });
}
EMU_CATCH

// Cache hints have nothing to act on here; their arguments are checked as on a device.
EMU_EXPORT aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType,
                                  aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (src == nullptr || size == 0 || cmoType < ACL_RT_CMO_TYPE_PREFETCH ||
      cmoType > ACL_RT_CMO_TYPE_FLUSH) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCmoAsync: src %p, size %zu, type %d.", src, size,
                static_cast<int>(cmoType));
  }
  if (!emu::on_device(src, size, nullptr)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtCmoAsync: %p is %s.", src,
                emu::describe_address(src).c_str());
  }
  return 0;
}
EMU_CATCH
