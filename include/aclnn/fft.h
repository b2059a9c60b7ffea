/* SPDX-License-Identifier: Apache-2.0 */
/* Fourier transforms: the two operators whose names do not begin with aclnn. */
#ifndef ACLNN_PY_ACLNN_FFT_H
#define ACLNN_PY_ACLNN_FFT_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

/* Real transform along one dimension: real and imaginary part beside each other, frequencies from zero up. */
aclnnStatus aclRfft1DGetWorkspaceSize(const aclTensor *self, int64_t n, int64_t dim, int64_t norm, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclRfft1D(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Transforms of windows that slide over a signal. */
aclnnStatus aclStftGetWorkspaceSize(const aclTensor *self, const aclTensor *windowOptional, aclTensor *out, int64_t nFft, int64_t hopLength, int64_t winLength, bool normalized, bool onesided, bool returnComplex, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclStft(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNN_FFT_H */
