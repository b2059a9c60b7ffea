// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "core/stream_worker.h"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "core/cancel.h"
#include "core/context.h"
#include "core/device.h"
#include "core/host_limits.h"
#include "core/process.h"
#include "core/reporting.h"
#include "core/timeline.h"
#include "faults/findings.h"
#include "faults/pages.h"

namespace emu {
namespace {

using Clock = std::chrono::steady_clock;

// long enough for a thread that synchronizes next
constexpr auto kGiveWay = std::chrono::milliseconds(2);

// what a task takes at most that a thread with a timeout may run (RunBy::anyone_with_time)
constexpr auto kLongTask = std::chrono::milliseconds(30);

// A worker that a habit leaves asleep looks for tasks that often, in vain so many times.
constexpr auto kDoze = std::chrono::milliseconds(1);
constexpr int kDozes = 20;

thread_local Stream *t_working = nullptr;
std::atomic<FaultListener> g_listener{nullptr};

// Streams that own a thread; only used at exit.
struct Workers {
  std::mutex mutex;
  std::vector<Stream *> running;
};

Workers &workers() {
  static auto *const all = new Workers;
  return *all;
}

// Every fault of the device comes through here, on the thread that ran the task.
void note_fault(Stream &stream, Status code, const StreamEntry &entry, uint64_t task) {
  Fault fault;
  fault.code = code;
  fault.text = take_message();
  fault.what = entry.what;
  fault.stream = stream.id;
  fault.task = task;
  fault.thread = entry.thread;
  if (faults::checking())
    faults::faulted(stream, code, entry.what, static_cast<uint32_t>(task), fault.text);
  if (const FaultListener listener = g_listener.load()) listener(stream, fault);
  const bool stop =
      stream.context.stop_on_failure.load() || stream.failure_mode.load() == ACL_STOP_ON_FAILURE;
  {
    std::lock_guard<std::mutex> lock(stream.mutex);
    if (!stream.faults.open()) device(stream.device).pending_faults.fetch_add(1);
    stream.faults.add(std::move(fault));
  }
  if (!stop) return;
  std::lock_guard<std::mutex> lock(stream.context.mutex);
  for (Stream *other : stream.context.streams) other->halted.store(true);
}

Status run_guarded(const Task &task, const char *what) {
  try {
    return task();
  } catch (const std::bad_alloc &) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: the host is out of memory.", what);
  } catch (const std::exception &problem) {
    return fail(ACL_ERROR_RT_INTERNAL_ERROR, "%s: %s.", what, problem.what());
  }
}

// Work that opens the device memory it uses (faults/pages.h); for any other all of it is open.
bool opens_itself(const char *what) {
  for (const char *head : {"aclnn", "aclrtMemcpyAsync", "aclrtMemsetAsync"}) {
    if (std::strncmp(what, head, std::strlen(head)) == 0) return true;
  }
  return false;
}

bool may_run(const Stream &stream, const Runner &who) {
  if (stream.queued == 0) return false;
  const RunBy task = stream.ring[stream.head].run_by;
  if (task < who.as) return false;
  if (who.as != RunBy::anyone_with_time || task != RunBy::anyone_with_time) return true;
  return Clock::now() + kLongTask <= who.deadline;
}

// Runs queued tasks, at most up to the one numbered `last`, and up to the first that this thread
// may not run or has no time for. The lock is held on entry and on return.
void run_tasks(Stream &stream, std::unique_lock<std::mutex> &lock, uint64_t last, Runner who) {
  stream.busy = true;
  while (may_run(stream, who) && stream.completed.load(std::memory_order_relaxed) < last) {
    StreamEntry entry = std::move(stream.ring[stream.head]);
    stream.head = (stream.head + 1) & (stream.ring.size() - 1);
    --stream.queued;
    const bool skip =
        stream.discard.load() || stream.halted.load() || stream.aborted.load() || exiting();
    lock.unlock();
    if (!skip) {
      const uint64_t number = stream.completed.load() + 1;
      const TimedRun timed(entry.what, stream, static_cast<uint32_t>(number), 0);
      std::optional<faults::Access> pages;
      if (faults::checking() && !opens_itself(entry.what)) pages.emplace();
      if (const Status code = run_guarded(entry.task, entry.what)) {
        note_fault(stream, code, entry, number);
      }
    }
    // before completion is published: a waiting thread may rely on the task's references being
    // released
    entry.task.reset();
    lock.lock();
    stream.completed.store(stream.completed.load(std::memory_order_relaxed) + 1,
                           std::memory_order_release);
    if (stream.completed.load(std::memory_order_relaxed) >= stream.wanted) {
      stream.wanted = UINT64_MAX;  // who still waits says so again
      stream.done.notify_all();
    }
  }
  stream.busy = false;
}

// The calling thread temporarily does the work of a stream: its own thread-local state is set
// aside.
class Borrowed {
 public:
  explicit Borrowed(Stream &stream)
      : working_(t_working), context_(peek_context()), task_(last_task_number()) {
    t_working = &stream;
    set_current_context(&stream.context);
  }
  ~Borrowed() {
    t_working = working_;
    set_current_context(context_);
    set_last_task_number(task_);
  }
  Borrowed(const Borrowed &) = delete;
  Borrowed &operator=(const Borrowed &) = delete;

