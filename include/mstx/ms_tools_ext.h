/* SPDX-License-Identifier: Apache-2.0 */
/* Markers and ranges for the profiler; without a profiler attached they do nothing. */
#ifndef ACLNN_PY_MSTX_MS_TOOLS_EXT_H
#define ACLNN_PY_MSTX_MS_TOOLS_EXT_H

#include <stdint.h>
#include "acl/acl_base.h"

#include "aclnn_py/c_begin.h"

#define MSTX_SUCCESS 0
#define MSTX_FAIL 1

typedef uint64_t mstxRangeId;
typedef struct mstxDomainRegistration_st mstxDomainRegistration_t;
typedef mstxDomainRegistration_t *mstxDomainHandle_t;

void mstxMarkA(const char *message, aclrtStream stream);
mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream);
void mstxRangeEnd(mstxRangeId id);
mstxDomainHandle_t mstxDomainCreateA(const char *name);
void mstxDomainDestroy(mstxDomainHandle_t domain);
void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);
mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message, aclrtStream stream);
void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_MSTX_MS_TOOLS_EXT_H */
