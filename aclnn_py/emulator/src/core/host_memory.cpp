// SPDX-License-Identifier: Apache-2.0
#include "core/host_memory.h"

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "acl/acl_base.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "core/undo.h"

namespace emu {
namespace {

struct Registration {
  size_t size;
  bool mapped;
};

size_t size_of(size_t size) { return size; }
size_t size_of(const Registration &registration) { return registration.size; }

struct HostTable {
  std::shared_mutex mutex;
  // from aclrtMallocHost; a program may register it as well
  std::map<uintptr_t, size_t> pinned;
  std::map<uintptr_t, Registration> registered;
};

HostTable &table() {
  static auto *const instance = new HostTable;
  return *instance;
}

// The block that holds all of [p, p + size), or null.
template <class Block>
const Block *around(const std::map<uintptr_t, Block> &blocks, const void *p, size_t size) {
  const auto at = reinterpret_cast<uintptr_t>(p);
  auto next = blocks.upper_bound(at);
  if (next == blocks.begin()) return nullptr;
  --next;
  const uintptr_t inside = at - next->first;
  const size_t whole = size_of(next->second);
  return inside <= whole && size <= whole - inside ? &next->second : nullptr;
}

// Whether a block overlaps [p, p + size) without containing all of it.
bool cut_by(const std::map<uintptr_t, size_t> &blocks, const void *p, size_t size) {
  const auto low = reinterpret_cast<uintptr_t>(p);
  if (around(blocks, p, size) != nullptr) return false;
  auto next = blocks.lower_bound(low);
  if (next != blocks.end() && next->first - low < size) return true;
  return next != blocks.begin() && std::prev(next)->first + std::prev(next)->second > low;
}

bool overlaps(const std::map<uintptr_t, Registration> &blocks, const void *p, size_t size) {
  const auto low = reinterpret_cast<uintptr_t>(p);
  auto next = blocks.lower_bound(low);
  if (next != blocks.end() && next->first - low < size) return true;
  return next != blocks.begin() && std::prev(next)->first + std::prev(next)->second.size > low;
}

}  // namespace

Status host_malloc(size_t size, void **address, const char *routine) {
  void *p = nullptr;
  // Whole pages, so that the program may register the memory too.
  if (size > SIZE_MAX - kPageBytes ||
      posix_memalign(&p, kPageBytes, (size + kPageBytes - 1) / kPageBytes * kPageBytes) != 0) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: the host has no %zu bytes to pin.", routine,
                size);
  }
  HostTable &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  Undo taken([p] { std::free(p); });
  t.pinned[reinterpret_cast<uintptr_t>(p)] = size;
  taken.keep();
  *address = p;
  return 0;
}

Status host_free(void *address, const char *routine) {
  HostTable &t = table();
  {
    std::unique_lock<std::shared_mutex> lock(t.mutex);
    const auto at = t.pinned.find(reinterpret_cast<uintptr_t>(address));
    if (at == t.pinned.end()) {
      lock.unlock();
      return fail(ACL_ERROR_RT_PARAM_INVALID,
                  "%s: %p was not given out by aclrtMallocHost, or is freed already (%s).", routine,
                  address, describe_address(address).c_str());
    }
    // Registrations inside the block end with it: the addresses may be reused for something else.
    t.registered.erase(t.registered.lower_bound(at->first),
                       t.registered.lower_bound(at->first + at->second));
    t.pinned.erase(at);
  }
  std::free(address);
  return 0;
}

Status host_register(void *address, size_t size, bool mapped, const char *routine) {
  if (device_of_address(address) >= 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is %s, not host memory.", routine, address,
                describe_address(address).c_str());
  }
  const std::string trouble = trouble_with_memory(address, size);
  if (!trouble.empty()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: %zu bytes at %p are not all memory that this process may read and write: %s.",
                routine, size, address, trouble.c_str());
  }
  HostTable &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  if (cut_by(t.pinned, address, size)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: %zu bytes at %p reach over the end of a block of aclrtMallocHost.", routine,
                size, address);
  }
  if (overlaps(t.registered, address, size)) {
    return fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                "%s: %zu bytes at %p overlap memory the device knows already.", routine, size,
                address);
  }
  t.registered[reinterpret_cast<uintptr_t>(address)] = {size, mapped};
  return 0;
}

Status host_unregister(void *address, const char *routine) {
  HostTable &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  const auto at = t.registered.find(reinterpret_cast<uintptr_t>(address));
  if (at == t.registered.end()) {
    return fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "%s: %p is not registered.", routine,
                address);
  }
  t.registered.erase(at);
  return 0;
}

bool host_known(const void *p, size_t size) {
  HostTable &t = table();
  std::shared_lock<std::shared_mutex> lock(t.mutex);
  return around(t.pinned, p, size) != nullptr || around(t.registered, p, size) != nullptr;
}

bool host_mapped(const void *p, size_t size) {
  HostTable &t = table();
  {
    std::shared_lock<std::shared_mutex> lock(t.mutex);
    const Registration *registration = around(t.registered, p, size);
    if (registration == nullptr || !registration->mapped) return false;
  }
  return memory_is_mapped(p, size);  // the program may have unmapped it since
}

bool kernel_may_use(const void *p, size_t size, int device, int *owner) {
  *owner = -1;
  if (on_device(p, size, owner)) {
    if (*owner == device) use_large_pages(p, size, device);
    return reachable(device, *owner);
  }
  return host_mapped(p, size);
}

}  // namespace emu
