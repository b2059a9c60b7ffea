// SPDX-License-Identifier: Apache-2.0
// The switch for dumps of operators. This device writes none, and says so to whoever asks for one.
#include <mutex>

#include "acl/acl_dump.h"
#include "acl/acl_rt.h"
#include "core/export.h"
#include "core/process.h"
#include "runtime/configuration.h"

using emu::fail;
using emu::Status;

namespace {

std::mutex g_mutex;
bool g_initialized = false;
bool g_asked = false;  // for dumps, by the configuration of aclInit
int32_t (*g_listener)(const acldumpChunk *, int32_t) = nullptr;

}  // namespace

void emu::note_dumps(const Configuration &configuration) {
  bool asked = false;
  for (const auto &[key, value] : configuration) {
    asked = asked || key.rfind("dump.dump_list", 0) == 0 ||
            (value == "on" && (key == "dump.dump_op_switch" || key == "dump.dump_debug"));
  }
  std::lock_guard<std::mutex> lock(g_mutex);
  g_asked = asked;
}

EMU_EXPORT aclError aclmdlInitDump(void) try {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(g_mutex);
  if (g_initialized) return fail(ACL_ERROR_DUMP_ALREADY_RUN, "aclmdlInitDump: called before.");
  g_initialized = true;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlSetDump(const char *dumpCfgPath) try {
  EMU_ENTER();
  if (dumpCfgPath == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlSetDump: dumpCfgPath is null.");
  std::lock_guard<std::mutex> lock(g_mutex);
  if (!g_initialized)
    return fail(ACL_ERROR_DUMP_NOT_RUN, "aclmdlSetDump: aclmdlInitDump comes first.");
  emu::Configuration configuration;
  if (const Status s = emu::read_configuration(dumpCfgPath, __func__, &configuration)) return s;
  for (const auto &[key, value] : configuration) {
    const bool off = value == "off" || value == "null" || value.empty() || key == "dump.dump_path";
    if (key.rfind("dump.", 0) == 0 && !off) {
      return fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                  "aclmdlSetDump: this device writes no dumps (%s is \"%s\").", key.c_str(),
                  value.c_str());
    }
  }
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlFinalizeDump(void) try {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(g_mutex);
  if (!g_initialized)
    return fail(ACL_ERROR_DUMP_NOT_RUN, "aclmdlFinalizeDump: aclmdlInitDump comes first.");
  g_initialized = false;
  return 0;
}
EMU_CATCH

// The function is kept until it is unregistered, and never called: this device writes no dumps.
// When the configuration asks for dumps, the registration is refused.
EMU_EXPORT aclError acldumpRegCallback(int32_t (*const messageCallback)(const acldumpChunk *,
                                                                        int32_t),
                                       int32_t flag) try {
  EMU_ENTER();
  if (messageCallback == nullptr || flag != 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "acldumpRegCallback: %s.",
                messageCallback == nullptr
                    ? "messageCallback is null"
                    : "flag must be 0 (dumps are not written to files, too)");
  }
  std::lock_guard<std::mutex> lock(g_mutex);
  if (g_asked) {
    return fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                "acldumpRegCallback: the configuration of aclInit asks for dumps of operators, "
                "which this device does not write.");
  }
  if (g_listener != nullptr)
    return fail(ACL_ERROR_REPEAT_SUBSCRIBE,
                "acldumpRegCallback: a function is registered already.");
  g_listener = messageCallback;
  return 0;
}
EMU_CATCH

EMU_EXPORT void acldumpUnregCallback(void) try {
  std::lock_guard<std::mutex> lock(g_mutex);
  g_listener = nullptr;
}
EMU_CATCH_VOID
