/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of the collective communication unit. */
#ifndef ACLNN_PY_HCCL_HCCL_CCU_RES_H
#define ACLNN_PY_HCCL_HCCL_CCU_RES_H

#include "hccl/hccl_types.h"

#include "aclnn_py/c_begin.h"

typedef uint64_t CcuInsHandle;

/* Resources for collectives of one's own. */
/* after 9.2 */
HcclResult HcclCommAssignCcuIns(HcclComm comm, CcuInsHandle insHandle);
HcclResult HcclCommQueryAssignedCcuIns(HcclComm comm, CcuInsHandle *insHandles, uint32_t *insNum);
HcclResult HcclCommQueryCcuIns(HcclComm comm, CcuInsHandle *insHandles, uint32_t *insNum);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_HCCL_HCCL_CCU_RES_H */
