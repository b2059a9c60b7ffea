// SPDX-License-Identifier: Apache-2.0
// The tables of a profile, with the names and the columns that CANN's documents give them.
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "runtime/profile_text.h"

namespace emu {
namespace {

// "aclnnAdd" is of the type Add; a collective's name is HcclAllReduce.
const char *type_name(const TimedTask &task) {
  return std::strncmp(task.what, "aclnn", 5) == 0 ? task.what + 5 : task.what;
}

// How long a stream had nothing of this kind to do before each task, by the place of the task.
std::vector<uint64_t> idle_before(const std::vector<const TimedTask *> &tasks) {
  std::map<std::tuple<int32_t, int32_t>, uint64_t> ended;
  std::vector<uint64_t> idle;
  for (const TimedTask *task : tasks) {
    uint64_t &last = ended[{task->device, task->stream}];
    idle.push_back(last == 0 || last > task->begin_ns ? 0 : task->begin_ns - last);
    last = std::max(last, task->end_ns);
  }
  return idle;
}

// Times that are added up.
struct Times {
  uint64_t count = 0, total_ns = 0, least_ns = UINT64_MAX, most_ns = 0;
  double squares_us = 0;

  void add(uint64_t ns) {
    ++count;
    total_ns += ns;
    least_ns = std::min(least_ns, ns);
    most_ns = std::max(most_ns, ns);
    squares_us += microseconds(ns) * microseconds(ns);
  }
  double mean_us() const { return microseconds(total_ns) / static_cast<double>(count); }
  double variance() const {
    return std::max(0.0, squares_us / static_cast<double>(count) - mean_us() * mean_us());
  }
};

// The longest in total first.
template <class Key>
std::vector<std::pair<Key, Times>> sorted(const std::map<Key, Times> &rows) {
  std::vector<std::pair<Key, Times>> found(rows.begin(), rows.end());
  std::stable_sort(found.begin(), found.end(), [](const auto &one, const auto &other) {
    return one.second.total_ns > other.second.total_ns;
  });
  return found;
}

Status write_operators(const std::string &path, const ProfileNotes &notes) {
  ProfileFile file(path);
  file.text(
      "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task "
      "Duration(us),Task Wait Time(us),Input Shapes,Input Data Types,Input Formats,Output "
      "Shapes,Output Data Types,Output Formats,Communication Wait Time(us),Host Time(us)\n");
  std::vector<const TimedTask *> operations;
  std::vector<uint64_t> host_ns;
  for (size_t i = 0; i < notes.tasks.size(); ++i) {
    if (!is_operation(*notes.tasks[i]) || notes.tasks[i]->encloses) continue;
    operations.push_back(notes.tasks[i]);
    const TimedCall *call = notes.launched_by[i];
    host_ns.push_back(call == nullptr ? 0 : call->before_ns + call->end_ns - call->begin_ns);
  }
  const std::vector<uint64_t> idle = idle_before(operations);
  for (size_t i = 0; i < operations.size(); ++i) {
    const TimedTask &t = *operations[i];
    // 4294967295 is CANN's way to say that an operator is in no model.
    file.print("%d,%u,%u,%d,%s,%s,%s,%.3f,%.3f,%.3f,\"%s\",%s,%s,\"%s\",%s,%s,%.3f,%.3f\n",
               t.device, t.graph == 0 ? UINT32_MAX : t.graph, t.task, t.stream, t.what,
               type_name(t), task_type(t), microseconds(t.begin_ns),
               microseconds(t.end_ns - t.begin_ns), microseconds(idle[i]), t.inputs[0].c_str(),
               t.inputs[1].c_str(), t.inputs[2].c_str(), t.outputs[0].c_str(), t.outputs[1].c_str(),
               t.outputs[2].c_str(), microseconds(t.waited_ns), microseconds(host_ns[i]));
  }
  return file.close();
}

Status write_tasks(const std::string &path, const ProfileNotes &notes) {
  ProfileFile file(path);
  file.text(
      "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
      "task_stop(us)\n");
  for (const TimedTask *task : notes.tasks) {
    file.print("%d,%s,%s,%d,%u,%.3f,%.3f,%.3f\n", task->device, task->what, task_type(*task),
               task->stream, task->task, microseconds(task->end_ns - task->begin_ns),
               microseconds(task->begin_ns), microseconds(task->end_ns));
  }
  return file.close();
}

Status write_memory(const std::string &path, const std::vector<TimedMemory> &memory) {
  ProfileFile file(path);
  file.text("Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n");
  for (const TimedMemory &use : memory) {
    const double kib = static_cast<double>(use.used) / 1024.0;
    file.print("%d,Device,0,%.3f,%.3f,%.3f\n", use.device, kib, kib, microseconds(use.at_ns));
  }
  return file.close();
}

// One row for each type of operator (or of collective) of a device.
Status write_statistic(const std::string &path, const ProfileNotes &notes, bool collectives) {
  std::map<std::tuple<int32_t, std::string>, Times> rows;
  std::map<int32_t, uint64_t> whole;
  for (const TimedTask *task : notes.tasks) {
    if (!is_operation(*task) || task->encloses || is_collective(task->what) != collectives)
      continue;
    const uint64_t lasted = task->end_ns - task->begin_ns;
    rows[{task->device, type_name(*task)}].add(lasted);
    whole[task->device] += lasted;
  }
  if (rows.empty()) return 0;
  ProfileFile file(path);
  file.print(
      "Device_id,OP Type,%sCount,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
      "Ratio(%%)\n",
      collectives ? "" : "Core Type,");
  for (const auto &[key, times] : sorted(rows)) {
    const auto &[device, type] = key;
    const uint64_t all = std::max<uint64_t>(whole[device], 1);
    file.print("%d,%s,%s%" PRIu64 ",%.3f,%.3f,%.3f,%.3f,%.3f\n", device, type.c_str(),
               collectives ? "" : "AI_CORE,", times.count, microseconds(times.total_ns),
               microseconds(times.least_ns), times.mean_us(), microseconds(times.most_ns),
               100.0 * static_cast<double>(times.total_ns) / static_cast<double>(all));
  }
  return file.close();
}

Status write_calls(const std::string &path, const ProfileNotes &notes) {
  std::map<std::tuple<bool, std::string>, Times> rows;
  for (const TimedCall &call : notes.timeline.calls)
    rows[{is_collective(call.what), call_name(call)}].add(call.end_ns - call.begin_ns);
  if (rows.empty()) return 0;
  ProfileFile file(path);
  file.text("Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n");
  for (const auto &[key, times] : sorted(rows)) {
    const auto &[collective, name] = key;
    file.print("host,%s,%s,%.3f,%" PRIu64 ",%.3f,%.3f,%.3f,%.3f\n",
               collective ? "communication" : "acl", name.c_str(), microseconds(times.total_ns),
               times.count, times.mean_us(), microseconds(times.least_ns),
               microseconds(times.most_ns), times.variance());
  }
  return file.close();
}

const char *event_type(const TimedMark &mark) {
  switch (mark.kind) {
    case TimedMark::Kind::mark: return "marker";
    case TimedMark::Kind::mark_on_stream: return "marker_ex";
    case TimedMark::Kind::push_pop: return "push/pop";
    default: return "start/end";
  }
}

// payload, category and message_type are reserved in CANN's table too.
Status write_marks(const std::string &path, const ProfileNotes &notes) {
  if (notes.timeline.marks.empty()) return 0;
  std::vector<const TimedMark *> marks;
  for (const TimedMark &mark : notes.timeline.marks) marks.push_back(&mark);
  std::stable_sort(marks.begin(), marks.end(), [](const TimedMark *one, const TimedMark *other) {
    return one->begin_ns < other->begin_ns;
  });
  ProfileFile file(path);
  file.text(
      "Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us)"
      ","
      "message_type,message,domain,Device Start_time(us),Device End_time(us)\n");
  for (const TimedMark *mark : marks) {
    const std::string device = mark->device < 0 ? "host" : std::to_string(mark->device);
    file.print("%s,%ld,%" PRId64 ",0,%s,0,0,%.3f,%.3f,0,\"%s\",\"%s\"", device.c_str(),
               static_cast<long>(getpid()), mark->thread, event_type(*mark),
               microseconds(mark->begin_ns), microseconds(mark->end_ns),
               csv_text(mark->message).c_str(), csv_text(mark->domain).c_str());
    for (const uint64_t at : {mark->device_begin_ns, mark->device_end_ns}) {
      if (at != 0) {
        file.print(",%.3f", microseconds(at));
      } else {
        file.text(",");
      }
    }
    file.text("\n");
  }
  return file.close();
}

}  // namespace

Status write_tables(const std::string &folder, const std::string &end, const ProfileNotes &notes) {
  if (const Status s = write_operators(folder + "/op_summary" + end, notes)) return s;
  if (const Status s = write_tasks(folder + "/task_time" + end, notes)) return s;
  if (const Status s = write_statistic(folder + "/op_statistic" + end, notes, false)) return s;
  if (const Status s = write_statistic(folder + "/communication_statistic" + end, notes, true))
    return s;
  if (const Status s = write_calls(folder + "/api_statistic" + end, notes)) return s;
  if (const Status s = write_marks(folder + "/msprof_tx" + end, notes)) return s;
  if (notes.timeline.memory.empty()) return 0;
  return write_memory(folder + "/npu_mem" + end, notes.timeline.memory);
}

}  // namespace emu
