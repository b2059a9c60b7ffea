// SPDX-License-Identifier: Apache-2.0
// Conditional nodes: bodies of a graph that run once, repeatedly or not at all, by a value in
// device memory.
#include "acl/acl_base.h"
#include "core/cancel.h"
#include "core/graph.h"
#include "core/memory.h"
#include "core/process.h"

namespace emu {

namespace {
struct ConditionHandle {
  std::weak_ptr<Condition> condition;
};
Slots<ConditionHandle> &condition_handles() {
  static auto *const all = new Slots<ConditionHandle>(1 << 18);
  return *all;
}
}  // namespace

struct Condition {
  ~Condition() {
    if (handle != nullptr && condition_handles().retire(handle))
      condition_handles().destroy(handle);
    if (value != nullptr && device_free(value, "end of a captured graph") != 0)
      (void)take_message();
  }
  ConditionHandle *handle = nullptr;
  uint64_t *value = nullptr;  // device memory
  uint32_t launch_value = 0;
  bool assign = false;  // give it launch_value at the start of every replay
};

namespace {

std::shared_ptr<Condition> find(aclmdlRICondHandle raw) {
  ConditionHandle *handle = condition_handles().find(raw);
  return handle != nullptr ? handle->condition.lock() : nullptr;
}

Status run_bodies(aclmdlRICondTaskType type, const Condition &condition,
                  const std::vector<std::shared_ptr<Graph>> &bodies) {
  for (const auto &body : bodies) {
    if (!body->complete) {
      return fail(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
                  "a body of a conditional task was never captured.");
    }
  }
  switch (type) {
    case ACL_MODEL_RI_COND_TYPE_WHILE:
      while (*condition.value != 0 && !wait_cancelled()) {
        if (const Status s = run_graph(*bodies[0])) return s;
      }
      return 0;
    case ACL_MODEL_RI_COND_TYPE_IF:
      if (*condition.value != 0) return run_graph(*bodies[0]);
      return bodies.size() > 1 ? run_graph(*bodies[1]) : 0;
    default: return *condition.value < bodies.size() ? run_graph(*bodies[*condition.value]) : 0;
  }
}

}  // namespace

void reset_conditions(Graph &graph) {
  for (const auto &condition : graph.conditions) {
    if (condition->assign) *condition->value = condition->launch_value;
  }
}

Status create_condition(Graph &graph, uint32_t launch_value, bool assign, const char *routine,
                        aclmdlRICondHandle *out) {
  auto condition = std::make_shared<Condition>();
  void *value = nullptr;
  if (const Status s = device_malloc(graph.device, sizeof(uint64_t), &value, routine)) return s;
  condition->value = static_cast<uint64_t *>(value);
  *condition->value = launch_value;
  condition->launch_value = launch_value;
  condition->assign = assign;
  graph.conditions.reserve(graph.conditions.size() + 1);
  ConditionHandle *handle = condition_handles().create();
  if (handle == nullptr)
    return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many handles.", routine);
  handle->condition = condition;
  condition->handle = handle;
  graph.conditions.push_back(std::move(condition));
  *out = handle;
  return 0;
}

Status condition_address(aclmdlRICondHandle raw, const char *routine, uint64_t **address) {
  const auto condition = find(raw);
  if (condition == nullptr) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not the condition of a live graph.",
                routine, raw);
  }
  *address = condition->value;
  return 0;
}

Status add_condition_task(Stream &stream, const aclmdlRICondTaskParams &params,
                          const char *routine) {
  const auto condition = find(params.handle);
  if (condition == nullptr) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not the condition of a live graph.",
                routine, params.handle);
  }
  const bool fits = params.type == ACL_MODEL_RI_COND_TYPE_IF ? params.size <= 2
                    : params.type == ACL_MODEL_RI_COND_TYPE_WHILE
                        ? params.size == 1
                        : params.type == ACL_MODEL_RI_COND_TYPE_SWITCH;
  if (!fits) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: type %d does not take %u bodies.", routine,
                static_cast<int>(params.type), params.size);
  }
  aclmdlRI parent_handle = nullptr;
  if (const Status s = capture_info(stream, nullptr, &parent_handle)) return s;
  GraphHandle *parent = graph_handles().find(parent_handle);
  if (parent == nullptr) {
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "%s: stream %d is not being captured.", routine,
                stream.id);
  }
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<Slots<GraphHandle>::Guard> handles;
  for (uint32_t i = 0; i < params.size; ++i) {
    auto handle = graph_handles().guard(graph_handles().create());
    if (handle == nullptr)
      return fail(ACL_ERROR_RT_NO_MODEL_RESOURCE, "%s: too many model instances.", routine);
    handle->graph = std::make_shared<Graph>(stream.device);
    bodies.push_back(handle->graph);
    handles.push_back(std::move(handle));
  }
  auto &kept = parent->graph->bodies;
  kept.reserve(kept.size() + handles.size());
  const Status status =
      enqueue_on(stream, "aclmdlRIAddCondTask",
                 [type = params.type, condition, bodies = std::move(bodies)]() -> Status {
                   return run_bodies(type, *condition, bodies);
                 });
  if (status != 0) return status;
  for (uint32_t i = 0; i < params.size; ++i) {
    params.modelRIArray[i] = handles[i].get();
    kept.push_back(handles[i].release());
  }
  return 0;
}

}  // namespace emu
