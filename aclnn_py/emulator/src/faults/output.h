// SPDX-License-Identifier: Apache-2.0
// The file that a variable of the environment names, as in ACLNN_PY_TRACE=calls-%p.txt.
#pragma once

#include <signal.h>

#include <string>

namespace emu::faults {

// %p is the process, %r the rank (variable RANK, 0 without it). For a directory: a file in it,
// named after the process.
std::string path_of(const char *variable, const char *kind);

// Empties the file, or makes it. -1 with the reason in `why`.
int open_output(const std::string &path, std::string *why);

// Keeps SIGPIPE and SIGXFSZ, which end a process, from a thread that writes: it gets an error.
class QuietWrites {
 public:
  QuietWrites();
  ~QuietWrites();
  QuietWrites(const QuietWrites &) = delete;
  QuietWrites &operator=(const QuietWrites &) = delete;

 private:
  sigset_t both_, before_;
};

// At a place of the file, all of it; false with errno.
bool write_at(int file, const void *data, size_t bytes, size_t at);

}  // namespace emu::faults
