// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/slots.h"
#include "core/status.h"
#include "core/stream.h"

namespace emu {

// The state of an event, in plain atomics and a futex word: it may be in memory shared with another
// process (events opened by handle), and it stays usable when one of the processes dies.
struct EventCell {
  std::atomic<uint64_t> recorded{0};  // records asked for
  std::atomic<uint64_t> done{0};      // records the device has reached
  std::atomic<uint64_t> reset_to{0};  // value of `done` at the last reset
  std::atomic<int64_t> time_ns{0};    // clock at the latest record reached
  std::atomic<uint32_t> wake{0};
  std::atomic<uint32_t> waiters{0};

  void reach(uint64_t record);
  // Waits until `done` is at least `record`. False on expiry (timeout_ms >= 0) or when the wait is
  // cancelled.
  bool wait_done(uint64_t record, int64_t timeout_ms);
  // Waits until the event is set: reached since it was last reset.
  bool wait_set(int64_t timeout_ms);
};

// Shared by the event's handle and the tasks that use it: destroying an event with work queued is
// harmless.
struct EventState {
  EventCell own;
  EventCell *cell = &own;
  std::shared_ptr<void> mapping;  // keeps a shared cell mapped
  std::atomic<int> pending_waits{0};
  std::atomic<bool> after_fault{false};  // `faulty` is not empty
  std::mutex mutex;
  WorkBefore recorded;             // guarded by mutex: what the latest record stands behind
  std::vector<WorkBefore> faulty;  // guarded by mutex: the work with a fault before it
  uint64_t capture_id = 0;         // guarded by mutex: the capture that recorded it last
  size_t capture_flag = 0;         // guarded by mutex: its flag in that capture's graph
};

struct Event {
  Event(int device_id, uint32_t event_flags, bool is_extended, uint32_t number)
      : device(device_id),
        flags(event_flags),
        extended(is_extended),
        id(number),
        state(std::make_shared<EventState>()) {}

  const int device;
  const uint32_t flags;
  const bool extended;  // made by aclrtCreateEventExWithFlag
  const uint32_t id;
  std::shared_ptr<EventState> state;
};

Slots<Event> &events();

// 107000 for null, 107017 for what is not a live event.
Status find_event(aclrtEvent raw, const char *routine, Event **event);

Status record_event(Event &event, Stream &stream, bool external, const char *routine);
Status stream_wait_event(Event &event, Stream &stream, bool external, int64_t timeout_ms,
                         const char *routine);
Status reset_event(Event &event, Stream &stream);
Status synchronize_event(Event &event, int64_t timeout_ms, const char *routine);
// A query of an event that an active capture recorded returns 107028 and invalidates the capture.
Status refuse_captured_event(Event &event, const char *routine);

// aclrtSetOpWaitTimeout, in milliseconds; 0 means none.
void set_wait_limit(int64_t milliseconds);
int64_t wait_limit();

// aclrtSetOpExecuteTimeOut, in microseconds; 0 means the default of the 910B family.
void set_execute_limit(uint64_t microseconds);
uint64_t execute_limit();

}  // namespace emu
