// SPDX-License-Identifier: Apache-2.0
#include "core/event.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>

#include "acl/acl_base.h"
#include "core/cancel.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/graph.h"
#include "core/process.h"
#include "core/undo.h"
#include "faults/findings.h"
#include "faults/launches.h"

namespace emu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kSliceMs = 50;  // how often a wait looks whether it is still wanted

std::atomic<int64_t> g_wait_limit{0};
constexpr uint64_t kDefaultExecuteLimit = 1091000000;  // of AI Core tasks, in microseconds
std::atomic<uint64_t> g_execute_limit{kDefaultExecuteLimit};

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

template <class Condition>
bool futex_wait_until(EventCell &cell, int64_t timeout_ms, Condition met) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(std::max<int64_t>(timeout_ms, 0));
  bool result = true;
  cell.waiters.fetch_add(1);
  for (;;) {
    const uint32_t seen = cell.wake.load();
    if (met()) break;
    int64_t slice = kSliceMs;
    if (timeout_ms >= 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left < 0 || timeout_ms == 0) {
        result = false;
        break;
      }
      slice = std::min<int64_t>(slice, left + 1);
    }
    if (wait_cancelled()) {
      result = false;
      break;
    }
    timespec span{slice / 1000, (slice % 1000) * 1000000};
    syscall(SYS_futex, reinterpret_cast<uint32_t *>(&cell.wake), FUTEX_WAIT, seen, &span, nullptr,
            0);
  }
  cell.waiters.fetch_sub(1);
  return result;
}

void raise_to(std::atomic<uint64_t> &value, uint64_t target) {
  uint64_t seen = value.load();
  while (seen < target && !value.compare_exchange_weak(seen, target)) {
  }
}

bool captured_now(Event &event) {
  uint64_t id = 0;
  {
    std::lock_guard<std::mutex> lock(event.state->mutex);
    id = event.state->capture_id;
  }
  return id != 0 && capture_is_active(id);
}

Status wait_in_task(EventState &state, bool external, uint64_t target, int64_t timeout_ms) {
  const bool reached =
      external ? state.cell->wait_set(timeout_ms) : state.cell->wait_done(target, timeout_ms);
  state.pending_waits.fetch_sub(1);
  if (reached && state.after_fault.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> lock(state.mutex);
    add_faulty_work(*working_stream(), state.faulty);
  }
  if (reached || wait_cancelled()) return 0;
  return fail(ACL_ERROR_RT_TASK_TIMEOUT,
              "waiting for an event took longer than %lld ms (aclrtSetOpWaitTimeout).",
              static_cast<long long>(timeout_ms));
}

// In the task that records an event: who waits for it comes after the faults before it.
void pass_faults_on(EventState &state) {
  Stream &running = *working_stream();
  const bool any = running.faults.open() || !running.faulty_before.empty();
  if (!any && !state.after_fault.load(std::memory_order_relaxed)) return;
  std::vector<WorkBefore> before = faulty_work_before(running);
  std::lock_guard<std::mutex> lock(state.mutex);
  state.after_fault.store(!before.empty(), std::memory_order_release);
  state.faulty.swap(before);
}

}  // namespace

void EventCell::reach(uint64_t record) {
  time_ns.store(now_ns());
  raise_to(done, record);
  wake.fetch_add(1);
  if (waiters.load() > 0) {
    syscall(SYS_futex, reinterpret_cast<uint32_t *>(&wake), FUTEX_WAKE, INT_MAX, nullptr, nullptr,
            0);
  }
}

bool EventCell::wait_done(uint64_t record, int64_t timeout_ms) {
  if (done.load() >= record) return true;
  return futex_wait_until(*this, timeout_ms, [&] { return done.load() >= record; });
}

bool EventCell::wait_set(int64_t timeout_ms) {
  return futex_wait_until(*this, timeout_ms, [&] { return done.load() > reset_to.load(); });
}

Slots<Event> &events() {
  static auto *const all = new Slots<Event>(size_t{kMaxEvents} * 16);
  return *all;
}

Status find_event(aclrtEvent raw, const char *routine, Event **event) {
  if (raw == nullptr) return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: the event is null.", routine);
  *event = events().find(raw);
  if (*event != nullptr) return 0;
  return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live event (destroyed, or never one).",
              routine, raw);
}

void set_wait_limit(int64_t milliseconds) { g_wait_limit.store(milliseconds); }
int64_t wait_limit() { return g_wait_limit.load(); }

void set_execute_limit(uint64_t microseconds) {
  g_execute_limit.store(microseconds == 0 ? kDefaultExecuteLimit : microseconds);
}
uint64_t execute_limit() { return g_execute_limit.load(); }

