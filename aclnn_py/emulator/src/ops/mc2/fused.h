// SPDX-License-Identifier: Apache-2.0
// What the operators that fuse a matrix product with a collective have in common.
#pragma once

#include <cstdint>
#include <memory>

#include "hccl/registry.h"
#include "hccl/session.h"
#include "meta/tensor.h"

namespace emu {

constexpr Status kRuntimeError = 361001;
constexpr Status kInner = 561000;
constexpr Status kTiling = 561002;

// The communicator that `group` names on the device of the thread's context: 561002 for a null name,
// 361001 for one that the device does not have.
Status find_group(const char *op, const char *group, std::shared_ptr<hccl::Communicator> *communicator);

// 561002 unless the fused kernels exist for that number of ranks on this chip.
Status check_world_size(const char *op, hccl::Communicator &communicator);

// The predicate of this family: the last two dimensions are exactly swapped. (1, 1) does not count.
bool is_transposed_view(const aclTensor &tensor);

// Formats that lay elements out in the order of their indices.
bool is_plain_format(aclFormat format);

// fp16 and bf16 only, like the functions below.
bool all_zero(const aclTensor &tensor);

// A matrix to dense rows, and dense rows to a matrix, of any strides.
void copy_rows(const aclTensor &from, void *to);
void copy_to_view(const void *from, const aclTensor &to);

// out = round(left @ right): left dense (rows, depth), right and out of any strides; products are summed in
// fp32 and rounded once.
void multiply(const void *left, int64_t rows, int64_t depth, const aclTensor &right, const aclTensor &out);

}  // namespace emu
