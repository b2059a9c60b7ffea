// SPDX-License-Identifier: Apache-2.0
// What the operators that fuse a matrix product with a collective have in common: whom they talk
// to, their second line of checks, and how they read their operands.
#pragma once

#include <cstdint>
#include <memory>

#include "core/statuses.h"
#include "hccl/registry.h"
#include "hccl/session.h"
#include "ops/matmul/stack.h"

namespace emu {

// What the tiling of a kernel refuses after the argument checks have passed. Used like Check; the
// code is 561002, or another where a wrapper reports it differently.
class TilingCheck {
 public:
  explicit TilingCheck(const char *op, Status code = kTiling) : op_(op), code_(code) {}

  bool ok() const { return status_ == 0; }
  Status status() const { return status_; }
  [[gnu::format(printf, 3, 4)]] TilingCheck &that(bool holds, const char *format, ...);
  TilingCheck &plain(const char *parameter, const aclTensor *tensor);
  TilingCheck &not_empty(const char *parameter, const aclTensor *tensor);
  TilingCheck &comm_turn(int64_t given);

 private:
  const char *op_;
  const Status code_;
  Status status_ = 0;
};

// How many ranks the kernels of an operator are made for.
// rows spread over ranks; the same result on every rank
enum class Ranks : uint8_t { sliced, all_reduce };

// The communicator that `group` names on the device of the thread's context: 561002 for a null
// name, 361001 for one that the device does not have.
Status find_group(const char *op, const char *group,
                  std::shared_ptr<hccl::Communicator> *communicator);

// 561002 unless the fused kernels exist for that number of ranks on this chip.
Status check_world_size(const char *op, Ranks ranks, hccl::Communicator &communicator);

// The predicate of this family: the last two dimensions are exactly swapped. (1, 1) does not count.
bool is_transposed_view(const aclTensor &tensor);

// Formats that lay elements out in the order of their indices.
bool is_plain_format(aclFormat format);

// A tensor of 2 or more dimensions as one matrix: all but the last one count its rows. Strides that
// no matrix has are read into a copy.
class Rows {
 public:
  explicit Rows(const aclTensor &tensor);
  const Matrix &matrix() const { return matrix_; }

 private:
  std::unique_ptr<Snapshot> copy_;
  Matrix matrix_;
};

// Bytes rounded up so that what follows in a workspace is aligned.
constexpr uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace emu