Status refuse_captured_event(Event &event, const char *routine) {
  if (!captured_now(event)) return 0;
  uint64_t id = 0;
  {
    std::lock_guard<std::mutex> lock(event.state->mutex);
    id = event.state->capture_id;
  }
  invalidate_capture(id);
  return fail(ACL_ERROR_RT_EVENT_CAPTURED,
              "%s: the event is part of an active capture; the capture is now invalid.", routine);
}

Status record_event(Event &event, Stream &stream, bool external, const char *routine) {
  const auto state = event.state;
  external = external || (event.flags & ACL_EVENT_EXTERNAL) != 0;
  if (CaptureSession *session = stream.capture.load(std::memory_order_acquire);
      session != nullptr && !external) {
    return capture_record(*session, stream, *state, routine);
  }
  if (captured_now(event) && !external) {
    return fail(ACL_ERROR_RT_EVENT_CAPTURED, "%s: the event is part of an active capture.",
                routine);
  }
  if (stream.capture.load() != nullptr) {
    // Every replay records the event again and counts as a record of its own.
    return enqueue_on(stream, "aclrtRecordEvent", [state]() -> Status {
      pass_faults_on(*state);
      state->cell->reach(state->cell->recorded.fetch_add(1) + 1);
      return 0;
    });
  }
  const uint64_t number = state->cell->recorded.fetch_add(1) + 1;
  // A record that is refused is none; where another came behind it, it counts as done.
  Undo refused([&] {
    uint64_t last = number;
    if (!state->cell->recorded.compare_exchange_strong(last, number - 1)) {
      state->cell->reach(number);
    }
  });
  const Status s = enqueue_on(
      stream, "aclrtRecordEvent",
      [state, number]() -> Status {
        pass_faults_on(*state);
        state->cell->reach(number);
        return 0;
      },
      RunBy::anyone_in_haste);
  if (s != 0) return s;
  refused.keep();
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    state->recorded = {&stream, stream.id, last_task_number()};
  }
  if (faults::checking()) faults::note_recorded(state.get(), stream);
  return 0;
}

Status stream_wait_event(Event &event, Stream &stream, bool external, int64_t timeout_ms,
                         const char *routine) {
  const auto state = event.state;
  external = external || (event.flags & ACL_EVENT_EXTERNAL) != 0;
  if (timeout_ms <= 0) timeout_ms = wait_limit() > 0 ? wait_limit() : -1;
  const bool capturing = stream.capture.load(std::memory_order_acquire) != nullptr;
  if (!external && (capturing || captured_now(event))) {
    return capture_wait(stream, *state, routine);
  }
  if (external && capturing) {
    return enqueue_on(stream, "aclrtStreamWaitEvent", [state, timeout_ms]() -> Status {
      state->pending_waits.fetch_add(1);
      return wait_in_task(*state, true, 0, timeout_ms);
    });
  }
  const uint64_t target = state->cell->recorded.load();
  if (faults::checking()) {
    if (target == 0)
      faults::finding("event that was never recorded",
                      "aclrtStreamWaitEvent: it waits for nothing");
    faults::note_ordered(stream, state.get());
  }
  // Never recorded, or reached already: nothing to wait for.
  const bool reached = state->cell->done.load() >= target;
  if (target == 0 || (reached && !state->after_fault.load(std::memory_order_acquire))) return 0;
  state->pending_waits.fetch_add(1);
  const Status s =
      enqueue_on(stream, "aclrtStreamWaitEvent", [state, target, timeout_ms]() -> Status {
        return wait_in_task(*state, false, target, timeout_ms);
      });
  if (s != 0) state->pending_waits.fetch_sub(1);
  return s;
}

Status reset_event(Event &event, Stream &stream) {
  const auto state = event.state;
  if (CaptureSession *session = stream.capture.load(std::memory_order_acquire)) {
    bool done = false;
    const Status s = capture_reset(*session, stream, *state, "aclrtResetEvent", &done);
    if (s != 0 || done) return s;
  }
  return enqueue_on(stream, "aclrtResetEvent", [state]() -> Status {
    raise_to(state->cell->reset_to, state->cell->done.load());
    return 0;
  });
}

Status synchronize_event(Event &event, int64_t timeout_ms, const char *routine) {
  if (const Status s = refuse_captured_event(event, routine)) return s;
  const auto state = event.state;
  const uint64_t target = state->cell->recorded.load();
  WorkBefore work;
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    work = state->recorded;
  }
  const bool live = work.stream != nullptr && streams().live(work.stream);
  const uint64_t since = live ? work.stream->faults.reports() : 0;
  if (target != 0 && !state->cell->wait_done(target, timeout_ms)) {
    return fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "%s: the event was not reached within %lld ms.",
                routine, static_cast<long long>(timeout_ms));
  }
  if (faults::checking() && target == 0)
    faults::finding("event that was never recorded",
                    std::string(routine) + ": it waits for nothing");
  if (!live) return 0;
  faults::waited();
  return report_faults(work, since, routine);
}

}  // namespace emu
