// SPDX-License-Identifier: Apache-2.0
// What captures of streams and model instances built by hand share: how a session records.
#pragma once

#include "core/graph.h"

namespace emu {

std::shared_ptr<CaptureSession> open_session(Stream &stream, CaptureSession::Kind kind,
                                             aclmdlRICaptureMode mode);
std::shared_ptr<CaptureSession> find_session(uint64_t id);
std::shared_ptr<CaptureSession> shared_of(const CaptureSession *session);

// The branch of a stream; the number of members for a stream that is none.
size_t branch_of(const CaptureSession &session, const Stream &stream);
// Does everything or, when it throws, nothing.
void append(CaptureSession &session, size_t branch, GraphNode node);
Status invalidated(CaptureSession &session, const char *routine);
// Detaches the session from its streams: it records nothing afterwards.
void close_session(CaptureSession &session);
Status check_can_begin(Stream &stream, aclmdlRICaptureMode mode, const char *routine);
// What was recorded is whole: nothing made it invalid, and no task group is open.
Status check_can_end(CaptureSession &session, const char *routine);
// The graph is ready, or its handle ends when `status` is a failure; returns `status`.
Status finish_session(CaptureSession &session, Status status);

}  // namespace emu
