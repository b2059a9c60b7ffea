// SPDX-License-Identifier: Apache-2.0
// Pools: device memory taken and given back in the order of a stream.
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "acl/acl_rt_memory_soma.h"
#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/stream.h"
#include "core/undo.h"
#include "runtime/memory_pool.h"

namespace emu {
namespace {

constexpr uint32_t kOn = 1, kOff = 2;

struct Pool {
  Pool(int owner, size_t limit) : device(owner), most(limit) {}
  const int device;
  const size_t most;  // 0: as much as the device has
  // by attribute; guarded by the table's mutex, as the rest
  uint32_t reuse[4] = {0, kOn, kOn, kOn};
  uint64_t keep = 0;  // free memory up to here stays with the pool
  uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
  bool gone = false;  // destroyed while blocks of it are in use
};

// A block of a pool. Between aclrtMemPoolFreeAsync and the moment the stream gets there it is
// leaving: later work of that stream may have it already, work of others may not.
struct Block {
  enum class State : uint8_t { used, leaving, free };
  std::shared_ptr<Pool> pool;
  size_t size;
  State state = State::used;
  const Stream *leaves_on = nullptr;
  // counts the uses: a queued task frees the one it was queued for, not a later one
  uint64_t use = 0;
};

struct Handle {
  explicit Handle(std::shared_ptr<Pool> p) : pool(std::move(p)) {}
  const std::shared_ptr<Pool> pool;
};

struct Table {
  std::mutex mutex;
  std::map<void *, Block> blocks;
};

Table &table() {
  static auto *const instance = new Table;
  return *instance;
}

Slots<Handle> &handles() {
  static auto *const all = new Slots<Handle>(1 << 12);
  return *all;
}

Status find_pool(const char *routine, aclrtMemPool raw, std::shared_ptr<Pool> *pool) {
  EMU_ENTER_AS(routine);
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: memPool is null.", routine);
  const Handle *handle = handles().find(raw);
  if (handle == nullptr)
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live pool.", routine, raw);
  *pool = handle->pool;
  return 0;
}

// Gives free blocks back to the device until at most `keep` bytes of them are left. Under the
// table's mutex.
void shrink(const char *routine, Pool &pool, uint64_t keep) {
  for (auto at = table().blocks.begin();
       at != table().blocks.end() && pool.reserved - pool.used > keep;) {
    if (at->second.pool.get() != &pool || at->second.state != Block::State::free) {
      ++at;
      continue;
    }
    pool.reserved -= at->second.size;
    (void)device_free(at->first, routine);  // the pool's own block: live by construction
    at = table().blocks.erase(at);
  }
}

void begin_use(Block &block) {
  block.state = Block::State::used;
  block.leaves_on = nullptr;
  ++block.use;
  Pool &pool = *block.pool;
  pool.used += block.size;
  pool.used_high = std::max(pool.used_high, pool.used);
}

// The smallest block that is large enough and that work of `stream` may have, or null. Under the
// table's mutex.
void *best_fit(const Pool &pool, const Stream &stream, size_t size) {
  void *best = nullptr;
  size_t best_size = 0;
  for (const auto &[address, block] : table().blocks) {
    const bool ready = block.state == Block::State::free ||
                       (block.state == Block::State::leaving && block.leaves_on == &stream);
    if (block.pool.get() != &pool || !ready || block.size < size) continue;
    if (best == nullptr || block.size < best_size) best = address, best_size = block.size;
  }
  return best;
}

Status take(const char *routine, const std::shared_ptr<Pool> &pool, const Stream &stream,
            size_t size, void **out) {
  std::lock_guard<std::mutex> lock(table().mutex);
  if (void *found = best_fit(*pool, stream, size)) {
    Block &block = table().blocks.at(found);
    // counted until it has left
    if (block.state == Block::State::leaving) block.pool->used -= block.size;
    begin_use(block);
    *out = found;
    return 0;
  }
  if (pool->most != 0 && (size > pool->most || pool->reserved > pool->most - size)) {
    shrink(routine, *pool, 0);
    if (size > pool->most || pool->reserved > pool->most - size) {
      return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                  "%s: %zu bytes; the pool has %llu of its %zu bytes in use.", routine, size,
                  static_cast<unsigned long long>(pool->used), pool->most);
    }
  }
  void *address = nullptr;
  if (const Status s = device_malloc(pool->device, size, &address, routine)) return s;
  // the pool's own block: live by construction
  Undo taken([&] { (void)device_free(address, routine); });
  Block &block = table().blocks[address];
  taken.keep();
  pool->reserved += size;
  pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
  block.pool = pool;
  block.size = size;
  begin_use(block);
  *out = address;
  return 0;
}

// What the stream does when it gets to the free.
Status leave(void *address, uint64_t use) {
  std::lock_guard<std::mutex> lock(table().mutex);
  const auto at = table().blocks.find(address);
  // Later work of the stream has taken the block already.
  if (at == table().blocks.end() || at->second.use != use ||
      at->second.state != Block::State::leaving)
    return 0;
  const std::shared_ptr<Pool> pool = at->second.pool;
  at->second.state = Block::State::free;
  at->second.leaves_on = nullptr;
  pool->used -= at->second.size;
  shrink("aclrtMemPoolFreeAsync", *pool, pool->gone ? 0 : pool->keep);
  return 0;
}

// A stream whose work was dropped frees no block any more.
void forget_stream(Stream *stream) {
  std::lock_guard<std::mutex> lock(table().mutex);
  for (auto &[address, block] : table().blocks) {
    if (block.state != Block::State::leaving || block.leaves_on != stream) continue;
    block.state = Block::State::free;
    block.leaves_on = nullptr;
    block.pool->used -= block.size;
  }
}

// The blocks are gone with the memory of their device; what is given out there next is not theirs.
void forget_device(int device) {
  std::lock_guard<std::mutex> lock(table().mutex);
  for (auto at = table().blocks.begin(); at != table().blocks.end();) {
    Pool &pool = *at->second.pool;
    if (pool.device != device) {
      ++at;
      continue;
    }
    pool.reserved = pool.used = 0;
    at = table().blocks.erase(at);
  }
}

uint64_t value_of(const Pool &pool, aclrtMemPoolAttr attr) {
  switch (attr) {
    case ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD: return pool.keep;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT: return pool.reserved;
    case ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH: return pool.reserved_high;
    case ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT: return pool.used;
    default: return pool.used_high;
  }
}

Status check_attribute(const char *routine, aclrtMemPoolAttr attr, const void *value) {
  if (value == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: value is null.", routine);
  if (attr >= ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
      attr <= ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH)
    return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "%s: %d is no attribute of pools.", routine,
              static_cast<int>(attr));
}

bool is_switch(aclrtMemPoolAttr attr) {
  return attr <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

}  // namespace

bool of_a_pool(void *address) {
  std::lock_guard<std::mutex> lock(table().mutex);
  return table().blocks.count(address) != 0;
}

}  // namespace emu

