// SPDX-License-Identifier: Apache-2.0
#include "core/timeline.h"

#include <chrono>
#include <mutex>
#include <new>
#include <utility>

#include "core/stream.h"
#include "core/timed_wait.h"

namespace emu {

std::atomic<uint32_t> g_timeline_notes{0};

namespace {

// A million tasks take about 200 MB.
constexpr size_t kMostEntries = 1'000'000;

std::atomic<uint64_t> g_devices{0};
thread_local TimedRun *t_run = nullptr;

struct Notes {
  std::mutex mutex;
  Timeline timeline;
  // The steady clock never goes back; this is what is added to it.
  std::atomic<uint64_t> epoch_ns{0};
};

Notes &notes() {
  static auto *const instance = new Notes;
  return *instance;
}

uint64_t steady_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

bool looked_at(int device) {
  return device >= 0 && device < 64 &&
         (g_devices.load(std::memory_order_relaxed) >> device & 1) != 0;
}

template <class Entry>
void keep(std::vector<Entry> &all, Entry &&entry) noexcept {
  Notes &n = notes();
  std::lock_guard<std::mutex> lock(n.mutex);
  if (all.size() >= kMostEntries) {
    ++n.timeline.dropped;
    return;
  }
  try {
    all.push_back(std::move(entry));
  } catch (const std::bad_alloc &) {
    ++n.timeline.dropped;
  }
}

}  // namespace

uint64_t timeline_now_ns() {
  return steady_ns() + notes().epoch_ns.load(std::memory_order_relaxed);
}

void start_timeline(uint32_t what, uint64_t devices) {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  notes().epoch_ns.store(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count()) -
      steady_ns());
  g_devices.store(devices);
  g_timeline_notes.store(what);
}

void stop_timeline() { g_timeline_notes.store(0); }

void look_at_timeline(const std::function<void(const Timeline &)> &look) {
  std::lock_guard<std::mutex> lock(notes().mutex);
  look(notes().timeline);
}

void forget_timeline() {
  std::lock_guard<std::mutex> lock(notes().mutex);
  notes().timeline = Timeline{};
}

void TimedRun::begin(const char *what, const Stream &stream, uint32_t task, uint32_t graph) {
  if (!looked_at(stream.device)) return;
  outer_ = std::exchange(t_run, this);
  if (outer_ != nullptr) outer_->entry_->encloses = true;
  TimedTask &entry = entry_.emplace();
  entry.what = what;
  entry.device = stream.device;
  entry.stream = stream.id;
  entry.task = task;
  entry.graph = graph;
  entry.begin_ns = timeline_now_ns();
}

void TimedRun::end() noexcept {
  if (entry_->end_ns == 0) entry_->end_ns = timeline_now_ns();
  t_run = outer_;
  keep(notes().timeline.tasks, std::move(*entry_));
}

TimedRun *TimedRun::with_operands() {
  if (t_run == nullptr || (timeline_notes() & kNoteOperands) == 0) return nullptr;
  t_run->entry_->end_ns = timeline_now_ns();
  return t_run;
}

TimedWait::TimedWait() : run_(t_run) {
  if (run_ != nullptr) begin_ns_ = timeline_now_ns();
}

TimedWait::~TimedWait() {
  if (run_ != nullptr) run_->entry_->waited_ns += timeline_now_ns() - begin_ns_;
}

void note_memory_use(int device, uint64_t used) noexcept {
  if ((timeline_notes() & kNoteMemory) == 0 || !looked_at(device)) return;
  keep(notes().timeline.memory, TimedMemory{timeline_now_ns(), device, used});
}

void keep_call(TimedCall call) noexcept { keep(notes().timeline.calls, std::move(call)); }

void keep_mark(TimedMark mark) noexcept { keep(notes().timeline.marks, std::move(mark)); }

}  // namespace emu
