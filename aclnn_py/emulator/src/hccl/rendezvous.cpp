// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "hccl/rendezvous.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "hccl/peers.h"
#include "hccl/rendezvous_wire.h"

#include "core/undo.h"

namespace emu::hccl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kInfoMagic = 0x4f464e49544f4f52ULL;
// seconds beyond its own limit in which a rank still listens for the verdict
constexpr double kGrace = 15;

struct RootInfo {
  uint64_t magic;
  uint32_t version;
  int32_t holder;  // process id, for messages
  char address[96];
  unsigned char secret[kSecretBytes];
};
static_assert(sizeof(RootInfo) <= HCCL_ROOT_INFO_BYTES);

// Not a cryptographic hash: who may take part is decided by the user id of the peer. The numbers
// only keep jobs of one user apart.
uint64_t mix(const std::string &text, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325ULL ^ seed * 0x9e3779b97f4a7c15ULL;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3ULL;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebULL;
  return hash ^ hash >> 31;
}

std::string hexadecimal(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

double remaining(Clock::time_point deadline) {
  return std::chrono::duration<double>(deadline - Clock::now()).count();
}

}  // namespace

Meeting random_meeting() {
  Meeting meeting;
  unsigned char bytes[16 + kSecretBytes];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    // without a random source the address must at least be unique
    const std::string text =
        std::to_string(Clock::now().time_since_epoch().count()) + "/" + std::to_string(getpid());
    return meeting_of(text);
  }
  uint64_t words[2];
  std::memcpy(words, bytes, sizeof words);
  std::memcpy(meeting.secret, bytes + 16, kSecretBytes);
  meeting.address = "aclnn_py/hccl/" + hexadecimal(words[0]) + hexadecimal(words[1]);
  return meeting;
}

Meeting meeting_of(const std::string &text) {
  Meeting meeting;
  const std::string mine = std::to_string(geteuid()) + "\n" + text;
  meeting.address = "aclnn_py/hccl/" + hexadecimal(mix(mine, 1)) + hexadecimal(mix(mine, 2));
  for (size_t i = 0; i < kSecretBytes / 8; ++i) {
    const uint64_t word = mix(mine, 3 + i);
    std::memcpy(meeting.secret + 8 * i, &word, 8);
  }
  return meeting;
}

void write_root_info(const Meeting &meeting, HcclRootInfo *info) {
  RootInfo root{};
  root.magic = kInfoMagic;
  root.version = kWireVersion;
  root.holder = getpid();
  std::snprintf(root.address, sizeof root.address, "%s", meeting.address.c_str());
  std::memcpy(root.secret, meeting.secret, kSecretBytes);
  std::memset(info, 0, sizeof *info);
  std::memcpy(info->internal, &root, sizeof root);
}

Status read_root_info(const char *routine, const HcclRootInfo *info, Meeting *meeting) {
  RootInfo root;
  std::memcpy(&root, info->internal, sizeof root);
  if (root.magic != kInfoMagic || root.version != kWireVersion ||
      !std::memchr(root.address, 0, sizeof root.address)) {
    return fail_as("EI0003", HCCL_E_PARA,
                   "%s: rootInfo does not hold what HcclGetRootInfo wrote; all %d bytes must reach "
                   "every rank unchanged",
                   routine, HCCL_ROOT_INFO_BYTES);
  }
  meeting->address = root.address;
  std::memcpy(meeting->secret, root.secret, kSecretBytes);
  return 0;
}

