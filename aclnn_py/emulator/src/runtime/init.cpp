// SPDX-License-Identifier: Apache-2.0
// aclInit, aclFinalize and the messages of the calling thread.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "acl/acl_rt.h"
#include "aclnn/aclnn_base.h"
#include "core/device.h"
#include "core/export.h"
#include "core/logs.h"
#include "core/process.h"
#include "core/undo.h"
#include "faults/findings.h"
#include "faults/objects.h"
#include "runtime/configuration.h"
#include "runtime/init_callbacks.h"

namespace emu {
namespace {

struct InitState {
  std::mutex mutex;
  uint64_t references = 0;  // guarded by mutex, as the rest
  uint64_t operator_references = 0;
};

InitState &state() {
  static auto *const instance = new InitState;
  return *instance;
}

Status apply(const char *path, const char *routine, std::string *text = nullptr) {
  if (path == nullptr || *path == '\0') return 0;
  Configuration configuration;
  if (const Status s = read_configuration(path, routine, &configuration, text)) return s;
  if (const Status s = start_dumps(routine, configuration)) return s;
  if (const auto mode = configuration.find("err_msg_mode"); mode != configuration.end()) {
    if (mode->second != "0" && mode->second != "1") {
      return fail(ACL_ERROR_INVALID_PARAM,
                  "%s: err_msg_mode is \"%s\"; \"0\" (thread) and \"1\" (process) are known.",
                  routine, mode->second.c_str());
    }
    set_message_mode(mode->second == "1" ? 1 : 0);
  }
  if (const auto id = configuration.find("defaultDevice.default_device");
      id != configuration.end()) {
    return set_device(std::atoi(id->second.c_str()), routine);
  }
  return 0;
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::inform;

namespace {

// The part of aclInit under the lock: functions of the program are called without it.
emu::Status initialize(const char *routine, const char *path, std::string *text) {
  std::lock_guard<std::mutex> lock(emu::state().mutex);
  if (emu::state().references > 0) {
    ++emu::state().references;
    return inform(ACL_ERROR_REPEAT_INITIALIZE,
                  "%s: called before in this process (%llu times by now).", routine,
                  static_cast<unsigned long long>(emu::state().references));
  }
  if (const emu::Status s = emu::apply(path, routine, text)) return s;
  emu::state().references = 1;
  emu::faults::begun(emu::faults::kInitialized, 1);
  return 0;
}

// Takes `count` references back (0: all of them); *left is what remains.
emu::Status finalize(const char *routine, uint64_t count, uint64_t *left) {
  std::lock_guard<std::mutex> lock(emu::state().mutex);
  if (emu::state().references == 0) {
    if (emu::faults::checking())
      emu::faults::finding("aclFinalize without aclInit",
                           std::string(routine) + ": nothing is left to end");
    return inform(ACL_ERROR_REPEAT_FINALIZE, "%s: not initialized, or finalized before.", routine);
  }
  emu::state().references -= count == 0 ? emu::state().references : count;
  *left = emu::state().references;
  if (*left != 0) return 0;
  emu::faults::begun(emu::faults::kInitialized, -1);
  emu::forget_dumps();
  return 0;
}

void say_begun() {
  if (!emu::logs::wants_events()) return;
  uint32_t devices = 0;
  (void)aclrtGetDeviceCount(&devices);
  const char *chip = aclrtGetSocName();
  emu::logs::event(emu::logs::kAscendcl, "aclInit", "the emulator of aclnn_py, %u devices, %s.",
                   devices, chip != nullptr ? chip : "unknown chip");
}

}  // namespace

EMU_EXPORT aclError aclInit(const char *configPath) try {
  EMU_ENTER();
  emu::watch_process();
  std::string text;
  if (const emu::Status s = initialize(__func__, configPath, &text)) return s;
  emu::Undo begun([&] {
    uint64_t left = 0;
    (void)finalize("aclInit", 0, &left);  // somebody else may have done it meanwhile
  });
  const emu::Status told = emu::tell_initialized(text);
  if (told == 0) begun.keep();
  if (told == 0) say_begun();
  return told;
}
EMU_CATCH

EMU_EXPORT aclError aclFinalize(void) try {
  EMU_ENTER();
  uint64_t left = 0;
  if (const emu::Status s = finalize(__func__, 0, &left)) return s;
  if (emu::logs::wants_events())
    emu::logs::event(emu::logs::kAscendcl, __func__, "the runtime is finalized.");
  return emu::tell_finalizing();
}
EMU_CATCH

EMU_EXPORT aclError aclFinalizeReference(uint64_t *refCount) try {
  EMU_ENTER();
  uint64_t left = 0;
  if (const emu::Status s = finalize(__func__, 1, &left)) return s;
  if (refCount != nullptr) *refCount = left;
  return left == 0 ? emu::tell_finalizing() : 0;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclnnInit(const char *configPath) try {
  EMU_ENTER();
  emu::watch_process();
  std::lock_guard<std::mutex> lock(emu::state().mutex);
  if (const emu::Status s = emu::apply(configPath, __func__)) return s;
  ++emu::state().operator_references;
  emu::faults::begun(emu::faults::kOperators, 1);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclnnFinalize(void) try {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(emu::state().mutex);
  if (emu::state().operator_references > 0) --emu::state().operator_references;
  emu::faults::begun(emu::faults::kOperators, -1);
  return 0;
}
EMU_CATCH

EMU_EXPORT const char *aclGetRecentErrMsg(void) try { return emu::recent_message(); }
EMU_CATCH

EMU_EXPORT void aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line,
                          const char *fmt, ...) try {
  if (fmt == nullptr || func == nullptr || file == nullptr) return;
  if (logLevel < ACL_DEBUG || logLevel > ACL_ERROR) return;
  const auto level = static_cast<emu::logs::Level>(logLevel);
  if (!emu::logs::wants(emu::logs::kApp, level)) return;
  va_list args;
  va_start(args, fmt);
  char text[1024];
  std::vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  emu::logs::write_application(level, func, file, line, text);
}
EMU_CATCH_VOID

EMU_EXPORT aclError aclrtPeekAtLastError(aclrtLastErrLevel level) try {
  if (level != ACL_RT_THREAD_LEVEL) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtPeekAtLastError: only ACL_RT_THREAD_LEVEL is known.");
  }
  return emu::last_error();
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetLastError(aclrtLastErrLevel level) try {
  if (level != ACL_RT_THREAD_LEVEL) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtGetLastError: only ACL_RT_THREAD_LEVEL is known.");
  }
  const emu::Status code = emu::last_error();
  emu::set_last_error(0);
  return code;
}
EMU_CATCH
