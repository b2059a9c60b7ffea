// SPDX-License-Identifier: Apache-2.0
// Random numbers as a task of a stream. The numbers are those of a seed and a place in its
// sequence: equal ones give equal numbers. The hardware makes other numbers from the same seed.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/process.h"
#include "core/stream.h"
#include "meta/tensor.h"
#include "ops/convert.h"
#include "ops/random/draw.h"

namespace emu {
namespace {

constexpr const char *kRoutine = "aclrtRandomNumAsync";
constexpr size_t kCounterBytes = 16;

bool is_whole(aclDataType dtype) {
  return dtype == ACL_INT32 || dtype == ACL_INT64 || dtype == ACL_UINT32 || dtype == ACL_UINT64;
}
bool is_real(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16;
}
size_t bytes_of(aclDataType dtype) { return static_cast<size_t>(dtype_bits(dtype)) / 8; }

void *address_in(const aclrtRandomParaInfo &value) {
  void *address = nullptr;
  std::memcpy(&address, value.valueOrAddr, sizeof address);
  return address;
}

// A parameter is a value or the device address of one, read when the stream gets there.
Status check_value(const char *name, const aclrtRandomParaInfo &value, size_t size) {
  if (value.isAddr > 1 || value.size != size) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: %s has isAddr %u and size %u; allowed are 0 or 1, and %zu.", kRoutine, name,
                value.isAddr, value.size, size);
  }
  if (value.isAddr == 0 || on_device(address_in(value), size, nullptr)) return 0;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: the address in %s is %s.", kRoutine, name,
              describe_address(address_in(value)).c_str());
}

Status read_value(const char *name, const aclrtRandomParaInfo &value, void *out) {
  if (value.isAddr == 0) {
    std::memcpy(out, value.valueOrAddr, value.size);
    return 0;
  }
  void *const address = address_in(value);
  if (!on_device(address, value.size, nullptr)) {
    return fail(ACL_ERROR_RT_SYS_DMA, "%s: the address in %s is %s.", kRoutine, name,
                describe_address(address).c_str());
  }
  std::memcpy(out, address, value.size);
  return 0;
}

// Whole numbers of [low, high) equally likely, in unsigned arithmetic of 64 bits. For signed types
// the offset wraps around and back.
template <class T>
void fill_whole(char *out, int64_t count, uint64_t low, uint64_t high, const RandomPlace &place) {
  const uint64_t width = high - low;
  parallel_for(count, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t bits = random_bits(place, static_cast<uint64_t>(i));
      const auto above = static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * width >> 64);
      const T value = static_cast<T>(low + above);
      std::memcpy(out + static_cast<size_t>(i) * sizeof value, &value, sizeof value);
    }
  });
}

template <class T>
Status draw_whole(const aclrtRandomNumTaskInfo &info, char *out, int64_t count,
                  const RandomPlace &place) {
  T low = 0, high = 0;
  const aclrtUniformDisInfo &range = info.randomNumFuncParaInfo.paramInfo.uniformDisInfo;
  if (const Status s = read_value("min", range.min, &low)) return s;
  if (const Status s = read_value("max", range.max, &high)) return s;
  if (low >= high) return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: min is not below max.", kRoutine);
  fill_whole<T>(out, count, static_cast<uint64_t>(low), static_cast<uint64_t>(high), place);
  return 0;
}

Status draw_real(const aclrtRandomNumTaskInfo &info, char *out, int64_t count,
                 const RandomPlace &place) {
  const auto &function = info.randomNumFuncParaInfo;
  const bool uniform = function.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
  const auto &first_value =
      uniform ? function.paramInfo.uniformDisInfo.min : function.paramInfo.normalDisInfo.mean;
  const auto &second_value =
      uniform ? function.paramInfo.uniformDisInfo.max : function.paramInfo.normalDisInfo.stddev;
  alignas(8) char first_bytes[8] = {}, second_bytes[8] = {};
  if (const Status s = read_value(uniform ? "min" : "mean", first_value, first_bytes)) return s;
  if (const Status s = read_value(uniform ? "max" : "stddev", second_value, second_bytes)) return s;
  double first = 0, second = 0;
  load_as(info.dataType, first_bytes, 0, 1, ACL_DOUBLE, &first);
  load_as(info.dataType, second_bytes, 0, 1, ACL_DOUBLE, &second);
  if (!std::isfinite(first) || !std::isfinite(second) || (uniform ? first >= second : second < 0)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %s %g and %s %g; %s.", kRoutine,
                uniform ? "min" : "mean", first, uniform ? "max" : "stddev", second,
                uniform ? "min must be below max" : "stddev must not be negative");
  }
  View view;
  view.data = out;
  view.dtype = info.dataType;
  view.layout.push(count, 1);
  (uniform ? fill_uniform : fill_normal)(view, first, second, place);
  return 0;
}

