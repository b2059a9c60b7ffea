// SPDX-License-Identifier: Apache-2.0
// Attention apart from the experts: the 1,024 bytes that tell a worker with attention where the
// results of a micro batch arrive.
#pragma once

#include <cstdint>
#include <cstring>

#include "ops/op.h"

namespace emu {

// Where the fields lie.
namespace attention_context {
constexpr int64_t kBytes = 1024;
constexpr size_t kMicroBatches = 4, kMicroBatchSize = 8, kExperts = 12;  // uint32
constexpr size_t kRunFlag = 128;                                         // int32; 0: leave
constexpr size_t kFlags = 256, kFlagBytes = 264;                         // uint64: address, size
constexpr size_t kTokens = 272, kTokenBytes = 280;                       // uint64: address, size
constexpr size_t kReadyBatch = 288;                                      // uint32

template <class T>
T field(const char *context, size_t at) {
  T value;
  std::memcpy(&value, context + at, sizeof value);
  return value;
}
}  // namespace attention_context

// Waits for the flags of the micro batch after the one that the context names, clears them and
// names that one. Not `ready`: the run flag is 0, or the stream is aborted.
Status wait_for_batch(const char *op, char *context, bool *ready);

Check &check_attention_context(Check &check, const char *name, const aclTensor *context);

}  // namespace emu
