// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "core/stream.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "core/capture.h"
#include "core/context.h"
#include "core/device.h"
#include "core/logs.h"
#include "core/process.h"
#include "core/reporting.h"
#include "core/stream_worker.h"
#include "core/timeline.h"
#include "core/undo.h"
#include "faults/findings.h"
#include "faults/launches.h"

namespace emu {
namespace {

using Clock = std::chrono::steady_clock;

thread_local uint64_t t_last_task = 0;
thread_local uint32_t t_thread = 0;
std::atomic<uint32_t> g_next_thread{1};
std::atomic<uint32_t> g_recorded_tasks{0};  // their numbers name them for aclrtTaskUpdateAsync

std::atomic<int32_t> g_next_stream_id{0};

struct EndListeners {
  std::mutex mutex;
  std::vector<void (*)(Stream *)> all;
};

EndListeners &end_listeners() {
  // Not on the heap, so that contexts and devices end without memory; never destroyed.
  alignas(EndListeners) static unsigned char room[sizeof(EndListeners)];
  static auto *const instance = ::new (room) EndListeners;
  return *instance;
}

void grow(Stream &stream) {
  std::vector<StreamEntry> larger(stream.ring.empty() ? 64 : stream.ring.size() * 2);
  for (size_t i = 0; i < stream.queued; ++i) {
    larger[i] = std::move(stream.ring[(stream.head + i) & (stream.ring.size() - 1)]);
  }
  stream.ring.swap(larger);
  stream.head = 0;
}

template <class Condition>
bool wait_until(std::unique_lock<std::mutex> &lock, std::condition_variable &done,
                Clock::time_point deadline, Condition met) {
  if (deadline == Clock::time_point::max()) {
    done.wait(lock, met);
    return true;
  }
  return done.wait_until(lock, deadline, met);
}

}  // namespace

uint32_t program_thread() {
  if (t_thread == 0) t_thread = g_next_thread.fetch_add(1, std::memory_order_relaxed);
  return t_thread;
}

Slots<Stream> &streams() {
  static auto *const all = new Slots<Stream>(size_t{kMaxStreams} * kMaxDevices);
  return *all;
}

Stream::Stream(Context &owner, int32_t number, uint32_t stream_flags, uint32_t stream_priority)
    : context(owner),
      device(owner.device),
      id(number),
      flags(stream_flags),
      priority(stream_priority) {}

Stream *create_stream(Context &context, uint32_t flags, uint32_t priority, const char *routine,
                      Status *status) {
  Device &d = device(context.device);
  if (d.live_streams.fetch_add(1) >= kMaxStreams) {
    d.live_streams.fetch_sub(1);
    *status = fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "%s: device %d has all its %u streams in use.",
                   routine, context.device, kMaxStreams);
    return nullptr;
  }
  Stream *stream = streams().create(context, g_next_stream_id.fetch_add(1), flags, priority);
  if (stream == nullptr) {
    d.live_streams.fetch_sub(1);
    *status = fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "%s: no room for another stream.", routine);
    return nullptr;
  }
  stream->saturation_mode = saturation_mode().load();
  std::lock_guard<std::mutex> lock(context.mutex);
  try {
    context.streams.push_back(stream);
  } catch (const std::bad_alloc &) {
    if (streams().retire(stream)) streams().destroy(stream);
    d.live_streams.fetch_sub(1);
    *status = fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: the host has no memory left for a stream.",
                   routine);
    return nullptr;
  }
  *status = 0;
  return stream;
}

Status destroy_stream(Stream *stream, bool drain, const char *routine) {
  if (working_stream() == stream) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: a stream cannot be destroyed by work it runs.",
                routine);
  }
  if (CaptureSession *session = stream->capture.load()) abandon_capture(*session);
  // made before anything ends: nothing below needs memory
  EndListeners &listeners = end_listeners();
  if (!streams().retire(stream)) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live stream.", routine,
                static_cast<void *>(stream));
  }
  // At exit the workers have been stopped already; one that did not stop in time still uses its
  // stream.
  if (exiting()) return 0;
  Context &context = stream->context;
  {
    std::lock_guard<std::mutex> lock(context.mutex);
    context.streams.erase(std::remove(context.streams.begin(), context.streams.end(), stream),
                          context.streams.end());
    Stream *self = stream;
    context.default_stream.compare_exchange_strong(self, nullptr);
  }
  {
    std::lock_guard<std::mutex> lock(stream->mutex);
    stream->stop = true;
    if (!drain) stream->discard.store(true);
    stream->wake.notify_all();
  }
  if (!drain) abort_stream(*stream);
  if (stream->started) end_worker(*stream);
  // Threads that wait for the whole device have seen the end of the work or the abort, and release
  // their pins.
  while (stream->pins.load() > 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  {
    std::lock_guard<std::mutex> lock(listeners.mutex);
    for (const auto forget : listeners.all) forget(stream);
  }
  Device &d = device(stream->device);
  leave_faults(*stream);
  d.live_streams.fetch_sub(1);
  streams().destroy(stream);
  return 0;
}

