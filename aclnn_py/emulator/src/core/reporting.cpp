// SPDX-License-Identifier: Apache-2.0
// How waits hear of the faults of streams (docs/emulator.md has the rule).
#include "core/reporting.h"

#include <algorithm>
#include <mutex>
#include <new>

#include "core/context.h"
#include "core/device.h"

namespace emu {
namespace {

thread_local const std::string *t_reason = nullptr;

// Faults of streams that ended before a wait for them had reported these.
struct Left {
  std::mutex mutex;
  FaultLog log;
};

Left &left_on(int device) {
  // Not on the heap, so that streams end without memory; never destroyed.
  alignas(Left) static unsigned char room[kMaxDevices][sizeof(Left)];
  static const bool made = [] {
    for (auto &place : room) ::new (place) Left;
    return true;
  }();
  (void)made;
  return *reinterpret_cast<Left *>(room[device]);
}

std::string named(const Fault &fault) {
  return std::string(fault.what) + " (task " + std::to_string(static_cast<uint32_t>(fault.task)) +
         ")";
}

// The message of a report: what failed first, then what each fault said.
Status say(const std::vector<Fault> &faults, int device, const char *routine) {
  if (faults.empty()) return 0;
  for (auto fault = faults.rbegin(); fault != faults.rend(); ++fault) add_message(fault->text);
  const Fault &first = faults.front();
  if (faults.size() == 1) {
    return fail(first.code, "%s: device %d, stream %d: %s (task %u) failed on the device.", routine,
                device, first.stream, first.what, static_cast<uint32_t>(first.task));
  }
  return fail(first.code,
              "%s: device %d, stream %d: %s (task %u) failed on the device, and %zu more after it.",
              routine, device, first.stream, first.what, static_cast<uint32_t>(first.task),
              faults.size() - 1);
}

Stream *pinned(const PinnedStreams &all, const WorkBefore &work) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Stream *stream) {
    return stream == work.stream && stream->id == work.id;
  });
  return at != all.end() ? *at : nullptr;
}

}  // namespace

Status report_faults(Stream &stream, const Waiter &waiter, const char *routine) {
  if (!stream.faults.any()) return 0;
  std::vector<Fault> told;
  {
    std::lock_guard<std::mutex> lock(stream.mutex);
    const bool open = stream.faults.open();
    // A stream that stops on failure keeps answering with its faults.
    told = stream.halted.load() ? stream.faults.all() : stream.faults.tell(waiter);
    if (open && !stream.faults.open()) device(stream.device).pending_faults.fetch_sub(1);
  }
  return say(told, stream.device, routine);
}

Status report_faults(const WorkBefore &work, uint64_t since, const char *routine) {
  if (!streams().live(work.stream) || !work.stream->faults.any()) return 0;
  const PinnedStreams all(work.stream->device);
  Stream *const stream = pinned(all, work);
  if (stream == nullptr) return 0;
  return report_faults(*stream, {work.task, since, false}, routine);
}

void mention_faults(int id) {
  if (device(id).pending_faults.load(std::memory_order_acquire) == 0) return;
  const auto mention = [id](const char *whose, const Fault &fault) {
    add_message("EE9999: stream " + std::to_string(fault.stream) + " of device " +
                std::to_string(id) + whose + " has an unreported fault: " + named(fault) +
                " failed on the device.");
  };
  const PinnedStreams all(id);
  for (Stream *stream : all) {
    std::lock_guard<std::mutex> lock(stream->mutex);
    if (const Fault *first = stream->faults.first_open(UINT64_MAX)) mention("", *first);
  }
  Left &left = left_on(id);
  std::lock_guard<std::mutex> lock(left.mutex);
  if (const Fault *first = left.log.first_open(UINT64_MAX)) mention(", which has ended,", *first);
}

void make_room_for_faults(Stream &stream) {
  stream.faults.make_room();
  Left &left = left_on(stream.device);
  std::lock_guard<std::mutex> lock(left.mutex);
  left.log.make_room();
}

void leave_faults(Stream &stream) {
  if (!stream.faults.open()) return;
  Device &d = device(stream.device);
  // With its context a stream loses its faults.
  if (!contexts().live(&stream.context)) {
    d.pending_faults.fetch_sub(1);
    return;
  }
  Left &left = left_on(stream.device);
  std::lock_guard<std::mutex> lock(left.mutex);
  if (left.log.open()) d.pending_faults.fetch_sub(1);
  stream.faults.move_open_to(left.log);
}

Status report_left_faults(int id, const char *routine) {
  Left &left = left_on(id);
  if (!left.log.any()) return 0;
  std::vector<Fault> told;
  {
    std::lock_guard<std::mutex> lock(left.mutex);
    const bool open = left.log.open();
    told = left.log.tell({UINT64_MAX, left.log.reports(), false});
    if (open) device(id).pending_faults.fetch_sub(1);
  }
  return say(told, id, routine);
}

void forget_faults(int id) {
  Left &left = left_on(id);
  std::lock_guard<std::mutex> lock(left.mutex);
  if (left.log.open()) device(id).pending_faults.fetch_sub(1);
  left.log.clear();
}

// --- work that comes after a fault -------------------------------------------------------

std::vector<WorkBefore> faulty_work_before(Stream &running) {
  std::vector<WorkBefore> found = running.faulty_before;
  if (running.faults.open()) found.push_back({&running, running.id, running.completed.load()});
  return found;
}

void add_faulty_work(Stream &running, const std::vector<WorkBefore> &before) {
  for (const WorkBefore &work : before) {
    auto &mine = running.faulty_before;
    const auto same = std::find_if(mine.begin(), mine.end(), [&](const WorkBefore &other) {
      return other.stream == work.stream && other.id == work.id;
    });
    if (same == mine.end()) mine.push_back(work);
    else same->task = std::max(same->task, work.task);
  }
}

std::string unreported_fault(Stream &running) {
  if (t_reason != nullptr && !t_reason->empty()) return *t_reason;
  if (!running.faults.open() && running.faulty_before.empty()) return "";
  const auto text = [](const Fault &fault) {
    return "stream " + std::to_string(fault.stream) + " has an unreported fault, " + named(fault);
  };
  if (running.faults.open()) {
    std::lock_guard<std::mutex> lock(running.mutex);
    if (const Fault *first = running.faults.first_open(UINT64_MAX)) return text(*first);
  }
  const PinnedStreams all(running.device);
  auto &before = running.faulty_before;
  while (!before.empty()) {
    Stream *const stream = pinned(all, before.back());
    if (stream != nullptr) {
      std::lock_guard<std::mutex> lock(stream->mutex);
      if (const Fault *first = stream->faults.first_open(before.back().task)) return text(*first);
    }
    before.pop_back();  // it has been reported
  }
  return "";
}

AfterFault::AfterFault(const std::string &reason) : before_(t_reason) { t_reason = &reason; }
AfterFault::~AfterFault() { t_reason = before_; }

}  // namespace emu
