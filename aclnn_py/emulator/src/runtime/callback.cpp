// SPDX-License-Identifier: Apache-2.0
// Host callbacks in the order of a stream: run by a thread of the program that serves reports, or
// by the stream's own worker (aclrtLaunchHostFunc).
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "acl/acl_rt.h"
#include "core/cancel.h"
#include "core/capture.h"
#include "core/export.h"
#include "core/process.h"
#include "core/stream.h"
#include "core/undo.h"

namespace emu {
namespace {

struct Report {
  aclrtCallback run;
  void *data;
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;

  void finish() {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
    finished.notify_all();
  }
};

// The reports that wait for one thread of the program.
struct Mailbox {
  std::deque<std::shared_ptr<Report>> reports;
  std::condition_variable arrived;
};

struct Post {
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<Mailbox>> boxes;  // by thread
  std::map<Stream *, uint64_t> threads;                // who serves a stream
};

Post &post() {
  static auto *const instance = [] {
    auto made = std::make_unique<Post>();
    at_stream_end([](Stream *stream) {
      std::lock_guard<std::mutex> lock(post().mutex);
      post().threads.erase(stream);
    });
    return made.release();
  }();
  return *instance;
}

Status subscribe(const char *routine, uint64_t thread, aclrtStream raw) {
  EMU_ENTER_AS(routine);
  Stream *stream = nullptr;
  if (const Status s = resolve(raw, routine, &stream)) return s;
  std::lock_guard<std::mutex> lock(post().mutex);
  if (post().threads.count(stream) != 0) {
    return fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "%s: stream %d has a thread already.", routine,
                stream->id);
  }
  for (const auto &[served, server] : post().threads) {
    if (server == thread && served->device != stream->device) {
      return fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "%s: the thread serves device %d already.",
                  routine, served->device);
    }
  }
  post().threads[stream] = thread;
  Undo served([&] { post().threads.erase(stream); });
  if (post().boxes.count(thread) == 0) post().boxes.emplace(thread, std::make_shared<Mailbox>());
  served.keep();
  return 0;
}

Status unsubscribe(const char *routine, uint64_t thread, aclrtStream raw) {
  EMU_ENTER_AS(routine);
  Stream *stream = nullptr;
  if (const Status s = resolve(raw, routine, &stream)) return s;
  std::lock_guard<std::mutex> lock(post().mutex);
  const auto at = post().threads.find(stream);
  if (at == post().threads.end() || at->second != thread) {
    return fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "%s: the thread does not serve stream %d.", routine,
                stream->id);
  }
  post().threads.erase(at);
  for (const auto &entry : post().threads) {
    if (entry.second == thread) return 0;
  }
  // Whoever waits in aclrtProcessReport learns that there is nothing to wait for.
  post().boxes[thread]->arrived.notify_all();
  post().boxes.erase(thread);
  return 0;
}

Status process(const char *routine, int32_t timeout_ms) {
  EMU_ENTER_AS(routine);
  if (timeout_ms < -1)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: timeout is %d.", routine, timeout_ms);
  const auto thread = static_cast<uint64_t>(pthread_self());
  std::unique_lock<std::mutex> lock(post().mutex);
  const auto at = post().boxes.find(thread);
  if (at == post().boxes.end()) {
    return fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                "%s: this thread serves no stream (aclrtSubscribeReport).", routine);
  }
  const std::shared_ptr<Mailbox> box = at->second;
  const auto ready = [&] {
    const auto mine = post().boxes.find(thread);
    return !box->reports.empty() || mine == post().boxes.end() || mine->second != box || exiting();
  };
  if (timeout_ms < 0) {
    box->arrived.wait(lock, ready);
  } else if (!box->arrived.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready)) {
    return fail(ACL_ERROR_RT_REPORT_TIMEOUT, "%s: no report within %d ms.", routine, timeout_ms);
  }
  if (box->reports.empty())
    return fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "%s: the subscription has ended.", routine);
  while (!box->reports.empty()) {
    const std::shared_ptr<Report> report = box->reports.front();
    box->reports.pop_front();
    lock.unlock();
    report->run(report->data);
    report->finish();
    lock.lock();
  }
  return 0;
}

// In the worker: hand the callback to its thread, and wait for it when later work must come after.
Status deliver(Stream *served, aclrtCallback callback, void *data, bool block) {
  auto report = std::make_shared<Report>();
  report->run = callback;
  report->data = data;
  {
    std::lock_guard<std::mutex> lock(post().mutex);
    const auto at = post().threads.find(served);
    if (at == post().threads.end()) {
      return fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                  "aclrtLaunchCallback: no thread serves the stream any more.");
    }
    const auto &box = post().boxes[at->second];
    box->reports.push_back(report);
    box->arrived.notify_all();
  }
  if (!block) return 0;
  std::unique_lock<std::mutex> lock(report->mutex);
  while (!report->done && !wait_cancelled())
    report->finished.wait_for(lock, std::chrono::milliseconds(50));
  return 0;
}

Status launch(const char *routine, aclrtCallback fn, void *data, aclrtCallbackBlockType block,
              aclrtStream raw) {
  EMU_ENTER_AS(routine);
  if (fn == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: fn is null.", routine);
  if (block != ACL_CALLBACK_NO_BLOCK && block != ACL_CALLBACK_BLOCK) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: blockType is %d.", routine, static_cast<int>(block));
  }
  Stream *stream = nullptr;
  if (const Status s = resolve(raw, routine, &stream)) return s;
  {
    std::lock_guard<std::mutex> lock(post().mutex);
    if (post().threads.count(stream) == 0) {
      return fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                  "%s: no thread serves stream %d (aclrtSubscribeReport).", routine, stream->id);
    }
  }
  return enqueue_on(*stream, "aclrtLaunchCallback", [stream, fn, data, block]() -> Status {
    return deliver(stream, fn, data, block == ACL_CALLBACK_BLOCK);
  });
}

}  // namespace
}  // namespace emu

EMU_EXPORT aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) try {
  EMU_TIMED();
  return emu::subscribe(__func__, threadId, stream);
}
EMU_CATCH
EMU_EXPORT aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) try {
  EMU_TIMED();
  return emu::unsubscribe(__func__, threadId, stream);
}
EMU_CATCH
EMU_EXPORT aclError aclrtProcessReport(int32_t timeout) try {
  EMU_TIMED();
  return emu::process(__func__, timeout);
}
EMU_CATCH
EMU_EXPORT aclError aclrtLaunchCallback(aclrtCallback fn, void *userData,
                                        aclrtCallbackBlockType blockType, aclrtStream stream) try {
  EMU_TIMED();
  return emu::launch(__func__, fn, userData, blockType, stream);
}
EMU_CATCH

// The same service under its names for functions captured into graphs.
EMU_EXPORT aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) try {
  EMU_TIMED();
  return emu::subscribe(__func__, hostFuncThreadId, exeStream);
}
EMU_CATCH
EMU_EXPORT aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) try {
  EMU_TIMED();
  return emu::unsubscribe(__func__, hostFuncThreadId, exeStream);
}
EMU_CATCH
EMU_EXPORT aclError aclrtProcessHostFunc(int32_t timeout) try {
  EMU_TIMED();
  return emu::process(__func__, timeout);
}
EMU_CATCH

EMU_EXPORT aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args) try {
  EMU_ENTER();
  if (fn == nullptr) return emu::fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchHostFunc: fn is null.");
  return emu::enqueue(stream, "aclrtLaunchHostFunc", [fn, args]() -> emu::Status {
    fn(args);
    return 0;
  });
}
EMU_CATCH
