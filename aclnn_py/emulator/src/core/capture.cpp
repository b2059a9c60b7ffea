// SPDX-License-Identifier: Apache-2.0
#include "core/capture.h"

#include <algorithm>
#include <map>

#include "acl/acl_base.h"
#include "core/capture_session.h"
#include "core/context.h"
#include "core/device.h"
#include "core/graph.h"
#include "faults/modes.h"

namespace emu {
namespace {

struct Sessions {
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<CaptureSession>> active;
  uint64_t next = 1;
};

Sessions &sessions() {
  static auto *const all = new Sessions;
  return *all;
}

// number of active captures; calls outside of any capture need no lock while it is 0
std::atomic<int> g_active{0};
thread_local aclmdlRICaptureMode t_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

void invalidate(CaptureSession &session, const std::string &why) {
  std::lock_guard<std::mutex> lock(session.mutex);
  if (!session.invalid) session.why_invalid = why;
  session.invalid = true;
}

void merge(std::vector<size_t> &into, const std::vector<size_t> &from) {
  if (into.size() < from.size()) into.resize(from.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace

std::shared_ptr<CaptureSession> open_session(Stream &stream, CaptureSession::Kind kind,
                                             aclmdlRICaptureMode mode) {
  auto session = std::make_shared<CaptureSession>();
  session->kind = kind;
  session->mode = mode;
  session->thread = std::this_thread::get_id();
  session->origin = &stream;
  session->members.push_back(&stream);
  std::lock_guard<std::mutex> lock(sessions().mutex);
  session->id = sessions().next++;
  sessions().active[session->id] = session;
  g_active.fetch_add(1);
  return session;
}

std::shared_ptr<CaptureSession> find_session(uint64_t id) {
  std::lock_guard<std::mutex> lock(sessions().mutex);
  const auto at = sessions().active.find(id);
  return at == sessions().active.end() ? nullptr : at->second;
}

std::shared_ptr<CaptureSession> shared_of(const CaptureSession *session) {
  return find_session(session->id);
}

size_t branch_of(const CaptureSession &session, const Stream &stream) {
  return static_cast<size_t>(std::find(session.members.begin(), session.members.end(), &stream) -
                             session.members.begin());
}

// Does everything or, when it throws, nothing.
void append(CaptureSession &session, size_t branch, GraphNode node) {
  GraphBranch &mine = session.graph->branches[branch];
  if (mine.clock.size() <= branch) mine.clock.resize(branch + 1, 0);
  mine.nodes.push_back(std::move(node));
  mine.clock[branch] = mine.nodes.size();
}

Status invalidated(CaptureSession &session, const char *routine) {
  return fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "%s: the capture is invalid: %s", routine,
              session.why_invalid.c_str());
}

void close_session(CaptureSession &session) {
  for (Stream *member : session.members) {
    CaptureSession *mine = &session;
    if (streams().live(member)) member->capture.compare_exchange_strong(mine, nullptr);
  }
  std::lock_guard<std::mutex> lock(sessions().mutex);
  if (sessions().active.erase(session.id) != 0) g_active.fetch_sub(1);
}

Status check_can_begin(Stream &stream, aclmdlRICaptureMode mode, const char *routine) {
  if (mode < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %d is not a capture mode.", routine,
                static_cast<int>(mode));
  }
  if (stream.context.default_stream.load() == &stream) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "%s: the default stream cannot be captured.",
                routine);
  }
  if (stream.capture.load() != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, "%s: stream %d is being captured already.", routine,
                stream.id);
  }
  return 0;
}

Status check_can_end(CaptureSession &session, const char *routine) {
  if (session.invalid) return invalidated(session, routine);
  if (session.group == nullptr) return 0;
  return fail(ACL_ERROR_STREAM_TASK_GROUP_INTR, "%s: a task group is still open.", routine);
}

bool capture_is_active(uint64_t id) {
  return g_active.load(std::memory_order_relaxed) > 0 && find_session(id) != nullptr;
}

void invalidate_capture(uint64_t id) {
  if (const auto session = find_session(id))
    invalidate(*session, "something captured was asked about or waited for.");
}

aclmdlRICaptureMode exchange_thread_mode(aclmdlRICaptureMode mode) {
  return std::exchange(t_mode, mode);
}

Status begin_capture(Stream &stream, aclmdlRICaptureMode mode, const char *routine) {
  if (const Status s = check_can_begin(stream, mode, routine)) return s;
  auto handle = graph_handles().guard(graph_handles().create());
  if (handle == nullptr)
    return fail(ACL_ERROR_RT_NO_MODEL_RESOURCE, "%s: too many model instances.", routine);
  handle->graph = std::make_shared<Graph>(stream.device);
  const Status status = begin_capture_into(stream, *handle, mode, routine);
  if (status == 0) handle.release();
  return status;
}

