// SPDX-License-Identifier: Apache-2.0
#include "core/logs.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <string>
#include <utility>

#include "core/log_file.h"
#include "core/process.h"

namespace emu::logs {
namespace {

constexpr size_t kLongest = 1023;  // of a line with its end, as in CANN
constexpr const char *kLevels[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
constexpr const char *kNames[kModules] = {"RUNTIME", "ASCENDCL", "OP", "HCCL", "PROFILING", "APP"};
// Modules of CANN that write nothing here. A name that is not CANN's makes the whole variable void.
constexpr const char *kOthers[] = {
    "SLOG",  "IDEDD",    "SCC",      "FMK",        "CCU",    "DVPP",
    "CCE",   "HDC",      "DRV",      "NET",        "HIXL",   "DQS",
    "DEVMM", "KERNEL",   "LIBMEDIA", "CCECPU",     "ROS",    "HCCP",
    "ROCE",  "TEFUSION", "DP",       "TS",         "TSDUMP", "AICPU",
    "LP",    "TDT",      "FE",       "MD",         "MB",     "ME",
    "IMU",   "IMP",      "GE",       "CAMERA",     "TEEOS",  "ISP",
    "SIS",   "HSM",      "DSS",      "PROCMGR",    "BBOX",   "AIVECTOR",
    "TBE",   "FV",       "PYPTO",    "TUNE",       "HSS",    "FFTS",
    "UDF",   "HICAID",   "TSYNC",    "AUDIO",      "TPRT",   "ASCENDCKERNEL",
    "ASYS",  "ATRACE",   "RTC",      "SYSMONITOR", "AML",    "ADETECT"};

const Destination &destination() {
  static const auto *const found = new Destination(destination_from_environment());
  return *found;
}

bool is_level(const std::string &text) {
  return text.size() == 1 && text[0] >= '0' && text[0] <= '4';
}

// The levels of ASCEND_MODULE_LOG_LEVEL, "RUNTIME=0:HCCL=1", over those there are; as a whole or
// not at all.
void apply_modules(const std::string &given, uint8_t (&levels)[kModules]) {
  uint8_t fresh[kModules];
  std::memcpy(fresh, levels, sizeof fresh);
  for (size_t at = 0; at <= given.size();) {
    const size_t end = std::min(given.find(':', at), given.size());
    const std::string item = given.substr(at, end - at);
    at = end + 1;
    const size_t equals = item.find('=');
    if (equals == std::string::npos || !is_level(item.substr(equals + 1))) return;
    const std::string name = item.substr(0, equals);
    bool known = false;
    for (int module = 0; module < kModules; ++module) {
      if (name != kNames[module]) continue;
      fresh[module] = static_cast<uint8_t>(item[equals + 1] - '0');
      known = true;
    }
    for (const char *other : kOthers) known = known || name == other;
    if (!known) return;
  }
  std::memcpy(levels, fresh, sizeof fresh);
}

const bool g_read = [] {
  if (!destination().any()) return false;
  uint8_t levels[kModules];
  const char *given = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
  const uint8_t all = given != nullptr && is_level(given) ? static_cast<uint8_t>(*given - '0')
                                                          : static_cast<uint8_t>(kError);
  std::memset(levels, all, sizeof levels);
  if (const char *modules = std::getenv("ASCEND_MODULE_LOG_LEVEL")) apply_modules(modules, levels);
  for (int module = 0; module < kModules; ++module) g_levels[module].store(levels[module]);
  g_events.store(environment_number("ASCEND_GLOBAL_EVENT_ENABLE", 1) != 0);
  return true;
}();

long thread_number() { return syscall(SYS_gettid); }

// "[ERROR] RUNTIME(4711,program):2026-11-30-00:01:02.003.004 "
std::string head_of(Module module, const char *level) {
  timeval now{};
  gettimeofday(&now, nullptr);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  char day[32], text[160];
  std::strftime(day, sizeof day, "%Y-%m-%d-%H:%M:%S", &local);
  std::snprintf(text, sizeof text, "[%s] %s(%ld,%.64s):%s.%03ld.%03ld ", level, kNames[module],
                static_cast<long>(getpid()), program_invocation_short_name, day,
                static_cast<long>(now.tv_usec / 1000), static_cast<long>(now.tv_usec % 1000));
  return text;
}

// What stands between the head and the text. Each module of CANN has its own way.
std::string place_of(Module module, const std::string &routine, int32_t status, int line) {
  const std::string file = "[logs.cpp:" + std::to_string(line) + "]";
  const std::string thread = std::to_string(thread_number());
  if (module == kOp) {
    const std::string code = status != 0 ? " errno[" + std::to_string(status) + "] " : " ";
    return file + "[NNOP][" + routine + "][" + thread + "]" + code;
  }
  if (module == kHccl) return file + " [" + thread + "][" + routine + "]";
  return file + thread + " " + routine + ": ";
}

// Lines of the text behind the same beginning; nothing of it is cut off.
void put_text(Kind kind, const std::string &beginning, std::string text) {
  for (char &c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::string lines;
  const size_t room = kLongest - 1 - std::min(beginning.size(), kLongest / 2);
  size_t at = 0;
  do {
    lines += beginning + text.substr(at, room) + "\n";
    at += room;
  } while (at < text.size());
  put(destination(), kind, lines);
}

std::string formatted(const char *format, va_list args) {
  char text[kLongest];
  std::vsnprintf(text, sizeof text, format, args);
  return text;
}

// "routine: what happened" in its two parts; the first is empty where the text names no routine.
void split(const std::string &message, std::string *routine, std::string *text) {
  size_t end = 0;
  while (end < message.size() &&
         (std::isalnum(static_cast<unsigned char>(message[end])) != 0 || message[end] == '_'))
    ++end;
  const bool named = end > 0 && message.compare(end, 2, ": ") == 0;
  *routine = named ? message.substr(0, end) : "";
  *text = named ? message.substr(end + 2) : message;
}

}  // namespace

std::atomic<uint8_t> g_levels[kModules] = {kNull, kNull, kNull, kNull, kNull, kNull};
std::atomic<bool> g_events{false};

Module module_of(const char *message_code) {
  switch (message_code[1]) {
    case 'Z': return kOp;
    case 'I':
    case 'J': return kHccl;
    case 'H': return kAscendcl;
    case 'K': return kProfiling;
    default: return kRuntime;
  }
}

void write(Module module, Level level, const char *message_code, int32_t status,
           const std::string &message) noexcept try {
  std::string routine, text;
  split(message, &routine, &text);
  text = std::string(message_code) + ": " + text;
  if (!text.empty() && text.back() == '.') text.pop_back();
  if (module == kHccl) {
    text += ", hcclRet -> " + std::to_string(status);
  } else if (module != kOp) {
    text += ", error code is " + std::to_string(status);
  }
  const std::string place = place_of(module, routine, status, __LINE__);
  put_text(Kind::debug, head_of(module, kLevels[level]) + place, std::move(text));
} catch (const std::exception &) {
  // No memory for the line: it is lost, the call's status is not.
}

void note(Module module, Level level, const char *routine, const char *format, ...) noexcept try {
  va_list args;
  va_start(args, format);
  std::string text = formatted(format, args);
  va_end(args);
  const std::string place = place_of(module, routine, 0, __LINE__);
  put_text(Kind::debug, head_of(module, kLevels[level]) + place, std::move(text));
} catch (const std::exception &) {
  // As above.
}

void event(Module module, const char *routine, const char *format, ...) noexcept try {
  va_list args;
  va_start(args, format);
  std::string text = formatted(format, args);
  va_end(args);
  const std::string place = place_of(module, routine, 0, __LINE__);
  put_text(Kind::run, head_of(module, "EVENT") + place, std::move(text));
} catch (const std::exception &) {
  // As above.
}

void write_application(Level level, const char *routine, const char *file, uint32_t line,
                       const char *text) noexcept try {
  const std::string beginning = head_of(kApp, kLevels[level]) + std::to_string(thread_number()) +
                                " " + routine + ":" + file + ":" + std::to_string(line) + ": ";
  put_text(Kind::debug, beginning, std::string("\"") + text + "\"");
} catch (const std::exception &) {
  // As above.
}

}  // namespace emu::logs
