// SPDX-License-Identifier: Apache-2.0
// Model instances built by hand: a stream is bound to one, what is launched on it is kept, and each
// execution of the instance runs that. It is the recording of aclmdlRICapture... under other names;
// an instance has one stream here.
#include "runtime/graph_building.h"

#include <map>
#include <mutex>
#include <new>

#include "acl/acl_rt.h"
#include "core/capture.h"
#include "core/device.h"
#include "core/export.h"
#include "core/graph.h"
#include "core/process.h"

namespace emu {
namespace {

struct Building {
  enum class Stage : uint8_t { open, recording, recorded, built };
  Stage stage = Stage::open;
  Stream *stream = nullptr;  // bound, until aclmdlRIUnbindStream
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
    if (building.stream == stream) building.stream = nullptr;
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

// The same with the stream, which must be the one that is bound.
Status find_bound(const char *routine, aclmdlRI raw, aclrtStream raw_stream, Building **building) {
  GraphHandle *handle = nullptr;
  if (const Status s = find(routine, raw, &handle, building)) return s;
  if (raw_stream == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: stream is null.", routine);
  Stream *stream = nullptr;
  if (const Status s = resolve(raw_stream, routine, &stream)) return s;
  if ((*building)->stream == stream) return 0;
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
    if (building.stream == &stream) {
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
  if (building->stage != Building::Stage::open || flag != ACL_MODEL_STREAM_FLAG_HEAD) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclmdlRIBindStream: model instances of this device have one stream, which runs "
                "from the start (ACL_MODEL_STREAM_FLAG_HEAD).");
  }
  if (const Status s =
          emu::begin_capture_into(*found, *handle, ACL_MODEL_RI_CAPTURE_MODE_RELAXED, __func__))
    return s;
  building->stage = Building::Stage::recording;
  building->stream = found;
  return 0;
}
EMU_CATCH

// The recording ends here; the instance can be executed from aclmdlRIBuildEnd on.
EMU_EXPORT aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) try {
  EMU_TIMED();
  std::lock_guard<std::mutex> lock(registry().mutex);
  Building *building = nullptr;
  if (const Status s = emu::find_bound(__func__, modelRI, stream, &building)) return s;
  if (building->stage != Building::Stage::recording) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclmdlRIEndTask: the end of the tasks was marked before.");
  }
  aclmdlRI recorded = nullptr;
  if (const Status s = emu::end_capture(*building->stream, __func__, &recorded)) return s;
  static_cast<emu::GraphHandle *>(recorded)->graph->complete = false;
  building->stage = Building::Stage::recorded;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void *reserve) try {
  EMU_TIMED();
  if (reserve != nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIBuildEnd: reserve must be null.");
  std::lock_guard<std::mutex> lock(registry().mutex);
  emu::GraphHandle *handle = nullptr;
  Building *building = nullptr;
  if (const Status s = emu::find(__func__, modelRI, &handle, &building)) return s;
  if (building->stage != Building::Stage::recorded) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIBuildEnd: %s.",
                building->stage == Building::Stage::open ? "aclmdlRIBindStream comes first"
                : building->stage == Building::Stage::recording
                    ? "aclmdlRIEndTask comes first"
                    : "the model instance is built already");
  }
  handle->graph->complete = true;
  building->stage = Building::Stage::built;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) try {
  EMU_TIMED();
  std::lock_guard<std::mutex> lock(registry().mutex);
  Building *building = nullptr;
  if (const Status s = emu::find_bound(__func__, modelRI, stream, &building)) return s;
  if (building->stage == Building::Stage::recording) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIUnbindStream: aclmdlRIEndTask comes first.");
  }
  building->stream = nullptr;
  return 0;
}
EMU_CATCH
