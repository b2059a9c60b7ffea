/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] The visibility mark that headers of operator packages put on their functions. */
#ifndef ACLNN_PY_ACLNNOP_ACLNN_UTIL_H
#define ACLNN_PY_ACLNNOP_ACLNN_UTIL_H

#define ACLNN_API __attribute__((visibility("default")))

#endif /* ACLNN_PY_ACLNNOP_ACLNN_UTIL_H */
