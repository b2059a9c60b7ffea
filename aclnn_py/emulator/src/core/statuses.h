// SPDX-License-Identifier: Apache-2.0
// The statuses of operators and of work that fails on a stream, under names that say what this
// device means by them. Everything else is returned under its name in include/acl or include/hccl.
#pragma once

#include "acl/acl_base_rt.h"
#include "aclnn/acl_meta.h"
#include "core/status.h"

namespace emu {

// --- phase one
constexpr Status kNullPointer = ACLNN_ERR_PARAM_NULLPTR;
constexpr Status kInvalid = ACLNN_ERR_PARAM_INVALID;
constexpr Status kRuntimeError = ACLNN_ERR_RUNTIME_ERROR;
constexpr Status kInner = ACLNN_ERR_INNER;
// The second line of checks, that of the kernel's tiling.
constexpr Status kTiling = ACLNN_ERR_INNER_TILING_ERROR;
// No kernel was built for this combination of dtypes and formats.
constexpr Status kNoKernel = ACLNN_ERR_INNER_FIND_KERNEL_ERROR;
constexpr Status kNoExecutor = ACLNN_ERR_INNER_CREATE_EXECUTOR;
// The library makes an intermediate object, gets null and passes it on: what CANN answers to many
// combinations that it does not support.
constexpr Status kInnerNull = ACLNN_ERR_INNER_NULLPTR;

// --- work on a stream
// A kernel stopped: an address outside device memory, an index out of range, no convergence.
constexpr Status kKernelFault = ACL_ERROR_RT_AICORE_EXCEPTION;
// Ranks called different collectives, or the same with different arguments.
constexpr Status kRanksDisagree = ACL_ERROR_RT_FFTS_PLUS_EXCEPTION;
// A rank did not come in time.
constexpr Status kPeerLate = ACL_ERROR_RT_FFTS_PLUS_TIMEOUT;
// The process of a rank ended.
constexpr Status kPeerLost = ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;

}  // namespace emu
