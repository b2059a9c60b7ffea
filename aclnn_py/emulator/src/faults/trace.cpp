// SPDX-License-Identifier: Apache-2.0
#include "faults/trace.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>

#include "core/host_calls.h"
#include "faults/calls.h"
#include "faults/output.h"
#include "faults/sites.h"
#include "faults/streams.h"

namespace emu::faults {
namespace {

constexpr const char *kVariable = "ACLNN_PY_TRACE";

struct File {
  std::mutex mutex;
  bool opened = false;
  int descriptor = -1;
  size_t end = 0;
  std::string path;
};

File &file() {
  static auto *const instance = new File;
  return *instance;
}

void stop(const std::string &path, const std::string &why, const char *what) {
  g_modes.fetch_and(~kTrace);
  std::fprintf(stderr, "%s: %s: %s; %s\n", kVariable, path.c_str(), why.c_str(), what);
}

void write_out(const std::string &text) {
  File &f = file();
  if (f.descriptor < 0) return;
  if (write_at(f.descriptor, text.data(), text.size(), f.end)) {
    f.end += text.size();
    return;
  }
  const int problem = errno;
  if (ftruncate(f.descriptor, static_cast<off_t>(f.end)) != 0) errno = problem;  // half a line
  close(f.descriptor);
  f.descriptor = -1;
  stop(f.path, std::strerror(problem), "the trace ends here");
}

// With the first call, so that a process that makes none leaves the file alone. The lock is held.
void open_file() {
  File &f = file();
  if (f.opened) return;
  f.opened = true;
  f.path = path_of(kVariable, "txt");
  if (f.path.size() > 5 && f.path.compare(f.path.size() - 5, 5, ".json") == 0) {
    return stop(f.path, "a program without Python writes text, under a name without .json",
                "nothing is traced");
  }
  std::string why;
  f.descriptor = open_output(f.path, &why);
  if (f.descriptor < 0) return stop(f.path, why, "nothing is traced");
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &local));
  write_out("# aclnn_py trace 1, process " + std::to_string(getpid()) + ", " + date + "\n");
}

// "stream 1" for phase two, which is all that launches an operator; "-" for the others.
std::string stream_column(const Call &call) {
  if (!is_phase_two(call)) return "-";
  return "stream " + std::to_string(std::max(0, launch_stream_number(call.value(3).pointer())));
}

// Functions of this kind answer with objects that were there before.
bool gives_out(std::string_view name) {
  constexpr std::string_view phase_one = "GetWorkspaceSize";
  if (name.size() > phase_one.size() && name.substr(name.size() - phase_one.size()) == phase_one)
    return true;
  return name.find("Get") == std::string_view::npos;
}

}  // namespace

int64_t trace_clock() {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

void trace_begins(const Call &call, const Signature &signature, Traced &traced) {
  for (size_t i = 0; i < call.count; ++i)
    traced.arguments.push_back(
        argument_text(call.value(i), signature.parameters[i], call.value(i + 1)));
  traced.begun = trace_clock();
}

void trace_ends(const Call &call, const Signature &signature, const Traced &traced,
                const Value &result, int64_t ended) {
  const bool done = !is_status(signature.result) || result.bits == 0;
  const bool anew = gives_out(signature.name);
  const int64_t lasted = ended - traced.begun;
  char head[128];
  std::snprintf(head, sizeof head, "%10lld.%03lld us +%lld.%03lld us  thread %lld  ",
                static_cast<long long>(traced.begun / 1000),
                static_cast<long long>(traced.begun % 1000), static_cast<long long>(lasted / 1000),
                static_cast<long long>(lasted % 1000), static_cast<long long>(thread_number()));
  std::string text = head + stream_column(call) + "  " + std::string(signature.name) + "(";
  for (size_t i = 0; i < call.count; ++i) {
    const Parameter &parameter = signature.parameters[i];
    const bool written = done && is_written(call.value(i));
    text += (i > 0 ? ", " : "") + std::string(written ? "*" : "") + std::string(parameter.name) +
            "=" + (written ? written_text(call.value(i), parameter, anew) : traced.arguments[i]);
  }
  text += ") -> " + result_text(result, signature.result, anew);
  if (const std::string place = line_of(site_here()); !place.empty())
    text += "  [line " + place + "]";
  std::lock_guard<std::mutex> lock(file().mutex);
  open_file();
  write_out(text + "\n");
}

}  // namespace emu::faults
