/* SPDX-License-Identifier: Apache-2.0 */
/* Handles and descriptions of endpoints, memory and threads of collectives of one's own. */
#ifndef ACLNN_PY_HCCL_HCOMM_RES_DEFS_H
#define ACLNN_PY_HCCL_HCOMM_RES_DEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aclnn_py/c_begin.h"

typedef uint64_t ChannelHandle;
typedef uint64_t ThreadHandle;

typedef enum CommEngine {
    COMM_ENGINE_RESERVED = -1,
    COMM_ENGINE_CPU = 0,
    COMM_ENGINE_CPU_TS = 1,
    COMM_ENGINE_AICPU = 2,
    COMM_ENGINE_AICPU_TS = 3,
    COMM_ENGINE_AIV = 4,
    COMM_ENGINE_CCU = 5
} CommEngine;

typedef enum CommProtocol {
    COMM_PROTOCOL_RESERVED = -1,
    COMM_PROTOCOL_HCCS = 0,
    COMM_PROTOCOL_ROCE = 1,
    COMM_PROTOCOL_PCIE = 2,
    COMM_PROTOCOL_SIO = 3,
    COMM_PROTOCOL_UB_CTP = 4,
    COMM_PROTOCOL_UBC_CTP = 4,
    COMM_PROTOCOL_UBC_TP = 5,
    COMM_PROTOCOL_UB_MEM = 6,
    COMM_PROTOCOL_UBOE = 7,
    COMM_PROTOCOL_HCCS_ONLY = 8,
    COMM_PROTOCOL_UB_RTP = 9,
    COMM_PROTOCOL_UBG = 9
} CommProtocol;

typedef enum CommAddrType {
    COMM_ADDR_TYPE_RESERVED = -1,
    COMM_ADDR_TYPE_IP_V4 = 0,
    COMM_ADDR_TYPE_IP_V6 = 1,
    COMM_ADDR_TYPE_ID = 2,
    COMM_ADDR_TYPE_EID = 3
} CommAddrType;

typedef enum EndpointLocType {
    ENDPOINT_LOC_TYPE_RESERVED = -1,
    ENDPOINT_LOC_TYPE_DEVICE = 0,
    ENDPOINT_LOC_TYPE_HOST = 1
} EndpointLocType;

typedef enum CommMemType {
    COMM_MEM_TYPE_INVALID = -1,
    COMM_MEM_TYPE_DEVICE = 0,
    COMM_MEM_TYPE_HOST = 1,
    COMM_MEM_TYPE_CCU = 2
} CommMemType;

typedef enum ThreadType {
    THREAD_TYPE_INVALID = -1,
    THREAD_TYPE_TS = 0
} ThreadType;

typedef enum ThreadResType {
    THREAD_RES_TYPE_INVALID = -1,
    THREAD_RES_TYPE_STREAM = 0
} ThreadResType;

typedef struct {
    uint32_t version;
    uint32_t magicWord;
    uint32_t size;
    uint32_t reserved;
} CommAbiHeader;

typedef struct {
    CommAbiHeader header;
    uint16_t notifyNumPerThread;
    uint8_t reserved[14];
} ThreadConfig;

/* An IPv4 or IPv6 address stands in the first 4 or 16 bytes, in network order. */
typedef struct {
    CommAddrType type;
    union {
        uint8_t raws[36];
        uint32_t id;
        uint8_t eid[16];
    };
} CommAddr;

typedef struct {
    uint32_t devPhyId;
    uint32_t superDevId;
    uint32_t serverIdx;
    uint32_t superPodIdx;
} EndpointLocDevice;

typedef struct {
    uint32_t id;
} EndpointLocHost;

typedef struct {
    EndpointLocType locType;
    union {
        uint8_t raws[60];
        EndpointLocDevice device;
        EndpointLocHost host;
    };
} EndpointLoc;

typedef struct {
    CommProtocol protocol;
    CommAddr commAddr;
    EndpointLoc loc;
    union {
        uint8_t raws[52];
    };
} EndpointDesc;

typedef struct {
    CommMemType type;
    void *addr;
    uint64_t size;
} CommMem;

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_HCCL_HCOMM_RES_DEFS_H */
