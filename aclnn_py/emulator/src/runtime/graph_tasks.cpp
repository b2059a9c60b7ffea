// SPDX-License-Identifier: Apache-2.0
// The tasks of a model instance as objects: what they are, which run no longer, and new arguments
// of those that write a number or wait for one. Changes hold from aclmdlRIUpdate on. CANN asks for
// one caller at a time; here any thread may call, and each change is made whole.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "acl/acl_rt.h"
#include "core/context.h"
#include "core/export.h"
#include "core/graph.h"
#include "core/process.h"
#include "runtime/signals.h"

namespace emu {
namespace {

// The streams of instances that were told to the program.
struct Owner {
  std::weak_ptr<Graph> graph;
  size_t branch = 0;
};
struct Registry {
  std::mutex mutex;
  std::map<const Stream *, Owner> by_stream;
};

Registry &registry() {
  // In place: a stream ends without memory.
  alignas(Registry) static unsigned char place[sizeof(Registry)];
  static auto *const instance = ::new (static_cast<void *>(place)) Registry;
  return *instance;
}

void forget_stream(Stream *stream) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().by_stream.erase(stream);
}

// Null as array asks for the count; a smaller array than that is refused.
Status check_room(const char *routine, const char *what, const void *array, uint32_t *count,
                  size_t have) {
  const uint32_t room = *count;
  *count = static_cast<uint32_t>(have);
  if (array == nullptr || room >= have) return 0;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: there is room for %u %s; the instance has %zu.",
              routine, room, what, have);
}

Status find_finished(const char *routine, aclmdlRI raw, std::shared_ptr<Graph> *graph) {
  EMU_ENTER_AS(routine);
  GraphHandle *handle = nullptr;
  if (const Status s = find_graph(raw, routine, &handle)) return s;
  if (!handle->graph->complete) {
    return fail(ACL_ERROR_RT_MODEL_CAPTURED, "%s: the model instance still takes up tasks.",
                routine);
  }
  *graph = handle->graph;
  return 0;
}

Status find_task(const char *routine, aclmdlRITask raw, GraphTask **task,
                 std::shared_ptr<Graph> *graph) {
  EMU_ENTER_AS(routine);
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: task is null.", routine);
  *task = graph_tasks().find(raw);
  if (*task != nullptr) *graph = (*task)->graph.lock();
  if (*task != nullptr && *graph != nullptr) return 0;
  return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is no task of a live model instance.", routine,
              raw);
}

// A node, and nobody else changes it meanwhile.
class LockedNode {
 public:
  LockedNode(Graph &graph, const GraphTask &task)
      : lock_(graph.nodes_mutex), node_(graph.branches[task.place.branch].nodes[task.place.node]) {}
  GraphNode &operator*() const { return node_; }
  GraphNode *operator->() const { return &node_; }

 private:
  std::lock_guard<std::mutex> lock_;
  GraphNode &node_;
};

aclmdlRITaskType type_of(const GraphNode &node) {
  switch (node.kind) {
    case GraphNode::Kind::kRecord: return ACL_MODEL_RI_TASK_EVENT_RECORD;
    case GraphNode::Kind::kWait: return ACL_MODEL_RI_TASK_EVENT_WAIT;
    case GraphNode::Kind::kReset: return ACL_MODEL_RI_TASK_EVENT_RESET;
    case GraphNode::Kind::kTask: break;
    default: return ACL_MODEL_RI_TASK_DEFAULT;
  }
  const struct {
    const char *head;
    aclmdlRITaskType type;
  } names[] = {
      {"aclnn", ACL_MODEL_RI_TASK_KERNEL},
      {"aclrtRecordEvent", ACL_MODEL_RI_TASK_EVENT_RECORD},
      {"aclrtStreamWaitEvent", ACL_MODEL_RI_TASK_EVENT_WAIT},
      {"aclrtResetEvent", ACL_MODEL_RI_TASK_EVENT_RESET},
      {"aclrtValueWrite", ACL_MODEL_RI_TASK_VALUE_WRITE},
      {"aclrtValueWait", ACL_MODEL_RI_TASK_VALUE_WAIT},
  };
  for (const auto &row : names) {
    if (std::strncmp(node.what, row.head, std::strlen(row.head)) == 0) return row.type;
  }
  return ACL_MODEL_RI_TASK_DEFAULT;
}

void *group_of(const Graph &graph, const GraphPlace &place) {
  for (void *raw : graph.groups) {
    const TaskGroup *group = task_groups().find(raw);
    if (group == nullptr) continue;
    const auto &all = group->places;
    if (std::find(all.begin(), all.end(), std::pair(place.branch, place.node)) != all.end())
      return raw;
  }
  return nullptr;
}

