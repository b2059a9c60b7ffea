// SPDX-License-Identifier: Apache-2.0
// The side of a rendezvous that waits for all ranks, gives each the shared memory, and when they do
// not all come tells those that did who is missing.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "core/undo.h"
#include "hccl/rendezvous.h"
#include "hccl/rendezvous_wire.h"

namespace emu::hccl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGreetingSeconds = 10;  // for a peer that connected to say who it is
constexpr size_t kMaxGuests = 2 * kMaxRanks;

struct Guest {
  int fd = -1;
  bool greeted = false;
  WireHello hello{};
  Clock::time_point deadline;
};

class Host {
 public:
  Host(int listener, const Meeting &meeting) : listener_(listener), meeting_(meeting) {
    make_room();
  }

  ~Host() {
    if (listener_ >= 0) close(listener_);
    for (Guest &guest : guests_) close(guest.fd);
  }

  // Nobody is there to catch what this throws: the ranks are told, as of any other end.
  void run() noexcept {
    try {
      while (!over_) {
        wait();
        if (!over_) check_deadlines();
        if (!over_ && all_there()) welcome();
      }
    } catch (const std::exception &) {
      give_up();
    }
  }

 private:
  static std::string name(const Guest &guest) {
    return "rank " + std::to_string(guest.hello.rank) + " (process " +
           std::to_string(guest.hello.member.process.pid) + ", device " +
           std::to_string(guest.hello.member.device) + ")";
  }

  void wait() {
    auto &wanted = wanted_;
    wanted.assign(1, {listener_, POLLIN, 0});
    int milliseconds = -1;
    for (const Guest &guest : guests_) {
      wanted.push_back({guest.fd, POLLIN, 0});
      const double left = std::chrono::duration<double>(guest.deadline - Clock::now()).count();
      const int limit = left <= 0 ? 0 : static_cast<int>(std::min(left, 3600.0) * 1000) + 1;
      milliseconds = milliseconds < 0 ? limit : std::min(milliseconds, limit);
    }
    if (poll(wanted.data(), wanted.size(), milliseconds) < 0) {
      if (errno != EINTR)
        refuse(HCCL_E_SYSCALL, "EI0006", std::string("poll: ") + std::strerror(errno));
      return;
    }
    // from the end, so that removing a guest leaves the others in place; newcomers last
    for (size_t i = guests_.size(); i-- > 0 && !over_;) {
      if (wanted[i + 1].revents != 0) hear(i);
    }
    if (!over_ && wanted[0].revents != 0) admit();
  }

  // Waiting for the first guests needs no more memory than there was when the meeting was opened.
  void make_room() {
    const size_t more = 2 * guests_.size() + 16;
    guests_.reserve(more);
    wanted_.reserve(more + 1);
  }

