// SPDX-License-Identifier: Apache-2.0
// The switches for dumps of operators: the configuration of aclInit, aclmdlInitDump and its kin,
// and the program's own function for what is dumped. Writing them is meta/dumps.cpp.
#include "meta/dumps.h"

#include <sys/stat.h>
#include <unistd.h>

#include <mutex>
#include <new>
#include <set>
#include <string>

#include "acl/acl_dump.h"
#include "acl/acl_rt.h"
#include "aclnn/aclnn_base.h"
#include "core/export.h"
#include "core/process.h"
#include "core/statuses.h"
#include "runtime/configuration.h"

using emu::fail;
using emu::Status;

namespace {

struct Switches {
  std::mutex mutex;
  bool by_init = false, initialized = false;
  std::optional<emu::DumpRequest> request;  // of aclInit or aclmdlSetDump
  emu::DumpListener listener = nullptr;
  std::set<std::string> paths;  // what acldumpGetPath answered stays
};

Switches &switches() {
  // In place: the end of a program needs no memory for it.
  alignas(Switches) static unsigned char place[sizeof(Switches)];
  static auto *const instance = ::new (static_cast<void *>(place)) Switches;
  return *instance;
}

// With a function of the program and no configuration, the outputs of all operators go to it.
void apply(const Switches &s) {
  std::optional<emu::DumpRequest> request = s.request;
  if (!request && s.initialized && s.listener != nullptr) request.emplace();
  emu::request_dumps(std::move(request), s.listener);
}

std::string value_of(const emu::Configuration &configuration, const char *name,
                     const char *otherwise) {
  const auto at = configuration.find(std::string("dump.") + name);
  return at != configuration.end() ? at->second : otherwise;
}

Status check_word(const char *routine, const char *name, const std::string &value,
                  std::initializer_list<const char *> words) {
  std::string allowed;
  for (const char *word : words) {
    if (value == word) return 0;
    allowed += std::string(allowed.empty() ? "" : ", ") + word;
  }
  return fail(ACL_ERROR_INVALID_DUMP_CONFIG, "%s: %s is \"%s\"; allowed are %s.", routine, name,
              value.c_str(), allowed.c_str());
}

Status check_folder(const char *routine, const std::string &path) {
  struct stat found{};
  if (stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
      access(path.c_str(), W_OK | X_OK) == 0)
    return 0;
  return fail(ACL_ERROR_INVALID_DUMP_CONFIG,
              "%s: dump_path is \"%s\", which is no folder that can be written to; make it first.",
              routine, path.c_str());
}

// What a configuration asks for; nothing when it has no path to dump to.
Status read_request(const char *routine, const emu::Configuration &configuration,
                    std::optional<emu::DumpRequest> *out) {
  out->reset();
  const std::string every = value_of(configuration, "dump_op_switch", "off"),
                    mode = value_of(configuration, "dump_mode", "output"),
                    data = value_of(configuration, "dump_data", "tensor"),
                    level = value_of(configuration, "dump_level", "all"),
                    path = value_of(configuration, "dump_path", "");
  if (const Status s = check_word(routine, "dump_op_switch", every, {"on", "off"})) return s;
  if (const Status s = check_word(routine, "dump_mode", mode, {"input", "output", "all"})) return s;
  if (const Status s = check_word(routine, "dump_data", data, {"tensor", "stats"})) return s;
  if (const Status s = check_word(routine, "dump_level", level, {"op", "kernel", "all"})) return s;
  const bool other = configuration.count("dump.dump_scene") != 0 ||
                     value_of(configuration, "dump_debug", "off") == "on";
  if (every == "on" && other) {
    return fail(ACL_ERROR_INVALID_DUMP_CONFIG,
                "%s: dump_op_switch goes neither with dump_scene nor with dump_debug.", routine);
  }
  if (every == "on" && path.empty())
    return fail(ACL_ERROR_INVALID_DUMP_CONFIG, "%s: dump_op_switch needs dump_path.", routine);
  if (path.empty() || other) return 0;
  if (data == "stats") {
    return fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                "%s: this device dumps tensors and no statistics of them; set dump_data to "
                "\"tensor\".",
                routine);
  }
  if (const Status s = check_folder(routine, path)) return s;
  emu::DumpRequest &request = out->emplace();
  request.folder = path;
  request.inputs = mode != "output";
  request.outputs = mode != "input";
  request.operators = every == "on";
  return 0;
}

}  // namespace

// Dumps of exceptions and of operators that overflow are accepted: nothing of the kind happens here
// that a file could be about.
Status emu::start_dumps(const char *routine, const Configuration &configuration) {
  std::optional<DumpRequest> request;
  if (const Status s = read_request(routine, configuration, &request)) return s;
  std::lock_guard<std::mutex> lock(switches().mutex);
  if (!request) return 0;
  switches().by_init = true;
  switches().request = std::move(request);
  apply(switches());
  return 0;
}

void emu::forget_dumps() {
  std::lock_guard<std::mutex> lock(switches().mutex);
  if (!switches().by_init) return;
  switches().by_init = false;
  switches().request.reset();
  apply(switches());
}

