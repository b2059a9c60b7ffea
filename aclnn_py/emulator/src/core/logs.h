// SPDX-License-Identifier: Apache-2.0
// CANN's own log: what ASCEND_SLOG_PRINT_TO_STDOUT prints and ASCEND_PROCESS_LOG_PATH keeps in
// files. The variables are read when the library is loaded. While nobody asked for a log, a line
// costs one read of a flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace emu::logs {

// The modules of CANN that the emulator speaks for.
enum Module : uint8_t { kRuntime, kAscendcl, kOp, kHccl, kProfiling, kApp, kModules };

enum Level : uint8_t { kDebug, kInfo, kWarning, kError, kNull };

// The least level that a module writes; kNull for none.
extern std::atomic<uint8_t> g_levels[kModules];
extern std::atomic<bool> g_events;

inline bool wants(Module module, Level level) {
  return __builtin_expect(level >= g_levels[module].load(std::memory_order_relaxed), 0);
}
inline bool wants_events() { return __builtin_expect(g_events.load(std::memory_order_relaxed), 0); }

// The module that a message code ("EZ1001") belongs to.
Module module_of(const char *message_code);

// A message about a call, "routine: what happened": one line, or several where it is longer than
// CANN's longest. Never throws; what cannot be written is lost.
void write(Module module, Level level, const char *message_code, int32_t status,
           const std::string &message) noexcept;

// What happened without a failure, under the level that `wants` was asked for.
[[gnu::format(printf, 4, 5)]] void note(Module module, Level level, const char *routine,
                                        const char *format, ...) noexcept;

// A line of the process as a whole, which goes to the logs of the run.
[[gnu::format(printf, 3, 4)]] void event(Module module, const char *routine, const char *format,
                                         ...) noexcept;

// The line of aclAppLog; its place is the program's.
void write_application(Level level, const char *routine, const char *file, uint32_t line,
                       const char *text) noexcept;

}  // namespace emu::logs
