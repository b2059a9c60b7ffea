// SPDX-License-Identifier: Apache-2.0
// Profiling calls: they keep CANN's order of states, answer for misuse, and write what streams ran
// between start and stop. Steps are checked and not written.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl_prof.h"
#include "core/device.h"
#include "core/export.h"
#include "core/marks.h"
#include "core/process.h"
#include "core/slots.h"
#include "core/stream.h"
#include "core/timeline.h"
#include "runtime/profile_files.h"

struct aclprofConfig {
  std::vector<uint32_t> devices;
  uint64_t what = 0;
};
struct aclprofStepInfo {
  bool started = false;
};

namespace emu {
namespace {

struct Stamp {
  std::string message;
};

struct Profiling {
  std::mutex mutex;
  bool initialized = false;
  std::string folder;  // of this profile's files
  const aclprofConfig *running = nullptr;
};

Profiling &profiling() {
  static auto *const instance = new Profiling;
  return *instance;
}

Slots<aclprofConfig> &configs() {
  static auto *const all = new Slots<aclprofConfig>(1 << 12);
  return *all;
}
Slots<aclprofStepInfo> &steps() {
  static auto *const all = new Slots<aclprofStepInfo>(1 << 16);
  return *all;
}
Slots<Stamp> &stamps() {
  static auto *const all = new Slots<Stamp>(1 << 18);
  return *all;
}

// Numbers of ranges in aclprof's 32 bits, and what they are for the profile (0: not kept).
struct Ranges {
  std::mutex mutex;
  uint32_t last = 0;
  std::map<uint32_t, uint64_t> kept;
};
Ranges &ranges() {
  static auto *const instance = new Ranges;
  return *instance;
}

// What this thread has pushed, the last at the end.
thread_local std::vector<uint64_t> t_pushed;

constexpr char kDomain[] = "default";

Status check_stamp(const char *routine, void *raw, Stamp **stamp) {
  EMU_ENTER_AS(routine);
  *stamp = stamps().find(raw);
  return *stamp != nullptr
             ? 0
             : fail(ACL_ERROR_INVALID_PARAM, "%s: %p is not a live stamp.", routine, raw);
}

// Times at level 0 come without shapes, as CANN's do.
uint32_t notes_of(uint64_t what) {
  uint32_t notes = 0;
  if (what & (ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0 | ACL_PROF_TASK_TIME_L2 |
              ACL_PROF_TASK_TIME_L3 | ACL_PROF_HCCL_TRACE))
    notes |= kNoteTasks;
  if (what & (ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L2 | ACL_PROF_TASK_TIME_L3))
    notes |= kNoteOperands;
  if (what & ACL_PROF_TASK_MEMORY) notes |= kNoteMemory;
  // CANN counts calls of the host for each of these.
  if (what & (ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API | ACL_PROF_API_STATS) ||
      (notes & kNoteTasks) != 0)
    notes |= kNoteCalls;
  if (what & ACL_PROF_MSPROFTX) notes |= kNoteMarks;
  return notes;
}

Status change_running(const char *routine, const aclprofConfig *config, bool start) {
  EMU_ENTER_AS(routine);
  if (!configs().live(config))
    return fail(ACL_ERROR_INVALID_PARAM, "%s: the configuration is null or destroyed.", routine);
  std::lock_guard<std::mutex> lock(profiling().mutex);
  if (!profiling().initialized)
    return fail(ACL_ERROR_PROF_NOT_RUN, "%s: aclprofInit comes first.", routine);
  if (start && profiling().running != nullptr) {
    return fail(ACL_ERROR_PROF_ALREADY_RUN, "%s: profiling is running already.", routine);
  }
  if (!start && profiling().running != config) {
    return fail(ACL_ERROR_PROF_NOT_RUN, "%s: profiling does not run with this configuration.",
                routine);
  }
  if (start) {
    uint64_t devices = 0;
    for (const uint32_t device : config->devices) devices |= uint64_t{1} << device;
    forget_ranges();
    start_timeline(notes_of(config->what), devices);
  } else {
    stop_timeline();
  }
  // Last: where memory ends on the way, the call is made again.
  profiling().running = start ? config : nullptr;
  return 0;
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclprofInit(const char *profilerResultPath, size_t length) try {
  EMU_ENTER();
  if (profilerResultPath == nullptr || length == 0 || std::strlen(profilerResultPath) != length) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclprofInit: the path is null or its length is not %zu.",
                length);
  }
  std::lock_guard<std::mutex> lock(emu::profiling().mutex);
  if (emu::profiling().initialized)
    return fail(ACL_ERROR_PROF_ALREADY_RUN, "aclprofInit: called before.");
  if (const Status s = emu::make_profile_folder(profilerResultPath, &emu::profiling().folder))
    return s;
  emu::forget_timeline();  // what tasks noted that outlasted the profile before
  emu::profiling().initialized = true;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclprofFinalize(void) try {
  EMU_ENTER();
  std::lock_guard<std::mutex> lock(emu::profiling().mutex);
  if (!emu::profiling().initialized)
    return fail(ACL_ERROR_PROF_NOT_RUN, "aclprofFinalize: aclprofInit comes first.");
  emu::stop_timeline();
  emu::profiling().running = nullptr;
  // Without memory for the files this call changes nothing, and may be made again.
  const Status written = emu::write_profile(emu::profiling().folder);
  if (written == ACL_ERROR_BAD_ALLOC) return written;
  emu::profiling().initialized = false;
  return written;
}
EMU_CATCH

EMU_EXPORT aclError aclprofSetConfig(aclprofConfigType configType, const char *config,
                                     size_t configLength) try {
  EMU_ENTER();
  if (config == nullptr || std::strlen(config) != configLength) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclprofSetConfig: the value is null or its length is not %zu.", configLength);
  }
  if (configType <= ACL_PROF_ARGS_MIN || configType > ACL_PROF_PATH) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclprofSetConfig: %d is no setting.",
                static_cast<int>(configType));
  }
  return 0;
}
EMU_CATCH

