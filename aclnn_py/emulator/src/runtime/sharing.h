// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/event.h"
#include "core/status.h"

// Memory and events shared with other processes of the same user. What is shared is an anonymous
// memory file of the exporting process; a key names that process and its descriptor, and the
// importing process opens it through /proc. Nothing has a name in a file system, so nothing is left
// behind by a crash.
namespace emu {

constexpr size_t kMaxAllowedPids = 64;

// What a key leads to: a small memory file that says which part of which file is shared, and with
// whom.
struct Ticket {
  uint64_t magic;
  uint64_t nonce;
  uint64_t offset, size;
  int32_t file;  // descriptor of the backing file in the exporting process
  int32_t device;
  std::atomic<uint32_t> any_process;  // no check of process numbers
  std::atomic<uint32_t> pid_count;
  std::atomic<int32_t> pids[kMaxAllowedPids];
};

// A ticket this process made: its descriptor and its mapping. Null with a message when the host
// refuses.
struct OwnTicket {
  int file = -1;
  Ticket *ticket = nullptr;
};
Status make_ticket(int backing, uint64_t offset, uint64_t size, int device, bool any_process,
                   const char *routine, OwnTicket *made);
void drop_ticket(OwnTicket &ticket);
Status allow_pids(OwnTicket &ticket, const int32_t *pids, size_t count, const char *routine);

// Opens a ticket of another process (or of this one), checks that this process may use it and opens
// the file behind it. 207006 without permission, 107017 when it is gone.
Status open_ticket(int32_t pid, int32_t file, uint64_t nonce, const char *routine, Ticket *copy,
                   int *backing);

// A memory file of this process with `size` bytes mapped at *mapped; -1 with a message when the
// host refuses.
int make_shared_file(const char *name, size_t size, const char *routine, void **mapped);

// Moves the state of an event into memory another process can open.
Status share_event(Event &event, const char *routine);

}  // namespace emu
