// SPDX-License-Identifier: Apache-2.0
#include "core/host_memory.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "acl/acl_base.h"
#include "core/memory.h"
#include "core/process.h"

namespace emu {
namespace {

struct HostBlock {
  size_t size;
  bool ours;    // from aclrtMallocHost
  bool mapped;
};

struct HostTable {
  std::shared_mutex mutex;
  std::map<uintptr_t, HostBlock> blocks;
};

HostTable &table() {
  static auto *const instance = new HostTable;
  return *instance;
}

const HostBlock *around(const HostTable &t, const void *p, size_t size) {
  const auto at = reinterpret_cast<uintptr_t>(p);
  auto next = t.blocks.upper_bound(at);
  if (next == t.blocks.begin()) return nullptr;
  --next;
  const uintptr_t inside = at - next->first;
  return inside <= next->second.size && size <= next->second.size - inside ? &next->second : nullptr;
}

}  // namespace

Status host_malloc(size_t size, void **address, const char *routine) {
  void *p = nullptr;
  if (posix_memalign(&p, 64, (size + 63) / 64 * 64) != 0) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: the host has no %zu bytes to pin.", routine, size);
  }
  HostTable &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  t.blocks[reinterpret_cast<uintptr_t>(p)] = {size, true, true};
  *address = p;
  return 0;
}

Status host_free(void *address, const char *routine) {
  HostTable &t = table();
  {
    std::unique_lock<std::shared_mutex> lock(t.mutex);
    const auto at = t.blocks.find(reinterpret_cast<uintptr_t>(address));
    if (at == t.blocks.end() || !at->second.ours) {
      lock.unlock();
      return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p was not given out by aclrtMallocHost, or is freed already (%s).",
                  routine, address, describe_address(address).c_str());
    }
    t.blocks.erase(at);
  }
  std::free(address);
  return 0;
}

Status host_register(void *address, size_t size, bool mapped, const char *routine) {
  if (device_of_address(address) >= 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is %s, not host memory.", routine, address,
                describe_address(address).c_str());
  }
  HostTable &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  const auto low = reinterpret_cast<uintptr_t>(address);
  auto next = t.blocks.lower_bound(low);
  const bool hits_next = next != t.blocks.end() && next->first < low + size;
  const bool hits_before = next != t.blocks.begin() && std::prev(next)->first + std::prev(next)->second.size > low;
  if (hits_next || hits_before) {
    return fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "%s: %zu bytes at %p overlap memory the device knows already.",
                routine, size, address);
  }
  t.blocks[low] = {size, false, mapped};
  return 0;
}

Status host_unregister(void *address, const char *routine) {
  HostTable &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  const auto at = t.blocks.find(reinterpret_cast<uintptr_t>(address));
  if (at == t.blocks.end() || at->second.ours) {
    return fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "%s: %p is not registered.", routine, address);
  }
  t.blocks.erase(at);
  return 0;
}

bool host_known(const void *p, size_t size) {
  HostTable &t = table();
  std::shared_lock<std::shared_mutex> lock(t.mutex);
  return around(t, p, size) != nullptr;
}

bool host_mapped(const void *p, size_t size) {
  HostTable &t = table();
  std::shared_lock<std::shared_mutex> lock(t.mutex);
  const HostBlock *block = around(t, p, size);
  return block != nullptr && block->mapped && !block->ours;
}

bool kernel_may_use(const void *p, size_t size, int device, int *owner) {
  *owner = -1;
  if (on_device(p, size, owner)) return reachable(device, *owner);
  return host_mapped(p, size);
}

}  // namespace emu
