// SPDX-License-Identifier: Apache-2.0
// The time line of a profile for Perfetto, in Chrome's trace format: a process for each device with
// a row for each stream and a curve of its memory, one for the calls of the host's threads, one for
// the marks of the program. Arrows lead from calls to the tasks that they launched.
#include <cinttypes>
#include <cstdarg>
#include <map>
#include <set>
#include <tuple>

#include "runtime/profile_text.h"

namespace emu {
namespace {

// Devices have the processes from 0 on.
constexpr int kHost = 1000, kMarks = 1001;

class Trace {
 public:
  explicit Trace(const std::string &path) : file_(path) { file_.text("["); }

  // An event; `parts` are its members after the name, without the brackets.
  template <class... Values>
  void event(const std::string &name, const char *parts, Values... values) {
    file_.print("%s{\"name\": \"%s\", ", comma_, json_text(name).c_str());
    file_.print(parts, values...);
    file_.text("}");
    comma_ = ",\n";
  }
  void process(int number, const std::string &name, const std::string &more = "") {
    event("process_name", "\"ph\": \"M\", \"pid\": %d, \"tid\": 0, \"args\": {\"name\": \"%s\"%s}",
          number, name.c_str(), more.c_str());
  }
  void row(int process, int64_t number, const std::string &name) {
    event("thread_name",
          "\"ph\": \"M\", \"pid\": %d, \"tid\": %" PRId64 ", \"args\": {\"name\": \"%s\"}", process,
          number, name.c_str());
  }
  // Something that lasted; `arguments` are members of its args.
  void span(const std::string &name, int process, int64_t row, uint64_t begin_ns, uint64_t end_ns,
            const std::string &arguments) {
    event(name,
          "\"ph\": \"X\", \"pid\": %d, \"tid\": %" PRId64
          ", \"ts\": %.3f, \"dur\": %.3f, \"args\": {%s}",
          process, row, microseconds(begin_ns), microseconds(end_ns - begin_ns), arguments.c_str());
  }
  void instant(const std::string &name, int process, int64_t row, uint64_t at_ns,
               const std::string &arguments) {
    event(name,
          "\"ph\": \"i\", \"s\": \"t\", \"pid\": %d, \"tid\": %" PRId64
          ", \"ts\": %.3f, \"args\": {%s}",
          process, row, microseconds(at_ns), arguments.c_str());
  }
  Status close() {
    file_.text("\n]\n");
    return file_.close();
  }

