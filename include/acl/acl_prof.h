/* SPDX-License-Identifier: Apache-2.0 */
/* Profiling. */
#ifndef ACLNN_PY_ACL_ACL_PROF_H
#define ACLNN_PY_ACL_ACL_PROF_H

#include "acl/acl_base.h"

#include "aclnn_py/c_begin.h"

#define ACL_PROF_ACL_API 1ULL
#define ACL_PROF_TASK_TIME 2ULL
#define ACL_PROF_AICORE_METRICS 4ULL
#define ACL_PROF_AICPU 8ULL
#define ACL_PROF_L2CACHE 16ULL
#define ACL_PROF_HCCL_TRACE 32ULL
#define ACL_PROF_TRAINING_TRACE 64ULL
#define ACL_PROF_MSPROFTX 128ULL
#define ACL_PROF_RUNTIME_API 256ULL
#define ACL_PROF_TASK_TIME_L0 2048ULL
#define ACL_PROF_TASK_MEMORY 4096ULL
#define ACL_PROF_OP_ATTR 16384ULL
#define ACL_PROF_GE_API_L0 512ULL
#define ACL_PROF_GE_API_L1 16777216ULL
#define ACL_PROF_TASK_TIME_L2 8192ULL
#define ACL_PROF_TASK_TIME_L3 32768ULL
#define ACL_PROF_API_STATS 0x400000000U
#define ACL_PROF_AICORE_SHAPE 0x800000000U

#define ACL_PROF_MAX_OP_NAME_LEN 257
#define ACL_PROF_MAX_OP_TYPE_LEN 65

typedef enum aclprofAicoreMetrics {
    ACL_AICORE_ARITHMETIC_UTILIZATION = 0,
    ACL_AICORE_PIPE_UTILIZATION = 1,
    ACL_AICORE_MEMORY_BANDWIDTH = 2,
    ACL_AICORE_L0B_AND_WIDTH = 3,
    ACL_AICORE_RESOURCE_CONFLICT_RATIO = 4,
    ACL_AICORE_MEMORY_UB = 5,
    ACL_AICORE_L2_CACHE = 6,
    ACL_AICORE_PIPE_EXECUTE_UTILIZATION = 7,
    ACL_AICORE_MEMORY_ACCESS = 8,
    ACL_AICORE_NONE = 255
} aclprofAicoreMetrics;

typedef enum aclprofStepTag {
    ACL_STEP_START = 0,
    ACL_STEP_END = 1
} aclprofStepTag;

typedef enum aclprofConfigType {
    ACL_PROF_ARGS_MIN = 0,
    ACL_PROF_STORAGE_LIMIT = 1,
    ACL_PROF_AIV_METRICS = 2,
    ACL_PROF_SYS_HARDWARE_MEM_FREQ = 3,
    ACL_PROF_LLC_MODE = 4,
    ACL_PROF_SYS_IO_FREQ = 5,
    ACL_PROF_SYS_INTERCONNECTION_FREQ = 6,
    ACL_PROF_DVPP_FREQ = 7,
    ACL_PROF_HOST_SYS = 8,
    ACL_PROF_HOST_SYS_USAGE = 9,
    ACL_PROF_HOST_SYS_USAGE_FREQ = 10,
    ACL_PROF_ARGS_MAX = 11,
    ACL_PROF_LOW_POWER_FREQ = 11, /* since 8.5.0-beta.1 */
    ACL_PROF_SYS_MEM_SERVICEFLOW = 12, /* since 8.5.0-beta.1 */
    ACL_PROF_SYS_CPU_FREQ = 13, /* since 8.5.0-beta.1 */
    ACL_PROF_OPTYPE = 14, /* since 9.1.0 */
    ACL_PROF_NTS_METRICS = 15, /* since 9.1.0 */
    ACL_PROF_PATH = 16 /* since 9.1.0 */
} aclprofConfigType;

/* Since 8.5.0-beta.1. */
typedef enum aclprofSubscribeOpFlag {
    ACL_SUBSCRIBE_OP = 0,
    ACL_SUBSCRIBE_SUBGRAPH = 1,
    ACL_SUBSCRIBE_OP_THREAD = 2,
    ACL_SUBSCRIBE_NONE = 255
} aclprofSubscribeOpFlag;

/* Since 8.5.0-beta.1. */
typedef enum aclprofSubscribeOpAttri {
    ACL_SUBSCRIBE_ATTRI_THREADID = 0,
    ACL_SUBSCRIBE_ATTRI_NONE = 1
} aclprofSubscribeOpAttri;

