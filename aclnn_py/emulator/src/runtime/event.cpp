// SPDX-License-Identifier: Apache-2.0
#include "core/event.h"

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/process.h"
#include "core/undo.h"
#include "faults/launches.h"
#include "faults/objects.h"
#include "runtime/sharing.h"

using emu::Event;
using emu::fail;
using emu::Status;

namespace {

constexpr uint32_t kFlags = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS |
                            ACL_EVENT_TIME_LINE | ACL_EVENT_EXTERNAL | ACL_EVENT_DEVICE_USE_ONLY |
                            ACL_EVENT_IPC;

std::atomic<uint32_t> g_next_event{0};

Status create(const char *routine, aclrtEvent *event, uint32_t flags, bool extended) {
  EMU_ENTER_AS(routine);
  if (event == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: the output pointer is null.", routine);
  if (flags == 0 || (flags & ~kFlags) != 0 ||
      ((flags & ACL_EVENT_IPC) != 0 && flags != ACL_EVENT_IPC)) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: flag 0x%x is no combination this device knows.",
                routine, flags);
  }
  int id = 0;
  if (const Status s = emu::current_device(routine, &id)) return s;
  // Only events that hold a hardware event from the start count against its limit.
  const bool limited = !extended && (flags & ACL_EVENT_SYNC) != 0;
  emu::Device &device = emu::device(id);
  if (limited && device.live_events.fetch_add(1) >= emu::kMaxEvents) {
    device.live_events.fetch_sub(1);
    return fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "%s: device %d has all its %u events in use.",
                routine, id, emu::kMaxEvents);
  }
  emu::Undo counted([&] {
    if (limited) device.live_events.fetch_sub(1);
  });
  auto made =
      emu::events().guard(emu::events().create(id, flags, extended, g_next_event.fetch_add(1)));
  if (made == nullptr) return fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "%s: too many events.", routine);
  if ((flags & ACL_EVENT_IPC) != 0) {
    if (const Status s = emu::share_event(*made, routine)) return s;
  }
  counted.keep();
  *event = made.release();
  emu::faults::made("event", *event);
  return 0;
}

Status need_plain(const char *routine, const Event &event) {
  if (!event.extended) return 0;
  return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s: not for events of aclrtCreateEventExWithFlag.",
              routine);
}

Status need_time(const char *routine, const Event &event) {
  if ((event.flags & ACL_EVENT_TIME_LINE) == 0) {
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                "%s: the event was created without ACL_EVENT_TIME_LINE.", routine);
  }
  const emu::EventCell &cell = *event.state->cell;
  if (cell.recorded.load() == 0) {
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "%s: the event was never recorded.", routine);
  }
  if (cell.done.load() < cell.recorded.load()) {
    return fail(ACL_ERROR_RT_EVENT_NOT_COMPLETE, "%s: the stream has not reached the event.",
                routine);
  }
  return 0;
}

Status both(const char *routine, aclrtEvent event, aclrtStream stream, Event **e, emu::Stream **s) {
  EMU_ENTER_AS(routine);
  if (const Status status = emu::find_event(event, routine, e)) return status;
  return emu::resolve(stream, routine, s);
}

bool reached(const Event &event) {
  const emu::EventCell &cell = *event.state->cell;
  if (cell.done.load() < cell.recorded.load()) return false;
  emu::faults::waited();
  return true;
}

Status wait(const char *routine, aclrtStream stream, aclrtEvent event, int64_t timeout_ms,
            bool external) {
  Event *e = nullptr;
  emu::Stream *s = nullptr;
  if (const Status status = both(routine, event, stream, &e, &s)) return status;
  return emu::stream_wait_event(*e, *s, external, timeout_ms, routine);
}

}  // namespace

EMU_EXPORT aclError aclrtCreateEvent(aclrtEvent *event) try {
  EMU_TIMED();
  return create(__func__, event, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC, false);
}
EMU_CATCH

EMU_EXPORT aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag) try {
  EMU_TIMED();
  return create(__func__, event, flag, false);
}
EMU_CATCH

EMU_EXPORT aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag) try {
  EMU_TIMED();
  return create(__func__, event, flag, true);
}
EMU_CATCH

