// SPDX-License-Identifier: Apache-2.0
#include "core/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "acl/acl_base.h"
#include "core/stream.h"

namespace emu {

std::atomic<bool> g_forked{false};
std::atomic<bool> g_exiting{false};

namespace {

std::once_flag g_watch_once;

void on_fork_child() { g_forked.store(true, std::memory_order_relaxed); }

void on_exit() {
  g_exiting.store(true, std::memory_order_seq_cst);
  if (!forked()) stop_all_workers();
}

}  // namespace

void watch_process() {
  // Registered at first use, hence run before the destructors of objects that existed by then.
  std::call_once(g_watch_once, [] {
    // Without the fork handler a forked child would wait for threads that it does not have, so the
    // device is refused.
    if (pthread_atfork(nullptr, nullptr, on_fork_child) != 0 || std::atexit(on_exit) != 0)
      throw std::bad_alloc();
  });
}

Status refuse_forked(const char *routine) {
  return fail(ACL_ERROR_RT_SOCKET_CLOSE,
              "%s: this process (pid %ld) was forked after the device was first used; a forked "
              "child has no session with the device. Start a new process (spawn) instead.",
              routine, static_cast<long>(getpid()));
}

int open_of_process(int64_t pid, int file) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(pid), file);
  return open(path, O_RDWR | O_CLOEXEC);
}

int64_t environment_number(const char *name, int64_t fallback) {
  const char *text = std::getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  char *end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text, &end, 10);
  return (errno != 0 || end == text || *end != '\0') ? fallback : value;
}

int64_t environment_bytes(const char *name, int64_t fallback) {
  const char *text = std::getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  char *end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text, &end, 10);
  if (errno != 0 || end == text || value <= 0) return fallback;
  int shift = 0;
  switch (*end) {
    case 'k':
    case 'K':
      shift = 10;
      ++end;
      break;
    case 'm':
    case 'M':
      shift = 20;
      ++end;
      break;
    case 'g':
    case 'G':
      shift = 30;
      ++end;
      break;
    case 't':
    case 'T':
      shift = 40;
      ++end;
      break;
    default: break;
  }
  if (*end != '\0' || value > (INT64_MAX >> shift)) return fallback;
  return value << shift;
}

bool check_mode() {
  static const bool on = environment_number("ACLNN_PY_CHECK", 0) != 0;
  return on;
}

}  // namespace emu
