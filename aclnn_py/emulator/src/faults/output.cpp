// SPDX-License-Identifier: Apache-2.0
#include "faults/output.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace emu::faults {
namespace {

void put(std::string &text, const char *name, const std::string &to) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += to.size())
    text.replace(at, std::strlen(name), to);
}

}  // namespace

std::string path_of(const char *variable, const char *kind) {
  const char *given = std::getenv(variable), *rank = std::getenv("RANK");
  std::string path = given != nullptr ? given : "";
  put(path, "%p", std::to_string(getpid()));
  put(path, "%r", rank != nullptr && *rank != '\0' ? rank : "0");
  struct stat found{};
  if (stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode))
    path += (path.back() == '/' ? "" : "/") + std::to_string(getpid()) + "." + kind;
  return path;
}

int open_output(const std::string &path, std::string *why) {
  // Without O_NONBLOCK a pipe that nobody reads would be waited for.
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
  if (file < 0) {
    *why = errno == ENXIO ? "nobody reads this pipe" : std::strerror(errno);
    return -1;
  }
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    *why = "another process writes to it; put %p or %r into the name";
  } else if (ftruncate(file, 0) != 0 && errno != EINVAL) {  // EINVAL: no regular file
    *why = std::strerror(errno);
  } else {
    return file;
  }
  close(file);
  return -1;
}

QuietWrites::QuietWrites() {
  sigset_t pending;
  sigemptyset(&both_);
  sigaddset(&both_, SIGPIPE);
  sigaddset(&both_, SIGXFSZ);
  // One that waits already is the program's.
  sigpending(&pending);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (sigismember(&pending, signal) == 1) sigdelset(&both_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &both_, &before_);
}

QuietWrites::~QuietWrites() {
  const int problem = errno;
  const timespec at_once{};
  while (sigtimedwait(&both_, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = problem;
}

bool write_at(int file, const void *data, size_t bytes, size_t at) {
  const QuietWrites quiet;
  const auto *from = static_cast<const char *>(data);
  for (size_t done = 0; done < bytes;) {
    ssize_t n = pwrite(file, from + done, bytes - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == ESPIPE) n = write(file, from + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace emu::faults