  void admit() {
    // Reserve first, so that every accepted socket has an owner that closes it.
    if (guests_.size() == guests_.capacity()) make_room();
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED || errno == EAGAIN) return;
      return refuse(HCCL_E_SYSCALL, "EI0006", std::string("accept: ") + std::strerror(errno));
    }
    if (!same_user(fd)) {
      close(fd);
      return;
    }
    if (guests_.size() >= kMaxGuests) dismiss_oldest_stranger();
    guests_.emplace_back();
    Guest &guest = guests_.back();
    guest.fd = fd;
    guest.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(kGreetingSeconds));
  }

  void dismiss(size_t i) {
    close(guests_[i].fd);
    guests_.erase(guests_.begin() + static_cast<long>(i));
  }

  // There is one: the ranks fill only half of the places.
  void dismiss_oldest_stranger() {
    const auto oldest =
        std::find_if(guests_.begin(), guests_.end(), [](const Guest &g) { return !g.greeted; });
    if (oldest != guests_.end()) dismiss(static_cast<size_t>(oldest - guests_.begin()));
  }

  void hear(size_t i) {
    Guest &guest = guests_[i];
    if (guest.greeted) {
      // a waiting rank has nothing to say: it ended
      const std::string text = name(guest) + " ended while the communicator was being set up";
      dismiss(i);
      return refuse(HCCL_E_TCP_CONNECT, "EI0006", text);
    }
    WireHello &hello = guest.hello;
    bool again = false;
    const bool heard = receive_hello(guest.fd, &hello, &again);
    if (again) return;
    // who does not know the secret, or speaks otherwise, is not told anything
    if (!heard || !same_secret(hello.secret, meeting_.secret)) return dismiss(i);
    ucred peer{};
    socklen_t length = sizeof peer;
    getsockopt(guest.fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
    // in another process id namespace the number means nothing here, and ours nothing there
    if (peer.pid != hello.member.process.pid) hello.member.process.observable = 0;
    guest.greeted = true;
    guest.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(hello.timeout));
    compare(i);
  }

  void compare(size_t i) {
    const Guest &guest = guests_[i];
    for (size_t k = 0; k < guests_.size(); ++k) {
      const Guest &other = guests_[k];
      if (k == i || !other.greeted) continue;
      if (other.hello.ranks != guest.hello.ranks) {
        return refuse(HCCL_E_PARA, "EI0003",
                      name(other) + " gives " + std::to_string(other.hello.ranks) +
                          " as the number of ranks, but " + name(guest) + " gives " +
                          std::to_string(guest.hello.ranks));
      }
      if (other.hello.rank == guest.hello.rank) {
        return refuse(HCCL_E_PARA, "EI0003",
                      "two ranks have the same number: " + name(other) + " and " + name(guest));
      }
      if (other.hello.member.process.nonce == guest.hello.member.process.nonce &&
          other.hello.member.device == guest.hello.member.device) {
        return refuse(HCCL_E_PARA, "EI0003",
                      name(other) + " and " + name(guest) + " use the same device of one process");
      }
      if (std::strcmp(other.hello.agreement, guest.hello.agreement) != 0) {
        return refuse(HCCL_E_PARA, "EI0003",
                      name(other) + " names the communicator \"" + other.hello.agreement +
                          "\", but " + name(guest) + " names it \"" + guest.hello.agreement + "\"");
      }
    }
  }

  size_t present() const {
    return static_cast<size_t>(
        std::count_if(guests_.begin(), guests_.end(), [](const Guest &g) { return g.greeted; }));
  }

  bool all_there() const {
    for (const Guest &guest : guests_) {
      if (guest.greeted) return present() == guest.hello.ranks;
    }
    return false;
  }

  void check_deadlines() {
    const Clock::time_point now = Clock::now();
    for (size_t i = guests_.size(); i-- > 0;) {
      if (guests_[i].deadline > now || (guests_[i].greeted && all_there())) continue;
      if (!guests_[i].greeted) {
        dismiss(i);
        continue;
      }
      return refuse_missing(guests_[i].hello);
    }
  }

  void refuse_missing(const WireHello &hello) {
    std::vector<bool> here(hello.ranks, false);
    for (const Guest &guest : guests_) {
      if (guest.greeted) here[guest.hello.rank] = true;
    }
    std::string missing;
    size_t named = 0, count = 0;
    for (uint32_t r = 0; r < hello.ranks; ++r) {
      if (here[r]) continue;
      ++count;
      if (named < 64) {
        missing += (missing.empty() ? "" : ", ") + std::to_string(r);
        ++named;
      }
    }
    if (named < count) missing += ", ...";
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", hello.timeout);
    refuse(HCCL_E_TIMEOUT, "EI0006",
           std::string("of ") + std::to_string(hello.ranks) + " ranks, rank " + missing +
               " did not come within " + limit + " s (HCCL_CONNECT_TIMEOUT); " +
               std::to_string(hello.ranks - count) + " came");
  }

  void give_up() noexcept {
    if (over_) return;
    finish();
    WireVerdict verdict{};
    verdict.status = HCCL_E_MEMORY;
    std::snprintf(verdict.message_code, sizeof verdict.message_code, "EI0007");
    std::snprintf(verdict.text, sizeof verdict.text,
                  "the host of the rendezvous has no memory left");
    tell(verdict, -1);
  }

  void finish() {
    // closed before anyone gets an answer: a rank that opens the next meeting of this name finds it
    // free
    close(listener_);
    listener_ = -1;
    over_ = true;
  }

  void refuse(Status status, const char *message_code, const std::string &text) {
    finish();
    WireVerdict verdict{};
    verdict.status = status;
    std::snprintf(verdict.message_code, sizeof verdict.message_code, "%s", message_code);
    std::snprintf(verdict.text, sizeof verdict.text, "%s", text.c_str());
    tell(verdict, -1);
  }

  // The ranks of this process last: their process may end soon after they know.
  void tell(const WireVerdict &verdict, int shared) {
    const uint64_t here = this_process().nonce;
    for (const bool own : {false, true}) {
      for (const Guest &guest : guests_) {
        if (guest.greeted && (guest.hello.member.process.nonce == here) == own)
          send_verdict(guest.fd, verdict, shared);
      }
    }
  }

  void welcome() {
    std::vector<Member> members;
    for (const Guest &guest : guests_) {
      if (members.empty()) members.resize(guest.hello.ranks);
      if (guest.greeted) members[guest.hello.rank] = guest.hello.member;
    }
    // one rank that cannot be observed makes no rank observable to it either
    const bool observable = std::all_of(members.begin(), members.end(),
                                        [](const Member &m) { return m.process.observable != 0; });
    for (Member &member : members) member.process.observable = observable;
    std::string why;
    const int shared = Region::create(members, &why);
    if (shared < 0) return refuse(HCCL_E_MEMORY, "EI0007", why);
    finish();
    tell(WireVerdict{}, shared);
    close(shared);
  }

  int listener_;
  const Meeting meeting_;
  std::vector<Guest> guests_;
  std::vector<pollfd> wanted_;
  bool over_ = false;
};

}  // namespace

bool hold_meeting(const Meeting &meeting, std::string *why) {
  why->clear();
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address;
  const socklen_t length = wire_address(meeting.address, &address);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      listen(fd, 1024) != 0) {
    if (errno != EADDRINUSE) *why = std::strerror(errno);
    if (fd >= 0) close(fd);
    return false;
  }
  Undo listening([fd] { close(fd); });
  auto host = std::make_unique<Host>(fd, meeting);  // it closes the socket
  listening.keep();
  // signals of the program belong to its own threads
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread([host = std::move(host)] { host->run(); }).detach();
  } catch (const std::exception &error) {
    started = false;
    *why = error.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace emu::hccl
