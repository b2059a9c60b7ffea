// SPDX-License-Identifier: Apache-2.0
// Data channels, queues, shared buffers and routes.
#include <chrono>
#include <string>
#include <thread>

#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "expect.h"

namespace {

acltdtDataset *dataset_of(acltdtDataItem *item) {
  acltdtDataset *dataset = acltdtCreateDataset();
  EXPECT(dataset != nullptr);
  EXPECT_OK(acltdtAddDataItem(dataset, item));
  return dataset;
}

void what_was_sent_is_received() {
  acltdtChannelHandle *channel = acltdtCreateChannelWithCapacity(0, "losses", 2);
  EXPECT(channel != nullptr);
  float values[3] = {1, 2, 3};
  const int64_t dims[2] = {3, 1};
  acltdtDataItem *item =
      acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 2, ACL_FLOAT, values, sizeof values);
  EXPECT(item != nullptr);
  acltdtDataset *sent = dataset_of(item);
  EXPECT_OK(acltdtSendTensor(channel, sent, -1));
  values[0] = 7;  // the channel has a copy
  EXPECT_OK(acltdtSendTensor(channel, sent, 0));
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_FULL, acltdtSendTensor(channel, sent, 0));
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_FULL, acltdtSendTensor(channel, sent, 20));
  size_t size = 0;
  EXPECT_OK(acltdtQueryChannelSize(channel, &size));
  EXPECT(size == 2);

  for (const float first : {1.0f, 7.0f}) {
    acltdtDataset *got = acltdtCreateDataset();
    EXPECT(got != nullptr);
    EXPECT_OK(acltdtReceiveTensor(channel, got, -1));
    EXPECT(acltdtGetDatasetSize(got) == 1);
    EXPECT(std::string(acltdtGetDatasetName(got)) == "losses");
    acltdtDataItem *received = acltdtGetDataItem(got, 0);
    EXPECT(received != nullptr && acltdtGetDataItem(got, 1) == nullptr);
    EXPECT(aclGetRecentErrMsg() != nullptr);
    EXPECT(acltdtGetTensorTypeFromItem(received) == ACL_TENSOR_DATA_TENSOR);
    EXPECT(acltdtGetDataTypeFromItem(received) == ACL_FLOAT);
    EXPECT(acltdtGetDataSizeFromItem(received) == sizeof values);
    EXPECT(acltdtGetDimNumFromItem(received) == 2);
    int64_t extents[2] = {};
    EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtGetDimsFromItem(received, extents, 1));
    EXPECT_OK(acltdtGetDimsFromItem(received, extents, 2));
    EXPECT(extents[0] == 3 && extents[1] == 1);
    size_t slices = 9, slice = 9;
    EXPECT_OK(acltdtGetSliceInfoFromItem(received, &slices, &slice));
    EXPECT(slices == 0 && slice == 0);
    const auto *data = static_cast<const float *>(acltdtGetDataAddrFromItem(received));
    EXPECT(data != values && data[0] == first && data[2] == 3);
    // What was received is not mixed with what is sent, and a full dataset takes nothing more.
    EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtAddDataItem(got, item));
    EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtReceiveTensor(channel, got, 0));
    EXPECT_OK(acltdtDestroyDataset(got));
    EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtDestroyDataItem(received));
  }
  acltdtDataset *none = acltdtCreateDataset();
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_EMPTY, acltdtReceiveTensor(channel, none, 0));
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_EMPTY, acltdtReceiveTensor(channel, none, 20));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtReceiveTensor(channel, none, -2));
  EXPECT_OK(acltdtSendTensor(channel, sent, -1));
  EXPECT_OK(acltdtCleanChannel(channel));
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_EMPTY, acltdtReceiveTensor(channel, none, 0));

  EXPECT_OK(acltdtDestroyDataItem(item));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtSendTensor(channel, sent, 0));  // its item is gone
  EXPECT_OK(acltdtDestroyDataset(sent));
  EXPECT_OK(acltdtDestroyDataset(none));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtDestroyDataset(none));
  EXPECT_OK(acltdtDestroyChannel(channel));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtQueryChannelSize(channel, &size));
}

void a_stop_ends_waits() {
  acltdtChannelHandle *channel = acltdtCreateChannel(0, "stop");
  EXPECT(channel != nullptr);
  acltdtDataset *dataset = acltdtCreateDataset();
  EXPECT(dataset != nullptr);
  int answer = 0;
  std::thread receiver([&] { answer = acltdtReceiveTensor(channel, dataset, -1); });
  EXPECT_OK(acltdtStopChannel(channel));
  receiver.join();
  EXPECT(answer == ACL_ERROR_FAILURE);
  EXPECT_CODE(ACL_ERROR_FAILURE, acltdtReceiveTensor(channel, dataset, -1));
  EXPECT_CODE(ACL_ERROR_FAILURE, acltdtSendTensor(channel, dataset, -1));
  EXPECT_OK(acltdtDestroyDataset(dataset));
  EXPECT_OK(acltdtDestroyChannel(channel));
}