Status resolve(aclrtStream raw, const char *routine, Stream **out) {
  Context *context = nullptr;
  if (const Status s = current_context(routine, &context)) return s;
  if (raw == nullptr) {
    *out = default_stream(*context);
    return *out != nullptr ? 0 : ACL_ERROR_RT_NO_STREAM_RESOURCE;
  }
  Stream *stream = streams().find(raw);
  if (stream == nullptr) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE,
                "%s: %p is not a live stream (destroyed, or never one).", routine, raw);
  }
  if (&stream->context != context) {
    return fail(ACL_ERROR_RT_STREAM_CONTEXT,
                "%s: stream %d belongs to another context (device %d); this thread's context is of "
                "device %d.",
                routine, stream->id, stream->device, context->device);
  }
  *out = stream;
  return 0;
}

Stream *resolve(aclrtStream raw) {
  Stream *stream = nullptr;
  return resolve(raw, "stream", &stream) == 0 ? stream : nullptr;
}

// Does not throw: callers have already taken numbers and references, which they give back when this
// returns a failure.
Status enqueue_on(Stream &stream, const char *what, Task task, RunBy run_by) noexcept try {
  if (CaptureSession *session = stream.capture.load(std::memory_order_acquire)) {
    const Status status = record_task(*session, stream, what, std::move(task));
    if (status == 0) t_last_task = g_recorded_tasks.fetch_add(1, std::memory_order_relaxed) + 1;
    return status;
  }
  if (stream.aborted.load(std::memory_order_relaxed)) {
    return fail(ACL_ERROR_RT_STREAM_ABORT, "%s: stream %d is aborted.", what, stream.id);
  }
  if (exiting()) return fail(ACL_ERROR_RT_SOCKET_CLOSE, "%s: the process is ending.", what);
  if (faults::checking()) faults::note_task(what);
  std::unique_lock<std::mutex> lock(stream.mutex);
  if (!stream.started) {
    if (const Status s = start_worker(stream)) return s;
  }
  if (stream.queued == stream.ring.size()) grow(stream);
  StreamEntry &entry = stream.ring[(stream.head + stream.queued) & (stream.ring.size() - 1)];
  entry.task = std::move(task);
  entry.what = what;
  entry.run_by = run_by;
  entry.thread = program_thread();
  ++stream.queued;
  const uint64_t number = stream.submitted.load(std::memory_order_relaxed) + 1;
  stream.submitted.store(number, std::memory_order_release);
  t_last_task = number;
  if (logs::wants(logs::kRuntime, logs::kInfo)) {  // before the worker speaks of it
    logs::note(logs::kRuntime, logs::kInfo, what, "task %llu of stream %d on device %d.",
               static_cast<unsigned long long>(number), stream.id, stream.device);
  }
  if (timeline_notes() & kNoteCalls) note_launch(stream.device, stream.id, last_task_id());
  stream.habit.queued();
  // One wake-up is enough for all tasks that arrive before the worker runs. It is sent after the
  // lock is released, so that the worker does not block on it. If another thread is running tasks
  // now, it also takes care of the remaining ones. None is needed for a task that a thread will run
  // that waits, as threads did each time before, if it may run this one.
  const bool left = run_by != RunBy::worker && run_by >= stream.waiter && stream.dozes &&
                    stream.habit.formed() && inline_mode() == Inline::automatic;
  const bool asleep = !stream.busy && !left && std::exchange(stream.idle, false);
  lock.unlock();
  if (asleep) stream.wake.notify_one();
  return 0;
} catch (const std::exception &problem) {
  return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
              "%s: the host has no memory left for work of stream %d (%s).", what, stream.id,
              problem.what());
}

Status enqueue(aclrtStream raw, const char *what, Task task) {
  if (const Status s = check_process(what)) return s;
  Stream *stream = nullptr;
  if (const Status s = resolve(raw, what, &stream)) return s;
  return enqueue_on(*stream, what, std::move(task));
}

void at_stream_end(void (*forget)(Stream *)) {
  std::lock_guard<std::mutex> lock(end_listeners().mutex);
  end_listeners().all.push_back(forget);
}

