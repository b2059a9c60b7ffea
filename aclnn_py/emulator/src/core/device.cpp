// SPDX-License-Identifier: Apache-2.0
#include "core/device.h"
#include "core/chip.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "aclnn_py/refusal.h"
#include "core/context.h"
#include "core/export.h"
#include "core/host_limits.h"
#include "core/memory.h"
#include "core/memory_window.h"
#include "core/process.h"
#include "core/stream.h"
#include "faults/modes.h"

namespace emu {
namespace {

std::vector<int> visible_devices() {
  const int installed = static_cast<int>(
      std::clamp<int64_t>(environment_number("ACLNN_PY_EMULATOR_DEVICES", 8), 0, kMaxDevices));
  std::vector<int> shown;
  const char *list = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (list == nullptr) {
    for (int i = 0; i < installed; ++i) shown.push_back(i);
    return shown;
  }
  // Ascending numbers separated by commas; the list ends at the first item that is anything else.
  int before = -1;
  for (const char *at = list;;) {
    int number = 0;
    const char *digits = at;
    while (*at >= '0' && *at <= '9' && number < kMaxDevices) number = number * 10 + (*at++ - '0');
    if (at == digits || (*at != ',' && *at != '\0') || number <= before || number >= installed)
      break;
    shown.push_back(number);
    before = number;
    if (*at == '\0') break;
    ++at;
  }
  return shown;
}

const std::vector<int> &shown_devices() {
  static const auto *const shown = new std::vector<int>(visible_devices());
  return *shown;
}

constexpr uint64_t kMostMemory = uint64_t{64} << 30;
constexpr uint64_t kLeastMemory = uint64_t{16} << 20;
// What a process needs besides devices: threads, tables, libraries that are loaded later.
constexpr uint64_t kOwnAddresses = uint64_t{320} << 20;

struct Size {
  uint64_t bytes;
  std::string origin;
};

// The device's share of the addresses that `ulimit -v` leaves.
Size share_of_addresses(uint64_t free) {
  const uint64_t own = std::max(free / 4, kOwnAddresses), rest = free - std::min(free, own);
  const auto devices = static_cast<uint64_t>(std::max(device_count(), 1));
  // The second way to a guarded window (faults/pages.h) has as many addresses as the window.
  return {rest / devices / (faults::checking() ? 2 : 1),
          "the share of each of " + std::to_string(devices) + " devices in `ulimit -v`"};
}

DeviceMemory measured_memory() {
  const uint64_t free = free_addresses();
  const bool limited = free != kUnlimited;
  Size size{static_cast<uint64_t>(environment_bytes("ACLNN_PY_EMULATOR_MEMORY", 0)),
            "ACLNN_PY_EMULATOR_MEMORY"};
  const bool usual = size.bytes == 0;
  if (usual) {
    const MemoryLimit memory = memory_limit();
    size = {std::min(memory.bytes / 2, kMostMemory), "half of " + memory.what};
    if (memory.bytes / 2 > kMostMemory) size.origin = "the usual size";
    if (limited) {
      Size share = share_of_addresses(free);
      if (share.bytes < size.bytes) size = std::move(share);
    }
    size.bytes = std::max(size.bytes / kLargePage * kLargePage, kLeastMemory);
  }
  // Addresses cost nothing without a limit, and twice the capacity keeps fragmentation from looking
  // like a full device.
  const uint64_t window = round_up(limited ? size.bytes : 2 * size.bytes, kLargePage);
  return {size.bytes, window, usual && limited, strdup(size.origin.c_str())};
}

// What a program has chosen before the first question about the chip.
std::atomic<const char *> g_chosen_soc{nullptr};

std::atomic<bool> g_peers[kMaxDevices][kMaxDevices];

// The soft part numbers of the cores per chip family.
struct Cores {
  const char *prefix;
  int cube, vector;
};
constexpr Cores kCores[] = {
    {"Ascend910B4", 20, 40}, {"Ascend910B3", 20, 40},  {"Ascend910B2", 24, 48},
    {"Ascend910B1", 24, 48}, {"Ascend910_93", 24, 48}, {"Ascend310P", 8, 7},
    {"Ascend310B", 1, 1},    {"Ascend910", 32, 32},    {"Ascend950", 32, 64}};

const Cores &cores() {
  static const Cores *const found = [] {
    for (const Cores &row : kCores) {
      if (std::strncmp(soc_name(), row.prefix, std::strlen(row.prefix)) == 0) return &row;
    }
    return &kCores[3];
  }();
  return *found;
}

}  // namespace

int device_count() { return static_cast<int>(shown_devices().size()); }

int physical_device(int logical) { return shown_devices()[static_cast<size_t>(logical)]; }

int logical_device(int physical) {
  const auto &shown = shown_devices();
  const auto at = std::find(shown.begin(), shown.end(), physical);
  return at == shown.end() ? -1 : static_cast<int>(at - shown.begin());
}

bool valid_device(int id) { return id >= 0 && id < device_count(); }

Device &device(int id) {
  static auto *const all = [] {
    auto *made = new Device[kMaxDevices];
    for (int i = 0; i < kMaxDevices; ++i) made[i].id = i;
    return made;
  }();
  return all[id];
}

const char *soc_name() {
  static const char *const name = [] {
    if (const char *chosen = g_chosen_soc.load()) return chosen;
    const char *wish = std::getenv("ACLNN_PY_EMULATOR_SOC");
    return wish != nullptr && *wish != '\0' ? strdup(wish) : "Ascend910B1";
  }();
  return name;
}

bool chip_is_950() { return std::strncmp(soc_name(), "Ascend950", 9) == 0; }

bool chip_is_310p() { return std::strncmp(soc_name(), "Ascend310P", 10) == 0; }

const DeviceMemory &device_memory() {
  static const auto *const memory = [] {
    if (free_addresses() != kUnlimited) spare_addresses();
    return new DeviceMemory(measured_memory());
  }();
  return *memory;
}

int cube_cores() { return cores().cube; }
int vector_cores() { return cores().vector; }

Status current_device(const char *routine, int *id) {
  Context *context = nullptr;
  if (const Status s = current_context(routine, &context)) return s;
  *id = context->device;
  return 0;
}

Status set_device(int id, const char *routine) {
  if (!valid_device(id)) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID,
                "%s: device %d does not exist, there are %d (0 to %d).", routine, id,
                device_count(), device_count() - 1);
  }
  watch_process();
  Device &d = device(id);
  std::lock_guard<std::mutex> lock(d.mutex);
  if (d.primary.load() == nullptr) {
    Context *context = contexts().create(id, true);
    if (context == nullptr)
      return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: no room for a context.", routine);
    d.primary.store(context);
  }
  ++d.set_count;
  d.active.store(true);
  set_current_context(d.primary.load());
  return 0;
}

