// SPDX-License-Identifier: Apache-2.0
// What one stream task does with a communicator. A collective, and every fused operator, opens a
// session in its kernel and calls as many of the operations below as it needs:
//
//   Session session(comm, describe("aclnnXxx(m=%lld, ...)", ...));
//   if (const Status status = session.begin()) return status;
//   if (const Status status = session.all_gather(mine, everyone, nbytes)) return status;
//
// All ranks must open sessions with the same text and call the same operations in the same order.
// Each operation compares the texts first, so a mismatch is reported on every rank, by name.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hccl/communicator.h"
#include "hccl/reduce.h"

namespace emu::hccl {

struct Transfer {
  bool send;
  void *data;
  uint64_t count;
  uint32_t dtype;  // HcclDataType
  uint32_t item_bytes;
  uint32_t remote;
};

// Bytes of one rank's block in a buffer of blocks.
struct Block {
  uint64_t bytes;
  uint64_t offset;
};

class Session {
 public:
  Session(Communicator &comm, Call call, uint64_t ticket = 0);
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  // Waits for this rank's turn on the communicator. Nothing else may be called when it fails.
  Status begin();

  // `limit` in seconds is how long this rank waits; 0: HCCL_EXEC_TIMEOUT.
  Status barrier(double limit = 0);
  // Block r of `recv`, on every rank, becomes what rank r has in `send`.
  Status all_gather(const void *send, void *recv, uint64_t bytes);
  Status all_gather_v(const void *send, void *recv, const std::vector<Block> &blocks);
  Status broadcast(void *data, uint64_t bytes, uint32_t root);
  Status scatter(const void *send, void *recv, uint64_t bytes, uint32_t root);
  // Reductions take the ranks in the order 0 .. R-1 and round every partial result to the data
  // type.
  Status all_reduce(const void *send, void *recv, uint64_t count, ReduceType type);
  Status reduce(const void *send, void *recv, uint64_t count, ReduceType type, uint32_t root);
  Status reduce_scatter(const void *send, void *recv, uint64_t count, ReduceType type);
  Status reduce_scatter_v(const void *send, void *recv, const std::vector<Block> &blocks,
                          ReduceType type);
  // Block r of `send` goes to rank r, block r of `recv` comes from rank r.
  Status all_to_all_v(const void *send, const std::vector<Block> &to, void *recv,
                      const std::vector<Block> &from);
  // Sends and receives that go on together; those of one pair of ranks match in the order given.
  Status exchange(const std::vector<Transfer> &transfers);

 private:
  void agree_on(const std::vector<Block> &blocks);
  void show_call();
  Status arrive(double limit = 0);
  Status compare();
  // Data go from rank to rank in one of two ways. Short ones, and those in memory that others
  // cannot see, are copied through the staging areas, a part in each step. Of the others the ranks
  // show where they lie.
  char *staging();
  const char *staged(uint32_t rank) const;
  void show(const void *source, uint64_t source_bytes, void *target = nullptr,
            uint64_t target_bytes = 0);
  bool all_shown() const;
  const char *source(uint32_t rank) const;
  char *target(uint32_t rank) const;
  Status reduce_to(const void *send, void *recv, uint64_t count, ReduceType type, int64_t root);

  Communicator &comm_;
  Region &region_;
  Call call_;
  const uint64_t ticket_;
  const uint32_t rank_, size_;
  const int width_;  // threads that one rank may use
  bool entered_ = false, fresh_ = true;
};

}  // namespace emu::hccl
