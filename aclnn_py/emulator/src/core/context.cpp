// SPDX-License-Identifier: Apache-2.0
#include "core/context.h"

#include <algorithm>

#include "acl/acl_base.h"
#include "core/device.h"
#include "core/process.h"
#include "core/stream.h"

namespace emu {
namespace {

thread_local Context *t_context = nullptr;

// Held while a context is added or removed, and during every walk over the table.
std::mutex &table_mutex() {
  static std::mutex mutex;  // not on the heap: a context ends without memory
  return mutex;
}

Context *usable(Context *context) {
  if (context == nullptr || !contexts().live(context)) return nullptr;
  if (!context->primary || device(context->device).active.load(std::memory_order_relaxed))
    return context;
  // Programs go on using device 0 after aclrtResetDevice without setting it again: it comes back.
  if (context->device != 0) return nullptr;
  device(0).active.store(true);
  return context;
}

}  // namespace

Slots<Context> &contexts() {
  static auto *const all = new Slots<Context>(1 << 16);
  return *all;
}

void for_each_context(int device, const std::function<void(Context &)> &f) {
  std::lock_guard<std::mutex> lock(table_mutex());
  contexts().for_each([&](Context *context) {
    if (context->device == device) f(*context);
  });
}

Context *peek_context() { return usable(t_context); }

Status current_context(const char *routine, Context **context) {
  *context = usable(t_context);
  if (*context != nullptr) return 0;
  return fail(ACL_ERROR_RT_CONTEXT_NULL,
              "%s: this thread has no device; call aclrtSetDevice or "
              "aclrtSetCurrentContext on it first.",
              routine);
}

void set_current_context(Context *context) { t_context = context; }

Stream *default_stream(Context &context) {
  Stream *stream = context.default_stream.load(std::memory_order_acquire);
  if (stream != nullptr) return stream;
  Status status = 0;
  Stream *made = create_stream(context, 0, 0, "default stream", &status);
  if (made == nullptr) return nullptr;
  Stream *expected = nullptr;
  if (context.default_stream.compare_exchange_strong(expected, made)) return made;
  destroy_stream(made, true, "default stream");
  return expected;
}

Context *create_context(int id) {
  watch_process();
  device(id).active.store(true);
  std::lock_guard<std::mutex> lock(table_mutex());
  return contexts().create(id, false);
}

void end_streams(Context &context, bool drain) {
  std::vector<Stream *> ending;
  {
    std::lock_guard<std::mutex> lock(context.mutex);
    ending.swap(context.streams);
  }
  context.default_stream.store(nullptr);
  // First all of their work, then the streams: a graph's branches run on streams of the same
  // context.
  for (Stream *stream : ending) {
    if (drain && streams().live(stream)) drain_stream(*stream);
  }
  for (Stream *stream : ending) {
    if (streams().live(stream)) destroy_stream(stream, drain, "end of context");
  }
}

Status destroy_context(void *handle, const char *routine) {
  if (handle == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: the context is null.", routine);
  Context *context = contexts().find(handle);
  if (context == nullptr)
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live context.", routine, handle);
  if (context->primary) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: %p is the context aclrtSetDevice made; aclrtResetDevice ends it.", routine,
                handle);
  }
  if (!contexts().retire(context)) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live context.", routine, handle);
  }
  end_streams(*context, true);
  if (t_context == context) t_context = nullptr;
  std::lock_guard<std::mutex> lock(table_mutex());
  contexts().destroy(context);
  return 0;
}

}  // namespace emu
