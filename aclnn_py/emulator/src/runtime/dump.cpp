// SPDX-License-Identifier: Apache-2.0
// The switch for dumps of operators. This device writes none, and says so to whoever asks for one.
#include <mutex>

#include "acl/acl_rt.h"
#include "core/export.h"
#include "core/process.h"
#include "runtime/configuration.h"

using emu::fail;
using emu::Status;

namespace {

std::mutex g_mutex;
bool g_initialized = false;

}  // namespace

EMU_EXPORT aclError aclmdlInitDump(void) {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(g_mutex);
  if (g_initialized) return fail(ACL_ERROR_DUMP_ALREADY_RUN, "aclmdlInitDump: called before.");
  g_initialized = true;
  return 0;
}

EMU_EXPORT aclError aclmdlSetDump(const char *dumpCfgPath) {
  EMU_ENTER();
  if (dumpCfgPath == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclmdlSetDump: dumpCfgPath is null.");
  std::lock_guard<std::mutex> lock(g_mutex);
  if (!g_initialized) return fail(ACL_ERROR_DUMP_NOT_RUN, "aclmdlSetDump: aclmdlInitDump comes first.");
  emu::Configuration configuration;
  if (const Status s = emu::read_configuration(dumpCfgPath, __func__, &configuration)) return s;
  for (const auto &[key, value] : configuration) {
    const bool off = value == "off" || value == "null" || value.empty() || key == "dump.dump_path";
    if (key.rfind("dump.", 0) == 0 && !off) {
      return fail(ACL_ERROR_FEATURE_UNSUPPORTED, "aclmdlSetDump: this device writes no dumps (%s is \"%s\").", key.c_str(),
                  value.c_str());
    }
  }
  return 0;
}

EMU_EXPORT aclError aclmdlFinalizeDump(void) {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(g_mutex);
  if (!g_initialized) return fail(ACL_ERROR_DUMP_NOT_RUN, "aclmdlFinalizeDump: aclmdlInitDump comes first.");
  g_initialized = false;
  return 0;
}
