// SPDX-License-Identifier: Apache-2.0
#include "faults/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string>

#include "core/context.h"
#include "core/stream.h"
#include "faults/sites.h"
#include "meta/parameters.h"

namespace emu::faults {
namespace {

constexpr size_t kMostPlanned = 100000;  // executors that were made and not run yet

struct Planned {
  std::string op, arguments, place;
  int64_t begun = 0, lasted = 0;
};

struct File {
  std::mutex mutex;
  bool opened = false;
  int descriptor = -1;
  std::map<const void *, Planned> planned;
};

File &file() {
  static auto *const instance = new File;
  return *instance;
}

void put(std::string &text, const char *name, const std::string &to) {
  for (size_t at; (at = text.find(name)) != std::string::npos;)
    text.replace(at, std::strlen(name), to);
}

std::string path_of_environment() {
  const char *given = std::getenv("ACLNN_PY_TRACE"), *rank = std::getenv("RANK");
  std::string path = given != nullptr ? given : "";
  put(path, "%p", std::to_string(getpid()));
  put(path, "%r", rank != nullptr && *rank != '\0' ? rank : "0");
  return path;
}

void stop(const std::string &path, const char *why) {
  g_modes.fetch_and(~kTrace);
  std::fprintf(stderr, "ACLNN_PY_TRACE: %s: %s; nothing is traced\n", path.c_str(), why);
}

void write_out(const std::string &text) {
  File &f = file();
  size_t done = 0;
  while (f.descriptor >= 0 && done < text.size()) {
    const ssize_t n = write(f.descriptor, text.data() + done, text.size() - done);
    if (n < 0) return stop(path_of_environment(), std::strerror(errno));
    done += static_cast<size_t>(n);
  }
}

// With the first call, so that a process that makes none leaves the file alone. The lock is held.
void open_file() {
  File &f = file();
  if (f.opened) return;
  f.opened = true;
  const std::string path = path_of_environment();
  if (path.size() > 5 && path.compare(path.size() - 5, 5, ".json") == 0)
    return stop(path, "a program without Python writes text, under a name without .json");
  f.descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (f.descriptor < 0) return stop(path, std::strerror(errno));
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &local));
  write_out("# aclnn_py trace 1, process " + std::to_string(getpid()) + ", " + date + "\n");
}

std::string pointer(const void *address) {
  if (address == nullptr) return "NULL";
  char text[24];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

std::string numbers(const Dims &values) {
  std::string text;
  for (const int64_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

std::string tensor_text(const PlanTensor &entry) {
  const aclTensor &tensor = entry.tensor;
  if (entry.source == nullptr) return "NULL";
  std::string text = std::string("Tensor(") + dtype_name(tensor.dtype) + "[" +
                     numbers(tensor.shape) + "] @" + pointer(tensor.data);
  if (!tensor.contiguous()) text += " strides {" + numbers(tensor.strides) + "}";
  if (tensor.format != ACL_FORMAT_ND) text += std::string(" ") + format_name(tensor.format);
  return text + ")";
}

// The tensors of a call by their parameters; numbers and texts are not known here.
std::string tensors_of(const PlanState &plan) {
  const TensorParameters names = find_tensor_parameters(plan.op);
  std::string text;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlanTensor &entry = plan.tensors[i];
    if (entry.list < 0) continue;
    text += entry.list < names.count ? names.first[entry.list].name : "tensor" + std::to_string(i);
    if (entry.member >= 0) text += "[" + std::to_string(entry.member) + "]";
    text += "=" + tensor_text(entry) + ", ";
  }
  return text;
}

// "add.c:31" of "add.c:31 in main, called from ...".
std::string place_of(const Site &site) {
  const std::string text = site_text(site);
  return text.substr(0, text.find_first_of(" ,"));
}

std::string line_of(const Planned &call, const char *ending, int32_t stream, Status status) {
  char head[160], tail[64];
  std::snprintf(head, sizeof head, "%14lld.%03lld us +%lld.%03lld us  thread %d  stream %d  ",
                static_cast<long long>(call.begun / 1000),
                static_cast<long long>(call.begun % 1000),
                static_cast<long long>(call.lasted / 1000),
                static_cast<long long>(call.lasted % 1000), gettid(), stream);
  std::snprintf(tail, sizeof tail, status == 0 ? "ACLNN_SUCCESS" : "status(%d)", status);
  std::string text = head + call.op + ending + "(" + call.arguments + ") -> " + tail;
  if (!call.place.empty()) text += "  [line " + call.place + "]";
  return text + "\n";
}

int32_t stream_of(aclrtStream given) {
  const Stream *stream = nullptr;
  if (given != nullptr) {
    stream = streams().find(given);
  } else if (Context *context = peek_context()) {
    stream = context->default_stream.load();
  }
  return stream != nullptr ? stream->id : 0;
}

}  // namespace

int64_t trace_clock() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

void trace_planned(const void *executor, const PlanState &plan, int64_t begun) {
  const int64_t now = trace_clock();
  Planned call{plan.op,
               tensors_of(plan) + "*workspaceSize=" + std::to_string(plan.workspace) +
                   ", *executor=" + pointer(executor),
               place_of(site_here()), begun, now - begun};
  std::lock_guard<std::mutex> lock(file().mutex);
  if (file().planned.size() < kMostPlanned) file().planned[executor] = std::move(call);
}

void trace_run(const TracedRun &run, Status status) {
  const int64_t now = trace_clock();
  Planned call{run.op,
               "workspace=" + pointer(run.workspace) +
                   ", workspaceSize=" + std::to_string(run.workspace_size) +
                   ", executor=" + pointer(run.executor) + ", stream=" + pointer(run.stream),
               place_of(site_here()), run.begun, now - run.begun};
  const int32_t stream = stream_of(run.stream);
  std::lock_guard<std::mutex> lock(file().mutex);
  open_file();
  std::string text;
  if (const auto at = file().planned.find(run.executor); at != file().planned.end()) {
    text = line_of(at->second, "GetWorkspaceSize", stream, 0);
    file().planned.erase(at);
  }
  write_out(text + line_of(call, "", stream, status));
}

}  // namespace emu::faults
