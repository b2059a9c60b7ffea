// SPDX-License-Identifier: Apache-2.0
// What the system lets this process have, and the words for what it refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

namespace emu {

constexpr uint64_t kUnlimited = UINT64_MAX;

struct MemoryLimit {
  uint64_t bytes;
  std::string what;  // what sets it: "the host's memory", "the cgroup /jobs/7", "`ulimit -d`"
};

// The least of the host's memory, the limits of the process's cgroups and RLIMIT_DATA.
MemoryLimit memory_limit();

// Addresses that RLIMIT_AS leaves to the process; kUnlimited without such a limit.
uint64_t free_addresses();

// Lets the threads of the process share two arenas of malloc: each further one takes 64 MiB of
// addresses, and every stream has a thread.
void spare_addresses();

// How many of `wanted` bytes of addresses a table of handles reserves: all, or a part of RLIMIT_AS.
size_t table_room(size_t wanted);

// The reason of an errno, the limits of the process that may be behind it, and what to do:
// "Cannot allocate memory; `ulimit -v` is 1024 MiB: raise what is too low".
std::string refusal(int error);

// Memory that the system refused; the message has the words of `refusal`.
class HostRefusal : public std::bad_alloc {
 public:
  HostRefusal(const char *what, int error);
  const char *what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace emu
