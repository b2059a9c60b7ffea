/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] Under this name CANN declares the packing of scales that is no operator. */
#ifndef ACLNN_PY_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_H
#define ACLNN_PY_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_H

#include "aclnn/host_calls.h"

#endif /* ACLNN_PY_ACLNNOP_ACLNN_TRANS_QUANT_PARAM_H */