using emu::Block;
using emu::fail;
using emu::Pool;
using emu::Status;
using emu::table;

EMU_EXPORT aclError aclrtMemPoolCreate(aclrtMemPool *memPool,
                                       const aclrtMemPoolProps *poolProps) try {
  EMU_ENTER();
  if (memPool == nullptr || poolProps == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemPoolCreate: %s is null.",
                memPool == nullptr ? "memPool" : "poolProps");
  }
  if (poolProps->allocType != ACL_MEM_ALLOCATION_TYPE_PINNED ||
      poolProps->handleType != ACL_MEM_HANDLE_TYPE_NONE ||
      poolProps->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtMemPoolCreate: allocType %d, handleType %d, location type %d; pools are "
                "of pinned memory (0) without handles (0) of a device (1).",
                static_cast<int>(poolProps->allocType), static_cast<int>(poolProps->handleType),
                static_cast<int>(poolProps->location.type));
  }
  const auto device = static_cast<int>(poolProps->location.id);
  if (!emu::valid_device(device)) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtMemPoolCreate: device %u does not exist.",
                poolProps->location.id);
  }
  static const bool listening =
      (emu::at_stream_end(emu::forget_stream), emu::set_release_listener(emu::forget_device), true);
  (void)listening;
  *memPool = emu::handles().create(std::make_shared<Pool>(device, poolProps->maxSize));
  return *memPool != nullptr
             ? 0
             : fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "aclrtMemPoolCreate: too many pools.");
}
EMU_CATCH

