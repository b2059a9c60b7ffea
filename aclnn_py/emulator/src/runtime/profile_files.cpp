// SPDX-License-Identifier: Apache-2.0
#include "runtime/profile_files.h"

#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <tuple>

#include "acl/acl_base.h"
#include "core/timeline.h"

namespace emu {
namespace {

std::string stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &parts);
  return text;
}

Status cannot(const char *verb, const std::string &path) {
  return fail(ACL_ERROR_PROFILING_FAILURE, "aclprof: %s cannot be %s: %s.", path.c_str(), verb,
              std::strerror(errno));
}

Status make_folders(const std::string &path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0750) != 0 && errno != EEXIST) return cannot("made", part);
    if (end == std::string::npos) return 0;
  }
}

// A file that is complete when close() has returned 0.
class ProfileFile {
 public:
  explicit ProfileFile(std::string path) : path_(std::move(path)) {
    file_.reset(std::fopen(path_.c_str(), "we"));
  }
  template <class... Values>
  void print(const char *format, Values... values) {
    if (file_ != nullptr) std::fprintf(file_.get(), format, values...);
  }
  void text(const char *words) { print("%s", words); }
  Status close() {
    if (file_ == nullptr) return cannot("opened", path_);
    const bool failed = std::ferror(file_.get()) != 0;
    if (std::fclose(file_.release()) != 0 || failed) return cannot("written", path_);
    return 0;
  }

 private:
  struct Closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

// Numbers with a point, whatever locale the program has chosen.
class PlainNumbers {
 public:
  PlainNumbers() : before_(uselocale(plain())) {}
  ~PlainNumbers() { uselocale(before_); }
  PlainNumbers(const PlainNumbers &) = delete;
  PlainNumbers &operator=(const PlainNumbers &) = delete;

