// SPDX-License-Identifier: Apache-2.0
// The two messages of a rendezvous. Both ends run the same library on the same host.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <string>

#include "hccl/region.h"
#include "hccl/rendezvous.h"

namespace emu::hccl {

constexpr uint64_t kWireMagic = 0x31544545'4d4c4343ULL;
constexpr uint32_t kWireVersion = 2;
constexpr double kMaxTimeout = 86400;  // seconds; HCCL_CONNECT_TIMEOUT allows two hours

struct WireHello {
  uint64_t magic;
  uint32_t version, ranks, rank, unused;
  double timeout;
  unsigned char secret[kSecretBytes];
  Member member;
  char agreement[COMM_NAME_MAX_LENGTH];
};

struct WireVerdict {
  int32_t status;  // HcclResult; on success the shared memory comes with the message
  char message_code[8];
  char text[2048];
};

socklen_t wire_address(const std::string &name, sockaddr_un *address);
bool same_user(int fd);
// A hello whose fields can be used. False when there is none: `again` says whether one may still
// come.
bool receive_hello(int fd, WireHello *hello, bool *again);
// In a time that does not tell where they differ.
bool same_secret(const unsigned char *a, const unsigned char *b);
bool send_verdict(int fd, const WireVerdict &verdict, int shared);
bool receive_verdict(int fd, WireVerdict *verdict, int *shared);

}  // namespace emu::hccl
