// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/event.h"
#include "core/stream.h"
#include "faults/sites.h"

namespace emu {

// A captured graph: one branch per captured stream. Flags connect branches: an event recorded on
// one and waited for on another.
struct GraphPlace {
  size_t branch = 0, node = 0;
};

// What a task of aclrtValueWrite or aclrtValueWait does.
struct Signal {
  bool waits = false;
  void *address = nullptr;
  uint64_t value = 0;
  uint32_t flag = 0;  // of one that waits
};

// Where a run goes on after a node; with the next one when it sets nothing. A jump to another
// branch ends the run of this one.
using Jump = std::function<Status(std::optional<GraphPlace> *)>;

struct GraphNode {
  enum class Kind : uint8_t { kTask, kRecord, kWait, kReset, kJump, kStart };
  Kind kind = Kind::kTask;
  // shared, because a task update replaces it while a run may still use it
  std::shared_ptr<Task> task;
  const char *what = "";
  size_t flag = 0;  // kRecord, kWait, kReset
  std::shared_ptr<const Jump> jump;
  size_t started = 0;                    // kStart: the branch that starts to run beside this one
  std::shared_ptr<const Signal> signal;  // null for other tasks
  bool disabled = false;                 // it runs no longer
  std::shared_ptr<const faults::Site> site;  // under ACLNN_PY_CHECK=1: where it was captured
  // What aclmdlRIUpdate makes true.
  std::shared_ptr<const Signal> next_signal;
  bool will_be_disabled = false;
};

struct GraphBranch {
  std::vector<GraphNode> nodes;
  std::vector<size_t> clock;  // nodes of each branch known to run before the branch's next node
  // runs the branch in a replay; the first begins on the caller's stream, and has one only when
  // others may start it again
  Stream *worker = nullptr;
  bool waits = false;  // does not begin with the run: another branch starts it
};

struct Condition;

struct Graph {
  explicit Graph(int device_id);
  ~Graph();
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  const uint32_t id;
  const int device;
  std::string name;
  bool complete = false;  // capture ended well: it can be executed
  std::vector<GraphBranch> branches;
  std::vector<std::vector<size_t>> flag_clocks;  // one per flag
  // guards what task updates and aclmdlRITask... change in nodes
  std::mutex nodes_mutex;
  std::mutex run_mutex;  // one replay at a time
  std::atomic<bool> abort{false};
  std::vector<std::shared_ptr<Condition>> conditions;
  // handles of conditional bodies: they end with this graph
  std::vector<void *> bodies;
  std::vector<void *> groups;              // task groups of this graph: they end with it
  std::vector<std::vector<void *>> tasks;  // handles of tasks, by branch: they end with it

  Stream *first_stream = nullptr;  // names the first branch of a capture to the program

  size_t task_count() const;
};

// The C handle aclmdlRI.
struct GraphHandle {
  std::shared_ptr<Graph> graph;
  uint64_t capture_id = 0;  // while it is being captured
};
Slots<GraphHandle> &graph_handles();
Status find_graph(aclmdlRI raw, const char *routine, GraphHandle **handle);

Status execute_graph(const std::shared_ptr<Graph> &graph, Stream &stream, const char *routine);
// Runs the graph inside a worker, from beginning to end. `replayed`: where the program asked for
// it, or null.
Status run_graph(Graph &graph, const faults::Site *replayed = nullptr);

// What a task group keeps: places of nodes in a graph.
struct TaskGroup {
  std::weak_ptr<Graph> graph;
  std::vector<std::pair<size_t, size_t>> places;  // branch, node
};
Slots<TaskGroup> &task_groups();

// The C handle aclmdlRITask.
struct GraphTask {
  std::weak_ptr<Graph> graph;
  GraphPlace place;
};
Slots<GraphTask> &graph_tasks();

struct CaptureSession {
  enum class Kind : uint8_t { kCapture, kUpdate };
  Kind kind = Kind::kCapture;
  bool building = false;  // by aclmdlRIBuildBegin: its streams start each other
  uint64_t id = 0;
  aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  Stream *origin = nullptr;
  std::mutex mutex;  // guards what follows
  bool invalid = false;
  std::string why_invalid;
  std::vector<Stream *> members;  // by branch
  std::shared_ptr<Graph> graph;
  GraphHandle *handle = nullptr;
  TaskGroup *group = nullptr;  // the open task group, recording
  Stream *group_stream = nullptr;
  std::vector<GraphNode> updates;  // kUpdate: the launches that replace the group's
};

bool capture_is_active(uint64_t id);
void invalidate_capture(uint64_t id);
Status capture_record(CaptureSession &session, Stream &stream, EventState &event,
                      const char *routine);
Status capture_wait(Stream &stream, EventState &event, const char *routine);
// Records that the event is no longer reached, when it was recorded in this capture; otherwise
// `done` stays false.
Status capture_reset(CaptureSession &session, Stream &stream, EventState &event,
                     const char *routine, bool *done);

Status begin_capture_into(Stream &stream, GraphHandle &handle, aclmdlRICaptureMode mode,
                          const char *routine);
// What the task does that this stream recorded last; nothing when it records none.
void name_signal(Stream &stream, const Signal &signal);
Status begin_group(Stream &stream, const char *routine);
Status end_group(Stream &stream, const char *routine, aclrtTaskGrp *out);
Status begin_update(Stream &stream, aclrtTaskGrp raw, const char *routine);
Status end_update(Stream &stream, const char *routine);

// --- model instances built by hand (core/building.cpp) ---------------------------------
// Another stream of the instance; it begins to record.
Status begin_building(Stream &stream, GraphHandle &handle, bool waits, const char *routine);
// The stream records no more.
void leave_building(Stream &stream);
// Makes the instance ready to run, with streams of `context`.
Status end_building(GraphHandle &handle, Context &context, const char *routine);
// The branch of a stream that is bound to the same instance as `stream`: 107005 when it is not.
Status find_branch(Stream &stream, Stream &wanted, const char *routine, size_t *branch);
// Records a node that lets another stream of the instance run, or that may go on elsewhere.
Status record_start(Stream &stream, size_t branch, const char *routine);
Status record_jump(Stream &stream, Jump jump, const char *routine);
// The place of the next task of a stream, and the instance that it is recorded for: 107005 when
// there is none.
Status next_place(Stream &stream, const char *routine, GraphPlace *place, uint32_t *graph);

// What aclmdlRICaptureGetInfo answers; leaves the outputs alone when the stream is not captured.
Status capture_info(Stream &stream, aclmdlRICaptureStatus *status, aclmdlRI *graph);

// --- conditional nodes (core/condition.cpp) --------------------------------------------
void reset_conditions(Graph &graph);  // at the start of a replay
Status create_condition(Graph &graph, uint32_t launch_value, bool assign, const char *routine,
                        aclmdlRICondHandle *out);
Status condition_address(aclmdlRICondHandle raw, const char *routine, uint64_t **address);
Status add_condition_task(Stream &stream, const aclmdlRICondTaskParams &params,
                          const char *routine);

// The capture mode of the calling thread (aclmdlRICaptureThreadExchangeMode).
aclmdlRICaptureMode exchange_thread_mode(aclmdlRICaptureMode mode);

}  // namespace emu
