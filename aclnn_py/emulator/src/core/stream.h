// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl_rt.h"
#include "core/callable.h"
#include "core/fault_log.h"
#include "core/habit.h"
#include "core/slots.h"
#include "core/status.h"

namespace emu {

// Work of a stream. Returns 0, or a status after fail(...): then the stream carries a device fault.
// It may be called more than once (capture and replay), from one thread at a time.
using Task = Callable<Status(), 104>;

// A library built with EMU_EMPTY_KERNELS runs no kernel body: the negative control of the tests.
#ifdef EMU_EMPTY_KERNELS
constexpr bool kEmptyKernels = true;
#else
constexpr bool kEmptyKernels = false;
#endif

struct CaptureSession;
struct Context;

// Who may run a task, the narrowest first. `worker`: only the stream's worker, for the program's
// own functions and tasks that may contain them. `anyone`: also a thread that waits for the stream
// without a limit. `anyone_with_time`: also one that waits with a timeout which is long beside the
// task, for it waits for nothing and passes over so many elements only. `anyone_in_haste`: also one
// with any timeout, because the task ends sooner than a sleeping thread wakes.
enum class RunBy : uint8_t { worker, anyone, anyone_with_time, anyone_in_haste };

struct StreamEntry {
  Task task;
  const char *what = "";
  RunBy run_by = RunBy::worker;
  uint32_t thread = 0;  // that queued it
};

struct Stream;

// Work of a stream up to one of its tasks, which other work depends on. The stream may have ended.
struct WorkBefore {
  Stream *stream = nullptr;
  int32_t id = -1;
  uint64_t task = 0;
};

struct Stream {
  Stream(Context &owner, int32_t number, uint32_t stream_flags, uint32_t stream_priority);

  Context &context;
  const int device;
  const int32_t id;
  const uint32_t flags, priority;

  std::mutex mutex;
  std::condition_variable wake, done;
  // A ring that doubles when full: steady traffic allocates nothing.
  std::vector<StreamEntry> ring;
  size_t head = 0, queued = 0;
  // `busy`: the worker or a waiting thread is running tasks. `idle`: the worker
  // sleeps. `dozes`: it does so for a moment, and looks for tasks by itself then.
  bool started = false, busy = false, idle = false, dozes = false, stop = false, finished = false;
  Habit habit;
  RunBy waiter = RunBy::anyone_in_haste;  // what the last thread that waited may run
  std::atomic<bool> discard{false};
  std::thread worker;
  uint64_t wanted = UINT64_MAX;  // the first task that a thread waits for
  // threads that found the stream by its device, not by its handle
  std::atomic<int> pins{0};

  std::atomic<uint64_t> submitted{0}, completed{0};
  std::atomic<bool> aborted{false};
  std::atomic<bool> halted{false};    // stop-on-failure after a fault: later work is dropped
  std::atomic<int> failure_mode{-1};  // -1 unset, else aclrtSetStreamFailureMode's value
  FaultLog faults;
  // Work of other streams with a fault, which this one waited for. Only its tasks look at it.
  std::vector<WorkBefore> faulty_before;

  std::atomic<CaptureSession *> capture{nullptr};
  std::atomic<uint32_t> overflow_switch{0}, custom_tag{0}, cache_op_info{0};
  std::atomic<int64_t> resource_limit[2] = {{-1}, {-1}};
  int saturation_mode = 1;
};

Slots<Stream> &streams();

// `raw` as a stream of the thread's context (null: its default stream); null with a message when it
// is not: 107002 without a context, 107003 for a stream of another context, 107017 for a dead
// handle.
Status resolve(aclrtStream raw, const char *routine, Stream **stream);
Stream *resolve(aclrtStream raw);

// Appends a task. `what` names it in messages and must live as long as the process (a literal).
// While the stream is captured the task is recorded instead, to be run by each replay.
Status enqueue(aclrtStream raw, const char *what, Task task);
// The same for a stream at hand, without looking at the calling thread's context.
Status enqueue_on(Stream &stream, const char *what, Task task,
                  RunBy run_by = RunBy::worker) noexcept;

// The number of the last task this thread enqueued.
uint32_t last_task_id();
// The same, for a task that was not recorded.
uint64_t last_task_number();
// For a thread that did the work of another one in between.
void set_last_task_number(uint64_t number);

Stream *create_stream(Context &context, uint32_t flags, uint32_t priority, const char *routine,
                      Status *status);
Status destroy_stream(Stream *stream, bool drain, const char *routine);

// The streams of a device (of all its contexts), kept from being destroyed while this object lives:
// for calls that look at a whole device while other threads create and destroy streams.
class PinnedStreams {
 public:
  explicit PinnedStreams(int device);
  ~PinnedStreams();
  PinnedStreams(const PinnedStreams &) = delete;
  PinnedStreams &operator=(const PinnedStreams &) = delete;
  std::vector<Stream *>::const_iterator begin() const { return streams_.begin(); }
  std::vector<Stream *>::const_iterator end() const { return streams_.end(); }

 private:
  std::vector<Stream *> streams_;
};

// Waits until the tasks queued now have run. If the worker has not begun, the calling thread runs
// them itself, which saves two thread switches. With a timeout it runs only tasks that cannot make
// it late (RunBy). ACLNN_PY_EMULATOR_INLINE=never leaves everything to the worker;
// =always delays the worker briefly so that the waiting thread is first. In both modes tasks also
// run when no thread waits. timeout in milliseconds, -1 without limit; 507046 on expiry. Faults of
// these tasks are reported here.
Status synchronize(Stream &stream, int64_t timeout_ms, const char *routine,
                   bool whole_device = false);
// Waits for the work of a stream and reports nothing.
void drain_stream(Stream &stream);
Status synchronize_device(int device, int64_t timeout_ms, const char *routine);

// Reports what a wait has to hear of, and returns the status of the first of these faults. All
// reports come from here.
Status report_faults(Stream &stream, const Waiter &waiter, const char *routine);
// Reports the faults of work that an event or a copy stands behind; `since` as in Waiter. Nothing
// when the stream has ended.
Status report_faults(const WorkBefore &work, uint64_t since, const char *routine);
// For a call that failed for another reason: adds which streams of the device have faults that no
// wait for them has reported.
void mention_faults(int device);
// A device that is reset has no faults.
void forget_faults(int device);

// The work with a fault that the running task comes after: of its own stream, and of those that it
// waited for through events.
std::vector<WorkBefore> faulty_work_before(Stream &running);
void add_faulty_work(Stream &running, const std::vector<WorkBefore> &before);
// Names the first fault before the running task that no wait has reported; empty without one.
std::string unreported_fault(Stream &running);
// While it lives, `reason` is what unreported_fault says first on this thread.
class AfterFault {
 public:
  explicit AfterFault(const std::string &reason);
  ~AfterFault();
  AfterFault(const AfterFault &) = delete;
  AfterFault &operator=(const AfterFault &) = delete;

 private:
  const std::string *const before_;
};

// Drops queued work; waiting and launching calls return 107023 until revive_stream.
void abort_stream(Stream &stream);
void revive_stream(Stream &stream);

// The stream whose task this thread runs, or null.
Stream *working_stream();

// Ends all workers of the process; what they run is finished (within a limit), the rest dropped.
void stop_all_workers();

// Called for every stream that ends, before its handle can be reused.
void at_stream_end(void (*forget)(Stream *));

using FaultListener = void (*)(const Stream &stream, const Fault &fault);  // throws nothing
void set_fault_listener(FaultListener listener);

}  // namespace emu
