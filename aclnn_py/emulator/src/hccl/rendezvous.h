// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator find each other: an abstract Unix socket (it has no file and is
// gone with its process), the same user on both ends, and a secret in the first message.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/status.h"
#include "hccl/hccl_types.h"
#include "hccl/region.h"

namespace emu::hccl {

constexpr size_t kSecretBytes = 32;

struct Meeting {
  std::string address;                 // unique name of the socket
  unsigned char secret[kSecretBytes];  // what a rank must know to take part
};

struct Attendee {
  uint32_t ranks, rank;
  int device;
  double timeout;         // seconds until the ranks that are missing are given up
  std::string agreement;  // what every rank must say alike (its requested name)
};

Meeting random_meeting();
// The same meeting for everyone who knows the same text (and runs as the same user).
Meeting meeting_of(const std::string &text);

// Holds the meeting in a thread of this process. False when another process already holds it.
bool hold_meeting(const Meeting &meeting, std::string *why);

// Takes part. With `found`, this rank holds the meeting itself when nobody does.
Status attend(const char *routine, const Meeting &meeting, const Attendee &attendee, bool found,
              std::shared_ptr<Region> *region);

// Ends a meeting that nobody will take part in. Needs no memory.
void call_off(const Meeting &meeting) noexcept;

// Root info: a meeting as bytes.
void write_root_info(const Meeting &meeting, HcclRootInfo *info);
Status read_root_info(const char *routine, const HcclRootInfo *info, Meeting *meeting);

}  // namespace emu::hccl
