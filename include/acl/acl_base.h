/* SPDX-License-Identifier: Apache-2.0 */
/* Base types of the AscendCL interface. */
#ifndef ACLNN_PY_ACL_ACL_BASE_H
#define ACLNN_PY_ACL_ACL_BASE_H

#include "acl/acl_base_rt.h"
#include "acl/acl_base_mdl.h"

#include "aclnn_py/c_begin.h"

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACL_ACL_BASE_H */
