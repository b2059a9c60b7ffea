// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_rt.h"
#include "core/stream.h"

// Stream capture: while a stream is captured its tasks are recorded into a graph instead of run.
namespace emu {

struct EventState;
struct Graph;

Status record_task(CaptureSession &session, Stream &stream, const char *what, Task task);

// Ends the capture without a graph, because its stream is destroyed.
void abandon_capture(CaptureSession &session);

// Waiting for or querying something that is being captured is always illegal: it invalidates the
// capture and returns 107027.
Status refuse_while_captured(Stream &stream, const char *routine);

// Calls that act on the device outside of any stream while captures are going on (aclrtMemcpy,
// aclrtMemset, copies of pageable memory): refused with `code` where the capture modes of this
// thread and of the others say so, and the captures concerned are invalidated.
Status check_unsafe_call(const char *routine, Status code);

Status begin_capture(Stream &stream, aclmdlRICaptureMode mode, const char *routine);
Status end_capture(Stream &stream, const char *routine, aclmdlRI *graph);

}  // namespace emu
