// SPDX-License-Identifier: Apache-2.0
#include "core/log_file.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "core/process.h"

namespace emu::logs {
namespace {

constexpr off_t kLargestFile = 20 << 20;  // CANN's
constexpr int kPatience = 1000;           // ms that a full pipe may take

// A closed pipe or a limit on the size of files would end the program. Keeps errno too.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigemptyset(&mine_);
    sigaddset(&mine_, SIGPIPE);
    sigaddset(&mine_, SIGXFSZ);
    sigset_t waiting;
    sigpending(&waiting);
    waited_ = sigismember(&waiting, SIGPIPE) == 1 || sigismember(&waiting, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &mine_, &before_);
  }
  ~WithoutSignals() {
    const timespec at_once{};
    while (!waited_ && sigtimedwait(&mine_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = errno_;
  }
  WithoutSignals(const WithoutSignals &) = delete;
  WithoutSignals &operator=(const WithoutSignals &) = delete;

 private:
  const int errno_ = errno;
  sigset_t mine_, before_;
  bool waited_;
};

bool write_all(int file, const char *from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::write(file, from, bytes);
    if (n > 0) {
      from += n;
      bytes -= static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      pollfd room{file, POLLOUT, 0};
      if (poll(&room, 1, kPatience) <= 0) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

struct Files {
  int open = -1;
  off_t size = 0;
  std::string last;               // the name of the newest
  std::deque<std::string> names;  // oldest first
};

struct State {
  std::mutex mutex;
  Files files[2];
  pid_t process = 0;
  bool told = false;
};

State &state() {
  static auto *const all = [] {
    auto *made = new State;
    // A child that is forked while a thread writes would wait for that thread for ever.
    pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); },
                   [] { state().mutex.unlock(); });
    return made;
  }();
  return *all;
}

bool make_directories(const std::string &path) {
  for (size_t at = 0; at != std::string::npos;) {
    at = path.find('/', at + 1);
    if (mkdir(path.substr(0, at).c_str(), 0750) != 0 && errno != EEXIST) return false;
  }
  return true;
}

// plog-4711_20261130000102003.log, as CANN names them.
std::string file_name(pid_t process) {
  timeval now{};
  gettimeofday(&now, nullptr);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  char day[32], name[96];
  std::strftime(day, sizeof day, "%Y%m%d%H%M%S", &local);
  std::snprintf(name, sizeof name, "plog-%ld_%s%03ld.log", static_cast<long>(process), day,
                static_cast<long>(now.tv_usec / 1000));
  return name;
}

// Begins a new file; false with errno.
bool begin_file(Files &files, const Destination &destination, Kind kind) {
  const std::string folder =
      destination.directory + (kind == Kind::debug ? "/debug/plog" : "/run/plog");
  if (!make_directories(folder)) return false;
  if (files.open >= 0) close(files.open);
  files.open = -1;
  std::string path;
  do {  // two files of one millisecond would be one
    path = folder + "/" + file_name(state().process);
  } while (path == files.last);
  files.open = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (files.open < 0) return false;
  struct stat found{};
  files.size = fstat(files.open, &found) == 0 ? found.st_size : 0;
  files.last = path;
  files.names.push_back(path);
  while (files.names.size() > static_cast<size_t>(destination.most_files)) {
    unlink(files.names.front().c_str());
    files.names.pop_front();
  }
  return true;
}

bool put_in_file(const Destination &destination, Kind kind, const std::string &lines) {
  State &all = state();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (all.process != getpid()) {  // a forked child has files of its own
    for (Files &inherited : all.files) {
      if (inherited.open >= 0) close(inherited.open);
      inherited = Files{};
    }
    all.process = getpid();
  }
  Files &files = all.files[static_cast<int>(kind)];
  const bool full = files.size + static_cast<off_t>(lines.size()) > kLargestFile;
  if ((files.open < 0 || full) && !begin_file(files, destination, kind)) return false;
  if (!write_all(files.open, lines.data(), lines.size())) return false;
  files.size += static_cast<off_t>(lines.size());
  return true;
}

void tell_failure(const Destination &destination, int reason) {
  State &all = state();
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    if (std::exchange(all.told, true)) return;
  }
  const std::string to =
      destination.to_stdout ? std::string("stdout") : "files below " + destination.directory;
  const std::string text = "aclnn_py: lines of CANN's log are lost: cannot write to " + to + ": " +
                           std::strerror(reason) + "\n";
  write_all(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Destination destination_from_environment() {
  Destination found;
  // The newer name goes first, as in CANN 9.2.
  const char *print = std::getenv("ASCEND_LOG_PRINT_TO_STDOUT");
  if (print == nullptr) print = std::getenv("ASCEND_SLOG_PRINT_TO_STDOUT");
  found.to_stdout = print != nullptr && std::strcmp(print, "1") == 0;
  const char *path = std::getenv("ASCEND_PROCESS_LOG_PATH");
  const char *work = std::getenv("ASCEND_WORK_PATH");
  if (path != nullptr && *path != '\0') {
    found.directory = path;
  } else if (work != nullptr && *work != '\0') {
    found.directory = std::string(work) + "/log";
  }
  const int64_t files = environment_number("ASCEND_HOST_LOG_FILE_NUM", found.most_files);
  if (files >= 1 && files <= 1000) found.most_files = static_cast<int>(files);
  return found;
}

void put(const Destination &destination, Kind kind, const std::string &lines) noexcept try {
  const WithoutSignals quiet;
  const bool done = destination.to_stdout ? write_all(STDOUT_FILENO, lines.data(), lines.size())
                                          : put_in_file(destination, kind, lines);
  if (!done) tell_failure(destination, errno);
} catch (const std::exception &) {
  // No memory for a name: the line is lost, the program goes on.
}

}  // namespace emu::logs
