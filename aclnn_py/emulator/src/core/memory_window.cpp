// SPDX-License-Identifier: Apache-2.0
#include "core/memory_window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "core/device.h"
#include "core/memory.h"
#include "core/undo.h"
#include "faults/pages.h"

namespace emu {
namespace {

// freed memory that stays with the process for reuse
constexpr size_t kKeepResident = size_t{512} << 20;

void add_free(AddressWindow &window, uintptr_t at, size_t size, FreeEntry entry) {
  auto next = window.free_by_address.lower_bound(at);
  if (next != window.free_by_address.end() && at + size == next->first) {
    size += next->second;
    window.free_by_size.erase({next->second, next->first});
    next = window.free_by_address.erase(next);
  }
  if (next != window.free_by_address.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == at) {
      at = before->first;
      size += before->second;
      window.free_by_size.erase({before->second, before->first});
      window.free_by_address.erase(before);
    }
  }
  entry.enter(window.free_by_address, window.free_by_size, at, size);
}

void give_back_pages(AddressWindow &window, uintptr_t at, size_t size) {
  const uintptr_t from = round_up(at, kPageBytes), to = (at + size) / kPageBytes * kPageBytes;
  if (to <= from) return;
  if (window.file >= 0) {
    fallocate(window.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(from - window.start), static_cast<off_t>(to - from));
  } else {
    madvise(reinterpret_cast<void *>(from), to - from, MADV_REMOVE);
  }
  window.pages.forget(from, to - from);
}

// The addresses of a window: its own, or the next part of the range for all devices. What the
// process maps later leaves that range alone.
class Addresses {
 public:
  // Null, with errno, where the host has none.
  static char *take(size_t size) {
    if (!device_memory().together) return reserve_large_pages(size);
    if (all_ == nullptr) all_ = reserve_large_pages(size * static_cast<size_t>(device_count()));
    return all_ == nullptr ? nullptr : all_ + size * parts_++;
  }
  static void give_back(char *at, size_t size) {
    if (!device_memory().together) {
      munmap(at, size);
      return;
    }
    --parts_;
    mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }

 private:
  // Both are guarded by the lock of the windows.
  static inline char *all_ = nullptr;
  static inline size_t parts_ = 0;
};

// Shared memory that another process can open; -1 where the process may not have such a file.
int window_file(size_t size) {
  rlimit limit{};
  const bool fits = getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                    (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
  const int file = fits ? memfd_create("aclnn_py_device", MFD_CLOEXEC) : -1;
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) == 0) return file;
  close(file);
  return -1;
}

}  // namespace

bool open_window(AddressWindow &window) {
  if (window.start != 0) return true;
  const size_t size = device_memory().window;
  char *const at = Addresses::take(size);
  if (at == nullptr) return false;
  const int file = window_file(size);
  Undo mapping([&] {
    const int why = errno;
    Addresses::give_back(at, size);
    if (file >= 0) close(file);
    errno = why;
  });
  // Without a file, keys for other processes are refused. Shared memory does not count as data of
  // the process (`ulimit -d`), which has its own.
  const int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0);
  if (mmap(at, size, PROT_READ | PROT_WRITE, flags, file, 0) == MAP_FAILED) return false;
  if (!window.pages.open(reinterpret_cast<uintptr_t>(at), size)) return false;
  add_free(window, reinterpret_cast<uintptr_t>(at), size, FreeEntry::make());
  mapping.keep();
  window.start = reinterpret_cast<uintptr_t>(at);
  window.size = size;
  window.file = file;
  if (faults::checking()) faults::guard_window(at, size, file);
  return true;
}

uintptr_t take_free(AddressWindow &window, size_t size) {
  auto fit = window.free_by_size.lower_bound({size, 0});
  if (fit == window.free_by_size.end()) return 0;
  const auto [have, at] = *fit;
  auto size_entry = window.free_by_size.extract(fit);
  auto address_entry = window.free_by_address.extract(at);
  if (have > size) {
    address_entry.key() = at + size;
    address_entry.mapped() = have - size;
    window.free_by_address.insert(std::move(address_entry));
    size_entry.value() = {have - size, at + size};
    window.free_by_size.insert(std::move(size_entry));
  }
  return at;
}

void recycle(AddressWindow &window, uintptr_t at, size_t extent, FreeEntry back) {
  add_free(window, at, extent, std::move(back));
  window.resident_free += extent;
  if (window.resident_free > kKeepResident) {
    give_back_pages(window, at, extent);
    window.resident_free -= extent;
  }
}

void recycle_oldest(AddressWindow &window) {
  Resting &oldest = window.resting.front();
  recycle(window, oldest.at, oldest.extent, std::move(oldest.back));
  window.resting_bytes -= oldest.extent;
  window.resting.erase(window.resting.begin());
}

}  // namespace emu
