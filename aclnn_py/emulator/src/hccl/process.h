// SPDX-License-Identifier: Apache-2.0
// Who a rank's process is, and whether it still runs.
#pragma once

#include <cstdint>

namespace emu::hccl {

struct Process {
  uint64_t nonce;       // equal only within one address space
  int64_t pid;          // as the process sees itself
  uint64_t start;       // start time in clock ticks since boot: tells a reused pid apart
  uint32_t observable;  // 0 when the rendezvous saw another pid (another pid namespace)
  uint32_t unused;
};

Process this_process();

// False only when the process is known to have ended; a zombie counts as ended.
bool is_running(const Process &process);

}  // namespace emu::hccl
