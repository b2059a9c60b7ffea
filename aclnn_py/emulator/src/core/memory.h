// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/status.h"

// Device memory. Each device owns a range of addresses that malloc never returns, so an address
// alone tells whether it belongs to a device, and to which one.
namespace emu {

constexpr size_t kPageBytes = 4096;
constexpr size_t kMapGranularity = size_t{2} << 20;  // of reserve / map

struct MemoryUse {
  size_t total, used, peak, blocks;
};

// 512-byte aligned start, length rounded up to 32 bytes. 207001 when the device is full.
Status device_malloc(int device, size_t size, void **address, const char *routine);

// Refuses (107000) an address that is not the start of a live block of this kind.
Status device_free(void *address, const char *routine);

// True when [p, p + nbytes) lies in live device memory; *device (may be null) is its device. Bounds
// are those of the pages of a block, or of the block rounded to 32 bytes under ACLNN_PY_CHECK=1.
bool on_device(const void *p, size_t nbytes, int *device);

// Says that live memory of the device is gone over next, as a whole: what is large comes to lie in
// large pages.
void use_large_pages(const void *p, size_t nbytes, int device);

// The device whose window holds the address, live or not; -1 for host addresses.
int device_of_address(const void *p);

// Whether a task of `device` may access this memory: its own, or a peer's that was opened to it.
bool reachable(int device, int owner);

// "host memory", "device 0, 48 bytes into a block of 64", "device 0, freed or never allocated", ...
std::string describe_address(const void *p);

// The live block around an address.
bool find_block(const void *p, void **start, size_t *size, int *device);

MemoryUse memory_use(int device);

// Everything the device holds is released at once (aclrtResetDeviceForce, aclFinalize).
void release_device_memory(int device);
// Told about that, once the memory is gone.
void set_release_listener(void (*forget)(int device));

// --- under ACLNN_PY_CHECK=1 ------------------------------------------------------------
// 507015 when a guard zone of the device was written to. A damaged zone is reported once.
Status check_guards(int device, const char *what);

// Remembers that memory was written to.
void note_written(const void *p, size_t nbytes);

// The first address of [p, p + nbytes) that still holds the fill pattern of fresh memory and has no
// recorded write; null when there is none.
const void *first_unwritten(const void *p, size_t nbytes);

// --- memory that enters the table from elsewhere (mapped physical handles, imported keys)
enum class BlockKind : uint8_t { kMalloc, kMapped, kImported };
void publish_block(void *address, size_t size, int device, BlockKind kind);
bool withdraw_block(void *address, BlockKind kind, size_t *size);

// Accounts memory that has no address yet (physical handles). 207001 when the device is full.
Status charge_memory(int device, size_t size, const char *routine);
void discharge_memory(int device, size_t size);

// The memory of a device as another process can map it. False when nothing backs it that can be
// opened there.
struct SharedWindow {
  uintptr_t start;
  size_t size;
  int file;
  uint64_t inode;  // of the file: tells it from a later one with the same descriptor
};
bool shared_window(int device, SharedWindow *window);

// The file that backs the window and the place of the address in it; false when the window has
// none.
bool backing_of(const void *address, int *file, uint64_t *offset);

}  // namespace emu