 private:
  static locale_t plain() {
    static const locale_t made = newlocale(LC_ALL_MASK, "C", nullptr);
    return made;
  }
  locale_t before_;
};

double microseconds(uint64_t ns) { return static_cast<double>(ns) / 1000.0; }

bool starts(const char *text, const char *head) {
  return std::strncmp(text, head, std::strlen(head)) == 0;
}

bool collective(const TimedTask &task) { return starts(task.what, "Hccl"); }
bool operation(const TimedTask &task) { return starts(task.what, "aclnn") || collective(task); }

const char *task_type(const TimedTask &task) {
  if (collective(task)) return "COMMUNICATION";
  if (operation(task)) return "AI_CORE";
  if (starts(task.what, "aclrtMemcpy")) return "MEMCPY_ASYNC";
  return starts(task.what, "aclmdlRI") ? "MODEL_EXECUTE" : "OTHER";
}

// "aclnnAdd" is of the type Add; a collective's name is HcclAllReduce.
const char *type_name(const TimedTask &task) {
  return starts(task.what, "aclnn") ? task.what + 5 : task.what;
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

Status write_operators(const std::string &path, const std::vector<const TimedTask *> &tasks) {
  ProfileFile file(path);
  file.text(
      "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task "
      "Duration(us),Task Wait Time(us),Input Shapes,Input Data Types,Input Formats,Output "
      "Shapes,Output Data Types,Output Formats,Communication Wait Time(us)\n");
  std::vector<const TimedTask *> operations;
  for (const TimedTask *task : tasks) {
    if (operation(*task) && !task->encloses) operations.push_back(task);
  }
  const std::vector<uint64_t> idle = idle_before(operations);
  for (size_t i = 0; i < operations.size(); ++i) {
    const TimedTask &t = *operations[i];
    // 4294967295 is CANN's way to say that an operator is in no model.
    file.print("%d,%u,%u,%d,%s,%s,%s,%.3f,%.3f,%.3f,\"%s\",%s,%s,\"%s\",%s,%s,%.3f\n", t.device,
               t.graph == 0 ? UINT32_MAX : t.graph, t.task, t.stream, t.what, type_name(t),
               task_type(t), microseconds(t.begin_ns), microseconds(t.end_ns - t.begin_ns),
               microseconds(idle[i]), t.inputs[0].c_str(), t.inputs[1].c_str(), t.inputs[2].c_str(),
               t.outputs[0].c_str(), t.outputs[1].c_str(), t.outputs[2].c_str(),
               microseconds(t.waited_ns));
  }
  return file.close();
}

Status write_tasks(const std::string &path, const std::vector<const TimedTask *> &tasks) {
  ProfileFile file(path);
  file.text(
      "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
      "task_stop(us)\n");
  for (const TimedTask *task : tasks) {
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

// Chrome's trace format: a process for each device, a row for each stream, a curve of its memory.
Status write_trace(const std::string &path, const std::vector<const TimedTask *> &tasks,
                   const Timeline &timeline) {
  ProfileFile file(path);
  std::map<int32_t, bool> devices;
  std::map<std::tuple<int32_t, int32_t>, bool> streams;
  for (const TimedTask *task : tasks) {
    devices[task->device] = true;
    streams[{task->device, task->stream}] = true;
  }
  for (const TimedMemory &use : timeline.memory) devices[use.device] = true;
  file.text("[");
  const char *comma = "\n";
  for (const auto &[device, _] : devices) {
    file.print(
        "%s{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": 0, \"args\": "
        "{\"name\": \"Ascend Hardware, device %d (emulator)\", \"dropped\": %" PRIu64 "}}",
        comma, device, device, timeline.dropped);
    comma = ",\n";
  }
  for (const auto &[place, _] : streams) {
    file.print(
        "%s{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"args\": "
        "{\"name\": \"Stream %d\"}}",
        comma, std::get<0>(place), std::get<1>(place), std::get<1>(place));
  }
  for (const TimedTask *task : tasks) {
    file.print(
        "%s{\"name\": \"%s\", \"ph\": \"X\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, \"dur\": "
        "%.3f, \"args\": {\"Task Type\": \"%s\", \"Task Id\": %u, \"Stream Id\": %d",
        comma, task->what, task->device, task->stream, microseconds(task->begin_ns),
        microseconds(task->end_ns - task->begin_ns), task_type(*task), task->task, task->stream);
    if (task->graph != 0) file.print(", \"Model Id\": %u", task->graph);
    if (!task->inputs[1].empty()) {
      file.print(", \"Input Shapes\": \"%s\", \"Input Data Types\": \"%s\"",
                 task->inputs[0].c_str(), task->inputs[1].c_str());
    }
    if (task->waited_ns != 0) {
      file.print(", \"Communication Wait Time(us)\": %.3f", microseconds(task->waited_ns));
    }
    file.text("}}");
    comma = ",\n";
  }
  for (const TimedMemory &use : timeline.memory) {
    file.print(
        "%s{\"name\": \"memory in use\", \"ph\": \"C\", \"pid\": %d, \"ts\": %.3f, \"args\": "
        "{\"KB\": %.3f}}",
        comma, use.device, microseconds(use.at_ns), static_cast<double>(use.used) / 1024.0);
    comma = ",\n";
  }
  file.text("\n]\n");
  return file.close();
}

Status write_files(const std::string &folder, const Timeline &timeline) {
  std::vector<const TimedTask *> tasks;
  for (const TimedTask &task : timeline.tasks) tasks.push_back(&task);
  // Of two that begin together the enclosing one is first.
  std::stable_sort(tasks.begin(), tasks.end(), [](const TimedTask *one, const TimedTask *other) {
    return std::tuple(one->begin_ns, other->end_ns) < std::tuple(other->begin_ns, one->end_ns);
  });
  const std::string end = "_" + stamp();
  if (const Status s = write_operators(folder + "/op_summary" + end + ".csv", tasks)) return s;
  if (const Status s = write_tasks(folder + "/task_time" + end + ".csv", tasks)) return s;
  if (!timeline.memory.empty()) {
    if (const Status s = write_memory(folder + "/npu_mem" + end + ".csv", timeline.memory))
      return s;
  }
  return write_trace(folder + "/msprof" + end + ".json", tasks, timeline);
}

}  // namespace

Status make_profile_folder(const std::string &path, std::string *folder) {
  static std::atomic<unsigned> count{0};
  char name[64];
  std::snprintf(name, sizeof name, "/PROF_%06u_%s_%ld", count.fetch_add(1) + 1, stamp().c_str(),
                static_cast<long>(getpid()));
  *folder = path + name + "/mindstudio_profiler_output";
  return make_folders(*folder);
}

Status write_profile(const std::string &folder) {
  const PlainNumbers plain;
  Status written = 0;
  const auto write = [&](const Timeline &timeline) { written = write_files(folder, timeline); };
  look_at_timeline(write);
  forget_timeline();
  return written;
}

}  // namespace emu