uint32_t last_task_id() { return static_cast<uint32_t>(t_last_task); }
uint64_t last_task_number() { return t_last_task; }
void set_last_task_number(uint64_t number) { t_last_task = number; }

Status synchronize(Stream &stream, int64_t timeout_ms, const char *routine, bool whole_device) {
  if (working_stream() == &stream) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: work of stream %d cannot wait for its own stream.",
                routine, stream.id);
  }
  if (stream.capture.load() != nullptr) return refuse_while_captured(stream, routine);
  if (exiting()) return fail(ACL_ERROR_RT_SOCKET_CLOSE, "%s: the process is ending.", routine);
  const uint64_t target = stream.submitted.load(std::memory_order_acquire);
  const Waiter waiter{target, stream.faults.reports(), whole_device};
  stream.habit.waited();
  if (stream.completed.load(std::memory_order_acquire) < target) {
    std::unique_lock<std::mutex> lock(stream.mutex);
    Runner who{RunBy::anyone};
    if (timeout_ms >= 0) {
      who = {RunBy::anyone_with_time, Clock::now() + std::chrono::milliseconds(timeout_ms)};
    }
    stream.waiter = who.as;
    help(stream, lock, target, who);
    if (stream.queued != 0 && !stream.busy) rouse(stream);  // what this thread may not run
    const bool finished = wait_until(lock, stream.done, who.deadline, [&] {
      if (stream.completed.load(std::memory_order_relaxed) >= target || stream.aborted.load())
        return true;
      stream.wanted = std::min(stream.wanted, target);
      return false;
    });
    if (!finished) {
      const char *what = stream.queued > 0 ? stream.ring[stream.head].what : "the running task";
      return fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                  "%s: stream %d of device %d still had %llu tasks to do after %lld ms (next: %s).",
                  routine, stream.id, stream.device,
                  static_cast<unsigned long long>(target - stream.completed.load()),
                  static_cast<long long>(timeout_ms), what);
    }
  }
  if (stream.aborted.load()) {
    return fail(ACL_ERROR_RT_STREAM_ABORT, "%s: stream %d was aborted.", routine, stream.id);
  }
  faults::waited();
  if (stream.faults.any()) {
    if (const Status s = report_faults(stream, waiter, routine)) return s;
  }
  if (stream.halted.load()) {
    return fail(ACL_ERROR_RT_STREAM_ABORT,
                "%s: stream %d stopped because another stream of its context failed.", routine,
                stream.id);
  }
  return 0;
}

void drain_stream(Stream &stream) {
  if (working_stream() == &stream || exiting()) return;
  std::unique_lock<std::mutex> lock(stream.mutex);
  if (stream.queued != 0 && !stream.busy) rouse(stream);
  stream.done.wait(lock, [&] {
    const uint64_t target = stream.submitted.load();
    if (stream.completed.load() >= target || stream.finished) return true;
    stream.wanted = std::min(stream.wanted, target);
    return false;
  });
}

PinnedStreams::PinnedStreams(int device) {
  Undo pinned([this] {
    for (Stream *stream : streams_) stream->pins.fetch_sub(1);
  });
  for_each_context(device, [this](Context &context) {
    std::lock_guard<std::mutex> lock(context.mutex);
    for (Stream *stream : context.streams) {
      streams_.push_back(stream);
      stream->pins.fetch_add(1);
    }
  });
  pinned.keep();
}

PinnedStreams::~PinnedStreams() {
  for (Stream *stream : streams_) stream->pins.fetch_sub(1);
}

Status synchronize_device(int id, int64_t timeout_ms, const char *routine) {
  const auto start = Clock::now();
  const PinnedStreams waiting(id);
  Status first = 0;
  for (Stream *stream : waiting) {
    if (working_stream() == stream) continue;
    int64_t left = timeout_ms;
    if (timeout_ms >= 0) {
      const auto spent =
          std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start).count();
      left = std::max<int64_t>(0, timeout_ms - spent);
    }
    const Status s = synchronize(*stream, left, routine, true);
    if (first == 0) first = s;
  }
  const Status left_behind = report_left_faults(id, routine);
  return first != 0 ? first : left_behind;
}

void abort_stream(Stream &stream) {
  stream.aborted.store(true);
  std::lock_guard<std::mutex> lock(stream.mutex);
  stream.done.notify_all();
}

void revive_stream(Stream &stream) {
  stream.halted.store(false);
  stream.aborted.store(false);
}

}  // namespace emu
