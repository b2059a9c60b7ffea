// SPDX-License-Identifier: Apache-2.0
// Reserved addresses, physical memory, and mapping one to the other.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/slots.h"
#include "core/undo.h"
#include "runtime/mapping.h"
#include "runtime/sharing.h"

namespace emu {
namespace {

constexpr size_t kMostAddresses = size_t{1} << 47;

// Physical memory: a memory file, alive while its handle or a mapping of it is.
struct Physical {
  Physical(int d, size_t s, int f, bool own, const aclrtPhysicalMemProp &p)
      : device(d), size(s), file(f), charged(own), properties(p) {}
  const int device;
  const size_t size;
  const int file;
  const bool charged;  // counts against this process's device memory (not imported)
  const aclrtPhysicalMemProp properties;
  int users = 1;    // each handle and each mapping; guarded by the table's mutex
  int handles = 1;  // how often aclrtFreePhysical is due; guarded by the same
  OwnTicket ticket;
};

struct Mapping {
  size_t size;
  Physical *physical;
};

struct AddressTable {
  std::mutex mutex;
  std::map<uintptr_t, size_t> reserved;
  std::map<uintptr_t, Mapping> mapped;
};

AddressTable &table() {
  static auto *const instance = new AddressTable;
  return *instance;
}

Slots<Physical> &physicals() {
  static auto *const all = new Slots<Physical>(1 << 18);
  return *all;
}

void unuse(Physical *physical) {
  if (--physical->users > 0) return;
  if (physical->charged) discharge_memory(physical->device, physical->size);
  drop_ticket(physical->ticket);
  close(physical->file);
  physicals().destroy(physical);
}

Status check_property(const char *routine, const aclrtPhysicalMemProp *prop) {
  if (prop == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: prop is null.", routine);
  if (prop->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: allocationType is %d, only PINNED (0) exists.",
                routine, static_cast<int>(prop->allocationType));
  }
  if (prop->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "%s: location type %d; this device maps device memory only.", routine,
                static_cast<int>(prop->location.type));
  }
  if (!valid_device(static_cast<int>(prop->location.id))) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, "%s: device %u does not exist.", routine,
                prop->location.id);
  }
  return 0;
}

// The reservation an address lies in, or null.
const std::pair<const uintptr_t, size_t> *reservation_of(const AddressTable &t, uintptr_t at) {
  auto next = t.reserved.upper_bound(at);
  if (next == t.reserved.begin()) return nullptr;
  --next;
  return at - next->first < next->second ? &*next : nullptr;
}

bool overlaps_mapping(const AddressTable &t, uintptr_t low, size_t size) {
  auto next = t.mapped.lower_bound(low);
  if (next != t.mapped.end() && next->first < low + size) return true;
  if (next == t.mapped.begin()) return false;
  --next;
  return next->first + next->second.size > low;
}

Status reserve(const char *routine, void **out, size_t size, size_t alignment, void *expected) {
  EMU_ENTER_AS(routine);
  if (out == nullptr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s.", routine,
                out == nullptr ? "virPtr is null" : "size is 0");
  }
  if (alignment != 0 && (alignment & (alignment - 1)) != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: alignment %zu is not a power of two.", routine,
                alignment);
  }
  if (size > kMostAddresses || alignment > kMostAddresses) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                "%s: %zu bytes aligned to %zu; there are at most %zu bytes of addresses.", routine,
                size, alignment, kMostAddresses);
  }
  // Whole pages are reserved. Programs ask for 512 bytes to learn whether reserving works at all.
  size = (size + kMapGranularity - 1) / kMapGranularity * kMapGranularity;
  const size_t align = alignment > kMapGranularity ? alignment : kMapGranularity;
  void *raw =
      mmap(expected, size + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: the host has no %zu bytes of addresses: %s.",
                routine, size, std::strerror(errno));
  }
  const auto low = reinterpret_cast<uintptr_t>(raw), start = (low + align - 1) / align * align;
  if (start > low) munmap(raw, start - low);
  const uintptr_t tail = low + size + align - (start + size);
  if (tail > 0) munmap(reinterpret_cast<void *>(start + size), tail);
  Undo range([&] { munmap(reinterpret_cast<void *>(start), size); });
  std::lock_guard<std::mutex> lock(table().mutex);
  table().reserved[start] = size;
  range.keep();
  *out = reinterpret_cast<void *>(start);
  return 0;
}

