/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] The results some functions take by reference, for C++; host_calls.h has the form for C. */
#ifndef ACLNN_PY_ACLNN_SIZE_RESULT_H
#define ACLNN_PY_ACLNN_SIZE_RESULT_H

#include <stdint.h>

#ifdef __cplusplus
typedef uint64_t &aclnnSizeResult;
#endif

#endif /* ACLNN_PY_ACLNN_SIZE_RESULT_H */
