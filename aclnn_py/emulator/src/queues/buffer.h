// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "acl/acl_tdt_queue.h"
#include "core/status.h"

namespace emu {

constexpr size_t kUserDataBytes = 96;

// Device memory that several buffers may refer to.
struct BufferMemory {
  BufferMemory() = default;
  BufferMemory(const BufferMemory &) = delete;
  BufferMemory &operator=(const BufferMemory &) = delete;
  ~BufferMemory();

  void *address = nullptr;
  size_t size = 0;    // as it was allocated
  size_t length = 0;  // of the data in it
  std::array<unsigned char, kUserDataBytes> user{};
};

// A chain of buffers: what one place in a queue holds. The first is the head.
using Chain = std::vector<std::shared_ptr<BufferMemory>>;

// On the device of the thread's context.
Status allocate_buffer(const char *routine, size_t size, std::shared_ptr<BufferMemory> *memory);

// Takes the chain from its handles, which are gone then.
Status take_chain(const char *routine, acltdtBuf head, Chain *chain);

// Gives the chain new handles; *head stands for all of them.
Status give_chain(const char *routine, const Chain &chain, acltdtBuf *head);

}  // namespace emu
