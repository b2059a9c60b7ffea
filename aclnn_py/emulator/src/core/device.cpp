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
#include "core/memory.h"
#include "core/process.h"
#include "core/stream.h"

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

size_t default_memory() {
  const auto pages = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)),
             page = static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  const int64_t gib = int64_t{1} << 30;
  const int64_t half = pages > 0 ? pages * page / 2 / gib * gib : gib;
  return static_cast<size_t>(std::clamp<int64_t>(half, gib, 64 * gib));
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

size_t device_memory_bytes() {
  static const auto bytes = static_cast<size_t>(
      environment_bytes("ACLNN_PY_EMULATOR_MEMORY", static_cast<int64_t>(default_memory())));
  return bytes;
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
