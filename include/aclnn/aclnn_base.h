/* SPDX-License-Identifier: Apache-2.0 */
/* Initialization of the aclnn operator library. */
#ifndef ACLNN_PY_ACLNN_ACLNN_BASE_H
#define ACLNN_PY_ACLNN_ACLNN_BASE_H

#include "aclnn/acl_meta.h"

#include "aclnn_py/c_begin.h"

/* Tensors, scalars, arrays, lists and executors. */
aclnnStatus aclnnFinalize(void);
aclnnStatus aclnnInit(const char *configPath);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNN_ACLNN_BASE_H */