 private:
  Stream *const working_;
  Context *const context_;
  const uint64_t task_;
  const MessagesAside messages_;
};

bool has_work(const Stream &stream) { return !stream.busy && (stream.queued != 0 || stream.stop); }

// Until somebody wakes the worker. Where the program waits for all it queues, nobody does, and a
// task that lies there nevertheless breaks that habit.
void sleep(Stream &stream, std::unique_lock<std::mutex> &lock) {
  stream.idle = stream.dozes = true;
  for (int i = 0; i < kDozes && stream.idle && stream.habit.formed(); ++i) {
    const uint64_t before = stream.submitted.load(std::memory_order_relaxed);
    stream.wake.wait_for(lock, kDoze);
    if (stream.idle && has_work(stream) && stream.habit.recent())
      stream.wake.wait_for(lock, Habit::kSoon);
    if (stream.idle && has_work(stream)) stream.habit.forget();
    if (stream.submitted.load(std::memory_order_relaxed) != before) i = 0;
  }
  stream.dozes = false;
  if (stream.idle && !has_work(stream)) stream.wake.wait(lock);
  stream.idle = false;
}

void work(Stream &stream) {
  t_working = &stream;
  set_current_context(&stream.context);
  char name[16];
  std::snprintf(name, sizeof name, "npu%d-s%d", stream.device, stream.id);
  pthread_setname_np(pthread_self(), name);
  std::unique_lock<std::mutex> lock(stream.mutex);
  for (;;) {
    if (inline_mode() == Inline::always && !stream.busy && !stream.stop) {
      stream.wake.wait_for(lock, kGiveWay, [&] { return stream.busy || stream.stop; });
    }
    if (stream.queued != 0 && !stream.busy) {
      run_tasks(stream, lock, UINT64_MAX, {RunBy::worker});
    } else if (stream.stop && !stream.busy) {
      stream.finished = true;
      stream.done.notify_all();
      return;
    } else {
      sleep(stream, lock);
    }
  }
}

}  // namespace

Inline inline_mode() {
  static const Inline mode = [] {
    const char *text = std::getenv("ACLNN_PY_EMULATOR_INLINE");
    const std::string word = text != nullptr ? text : "";
    return word == "never" ? Inline::never : word == "always" ? Inline::always : Inline::automatic;
  }();
  return mode;
}

void rouse(Stream &stream) {
  if (std::exchange(stream.idle, false)) stream.wake.notify_one();
}

void help(Stream &stream, std::unique_lock<std::mutex> &lock, uint64_t last, Runner who) {
  if (stream.busy || !may_run(stream, who) || inline_mode() == Inline::never) return;
  {
    const Borrowed borrowed(stream);
    run_tasks(stream, lock, last, who);
  }
  if (stream.stop) rouse(stream);
}

Status start_worker(Stream &stream) {
  try {
    // Reserve first: every running worker must be on the list of workers that exit() stops.
    std::lock_guard<std::mutex> lock(workers().mutex);
    workers().running.reserve(workers().running.size() + 1);
    make_room_for_faults(stream);
    stream.worker = std::thread([&stream] { work(stream); });
    workers().running.push_back(&stream);
  } catch (const std::system_error &problem) {
    return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "stream %d: the system refused a thread: %s.",
                stream.id, refusal(problem.code().value()).c_str());
  } catch (const std::exception &problem) {
    return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "stream %d: the system refused a thread: %s.",
                stream.id, problem.what());
  }
  stream.started = true;
  return 0;
}

void end_worker(Stream &stream) {
  {
    std::lock_guard<std::mutex> lock(workers().mutex);
    auto &running = workers().running;
    running.erase(std::remove(running.begin(), running.end(), &stream), running.end());
  }
  stream.worker.join();
}

bool wait_cancelled() {
  if (exiting()) return true;
  return t_working != nullptr && (t_working->aborted.load() || t_working->discard.load());
}

Stream *working_stream() { return t_working; }

void set_fault_listener(FaultListener listener) { g_listener.store(listener); }

void stop_all_workers() {
  std::vector<Stream *> running;
  {
    std::lock_guard<std::mutex> lock(workers().mutex);
    running.swap(workers().running);
  }
  for (Stream *stream : running) {
    std::lock_guard<std::mutex> lock(stream->mutex);
    stream->stop = true;
    stream->wake.notify_all();
    stream->done.notify_all();
  }
  // A kernel that runs now may finish; one that blocks (a peer that never comes) must not hold up
  // the exit.
  const auto deadline = Clock::now() + std::chrono::seconds(5);
  for (Stream *stream : running) {
    bool finished = false;
    {
      std::unique_lock<std::mutex> lock(stream->mutex);
      finished = stream->done.wait_until(lock, deadline, [&] { return stream->finished; });
    }
    if (finished) {
      stream->worker.join();
    } else {
      stream->worker.detach();
    }
  }
}

}  // namespace emu