 private:
  ProfileFile file_;
  const char *comma_ = "\n";
};

std::string member(const char *name, const std::string &words) {
  return std::string("\"") + name + "\": \"" + json_text(words) + "\"";
}
std::string member(const char *name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", value);
  return std::string("\"") + name + "\": " + text;
}
std::string member(const char *name, int64_t value) {
  return std::string("\"") + name + "\": " + std::to_string(value);
}

void name_devices(Trace &trace, const ProfileNotes &notes) {
  std::set<int32_t> devices;
  std::set<std::tuple<int32_t, int32_t>> streams;
  for (const TimedTask *task : notes.tasks) streams.insert({task->device, task->stream});
  for (const TimedMark &mark : notes.timeline.marks) {
    if (mark.device_begin_ns != 0) streams.insert({mark.device, mark.stream});
  }
  for (const auto &[device, stream] : streams) devices.insert(device);
  for (const TimedMemory &use : notes.timeline.memory) devices.insert(use.device);
  for (const int32_t device : devices) {
    trace.process(device, "Ascend Hardware, device " + std::to_string(device) + " (emulator)",
                  ", " + member("dropped", static_cast<int64_t>(notes.timeline.dropped)));
  }
  for (const auto &[device, stream] : streams)
    trace.row(device, stream, "Stream " + std::to_string(stream));
}

void name_host(Trace &trace, const Timeline &timeline) {
  std::set<std::tuple<int, int64_t>> threads;
  for (const TimedCall &call : timeline.calls) threads.insert({kHost, call.thread});
  for (const TimedMark &mark : timeline.marks) threads.insert({kMarks, mark.thread});
  if (!timeline.calls.empty()) trace.process(kHost, "CANN");
  if (!timeline.marks.empty()) trace.process(kMarks, "MsTx");
  for (const auto &[process, thread] : threads)
    trace.row(process, thread, "Thread " + std::to_string(thread));
}

void write_tasks(Trace &trace, const ProfileNotes &notes) {
  for (const TimedTask *task : notes.tasks) {
    std::string more = member("Task Type", std::string(task_type(*task))) + ", " +
                       member("Task Id", int64_t{task->task}) + ", " +
                       member("Stream Id", int64_t{task->stream});
    if (task->graph != 0) more += ", " + member("Model Id", int64_t{task->graph});
    if (!task->inputs[1].empty()) {
      more += ", " + member("Input Shapes", task->inputs[0]) + ", " +
              member("Input Data Types", task->inputs[1]);
    }
    if (task->waited_ns != 0)
      more += ", " + member("Communication Wait Time(us)", microseconds(task->waited_ns));
    trace.span(task->what, task->device, task->stream, task->begin_ns, task->end_ns, more);
  }
}

void write_calls(Trace &trace, const Timeline &timeline) {
  for (const TimedCall &call : timeline.calls) {
    const std::string level = is_collective(call.what) ? "communication" : "acl";
    trace.span((level == "acl" ? "AscendCL@" : "Communication@") + call_name(call), kHost,
               call.thread, call.begin_ns, call.end_ns,
               member("Thread Id", call.thread) + ", " + member("level", level));
  }
}

void write_arrows(Trace &trace, const ProfileNotes &notes) {
  for (size_t i = 0; i < notes.tasks.size(); ++i) {
    const TimedCall *call = notes.launched_by[i];
    if (call == nullptr) continue;
    const char *const parts =
        "\"cat\": \"HostToDevice\", \"ph\": \"%s\", \"id\": %zu, \"pid\": %d, \"tid\": %" PRId64
        ", \"ts\": %.3f%s";
    trace.event("HostToDevice", parts, "s", i, kHost, call->thread, microseconds(call->begin_ns),
                "");
    trace.event("HostToDevice", parts, "f", i, notes.tasks[i]->device,
                int64_t{notes.tasks[i]->stream}, microseconds(notes.tasks[i]->begin_ns),
                ", \"bp\": \"e\"");
  }
}

std::string operands_of(const TimedOperands &operands) {
  std::string text = ", " + member("OP Type", operands.type);
  const char *const names[] = {"Shapes", "Data Types", "Formats"};
  for (int i = 0; i < 3; ++i) {
    text += ", " + member((std::string("Input ") + names[i]).c_str(), operands.inputs[i]);
    text += ", " + member((std::string("Output ") + names[i]).c_str(), operands.outputs[i]);
  }
  return text;
}

void write_marks(Trace &trace, const Timeline &timeline) {
  for (const TimedMark &mark : timeline.marks) {
    std::string more = member("domain", mark.domain);
    if (!mark.operands.type.empty()) more += operands_of(mark.operands);
    if (mark.end_ns > mark.begin_ns) {
      trace.span(mark.message, kMarks, mark.thread, mark.begin_ns, mark.end_ns, more);
    } else {
      trace.instant(mark.message, kMarks, mark.thread, mark.begin_ns, more);
    }
    if (mark.device_end_ns != 0) {
      trace.span(mark.message, mark.device, mark.stream, mark.device_begin_ns, mark.device_end_ns,
                 more);
    } else if (mark.device_begin_ns != 0) {
      trace.instant(mark.message, mark.device, mark.stream, mark.device_begin_ns, more);
    }
  }
}

void write_memory(Trace &trace, const Timeline &timeline) {
  for (const TimedMemory &use : timeline.memory) {
    trace.event("memory in use",
                "\"ph\": \"C\", \"pid\": %d, \"ts\": %.3f, \"args\": {\"KB\": %.3f}", use.device,
                microseconds(use.at_ns), static_cast<double>(use.used) / 1024.0);
  }
}

}  // namespace

Status write_trace(const std::string &path, const ProfileNotes &notes) {
  Trace trace(path);
  name_devices(trace, notes);
  name_host(trace, notes.timeline);
  write_tasks(trace, notes);
  write_calls(trace, notes.timeline);
  write_arrows(trace, notes);
  write_marks(trace, notes.timeline);
  write_memory(trace, notes.timeline);
  return trace.close();
}

}  // namespace emu
