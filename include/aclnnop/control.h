/* SPDX-License-Identifier: Apache-2.0 */
/* Control of the device. */
#ifndef ACLNN_PY_ACLNNOP_CONTROL_H
#define ACLNN_PY_ACLNNOP_CONTROL_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_CONTROL_ACLNN_SLEEP
#define ACLNN_PY_CONTROL_ACLNN_SLEEP
/* Idle cycles on the device. [document] */
aclnnStatus aclnnSleepGetWorkspaceSize(const aclIntArray *cycles, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSleep(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_CONTROL_H */
