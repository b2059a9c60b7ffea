/* SPDX-License-Identifier: Apache-2.0 */
/* Channels between ranks. */
#ifndef ACLNN_PY_HCCL_HCCL_CHANNEL_H
#define ACLNN_PY_HCCL_HCCL_CHANNEL_H

#include "hccl/hccl_res.h"

#include "aclnn_py/c_begin.h"

/* After 9.2. */
typedef enum HcclChannelConfigType {
    HCCL_CHANNEL_CONFIG_TYPE_INVALID = -1,
    HCCL_CHANNEL_CONFIG_TYPE_IS_SHARED_QUEUE = 0,
    HCCL_CHANNEL_CONFIG_TYPE_SHARED_QUEUE_TAG = 1
} HcclChannelConfigType;

typedef void *HcclChannelConfig;

typedef struct {
    uint32_t queueNum;
    uint32_t retryCnt;
    uint32_t retryInterval;
    uint8_t tc;
    uint8_t sl;
} HcclRoceAttr;

typedef struct {
    uint8_t pathMode;
} HcclUbMemAttr;

typedef struct {
    CommAbiHeader header;
    uint32_t remoteRank;
    CommProtocol channelProtocol;
    EndpointDesc localEndpoint;
    EndpointDesc remoteEndpoint;
    uint32_t notifyNum;
    HcclMemHandle *memHandles;
    uint32_t memHandleNum;
    union {
        uint8_t raws[128];
        HcclRoceAttr roceAttr;
        HcclUbMemAttr ubMemAttr;
    };
} HcclChannelDesc;

/* Resources for collectives of one's own. */
/* since 8.5.0-beta.1 */
HcclResult HcclChannelAcquire(HcclComm comm, CommEngine engine, const HcclChannelDesc *channelDescs, uint32_t channelNum, ChannelHandle *channels);
HcclResult HcclChannelGetHcclBuffer(HcclComm comm, ChannelHandle channel, void **buffer, uint64_t *size);
/* since 9.0 */
HcclResult HcclChannelGetRemoteMems(HcclComm comm, ChannelHandle channel, uint32_t *memNum, CommMem **remoteMems, char ***memTags);
/* after 9.2 */
HcclResult HcclChannelAcquireWithConfig(HcclComm comm, CommEngine engine, const HcclChannelDesc *channelDescs, uint32_t channelNum, HcclChannelConfig config, ChannelHandle *channels);
HcclResult HcclChannelConfigCreate(HcclChannelConfig *config);
HcclResult HcclChannelConfigDestroy(HcclChannelConfig config);
HcclResult HcclChannelConfigSetInt(HcclChannelConfig config, HcclChannelConfigType type, uint32_t value);
HcclResult HcclChannelConfigSetStr(HcclChannelConfig config, HcclChannelConfigType type, const char *value);
HcclResult HcclChannelDestroy(HcclComm comm, const ChannelHandle *channels, uint32_t channelNum);
HcclResult HcclChannelQuery(HcclComm comm, CommEngine engine, const HcclChannelDesc *channelDescs, uint32_t channelNum, ChannelHandle *channels);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_HCCL_HCCL_CHANNEL_H */
