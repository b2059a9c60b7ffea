/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of shared buffers. */
#ifndef ACLNN_PY_ACL_ACL_TDT_QUEUE_H
#define ACLNN_PY_ACL_ACL_TDT_QUEUE_H

#include "acl/acl_base.h"
#include "acl/acl_tdt.h"

#include "aclnn_py/c_begin.h"

#define ACL_TDT_QUEUE_PERMISSION_MANAGE 1U
#define ACL_TDT_QUEUE_PERMISSION_DEQUEUE 2U
#define ACL_TDT_QUEUE_PERMISSION_ENQUEUE 4U
#define ACL_TDT_QUEUE_ROUTE_UNBIND 0U
#define ACL_TDT_QUEUE_ROUTE_BIND 1U
#define ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL 2U

typedef enum acltdtQueueAttrType {
    ACL_TDT_QUEUE_NAME_PTR = 0,
    ACL_TDT_QUEUE_DEPTH_UINT32 = 1
} acltdtQueueAttrType;

typedef enum acltdtQueueRouteParamType {
    ACL_TDT_QUEUE_ROUTE_SRC_UINT32 = 0,
    ACL_TDT_QUEUE_ROUTE_DST_UINT32 = 1,
    ACL_TDT_QUEUE_ROUTE_STATUS_INT32 = 2
} acltdtQueueRouteParamType;

typedef enum acltdtQueueRouteQueryMode {
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC = 0,
    ACL_TDT_QUEUE_ROUTE_QUERY_DST = 1,
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST = 2,
    ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL = 100
} acltdtQueueRouteQueryMode;

typedef enum acltdtQueueRouteQueryInfoParamType {
    ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM = 0,
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32 = 1,
    ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32 = 2
} acltdtQueueRouteQueryInfoParamType;

typedef enum acltdtAllocBufType {
    ACL_TDT_NORMAL_MEM = 0,
    ACL_TDT_DVPP_MEM = 1
} acltdtAllocBufType;

typedef void *acltdtBuf;
typedef struct tagMemQueueAttr acltdtQueueAttr;
typedef struct acltdtQueueRouteList acltdtQueueRouteList;
typedef struct acltdtQueueRouteQueryInfo acltdtQueueRouteQueryInfo;
typedef struct acltdtQueueRoute acltdtQueueRoute;

/* Data channels and queues. */
aclError acltdtAddQueueRoute(acltdtQueueRouteList *routeList, const acltdtQueueRoute *route);
aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf *buf);
aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf);
aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t *permission);
aclError acltdtBindQueueRoutes(acltdtQueueRouteList *qRouteList);
aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf *newBuf);
aclError acltdtCreateQueue(const acltdtQueueAttr *attr, uint32_t *qid);
acltdtQueueAttr *acltdtCreateQueueAttr(void);
acltdtQueueRoute *acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId);
acltdtQueueRouteList *acltdtCreateQueueRouteList(void);
acltdtQueueRouteQueryInfo *acltdtCreateQueueRouteQueryInfo(void);
aclError acltdtDequeue(uint32_t qid, acltdtBuf *buf, int32_t timeout);
aclError acltdtDequeueData(uint32_t qid, void *data, size_t dataSize, size_t *retDataSize, void *userData, size_t userDataSize, int32_t timeout);
aclError acltdtDestroyQueue(uint32_t qid);
aclError acltdtDestroyQueueAttr(const acltdtQueueAttr *attr);
aclError acltdtDestroyQueueRoute(const acltdtQueueRoute *route);
aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList *routeList);
aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo *info);
aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout);
aclError acltdtEnqueueData(uint32_t qid, const void *data, size_t dataSize, const void *userData, size_t userDataSize, int32_t timeout, uint32_t rsv);
aclError acltdtFreeBuf(acltdtBuf buf);
aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t *num);
aclError acltdtGetBufData(const acltdtBuf buf, void **dataPtr, size_t *size);
aclError acltdtGetBufDataLen(acltdtBuf buf, size_t *len);
aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf *buf);
aclError acltdtGetBufUserData(const acltdtBuf buf, void *dataPtr, size_t size, size_t offset);
aclError acltdtGetQueueAttr(const acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len, size_t *paramRetSize, void *param);
aclError acltdtGetQueueRoute(const acltdtQueueRouteList *routeList, size_t index, acltdtQueueRoute *route);
size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList *routeList);
aclError acltdtGetQueueRouteParam(const acltdtQueueRoute *route, acltdtQueueRouteParamType type, size_t len, size_t *paramRetSize, void *param);
aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission, int32_t timeout);
aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo *queryInfo, acltdtQueueRouteList *qRouteList);
aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len);
aclError acltdtSetBufUserData(acltdtBuf buf, const void *dataPtr, size_t size, size_t offset);
aclError acltdtSetQueueAttr(acltdtQueueAttr *attr, acltdtQueueAttrType type, size_t len, const void *param);
aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo *param, acltdtQueueRouteQueryInfoParamType type, size_t len, const void *value);
aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList *qRouteList);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACL_ACL_TDT_QUEUE_H */