Status reset_device(int id, bool force, const char *routine) {
  if (!valid_device(id)) {
    return fail(ACL_ERROR_RT_INVALID_DEVICEID,
                "%s: device %d does not exist, there are %d (0 to %d).", routine, id,
                device_count(), device_count() - 1);
  }
  Device &d = device(id);
  Context *primary = nullptr;
  {
    std::lock_guard<std::mutex> lock(d.mutex);
    if (d.set_count == 0 && !(force && d.active.load())) {
      return fail(ACL_ERROR_RT_CONTEXT_NULL,
                  "%s: device %d is not set in this process (aclrtSetDevice comes first).", routine,
                  id);
    }
    if (!force && --d.set_count > 0) return 0;
    d.set_count = 0;
    d.was_reset = true;
    d.active.store(false);
    primary = d.primary.load();
  }
  if (primary != nullptr) end_streams(*primary, !force);
  if (force) {
    std::vector<Context *> others;
    for_each_context(id, [&](Context &context) {
      if (!context.primary) others.push_back(&context);
    });
    for (Context *context : others) end_streams(*context, false);
    release_device_memory(id);
  }
  forget_faults(id);
  return 0;
}

bool peer_access(int from, int to) { return g_peers[from][to].load(std::memory_order_relaxed); }
void set_peer_access(int from, int to, bool on) {
  g_peers[from][to].store(on, std::memory_order_relaxed);
}

std::atomic<int> &saturation_mode() {
  static std::atomic<int> mode{1};  // ACL_RT_OVERFLOW_MODE_INFNAN
  return mode;
}

}  // namespace emu

EMU_EXPORT int32_t aclnn_py_emulator_set_chip(const char *soc_name) try {
  if (soc_name == nullptr || *soc_name == '\0') return 0;
  const char *none = nullptr;
  if (char *name = strdup(soc_name); !emu::g_chosen_soc.compare_exchange_strong(none, name))
    std::free(name);
  return std::strcmp(emu::soc_name(), soc_name) == 0;
} catch (const std::exception &) {
  return 0;
}

// What sets the size of the devices, in words for people: "half of the host's memory".
EMU_EXPORT const char *aclnn_py_emulator_memory_origin(void) try {
  return emu::device_memory().origin;
}
EMU_CATCH
