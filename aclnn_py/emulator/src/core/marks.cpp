// SPDX-License-Identifier: Apache-2.0
#include "core/marks.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/stream.h"

namespace emu {

const char *const kMarkTask = "mstx";

namespace {

constexpr size_t kMostOpenRanges = 1 << 20;

// Kept when the last that holds it lets go: the host, or a task that was to tell its time.
struct PendingMark {
  TimedMark mark;
  Stream *stream = nullptr;
  bool ended = false;  // on the host
  ~PendingMark() {
    if (ended) keep_mark(std::move(mark));
  }
};

struct OpenRanges {
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<PendingMark>> by_number;
  uint64_t last = 0;
};

OpenRanges &open_ranges() {
  static auto *const instance = new OpenRanges;
  return *instance;
}

bool kept() { return (timeline_notes() & kNoteMarks) != 0; }

std::shared_ptr<PendingMark> begin(TimedMark::Kind kind, std::string message, std::string domain,
                                   Stream *stream) {
  auto pending = std::make_shared<PendingMark>();
  TimedMark &mark = pending->mark;
  mark.kind = kind;
  mark.message = std::move(message);
  mark.domain = std::move(domain);
  mark.thread = thread_number();
  mark.begin_ns = mark.end_ns = timeline_now_ns();
  if (stream != nullptr && stream->capture.load() == nullptr) {
    pending->stream = stream;
    mark.device = stream->device;
    mark.stream = stream->id;
  }
  return pending;
}

Status tell_time(const std::shared_ptr<PendingMark> &pending, uint64_t TimedMark::*time) {
  return enqueue_on(
      *pending->stream, kMarkTask,
      [pending, time]() -> Status {
        pending->mark.*time = timeline_now_ns();
        return 0;
      },
      RunBy::anyone_in_haste);
}

}  // namespace

Status set_mark(TimedMark::Kind kind, std::string message, std::string domain, Stream *stream) {
  if (!kept()) return 0;
  const auto pending = begin(kind, std::move(message), std::move(domain), stream);
  pending->ended = true;
  return pending->stream != nullptr ? tell_time(pending, &TimedMark::device_begin_ns) : 0;
}

Status begin_range(TimedMark::Kind kind, std::string message, std::string domain, Stream *stream,
                   uint64_t *range, TimedOperands operands) {
  *range = 0;
  if (!kept()) return 0;
  const auto pending = begin(kind, std::move(message), std::move(domain), stream);
  pending->mark.operands = std::move(operands);
  {
    std::lock_guard<std::mutex> lock(open_ranges().mutex);
    if (open_ranges().by_number.size() >= kMostOpenRanges) return 0;
    *range = ++open_ranges().last;
    open_ranges().by_number.emplace(*range, pending);
  }
  return pending->stream != nullptr ? tell_time(pending, &TimedMark::device_begin_ns) : 0;
}

Status end_range(uint64_t range) {
  std::shared_ptr<PendingMark> pending;
  {
    std::lock_guard<std::mutex> lock(open_ranges().mutex);
    const auto at = open_ranges().by_number.find(range);
    if (at == open_ranges().by_number.end()) return 0;
    pending = std::move(at->second);
    open_ranges().by_number.erase(at);
  }
  if (!kept()) return 0;
  pending->mark.end_ns = timeline_now_ns();
  pending->ended = true;
  if (pending->stream == nullptr || !streams().live(pending->stream)) return 0;
  return tell_time(pending, &TimedMark::device_end_ns);
}

void forget_ranges() {
  std::lock_guard<std::mutex> lock(open_ranges().mutex);
  open_ranges().by_number.clear();
}

}  // namespace emu
