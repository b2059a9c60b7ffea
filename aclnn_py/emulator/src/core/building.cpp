// SPDX-License-Identifier: Apache-2.0
// Model instances built by hand: several streams record, which start each other and jump.
#include "acl/acl_base.h"
#include "core/capture_session.h"
#include "core/context.h"
#include "core/graph.h"

namespace emu {
namespace {

// The session in which a stream records for an instance that is being built.
Status find_building(Stream &stream, const char *routine,
                     std::shared_ptr<CaptureSession> *session) {
  const CaptureSession *raw = stream.capture.load();
  *session = raw != nullptr ? shared_of(raw) : nullptr;
  if (*session == nullptr || !(*session)->building) {
    return fail(ACL_ERROR_RT_STREAM_MODEL,
                "%s: stream %d is bound to no model instance that is being built "
                "(aclmdlRIBindStream).",
                routine, stream.id);
  }
  return 0;
}

}  // namespace

Status begin_building(Stream &stream, GraphHandle &handle, bool waits, const char *routine) {
  const auto session = handle.capture_id != 0 ? find_session(handle.capture_id) : nullptr;
  if (session == nullptr) {
    if (const Status s =
            begin_capture_into(stream, handle, ACL_MODEL_RI_CAPTURE_MODE_RELAXED, routine))
      return s;
    find_session(handle.capture_id)->building = true;
    handle.graph->branches[0].waits = waits;
    return 0;
  }
  if (const Status s = check_can_begin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED, routine))
    return s;
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->invalid) return invalidated(*session, routine);
  auto &branches = session->graph->branches;
  session->members.reserve(session->members.size() + 1);
  branches.emplace_back();
  branches.back().waits = waits;
  session->members.push_back(&stream);
  stream.capture.store(session.get());
  return 0;
}

void leave_building(Stream &stream) { stream.capture.store(nullptr); }

Status end_building(GraphHandle &handle, Context &context, const char *routine) {
  const auto session = find_session(handle.capture_id);
  if (session == nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                "%s: the tasks of the model instance are lost.", routine);
  }
  close_session(*session);
  std::lock_guard<std::mutex> lock(session->mutex);
  Status status = check_can_end(*session, routine);
  auto &branches = session->graph->branches;
  for (size_t i = 0; branches.size() > 1 && i < branches.size() && status == 0; ++i)
    branches[i].worker = create_stream(context, 0, 0, routine, &status);
  return finish_session(*session, status);
}

Status record_start(Stream &stream, size_t branch, const char *routine) {
  std::shared_ptr<CaptureSession> session;
  if (const Status s = find_building(stream, routine, &session)) return s;
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->invalid) return invalidated(*session, routine);
  GraphNode node;
  node.kind = GraphNode::Kind::kStart;
  node.what = routine;
  node.started = branch;
  append(*session, branch_of(*session, stream), std::move(node));
  return 0;
}

Status record_jump(Stream &stream, Jump jump, const char *routine) {
  std::shared_ptr<CaptureSession> session;
  if (const Status s = find_building(stream, routine, &session)) return s;
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->invalid) return invalidated(*session, routine);
  GraphNode node;
  node.kind = GraphNode::Kind::kJump;
  node.what = routine;
  node.jump = std::make_shared<const Jump>(std::move(jump));
  append(*session, branch_of(*session, stream), std::move(node));
  return 0;
}

Status find_branch(Stream &stream, Stream &wanted, const char *routine, size_t *branch) {
  std::shared_ptr<CaptureSession> session;
  if (const Status s = find_building(stream, routine, &session)) return s;
  std::lock_guard<std::mutex> lock(session->mutex);
  *branch = branch_of(*session, wanted);
  if (*branch < session->members.size()) return 0;
  return fail(ACL_ERROR_RT_STREAM_MODEL,
              "%s: streams %d and %d are not bound to the same model instance.", routine, wanted.id,
              stream.id);
}

Status next_place(Stream &stream, const char *routine, GraphPlace *place, uint32_t *graph) {
  std::shared_ptr<CaptureSession> session;
  if (const Status s = find_building(stream, routine, &session)) return s;
  std::lock_guard<std::mutex> lock(session->mutex);
  if (session->invalid) return invalidated(*session, routine);
  place->branch = branch_of(*session, stream);
  place->node = session->graph->branches[place->branch].nodes.size();
  *graph = session->graph->id;
  return 0;
}

}  // namespace emu
