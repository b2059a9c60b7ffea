// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/slots.h"
#include "core/status.h"

namespace emu {

struct Stream;

// A context groups streams and events of one device. The primary context of a device lives as long
// as the process; explicit ones are created and destroyed by the program.
struct Context {
  explicit Context(int device_id, bool is_primary) : device(device_id), primary(is_primary) {}

  const int device;
  const bool primary;
  std::mutex mutex;
  std::atomic<Stream *> default_stream{nullptr};
  std::vector<Stream *> streams;  // guarded by mutex; the default stream included
  std::atomic<bool> stop_on_failure{false};
  int64_t sys_param[8] = {};  // guarded by mutex
  bool sys_param_set[8] = {};
};

Slots<Context> &contexts();

// Calls f for every live context of a device; none is created or destroyed meanwhile.
void for_each_context(int device, const std::function<void(Context &)> &f);

// The thread's context, or 107002 when it has none.
Status current_context(const char *routine, Context **context);

// The same without a message: null when there is none.
Context *peek_context();

void set_current_context(Context *context);

// The context's default stream, created at the first call.
Stream *default_stream(Context &context);

Context *create_context(int device);
// 107000 for a primary context, 107017 for what is not a context. Ends the context's streams.
Status destroy_context(void *handle, const char *routine);
// Ends all streams of a context; `drain` lets queued work finish first.
void end_streams(Context &context, bool drain);

}  // namespace emu
