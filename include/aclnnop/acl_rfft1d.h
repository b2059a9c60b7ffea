/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] Under this name CANN declares the real transform. */
#ifndef ACLNN_PY_ACLNNOP_ACL_RFFT1D_H
#define ACLNN_PY_ACLNNOP_ACL_RFFT1D_H

#include "aclnn/fft.h"

#endif /* ACLNN_PY_ACLNNOP_ACL_RFFT1D_H */