namespace {

// Connects to the meeting. Returns the socket, -1 with errno when there is none.
int connect_to(const Meeting &meeting, double seconds) {
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  timeval limit{static_cast<time_t>(seconds),
                static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6) + 1};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_un address;
  const socklen_t length = wire_address(meeting.address, &address);
  int done;
  do {
    done = connect(fd, reinterpret_cast<sockaddr *>(&address), length);
  } while (done != 0 && errno == EINTR);
  if (done == 0) return fd;
  const int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

Status hear_verdict(const char *routine, int fd, Clock::time_point deadline,
                    std::shared_ptr<Region> *region) {
  for (;;) {
    const double left = remaining(deadline);
    if (left <= 0) {
      return fail_as("EI0006", HCCL_E_TIMEOUT,
                     "%s: the process that holds the rendezvous does not answer", routine);
    }
    pollfd wanted{fd, POLLIN, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::min(left, 60.0) * 1000) + 1);
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) {
      return fail_as("EI0006", HCCL_E_SYSCALL, "%s: poll: %s", routine, std::strerror(errno));
    }
  }
  WireVerdict verdict{};
  int shared = -1;
  if (!receive_verdict(fd, &verdict, &shared)) {
    return fail_as("EI0006", HCCL_E_TCP_CONNECT,
                   "%s: the process that held the rendezvous ended before all ranks had come",
                   routine);
  }
  if (verdict.status != 0) {
    if (shared >= 0) close(shared);
    return fail_as(verdict.message_code, verdict.status, "%s: %s", routine, verdict.text);
  }
  if (shared < 0) {
    return fail_as("EI0007", HCCL_E_MEMORY,
                   "%s: the shared memory did not arrive; the limit of open files may be reached",
                   routine);
  }
  std::string why;
  *region = Region::attach(shared, &why);
  return *region ? 0 : fail_as("EI0007", HCCL_E_MEMORY, "%s: %s", routine, why.c_str());
}

WireHello greeting(const Meeting &meeting, uint32_t ranks, uint32_t rank, double timeout) {
  WireHello hello{};
  hello.magic = kWireMagic;
  hello.version = kWireVersion;
  hello.ranks = ranks;
  hello.rank = rank;
  hello.timeout = timeout;
  std::memcpy(hello.secret, meeting.secret, kSecretBytes);
  return hello;
}

}  // namespace

// A rank that comes and goes before the others have come ends a meeting.
void call_off(const Meeting &meeting) noexcept {
  const int fd = connect_to(meeting, 1);
  if (fd < 0) return;  // over already
  const WireHello hello = greeting(meeting, 2, 0, 1);
  (void)send(fd, &hello, sizeof hello, MSG_NOSIGNAL);
  close(fd);
}

Status attend(const char *routine, const Meeting &meeting, const Attendee &attendee, bool found,
              std::shared_ptr<Region> *region) {
  const auto span = [](double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  const Clock::time_point start = Clock::now(), deadline = start + span(attendee.timeout + kGrace);
  int fd = -1;
  while ((fd = connect_to(meeting, attendee.timeout)) < 0) {
    std::string why;
    if (errno != ECONNREFUSED) {
      return fail_as("EI0006", HCCL_E_TCP_CONNECT, "%s: connecting to the rendezvous: %s", routine,
                     std::strerror(errno));
    }
    if (!found) {
      return fail_as(
          "EI0006", HCCL_E_TCP_CONNECT,
          "%s: no process holds the rendezvous of this rootInfo: the process that called "
          "HcclGetRootInfo ended or runs on another host, or the rootInfo was used before",
          routine);
    }
    if (!hold_meeting(meeting, &why) && !why.empty()) {
      return fail_as("EI0006", HCCL_E_SYSCALL, "%s: opening the rendezvous: %s", routine,
                     why.c_str());
    }
    if (remaining(start + span(attendee.timeout)) <= 0) {
      return fail_as("EI0006", HCCL_E_TIMEOUT,
                     "%s: no rendezvous could be opened or joined within %g s", routine,
                     attendee.timeout);
    }
  }
  Undo connected([fd] { close(fd); });
  WireHello hello = greeting(meeting, attendee.ranks, attendee.rank, attendee.timeout);
  hello.member.process = this_process();
  hello.member.device = attendee.device;
  hello.member.memory = own_memory(attendee.device);
  std::snprintf(hello.agreement, sizeof hello.agreement, "%s", attendee.agreement.c_str());
  Status status = 0;
  if (!same_user(fd)) {
    status = fail_as("EI0006", HCCL_E_TCP_CONNECT, "%s: the rendezvous is held by another user",
                     routine);
  } else if (send(fd, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
    status = fail_as("EI0006", HCCL_E_TCP_CONNECT,
                     "%s: the process that held the rendezvous ended before all ranks had come",
                     routine);
  } else {
    status = hear_verdict(routine, fd, deadline, region);
  }
  return status;
}

}  // namespace emu::hccl
