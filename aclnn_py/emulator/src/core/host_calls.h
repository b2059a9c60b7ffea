// SPDX-License-Identifier: Apache-2.0
// What the host spends on a device's work: the calls of the program, noted while it profiles. When
// nobody profiles, a call costs one read of a flag.
#pragma once

#include <atomic>
#include <cstdint>

namespace emu {

// What is noted; the bits of `start_timeline`.
constexpr uint32_t kNoteTasks = 1, kNoteOperands = 2, kNoteMemory = 4, kNoteCalls = 8,
                   kNoteMarks = 16;

extern std::atomic<uint32_t> g_timeline_notes;
inline uint32_t timeline_notes() { return g_timeline_notes.load(std::memory_order_relaxed); }

// A task by its place. Recorded tasks of graphs have none.
struct TaskPlace {
  int32_t device = 0, stream = 0;
  uint32_t task = 0;  // 0: none
};

struct TimedCall {
  const char *what = "";
  bool phase_one = false;  // `what` is an operator, and this its ...GetWorkspaceSize
  int64_t thread = 0;
  uint64_t begin_ns = 0, end_ns = 0;  // since 1970
  uint64_t before_ns = 0;             // of phase two: what its phase one took
  TaskPlace launched;
};

// Notes the call of the program that a thread is in, from construction to destruction. A call
// within a call is no call of the program.
class HostCall {
 public:
  explicit HostCall(const char *what) {
    if (timeline_notes() & kNoteCalls) begin(what);
  }
  ~HostCall() {
    if (what_ != nullptr) end();
  }
  HostCall(const HostCall &) = delete;
  HostCall &operator=(const HostCall &) = delete;

 private:
  void begin(const char *what);
  void end() noexcept;

  const char *what_ = nullptr;
};

// An operator's phase one, from its first check to its executor. One that is refused is not noted.
void start_phase_one(const char *op);
inline void begin_phase_one(const char *op) {
  if (timeline_notes() & kNoteCalls) start_phase_one(op);
}
// Returns what it took.
uint64_t end_phase_one(const char *op) noexcept;
// The noted call of this thread runs what phase one prepared in that time.
void add_preparation(uint64_t ns);

// The task that the noted call of this thread has launched.
void note_launch(int32_t device, int32_t stream, uint32_t task);

int64_t thread_number();

}  // namespace emu

// Notes the entry point that it is written in.
#define EMU_TIMED() const ::emu::HostCall timed_call_(__func__)
