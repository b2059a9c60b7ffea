/* SPDX-License-Identifier: Apache-2.0 */
/* Probing of the network between devices. */
#ifndef ACLNN_PY_HCCL_HCCN_RPING_H
#define ACLNN_PY_HCCL_HCCN_RPING_H

#include <stdint.h>

#include "aclnn_py/c_begin.h"

#define HCCN_RPING_PAYLOAD_LEN_MAX 1500

typedef enum HccnResult {
    HCCN_SUCCESS = 0,
    HCCN_E_AGAIN = 1,
    HCCN_E_FAIL = 2,
    HCCN_E_PARA = 3,
    HCCN_E_MEM = 4,
    HCCN_E_RESERVED = 5
} HccnResult;

typedef enum HccnRpingMode {
    HCCN_RPING_MODE_ROCE = 0,
    HCCN_RPING_MODE_RESERVED = 1
} HccnRpingMode;

typedef enum HccnRpingAddTargetState {
    HCCN_RPING_ADDTARGET_STATE_DONE = 0,
    HCCN_RPING_ADDTARGET_STATE_DOING = 1,
    HCCN_RPING_ADDTARGET_STATE_FAIL = 2,
    HCCN_RPING_ADDTARGET_STATE_TIMEOUT = 3,
    HCCN_RPING_ADDTARGET_STATE_RESERVED = 4
} HccnRpingAddTargetState;

typedef enum HccnRpingResultState {
    HCCN_RPING_RESULT_STATE_NOT_FOUND = 0,
    HCCN_RPING_RESULT_STATE_INVALID = 1,
    HCCN_RPING_RESULT_STATE_VALID = 2,
    HCCN_RPING_RESULT_STATE_RESERVED = 3
} HccnRpingResultState;

typedef void *HccnRpingCtx;

typedef struct HccnRpingInitAttrDef {
    HccnRpingMode mode;
    uint32_t port;
    uint32_t npuNum;
    uint32_t bufferSize;
    uint32_t sl;
    uint32_t tc;
    char *ipAddr;
} HccnRpingInitAttr;

typedef struct HccnRpingTargetInfoDef {
    uint32_t srcPort;
    uint32_t reserved;
    uint32_t sl;
    uint32_t tc;
    uint32_t port;
    uint32_t payloadLen;
    char payload[HCCN_RPING_PAYLOAD_LEN_MAX];
    char *srcIp;
    char *dstIp;
} HccnRpingTargetInfo;

typedef struct HccnRpingResultInfoDef {
    uint32_t txPkt;
    uint32_t rxPkt;
    uint32_t minRTT;
    uint32_t maxRTT;
    uint32_t avgRTT;
    HccnRpingResultState state;
    uint32_t reserved[5];
} HccnRpingResultInfo;

/* Network probing. */
HccnResult HccnRpingAddTarget(HccnRpingCtx rpingCtx, uint32_t targetNum, HccnRpingTargetInfo *target);
HccnResult HccnRpingBatchPingStart(HccnRpingCtx rpingCtx, uint32_t pktNum, uint32_t interval, uint32_t timeout);
HccnResult HccnRpingBatchPingStop(HccnRpingCtx rpingCtx);
HccnResult HccnRpingDeinit(HccnRpingCtx rpingCtx);
HccnResult HccnRpingGetPayload(HccnRpingCtx rpingCtx, void **payload, uint32_t *payloadLen);
HccnResult HccnRpingGetResult(HccnRpingCtx rpingCtx, uint32_t targetNum, HccnRpingTargetInfo *target, HccnRpingResultInfo *result);
HccnResult HccnRpingGetTarget(HccnRpingCtx rpingCtx, uint32_t targetNum, HccnRpingTargetInfo *target, HccnRpingAddTargetState *targetState);
HccnResult HccnRpingInit(uint32_t devLogicId, HccnRpingInitAttr *initAttr, HccnRpingCtx *rpingCtx);
HccnResult HccnRpingRemoveTarget(HccnRpingCtx rpingCtx, uint32_t targetNum, HccnRpingTargetInfo *target);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_HCCL_HCCN_RPING_H */
