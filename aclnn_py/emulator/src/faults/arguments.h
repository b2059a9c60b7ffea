// SPDX-License-Identifier: Apache-2.0
// Under ACLNN_PY_CHECK=1: mistakes in arguments that make no call fail here, and harm on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "acl/acl_rt.h"
#include "meta/executor.h"

namespace emu::faults {

// A tensor that is being made: arrays of 32-bit numbers, a view beyond its storage, a storage
// beyond its allocation.
void look_at_tensor(const char *routine, const aclTensor &tensor);
void look_at_numbers(const char *routine, const char *name, const int64_t *values, uint64_t count);

// Phase two: tensors destroyed since phase one, host pointers, overlaps, the workspace; and the
// memory that the work will use.
void look_at_launch(const char *op, const std::vector<PlanTensor> &tensors, void *workspace,
                    uint64_t workspace_size, Stream &stream);

// The direction that a copy states, and where its addresses lie.
void look_at_copy(const char *routine, const void *dst, bool dst_on_device, const void *src,
                  bool src_on_device, size_t size, aclrtMemcpyKind kind);

}  // namespace emu::faults
