/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] Under this name CANN declares transforms of sliding windows. */
#ifndef ACLNN_PY_ACLNNOP_ACL_STFT_H
#define ACLNN_PY_ACLNNOP_ACL_STFT_H

#include "aclnn/fft.h"

#endif /* ACLNN_PY_ACLNNOP_ACL_STFT_H */
