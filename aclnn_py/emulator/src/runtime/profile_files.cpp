// SPDX-License-Identifier: Apache-2.0
#include "runtime/profile_files.h"

#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "acl/acl_base.h"
#include "core/date_and_time.h"
#include "core/marks.h"
#include "runtime/profile_text.h"

namespace emu {
namespace {

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

Status make_folders(const std::string &path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0750) != 0 && errno != EEXIST) return profile_file_failed("made", part);
    if (end == std::string::npos) return 0;
  }
}

bool starts(const char *text, const char *head) {
  return std::strncmp(text, head, std::strlen(head)) == 0;
}

// The length of the UTF-8 character at `at`, 0 where there is none.
size_t character(const std::string &words, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(words[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > words.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  const bool outside = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return outside ? 0 : length;
}

// Calls one(c) for each ASCII character; others are taken over.
template <class F>
std::string each_character(const std::string &words, F one) {
  std::string text;
  for (size_t at = 0; at < words.size();) {
    const size_t length = character(words, at);
    if (length == 1) {
      one(words[at], &text);
    } else if (length == 0) {
      text += "\xef\xbf\xbd";
    } else {
      text.append(words, at, length);
    }
    at += std::max<size_t>(length, 1);
  }
  return text;
}

ProfileNotes sort_notes(const Timeline &timeline) {
  ProfileNotes notes{timeline, {}, {}};
  for (const TimedTask &task : timeline.tasks) {
    if (task.what != kMarkTask) notes.tasks.push_back(&task);
  }
  // Of two that begin together the enclosing one is first.
  std::stable_sort(
      notes.tasks.begin(), notes.tasks.end(), [](const TimedTask *one, const TimedTask *other) {
        return std::tuple(one->begin_ns, other->end_ns) < std::tuple(other->begin_ns, one->end_ns);
      });
  std::map<std::tuple<int32_t, int32_t, uint32_t>, const TimedCall *> launches;
  for (const TimedCall &call : timeline.calls) {
    const TaskPlace &place = call.launched;
    if (place.task != 0) launches[{place.device, place.stream, place.task}] = &call;
  }
  for (const TimedTask *task : notes.tasks) {
    const auto at = launches.find({task->device, task->stream, task->task});
    notes.launched_by.push_back(task->graph == 0 && at != launches.end() ? at->second : nullptr);
  }
  return notes;
}

Status write_files(const std::string &folder, const Timeline &timeline) {
  const ProfileNotes notes = sort_notes(timeline);
  const std::string end = "_" + date_and_time();
  if (const Status s = write_tables(folder, end + ".csv", notes)) return s;
  return write_trace(folder + "/msprof" + end + ".json", notes);
}

}  // namespace

ProfileFile::ProfileFile(std::string path) : path_(std::move(path)) {
  file_.reset(std::fopen(path_.c_str(), "we"));
}

Status ProfileFile::close() {
  if (file_ == nullptr) return profile_file_failed("opened", path_);
  const bool failed = std::ferror(file_.get()) != 0;
  if (std::fclose(file_.release()) != 0 || failed) return profile_file_failed("written", path_);
  return 0;
}

Status profile_file_failed(const char *verb, const std::string &path) {
  const int reason = errno;
  // Opening a file takes memory; the lack of it has one status everywhere.
  const Status status = reason == ENOMEM ? ACL_ERROR_BAD_ALLOC : ACL_ERROR_PROFILING_FAILURE;
  return fail(status, "aclprof: %s cannot be %s: %s.", path.c_str(), verb, std::strerror(reason));
}

std::string json_text(const std::string &words) {
  return each_character(words, [](char c, std::string *text) {
    char code[8];
    if (c == '"' || c == '\\') {
      (*text += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      *text += code;
    } else {
      *text += c;
    }
  });
}

// Line ends become blanks: the tables have a line for each row.
std::string csv_text(const std::string &words) {
  return each_character(words, [](char c, std::string *text) {
    if (c == '"') *text += '"';
    *text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  });
}

bool is_collective(const char *what) { return starts(what, "Hccl"); }

bool is_operation(const TimedTask &task) {
  return starts(task.what, "aclnn") || is_collective(task.what);
}

const char *task_type(const TimedTask &task) {
  if (is_collective(task.what)) return "COMMUNICATION";
  if (is_operation(task)) return "AI_CORE";
  if (starts(task.what, "aclrtMemcpy")) return "MEMCPY_ASYNC";
  return starts(task.what, "aclmdlRI") ? "MODEL_EXECUTE" : "OTHER";
}

std::string call_name(const TimedCall &call) {
  return call.phase_one ? std::string(call.what) + "GetWorkspaceSize" : call.what;
}

Status make_profile_folder(const std::string &path, std::string *folder) {
  static std::atomic<unsigned> count{0};
  char name[64];
  std::snprintf(name, sizeof name, "/PROF_%06u_%s_%ld", count.fetch_add(1) + 1,
                date_and_time().c_str(), static_cast<long>(getpid()));
  *folder = path + name + "/mindstudio_profiler_output";
  return make_folders(*folder);
}

Status write_profile(const std::string &folder) {
  const PlainNumbers plain;
  Status written = 0;
  const auto write = [&](const Timeline &timeline) { written = write_files(folder, timeline); };
  look_at_timeline(write);
  if (written != ACL_ERROR_BAD_ALLOC) forget_timeline();  // else the call is made again
  return written;
}

}  // namespace emu
