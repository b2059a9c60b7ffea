/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of symmetric memory. */
#ifndef ACLNN_PY_HCCL_HCCL_SYM_WIN_H
#define ACLNN_PY_HCCL_HCCL_SYM_WIN_H

#include "hccl/hccl_comm.h"

#include "aclnn_py/c_begin.h"

/* Communicators and collectives. */
/* since 9.0 */
HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank, void **ptr);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_HCCL_HCCL_SYM_WIN_H */