Status adopt(const char *routine, int device, size_t size, int file, bool charged,
             const aclrtPhysicalMemProp &prop, aclrtDrvMemHandle *handle) {
  Undo given([&] {
    close(file);
    if (charged) discharge_memory(device, size);
  });
  Physical *physical = physicals().create(device, size, file, charged, prop);
  if (physical == nullptr) {
    return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many handles.", routine);
  }
  given.keep();
  *handle = physical;
  return 0;
}

// One more handle for what is mapped; under the table's mutex.
Status retain(const char *routine, Physical *physical, aclrtDrvMemHandle *handle) {
  if (!physicals().live(physical)) {
    // Its handles were given back and cannot come alive again: the mappings move to a new one.
    Physical *fresh = physicals().create(physical->device, physical->size, physical->file,
                                         physical->charged, physical->properties);
    if (fresh == nullptr)
      return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many handles.", routine);
    fresh->users = physical->users;
    fresh->handles = 0;
    fresh->ticket = physical->ticket;
    for (auto &[address, mapping] : table().mapped) {
      if (mapping.physical == physical) mapping.physical = fresh;
    }
    physicals().destroy(physical);
    physical = fresh;
  }
  ++physical->users;
  ++physical->handles;
  *handle = physical;
  return 0;
}

Status find_physical(const char *routine, aclrtDrvMemHandle handle, Physical **physical) {
  *physical = physicals().find(handle);
  if (*physical != nullptr) return 0;
  return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live handle of physical memory.",
              routine, handle);
}

}  // namespace

bool reserved_address(const void *address) {
  std::lock_guard<std::mutex> lock(table().mutex);
  return reservation_of(table(), reinterpret_cast<uintptr_t>(address)) != nullptr;
}

}  // namespace emu

using emu::fail;
using emu::Physical;
using emu::Status;

EMU_EXPORT aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *prop,
                                                     aclrtMemGranularityOptions option,
                                                     size_t *granularity) try {
  EMU_ENTER();
  if (granularity == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemGetAllocationGranularity: granularity is null.");
  if (const Status s = emu::check_property(__func__, prop)) return s;
  if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
      option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemGetAllocationGranularity: option is %d.",
                static_cast<int>(option));
  }
  *granularity = emu::kMapGranularity;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtReserveMemAddress(void **virPtr, size_t size, size_t alignment,
                                           void *expectPtr, uint64_t flags) try {
  EMU_TIMED();
  if (flags > 1)
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtReserveMemAddress: flags must be 0 or 1 (huge pages).");
  return emu::reserve(__func__, virPtr, size, alignment, expectPtr);
}
EMU_CATCH

EMU_EXPORT aclError aclrtReleaseMemAddress(void *virPtr) try {
  EMU_ENTER();
  if (virPtr == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtReleaseMemAddress: virPtr is null.");
  auto &t = emu::table();
  std::lock_guard<std::mutex> lock(t.mutex);
  const auto at = t.reserved.find(reinterpret_cast<uintptr_t>(virPtr));
  if (at == t.reserved.end()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtReleaseMemAddress: %p is not the start of a reservation.", virPtr);
  }
  if (emu::overlaps_mapping(t, at->first, at->second)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtReleaseMemAddress: memory is still mapped in the reservation %p.", virPtr);
  }
  munmap(virPtr, at->second);
  t.reserved.erase(at);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                                        const aclrtPhysicalMemProp *prop, uint64_t flags) try {
  EMU_ENTER();
  if (handle == nullptr || size == 0 || flags != 0) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtMallocPhysical: handle is null, size is 0 or flags are not 0.");
  }
  if (const Status s = emu::check_property(__func__, prop)) return s;
  if (size % emu::kMapGranularity != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMallocPhysical: size %zu is not a multiple of %zu.", size,
                emu::kMapGranularity);
  }
  const int device = static_cast<int>(prop->location.id);
  if (const Status s = emu::charge_memory(device, size, __func__)) return s;
  const int file = memfd_create("aclnn_py_physical", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
    if (file >= 0) close(file);
    emu::discharge_memory(device, size);
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMallocPhysical: the host gave no memory: %s.",
                std::strerror(errno));
  }
  return emu::adopt(__func__, device, size, file, true, *prop, handle);
}
EMU_CATCH

