// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "core/memory.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "acl/acl_base.h"
#include "core/device.h"
#include "core/host_limits.h"
#include "core/memory_window.h"
#include "core/process.h"
#include "core/statuses.h"
#include "core/timeline.h"
#include "faults/pages.h"

namespace emu {
namespace {

// alignment of a block's start; programs rely on the devices' value
constexpr size_t kAlign = 512;
// after each block under ACLNN_PY_CHECK=1; kAlign before it
constexpr size_t kGuard = 64;
constexpr unsigned char kGuardByte = 0xFD;
// a NaN in every floating-point type, so that use of uninitialised memory shows
constexpr unsigned char kFreshByte = 0xFF;
constexpr unsigned char kFreedByte = 0xDD;
// freed memory that is held back under ACLNN_PY_CHECK=1
constexpr size_t kQuarantine = size_t{64} << 20;

// Pieces of a block that were written to: offset -> end, apart from each other.
using Written = std::map<size_t, size_t>;

struct Block {
  size_t size;     // rounded to 32: what kernels may touch
  size_t extent;   // what the window gives, guards included
  uintptr_t lead;  // bytes between the extent and the block
  int device;
  BlockKind kind;
  std::shared_ptr<Written> written;  // under ACLNN_PY_CHECK=1, of memory from device_malloc
  FreeEntry back;                    // of memory from device_malloc
};

struct Table {
  std::shared_mutex mutex;
  std::map<uintptr_t, Block> blocks;
  std::vector<AddressWindow> windows{static_cast<size_t>(device_count())};
  // A cached lookup is valid as long as no block has been freed since.
  std::atomic<uint64_t> generation{1};
};

Table &table() {
  static auto *const instance = new Table;
  return *instance;
}

struct Cached {
  uint64_t generation;
  uintptr_t low, high;
  int device;
};
thread_local Cached t_cache[8];

std::atomic<void (*)(int)> g_release_listener{nullptr};

const std::pair<const uintptr_t, Block> *block_around(const Table &t, uintptr_t p) {
  auto at = t.blocks.upper_bound(p);
  if (at == t.blocks.begin()) return nullptr;
  --at;
  const size_t span = at->second.size > 0 ? at->second.size : 1;
  return p < at->first + span ? &*at : nullptr;
}

// Device memory as this file itself reads and writes it.
void *own(uintptr_t at) { return faults::unguarded(reinterpret_cast<void *>(at)); }

bool guards_intact(uintptr_t at, const Block &block) {
  if (block.lead == 0) return true;
  static const auto intact = [] {
    std::array<unsigned char, kAlign + kGuard> bytes;  // the longest zone
    bytes.fill(kGuardByte);
    return bytes;
  }();
  return std::memcmp(own(at - block.lead), intact.data(), block.lead) == 0 &&
         std::memcmp(own(at + block.size), intact.data(), block.extent - block.lead - block.size) ==
             0;
}

void paint_guards(uintptr_t at, const Block &block) {
  std::memset(own(at - block.lead), kGuardByte, block.lead);
  std::memset(own(at + block.size), kGuardByte, block.extent - block.lead - block.size);
}

}  // namespace

Status device_malloc(int device, size_t size, void **address, const char *routine) {
  const size_t capacity = device_memory_bytes();
  if (size > capacity) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                "%s: %zu bytes are more than device %d has (%zu bytes, %s). Set "
                "ACLNN_PY_EMULATOR_MEMORY to give the emulated device more.",
                routine, size, device, capacity, device_memory().origin);
  }
  const bool checked = check_mode();
  Block block{};
  block.size = round_up(size, 32);
  block.lead = checked ? kAlign : 0;
  block.extent = round_up(block.lead + block.size + (checked ? kGuard : 32), kAlign);
  block.device = device;
  block.kind = BlockKind::kMalloc;

  Table &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  AddressWindow &window = t.windows[static_cast<size_t>(device)];
  if (!open_window(window)) {
    const std::string why = refusal(errno);
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                "%s: the system refused the %zu MiB of addresses of device %d: %s, or set "
                "ACLNN_PY_EMULATOR_MEMORY or ACLNN_PY_EMULATOR_DEVICES to less.",
                routine, device_memory().window >> 20, device, why.c_str());
  }
  // Everything that may throw is done before the memory is taken.
  if (checked) block.written = std::make_shared<Written>();
  block.back = FreeEntry::make();
  const size_t extent = block.extent, lead = block.lead, touched = block.size;
  std::map<uintptr_t, Block> single;
  auto entry = single.extract(single.emplace(0, std::move(block)).first);
  const size_t most_resting = window.resting.size() + window.blocks + 1;
  if (checked && window.resting.capacity() < most_resting) window.resting.reserve(2 * most_resting);
  uintptr_t at = 0;
  if (window.used + extent <= capacity) {
    at = take_free(window, extent);
    while (at == 0 && !window.resting.empty()) {
      recycle_oldest(window);
      at = take_free(window, extent);
    }
  }
  if (at == 0) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                "%s: out of memory on device %d: %zu bytes asked, %zu of %zu in use (%s). Set "
                "ACLNN_PY_EMULATOR_MEMORY to give the emulated device more.",
                routine, device, size, window.used, capacity, device_memory().origin);
  }
  window.used += extent;
  window.peak = std::max(window.peak, window.used);
  window.resident_free -= std::min(window.resident_free, extent);
  ++window.blocks;
  note_memory_use(device, window.used);
  const uintptr_t start = at + lead;
  if (checked) {
    std::memset(own(at), kGuardByte, extent);
    std::memset(own(start), kFreshByte, touched);
  }
  entry.key() = start;
  t.blocks.insert(std::move(entry));
  *address = reinterpret_cast<void *>(start);
  return 0;
}

