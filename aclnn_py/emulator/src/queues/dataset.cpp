// SPDX-License-Identifier: Apache-2.0
// Tensors and lists of tensors that data channels carry.
#include "queues/dataset.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "runtime/copy.h"

namespace emu {
namespace {

constexpr size_t kMostDims = 128;

Slots<acltdtDataItem> &items() {
  static auto *const all = new Slots<acltdtDataItem>(1 << 16);
  return *all;
}

Slots<acltdtDataset> &datasets() {
  static auto *const all = new Slots<acltdtDataset>(1 << 16);
  return *all;
}

Status find_item(const char *routine, const acltdtDataItem *raw, acltdtDataItem **item) {
  EMU_ENTER_AS(routine);
  *item = items().find(raw);
  if (*item != nullptr) return 0;
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: dataItem is null.", routine);
  return fail(ACL_ERROR_INVALID_PARAM, "%s: %p is not a live data item.", routine,
              static_cast<const void *>(raw));
}

Status check_item(const char *routine, acltdtTensorType type, const int64_t *dims, size_t count,
                  const void *data, size_t size) {
  if (type <= ACL_TENSOR_DATA_UNDEFINED || type > ACL_TENSOR_DATA_END_TENSOR) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: tdtType is %d; allowed are 0 to 4.", routine, type);
  }
  if ((dims == nullptr) != (count == 0) || count > kMostDims) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "%s: dims is %s and dimNum %zu; allowed are null with 0, or 1 to %zu dimensions.",
                routine, dims == nullptr ? "null" : "given", count, kMostDims);
  }
  if (std::any_of(dims, dims + count, [](int64_t extent) { return extent < 0; }))
    return fail(ACL_ERROR_INVALID_PARAM, "%s: dims has a negative extent.", routine);
  if (data == nullptr && size != 0)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: data is null and size %zu.", routine, size);
  return 0;
}

void destroy_item(acltdtDataItem *item) {
  if (items().retire(item)) items().destroy(item);
}

}  // namespace

Status find_dataset(const char *routine, const acltdtDataset *raw, acltdtDataset **dataset) {
  EMU_ENTER_AS(routine);
  *dataset = datasets().find(raw);
  if (*dataset != nullptr) return 0;
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: dataset is null.", routine);
  return fail(ACL_ERROR_INVALID_PARAM, "%s: %p is not a live dataset.", routine,
              static_cast<const void *>(raw));
}

Status pack(const char *routine, const acltdtDataset &dataset, Parcel *parcel) {
  parcel->reserve(dataset.items.size());
  for (const acltdtDataItem *raw : dataset.items) {
    acltdtDataItem *item = nullptr;
    if (const Status s = find_item(routine, raw, &item)) return s;
    Place place;
    if (const Status s = place_of(routine, "data of an item", item->data, item->size, &place))
      return s;
    acltdtDataItem copy = *item;
    copy.own.resize(item->size);
    if (const Status s =
            copy_memory(routine, ACL_ERROR_INVALID_PARAM, copy.own.data(), item->data, item->size))
      return s;
    copy.data = nullptr;  // until it is unpacked
    parcel->push_back(std::move(copy));
  }
  return 0;
}

Status unpack(const char *routine, const Parcel &parcel, acltdtDataset *dataset) {
  std::vector<Slots<acltdtDataItem>::Guard> made;
  made.reserve(parcel.size());
  dataset->items.reserve(parcel.size());
  for (const acltdtDataItem &content : parcel) {
    acltdtDataItem *item = items().create(content);
    if (item == nullptr)
      return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many data items.", routine);
    item->data = item->own.data();
    made.push_back(items().guard(item));
  }
  for (auto &item : made) dataset->items.push_back(item.release());
  dataset->received = true;
  return 0;
}

}  // namespace emu

acltdtDataset::~acltdtDataset() {
  if (!received) return;
  for (acltdtDataItem *item : items) emu::destroy_item(item);
}

using namespace emu;

EMU_EXPORT acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t *dims,
                                                size_t dimNum, aclDataType dataType, void *data,
                                                size_t size) try {
  if (check_process(__func__) != 0) return nullptr;
  if (check_item(__func__, tdtType, dims, dimNum, data, size) != 0) return nullptr;
  acltdtDataItem item;
  item.type = tdtType;
  item.dims.assign(dims, dims + dimNum);
  item.dtype = dataType;
  item.data = data;
  item.size = size;
  acltdtDataItem *made = items().create(std::move(item));
  if (made == nullptr) fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many data items.", __func__);
  return made;
}
EMU_CATCH