Status draw_numbers(const aclrtRandomNumTaskInfo &info) {
  uint64_t count = 0, seed = 0, counter[2] = {};
  if (const Status s = read_value("randomNum", info.randomNum, &count)) return s;
  if (const Status s = read_value("randomSeed", info.randomSeed, &seed)) return s;
  const size_t size = bytes_of(info.dataType);
  auto *out = static_cast<char *>(info.randomResultAddr);
  if (!on_device(info.randomCounterAddr, kCounterBytes, nullptr) || count > (SIZE_MAX >> 4) ||
      !on_device(out, count * size, nullptr)) {
    return fail(ACL_ERROR_RT_SYS_DMA,
                "%s: %llu numbers of %zu bytes at %p, counter at %p: not in device memory.",
                kRoutine, static_cast<unsigned long long>(count), size, static_cast<void *>(out),
                info.randomCounterAddr);
  }
  std::memcpy(counter, info.randomCounterAddr, kCounterBytes);
  if (kEmptyKernels || count == 0) return 0;
  // Sequences of 2^64 numbers; the upper half of the counter chooses one.
  const RandomPlace place{seed ^ counter[1] * 0x9E3779B97F4A7C15u, counter[0]};
  Status status = 0;
  switch (info.dataType) {
    case ACL_INT32:
      status = draw_whole<int32_t>(info, out, static_cast<int64_t>(count), place);
      break;
    case ACL_INT64:
      status = draw_whole<int64_t>(info, out, static_cast<int64_t>(count), place);
      break;
    case ACL_UINT32:
      status = draw_whole<uint32_t>(info, out, static_cast<int64_t>(count), place);
      break;
    case ACL_UINT64:
      status = draw_whole<uint64_t>(info, out, static_cast<int64_t>(count), place);
      break;
    default: status = draw_real(info, out, static_cast<int64_t>(count), place);
  }
  if (status == 0 && check_mode()) note_written(out, count * size);
  return status;
}

Status check_function(const aclrtRandomNumTaskInfo &info) {
  const auto &function = info.randomNumFuncParaInfo;
  const bool uniform = function.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
  if (!uniform && function.funcType != ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "%s: funcType %d; this device draws uniform (1) and normal (2) numbers, no masks "
                "and no truncated ones.",
                kRoutine, static_cast<int>(function.funcType));
  }
  if (!is_real(info.dataType) && !(uniform && is_whole(info.dataType))) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "%s: dataType %s; uniform numbers are INT32, INT64, UINT32, UINT64, FLOAT, FLOAT16 "
                "or BFLOAT16, normal ones one of the last three.",
                kRoutine, dtype_name(info.dataType));
  }
  const size_t size = bytes_of(info.dataType);
  const auto &range = function.paramInfo.uniformDisInfo;
  const auto &normal = function.paramInfo.normalDisInfo;
  if (const Status s =
          check_value(uniform ? "min" : "mean", uniform ? range.min : normal.mean, size))
    return s;
  return check_value(uniform ? "max" : "stddev", uniform ? range.max : normal.stddev, size);
}

Status check_addresses(const aclrtRandomNumTaskInfo &info) {
  const struct {
    const char *name;
    const void *address;
    size_t bytes;
    bool needed;
  } places[] = {{"randomResultAddr", info.randomResultAddr, 1, true},
                {"randomCounterAddr", info.randomCounterAddr, kCounterBytes, true},
                {"randomParaAddr", info.randomParaAddr, 1, false}};
  for (const auto &place : places) {
    if (place.address == nullptr && !place.needed) continue;
    if (place.address == nullptr)
      return fail(ACL_ERROR_INVALID_PARAM, "%s: %s is null.", kRoutine, place.name);
    if (!on_device(place.address, place.bytes, nullptr)) {
      return fail(ACL_ERROR_RT_PARAM_INVALID,
                  "%s: %s is %s; %zu bytes of device memory are asked for.", kRoutine, place.name,
                  describe_address(place.address).c_str(), place.bytes);
    }
  }
  return 0;
}

// What a task draws. aclrtTaskUpdateAsync changes it where the task is part of a model instance.
struct RandomTask {
  std::mutex mutex;
  aclrtRandomNumTaskInfo info;

  aclrtRandomNumTaskInfo current() {
    std::lock_guard<std::mutex> lock(mutex);
    return info;
  }
};

struct Recorded {
  std::mutex mutex;
  std::map<std::pair<Stream *, uint32_t>, std::weak_ptr<RandomTask>> tasks;
};

Recorded &recorded() {
  static auto *const all = new Recorded;
  return *all;
}

void forget_tasks(Stream *stream) {
  std::lock_guard<std::mutex> lock(recorded().mutex);
  auto &tasks = recorded().tasks;
  for (auto at = tasks.begin(); at != tasks.end();)
    at = at->first.first == stream || at->second.expired() ? tasks.erase(at) : std::next(at);
}

