// SPDX-License-Identifier: Apache-2.0
// Capture and replay: aclmdlRI...
#include "core/capture.h"

#include <cstdio>
#include <cstring>

#include "acl/acl_rt.h"
#include "core/export.h"
#include "core/graph.h"
#include "core/process.h"
#include "runtime/graph_building.h"
#include "runtime/graph_callbacks.h"

using emu::fail;
using emu::Status;

namespace {

// A stream that is being captured is found like any other; null is the default stream, which never
// is.
Status find_stream(const char *routine, aclrtStream raw, emu::Stream **stream) {
  EMU_ENTER_AS(routine);
  return emu::resolve(raw, routine, stream);
}

const char *kind_name(emu::GraphNode::Kind kind) {
  switch (kind) {
    case emu::GraphNode::Kind::kTask: return "task";
    case emu::GraphNode::Kind::kRecord: return "record";
    default: return "wait";
  }
}

}  // namespace

EMU_EXPORT aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) try {
  EMU_TIMED();
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  return emu::begin_capture(*found, mode, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus *status,
                                           aclmdlRI *modelRI) try {
  EMU_TIMED();
  // Some programs ask before every operator: no lock unless the stream is being captured.
  if (status == nullptr && modelRI == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureGetInfo: both outputs are null.");
  }
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  if (modelRI != nullptr) *modelRI = nullptr;
  if (status != nullptr) *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  return emu::capture_info(*found, status, modelRI);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI) try {
  EMU_TIMED();
  if (modelRI == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureEnd: modelRI is null.");
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  return emu::end_capture(*found, __func__, modelRI);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode *mode) try {
  EMU_ENTER();
  if (mode == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureThreadExchangeMode: mode is null.");
  if (*mode < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || *mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRICaptureThreadExchangeMode: %d is not a mode.",
                static_cast<int>(*mode));
  }
  *mode = emu::exchange_thread_mode(*mode);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) try {
  EMU_TIMED();
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  return emu::execute_graph(handle->graph, *found, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) try {
  EMU_ENTER();
  if (timeout < -1)
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIExecute: timeout is %d.", timeout);
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  emu::Stream *stream = nullptr;
  if (const Status s = emu::resolve(nullptr, __func__, &stream)) return s;
  if (const Status s = emu::execute_graph(handle->graph, *stream, __func__)) return s;
  return emu::synchronize(*stream, timeout, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIDestroy(aclmdlRI modelRI) try {
  EMU_ENTER();
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  if (handle->capture_id != 0 && emu::capture_is_active(handle->capture_id)) {
    return fail(ACL_ERROR_RT_MODEL_CAPTURED,
                "aclmdlRIDestroy: the model instance is being captured.");
  }
  if (!emu::graph_handles().retire(handle)) return emu::find_graph(modelRI, __func__, &handle);
  emu::forget_building(handle->graph->id);
  emu::tell_graph_end(handle->graph->id);
  emu::graph_handles().destroy(handle);  // replays that are queued keep the graph itself
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIAbort(aclmdlRI modelRI) try {
  EMU_ENTER();
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  handle->graph->abort.store(true);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t *modelRIId) try {
  EMU_ENTER();
  if (modelRIId == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIGetId: modelRIId is null.");
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  *modelRIId = handle->graph->id;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRISetName(aclmdlRI modelRI, const char *name) try {
  EMU_ENTER();
  if (name == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRISetName: name is null.");
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  handle->graph->name = name;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char *name) try {
  EMU_ENTER();
  if (name == nullptr || maxLen == 0)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIGetName: name is null or maxLen is 0.");
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  std::snprintf(name, maxLen, "%s", handle->graph->name.c_str());
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIDebugPrint(aclmdlRI modelRI) try {
  EMU_ENTER();
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  const emu::Graph &graph = *handle->graph;
  std::printf("graph %u on device %d: %zu branches, %zu nodes\n", graph.id, graph.device,
              graph.branches.size(), graph.task_count());
  for (size_t i = 0; i < graph.branches.size(); ++i) {
    for (const emu::GraphNode &node : graph.branches[i].nodes) {
      std::printf("  branch %zu: %s %s\n", i, kind_name(node.kind), node.what);
    }
  }
  std::fflush(stdout);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags) try {
  EMU_ENTER();
  if (path == nullptr || flags > ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIDebugJsonPrint: path is null or flags are %u.",
                flags);
  }
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  std::FILE *file = std::fopen(path, "w");
  if (file == nullptr) {
    return fail(ACL_ERROR_RT_FILE_OPEN, "aclmdlRIDebugJsonPrint: %s: %s.", path,
                std::strerror(errno));
  }
  // The trace event format, one track per branch, the place in the branch as time.
  const emu::Graph &graph = *handle->graph;
  std::fputs("[", file);
  const char *comma = "";
  for (size_t i = 0; i < graph.branches.size(); ++i) {
    size_t at = 0;
    for (const emu::GraphNode &node : graph.branches[i].nodes) {
      std::fprintf(file,
                   "%s\n{\"name\": \"%s\", \"ph\": \"X\", \"pid\": %u, \"tid\": %zu, \"ts\": %zu, "
                   "\"dur\": 1",
                   comma, node.what, graph.id, i, at++);
      if (flags == ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE) {
        std::fprintf(file, ", \"args\": {\"kind\": \"%s\", \"flag\": %zu}", kind_name(node.kind),
                     node.flag);
      }
      std::fputs("}", file);
      comma = ",";
    }
  }
  std::fputs("\n]\n", file);
  if (std::fclose(file) != 0) {
    return fail(ACL_ERROR_RT_FILE_WRITE, "aclmdlRIDebugJsonPrint: %s: %s.", path,
                std::strerror(errno));
  }
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) try {
  EMU_TIMED();
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  return emu::begin_group(*found, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *handle) try {
  EMU_TIMED();
  if (handle == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICaptureTaskGrpEnd: handle is null.");
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  return emu::end_group(*found, __func__, handle);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) try {
  EMU_TIMED();
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  return emu::begin_update(*found, handle, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) try {
  EMU_TIMED();
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  return emu::end_update(*found, __func__);
}
EMU_CATCH

// --- into an instance at hand, and conditional bodies ----------------------------------

EMU_EXPORT aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                                  aclmdlRICaptureMode mode) try {
  EMU_TIMED();
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  emu::GraphHandle *handle = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &handle)) return s;
  return emu::begin_capture_into(*found, *handle, mode, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
                                             aclmdlRICondHandleFlag flag,
                                             aclmdlRICondHandle *handle) try {
  EMU_ENTER();
  if (handle == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICondHandleCreate: handle is null.");
  emu::GraphHandle *owner = nullptr;
  if (const Status s = emu::find_graph(modelRI, __func__, &owner)) return s;
  return emu::create_condition(*owner->graph, defaultLaunchValue,
                               flag == ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, __func__, handle);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t **ptr) try {
  EMU_ENTER();
  if (ptr == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRICondHandleGetCondPtr: ptr is null.");
  return emu::condition_address(handle, __func__, ptr);
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream,
                                        uint32_t flags) try {
  EMU_TIMED();
  if (flags != 0) return fail(ACL_ERROR_RT_PARAM_INVALID, "aclmdlRIAddCondTask: flags must be 0.");
  if (params.modelRIArray == nullptr || params.size == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIAddCondTask: modelRIArray is null or size is 0.");
  }
  emu::Stream *found = nullptr;
  if (const Status s = find_stream(__func__, stream, &found)) return s;
  return emu::add_condition_task(*found, params, __func__);
}
EMU_CATCH