// Waits must not be left without what they wait for.
Status check_disabled(const char *routine, const Graph &graph) {
  std::vector<char> raised(graph.flag_clocks.size(), 0);
  for (const GraphBranch &branch : graph.branches) {
    for (const GraphNode &node : branch.nodes) {
      if (node.kind == GraphNode::Kind::kRecord && !node.will_be_disabled) raised[node.flag] = 1;
    }
  }
  for (const GraphBranch &branch : graph.branches) {
    for (const GraphNode &node : branch.nodes) {
      if (node.kind != GraphNode::Kind::kWait || node.will_be_disabled || raised[node.flag])
        continue;
      return fail(ACL_ERROR_RT_MODEL_UPDATE_FAILED,
                  "%s: the record of an event is disabled that a task still waits for.", routine);
    }
  }
  return 0;
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream *streams,
                                       uint32_t *numStreams) try {
  EMU_TIMED();
  if (numStreams == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIGetStreams: numStreams is null.");
  std::shared_ptr<emu::Graph> graph;
  if (const Status s = emu::find_finished(__func__, modelRI, &graph)) return s;
  auto &branches = graph->branches;
  if (const Status s = emu::check_room(__func__, "streams", streams, numStreams, branches.size()))
    return s;
  if (streams == nullptr) return 0;
  static const bool listening = (emu::at_stream_end(emu::forget_stream), true);
  (void)listening;
  std::lock_guard<std::mutex> lock(emu::registry().mutex);
  // The first branch of a capture runs on the stream of whoever executes it; this one names it. The
  // streams that were captured are the program's own: they end, and take other work, without it.
  emu::Stream *first = branches[0].worker != nullptr ? branches[0].worker : graph->first_stream;
  if (first == nullptr) {
    emu::Context *context = nullptr;
    if (const Status s = emu::current_context(__func__, &context)) return s;
    if (context->device != graph->device) {
      return fail(ACL_ERROR_RT_MODEL_CONTEXT, "aclmdlRIGetStreams: the instance is of device %d.",
                  graph->device);
    }
    Status status = 0;
    first = graph->first_stream = emu::create_stream(*context, 0, 0, __func__, &status);
    if (status != 0) return status;
  }
  for (size_t i = 0; i < branches.size(); ++i) {
    emu::Stream *const stream = i == 0 ? first : branches[i].worker;
    emu::registry().by_stream[stream] = {graph, i};
    streams[i] = stream;
  }
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask *tasks,
                                             uint32_t *numTasks) try {
  EMU_ENTER();
  if (stream == nullptr || numTasks == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRIGetTasksByStream: %s is null.",
                stream == nullptr ? "stream" : "numTasks");
  }
  // It outlives the lock: the end of a graph ends streams, which are looked up here.
  std::shared_ptr<emu::Graph> graph;
  std::lock_guard<std::mutex> lock(emu::registry().mutex);
  const auto at = emu::registry().by_stream.find(static_cast<const emu::Stream *>(stream));
  if (at != emu::registry().by_stream.end()) graph = at->second.graph.lock();
  if (graph == nullptr) {
    return fail(ACL_ERROR_RT_STREAM_MODEL,
                "aclmdlRIGetTasksByStream: %p is no stream of a model instance "
                "(aclmdlRIGetStreams).",
                stream);
  }
  const size_t branch = at->second.branch, count = graph->branches[branch].nodes.size();
  if (const Status s = emu::check_room(__func__, "tasks", tasks, numTasks, count)) return s;
  if (tasks == nullptr) return 0;
  if (graph->tasks.size() <= branch) graph->tasks.resize(branch + 1);
  auto &known = graph->tasks[branch];
  known.reserve(count);
  while (known.size() < count) {
    emu::GraphTask *made = emu::graph_tasks().create(emu::GraphTask{graph, {branch, known.size()}});
    if (made == nullptr) {
      return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                  "aclmdlRIGetTasksByStream: too many handles of tasks.");
    }
    known.push_back(made);
  }
  std::copy(known.begin(), known.end(), tasks);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType *type) try {
  EMU_TIMED();
  if (type == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRITaskGetType: type is null.");
  emu::GraphTask *found = nullptr;
  std::shared_ptr<emu::Graph> graph;
  if (const Status s = emu::find_task(__func__, task, &found, &graph)) return s;
  *type = emu::type_of(*emu::LockedNode(*graph, *found));
  return 0;
}
EMU_CATCH

// The number that a profile has as Task ID of the node.
EMU_EXPORT aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t *id) try {
  EMU_TIMED();
  if (id == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRITaskGetSeqId: id is null.");
  emu::GraphTask *found = nullptr;
  std::shared_ptr<emu::Graph> graph;
  if (const Status s = emu::find_task(__func__, task, &found, &graph)) return s;
  *id = static_cast<uint32_t>(found->place.node + 1);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRITaskDisable(aclmdlRITask task) try {
  EMU_TIMED();
  emu::GraphTask *found = nullptr;
  std::shared_ptr<emu::Graph> graph;
  if (const Status s = emu::find_task(__func__, task, &found, &graph)) return s;
  emu::LockedNode(*graph, *found)->will_be_disabled = true;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams *params) try {
  EMU_TIMED();
  if (params == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRITaskGetParams: params is null.");
  emu::GraphTask *found = nullptr;
  std::shared_ptr<emu::Graph> graph;
  if (const Status s = emu::find_task(__func__, task, &found, &graph)) return s;
  const emu::LockedNode node(*graph, *found);
  const aclmdlRITaskType type = emu::type_of(*node);
  if (type == ACL_MODEL_RI_TASK_KERNEL) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclmdlRITaskGetParams: %s has no machine code and no arguments of it here; task "
                "groups (aclmdlRICaptureTaskUpdateBegin) change operators.",
                node->what);
  }
  aclmdlRITaskParams made{};
  made.type = type;
  made.taskGrp = emu::group_of(*graph, found->place);
  if (node->signal != nullptr && type == ACL_MODEL_RI_TASK_VALUE_WRITE) {
    made.valueWriteTaskParams = {node->signal->address, node->signal->value};
  } else if (node->signal != nullptr && type == ACL_MODEL_RI_TASK_VALUE_WAIT) {
    made.valueWaitTaskParams = {node->signal->address, node->signal->value, node->signal->flag};
  }
  *params = made;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams *params) try {
  EMU_TIMED();
  if (params == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclmdlRITaskSetParams: params is null.");
  emu::GraphTask *found = nullptr;
  std::shared_ptr<emu::Graph> graph;
  if (const Status s = emu::find_task(__func__, task, &found, &graph)) return s;
  const emu::LockedNode node(*graph, *found);
  const aclmdlRITaskType type = emu::type_of(*node);
  if (params->type != type) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclmdlRITaskSetParams: params->type is %d; the task is of type %d.",
                static_cast<int>(params->type), static_cast<int>(type));
  }
  if (node->signal == nullptr) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclmdlRITaskSetParams: only tasks of aclrtValueWrite and aclrtValueWait take "
                "parameters here; task groups (aclmdlRICaptureTaskUpdateBegin) change operators.");
  }
  emu::Signal signal = *node->signal;
  if (type == ACL_MODEL_RI_TASK_VALUE_WRITE) {
    signal.address = params->valueWriteTaskParams.devAddr;
    signal.value = params->valueWriteTaskParams.value;
  } else {
    signal.address = params->valueWaitTaskParams.devAddr;
    signal.value = params->valueWaitTaskParams.value;
    signal.flag = params->valueWaitTaskParams.flag;
  }
  if (const Status s = emu::check_signal(__func__, signal)) return s;
  node->next_signal = std::make_shared<const emu::Signal>(signal);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclmdlRIUpdate(aclmdlRI modelRI) try {
  EMU_TIMED();
  std::shared_ptr<emu::Graph> graph;
  if (const Status s = emu::find_finished(__func__, modelRI, &graph)) return s;
  const std::unique_lock<std::mutex> idle(graph->run_mutex, std::try_to_lock);
  if (!idle) {
    return fail(ACL_ERROR_RT_MODEL_RUNNING, "aclmdlRIUpdate: the model instance is running.");
  }
  std::lock_guard<std::mutex> lock(graph->nodes_mutex);
  if (const Status s = emu::check_disabled(__func__, *graph)) return s;
  // First all that needs memory.
  std::vector<std::pair<emu::GraphNode *, std::shared_ptr<emu::Task>>> changed;
  for (emu::GraphBranch &branch : graph->branches) {
    for (emu::GraphNode &node : branch.nodes) {
      if (node.next_signal == nullptr) continue;
      changed.emplace_back(&node, std::make_shared<emu::Task>(emu::task_of(*node.next_signal)));
    }
  }
  for (auto &[node, task] : changed) {
    node->task = std::move(task);
    node->signal = std::move(node->next_signal);
    node->next_signal = nullptr;
  }
  for (emu::GraphBranch &branch : graph->branches) {
    for (emu::GraphNode &node : branch.nodes) node.disabled = node.will_be_disabled;
  }
  return 0;
}
EMU_CATCH
