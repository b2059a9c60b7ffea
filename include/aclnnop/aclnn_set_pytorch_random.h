/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] Under this name CANN declares the choice of random numbers. */
#ifndef ACLNN_PY_ACLNNOP_ACLNN_SET_PYTORCH_RANDOM_H
#define ACLNN_PY_ACLNNOP_ACLNN_SET_PYTORCH_RANDOM_H

#include "aclnn/host_calls.h"

#endif /* ACLNN_PY_ACLNNOP_ACLNN_SET_PYTORCH_RANDOM_H */
