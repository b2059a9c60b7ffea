/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] The release of CANN that the headers stand for; `aclnn-py cann` writes the one it is asked for. */
#ifndef ACLNN_PY_VERSION_CANN_VERSION_H
#define ACLNN_PY_VERSION_CANN_VERSION_H

#define CANN_VERSION_STR "8.5.0"
#define CANN_VERSION_NUM 80500000

#endif /* ACLNN_PY_VERSION_CANN_VERSION_H */
