// SPDX-License-Identifier: Apache-2.0
// Streams by their handles; describe.cpp knows them.
#pragma once

namespace emu {
struct Stream;
}

namespace emu::faults {

// The stream that a launch names; null is the default stream of this thread's context. Null when
// there is none.
Stream *launch_stream(const void *handle);
// -1 when there is none.
int launch_stream_number(const void *handle);
int stream_number(const void *handle);

}  // namespace emu::faults