EMU_EXPORT aclError aclrtDestroyEvent(aclrtEvent event) try {
  EMU_ENTER();
  Event *found = nullptr;
  if (const Status s = emu::find_event(event, __func__, &found)) return s;
  if (!emu::events().retire(found)) return emu::find_event(event, __func__, &found);
  if (!found->extended && (found->flags & ACL_EVENT_SYNC) != 0)
    emu::device(found->device).live_events.fetch_sub(1);
  emu::faults::ended(found);
  emu::events().destroy(found);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) try {
  EMU_TIMED();
  Event *e = nullptr;
  emu::Stream *s = nullptr;
  if (const Status status = both(__func__, event, stream, &e, &s)) return status;
  return emu::record_event(*e, *s, false, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream,
                                             uint32_t flag) try {
  EMU_TIMED();
  Event *e = nullptr;
  emu::Stream *s = nullptr;
  if (flag > ACL_EVENT_RECORD_EXTERNAL)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtRecordEventWithFlag: flag is %u.", flag);
  if (const Status status = both(__func__, event, stream, &e, &s)) return status;
  return emu::record_event(*e, *s, flag == ACL_EVENT_RECORD_EXTERNAL, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) try {
  EMU_TIMED();
  Event *e = nullptr;
  emu::Stream *s = nullptr;
  if (const Status status = both(__func__, event, stream, &e, &s)) return status;
  if (const Status status = need_plain(__func__, *e)) return status;
  return emu::reset_event(*e, *s);
}
EMU_CATCH

EMU_EXPORT aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) try {
  EMU_TIMED();
  return wait(__func__, stream, event, 0, false);
}
EMU_CATCH

EMU_EXPORT aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
                                                    int32_t timeout) try {
  EMU_TIMED();
  if (timeout < 0)
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtStreamWaitEventWithTimeout: timeout is %d s.",
                timeout);
  return wait(__func__, stream, event, int64_t{timeout} * 1000, false);
}
EMU_CATCH

EMU_EXPORT aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event,
                                                 uint32_t timeout, uint32_t flag) try {
  EMU_TIMED();
  if (flag > ACL_EVENT_WAIT_EXTERNAL) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamWaitEventWithFlag: flag is %u.", flag);
  }
  return wait(__func__, stream, event, int64_t{timeout} * 1000, flag == ACL_EVENT_WAIT_EXTERNAL);
}
EMU_CATCH

EMU_EXPORT aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status) try {
  EMU_ENTER();
  if (status == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEvent: status is null.");
  Event *found = nullptr;
  if (const Status s = emu::find_event(event, __func__, &found)) return s;
  if (const Status s = need_plain(__func__, *found)) return s;
  if (const Status s = emu::refuse_captured_event(*found, __func__)) return s;
  *status = reached(*found) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status) try {
  EMU_ENTER();
  if (status == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: status is null.");
  Event *found = nullptr;
  if (const Status s = emu::find_event(event, __func__, &found)) return s;
  if (const Status s = emu::refuse_captured_event(*found, __func__)) return s;
  *status =
      reached(*found) ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status) try {
  EMU_ENTER();
  if (status == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventWaitStatus: status is null.");
  Event *found = nullptr;
  if (const Status s = emu::find_event(event, __func__, &found)) return s;
  if (const Status s = need_plain(__func__, *found)) return s;
  if (const Status s = emu::refuse_captured_event(*found, __func__)) return s;
  *status = found->state->pending_waits.load() == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE
                                                    : ACL_EVENT_WAIT_STATUS_NOT_READY;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSynchronizeEvent(aclrtEvent event) try {
  EMU_ENTER();
  Event *found = nullptr;
  if (const Status s = emu::find_event(event, __func__, &found)) return s;
  return emu::synchronize_event(*found, -1, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) try {
  EMU_ENTER();
  if (timeout < -1)
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSynchronizeEventWithTimeout: timeout is %d.",
                timeout);
  Event *found = nullptr;
  if (const Status s = emu::find_event(event, __func__, &found)) return s;
  return emu::synchronize_event(*found, timeout, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent,
                                          aclrtEvent endEvent) try {
  EMU_ENTER();
  if (ms == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: ms is null.");
  Event *start = nullptr, *end = nullptr;
  if (const Status s = emu::find_event(startEvent, __func__, &start)) return s;
  if (const Status s = emu::find_event(endEvent, __func__, &end)) return s;
  if (const Status s = need_time(__func__, *start)) return s;
  if (const Status s = need_time(__func__, *end)) return s;
  const int64_t span = end->state->cell->time_ns.load() - start->state->cell->time_ns.load();
  if (span < 0) {
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL,
                "aclrtEventElapsedTime: the end event came before the start event.");
  }
  *ms = static_cast<float>(static_cast<double>(span) / 1e6);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp) try {
  EMU_ENTER();
  if (timestamp == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtEventGetTimestamp: timestamp is null.");
  Event *found = nullptr;
  if (const Status s = emu::find_event(event, __func__, &found)) return s;
  if (const Status s = need_time(__func__, *found)) return s;
  *timestamp = static_cast<uint64_t>(found->state->cell->time_ns.load() / 1000);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId) try {
  EMU_ENTER();
  if (eventId == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetEventId: eventId is null.");
  Event *found = nullptr;
  if (const Status s = emu::find_event(event, __func__, &found)) return s;
  *eventId = found->id;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtGetEventAvailNum(uint32_t *eventCount) try {
  EMU_ENTER();
  if (eventCount == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetEventAvailNum: eventCount is null.");
  int id = 0;
  if (const Status s = emu::current_device(__func__, &id)) return s;
  *eventCount = emu::kMaxEvents - emu::device(id).live_events.load();
  return 0;
}
EMU_CATCH