EMU_EXPORT aclError aclmdlInitDump(void) try {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(switches().mutex);
  if (switches().initialized || switches().by_init) {
    return fail(ACL_ERROR_DUMP_ALREADY_RUN, "aclmdlInitDump: %s.",
                switches().initialized ? "called before"
                                       : "the configuration of aclInit asks for dumps already");
  }
  switches().initialized = true;
  apply(switches());
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlSetDump(const char *dumpCfgPath) try {
  EMU_ENTER();
  if (dumpCfgPath == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlSetDump: dumpCfgPath is null.");
  std::lock_guard<std::mutex> lock(switches().mutex);
  if (!switches().initialized)
    return fail(ACL_ERROR_DUMP_NOT_RUN, "aclmdlSetDump: aclmdlInitDump comes first.");
  emu::Configuration configuration;
  if (const Status s = emu::read_configuration(dumpCfgPath, __func__, &configuration)) return s;
  for (const char *const name : {"dump_scene", "dump_debug", "dump_kernel_data"}) {
    const std::string value = value_of(configuration, name, "off");
    if (value == "off" || value.empty()) continue;
    return fail(ACL_ERROR_FEATURE_UNSUPPORTED,
                "aclmdlSetDump: this device dumps tensors of operators only (%s is \"%s\").", name,
                value.c_str());
  }
  std::optional<emu::DumpRequest> request;
  if (const Status s = read_request(__func__, configuration, &request)) return s;
  switches().request = std::move(request);
  apply(switches());
  return 0;
}
EMU_CATCH

// Operators that have not run yet are dumped no longer.
EMU_EXPORT aclError aclmdlFinalizeDump(void) try {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(switches().mutex);
  if (!switches().initialized)
    return fail(ACL_ERROR_DUMP_NOT_RUN, "aclmdlFinalizeDump: aclmdlInitDump comes first.");
  switches().initialized = false;
  switches().request.reset();
  apply(switches());
  return 0;
}
EMU_CATCH

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
  std::lock_guard<std::mutex> lock(switches().mutex);
  if (switches().listener != nullptr) {
    return fail(ACL_ERROR_REPEAT_SUBSCRIBE,
                "acldumpRegCallback: a function is registered already.");
  }
  switches().listener = messageCallback;
  apply(switches());
  return 0;
}
EMU_CATCH

EMU_EXPORT void acldumpUnregCallback(void) try {
  std::lock_guard<std::mutex> lock(switches().mutex);
  switches().listener = nullptr;
  apply(switches());
}
EMU_CATCH_VOID

EMU_EXPORT const char *acldumpGetPath(acldumpType dumpType) try {
  if (emu::check_process(__func__) != 0) return nullptr;
  std::lock_guard<std::mutex> lock(switches().mutex);
  const bool known = dumpType == DATA_DUMP && switches().request.has_value();
  if (!known) {
    fail(ACL_ERROR_INVALID_PARAM, "acldumpGetPath: no dumps of type %d were asked for.",
         static_cast<int>(dumpType));
    return nullptr;
  }
  return switches().paths.insert(switches().request->folder).first->c_str();
}
EMU_CATCH

// A task of the stream: the tensors are dumped as they are when their turn comes.
EMU_EXPORT aclnnStatus aclDumpOpTensors(const char *opType, const char *opName, aclTensor **tensors,
                                        size_t inputTensorNum, size_t outputTensorNum,
                                        aclrtStream stream) try {
  EMU_ENTER();
  const size_t count = inputTensorNum + outputTensorNum;
  if (opType == nullptr || opName == nullptr || (tensors == nullptr && count != 0)) {
    return fail(emu::kNullPointer, "aclDumpOpTensors: %s is null.",
                opType == nullptr   ? "opType"
                : opName == nullptr ? "opName"
                                    : "tensors");
  }
  emu::PlanBuilder plan(__func__);
  for (size_t i = 0; i < count; ++i) {
    if (!emu::live(tensors[i])) {
      return fail(emu::kInvalid, "aclDumpOpTensors: tensors[%zu] is no live aclTensor.", i);
    }
    plan.input(tensors[i]);
  }
  struct Names {
    std::string type, name;
  };
  const auto names = std::make_shared<const Names>(Names{opType, opName});
  uint64_t workspace = 0;
  aclOpExecutor *executor = nullptr;
  const auto dump = [names, count, inputTensorNum](emu::PlanContext &c) -> Status {
    std::vector<emu::PlanTensor> all(count);
    for (size_t i = 0; i < count; ++i) {
      all[i].tensor = c.tensor(i);
      all[i].present = true;
      all[i].input = i < inputTensorNum;
      all[i].output = i >= inputTensorNum;
    }
    for (const auto part : {emu::DumpPart::inputs, emu::DumpPart::outputs})
      emu::dump_tensors(names->type, names->name, all, part, c.stream());
    return 0;
  };
  if (const Status s = plan.finish(dump, &workspace, &executor)) return s;
  return emu::run_plan(__func__, nullptr, 0, executor, stream);
}
EMU_CATCH
