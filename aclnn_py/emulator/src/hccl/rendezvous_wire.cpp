// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "hccl/rendezvous_wire.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace emu::hccl {

// The abstract namespace: a leading zero byte, and no file in the file system.
socklen_t wire_address(const std::string &name, sockaddr_un *address) {
  std::memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  const size_t length = std::min(name.size(), sizeof address->sun_path - 1);
  std::memcpy(address->sun_path + 1, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

bool same_user(int fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

bool receive_hello(int fd, WireHello *hello, bool *again) {
  // MSG_TRUNC gives the length of the message as it was sent: a longer one is none of ours
  const ssize_t got = recv(fd, hello, sizeof *hello, MSG_DONTWAIT | MSG_TRUNC);
  *again = got < 0 && (errno == EAGAIN || errno == EINTR);
  if (got != sizeof *hello || hello->magic != kWireMagic || hello->version != kWireVersion)
    return false;
  hello->agreement[sizeof hello->agreement - 1] = 0;
  // every comparison with NaN is false
  return hello->ranks <= kMaxRanks && hello->rank < hello->ranks && hello->timeout > 0 &&
         hello->timeout <= kMaxTimeout;
}

bool same_secret(const unsigned char *a, const unsigned char *b) {
  unsigned difference = 0;
  for (size_t i = 0; i < kSecretBytes; ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

bool send_verdict(int fd, const WireVerdict &verdict, int shared) {
  iovec data{const_cast<WireVerdict *>(&verdict), sizeof verdict};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (shared >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &shared, sizeof(int));
  }
  ssize_t sent;
  do {
    sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == sizeof verdict;
}

bool receive_verdict(int fd, WireVerdict *verdict, int *shared) {
  iovec data{verdict, sizeof *verdict};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  // the descriptor is ours from here on, whatever else came
  for (cmsghdr *header = got < 0 ? nullptr : CMSG_FIRSTHDR(&message); header;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof(int))) {
      std::memcpy(shared, CMSG_DATA(header), sizeof(int));
    }
  }
  if (got != sizeof *verdict || (message.msg_flags & MSG_TRUNC) != 0) {
    if (*shared >= 0) close(*shared);
    *shared = -1;
    return false;
  }
  verdict->text[sizeof verdict->text - 1] = 0;
  verdict->message_code[sizeof verdict->message_code - 1] = 0;
  return true;
}

}  // namespace emu::hccl