// Blocks in use stay until they are freed.
EMU_EXPORT aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) try {
  EMU_TIMED();
  std::shared_ptr<Pool> pool;
  if (const Status s = emu::find_pool(__func__, memPool, &pool)) return s;
  if (!emu::handles().retire(memPool)) return emu::find_pool(__func__, memPool, &pool);
  emu::handles().destroy(static_cast<emu::Handle *>(memPool));
  std::lock_guard<std::mutex> lock(table().mutex);
  pool->gone = true;
  emu::shrink(__func__, *pool, 0);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr,
                                        void *value) try {
  std::shared_ptr<Pool> pool;
  if (const Status s = emu::find_pool(__func__, memPool, &pool)) return s;
  if (const Status s = emu::check_attribute(__func__, attr, value)) return s;
  std::lock_guard<std::mutex> lock(table().mutex);
  if (emu::is_switch(attr)) {
    const uint32_t wanted = *static_cast<uint32_t *>(value);
    if (wanted != emu::kOn && wanted != emu::kOff) {
      return fail(ACL_ERROR_INVALID_PARAM,
                  "aclrtMemPoolSetAttr: attribute %d takes 1 (on) or 2 (off), not %u.",
                  static_cast<int>(attr), wanted);
    }
    pool->reuse[attr] = wanted;
    return 0;
  }
  const uint64_t wanted = *static_cast<uint64_t *>(value);
  if (attr == ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD) {
    pool->keep = wanted;
    return 0;
  }
  const bool peak =
      attr == ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH || attr == ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH;
  if (!peak || wanted != 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemPoolSetAttr: attribute %d %s.",
                static_cast<int>(attr), peak ? "takes 0 only" : "is for reading");
  }
  if (attr == ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH) pool->reserved_high = pool->reserved;
  else pool->used_high = pool->used;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr,
                                        void *value) try {
  std::shared_ptr<Pool> pool;
  if (const Status s = emu::find_pool(__func__, memPool, &pool)) return s;
  if (const Status s = emu::check_attribute(__func__, attr, value)) return s;
  std::lock_guard<std::mutex> lock(table().mutex);
  if (emu::is_switch(attr)) *static_cast<uint32_t *>(value) = pool->reuse[attr];
  else *static_cast<uint64_t *>(value) = emu::value_of(*pool, attr);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool,
                                            aclrtStream stream) try {
  EMU_TIMED();
  std::shared_ptr<Pool> pool;
  if (const Status s = emu::find_pool(__func__, memPool, &pool)) return s;
  if (ptr == nullptr || size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemPoolMallocAsync: %s.",
                ptr == nullptr ? "ptr is null" : "size is 0");
  }
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (found->capture.load() != nullptr) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtMemPoolMallocAsync: allocations are not captured; take the memory before.");
  }
  if (found->device != pool->device) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtMemPoolMallocAsync: the pool is of device %d, the stream of device %d.",
                pool->device, found->device);
  }
  return emu::take(__func__, pool, *found, size, ptr);
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream stream) try {
  EMU_ENTER();
  if (ptr == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtMemPoolFreeAsync: ptr is null.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (found->capture.load() != nullptr) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtMemPoolFreeAsync: frees are not captured; give the memory back after.");
  }
  std::lock_guard<std::mutex> lock(table().mutex);
  const auto at = table().blocks.find(ptr);
  if (at == table().blocks.end() || at->second.state != Block::State::used) {
    return fail(
        ACL_ERROR_RT_PARAM_INVALID,
        "aclrtMemPoolFreeAsync: %p is not in use from a pool (freed before, or never of one).",
        ptr);
  }
  const uint64_t use = at->second.use;
  if (const Status s = emu::enqueue_on(*found, "aclrtMemPoolFreeAsync",
                                       [ptr, use] { return emu::leave(ptr, use); }))
    return s;
  at->second.state = Block::State::leaving;
  at->second.leaves_on = found;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep) try {
  EMU_TIMED();
  std::shared_ptr<Pool> pool;
  if (const Status s = emu::find_pool(__func__, memPool, &pool)) return s;
  std::lock_guard<std::mutex> lock(table().mutex);
  emu::shrink(__func__, *pool, minBytesToKeep > pool->used ? minBytesToKeep - pool->used : 0);
  return 0;
}
EMU_CATCH