/* Since 9.1.0. */
typedef enum aclprofMessageType {
    ACL_PROF_MESSAGE_TYPE_TENSOR_INFO = 0
} aclprofMessageType;

typedef struct aclprofConfig aclprofConfig;
typedef struct aclprofStopConfig aclprofStopConfig;
typedef struct aclprofAicoreEvents aclprofAicoreEvents;
typedef struct aclprofSubscribeConfig aclprofSubscribeConfig;
typedef struct aclprofStepInfo aclprofStepInfo;

typedef struct {
    uint32_t type;
    uint32_t format;
    uint32_t dataType;
    uint32_t shapeDim;
    uint32_t shape[8];
} aclprofTensor;

typedef struct {
    uint64_t opNameId;
    uint64_t opTypeId;
    uint32_t resv;
    uint32_t tensorNum;
    uint32_t kernelType;
    uint32_t blockNums;
    void *stream;
    aclprofTensor *tensors;
} aclprofTensorInfo;

typedef struct {
    uint16_t version;
    uint16_t size;
    uint32_t messageType;
    union {
        aclprofTensorInfo *tensorInfo;
    } message;
} aclprofEventAttributes;

/* Profiling. */
aclprofConfig *aclprofCreateConfig(uint32_t *deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics, const aclprofAicoreEvents *aicoreEvents, uint64_t dataTypeConfig);
void *aclprofCreateStamp(void);
aclprofStepInfo *aclprofCreateStepInfo(void);
aclprofSubscribeConfig *aclprofCreateSubscribeConfig(int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics, void *fd);
aclError aclprofDestroyConfig(const aclprofConfig *profilerConfig);
void aclprofDestroyStamp(void *stamp);
void aclprofDestroyStepInfo(aclprofStepInfo *stepinfo);
aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig *profSubscribeConfig);
aclError aclprofFinalize(void);
size_t aclprofGetModelId(const void *opInfo, size_t opInfoLen, uint32_t index);
aclError aclprofGetOpDescSize(size_t *opDescSize);
uint64_t aclprofGetOpDuration(const void *opInfo, size_t opInfoLen, uint32_t index);
uint64_t aclprofGetOpEnd(const void *opInfo, size_t opInfoLen, uint32_t index);
aclError aclprofGetOpName(const void *opInfo, size_t opInfoLen, uint32_t index, char *opName, size_t opNameLen);
aclError aclprofGetOpNameLen(const void *opInfo, size_t opInfoLen, uint32_t index, size_t *opNameLen);
aclError aclprofGetOpNum(const void *opInfo, size_t opInfoLen, uint32_t *opNumber);
uint64_t aclprofGetOpStart(const void *opInfo, size_t opInfoLen, uint32_t index);
aclError aclprofGetOpType(const void *opInfo, size_t opInfoLen, uint32_t index, char *opType, size_t opTypeLen);
aclError aclprofGetOpTypeLen(const void *opInfo, size_t opInfoLen, uint32_t index, size_t *opTypeLen);
aclError aclprofGetSupportedFeatures(size_t *featuresSize, void **featuresData);
aclError aclprofGetSupportedFeaturesV2(size_t *featuresSize, void **featuresData);
aclError aclprofGetStepTimestamp(aclprofStepInfo *stepInfo, aclprofStepTag tag, aclrtStream stream);
aclError aclprofInit(const char *profilerResultPath, size_t length);
aclError aclprofMark(void *stamp);
aclError aclprofMarkEx(const char *msg, size_t msgLen, aclrtStream stream);
aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig *profSubscribeConfig);
aclError aclprofModelUnSubscribe(uint32_t modelId);
aclError aclprofPop(void);
aclError aclprofPush(void *stamp);
aclError aclprofRangeStart(void *stamp, uint32_t *rangeId);
aclError aclprofRangeStop(uint32_t rangeId);
aclError aclprofSetConfig(aclprofConfigType configType, const char *config, size_t configLength);
aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t msgLen);
aclError aclprofStart(const aclprofConfig *profilerConfig);
aclError aclprofStop(const aclprofConfig *profilerConfig);
/* since 8.5.0-beta.1 */
const char *aclprofGetOpAttriValue(const void *opInfo, size_t opInfoLen, uint32_t index, aclprofSubscribeOpAttri attri);
aclprofSubscribeOpFlag aclprofGetOpFlag(const void *opInfo, size_t opInfoLen, uint32_t index);
/* since 9.0 */
aclError aclprofRangePop(void);
aclError aclprofRangePushEx(aclprofEventAttributes *attr);
uint64_t aclprofStr2Id(const char *message);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACL_ACL_PROF_H */
