// SPDX-License-Identifier: Apache-2.0
// Reductions on a stream: dst = dst op src, element by element.
#include "hccl/reduce.h"

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/process.h"
#include "core/stream.h"
#include "hccl/hccl_types.h"
#include "meta/tensor.h"

using emu::fail;
using emu::Status;

namespace {

constexpr const char *kRoutine = "aclrtReduceAsync";

// The reductions of collectives are the same arithmetic; -1 for what A2 and A3 do not reduce.
int collective_dtype(aclDataType type) {
  switch (type) {
    case ACL_INT8: return HCCL_DATA_TYPE_INT8;
    case ACL_INT16: return HCCL_DATA_TYPE_INT16;
    case ACL_INT32: return HCCL_DATA_TYPE_INT32;
    case ACL_FLOAT16: return HCCL_DATA_TYPE_FP16;
    case ACL_FLOAT: return HCCL_DATA_TYPE_FP32;
    case ACL_BF16: return HCCL_DATA_TYPE_BFP16;
    default: return -1;
  }
}

int collective_op(aclrtReduceKind kind) {
  switch (kind) {
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM: return HCCL_REDUCE_SUM;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX: return HCCL_REDUCE_MAX;
    case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN: return HCCL_REDUCE_MIN;
    default: return -1;
  }
}

Status check_side(const char *name, const void *address, uint64_t bytes, uint32_t item,
                  int device) {
  int owner = -1;
  if (!emu::on_device(address, bytes, &owner)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: %s needs %llu bytes of device memory at %p, which is %s.", kRoutine, name,
                static_cast<unsigned long long>(bytes), address,
                emu::describe_address(address).c_str());
  }
  if (owner != device) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: %s lies on device %d, the stream is of device %d; both must be one.", kRoutine,
                name, owner, device);
  }
  if (reinterpret_cast<uintptr_t>(address) % item != 0) {
    return fail(ACL_ERROR_RT_ADDR_UNALIGNED, "%s: %s at %p is not aligned to %u bytes.", kRoutine,
                name, address, item);
  }
  return 0;
}

Status reduce(const emu::hccl::ReduceType &type, void *dst, const void *src, uint64_t bytes) {
  for (const void *side : {static_cast<const void *>(dst), src}) {
    if (!emu::on_device(side, bytes, nullptr)) {
      return fail(ACL_ERROR_RT_SYS_DMA, "%s: %llu bytes at %p are gone: %s.", kRoutine,
                  static_cast<unsigned long long>(bytes), side,
                  emu::describe_address(side).c_str());
    }
  }
  emu::hccl::reduce_in_order(type, {dst, src}, {dst}, bytes / type.item_bytes,
                             emu::parallel_width());
  if (emu::check_mode()) emu::note_written(dst, bytes);
  return 0;
}

}  // namespace

EMU_EXPORT aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count,
                                     aclrtReduceKind kind, aclDataType type, aclrtStream stream,
                                     void *reserve) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (dst == nullptr || src == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtReduceAsync: %s is null.",
                dst == nullptr ? "dst" : "src");
  }
  if (reserve != nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtReduceAsync: reserve must be null.");
  const int op = collective_op(kind), dtype = collective_dtype(type);
  if (op < 0) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtReduceAsync: kind %d; this device has SUM (10), MAX (11), MIN (12).",
                static_cast<int>(kind));
  }
  if (dtype < 0) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtReduceAsync: type %s; this device reduces INT8, INT16, INT32, FLOAT16, FLOAT "
                "and BFLOAT16.",
                emu::dtype_name(type));
  }
  const auto arithmetic =
      emu::hccl::reduce_type(static_cast<uint32_t>(dtype), static_cast<uint32_t>(op));
  if (count == 0 || count % arithmetic.item_bytes != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtReduceAsync: count is %llu bytes; it must be a positive multiple of %u.",
                static_cast<unsigned long long>(count), arithmetic.item_bytes);
  }
  if (const Status s = check_side("dst", dst, count, arithmetic.item_bytes, found->device))
    return s;
  if (const Status s = check_side("src", src, count, arithmetic.item_bytes, found->device))
    return s;
  return emu::enqueue_on(*found, "aclrtReduceAsync", [arithmetic, dst, src, count]() -> Status {
    return reduce(arithmetic, dst, src, count);
  });
}
EMU_CATCH