void remember_task(Stream &stream, const std::shared_ptr<RandomTask> &task) {
  static const bool listening = (at_stream_end(forget_tasks), true);
  (void)listening;
  std::lock_guard<std::mutex> lock(recorded().mutex);
  recorded().tasks[{&stream, last_task_id()}] = task;
}

std::shared_ptr<RandomTask> find_task(Stream &stream, uint32_t number) {
  std::lock_guard<std::mutex> lock(recorded().mutex);
  const auto at = recorded().tasks.find({&stream, number});
  return at == recorded().tasks.end() ? nullptr : at->second.lock();
}

// Runs on the stream that updates: addresses, seed and number of numbers come from device memory;
// the kind of the numbers and their limits stay.
Status update_task(RandomTask &task, const void *source) {
  constexpr const char *kUpdate = "aclrtTaskUpdateAsync";
  if (!on_device(source, sizeof(aclrtRandomNumTaskInfo), nullptr)) {
    return fail(ACL_ERROR_RT_SYS_DMA, "%s: srcAddr is %s.", kUpdate,
                describe_address(source).c_str());
  }
  aclrtRandomNumTaskInfo fresh;
  std::memcpy(&fresh, source, sizeof fresh);
  if (const Status s = check_addresses(fresh)) return s;
  if (const Status s = check_value("randomSeed", fresh.randomSeed, sizeof(uint64_t))) return s;
  if (const Status s = check_value("randomNum", fresh.randomNum, sizeof(uint64_t))) return s;
  std::lock_guard<std::mutex> lock(task.mutex);
  task.info.randomParaAddr = fresh.randomParaAddr;
  task.info.randomResultAddr = fresh.randomResultAddr;
  task.info.randomCounterAddr = fresh.randomCounterAddr;
  task.info.randomSeed = fresh.randomSeed;
  task.info.randomNum = fresh.randomNum;
  return 0;
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo *taskInfo,
                                        const aclrtStream stream, void *reserve) try {
  EMU_ENTER();
  if (taskInfo == nullptr || reserve != nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtRandomNumAsync: %s.",
                taskInfo == nullptr ? "taskInfo is null" : "reserve must be null");
  }
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (const Status s = emu::check_function(*taskInfo)) return s;
  if (const Status s = emu::check_addresses(*taskInfo)) return s;
  if (const Status s = emu::check_value("randomSeed", taskInfo->randomSeed, sizeof(uint64_t)))
    return s;
  if (const Status s = emu::check_value("randomNum", taskInfo->randomNum, sizeof(uint64_t)))
    return s;
  // the caller's may go at once
  const auto task = std::make_shared<emu::RandomTask>();
  task->info = *taskInfo;
  const bool recording = found->capture.load() != nullptr;
  const Status status = emu::enqueue_on(*found, "aclrtRandomNumAsync",
                                        [task] { return emu::draw_numbers(task->current()); });
  if (status == 0 && recording) emu::remember_task(*found, task);
  return status;
}
EMU_CATCH

EMU_EXPORT aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t taskId,
                                         aclrtTaskUpdateInfo *info, aclrtStream execStream) try {
  EMU_ENTER();
  if (info == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtTaskUpdateAsync: info is null.");
  if (info->id != ACL_RT_UPDATE_RANDOM_TASK) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtTaskUpdateAsync: id is %d; this device updates tasks of aclrtRandomNumAsync "
                "(1), and has no kernels of the program.",
                static_cast<int>(info->id));
  }
  const auto &change = info->val.randomTaskAttr;
  if (change.srcAddr == nullptr || change.size != sizeof(aclrtRandomNumTaskInfo)) {
    return fail(
        ACL_ERROR_RT_PARAM_INVALID,
        "aclrtTaskUpdateAsync: srcAddr is %p and size is %zu; srcAddr is device memory that "
        "holds an aclrtRandomNumTaskInfo of %zu bytes.",
        change.srcAddr, change.size, sizeof(aclrtRandomNumTaskInfo));
  }
  emu::Stream *owner = nullptr, *stream = nullptr;
  if (const Status s = emu::resolve(taskStream, __func__, &owner)) return s;
  if (const Status s = emu::resolve(execStream, __func__, &stream)) return s;
  auto task = emu::find_task(*owner, taskId);
  if (task == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtTaskUpdateAsync: stream %d has no task %u of aclrtRandomNumAsync in a model "
                "instance; aclrtGetThreadLastTaskId tells a task's number after its launch.",
                owner->id, taskId);
  }
  return emu::enqueue_on(*stream, "aclrtTaskUpdateAsync",
                         [task = std::move(task), source = change.srcAddr] {
                           return emu::update_task(*task, source);
                         });
}
EMU_CATCH