Status begin_capture_into(Stream &stream, GraphHandle &handle, aclmdlRICaptureMode mode,
                          const char *routine) {
  if (const Status s = check_can_begin(stream, mode, routine)) return s;
  if (handle.capture_id != 0 && capture_is_active(handle.capture_id)) {
    return fail(ACL_ERROR_RT_MODEL_CAPTURED, "%s: the model instance is being captured already.",
                routine);
  }
  if (handle.graph->complete) {
    return fail(ACL_ERROR_RT_MODEL_CAPTURED, "%s: the model instance holds a finished capture.",
                routine);
  }
  auto session = open_session(stream, CaptureSession::Kind::kCapture, mode);
  session->graph = handle.graph;
  session->handle = &handle;
  handle.capture_id = session->id;
  stream.capture.store(session.get());
  return 0;
}

Status record_task(CaptureSession &raw_session, Stream &stream, const char *what, Task task) {
  const auto session = shared_of(&raw_session);
  if (session == nullptr)
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "%s: the capture has just ended.", what);
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->invalid) return invalidated(*session, what);
  GraphNode node;
  node.what = what;
  node.task = std::make_shared<Task>(std::move(task));
  if (faults::checking()) node.site = std::make_shared<const faults::Site>(faults::site_here());
  if (session->kind == CaptureSession::Kind::kUpdate) {
    session->updates.push_back(std::move(node));
    return 0;
  }
  const size_t branch = branch_of(*session, stream);
  TaskGroup *group = session->group_stream == &stream ? session->group : nullptr;
  if (group != nullptr)
    group->places.emplace_back(branch, session->graph->branches[branch].nodes.size());
  try {
    append(*session, branch, std::move(node));
  } catch (...) {
    if (group != nullptr) group->places.pop_back();
    throw;
  }
  return 0;
}

Status capture_record(CaptureSession &raw_session, Stream &stream, EventState &event,
                      const char *routine) {
  const auto session = shared_of(&raw_session);
  if (session == nullptr)
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "%s: the capture has just ended.", routine);
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->invalid) return invalidated(*session, routine);
  if (session->kind == CaptureSession::Kind::kUpdate) {
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "%s: stream %d is updating a task group.",
                routine, stream.id);
  }
  const size_t branch = branch_of(*session, stream), flag = session->graph->flag_clocks.size();
  GraphNode node;
  node.kind = GraphNode::Kind::kRecord;
  node.what = "aclrtRecordEvent";
  node.flag = flag;
  auto &clocks = session->graph->flag_clocks;
  clocks.emplace_back();
  try {
    clocks.back().reserve(std::max(branch + 1, session->graph->branches[branch].clock.size()));
    append(*session, branch, std::move(node));
  } catch (...) {
    clocks.pop_back();
    throw;
  }
  clocks.back() = session->graph->branches[branch].clock;  // there is room for it
  std::lock_guard<std::mutex> event_lock(event.mutex);
  event.capture_id = session->id;
  event.capture_flag = flag;
  return 0;
}

Status capture_wait(Stream &stream, EventState &event, const char *routine) {
  uint64_t id = 0;
  size_t flag = 0;
  {
    std::lock_guard<std::mutex> lock(event.mutex);
    id = event.capture_id;
    flag = event.capture_flag;
  }
  CaptureSession *current = stream.capture.load();
  const auto session = id != 0 ? find_session(id) : nullptr;
  if (current != nullptr && current->kind == CaptureSession::Kind::kUpdate) {
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "%s: stream %d is updating a task group.",
                routine, stream.id);
  }
  if (session == nullptr) {
    if (const auto mine = shared_of(current)) {
      invalidate(*mine, "it was to wait for an event that was not recorded in it.");
    }
    return fail(ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                "%s: stream %d is being captured and the event was not recorded in that capture; "
                "the capture is now invalid.",
                routine, stream.id);
  }
  if (current != nullptr && current->id != id) {
    if (const auto mine = shared_of(current))
      invalidate(*mine, "it was to wait for an event of another capture.");
    return fail(ACL_ERROR_STREAM_CAPTURE_CONFLICT,
                "%s: the event and stream %d belong to different captures.", routine, stream.id);
  }
  if (stream.context.default_stream.load() == &stream) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                "%s: the default stream cannot join a capture.", routine);
  }
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->invalid) return invalidated(*session, routine);
  const size_t branch = branch_of(*session, stream);
  auto &branches = session->graph->branches;
  const bool joins = branch == session->members.size();
  if (joins) session->members.push_back(&stream);
  try {
    if (joins) branches.emplace_back();
    GraphNode node;
    node.kind = GraphNode::Kind::kWait;
    node.what = "aclrtStreamWaitEvent";
    node.flag = flag;
    const auto &known = session->graph->flag_clocks[flag];
    branches[branch].clock.resize(std::max(branches[branch].clock.size(), known.size()), 0);
    append(*session, branch, std::move(node));
    merge(branches[branch].clock, known);
  } catch (...) {
    if (joins) {
      session->members.pop_back();
      branches.resize(branch);
    }
    throw;
  }
  if (joins) stream.capture.store(session.get());
  return 0;
}

Status finish_session(CaptureSession &session, Status status) {
  GraphHandle *handle = session.handle;
  handle->capture_id = 0;
  if (session.group != nullptr && task_groups().retire(session.group))
    task_groups().destroy(session.group);
  if (status != 0) {
    if (graph_handles().retire(handle)) graph_handles().destroy(handle);
    return status;
  }
  handle->graph->complete = true;
  return 0;
}

