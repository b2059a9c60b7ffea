// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one C++ program: communicators from HcclCommInitAll and from root info,
// collectives, a fused operator found by its group name, and a mismatch that both ranks are told
// about.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_all_gather_matmul.h"
#include "hccl/hccl.h"

#define CHECK(call)                                                                  \
  do {                                                                               \
    const int status_ = static_cast<int>(call);                                      \
    if (status_ != 0) {                                                              \
      const char *text_ = aclGetRecentErrMsg();                                      \
      std::fprintf(stderr, "%s:%d: %s: %d %s\n", __FILE__, __LINE__, #call, status_, \
                   text_ ? text_ : "");                                              \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

#define EXPECT(condition)                                                            \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

namespace {

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T> &values) : count_(values.size()) {
    CHECK(aclrtMalloc(&data_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(data_, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  ~DeviceArray() { CHECK(aclrtFree(data_)); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    CHECK(aclrtMemcpy(values.data(), bytes(), data_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }
  void *data() const { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }

 private:
  size_t count_;
  void *data_ = nullptr;
};

aclTensor *matrix(void *data, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns}, strides[] = {columns, 1};
  aclTensor *tensor =
      aclCreateTensor(shape, 2, ACL_FLOAT16, strides, 0, ACL_FORMAT_ND, shape, 2, data);
  EXPECT(tensor != nullptr);
  return tensor;
}

constexpr uint16_t kHalfOne = 0x3c00, kHalfTwo = 0x4000;

void fused(HcclComm comm, uint32_t rank, uint32_t ranks, aclrtStream stream) {
  char group[128];
  CHECK(HcclGetCommName(comm, group));
  constexpr int64_t m = 2, k = 256, n = 4;
  DeviceArray<uint16_t> x1(std::vector<uint16_t>(m * k, rank == 0 ? kHalfOne : kHalfTwo));
  DeviceArray<uint16_t> x2(std::vector<uint16_t>(k * n, kHalfOne));
  DeviceArray<uint16_t> output(std::vector<uint16_t>(m * ranks * n)),
      gathered(std::vector<uint16_t>(m * ranks * k));
  aclTensor *tensors[] = {matrix(x1.data(), m, k), matrix(x2.data(), k, n),
                          matrix(output.data(), m * ranks, n),
                          matrix(gathered.data(), m * ranks, k)};
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  CHECK(aclnnAllGatherMatmulGetWorkspaceSize(tensors[0], tensors[1], nullptr, group, 0, 0, 1,
                                             tensors[2], tensors[3], &size, &executor));
  EXPECT(size > 0);
  DeviceArray<char> workspace(std::vector<char>(size, 0));
  CHECK(aclnnAllGatherMatmul(workspace.data(), size, executor, stream));
  for (aclTensor *tensor : tensors) CHECK(aclDestroyTensor(tensor));
  CHECK(aclrtSynchronizeStream(stream));
  const std::vector<uint16_t> result = output.read(), copy = gathered.read();
  // 256 and 512
  for (size_t i = 0; i < result.size(); ++i) EXPECT(result[i] == (i < m * n ? 0x5c00 : 0x6000));
  for (size_t i = 0; i < copy.size(); ++i) EXPECT(copy[i] == (i < m * k ? kHalfOne : kHalfTwo));
}

void collectives(HcclComm comm, uint32_t rank, uint32_t ranks, aclrtStream stream) {
  DeviceArray<float> values(std::vector<float>(1000, static_cast<float>(rank + 1)));
  DeviceArray<float> everyone(std::vector<float>(1000 * ranks));
  CHECK(HcclAllGather(values.data(), everyone.data(), 1000, HCCL_DATA_TYPE_FP32, comm, stream));
  CHECK(HcclAllReduce(values.data(), values.data(), 1000, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                      comm, stream));
  CHECK(HcclBarrier(comm, stream));
  CHECK(aclrtSynchronizeStream(stream));
  const std::vector<float> sum = values.read(), all = everyone.read();
  for (float value : sum) EXPECT(value == static_cast<float>(ranks * (ranks + 1) / 2));
  for (size_t i = 0; i < all.size(); ++i) EXPECT(all[i] == static_cast<float>(i / 1000 + 1));
}

void mismatch(HcclComm comm, uint32_t rank, aclrtStream stream) {
  DeviceArray<float> values(std::vector<float>(16, 1));
  CHECK(HcclAllReduce(values.data(), values.data(), rank == 1 ? 8 : 4, HCCL_DATA_TYPE_FP32,
                      HCCL_REDUCE_SUM, comm, stream));
  EXPECT(aclrtSynchronizeStream(stream) == 507049);
  const char *text = aclGetRecentErrMsg();
  EXPECT(text && std::strstr(text, "EI0005") && std::strstr(text, "count=8") &&
         std::strstr(text, "count=4"));
  HcclResult error = HCCL_SUCCESS;
  CHECK(HcclGetCommAsyncError(comm, &error));
  EXPECT(error == HCCL_E_REMOTE);
}

template <class Work>
void on_every_device(uint32_t ranks, Work work) {
  std::vector<std::thread> threads;
  for (uint32_t r = 0; r < ranks; ++r) {
    threads.emplace_back([r, &work] {
      CHECK(aclrtSetDevice(static_cast<int32_t>(r)));
      aclrtStream stream = nullptr;
      CHECK(aclrtCreateStream(&stream));
      work(r, stream);
      CHECK(aclrtDestroyStream(stream));
      CHECK(aclrtResetDevice(static_cast<int32_t>(r)));
    });
  }
  for (std::thread &thread : threads) thread.join();
}

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  constexpr uint32_t kRanks = 4;
  int32_t devices[kRanks] = {0, 1, 2, 3};
  HcclComm comms[kRanks];
  CHECK(HcclCommInitAll(kRanks, devices, comms));
  on_every_device(kRanks, [&](uint32_t rank, aclrtStream stream) {
    collectives(comms[rank], rank, kRanks, stream);
    CHECK(HcclCommDestroy(comms[rank]));
  });
  CHECK(aclrtSetDevice(0));
  HcclRootInfo info;
  CHECK(HcclGetRootInfo(&info));
  on_every_device(2, [&](uint32_t rank, aclrtStream stream) {
    HcclCommConfig config;
    HcclCommConfigInit(&config);
    std::strcpy(config.hcclCommName, "pair");
    HcclComm comm = nullptr;
    CHECK(HcclCommInitRootInfoConfig(2, &info, rank, &config, &comm));
    char name[COMM_NAME_MAX_LENGTH];
    CHECK(HcclGetCommName(comm, name));
    EXPECT(std::string(name) == "pair");
    collectives(comm, rank, 2, stream);
    fused(comm, rank, 2, stream);
    mismatch(comm, rank, stream);
    CHECK(HcclCommDestroy(comm));
  });
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  std::puts("ok");
  return 0;
}