EMU_EXPORT aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums,
                                              aclprofAicoreMetrics aicoreMetrics,
                                              const aclprofAicoreEvents *aicoreEvents,
                                              uint64_t dataTypeConfig) try {
  (void)aicoreMetrics;
  if (emu::check_process(__func__)) return nullptr;
  if (aicoreEvents != nullptr || (deviceIdList == nullptr && deviceNums != 0)) {
    fail(ACL_ERROR_INVALID_PARAM,
         "aclprofCreateConfig: deviceIdList is null, or aicoreEvents is not.");
    return nullptr;
  }
  for (uint32_t i = 0; i < deviceNums; ++i) {
    if (!emu::valid_device(static_cast<int>(deviceIdList[i]))) {
      fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclprofCreateConfig: device %u does not exist.",
           deviceIdList[i]);
      return nullptr;
    }
  }
  auto config = emu::configs().guard(emu::configs().create());
  if (config == nullptr) return nullptr;
  config->devices.assign(deviceIdList, deviceIdList + deviceNums);
  config->what = dataTypeConfig;
  return config.release();
}
EMU_CATCH

EMU_EXPORT aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig) try {
  EMU_ENTER();
  if (!emu::configs().retire(profilerConfig)) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclprofDestroyConfig: the configuration is null or destroyed.");
  }
  emu::configs().destroy(const_cast<aclprofConfig *>(profilerConfig));
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclprofStart(const aclprofConfig *profilerConfig) try {
  return emu::change_running(__func__, profilerConfig, true);
}
EMU_CATCH
EMU_EXPORT aclError aclprofStop(const aclprofConfig *profilerConfig) try {
  return emu::change_running(__func__, profilerConfig, false);
}
EMU_CATCH

EMU_EXPORT aclprofStepInfo *aclprofCreateStepInfo(void) try {
  return emu::check_process(__func__) != 0 ? nullptr : emu::steps().create();
}
EMU_CATCH

EMU_EXPORT void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo) try {
  if (emu::check_process(__func__) == 0 && emu::steps().retire(stepinfo))
    emu::steps().destroy(stepinfo);
}
EMU_CATCH_VOID

