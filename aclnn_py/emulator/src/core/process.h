// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "core/host_calls.h"
#include "core/status.h"

// State of the whole process: fork, exit, settings from the environment.
namespace emu {

extern std::atomic<bool> g_forked;
extern std::atomic<bool> g_exiting;

// True in a child forked after the emulator was first used: its worker threads do not exist there.
inline bool forked() { return g_forked.load(std::memory_order_relaxed); }

// True once exit() has begun: waits inside stream workers must end.
inline bool exiting() { return g_exiting.load(std::memory_order_relaxed); }

// Marks the process as a user of the emulator, so that fork and exit are noticed.
void watch_process();

// Refusal to answer from a forked child. Every entry point that touches shared state begins with
// it.
Status refuse_forked(const char *routine);

inline Status check_process(const char *routine) {
  return __builtin_expect(forked(), 0) ? refuse_forked(routine) : 0;
}

// Opens the file that another process (or this one) has open under that descriptor; -1 with errno.
int open_of_process(int64_t pid, int file);

int64_t environment_number(const char *name, int64_t fallback);

// Bytes with an optional suffix K, M, G or T (powers of 1024).
int64_t environment_bytes(const char *name, int64_t fallback);

// ACLNN_PY_CHECK=1: poison, guard zones and exact bounds.
bool check_mode();

}  // namespace emu

// Begins an entry point, and notes it for profiles; inside a function that serves several of them,
// EMU_ENTER_AS names the right one, and the entry points themselves say EMU_TIMED().
#define EMU_ENTER_AS(routine)                                                          \
  do {                                                                                 \
    if (const ::emu::Status entered_ = ::emu::check_process(routine)) return entered_; \
  } while (0)
#define EMU_ENTER() \
  EMU_TIMED();      \
  EMU_ENTER_AS(__func__)
