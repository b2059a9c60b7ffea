/* SPDX-License-Identifier: Apache-2.0 */
/* Data channels between host and device. */
#ifndef ACLNN_PY_ACL_ACL_TDT_H
#define ACLNN_PY_ACL_ACL_TDT_H

#include "acl/acl_base.h"

#include "aclnn_py/c_begin.h"

typedef enum acltdtTensorType {
    ACL_TENSOR_DATA_UNDEFINED = -1,
    ACL_TENSOR_DATA_TENSOR = 0,
    ACL_TENSOR_DATA_END_OF_SEQUENCE = 1,
    ACL_TENSOR_DATA_ABNORMAL = 2,
    ACL_TENSOR_DATA_SLICE_TENSOR = 3,
    ACL_TENSOR_DATA_END_TENSOR = 4
} acltdtTensorType;

typedef struct acltdtDataItem acltdtDataItem;
typedef struct acltdtDataset acltdtDataset;
typedef struct acltdtChannelHandle acltdtChannelHandle;

/* Data channels and queues. */
aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem);
aclError acltdtCleanChannel(acltdtChannelHandle *handle);
acltdtChannelHandle *acltdtCreateChannel(uint32_t deviceId, const char *name);
acltdtChannelHandle *acltdtCreateChannelWithCapacity(uint32_t deviceId, const char *name, size_t capacity);
acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t *dims, size_t dimNum, aclDataType dataType, void *data, size_t size);
acltdtDataset *acltdtCreateDataset(void);
aclError acltdtDestroyChannel(acltdtChannelHandle *handle);
aclError acltdtDestroyDataItem(acltdtDataItem *dataItem);
aclError acltdtDestroyDataset(acltdtDataset *dataset);
void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem);
acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index);
size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem);
aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem);
const char *acltdtGetDatasetName(const acltdtDataset *dataset);
size_t acltdtGetDatasetSize(const acltdtDataset *dataset);
size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem);
aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims, size_t dimNum);
aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem, size_t *sliceNum, size_t *sliceId);
acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem);
aclError acltdtQueryChannelSize(const acltdtChannelHandle *handle, size_t *size);
aclError acltdtReceiveTensor(const acltdtChannelHandle *handle, acltdtDataset *dataset, int32_t timeout);
aclError acltdtSendTensor(const acltdtChannelHandle *handle, const acltdtDataset *dataset, int32_t timeout);
aclError acltdtStopChannel(acltdtChannelHandle *handle);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACL_ACL_TDT_H */
