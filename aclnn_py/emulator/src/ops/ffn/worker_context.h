// SPDX-License-Identifier: Apache-2.0
// Attention apart from the experts: the 1,024 bytes that tell a worker with experts where tokens
// and their descriptions arrive, and how it takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/op.h"

namespace emu {

constexpr int64_t kWorkerContextBytes = 1024;
// What takes the place of an expert that a token does not choose.
constexpr int32_t kMaskedExpert = INT32_MAX;

// The numbers that a context holds.
struct WorkerSizes {
  int64_t sessions = 0, batches = 0, tokens = 0, each = 0;  // attention workers, M, BS, K + 1
  int64_t row_bytes = 0;                                    // of a token that arrives
  int64_t choices() const { return tokens * each; }
};

// A session's tokens of one micro batch.
struct WorkerBatch {
  int32_t session = 0, batch = 0, layer = 0;
  std::vector<int32_t> experts;  // (tokens, each)
};

class WorkerContext {
 public:
  WorkerContext(const char *op, char *context) : op_(op), context_(context) {}

  // Whether the worker is told to end.
  bool ended() const;
  // A fault for numbers that make no sense.
  Status read();
  const WorkerSizes &sizes() const { return sizes_; }

  // Waits for a micro batch of which whole groups of sessions have arrived, from the next one on,
  // and takes those; none when the worker is told to end. A single group waits for the next micro
  // batch alone.
  Status receive(int64_t group_size, std::vector<WorkerBatch> *taken);
  // What was taken lies in the buffers of the context for who comes next.
  Status publish(const std::vector<WorkerBatch> &taken);
  Status published(std::vector<WorkerBatch> *taken) const;

  // The row of a token: `choice` counts the tokens and their experts.
  Status row_of(const WorkerBatch &from, int64_t choice, const char **row) const;

 private:
  Status buffer(const char *name, size_t at, int64_t needed, char **data) const;
  int32_t *description(int64_t session, int64_t batch) const;
  bool arrived(int64_t group, int64_t group_size, int64_t batch) const;

  const char *op_;
  char *context_;
  WorkerSizes sizes_;
  char *infos_ = nullptr;
};

}  // namespace emu
