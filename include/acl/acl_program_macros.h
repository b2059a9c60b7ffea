/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] Macros programs use that are no numbers: marks of functions, one name for logging, text. */
#ifndef ACLNN_PY_ACL_ACL_PROGRAM_MACROS_H
#define ACLNN_PY_ACL_ACL_PROGRAM_MACROS_H

#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))

/* ACL_APP_LOG(level, format, ...): the format is the first of the variable arguments. */
#define ACL_APP_LOG(level, ...) aclAppLog((level), __func__, __FILE__, __LINE__, __VA_ARGS__)

#define ACL_DYNAMIC_TENSOR_NAME "ascend_mbatch_shape_data"
#define ACL_DYNAMIC_AIPP_NAME "ascend_dynamic_aipp_data"
#define ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES "_datadump_original_op_names"

#endif /* ACLNN_PY_ACL_ACL_PROGRAM_MACROS_H */
