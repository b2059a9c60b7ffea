// SPDX-License-Identifier: Apache-2.0
// Cache hints by descriptor. There is no cache of the device to act on; the arguments are checked
// as on a device.
#include <cstdint>
#include <cstring>

#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "runtime/copy.h"

using emu::fail;
using emu::Status;

namespace {

struct HintDescriptor {
  uint64_t magic;
  const void *address;
  size_t size;
};
constexpr uint64_t kHintMagic = 0x61636c6e6e636d6full;

Status check_descriptor(const char *routine, const void *desc) {
  if (desc == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: cmoDesc is null.", routine);
  if (emu::on_device(desc, sizeof(HintDescriptor), nullptr)) return 0;
  return fail(ACL_ERROR_RT_PARAM_INVALID,
              "%s: cmoDesc is %s; it must be %zu bytes of device memory.", routine,
              emu::describe_address(desc).c_str(), sizeof(HintDescriptor));
}

}  // namespace

EMU_EXPORT aclError aclrtCmoGetDescSize(size_t *size) try {
  EMU_ENTER();
  if (size == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtCmoGetDescSize: size is null.");
  *size = sizeof(HintDescriptor);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtCmoSetDesc(void *cmoDesc, void *src, size_t size) try {
  if (const Status s = emu::begin_synchronous(__func__)) return s;
  if (const Status s = check_descriptor(__func__, cmoDesc)) return s;
  if (src == nullptr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtCmoSetDesc: src is %p, size is %zu; device memory is asked for.", src, size);
  }
  if (!emu::on_device(src, size, nullptr)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtCmoSetDesc: src is %s.",
                emu::describe_address(src).c_str());
  }
  const HintDescriptor written{kHintMagic, src, size};
  std::memcpy(cmoDesc, &written, sizeof written);
  if (emu::check_mode()) emu::note_written(cmoDesc, sizeof written);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtCmoAsyncWithDesc(void *cmoDesc, aclrtCmoType cmoType, aclrtStream stream,
                                          const void *reserve) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (const Status s = check_descriptor(__func__, cmoDesc)) return s;
  if (cmoType != ACL_RT_CMO_TYPE_PREFETCH || reserve != nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtCmoAsyncWithDesc: cmoType is %d (only PREFETCH, 0, exists), reserve is %p "
                "(it must be null).",
                static_cast<int>(cmoType), reserve);
  }
  // Read when the stream gets there, as everything that lies in device memory.
  return emu::enqueue_on(*found, "aclrtCmoAsyncWithDesc", [cmoDesc]() -> Status {
    HintDescriptor read{};
    if (emu::on_device(cmoDesc, sizeof read, nullptr)) std::memcpy(&read, cmoDesc, sizeof read);
    if (read.magic != kHintMagic || !emu::on_device(read.address, read.size, nullptr)) {
      return fail(ACL_ERROR_RT_SYS_DMA,
                  "aclrtCmoAsyncWithDesc: the descriptor at %p does not name live device memory.",
                  cmoDesc);
    }
    return 0;
  });
}
EMU_CATCH