Status device_free(void *address, const char *routine) {
  Table &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  const auto p = reinterpret_cast<uintptr_t>(address);
  auto at = t.blocks.find(p);
  if (at == t.blocks.end() || at->second.kind != BlockKind::kMalloc) {
    lock.unlock();
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %p is not the start of an allocation (%s).",
                routine, address, describe_address(address).c_str());
  }
  Block &block = at->second;
  const bool intact = guards_intact(p, block);
  const size_t size = block.size;
  const int device = block.device;
  AddressWindow &window = t.windows[static_cast<size_t>(block.device)];
  const uintptr_t start = p - block.lead;
  window.used -= block.extent;
  --window.blocks;
  note_memory_use(device, window.used);
  if (check_mode()) {
    std::memset(own(start), kFreedByte, block.extent);
    window.resting_bytes += block.extent;
    window.resting.push_back({start, block.extent, std::move(block.back)});
    while (window.resting_bytes > kQuarantine) recycle_oldest(window);
  } else {
    recycle(window, start, block.extent, std::move(block.back));
  }
  t.blocks.erase(at);
  t.generation.fetch_add(1);
  if (!intact) {
    return fail(kKernelFault, "%s: something wrote outside the block %p of %zu bytes on device %d.",
                routine, address, size, device);
  }
  return 0;
}

bool on_device(const void *p, size_t nbytes, int *device) {
  Table &t = table();
  const auto low = reinterpret_cast<uintptr_t>(p);
  const uint64_t generation = t.generation.load(std::memory_order_acquire);
  Cached &cached = t_cache[(low >> 12) % 8];
  if (cached.generation == generation && low >= cached.low && low < cached.high &&
      nbytes <= cached.high - low) {
    if (device != nullptr) *device = cached.device;
    return true;
  }
  std::shared_lock<std::shared_mutex> lock(t.mutex);
  const auto *found = block_around(t, low);
  if (found == nullptr) return false;
  uintptr_t high = found->first + found->second.size;
  const int owner = found->second.device;
  // Adjacent mappings form one range, as the pages of a growing pool do.
  while (high < low + nbytes) {
    auto next = t.blocks.find(high);
    if (next == t.blocks.end() || next->second.kind != BlockKind::kMapped ||
        next->second.device != owner)
      break;
    high += next->second.size;
  }
  if (!check_mode()) high = round_up(high, kPageBytes);  // as a memory management unit would
  if (nbytes > high - low) return false;
  cached = {generation, found->first, high, owner};
  if (device != nullptr) *device = owner;
  return true;
}

