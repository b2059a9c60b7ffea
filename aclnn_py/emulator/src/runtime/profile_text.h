// SPDX-License-Identifier: Apache-2.0
// What the files of a profile have in common: how they are written, and how words of the program
// stand in them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "core/timeline.h"

namespace emu {

// A file that is complete when close() has returned 0.
class ProfileFile {
 public:
  explicit ProfileFile(std::string path);
  template <class... Values>
  void print(const char *format, Values... values) {
    if (file_ != nullptr) std::fprintf(file_.get(), format, values...);
  }
  void text(const char *words) { print("%s", words); }
  Status close();

 private:
  struct Closer {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

Status profile_file_failed(const char *verb, const std::string &path);

// The program's words between the quotes of a JSON string, or of a field of a table. Bytes that are
// no UTF-8 become U+FFFD.
std::string json_text(const std::string &words);
std::string csv_text(const std::string &words);

inline double microseconds(uint64_t ns) { return static_cast<double>(ns) / 1000.0; }

bool is_collective(const char *what);
// Operators and collectives: what tables of operators have.
bool is_operation(const TimedTask &task);
const char *task_type(const TimedTask &task);
std::string call_name(const TimedCall &call);

// All that the files are made of, sorted by time.
struct ProfileNotes {
  const Timeline &timeline;
  std::vector<const TimedTask *> tasks;
  std::vector<const TimedCall *> launched_by;  // for each task: the call that launched it, or null
};

// runtime/profile_tables.cpp
Status write_tables(const std::string &folder, const std::string &end, const ProfileNotes &notes);
// runtime/profile_trace.cpp
Status write_trace(const std::string &path, const ProfileNotes &notes);

}  // namespace emu
