// SPDX-License-Identifier: Apache-2.0
// Groups of captured tasks, and sessions that put other tasks in their places.
#include <cstring>
#include <utility>

#include "acl/acl_base.h"
#include "core/capture.h"
#include "core/capture_session.h"
#include "core/graph.h"

namespace emu {

Status begin_group(Stream &stream, const char *routine) {
  CaptureSession *raw = stream.capture.load();
  const auto session = raw != nullptr ? shared_of(raw) : nullptr;
  if (session == nullptr || session->kind != CaptureSession::Kind::kCapture) {
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "%s: stream %d is not being captured.", routine,
                stream.id);
  }
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->invalid) return invalidated(*session, routine);
  if (session->group != nullptr) {
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "%s: a task group is open already.", routine);
  }
  session->group = task_groups().create();
  if (session->group == nullptr)
    return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many task groups.", routine);
  session->group->graph = session->graph;
  session->group_stream = &stream;
  return 0;
}

Status end_group(Stream &stream, const char *routine, aclrtTaskGrp *out) {
  CaptureSession *raw = stream.capture.load();
  const auto session = raw != nullptr ? shared_of(raw) : nullptr;
  if (session == nullptr) {
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "%s: stream %d is not being captured.", routine,
                stream.id);
  }
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->group == nullptr || session->group_stream != &stream) {
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "%s: no task group is open on stream %d.",
                routine, stream.id);
  }
  session->graph->groups.push_back(session->group);
  *out = std::exchange(session->group, nullptr);
  return 0;
}

Status begin_update(Stream &stream, aclrtTaskGrp raw, const char *routine) {
  TaskGroup *group = task_groups().find(raw);
  if (group == nullptr || group->graph.expired()) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE,
                "%s: %p is not the handle of a task group of a live graph.", routine, raw);
  }
  if (stream.capture.load() != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, "%s: stream %d is being captured or updated.",
                routine, stream.id);
  }
  auto session =
      open_session(stream, CaptureSession::Kind::kUpdate, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  session->group = group;
  session->graph = group->graph.lock();
  stream.capture.store(session.get());
  return 0;
}

Status end_update(Stream &stream, const char *routine) {
  CaptureSession *raw = stream.capture.load();
  const auto session = raw != nullptr ? shared_of(raw) : nullptr;
  if (session == nullptr || session->kind != CaptureSession::Kind::kUpdate) {
    return fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "%s: stream %d is not updating a task group.",
                routine, stream.id);
  }
  close_session(*session);
  const auto &places = session->group->places;
  const auto graph = session->graph;
  if (session->updates.size() != places.size()) {
    return fail(ACL_ERROR_RT_MODEL_UPDATE_FAILED,
                "%s: the task group has %zu tasks, %zu were given.", routine, places.size(),
                session->updates.size());
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const GraphNode &old = graph->branches[places[i].first].nodes[places[i].second];
    if (std::strcmp(old.what, session->updates[i].what) != 0) {
      return fail(ACL_ERROR_RT_MODEL_UPDATE_FAILED,
                  "%s: task %zu of the group is %s, %s cannot take its place.", routine, i,
                  old.what, session->updates[i].what);
    }
  }
  // The update is itself a task of the stream: work queued before it sees the old tasks.
  return enqueue_on(stream, "task group update", [session, graph]() -> Status {
    std::lock_guard<std::mutex> lock(graph->nodes_mutex);
    for (size_t i = 0; i < session->updates.size(); ++i) {
      const auto [branch, node] = session->group->places[i];
      graph->branches[branch].nodes[node].task = session->updates[i].task;
      graph->branches[branch].nodes[node].signal = session->updates[i].signal;
    }
    return 0;
  });
}

}  // namespace emu
