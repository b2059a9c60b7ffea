// SPDX-License-Identifier: Apache-2.0
#include "hccl/process.h"

#include <sys/random.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace emu::hccl {
namespace {

enum class Found { running, ended, unknown };

// Reads state and start time from /proc/<pid>/stat. The command name may hold spaces and brackets,
// so fields are counted from the last closing bracket.
Found read_stat(int64_t pid, uint64_t *start) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/stat", static_cast<long long>(pid));
  std::FILE *file = std::fopen(path, "re");
  if (!file) return access("/proc/self/stat", R_OK) == 0 ? Found::ended : Found::unknown;
  char text[1024];
  size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = 0;
  const char *after = std::strrchr(text, ')');
  if (!after) return Found::unknown;
  char state = 0;
  unsigned long long ticks = 0;
  // state is field 3; the start time is field 22
  int got = std::sscanf(
      after + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
      &state, &ticks);
  if (got != 2) return Found::unknown;
  *start = ticks;
  return state == 'Z' || state == 'X' ? Found::ended : Found::running;
}

}  // namespace

Process this_process() {
  static std::mutex mutex;
  static Process cached{};
  std::lock_guard<std::mutex> hold(mutex);
  // a forked child is another address space: it gets a nonce of its own
  if (cached.pid != getpid()) {
    cached = Process{};
    cached.pid = getpid();
    cached.observable = 1;
    if (getrandom(&cached.nonce, sizeof cached.nonce, 0) != sizeof cached.nonce) {
      cached.nonce = static_cast<uint64_t>(cached.pid) << 32 ^ reinterpret_cast<uintptr_t>(&cached);
    }
    read_stat(cached.pid, &cached.start);
  }
  return cached;
}

bool is_running(const Process &process) {
  if (!process.observable || process.nonce == this_process().nonce) return true;
  uint64_t start = 0;
  switch (read_stat(process.pid, &start)) {
    case Found::ended: return false;
    case Found::unknown: return true;
    case Found::running: break;
  }
  return start == process.start;
}

}  // namespace emu::hccl