void wrong_channels_and_items_say_so() {
  char data[4] = {};
  const int64_t dims[1] = {4}, negative[1] = {-1};
  const std::string longest(128, 'x');
  EXPECT(acltdtCreateChannel(99, "x") == nullptr && aclGetRecentErrMsg() != nullptr);
  EXPECT(acltdtCreateChannel(0, nullptr) == nullptr && aclGetRecentErrMsg() != nullptr);
  EXPECT(acltdtCreateChannel(0, "") == nullptr && aclGetRecentErrMsg() != nullptr);
  EXPECT(acltdtCreateChannel(0, longest.c_str()) == nullptr && aclGetRecentErrMsg() != nullptr);
  EXPECT(acltdtCreateChannelWithCapacity(0, "x", 0) == nullptr && aclGetRecentErrMsg() != nullptr);
  const acltdtTensorType type = ACL_TENSOR_DATA_TENSOR;
  EXPECT(acltdtCreateDataItem(ACL_TENSOR_DATA_UNDEFINED, dims, 1, ACL_INT8, data, 4) == nullptr);
  EXPECT(acltdtCreateDataItem(type, nullptr, 1, ACL_INT8, data, 4) == nullptr);
  EXPECT(acltdtCreateDataItem(type, dims, 0, ACL_INT8, data, 4) == nullptr);
  EXPECT(acltdtCreateDataItem(type, dims, 129, ACL_INT8, data, 4) == nullptr);
  EXPECT(acltdtCreateDataItem(type, negative, 1, ACL_INT8, data, 4) == nullptr);
  EXPECT(acltdtCreateDataItem(type, dims, 1, ACL_INT8, nullptr, 4) == nullptr);
  EXPECT(aclGetRecentErrMsg() != nullptr);
  // An end of a sequence has no data.
  acltdtDataItem *end = acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, nullptr, 0,
                                             ACL_DT_UNDEFINED, nullptr, 0);
  EXPECT(end != nullptr);
  EXPECT_OK(acltdtDestroyDataItem(end));
}

uint32_t queue_of(uint32_t depth, const char *name) {
  acltdtQueueAttr *attr = acltdtCreateQueueAttr();
  EXPECT(attr != nullptr);
  EXPECT_OK(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name));
  EXPECT_OK(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
  const char *again = nullptr;
  uint32_t deep = 0;
  size_t size = 0;
  EXPECT_OK(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof again, &size, &again));
  EXPECT(size == sizeof again && strcmp(again, name) == 0);
  EXPECT_OK(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof deep, &size, &deep));
  EXPECT(size == sizeof deep && deep == depth);
  const uint32_t shallow = 1;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 2, &depth));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM,
              acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof shallow, &shallow));
  uint32_t id = 0;
  EXPECT_OK(acltdtCreateQueue(attr, &id));
  EXPECT_OK(acltdtDestroyQueueAttr(attr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtCreateQueue(attr, &id));
  return id;
}

void data_goes_through_a_queue() {
  const uint32_t id = queue_of(2, "frames");
  char text[16] = "first", back[16] = {}, note[4] = "abc", note_back[4] = {};
  size_t size = 0;
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_EMPTY,
              acltdtDequeueData(id, back, sizeof back, &size, nullptr, 0, 0));
  EXPECT_OK(acltdtEnqueueData(id, text, 6, note, sizeof note, -1, 0));
  EXPECT_OK(acltdtEnqueueData(id, "second", 7, nullptr, 0, 0, 0));
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_FULL, acltdtEnqueueData(id, text, 6, nullptr, 0, 10, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtEnqueueData(id, text, 6, nullptr, 97, 0, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtEnqueueData(id, nullptr, 6, nullptr, 0, 0, 0));
  // Too little room: the data stays.
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtDequeueData(id, back, 5, &size, nullptr, 0, 0));
  EXPECT_OK(acltdtDequeueData(id, back, sizeof back, &size, note_back, sizeof note_back, 0));
  EXPECT(size == 6 && strcmp(back, "first") == 0 && strcmp(note_back, "abc") == 0);

  // To and from device memory.
  void *device = nullptr;
  EXPECT_OK(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(acltdtDequeueData(id, device, 64, &size, nullptr, 0, 0));
  EXPECT_OK(acltdtEnqueueData(id, device, size, nullptr, 0, 0, 0));
  EXPECT_OK(acltdtDequeueData(id, back, sizeof back, &size, nullptr, 0, -1));
  EXPECT(size == 7 && strcmp(back, "second") == 0);
  EXPECT_OK(aclrtFree(device));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, acltdtEnqueueData(id, device, 8, nullptr, 0, 0, 0));

  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(acltdtEnqueueData(id, "late", 5, nullptr, 0, -1, 0));
    EXPECT_OK(aclrtResetDevice(0));
  });
  EXPECT_OK(acltdtDequeueData(id, back, sizeof back, &size, nullptr, 0, -1));
  EXPECT(strcmp(back, "late") == 0);
  sender.join();

  uint32_t permission = 0;
  EXPECT_OK(acltdtAttachQueue(id, 0, &permission));
  EXPECT(permission == 7);
  EXPECT_CODE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, acltdtGrantQueue(id, 1, 2, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtGrantQueue(id, 1, 8, 0));
  int answer = 0;
  std::thread waiting([&] { answer = acltdtDequeueData(id, back, 16, &size, nullptr, 0, -1); });
  EXPECT_OK(acltdtDestroyQueue(id));  // ends the wait
  waiting.join();
  EXPECT(answer == ACL_ERROR_INVALID_QUEUE_ID);
  EXPECT_CODE(ACL_ERROR_INVALID_QUEUE_ID, acltdtDestroyQueue(id));
  EXPECT_CODE(ACL_ERROR_INVALID_QUEUE_ID, acltdtAttachQueue(id, 0, &permission));
}