EMU_EXPORT aclError aclrtFreePhysical(aclrtDrvMemHandle handle) try {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(emu::table().mutex);
  Physical *physical = nullptr;
  if (const Status s = emu::find_physical(__func__, handle, &physical)) return s;
  if (--physical->handles == 0) emu::physicals().retire(physical);
  emu::unuse(physical);  // what is mapped stays until it is unmapped
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMapMem(void *virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                uint64_t flags) try {
  EMU_ENTER();
  if (virPtr == nullptr || size == 0 || offset != 0 || flags != 0) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtMapMem: virPtr is null, size is 0, or offset or flags are not 0.");
  }
  auto &t = emu::table();
  std::lock_guard<std::mutex> lock(t.mutex);
  Physical *physical = nullptr;
  if (const Status s = emu::find_physical(__func__, handle, &physical)) return s;
  const auto low = reinterpret_cast<uintptr_t>(virPtr);
  const auto *reservation = emu::reservation_of(t, low);
  if (reservation == nullptr || size > reservation->first + reservation->second - low) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMapMem: %zu bytes at %p are not inside a reservation.", size, virPtr);
  }
  if (size != physical->size || low % emu::kMapGranularity != 0 ||
      emu::overlaps_mapping(t, low, size)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMapMem: size %zu (the handle has %zu), address %p must be a multiple of %zu "
                "and not mapped yet.",
                size, physical->size, virPtr, emu::kMapGranularity);
  }
  if (mmap(virPtr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
           physical->file, 0) == MAP_FAILED) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMapMem: the host refused the mapping: %s.",
                std::strerror(errno));
  }
  emu::Undo back([&] {
    mmap(virPtr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    t.mapped.erase(low);
  });
  t.mapped[low] = {size, physical};
  emu::publish_block(virPtr, size, physical->device, emu::BlockKind::kMapped);
  back.keep();
  ++physical->users;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtUnmapMem(void *virPtr) try {
  EMU_ENTER();
  if (virPtr == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtUnmapMem: virPtr is null.");
  auto &t = emu::table();
  std::lock_guard<std::mutex> lock(t.mutex);
  const auto at = t.mapped.find(reinterpret_cast<uintptr_t>(virPtr));
  if (at == t.mapped.end())
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtUnmapMem: nothing is mapped at %p.", virPtr);
  emu::withdraw_block(virPtr, emu::BlockKind::kMapped, nullptr);
  // The addresses stay reserved.
  mmap(virPtr, at->second.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
       -1, 0);
  emu::unuse(at->second.physical);
  t.mapped.erase(at);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemSetAccess(void *virPtr, size_t size, aclrtMemAccessDesc *desc,
                                      size_t count) try {
  EMU_ENTER();
  if (virPtr == nullptr || desc == nullptr || count == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemSetAccess: a pointer is null or count is 0.");
  }
  int owner = -1;
  if (!emu::on_device(virPtr, size, &owner)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemSetAccess: %zu bytes at %p are not mapped.",
                size, virPtr);
  }
  for (size_t i = 0; i < count; ++i) {
    const int id = static_cast<int>(desc[i].location.id);
    if (desc[i].flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE ||
        desc[i].location.type != ACL_MEM_LOCATION_TYPE_DEVICE || !emu::valid_device(id)) {
      return fail(
          ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
          "aclrtMemSetAccess: entry %zu; this device knows read-write access by existing devices.",
          i);
    }
    if (id != owner) emu::set_peer_access(id, owner, true);
  }
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemGetAccess(void *virPtr, aclrtMemLocation *location,
                                      uint64_t *flag) try {
  EMU_ENTER();
  if (virPtr == nullptr || location == nullptr || flag == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemGetAccess: %s is null.",
                virPtr == nullptr     ? "virPtr"
                : location == nullptr ? "location"
                                      : "flag");
  }
  std::lock_guard<std::mutex> lock(emu::table().mutex);
  const auto at = emu::table().mapped.find(reinterpret_cast<uintptr_t>(virPtr));
  if (at == emu::table().mapped.end()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemGetAccess: nothing is mapped at %p.", virPtr);
  }
  if (location->type == ACL_MEM_LOCATION_TYPE_HOST) {
    // memory of a device is copied, never read through its address
    *flag = ACL_RT_MEM_ACCESS_FLAGS_NONE;
    return 0;
  }
  if (location->type != ACL_MEM_LOCATION_TYPE_DEVICE ||
      !emu::valid_device(static_cast<int>(location->id))) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemGetAccess: location type %d, id %u; a host (0) or an existing device (1) "
                "is asked for.",
                static_cast<int>(location->type), location->id);
  }
  const bool open = emu::reachable(static_cast<int>(location->id), at->second.physical->device);
  *flag = open ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
  return 0;
}
EMU_CATCH