void use_large_pages(const void *p, size_t nbytes, int device) {
  if (check_mode()) return;  // whose fills were there first
  AddressWindow &window = table().windows[static_cast<size_t>(device)];
  const auto at = reinterpret_cast<uintptr_t>(p);
  // not so where the program mapped memory by itself
  if (at >= window.start && at - window.start < window.size) window.pages.use(at, nbytes);
}

int device_of_address(const void *p) {
  Table &t = table();
  const auto at = reinterpret_cast<uintptr_t>(p);
  std::shared_lock<std::shared_mutex> lock(t.mutex);
  for (size_t i = 0; i < t.windows.size(); ++i) {
    const AddressWindow &window = t.windows[i];
    if (at >= window.start && at - window.start < window.size) return static_cast<int>(i);
  }
  const auto *found = block_around(t, at);
  return found != nullptr ? found->second.device : -1;
}

bool reachable(int device, int owner) { return device == owner || peer_access(device, owner); }

std::string describe_address(const void *p) {
  if (p == nullptr) return "null";
  Table &t = table();
  const auto at = reinterpret_cast<uintptr_t>(p);
  {
    std::shared_lock<std::shared_mutex> lock(t.mutex);
    if (const auto *found = block_around(t, at)) {
      const size_t inside = at - found->first;
      std::string text = "device " + std::to_string(found->second.device) + " memory";
      if (inside > 0) text += ", " + std::to_string(inside) + " bytes into";
      return text + (inside > 0 ? " a block of " : ", a block of ") +
             std::to_string(found->second.size) + " bytes";
    }
  }
  const int device = device_of_address(p);
  if (device >= 0)
    return "device " + std::to_string(device) + " memory that is freed or was never allocated";
  return "host memory";
}

bool find_block(const void *p, void **start, size_t *size, int *device) {
  Table &t = table();
  std::shared_lock<std::shared_mutex> lock(t.mutex);
  const auto *found = block_around(t, reinterpret_cast<uintptr_t>(p));
  if (found == nullptr) return false;
  if (start != nullptr) *start = reinterpret_cast<void *>(found->first);
  if (size != nullptr) *size = found->second.size;
  if (device != nullptr) *device = found->second.device;
  return true;
}

MemoryUse memory_use(int device) {
  Table &t = table();
  std::shared_lock<std::shared_mutex> lock(t.mutex);
  const AddressWindow &window = t.windows[static_cast<size_t>(device)];
  return {device_memory_bytes(), window.used, window.peak, window.blocks};
}

void set_release_listener(void (*forget)(int device)) { g_release_listener.store(forget); }

void release_device_memory(int device) {
  Table &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  AddressWindow &window = t.windows[static_cast<size_t>(device)];
  for (auto at = t.blocks.begin(); at != t.blocks.end();) {
    if (at->second.device == device && at->second.kind == BlockKind::kMalloc) {
      recycle(window, at->first - at->second.lead, at->second.extent, std::move(at->second.back));
      window.used -= at->second.extent;
      --window.blocks;
      at = t.blocks.erase(at);
    } else {
      ++at;
    }
  }
  t.generation.fetch_add(1);
  lock.unlock();
  if (const auto forget = g_release_listener.load()) forget(device);
}

Status check_guards(int device, const char *what) {
  Table &t = table();
  // Needs the exclusive lock: a zone is refilled when its damage is reported.
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  for (const auto &[at, block] : t.blocks) {
    if (block.device != device || guards_intact(at, block)) continue;
    paint_guards(at, block);
    return fail(kKernelFault, "%s wrote outside the block %p of %zu bytes on device %d.", what,
                reinterpret_cast<void *>(at), block.size, block.device);
  }
  return 0;
}