acltdtBuf buffer_of(const char *text) {
  acltdtBuf buffer = nullptr;
  void *data = nullptr;
  size_t size = 0;
  EXPECT_OK(acltdtAllocBuf(32, ACL_TDT_NORMAL_MEM, &buffer));
  EXPECT_OK(acltdtGetBufData(buffer, &data, &size));
  EXPECT(size == 32);
  EXPECT_OK(aclrtMemcpy(data, size, text, strlen(text) + 1, ACL_MEMCPY_HOST_TO_DEVICE));
  EXPECT_OK(acltdtSetBufDataLen(buffer, strlen(text) + 1));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtSetBufDataLen(buffer, 33));
  return buffer;
}

std::string text_of(acltdtBuf buffer) {
  void *data = nullptr;
  size_t size = 0, length = 0;
  char text[32] = {};
  EXPECT_OK(acltdtGetBufData(buffer, &data, &size));
  EXPECT_OK(acltdtGetBufDataLen(buffer, &length));
  EXPECT_OK(aclrtMemcpy(text, sizeof text, data, length, ACL_MEMCPY_DEVICE_TO_HOST));
  return text;
}

void buffers_and_chains() {
  const uint32_t id = queue_of(4, "buffers");
  acltdtBuf head = buffer_of("head"), part = buffer_of("part"), copy = nullptr;
  EXPECT_OK(acltdtCopyBufRef(part, &copy));
  EXPECT_OK(acltdtSetBufUserData(head, "note", 5, 91));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtSetBufUserData(head, "note", 5, 92));
  EXPECT_OK(acltdtAppendBufChain(head, part));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtAppendBufChain(head, part));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtAppendBufChain(head, head));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtFreeBuf(part));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtEnqueue(id, part, 0));
  EXPECT_OK(acltdtEnqueue(id, head, 0));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtFreeBuf(head));  // the queue has it
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtEnqueue(id, head, 0));

  acltdtBuf got = nullptr, second = nullptr;
  uint32_t count = 0;
  EXPECT_OK(acltdtDequeue(id, &got, -1));
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_EMPTY, acltdtDequeue(id, &second, 0));
  EXPECT_OK(acltdtGetBufChainNum(got, &count));
  EXPECT(count == 2);
  EXPECT_OK(acltdtGetBufFromChain(got, 1, &second));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtGetBufFromChain(got, 2, &second));
  EXPECT(text_of(got) == "head" && text_of(second) == "part");
  char note[5] = {};
  EXPECT_OK(acltdtGetBufUserData(got, note, 5, 91));
  EXPECT(strcmp(note, "note") == 0);
  EXPECT_OK(acltdtFreeBuf(got));
  EXPECT(text_of(copy) == "part");  // the copy keeps the memory
  EXPECT_OK(acltdtFreeBuf(copy));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtFreeBuf(copy));
  acltdtBuf none = nullptr;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtAllocBuf(0, ACL_TDT_NORMAL_MEM, &none));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtAllocBuf(8, 2, &none));
  EXPECT_OK(acltdtDestroyQueue(id));
}

int32_t status_of(acltdtQueueRouteList *list, size_t index) {
  acltdtQueueRoute *route = acltdtCreateQueueRoute(0, 0);
  EXPECT(route != nullptr);
  int32_t status = -1;
  size_t size = 0;
  EXPECT_OK(acltdtGetQueueRoute(list, index, route));
  EXPECT_OK(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, sizeof status, &size,
                                     &status));
  EXPECT_OK(acltdtDestroyQueueRoute(route));
  return status;
}

