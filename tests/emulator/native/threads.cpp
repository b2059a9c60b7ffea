// SPDX-License-Identifier: Apache-2.0
// Many threads at once: ranks of one process, streams shared by threads, create and destroy races.
#include <atomic>
#include <thread>
#include <vector>

#include "operands.h"

namespace {

template <class F>
void on_threads(int count, F f) {
  std::vector<std::thread> all;
  for (int i = 0; i < count; ++i) all.emplace_back(f, i);
  for (std::thread &one : all) one.join();
}

void ranks() {
  on_threads(8, [](int rank) {
    EXPECT_OK(aclrtSetDevice(rank));
    aclrtStream stream = nullptr;
    EXPECT_OK(aclrtCreateStream(&stream));
    {
      Vector a({1, 2, 3}), b({static_cast<float>(rank), 0, 1}), out({0, 0, 0});
      for (int i = 0; i < 200; ++i) {
        uint64_t size = 0;
        aclOpExecutor *executor = add(a.tensor, b.tensor, out.tensor, &size);
        EXPECT_OK(aclnnAdd(nullptr, size, executor, stream));
        if (i % 50 == 0) EXPECT_OK(aclrtSynchronizeStream(stream));
      }
      EXPECT_OK(aclrtSynchronizeStream(stream));
      EXPECT((out.read() == std::vector<float>{1 + static_cast<float>(rank), 2, 4}));
    }
    EXPECT_OK(aclrtDestroyStream(stream));
    EXPECT_OK(aclrtResetDevice(rank));
  });
}

void one_stream_of_many_threads() {
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  std::atomic<int> runs{0};
  on_threads(6, [&](int) {
    EXPECT_OK(aclrtSetDevice(0));
    for (int i = 0; i < 2000; ++i) {
      EXPECT_OK(aclrtLaunchHostFunc(stream, [](void *p) { static_cast<std::atomic<int> *>(p)->fetch_add(1); }, &runs));
      if (i % 500 == 0) EXPECT_OK(aclrtSynchronizeStream(stream));
    }
    EXPECT_OK(aclrtSynchronizeStream(stream));
    EXPECT_OK(aclrtResetDevice(0));
  });
  EXPECT(runs.load() == 12000);
  EXPECT_OK(aclrtDestroyStream(stream));
}

void destroyed_once() {
  // Of all who destroy one object at a time, one succeeds and the others are refused.
  for (int round = 0; round < 50; ++round) {
    const int64_t shape[1] = {1};
    aclTensor *tensor = aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, nullptr);
    void *p = nullptr;
    EXPECT_OK(aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    std::atomic<int> tensors{0}, blocks{0};
    on_threads(4, [&](int) {
      if (aclDestroyTensor(tensor) == 0) tensors.fetch_add(1);
      if (aclrtFree(p) == 0) blocks.fetch_add(1);
    });
    EXPECT(tensors.load() == 1 && blocks.load() == 1);
  }
}

void messages_belong_to_their_thread() {
  EXPECT(aclrtFree(nullptr) != 0);
  std::thread([] { EXPECT(aclGetRecentErrMsg() == nullptr); }).join();
  EXPECT(aclGetRecentErrMsg() != nullptr);
}

}  // namespace

int main() {
  ranks();
  one_stream_of_many_threads();
  destroyed_once();
  messages_belong_to_their_thread();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
