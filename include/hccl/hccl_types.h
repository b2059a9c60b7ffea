/* SPDX-License-Identifier: Apache-2.0 */
/* Handles, data types, status codes and structures of the collective communication library. */
#ifndef ACLNN_PY_HCCL_HCCL_TYPES_H
#define ACLNN_PY_HCCL_HCCL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aclnn_py/c_begin.h"

typedef void *HcclComm;

#define HCCL_ROOT_INFO_BYTES 4108
#define COMM_NAME_MAX_LENGTH 128
#define UDI_MAX_LENGTH 128
#define HCCL_COMM_CONFIG_INFO_BYTES 24
#define HCCL_COMM_CONFIG_MAGIC_WORD 0xF0F0F0F0U
#define HCCL_COMM_CONFIG_VERSION 5
#define HCCL_COMM_DEFAULT_BUFFSIZE 200
#define HCCL_COMM_BUFFSIZE_CONFIG_NOT_SET 0xFFFFFFFFU
#define HCCL_COMM_DEFAULT_DETERMINISTIC 0
#define HCCL_COMM_DETERMINISTIC_CONFIG_NOT_SET 0xFFFFFFFFU
#define HCCL_COMM_DEFAULT_OP_EXPANSION_MODE 0
#define HCCL_COMM_TRAFFIC_CLASS_CONFIG_NOT_SET 0xFFFFFFFFU
#define HCCL_COMM_SERVICE_LEVEL_CONFIG_NOT_SET 0xFFFFFFFFU
#define HCCL_CHANNEL_MAGIC_WORD 252645135
#define HCCL_CHANNEL_VERSION 1
#define HCCL_CHANNEL_DESC_RAW_MAX_LEN 128
#define HCCL_CHANNEL_CONFIG_SHARED_QUEUE_TAG_MAX_LEN 255
#define HCCL_OP_DESC_OP_NAME_MAX_LEN 256
#define HCCL_OPDESC_MAGIC_WORD 252645135
#define HCCL_OPDESC_VERSION 1
#define HCCL_KERNEL_SO_NAME_MAX_LEN 256
#define HCCL_KERNEL_FUNC_NAME_MAX_LEN 256
#define HCCL_KERNEL_LAUNCH_CFG_MAGIC_WORD 252645135
#define HCCL_KERNEL_LAUNCH_CFG_VERSION 1
#define HCCL_RES_TAG_MAX_LEN 255
#define HCCL_TEAM_CREATE_DESC_MAGIC_WORD 265228052
#define HCCL_TEAM_CREATE_DESC_VERSION 1
#define HCCL_TEAM_CREATE_CHANNELS_DESC_MAGIC_WORD 265228053
#define HCCL_TEAM_CREATE_CHANNELS_DESC_VERSION 1
#define BUFFER_NAME_MAX_LENGTH 128
#define HCCL_COMM_ALGO_MAX_LENGTH 1600
#define HCCL_COMM_RETRY_ENABLE_MAX_LENGTH 50
#define HCCL_COMM_RETRY_PARAMS_MAX_LENGTH 128
#define HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET 0xFFFFFFFFU
#define HCCL_COMM_QOS_CONFIG_NOT_SET 0xFFFFFFFFU
#define HCCL_COMM_SQ_DEPTH_CONFIG_NOT_SET 0xFFFFFFFFU
#define HCCL_DEFAULT_SYMMETRIC_MEMORY_STRIDE 16

typedef enum HcclResult {
    HCCL_SUCCESS = 0,
    HCCL_E_PARA = 1,
    HCCL_E_PTR = 2,
    HCCL_E_MEMORY = 3,
    HCCL_E_INTERNAL = 4,
    HCCL_E_NOT_SUPPORT = 5,
    HCCL_E_NOT_FOUND = 6,
    HCCL_E_UNAVAIL = 7,
    HCCL_E_SYSCALL = 8,
    HCCL_E_TIMEOUT = 9,
    HCCL_E_OPEN_FILE_FAILURE = 10,
    HCCL_E_TCP_CONNECT = 11,
    HCCL_E_ROCE_CONNECT = 12,
    HCCL_E_TCP_TRANSFER = 13,
    HCCL_E_ROCE_TRANSFER = 14,
    HCCL_E_RUNTIME = 15,
    HCCL_E_DRV = 16,
    HCCL_E_PROFILING = 17,
    HCCL_E_CCE = 18,
    HCCL_E_NETWORK = 19,
    HCCL_E_AGAIN = 20,
    HCCL_E_REMOTE = 21,
    HCCL_E_SUSPENDING = 22,
    HCCL_E_RESERVED = 23,
    HCCL_E_OPRETRY_FAIL = 23, /* since 8.5.0-beta.1 */
    HCCL_E_OOM = 24, /* since 8.5.0-beta.1 */
    HCCL_E_IN_STATUS = 1041 /* since 8.5.0-beta.1 */
} HcclResult;