void add(acltdtQueueRouteList *list, uint32_t from, uint32_t to) {
  acltdtQueueRoute *route = acltdtCreateQueueRoute(from, to);
  EXPECT(route != nullptr);
  EXPECT_OK(acltdtAddQueueRoute(list, route));
  EXPECT_OK(acltdtDestroyQueueRoute(route));
}

void routes_forward() {
  const uint32_t from = queue_of(2, "from"), left = queue_of(2, "left"),
                 right = queue_of(2, "right");
  acltdtQueueRouteList *list = acltdtCreateQueueRouteList();
  EXPECT(list != nullptr);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtBindQueueRoutes(list));
  add(list, from, left);
  add(list, from, right);
  EXPECT(acltdtGetQueueRouteNum(list) == 2 && status_of(list, 0) == ACL_TDT_QUEUE_ROUTE_UNBIND);
  EXPECT_OK(acltdtBindQueueRoutes(list));
  EXPECT(status_of(list, 0) == ACL_TDT_QUEUE_ROUTE_BIND);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtBindQueueRoutes(list));

  acltdtQueueRouteList *loop = acltdtCreateQueueRouteList();
  EXPECT(loop != nullptr);
  add(loop, right, from);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtBindQueueRoutes(loop));
  EXPECT(status_of(loop, 0) == ACL_TDT_QUEUE_ROUTE_UNBIND);
  EXPECT_OK(acltdtDestroyQueueRouteList(loop));

  // Two wait in the targets and two in the source; a fifth has no room until both targets have.
  char number = 0;
  size_t size = 0;
  for (number = 0; number < 4; ++number)
    EXPECT_OK(acltdtEnqueueData(from, &number, 1, nullptr, 0, 0, 0));
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_FULL, acltdtEnqueueData(from, &number, 1, nullptr, 0, 0, 0));
  EXPECT_OK(acltdtDequeueData(left, &number, 1, &size, nullptr, 0, 0));
  EXPECT(number == 0);
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_FULL, acltdtEnqueueData(from, &number, 1, nullptr, 0, 0, 0));
  for (char want = 0; want < 4; ++want) {
    EXPECT_OK(acltdtDequeueData(right, &number, 1, &size, nullptr, 0, 0));
    EXPECT(number == want);
    if (want == 3) break;
    EXPECT_OK(acltdtDequeueData(left, &number, 1, &size, nullptr, 0, 0));
    EXPECT(number == want + 1);
  }

  acltdtQueueRouteQueryInfo *query = acltdtCreateQueueRouteQueryInfo();
  acltdtQueueRouteList *found = acltdtCreateQueueRouteList();
  EXPECT(query != nullptr && found != nullptr);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtQueryQueueRoutes(query, found));
  uint32_t mode = ACL_TDT_QUEUE_ROUTE_QUERY_DST;
  EXPECT_OK(acltdtSetQueueRouteQueryInfo(query, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, 4, &mode));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, acltdtQueryQueueRoutes(query, found));
  EXPECT_OK(acltdtSetQueueRouteQueryInfo(query, ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32, 4, &left));
  EXPECT_OK(acltdtQueryQueueRoutes(query, found));
  EXPECT(acltdtGetQueueRouteNum(found) == 1);
  EXPECT_OK(acltdtDestroyQueue(left));
  mode = ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL;
  EXPECT_OK(acltdtSetQueueRouteQueryInfo(query, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, 4, &mode));
  EXPECT_OK(acltdtQueryQueueRoutes(query, found));
  EXPECT(acltdtGetQueueRouteNum(found) == 2);
  EXPECT(status_of(found, 1) == ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL);
  EXPECT_OK(acltdtUnbindQueueRoutes(list));
  EXPECT(status_of(list, 1) == ACL_TDT_QUEUE_ROUTE_UNBIND);
  EXPECT_OK(acltdtEnqueueData(from, &number, 1, nullptr, 0, 0, 0));
  EXPECT_CODE(ACL_ERROR_RT_QUEUE_EMPTY, acltdtDequeueData(right, &number, 1, &size, nullptr, 0, 0));
  EXPECT_OK(acltdtDestroyQueueRouteQueryInfo(query));
  EXPECT_OK(acltdtDestroyQueueRouteList(found));
  EXPECT_OK(acltdtDestroyQueueRouteList(list));
  EXPECT_OK(acltdtDestroyQueue(from));
  EXPECT_OK(acltdtDestroyQueue(right));
}

}  // namespace

int main() {
  what_was_sent_is_received();
  a_stop_ends_waits();
  wrong_channels_and_items_say_so();
  EXPECT_OK(aclrtSetDevice(0));
  data_goes_through_a_queue();
  buffers_and_chains();
  routes_forward();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
