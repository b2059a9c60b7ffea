// SPDX-License-Identifier: Apache-2.0
// A program's own allocator, registered with a stream for whoever asks for it.
#include <map>
#include <mutex>

#include "acl/acl_rt.h"
#include "core/export.h"
#include "core/process.h"
#include "core/slots.h"
#include "core/stream.h"

namespace emu {
namespace {

struct AllocatorDesc {
  aclrtAllocator object = nullptr;
  aclrtAllocatorAllocFunc allocate = nullptr;
  aclrtAllocatorFreeFunc release = nullptr;
  aclrtAllocatorAllocAdviseFunc advise = nullptr;
  aclrtAllocatorGetAddrFromBlockFunc address = nullptr;
};

Slots<AllocatorDesc> &descriptions() {
  static auto *const all = new Slots<AllocatorDesc>(1 << 14);
  return *all;
}

struct Registered {
  aclrtAllocatorDesc handle;
  AllocatorDesc copy;
};

struct Registry {
  std::mutex mutex;
  std::map<const Stream *, Registered> by_stream;
};

Registry &registry() {
  static auto *const instance = [] {
    at_stream_end([](Stream *stream) {
      std::lock_guard<std::mutex> lock(registry().mutex);
      registry().by_stream.erase(stream);
    });
    return new Registry;
  }();
  return *instance;
}

Status find(const char *routine, aclrtAllocatorDesc raw, AllocatorDesc **desc) {
  EMU_ENTER_AS(routine);
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: allocatorDesc is null.", routine);
  *desc = descriptions().find(raw);
  if (*desc != nullptr) return 0;
  return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live allocator description.", routine,
              raw);
}

template <class Value>
Status set(const char *routine, aclrtAllocatorDesc raw, Value AllocatorDesc::*field, Value value) {
  AllocatorDesc *desc = nullptr;
  if (const Status s = find(routine, raw, &desc)) return s;
  if (value == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: the value is null.", routine);
  desc->*field = value;
  return 0;
}

}  // namespace
}  // namespace emu

using emu::AllocatorDesc;
using emu::fail;
using emu::Status;

EMU_EXPORT aclrtAllocatorDesc aclrtAllocatorCreateDesc(void) try {
  if (emu::check_process(__func__)) return nullptr;
  return emu::descriptions().create();
}
EMU_CATCH

EMU_EXPORT aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) try {
  AllocatorDesc *desc = nullptr;
  if (const Status s = emu::find(__func__, allocatorDesc, &desc)) return s;
  if (emu::descriptions().retire(desc)) emu::descriptions().destroy(desc);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc,
                                               aclrtAllocator allocator) try {
  return emu::set(__func__, allocatorDesc, &AllocatorDesc::object, allocator);
}
EMU_CATCH
EMU_EXPORT aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorAllocFunc func) try {
  return emu::set(__func__, allocatorDesc, &AllocatorDesc::allocate, func);
}
EMU_CATCH
EMU_EXPORT aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                    aclrtAllocatorFreeFunc func) try {
  return emu::set(__func__, allocatorDesc, &AllocatorDesc::release, func);
}
EMU_CATCH
EMU_EXPORT aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                           aclrtAllocatorAllocAdviseFunc func) try {
  return emu::set(__func__, allocatorDesc, &AllocatorDesc::advise, func);
}
EMU_CATCH
EMU_EXPORT aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
    aclrtAllocatorDesc allocatorDesc, aclrtAllocatorGetAddrFromBlockFunc func) try {
  return emu::set(__func__, allocatorDesc, &AllocatorDesc::address, func);
}
EMU_CATCH

EMU_EXPORT aclError aclrtAllocatorRegister(aclrtStream stream,
                                           aclrtAllocatorDesc allocatorDesc) try {
  AllocatorDesc *desc = nullptr;
  if (const Status s = emu::find(__func__, allocatorDesc, &desc)) return s;
  if (desc->object == nullptr || desc->allocate == nullptr || desc->release == nullptr ||
      desc->advise == nullptr || desc->address == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtAllocatorRegister: the description lacks its object or a function.");
  }
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  std::lock_guard<std::mutex> lock(emu::registry().mutex);
  emu::registry().by_stream[found] = {allocatorDesc, *desc};
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtAllocatorUnregister(aclrtStream stream) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  std::lock_guard<std::mutex> lock(emu::registry().mutex);
  if (emu::registry().by_stream.erase(found) != 0) return 0;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtAllocatorUnregister: stream %d has no allocator.",
              found->id);
}
EMU_CATCH

EMU_EXPORT aclError aclrtAllocatorGetByStream(
    aclrtStream stream, aclrtAllocatorDesc *allocatorDesc, aclrtAllocator *allocator,
    aclrtAllocatorAllocFunc *allocFunc, aclrtAllocatorFreeFunc *freeFunc,
    aclrtAllocatorAllocAdviseFunc *allocAdviseFunc,
    aclrtAllocatorGetAddrFromBlockFunc *getAddrFromBlockFunc) try {
  EMU_ENTER();
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  std::lock_guard<std::mutex> lock(emu::registry().mutex);
  const auto at = emu::registry().by_stream.find(found);
  if (at == emu::registry().by_stream.end()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtAllocatorGetByStream: stream %d has no allocator.", found->id);
  }
  const emu::Registered &entry = at->second;
  if (allocatorDesc != nullptr) *allocatorDesc = entry.handle;
  if (allocator != nullptr) *allocator = entry.copy.object;
  if (allocFunc != nullptr) *allocFunc = entry.copy.allocate;
  if (freeFunc != nullptr) *freeFunc = entry.copy.release;
  if (allocAdviseFunc != nullptr) *allocAdviseFunc = entry.copy.advise;
  if (getAddrFromBlockFunc != nullptr) *getAddrFromBlockFunc = entry.copy.address;
  return 0;
}
EMU_CATCH
