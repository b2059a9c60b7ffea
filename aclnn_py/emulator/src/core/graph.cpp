// SPDX-License-Identifier: Apache-2.0
#include "core/graph.h"

#include <cstring>

#include "acl/acl_base.h"
#include "core/cancel.h"
#include "core/device.h"
#include "core/process.h"
#include "core/timeline.h"
#include "faults/findings.h"
#include "faults/modes.h"

namespace emu {
namespace {

std::atomic<uint32_t> g_next_graph{1};

// The state of one replay: which flags are up, which branches run.
struct Replay {
  // A branch may be started again while it still runs: then it runs once more afterwards.
  struct Turn {
    bool running = false;
    std::vector<size_t> next;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<char> flags;
  std::vector<Turn> turns;
  size_t running = 0;
  Status status = 0;
  std::string text;
  std::shared_ptr<const faults::Site> site;  // of the node that failed
  std::string after;                         // the fault that the whole replay comes after

  template <class Condition>
  bool wait(const Graph &graph, Condition met) {
    std::unique_lock<std::mutex> lock(mutex);
    while (!met()) {
      if (wait_cancelled() || graph.abort.load()) return false;
      changed.wait_for(lock, std::chrono::milliseconds(50));
    }
    return true;
  }
  bool failed() {
    std::lock_guard<std::mutex> lock(mutex);
    return status != 0;
  }
};
using ReplayPointer = std::shared_ptr<Replay>;

void note(Replay &replay, Status status, const GraphNode *node = nullptr) {
  if (status == 0) return;
  std::string text = take_message();
  std::lock_guard<std::mutex> lock(replay.mutex);
  if (replay.status == 0) {
    replay.status = status;
    replay.text = std::move(text);
    if (node != nullptr) replay.site = node->site;
  }
  replay.changed.notify_all();
}

void start_branch(Graph &graph, GraphPlace from, const ReplayPointer &replay) noexcept;

Status run_task(Graph &graph, const GraphNode &node, uint32_t number) {
  std::shared_ptr<Task> task;
  {
    std::lock_guard<std::mutex> lock(graph.nodes_mutex);
    task = node.task;
  }
  if (task == nullptr || !*task) return 0;
  const TimedRun timed(node.what, *working_stream(), number, graph.id);
  if (const Status s = (*task)()) {
    return fail(ACL_ERROR_RT_MODEL_EXECUTE, "graph %u: %s failed on the device with %d.", graph.id,
                node.what, s);
  }
  return 0;
}

// Other ranks wait for the collectives that a failed replay leaves out: each of them is begun, and
// says why it cannot go on.
void refuse_collectives(Graph &graph, GraphPlace from, Replay &replay) {
  std::string reason;
  {
    std::lock_guard<std::mutex> lock(replay.mutex);
    reason = "a task before it in captured graph " + std::to_string(graph.id) +
             " failed on the device with " + std::to_string(replay.status);
  }
  const AfterFault after(reason);
  const auto &nodes = graph.branches[from.branch].nodes;
  for (size_t at = from.node; at < nodes.size(); ++at) {
    const GraphNode &node = nodes[at];
    if (node.kind != GraphNode::Kind::kTask || node.disabled) continue;
    if (std::strncmp(node.what, "Hccl", 4) != 0) continue;
    note(replay, run_task(graph, node, static_cast<uint32_t>(at + 1)));
  }
}

// Does not throw: the caller counts the branch as ended afterwards.
Status run_branch(Graph &graph, GraphPlace from, const ReplayPointer &replay) noexcept try {
  const auto &nodes = graph.branches[from.branch].nodes;
  for (size_t at = from.node; at < nodes.size(); ++at) {
    const GraphNode &node = nodes[at];
    if (graph.abort.load() || wait_cancelled()) return 0;
    if (node.disabled) continue;
    switch (node.kind) {
      case GraphNode::Kind::kRecord: {
        std::lock_guard<std::mutex> lock(replay->mutex);
        replay->flags[node.flag] = 1;
        replay->changed.notify_all();
        break;
      }
      case GraphNode::Kind::kReset: {
        std::lock_guard<std::mutex> lock(replay->mutex);
        replay->flags[node.flag] = 0;
        break;
      }
      case GraphNode::Kind::kWait:
        if (!replay->wait(graph,
                          [&] { return replay->flags[node.flag] != 0 || replay->status != 0; }))
          return 0;
        if (replay->failed()) {
          refuse_collectives(graph, {from.branch, at + 1}, *replay);
          return 0;
        }
        break;
      case GraphNode::Kind::kStart: start_branch(graph, {node.started, 0}, replay); break;
      case GraphNode::Kind::kJump: {
        std::optional<GraphPlace> to;
        if (const Status s = (*node.jump)(&to)) {
          return fail(ACL_ERROR_RT_MODEL_EXECUTE, "graph %u: %s failed on the device with %d.",
                      graph.id, node.what, s);
        }
        if (!to) break;
        if (replay->failed()) return 0;  // a loop whose end depends on the branch that failed
        if (to->branch != from.branch) {
          start_branch(graph, *to, replay);
          return 0;
        }
        at = to->node - 1;
        break;
      }
      case GraphNode::Kind::kTask:
        if (const Status s = run_task(graph, node, static_cast<uint32_t>(at + 1))) {
          note(*replay, s, &node);
          refuse_collectives(graph, {from.branch, at + 1}, *replay);
          return 0;
        }
        break;
    }
  }
  return 0;
} catch (const std::bad_alloc &) {
  return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
              "graph %u: the host has no memory left for a task of it.", graph.id);
} catch (const std::exception &problem) {
  return fail(ACL_ERROR_RT_MODEL_EXECUTE, "graph %u: %s.", graph.id, problem.what());
}

// Runs a branch that counts as running, and again as often as it was started meanwhile.
void run_turns(Graph &graph, GraphPlace from, const ReplayPointer &replay) {
  const AfterFault after(replay->after);
  for (;;) {
    note(*replay, run_branch(graph, from, replay));
    std::lock_guard<std::mutex> lock(replay->mutex);
    Replay::Turn &turn = replay->turns[from.branch];
    if (turn.next.empty() || replay->status != 0) {
      turn.running = false;
      --replay->running;
      replay->changed.notify_all();
      return;
    }
    from.node = turn.next.front();
    turn.next.erase(turn.next.begin());
  }
}

// Does not throw: branches that run use what the caller holds.
void start_branch(Graph &graph, GraphPlace from, const ReplayPointer &replay) noexcept {
  try {
    std::lock_guard<std::mutex> lock(replay->mutex);
    Replay::Turn &turn = replay->turns[from.branch];
    if (turn.running) {
      turn.next.push_back(from.node);
      return;
    }
    turn.running = true;
    ++replay->running;
  } catch (const std::bad_alloc &) {
    note(*replay, fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                       "graph %u: the host has no memory left to start a stream of it.", graph.id));
    return;
  }
  const Status s = enqueue_on(*graph.branches[from.branch].worker, "branch of a captured graph",
                              [&graph, replay, from]() -> Status {
                                run_turns(graph, from, replay);
                                return 0;
                              });
  if (s == 0) return;
  note(*replay, s);
  std::lock_guard<std::mutex> lock(replay->mutex);
  replay->turns[from.branch].running = false;
  --replay->running;
}

}  // namespace

