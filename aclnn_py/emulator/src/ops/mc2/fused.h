// SPDX-License-Identifier: Apache-2.0
// What the operators that fuse a matrix product with a collective have in common: whom they talk
// to, their second line of checks, and how they read their operands.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "core/statuses.h"
#include "hccl/communicator.h"
#include "hccl/launch.h"
#include "hccl/registry.h"
#include "hccl/session.h"
#include "ops/check.h"
#include "ops/matmul/stack.h"

namespace emu {

// The second line of checks of this family: what the tiling of a kernel refuses, with 561002, after
// the arguments have passed.
inline Check tiling_check(const char *op) { return Check(op).tiling(); }
void check_plain(Check &check, const char *parameter, const aclTensor *tensor);
void check_not_empty(Check &check, const char *parameter, const aclTensor *tensor);
void check_comm_turn(Check &check, int64_t given);

// How the work is divided, which decides how many ranks the kernels are made for: rows spread over
// the ranks, or the same result on every rank.
enum class Ranks : uint8_t { sliced, all_reduce };

// The communicator that `group` names on the device of the thread's context: 561002 for a null
// name, 361001 for one that the device does not have. `parameter` gives it.
Status find_group(const char *op, const char *group,
                  std::shared_ptr<hccl::Communicator> *communicator,
                  const char *parameter = "group");

// 561002 unless the fused kernels exist for that number of ranks on this chip.
Status check_world_size(const char *op, Ranks ranks, hccl::Communicator &communicator);

// The predicate of this family: the last two dimensions are exactly swapped. (1, 1) does not count.
bool is_transposed_view(const aclTensor &tensor);

// Formats that lay elements out in the order of their indices.
bool is_plain_format(aclFormat format);

// A tensor of 2 or more dimensions as one matrix: all but the last one count its rows. Strides that
// no matrix has are read into a copy.
class FlatMatrix {
 public:
  explicit FlatMatrix(const aclTensor &tensor);
  const Matrix &matrix() const { return matrix_; }

 private:
  std::unique_ptr<Snapshot> copy_;
  Matrix matrix_;
};

// Runs what needs two groups of ranks; `second` may be null. A rank that failed, or heard of a
// failure in one group, does not come to the other one: both are told.
template <class F>
Status among_both(hccl::Communicator &first, hccl::Communicator *second, const char *op, F &&body) {
  if (second == nullptr) return hccl::together(first, op, body);
  Status status = 0;
  try {
    status = body();
  } catch (const std::bad_alloc &) {
    status = hccl::out_of_memory(first, op);
  }
  for (hccl::Communicator *group : {&first, second}) {
    if (status != 0 && !group->failed())
      (void)group->abandon("EI0012", status, "%s failed on a rank of this group.", op);
  }
  return status;
}

// Bytes rounded up so that what follows in a workspace is aligned.
constexpr uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace emu
