// SPDX-License-Identifier: Apache-2.0
// Model instances built by hand: streams are bound to one, what is launched on them is kept, and
// each execution of the instance runs that. It is the recording of aclmdlRICapture... under other
// names. Which stream runs when, say aclrtActiveStream, aclrtSwitchStream and labels
// (runtime/graph_jumps.cpp).
#include "runtime/graph_building.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "acl/acl_rt.h"
#include "core/context.h"
#include "core/device.h"
#include "core/export.h"
#include "core/graph.h"
#include "core/process.h"

namespace emu {
namespace {

struct Bound {
  Stream *stream;
  bool ended = false;  // aclmdlRIEndTask
};

struct Building {
  bool bound = false, ended = false;  // any stream, ever
  bool built = false;
  std::vector<Bound> streams;  // until aclmdlRIUnbindStream
};

struct Registry {
  std::mutex mutex;
  std::map<uint32_t, Building> by_graph;
};

Registry &registry() {
  // In place: who ends a graph needs no memory for it.
  alignas(Registry) static unsigned char place[sizeof(Registry)];
  static auto *const instance = ::new (static_cast<void *>(place)) Registry;
  return *instance;
}

void forget_stream(Stream *stream) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  for (auto &[graph, building] : registry().by_graph) {
    auto &all = building.streams;
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const Bound &bound) { return bound.stream == stream; }),
              all.end());
  }
}

// The instance under construction; the registry's lock is held.
Status find(const char *routine, aclmdlRI raw, GraphHandle **handle, Building **building) {
  EMU_ENTER_AS(routine);
  if (const Status s = find_graph(raw, routine, handle)) return s;
  const auto at = registry().by_graph.find((*handle)->graph->id);
  if (at == registry().by_graph.end()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: the model instance does not come from aclmdlRIBuildBegin.", routine);
  }
  *building = &at->second;
  return 0;
}

// The same with a stream that is bound to it.
Status find_bound(const char *routine, aclmdlRI raw, aclrtStream raw_stream, Building **building,
                  Bound **bound) {
  GraphHandle *handle = nullptr;
  if (const Status s = find(routine, raw, &handle, building)) return s;
  if (raw_stream == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: stream is null.", routine);
  Stream *stream = nullptr;
  if (const Status s = resolve(raw_stream, routine, &stream)) return s;
  for (Bound &entry : (*building)->streams) {
    if (entry.stream != stream) continue;
    *bound = &entry;
    return 0;
  }
  return fail(ACL_ERROR_RT_STREAM_MODEL, "%s: stream %d is not bound to this model instance.",
              routine, stream->id);
}

Status check_stream(const char *routine, const Stream &stream) {
  if ((stream.flags & ACL_STREAM_PERSISTENT) == 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: stream %d was created without ACL_STREAM_PERSISTENT "
                "(aclrtCreateStreamWithConfig); only such streams are bound.",
                routine, stream.id);
  }
  for (const auto &[graph, building] : registry().by_graph) {
    for (const Bound &bound : building.streams) {
      if (bound.stream != &stream) continue;
      return fail(ACL_ERROR_RT_STREAM_MODEL,
                  "%s: stream %d is bound to model instance %u; unbind it first.", routine,
                  stream.id, graph);
    }
  }
  return 0;
}

}  // namespace

void forget_building(uint32_t graph) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().by_graph.erase(graph);
}

}  // namespace emu

using emu::Bound;
using emu::Building;
using emu::fail;
using emu::registry;
using emu::Status;

