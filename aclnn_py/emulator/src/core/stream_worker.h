// SPDX-License-Identifier: Apache-2.0
// Who runs the tasks of a stream: its worker, or a thread that waits for them.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

#include "core/stream.h"

namespace emu {

// ACLNN_PY_EMULATOR_INLINE
enum class Inline { automatic, always, never };
Inline inline_mode();

// Who asks for work, and until when.
struct Runner {
  RunBy as;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

// Starts the thread that runs the tasks of a stream from now on.
Status start_worker(Stream &stream);
// Waits for the end of a worker that was told to stop.
void end_worker(Stream &stream);

// Wakes the worker if it sleeps. The caller holds the lock of the stream.
void rouse(Stream &stream);

// Runs the queued tasks up to the one numbered `last`, unless another thread is running them. The
// lock is held on entry and on return.
void help(Stream &stream, std::unique_lock<std::mutex> &lock, uint64_t last, Runner who);

}  // namespace emu