EMU_EXPORT aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag,
                                            aclrtStream stream) try {
  EMU_ENTER();
  aclprofStepInfo *step = emu::steps().find(stepInfo);
  if (step == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclprofGetStepTimestamp: stepInfo is null or destroyed.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if ((tag == ACL_STEP_START) == step->started) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclprofGetStepTimestamp: the step %s.",
                step->started ? "has started" : "has not started");
  }
  step->started = tag == ACL_STEP_START;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream) try {
  EMU_ENTER();
  if (msg == nullptr || msgLen == 0)
    return fail(ACL_ERROR_INVALID_PARAM, "aclprofMarkEx: the message is null or empty.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  return emu::set_mark(emu::TimedMark::Kind::mark_on_stream, std::string(msg, strnlen(msg, msgLen)),
                       emu::kDomain, found);
}
EMU_CATCH

EMU_EXPORT void *aclprofCreateStamp(void) try {
  return emu::check_process(__func__) != 0 ? nullptr : emu::stamps().create();
}
EMU_CATCH

EMU_EXPORT void aclprofDestroyStamp(void *stamp) try {
  if (emu::check_process(__func__) == 0 && emu::stamps().retire(stamp)) {
    emu::stamps().destroy(static_cast<emu::Stamp *>(stamp));
  }
}
EMU_CATCH_VOID

EMU_EXPORT aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen) try {
  emu::Stamp *found = nullptr;
  if (const Status s = emu::check_stamp(__func__, stamp, &found)) return s;
  if (msg == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclprofSetStampTraceMessage: msg is null.");
  found->message.assign(msg, msgLen);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclprofMark(void *stamp) try {
  emu::Stamp *found = nullptr;
  if (const Status s = emu::check_stamp(__func__, stamp, &found)) return s;
  return emu::set_mark(emu::TimedMark::Kind::mark, found->message, emu::kDomain, nullptr);
}
EMU_CATCH

EMU_EXPORT aclError aclprofPush(void *stamp) try {
  emu::Stamp *found = nullptr;
  if (const Status s = emu::check_stamp(__func__, stamp, &found)) return s;
  emu::t_pushed.push_back(0);
  return emu::begin_range(emu::TimedMark::Kind::push_pop, found->message, emu::kDomain, nullptr,
                          &emu::t_pushed.back());
}
EMU_CATCH

EMU_EXPORT aclError aclprofPop(void) try {
  EMU_ENTER();
  if (emu::t_pushed.empty())
    return fail(ACL_ERROR_INVALID_PARAM, "aclprofPop: nothing was pushed on this thread.");
  const uint64_t range = emu::t_pushed.back();
  emu::t_pushed.pop_back();
  return emu::end_range(range);
}
EMU_CATCH

EMU_EXPORT aclError aclprofRangeStart(void *stamp, uint32_t *rangeId) try {
  emu::Stamp *found = nullptr;
  if (const Status s = emu::check_stamp(__func__, stamp, &found)) return s;
  if (rangeId == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclprofRangeStart: rangeId is null.");
  uint64_t kept = 0;
  if (const Status s = emu::begin_range(emu::TimedMark::Kind::start_end, found->message,
                                        emu::kDomain, nullptr, &kept))
    return s;
  std::lock_guard<std::mutex> lock(emu::ranges().mutex);
  const uint32_t number = ++emu::ranges().last;
  if (kept != 0) emu::ranges().kept[number] = kept;
  *rangeId = number;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclprofRangeStop(uint32_t rangeId) try {
  EMU_ENTER();
  uint64_t kept = 0;
  {
    std::lock_guard<std::mutex> lock(emu::ranges().mutex);
    if (rangeId == 0 || rangeId > emu::ranges().last) {
      return fail(ACL_ERROR_INVALID_PARAM, "aclprofRangeStop: no range has the number %u.",
                  rangeId);
    }
    const auto at = emu::ranges().kept.find(rangeId);
    if (at == emu::ranges().kept.end()) return 0;
    kept = at->second;
    emu::ranges().kept.erase(at);
  }
  return emu::end_range(kept);
}
EMU_CATCH
