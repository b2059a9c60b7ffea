/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] HcclCommConfigInit has a body: not every release of the library exports it. */
#ifndef ACLNN_PY_HCCL_HCCL_CONFIG_INIT_H
#define ACLNN_PY_HCCL_HCCL_CONFIG_INIT_H

#include <string.h>

#include "hccl/hccl_types.h"

/* Fill `config` with the header the library checks and with the values that mean "not set". */
static inline void HcclCommConfigInit(HcclCommConfig *config)
{
    const size_t size = sizeof(HcclCommConfig);
    const uint32_t magic = HCCL_COMM_CONFIG_MAGIC_WORD;
    const uint32_t version = HCCL_COMM_CONFIG_VERSION;

    if (config == NULL) {
        return;
    }
    memset(config, 0, size);
    memcpy(config->reserved, &size, sizeof(size));
    memcpy(config->reserved + 8, &magic, sizeof(magic));
    memcpy(config->reserved + 12, &version, sizeof(version));
    config->hcclBufferSize = HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET;
    config->hcclDeterministic = HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET;
    config->hcclOpExpansionMode = HCCL_COMM_DEFAULT_OP_EXPANSION_MODE;
    config->hcclRdmaTrafficClass = HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET;
    config->hcclRdmaServiceLevel = HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET;
}

#endif /* ACLNN_PY_HCCL_HCCL_CONFIG_INIT_H */