void note_written(const void *p, size_t nbytes) {
  if (nbytes == 0) return;
  Table &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  const auto *found = block_around(t, reinterpret_cast<uintptr_t>(p));
  if (found == nullptr || found->second.written == nullptr) return;
  Written &written = *found->second.written;
  size_t from = reinterpret_cast<uintptr_t>(p) - found->first, to = from + nbytes;
  auto next = written.upper_bound(from);
  if (next != written.begin() && std::prev(next)->second >= from) --next;
  while (next != written.end() && next->first <= to) {
    from = std::min(from, next->first);
    to = std::max(to, next->second);
    next = written.erase(next);
  }
  written[from] = to;
}

const void *first_unwritten(const void *p, size_t nbytes) {
  Table &t = table();
  std::shared_lock<std::shared_mutex> lock(t.mutex);
  const auto *found = block_around(t, reinterpret_cast<uintptr_t>(p));
  if (found == nullptr || found->second.written == nullptr) return nullptr;
  const Written &written = *found->second.written;
  const auto *base = reinterpret_cast<const unsigned char *>(found->first);
  const size_t end = reinterpret_cast<uintptr_t>(p) - found->first + nbytes;
  size_t at = end - nbytes;
  auto next = written.upper_bound(at);
  if (next != written.begin()) at = std::max(at, std::prev(next)->second);
  while (at < end) {
    const size_t gap = std::min(end, next == written.end() ? end : next->first);
    // Another process or a collective may have written without recording it; then the pattern is
    // gone.
    const unsigned char *bytes = faults::unguarded(base + at);
    if (std::all_of(bytes, bytes + (gap - at),
                    [](unsigned char byte) { return byte == kFreshByte; }))
      return base + at;
    if (next == written.end()) break;
    at = next->second;
    ++next;
  }
  return nullptr;
}

void publish_block(void *address, size_t size, int device, BlockKind kind) {
  Table &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  t.blocks[reinterpret_cast<uintptr_t>(address)] = Block{size, size, 0, device, kind, nullptr, {}};
}

bool withdraw_block(void *address, BlockKind kind, size_t *size) {
  Table &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  auto at = t.blocks.find(reinterpret_cast<uintptr_t>(address));
  if (at == t.blocks.end() || at->second.kind != kind) return false;
  if (size != nullptr) *size = at->second.size;
  t.blocks.erase(at);
  t.generation.fetch_add(1);
  return true;
}

Status charge_memory(int device, size_t size, const char *routine) {
  Table &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  AddressWindow &window = t.windows[static_cast<size_t>(device)];
  const size_t capacity = device_memory_bytes();
  if (size > capacity || window.used > capacity - size) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                "%s: out of memory on device %d: %zu bytes asked, %zu of %zu in use (%s). Set "
                "ACLNN_PY_EMULATOR_MEMORY to give the emulated device more.",
                routine, device, size, window.used, capacity, device_memory().origin);
  }
  window.used += size;
  window.peak = std::max(window.peak, window.used);
  note_memory_use(device, window.used);
  return 0;
}

void discharge_memory(int device, size_t size) {
  Table &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  AddressWindow &window = t.windows[static_cast<size_t>(device)];
  window.used -= std::min(window.used, size);
  note_memory_use(device, window.used);
}

bool shared_window(int device, SharedWindow *shared) {
  Table &t = table();
  std::unique_lock<std::shared_mutex> lock(t.mutex);
  AddressWindow &window = t.windows[static_cast<size_t>(device)];
  struct stat about{};
  if (!open_window(window) || window.file < 0 || fstat(window.file, &about) != 0) return false;
  *shared = {window.start, window.size, window.file, about.st_ino};
  return true;
}

bool backing_of(const void *address, int *file, uint64_t *offset) {
  Table &t = table();
  std::shared_lock<std::shared_mutex> lock(t.mutex);
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const AddressWindow &window : t.windows) {
    if (window.file >= 0 && at >= window.start && at - window.start < window.size) {
      *file = window.file;
      *offset = at - window.start;
      return true;
    }
  }
  return false;
}

}  // namespace emu