// The handle counts each call: every one wants an aclrtFreePhysical of its own.
EMU_EXPORT aclError aclrtMemRetainAllocationHandle(void *virPtr, aclrtDrvMemHandle *handle) try {
  EMU_ENTER();
  if (virPtr == nullptr || handle == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemRetainAllocationHandle: %s is null.",
                virPtr == nullptr ? "virPtr" : "handle");
  }
  std::lock_guard<std::mutex> lock(emu::table().mutex);
  const auto at = emu::table().mapped.find(reinterpret_cast<uintptr_t>(virPtr));
  if (at == emu::table().mapped.end()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemRetainAllocationHandle: nothing is mapped at %p.", virPtr);
  }
  return emu::retain(__func__, at->second.physical, handle);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                              aclrtPhysicalMemProp *prop) try {
  EMU_ENTER();
  if (prop == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtMemGetAllocationPropertiesFromHandle: prop is null.");
  Physical *physical = nullptr;
  if (const Status s = emu::find_physical(__func__, handle, &physical)) return s;
  *prop = physical->properties;
  return 0;
}
EMU_CATCH

// --- between processes: a 64-bit number holds the process and its ticket's descriptor

EMU_EXPORT aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
                                                    aclrtMemHandleType handleType, uint64_t flags,
                                                    uint64_t *shareableHandle) try {
  EMU_ENTER();
  if (shareableHandle == nullptr || handleType != ACL_MEM_HANDLE_TYPE_NONE) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtMemExportToShareableHandle: the output is null or handleType is %d.",
                static_cast<int>(handleType));
  }
  std::lock_guard<std::mutex> lock(emu::table().mutex);
  Physical *physical = nullptr;
  if (const Status s = emu::find_physical(__func__, handle, &physical)) return s;
  if (physical->ticket.file < 0) {
    const bool any = (flags & ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION) != 0;
    if (const Status s = emu::make_ticket(physical->file, 0, physical->size, physical->device, any,
                                          __func__, &physical->ticket)) {
      return s;
    }
  }
  // Nonce bits guard against a descriptor number that came to mean something else.
  const uint64_t low = physical->ticket.ticket->nonce & 0xFFFF;
  *shareableHandle =
      static_cast<uint64_t>(static_cast<uint32_t>(getpid())) << 32 |
      static_cast<uint64_t>(static_cast<uint32_t>(physical->ticket.file) & 0xFFFF) << 16 | low;
  physical->ticket.ticket->nonce = low;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid,
                                                    size_t pidNum) try {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(emu::table().mutex);
  Status status = fail(ACL_ERROR_RT_INVALID_HANDLE,
                       "aclrtMemSetPidToShareableHandle: this process exported no such handle.");
  emu::physicals().for_each([&](Physical *physical) {
    if (physical->ticket.file < 0 || shareableHandle >> 32 != static_cast<uint64_t>(getpid()))
      return;
    if ((shareableHandle >> 16 & 0xFFFF) != static_cast<uint64_t>(physical->ticket.file)) return;
    (void)emu::take_message();
    status = emu::allow_pids(physical->ticket, pid, pidNum, "aclrtMemSetPidToShareableHandle");
  });
  return status;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                                      aclrtDrvMemHandle *handle) try {
  EMU_ENTER();
  if (handle == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemImportFromShareableHandle: handle is null.");
  if (!emu::valid_device(deviceId)) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID,
                "aclrtMemImportFromShareableHandle: device %d does not exist.", deviceId);
  }
  emu::Ticket ticket{};
  int backing = -1;
  const auto pid = static_cast<int32_t>(shareableHandle >> 32),
             file = static_cast<int32_t>(shareableHandle >> 16 & 0xFFFF);
  if (const Status s =
          emu::open_ticket(pid, file, shareableHandle & 0xFFFF, __func__, &ticket, &backing))
    return s;
  aclrtPhysicalMemProp prop{};
  prop.location.id = static_cast<uint32_t>(deviceId);
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  return emu::adopt(__func__, deviceId, ticket.size, backing, false, prop, handle);
}
EMU_CATCH
