// SPDX-License-Identifier: Apache-2.0
#include "faults/record.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/process.h"
#include "core/stream.h"
#include "faults/archive.h"
#include "faults/calls.h"
#include "faults/output.h"
#include "faults/pages.h"
#include "faults/sites.h"
#include "faults/sketch.h"
#include "faults/streams.h"
#include "hccl/registry.h"
#include "meta/executor_state.h"

namespace emu::faults {

struct Recorded {
  const void *executor = nullptr;
  bool once = true;  // the executor ends with this run
  Sketch sketch;
  Stream *stream = nullptr;
  uint64_t tasks_before = 0;  // on its stream
  std::string left_out;       // why, where the run is not recorded
};

void RecordedDeleter::operator()(Recorded *run) const { delete run; }

namespace {

constexpr const char *kVariable = "ACLNN_PY_RECORD";
constexpr const char *kLimit = "ACLNN_PY_RECORD_LIMIT";
constexpr int64_t kUsualLimit = int64_t{1} << 30;
constexpr size_t kMostPlanned = 100000;  // executors that were made and not run yet
// What a reader takes of the texts of all calls, and what one call adds to its contents at most.
constexpr size_t kMostTexts = size_t{48} << 20, kEnding = 4096;

struct LeftOut {
  std::string op;
  size_t calls = 0;
};

struct File {
  std::mutex mutex;
  bool opened = false;
  std::string path;
  std::optional<Archive> archive;
  size_t calls = 0, texts = 0, limit = 0;
  std::map<std::string, LeftOut> left_out;
};

File &file() {
  static auto *const instance = new File;
  return *instance;
}

// Executors between their phases.
struct Planned {
  std::mutex mutex;
  std::map<const void *, Sketch> of;
};

Planned &planned() {
  static auto *const instance = new Planned;
  return *instance;
}

// Calls for which the host had no memory, and the description of the first.
std::atomic<size_t> g_unwritten{0};
std::atomic<const char *> g_first_unwritten{nullptr};

void say(const std::string &text) {
  std::fprintf(stderr, "%s: %s: %s\n", kVariable, file().path.c_str(), text.c_str());
}

void stop(const std::string &text) {
  g_modes.fetch_and(~kRecord);
  say(text);
}

void stop_of_disk(int problem) {
  stop(std::string(std::strerror(problem)) + "; the record ends here, after " +
       std::to_string(file().calls) + " calls");
  file().archive.reset();
}

bool add(const std::string &name, const std::string &text) {
  if (file().archive->add(name, text.data(), text.size())) return true;
  stop_of_disk(errno);
  return false;
}

// With the first call of an operator. The lock is held.
void open_file() {
  File &f = file();
  if (f.opened) return;
  f.opened = true;
  f.path = path_of(kVariable, "rec");
  const int64_t limit = environment_bytes(kLimit, kUsualLimit);
  f.limit = std::min<uint64_t>(limit > 0 ? static_cast<uint64_t>(limit) : kUsualLimit,
                               Archive::kMostBytes);
  std::string why;
  const int descriptor = open_output(f.path, &why);
  if (descriptor < 0) return stop(why + "; nothing is recorded");
  f.archive.emplace(descriptor);
  add("index.json",
      "{\"kind\":\"aclnn_py record\",\"version\":2,\"about\":{\"package\":\"\","
      "\"device\":\"emulator\",\"cann\":\"\",\"program\":\"C\"}}\n");
}

std::string left_out_text(const std::string &why, const LeftOut &row) {
  return "{\"why\":" + json_text(why) + ",\"operator\":\"" + row.op +
         "\",\"calls\":" + std::to_string(row.calls) + "}";
}

// The lock is held. The first of a kind is said at once.
void leave_out(const std::string &op, const std::string &why) {
  File &f = file();
  open_file();
  if (!f.archive) return;
  LeftOut &row = f.left_out[why];
  if (row.calls++ > 0) return;
  row.op = op;
  say(op + " is left out: " + why);
  add("left_out/" + std::to_string(f.left_out.size() - 1) + ".json", left_out_text(why, row));
}

// The addresses that the tensors of an executor have by now.
void take_addresses(const aclOpExecutor &executor, Sketch *sketch) {
  for (const PlanTensor &entry : executor.plan->tensors) {
    for (SketchTensor &one : sketch->tensors) {
      if (entry.list == one.list && entry.member == one.member) one.tensor.data = entry.tensor.data;
    }
  }
}

// The lock is held. False with the reason where the record has no room, empty when it has ended.
bool keep_memories(Sketch *sketch, bool after, std::string *why) {
  File &f = file();
  open_file();
  if (!f.archive) return false;
  size_t needed = kEnding;
  for (const SketchMemory &memory : sketch->memories)
    needed += memory.block != 0 ? memory.bytes() + kEnding : 0;
  if (f.archive->bytes() + needed > f.limit) {
    *why = "the record has reached its limit of " + std::to_string(f.limit) + " bytes (" + kLimit +
           ")";
    return false;
  }
  if (f.archive->members() + 2 * sketch->memories.size() + 64 > Archive::kMostMembers) {
    *why = "the record has as many parts as it can have";
    return false;
  }
  for (SketchMemory &memory : sketch->memories) {
    if (memory.block == 0 || (after && !memory.written)) continue;
    const void *start = unguarded(reinterpret_cast<const void *>(memory.start));
    std::string *name = after ? &memory.after : &memory.before;
    if (!f.archive->keep(start, memory.bytes(), name)) {
      stop_of_disk(errno);
      return false;
    }
  }
  return true;
}

struct Outcome {
  int64_t status = 0;
  const char *stage = "";
  std::string message;
};

// What the library says about the last refusal of this thread; it stays there for the program.
std::string message_of_thread() {
  const std::string text = take_message();
  if (!text.empty()) add_message(text);
  return text;
}

// The lock is held.
void write_call(const Sketch &sketch, const Outcome &outcome, int device) {
  File &f = file();
  open_file();
  if (!f.archive) return;
  size_t ranks = 0;
  if (!sketch.group.empty()) {
    const auto communicator = hccl::find_communicator(device, sketch.group);
    if (communicator != nullptr) ranks = communicator->size();
  }
  const std::string text = "{\"operator\":\"" + sketch.op + "\",\"arguments\":[" +
                           sketch.arguments + "],\"views\":[" + views_text(sketch) +
                           "],\"memories\":[" + memories_text(sketch) +
                           "],\"status\":" + std::to_string(outcome.status) + ",\"stage\":\"" +
                           outcome.stage + "\",\"message\":" + json_text(outcome.message) +
                           ",\"line\":" + json_text(line_of(site_here())) +
                           ",\"group\":" + (ranks > 0 ? std::to_string(ranks) : "null") + "}\n";
  if (f.texts + text.size() > kMostTexts)
    return leave_out(sketch.op, "the record has as many calls as a reader takes");
  f.texts += text.size();
  if (add("calls/" + std::to_string(f.calls) + ".json", text)) ++f.calls;
}

void phase_one_ended(const Call &call, const Signature &signature, int64_t status) {
  Sketch sketch;
  std::string why;
  const bool known = sketch_arguments(call, signature, &sketch, &why);
  if (status != 0) {
    std::lock_guard<std::mutex> lock(file().mutex);
    if (!known || !find_memories(&sketch, &why)) return leave_out(sketch.op, why);
    for (SketchMemory &memory : sketch.memories) memory.block = 0;
    return write_call(sketch, {status, "phase one", message_of_thread()}, 0);
  }
  if (!known) {
    std::lock_guard<std::mutex> lock(file().mutex);
    return leave_out(sketch.op, why);
  }
  const auto *executor =
      *static_cast<const aclOpExecutor *const *>(call.value(call.count - 1).pointer());
  std::lock_guard<std::mutex> lock(planned().mutex);
  if (planned().of.size() < kMostPlanned) {
    planned().of[executor] = std::move(sketch);
    return;
  }
  std::lock_guard<std::mutex> file_lock(file().mutex);
  leave_out(sketch.op, "more than " + std::to_string(kMostPlanned) +
                           " executors are planned and have not run");
}

RecordedRun run_begins(const Call &call) {
  const auto *handle = call.value(2).pointer();
  const aclOpExecutor *executor = executors().find(handle);
  RecordedRun run(new Recorded);
  {
    std::lock_guard<std::mutex> lock(planned().mutex);
    const auto at = planned().of.find(handle);
    if (executor == nullptr || at == planned().of.end()) return nullptr;
    run->sketch = at->second;
    run->once = !executor->repeatable.load();
    run->executor = handle;
  }
  Sketch &sketch = run->sketch;
  take_addresses(*executor, &sketch);
  run->stream = launch_stream(call.value(3).pointer());
  if (run->stream == nullptr) {
    find_memories(&sketch, &run->left_out);
    return run;  // it will be refused
  }
  if (run->stream->capture.load() != nullptr) {
    run->left_out = "a graph captures it, so it does not run";
    return run;
  }
  drain_stream(*run->stream);
  run->tasks_before = run->stream->submitted.load();
  if (!find_memories(&sketch, &run->left_out)) return run;
  std::lock_guard<std::mutex> lock(file().mutex);
  if (!keep_memories(&sketch, false, &run->left_out) && run->left_out.empty()) return nullptr;
  return run;
}

void run_ended(Recorded &run, int64_t status) {
  if (run.once) {
    std::lock_guard<std::mutex> lock(planned().mutex);
    planned().of.erase(run.executor);
  }
  Outcome outcome;
  if (status != 0) {
    outcome = {status, "phase two", message_of_thread()};
  } else if (run.left_out.empty() && run.stream != nullptr) {
    // Its fault stays for the program to find.
    drain_stream(*run.stream);
    std::lock_guard<std::mutex> lock(run.stream->mutex);
    const Fault *fault = run.stream->faults.first_open_after(run.tasks_before);
    if (fault != nullptr) outcome = {fault->code, "device", fault->text};
  }
  std::lock_guard<std::mutex> lock(file().mutex);
  if (run.left_out.empty() && outcome.status == 0) keep_memories(&run.sketch, true, &run.left_out);
  if (!run.left_out.empty()) return leave_out(run.sketch.op, run.left_out);
  write_call(run.sketch, outcome, run.stream != nullptr ? run.stream->device : 0);
}

// The directory, and how much is missing. A process that ends otherwise leaves what a reader can
// do without.
__attribute__((destructor)) void at_the_end() {
  if (!mode(kRecord) || forked()) return;
  g_modes.fetch_and(~kRecord);
  File &f = file();
  std::lock_guard<std::mutex> lock(f.mutex);
  if (!f.archive) return;
  std::string rows;
  if (const size_t calls = g_unwritten.load()) {
    std::string first(Signature(g_first_unwritten.load()).name);
    first = first.substr(0, first.rfind("GetWorkspaceSize"));
    f.left_out["the host had no memory to record it"] = {first, calls};
  }
  for (const auto &[why, row] : f.left_out) {
    rows += (rows.empty() ? "" : ",") + left_out_text(why, row);
    if (row.calls > 1) say(std::to_string(row.calls) + " calls are left out: " + why);
  }
  if (!add("end.json", "{\"left_out\":[" + rows + "]}\n")) return;
  if (!f.archive->finish()) say(std::string(std::strerror(errno)) + "; it has no directory");
}

}  // namespace

RecordedRun record_begins(const Call &call, const Signature &signature) {
  const bool operators = signature.name.substr(0, 5) == "aclnn";
  return operators && is_phase_two(call) ? run_begins(call) : nullptr;
}

void record_failed(const Call &call) noexcept {
  const char *none = nullptr;
  g_first_unwritten.compare_exchange_strong(none, call.described);
  if (g_unwritten.fetch_add(1) == 0)
    std::fputs("ACLNN_PY_RECORD: a call is left out: the host had no memory to record it\n",
               stderr);
}

void record_ends(const Call &call, const Signature &signature, RecordedRun run,
                 const Value &result) {
  if (run != nullptr) {
    run_ended(*run, result.number());
  } else if (is_phase_one(call)) {
    phase_one_ended(call, signature, result.number());
  }
}

}  // namespace emu::faults
