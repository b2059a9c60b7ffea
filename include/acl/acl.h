/* SPDX-License-Identifier: Apache-2.0 */
/* AscendCL: one header for the runtime, offline models and single operators. */
#ifndef ACLNN_PY_ACL_ACL_H
#define ACLNN_PY_ACL_ACL_H

#include "acl/acl_rt.h"
#include "acl/acl_op.h"
#include "acl/acl_mdl.h"

#include "aclnn_py/c_begin.h"

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACL_ACL_H */
