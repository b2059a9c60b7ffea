// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/status.h"

namespace emu {

struct Context;

constexpr int kMaxDevices = 64;

// Limits of the emulated chip.
constexpr uint32_t kMaxStreams = 1984;
constexpr uint32_t kMaxEvents = 65536;

struct Device {
  int id = 0;
  std::mutex mutex;
  int set_count = 0;       // guarded by mutex: aclrtSetDevice calls not yet undone
  bool was_reset = false;  // guarded by mutex
  std::atomic<Context *> primary{nullptr};
  std::atomic<bool> active{false};
  std::atomic<int> pending_faults{0};  // streams of this device with an unreported fault
  std::atomic<uint32_t> live_streams{0};
  std::atomic<uint32_t> live_events{0};
  std::atomic<uint32_t> overflow{0};
  std::atomic<int64_t> resource_limit[2] = {{-1}, {-1}};
};

// Devices this process sees: ACLNN_PY_EMULATOR_DEVICES (8), narrowed by ASCEND_RT_VISIBLE_DEVICES.
int device_count();
// The device number before ASCEND_RT_VISIBLE_DEVICES is applied.
int physical_device(int logical);
int logical_device(int physical);  // -1 when hidden

Device &device(int id);
bool valid_device(int id);

// How large each device is: ACLNN_PY_EMULATOR_MEMORY, else half of the memory that the process may
// fill (memory_limit) and at most 64 GiB. Under `ulimit -v` it is at most the device's share of the
// addresses, of which the process keeps a part.
struct DeviceMemory {
  size_t bytes;
  size_t window;       // addresses of each device
  bool together;       // the windows of all devices are reserved with the first
  const char *origin;  // what sets the size: "half of the host's memory"
};
const DeviceMemory &device_memory();
inline size_t device_memory_bytes() { return device_memory().bytes; }

// Device of the thread's context, or 107002.
Status current_device(const char *routine, int *id);

Status set_device(int id, const char *routine);
Status reset_device(int id, bool force, const char *routine);

bool peer_access(int from, int to);
void set_peer_access(int from, int to, bool on);

// aclrtFloatOverflowMode of the process; streams keep the one they were created under.
std::atomic<int> &saturation_mode();

}  // namespace emu