EMU_EXPORT aclError aclmdlRIBuildBegin(aclmdlRI *modelRI, uint32_t flag) try {
  EMU_ENTER();
  if (modelRI == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIBuildBegin: modelRI is null.");
  if (flag != 0)
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIBuildBegin: flag is %u; it must be 0.", flag);
  int device = 0;
  if (const Status s = emu::current_device(__func__, &device)) return s;
  emu::GraphHandle *handle = emu::graph_handles().create();
  if (handle == nullptr)
    return fail(ACL_ERROR_RT_NO_MODEL_RESOURCE, "aclmdlRIBuildBegin: too many model instances.");
  handle->graph = std::make_shared<emu::Graph>(device);
  static const bool listening = (emu::at_stream_end(emu::forget_stream), true);
  (void)listening;
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().by_graph[handle->graph->id] = Building{};
  *modelRI = handle;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag) try {
  EMU_TIMED();
  std::lock_guard<std::mutex> lock(registry().mutex);
  emu::GraphHandle *handle = nullptr;
  Building *building = nullptr;
  if (const Status s = emu::find(__func__, modelRI, &handle, &building)) return s;
  if (stream == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIBindStream: stream is null.");
  emu::Stream *found = nullptr;
  if (const Status s = emu::resolve(stream, __func__, &found)) return s;
  if (flag != ACL_MODEL_STREAM_FLAG_HEAD && flag != ACL_MODEL_STREAM_FLAG_DEFAULT) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclmdlRIBindStream: flag is 0x%x; allowed are HEAD (0) and DEFAULT (0x7fffffff).",
                flag);
  }
  if (const Status s = emu::check_stream(__func__, *found)) return s;
  if (building->built) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclmdlRIBindStream: the model instance is built already.");
  }
  building->streams.reserve(building->streams.size() + 1);
  const bool waits = flag == ACL_MODEL_STREAM_FLAG_DEFAULT;
  if (const Status s = emu::begin_building(*found, *handle, waits, __func__)) return s;
  building->bound = true;
  building->streams.push_back(Bound{found});
  return 0;
}
EMU_CATCH

// The recording of the stream ends here; the instance can be executed from aclmdlRIBuildEnd on.
EMU_EXPORT aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) try {
  EMU_TIMED();
  std::lock_guard<std::mutex> lock(registry().mutex);
  Building *building = nullptr;
  Bound *bound = nullptr;
  if (const Status s = emu::find_bound(__func__, modelRI, stream, &building, &bound)) return s;
  if (bound->ended || building->built) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclmdlRIEndTask: the end of the tasks was marked before.");
  }
  emu::leave_building(*bound->stream);
  bound->ended = building->ended = true;
  return 0;
}
EMU_CATCH

// Streams whose end was not marked end here; one at least must have been.
EMU_EXPORT aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve) try {
  EMU_TIMED();
  if (reserve != nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIBuildEnd: reserve must be null.");
  std::lock_guard<std::mutex> lock(registry().mutex);
  emu::GraphHandle *handle = nullptr;
  Building *building = nullptr;
  if (const Status s = emu::find(__func__, modelRI, &handle, &building)) return s;
  if (building->built || !building->ended) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIBuildEnd: %s.",
                building->built   ? "the model instance is built already"
                : building->bound ? "aclmdlRIEndTask comes first"
                                  : "aclmdlRIBindStream comes first");
  }
  emu::Context *context = nullptr;
  if (const Status s = emu::current_context(__func__, &context)) return s;
  if (context->device != handle->graph->device) {
    return fail(ACL_ERROR_RT_MODEL_CONTEXT,
                "aclmdlRIBuildEnd: the model instance is of device %d, this thread's context of "
                "device %d.",
                handle->graph->device, context->device);
  }
  const uint32_t number = handle->graph->id;
  if (const Status s = emu::end_building(*handle, *context, __func__)) {
    if (!emu::graph_handles().live(modelRI)) registry().by_graph.erase(number);
    return s;
  }
  building->built = true;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) try {
  EMU_TIMED();
  std::lock_guard<std::mutex> lock(registry().mutex);
  Building *building = nullptr;
  Bound *bound = nullptr;
  if (const Status s = emu::find_bound(__func__, modelRI, stream, &building, &bound)) return s;
  if (!bound->ended && !building->built) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIUnbindStream: aclmdlRIEndTask comes first.");
  }
  building->streams.erase(building->streams.begin() + (bound - building->streams.data()));
  return 0;
}
EMU_CATCH