Graph::Graph(int device_id) : id(g_next_graph.fetch_add(1)), device(device_id) {
  branches.emplace_back();
}

Graph::~Graph() {
  for (void *body : bodies) {
    if (graph_handles().retire(body)) graph_handles().destroy(static_cast<GraphHandle *>(body));
  }
  for (void *group : groups) {
    if (task_groups().retire(group)) task_groups().destroy(static_cast<TaskGroup *>(group));
  }
  for (const auto &branch : tasks) {
    for (void *task : branch) {
      if (graph_tasks().retire(task)) graph_tasks().destroy(static_cast<GraphTask *>(task));
    }
  }
  const auto end = [](Stream *stream) {
    if (stream != nullptr && streams().live(stream))
      destroy_stream(stream, true, "end of a captured graph");
  };
  end(first_stream);
  for (GraphBranch &branch : branches) end(branch.worker);
}

size_t Graph::task_count() const {
  size_t count = 0;
  for (const GraphBranch &branch : branches) count += branch.nodes.size();
  return count;
}

Slots<GraphHandle> &graph_handles() {
  static auto *const all = new Slots<GraphHandle>(1 << 16);
  return *all;
}

Slots<TaskGroup> &task_groups() {
  static auto *const all = new Slots<TaskGroup>(1 << 20);
  return *all;
}

Slots<GraphTask> &graph_tasks() {
  static auto *const all = new Slots<GraphTask>(1 << 20);
  return *all;
}

Status find_graph(aclmdlRI raw, const char *routine, GraphHandle **handle) {
  if (raw == nullptr)
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: the model instance is null.", routine);
  *handle = graph_handles().find(raw);
  if (*handle != nullptr) return 0;
  return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live model instance.", routine, raw);
}

Status run_graph(Graph &graph, const faults::Site *replayed) {
  std::lock_guard<std::mutex> one_at_a_time(graph.run_mutex);
  reset_conditions(graph);
  const auto replay = std::make_shared<Replay>();
  replay->after = unreported_fault(*working_stream());
  replay->flags.assign(graph.flag_clocks.size(), 0);
  replay->turns.resize(graph.branches.size());
  for (size_t i = 0; i < graph.branches.size(); ++i) {
    const Stream *worker = graph.branches[i].worker;
    if ((i != 0 || worker != nullptr) && !streams().live(worker)) {
      return fail(ACL_ERROR_RT_STREAM_CONTEXT,
                  "graph %u: the context it was captured in has ended.", graph.id);
    }
  }
  const bool first = !graph.branches[0].waits;
  if (first) {
    replay->turns[0].running = true;
    replay->running = 1;
  }
  for (size_t i = 1; i < graph.branches.size(); ++i) {
    if (!graph.branches[i].waits) start_branch(graph, {i, 0}, replay);
  }
  if (first) run_turns(graph, {0, 0}, replay);
  // The side branches hold references to the graph, so the run waits for all of them even after a
  // failure.
  std::unique_lock<std::mutex> lock(replay->mutex);
  replay->changed.wait(lock, [&] { return replay->running == 0; });
  if (replay->status == 0) return 0;
  if (replay->site != nullptr && replayed != nullptr)
    faults::set_fault_places(*replay->site, *replayed);
  add_message(replay->text);
  return replay->status;
}

Status execute_graph(const std::shared_ptr<Graph> &graph, Stream &stream, const char *routine) {
  if (!graph->complete) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: the capture of graph %u has not ended.", routine,
                graph->id);
  }
  if (graph->device != stream.device) {
    return fail(ACL_ERROR_RT_MODEL_CONTEXT,
                "%s: graph %u was captured on device %d, the stream is of device %d.", routine,
                graph->id, graph->device, stream.device);
  }
  std::shared_ptr<const faults::Site> site;
  if (faults::checking()) site = std::make_shared<const faults::Site>(faults::site_here());
  return enqueue_on(stream, "aclmdlRIExecuteAsync",
                    [graph, site]() -> Status { return run_graph(*graph, site.get()); });
}

}  // namespace emu