Status capture_reset(CaptureSession &raw_session, Stream &stream, EventState &event,
                     const char *routine, bool *done) {
  const auto session = shared_of(&raw_session);
  if (session == nullptr || session->kind != CaptureSession::Kind::kCapture) return 0;
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->invalid) return invalidated(*session, routine);
  GraphNode node;
  {
    std::lock_guard<std::mutex> event_lock(event.mutex);
    if (event.capture_id != session->id) return 0;
    node.flag = event.capture_flag;
  }
  node.kind = GraphNode::Kind::kReset;
  node.what = "aclrtResetEvent";
  append(*session, branch_of(*session, stream), std::move(node));
  *done = true;
  return 0;
}

Status end_capture(Stream &stream, const char *routine, aclmdlRI *out) {
  CaptureSession *raw = stream.capture.load();
  const auto session = raw != nullptr ? shared_of(raw) : nullptr;
  if (session == nullptr || session->kind != CaptureSession::Kind::kCapture) {
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "%s: stream %d is not being captured.", routine,
                stream.id);
  }
  if (session->origin != &stream) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                "%s: the capture began on stream %d, not on stream %d.", routine,
                session->origin->id, stream.id);
  }
  if (session->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED &&
      session->thread != std::this_thread::get_id()) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                "%s: a capture that is not relaxed ends on the thread that began it.", routine);
  }
  close_session(*session);
  std::lock_guard<std::mutex> lock(session->mutex);
  Status status = check_can_end(*session, routine);
  auto &branches = session->graph->branches;
  for (size_t i = 1; i < branches.size() && status == 0; ++i) {
    const auto &known = branches[0].clock;
    if (known.size() <= i || known[i] < branches[i].nodes.size()) {
      status = fail(ACL_ERROR_RT_STREAM_UNJOINED,
                    "%s: stream %d took part in the capture and was not joined back: record an "
                    "event on it and let the stream of the capture wait for that.",
                    routine, session->members[i]->id);
    }
  }
  for (size_t i = 1; i < branches.size() && status == 0; ++i) {
    branches[i].worker = create_stream(stream.context, 0, 0, routine, &status);
  }
  const Status finished = finish_session(*session, status);
  *out = finished == 0 ? session->handle : nullptr;
  return finished;
}

void abandon_capture(CaptureSession &raw) {
  const auto session = shared_of(&raw);
  if (session == nullptr) return;
  close_session(*session);
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->handle != nullptr && graph_handles().retire(session->handle))
    graph_handles().destroy(session->handle);
}

Status refuse_while_captured(Stream &stream, const char *routine) {
  CaptureSession *raw = stream.capture.load();
  if (const auto session = raw != nullptr ? shared_of(raw) : nullptr) {
    invalidate(*session, "its stream was waited for or asked about.");
  }
  return fail(ACL_ERROR_RT_STREAM_CAPTURED,
              "%s: stream %d is being captured, its work has not run; the capture is now invalid.",
              routine, stream.id);
}

Status check_unsafe_call(const char *routine, Status code) {
  if (g_active.load(std::memory_order_relaxed) == 0 || t_mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
    return 0;
  bool refused = false;
  {
    std::lock_guard<std::mutex> lock(sessions().mutex);
    for (auto &[id, session] : sessions().active) {
      if (session->kind != CaptureSession::Kind::kCapture) continue;
      const bool mine = session->thread == std::this_thread::get_id();
      const bool forbids = mine ? session->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED
                                : session->mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
                                      t_mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
      if (!forbids) continue;
      refused = true;
      invalidate(*session, std::string(routine) + " was called meanwhile.");
    }
  }
  if (!refused) return 0;
  return fail(code,
              "%s: not while a stream is being captured in this mode; the capture is now invalid.",
              routine);
}

Status capture_info(Stream &stream, aclmdlRICaptureStatus *status, aclmdlRI *graph) {
  CaptureSession *raw = stream.capture.load(std::memory_order_acquire);
  if (raw == nullptr) return 0;
  const auto session = shared_of(raw);
  if (session == nullptr || session->kind != CaptureSession::Kind::kCapture) return 0;
  std::lock_guard<std::mutex> lock(session->mutex);
  if (status != nullptr) {
    *status = session->invalid ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                               : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  }
  if (graph != nullptr) *graph = session->handle;
  return 0;
}

void name_signal(Stream &stream, const Signal &signal) {
  CaptureSession *raw = stream.capture.load();
  const auto session = raw != nullptr ? shared_of(raw) : nullptr;
  if (session == nullptr) return;
  auto made = std::make_shared<const Signal>(signal);
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->kind == CaptureSession::Kind::kUpdate) {
    if (!session->updates.empty()) session->updates.back().signal = std::move(made);
    return;
  }
  auto &nodes = session->graph->branches[branch_of(*session, stream)].nodes;
  if (!nodes.empty()) nodes.back().signal = std::move(made);
}

}  // namespace emu