EMU_EXPORT aclError acltdtDestroyDataItem(acltdtDataItem *dataItem) try {
  acltdtDataItem *item = nullptr;
  if (const Status s = find_item(__func__, dataItem, &item)) return s;
  destroy_item(item);
  return 0;
}
EMU_CATCH

EMU_EXPORT acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem) try {
  acltdtDataItem *item = nullptr;
  return find_item(__func__, dataItem, &item) == 0 ? item->type : ACL_TENSOR_DATA_UNDEFINED;
}
EMU_CATCH

EMU_EXPORT aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem) try {
  acltdtDataItem *item = nullptr;
  return find_item(__func__, dataItem, &item) == 0 ? item->dtype : ACL_DT_UNDEFINED;
}
EMU_CATCH

EMU_EXPORT void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem) try {
  acltdtDataItem *item = nullptr;
  return find_item(__func__, dataItem, &item) == 0 ? item->data : nullptr;
}
EMU_CATCH

EMU_EXPORT size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem) try {
  acltdtDataItem *item = nullptr;
  return find_item(__func__, dataItem, &item) == 0 ? item->size : 0;
}
EMU_CATCH

EMU_EXPORT size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem) try {
  acltdtDataItem *item = nullptr;
  return find_item(__func__, dataItem, &item) == 0 ? item->dims.size() : 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims,
                                          size_t dimNum) try {
  acltdtDataItem *item = nullptr;
  if (const Status s = find_item(__func__, dataItem, &item)) return s;
  if (dimNum < item->dims.size() || (dims == nullptr && dimNum != 0)) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "%s: dims is %s with room for %zu; the item has %zu dimensions.", __func__,
                dims == nullptr ? "null" : "given", dimNum, item->dims.size());
  }
  std::copy(item->dims.begin(), item->dims.end(), dims);
  return 0;
}
EMU_CATCH

// Tensors arrive whole here: no item is a slice.
EMU_EXPORT aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem, size_t *sliceNum,
                                               size_t *sliceId) try {
  acltdtDataItem *item = nullptr;
  if (const Status s = find_item(__func__, dataItem, &item)) return s;
  if (sliceNum == nullptr || sliceId == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: sliceNum or sliceId is null.", __func__);
  *sliceNum = 0;
  *sliceId = 0;
  return 0;
}
EMU_CATCH

EMU_EXPORT acltdtDataset *acltdtCreateDataset() try {
  if (check_process(__func__) != 0) return nullptr;
  acltdtDataset *made = datasets().create();
  if (made == nullptr) fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "%s: too many datasets.", __func__);
  return made;
}
EMU_CATCH

EMU_EXPORT aclError acltdtDestroyDataset(acltdtDataset *dataset) try {
  acltdtDataset *found = nullptr;
  if (const Status s = find_dataset(__func__, dataset, &found)) return s;
  if (datasets().retire(found)) datasets().destroy(found);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem) try {
  acltdtDataset *found = nullptr;
  acltdtDataItem *item = nullptr;
  if (const Status s = find_dataset(__func__, dataset, &found)) return s;
  if (const Status s = find_item(__func__, dataItem, &item)) return s;
  if (found->received) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "%s: the dataset holds what was received; make another with acltdtCreateDataset.",
                __func__);
  }
  found->items.push_back(item);
  return 0;
}
EMU_CATCH

EMU_EXPORT acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index) try {
  acltdtDataset *found = nullptr;
  if (find_dataset(__func__, dataset, &found) != 0) return nullptr;
  if (index < found->items.size()) return found->items[index];
  fail(ACL_ERROR_INVALID_PARAM, "%s: index is %zu; the dataset has %zu items.", __func__, index,
       found->items.size());
  return nullptr;
}
EMU_CATCH

EMU_EXPORT size_t acltdtGetDatasetSize(const acltdtDataset *dataset) try {
  acltdtDataset *found = nullptr;
  return find_dataset(__func__, dataset, &found) == 0 ? found->items.size() : 0;
}
EMU_CATCH

EMU_EXPORT const char *acltdtGetDatasetName(const acltdtDataset *dataset) try {
  acltdtDataset *found = nullptr;
  return find_dataset(__func__, dataset, &found) == 0 ? found->name.c_str() : nullptr;
}
EMU_CATCH