typedef enum HcclReduceOp {
    HCCL_REDUCE_SUM = 0,
    HCCL_REDUCE_PROD = 1,
    HCCL_REDUCE_MAX = 2,
    HCCL_REDUCE_MIN = 3,
    HCCL_REDUCE_RESERVED = 255
} HcclReduceOp;

typedef enum HcclDataType {
    HCCL_DATA_TYPE_INT8 = 0,
    HCCL_DATA_TYPE_INT16 = 1,
    HCCL_DATA_TYPE_INT32 = 2,
    HCCL_DATA_TYPE_FP16 = 3,
    HCCL_DATA_TYPE_FP32 = 4,
    HCCL_DATA_TYPE_INT64 = 5,
    HCCL_DATA_TYPE_UINT64 = 6,
    HCCL_DATA_TYPE_UINT8 = 7,
    HCCL_DATA_TYPE_UINT16 = 8,
    HCCL_DATA_TYPE_UINT32 = 9,
    HCCL_DATA_TYPE_FP64 = 10,
    HCCL_DATA_TYPE_BFP16 = 11,
    HCCL_DATA_TYPE_INT128 = 12,
    HCCL_DATA_TYPE_RESERVED = 255,
    HCCL_DATA_TYPE_HIF8 = 14, /* since 8.5.0-beta.1 */
    HCCL_DATA_TYPE_FP8E4M3 = 15, /* since 8.5.0-beta.1 */
    HCCL_DATA_TYPE_FP8E5M2 = 16, /* since 8.5.0-beta.1 */
    HCCL_DATA_TYPE_FP8E8M0 = 17 /* since 8.5.0-beta.1 */
} HcclDataType;

typedef enum HcclSendRecvType {
    HCCL_SEND = 0,
    HCCL_RECV = 1,
    HCCL_SEND_RECV_RESERVED = 2
} HcclSendRecvType;

typedef enum HcclConfig {
    HCCL_DETERMINISTIC = 0,
    HCCL_CONFIG_RESERVED = 1
} HcclConfig;

typedef enum HcclCommConfigCapability {
    HCCL_COMM_CONFIG_BUFFER_SIZE = 0,
    HCCL_COMM_CONFIG_DETERMINISTIC = 1,
    HCCL_COMM_CONFIG_COMM_NAME = 2,
    HCCL_COMM_CONFIG_OP_EXPANSION_MODE = 3,
    HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV = 4,
    HCCL_COMM_CONFIG_RESERVED = 5,
    HCCL_COMM_CONFIG_WORLD_RANKID = 5, /* since 8.5.0-beta.1 */
    HCCL_COMM_CONFIG_JOBID = 6, /* since 8.5.0-beta.1 */
    HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE = 7, /* since 8.5.0-beta.1 */
    HCCL_COMM_CONFIG_EXEC_TIMEOUT = 8, /* since 8.5.0-beta.1 */
    HCCL_COMM_CONFIG_ALGO = 9, /* since 8.5.0-beta.1 */
    HCCL_COMM_CONFIG_RETRY = 10, /* since 8.5.0-beta.1 */
    HCCL_COMM_CONFIG_BUFFER_NAME = 11 /* since 9.0.0 */
} HcclCommConfigCapability;

typedef struct HcclRootInfoDef {
    char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

typedef struct HcclSendRecvItemDef {
    HcclSendRecvType sendRecvType;
    void *buf;
    uint64_t count;
    HcclDataType dataType;
    uint32_t remoteRank;
} HcclSendRecvItem;

typedef union {
    int32_t value;
} HcclConfigValue;

/* Layout of version 5 (300 bytes), which 8.1 and every later release accept. The first 24 bytes hold
   size_t size, uint32_t magic, uint32_t version and eight zero bytes. */
typedef struct HcclCommConfigDef {
    char reserved[HCCL_COMM_CONFIG_INFO_BYTES];
    uint32_t hcclBufferSize;
    uint32_t hcclDeterministic;
    char hcclCommName[COMM_NAME_MAX_LENGTH];
    char hcclUdi[UDI_MAX_LENGTH];
    uint32_t hcclOpExpansionMode;
    uint32_t hcclRdmaTrafficClass;
    uint32_t hcclRdmaServiceLevel;
} HcclCommConfig;

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_HCCL_HCCL_TYPES_H */
