// SPDX-License-Identifier: Apache-2.0
// Where the time of devices goes: what each stream ran, from when to when, noted while a program
// profiles (aclprofStart). When nobody profiles, a task costs one read of a flag.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/host_calls.h"

namespace emu {

struct Stream;

struct TimedTask {
  const char *what = "";
  int32_t device = 0, stream = 0;
  uint32_t task = 0;                  // its number on the stream, or in the graph
  uint32_t graph = 0;                 // the graph it is a node of; 0 for a task of a stream
  bool encloses = false;              // its time is that of tasks inside it, which are noted too
  uint64_t begin_ns = 0, end_ns = 0;  // since 1970
  uint64_t waited_ns = 0;             // of a collective: for other ranks
  std::string inputs[3], outputs[3];  // shapes, dtypes, formats
};

struct TimedMemory {
  uint64_t at_ns;
  int32_t device;
  uint64_t used;  // bytes of the device in use from then on
};

// What a program says about the operator that it runs inside a range (aclprofRangePushEx).
struct TimedOperands {
  std::string type;                   // of the operator; empty when nothing was said
  std::string inputs[3], outputs[3];  // shapes, dtypes, formats
};

// A mark or a range that the program has set (mstx..., aclprofMark... and their kin).
struct TimedMark {
  enum class Kind : uint8_t { mark, mark_on_stream, push_pop, start_end };
  Kind kind = Kind::mark;
  std::string message, domain;
  int64_t thread = 0;
  uint64_t begin_ns = 0, end_ns = 0;  // on the host; equal for a mark
  int32_t device = -1, stream = -1;   // where the stream saw it, for one that was set on a stream
  uint64_t device_begin_ns = 0, device_end_ns = 0;
  TimedOperands operands;
};

struct Timeline {
  std::vector<TimedTask> tasks;
  std::vector<TimedMemory> memory;
  std::vector<TimedCall> calls;
  std::vector<TimedMark> marks;
  uint64_t dropped = 0;  // beyond what is kept
};

// `devices` has a bit for each device that is looked at.
void start_timeline(uint32_t notes, uint64_t devices);
void stop_timeline();
// Shows what was noted; nothing is noted meanwhile.
void look_at_timeline(const std::function<void(const Timeline &)> &look);
void forget_timeline();

// Notes the task that a thread runs, from construction to destruction.
class TimedRun {
 public:
  TimedRun(const char *what, const Stream &stream, uint32_t task, uint32_t graph) {
    if (timeline_notes() & kNoteTasks) begin(what, stream, task, graph);
  }
  ~TimedRun() {
    if (entry_) end();
  }
  TimedRun(const TimedRun &) = delete;
  TimedRun &operator=(const TimedRun &) = delete;

  // The task that this thread runs and that is noted with its operands, or null. Its time ends now:
  // writing operands down is no work of the device.
  static TimedRun *with_operands();
  TimedTask &entry() { return *entry_; }

 private:
  friend class TimedWait;
  void begin(const char *what, const Stream &stream, uint32_t task, uint32_t graph);
  void end() noexcept;

  TimedRun *outer_ = nullptr;
  std::optional<TimedTask> entry_;
};

void note_memory_use(int device, uint64_t used) noexcept;
void keep_call(TimedCall call) noexcept;
void keep_mark(TimedMark mark) noexcept;
uint64_t timeline_now_ns();  // since 1970

}  // namespace emu
