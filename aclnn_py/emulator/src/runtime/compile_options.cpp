// SPDX-License-Identifier: Apache-2.0
// Options of the operator compiler: kept and given back. Operators of this device are compiled
// already.
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "acl/acl_op_compiler.h"
#include "core/export.h"
#include "core/process.h"

using emu::fail;

namespace {

struct Options {
  std::mutex mutex;
  std::map<int, std::string> values{{ACL_OP_JIT_COMPILE, "disable"}};
};

Options &options() {
  static auto *const instance = new Options;
  return *instance;
}

bool known(aclCompileOpt opt) { return opt >= ACL_PRECISION_MODE && opt <= ACL_OP_DEBUG_OPTION; }

}  // namespace

EMU_EXPORT aclError aclSetCompileopt(aclCompileOpt opt, const char *value) try {
  EMU_ENTER();
  if (value == nullptr || !known(opt)) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclSetCompileopt: value is null or %d is no option.",
                static_cast<int>(opt));
  }
  if (opt == ACL_OP_JIT_COMPILE && std::strcmp(value, "enable") != 0 &&
      std::strcmp(value, "disable") != 0) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclSetCompileopt: jit_compile is \"enable\" or \"disable\", not \"%s\".", value);
  }
  std::lock_guard<std::mutex> lock(options().mutex);
  options().values[opt] = value;
  return 0;
}
EMU_CATCH

EMU_EXPORT size_t aclGetCompileoptSize(aclCompileOpt opt) try {
  if (emu::check_process(__func__)) return 0;
  std::lock_guard<std::mutex> lock(options().mutex);
  const auto at = options().values.find(opt);
  return at == options().values.end() ? 1 : at->second.size() + 1;
}
EMU_CATCH

EMU_EXPORT aclError aclGetCompileopt(aclCompileOpt opt, char *value, size_t length) try {
  EMU_ENTER();
  if (value == nullptr || !known(opt) || length < aclGetCompileoptSize(opt)) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclGetCompileopt: option %d needs a buffer of %zu bytes, %zu were given.",
                static_cast<int>(opt), aclGetCompileoptSize(opt), length);
  }
  std::lock_guard<std::mutex> lock(options().mutex);
  const auto at = options().values.find(opt);
  const std::string text = at == options().values.end() ? "" : at->second;
  std::memcpy(value, text.c_str(), text.size() + 1);
  return 0;
}
EMU_CATCH
