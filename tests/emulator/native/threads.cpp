// SPDX-License-Identifier: Apache-2.0
// Many threads at once: shared streams, and objects created and destroyed side by side.
#include <atomic>
#include <thread>
#include <vector>

#include "expect.h"

namespace {

template <class F>
void on_threads(int count, F f) {
  std::vector<std::thread> all;
  for (int i = 0; i < count; ++i) all.emplace_back(f, i);
  for (std::thread &one : all) one.join();
}

void one_stream_of_many_threads() {
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  std::atomic<int> runs{0};
  on_threads(6, [&](int) {
    EXPECT_OK(aclrtSetDevice(0));
    for (int i = 0; i < 2000; ++i) {
      EXPECT_OK(aclrtLaunchHostFunc(
          stream, [](void *p) { static_cast<std::atomic<int> *>(p)->fetch_add(1); }, &runs));
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
    aclTensor *tensor =
        aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, nullptr);
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

void a_device_is_waited_for_while_streams_come_and_go() {
  std::atomic<bool> stop{false};
  std::thread waiter([&] {
    EXPECT_OK(aclrtSetDevice(3));
    while (!stop.load()) EXPECT_OK(aclrtSynchronizeDevice());
    EXPECT_OK(aclrtResetDevice(3));
  });
  on_threads(3, [&](int) {
    EXPECT_OK(aclrtSetDevice(3));
    void *p = nullptr;
    EXPECT_OK(aclrtMalloc(&p, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 150; ++i) {
      aclrtStream stream = nullptr;
      EXPECT_OK(aclrtCreateStream(&stream));
      EXPECT_OK(aclrtMemsetAsync(p, 4096, i, 4096, stream));
      EXPECT_OK(aclrtDestroyStream(stream));
    }
    EXPECT_OK(aclrtFree(p));
    EXPECT_OK(aclrtResetDevice(3));
  });
  stop.store(true);
  waiter.join();
}

void messages_belong_to_their_thread() {
  EXPECT(aclrtFree(nullptr) != 0);
  std::thread([] { EXPECT(aclGetRecentErrMsg() == nullptr); }).join();
  EXPECT(aclGetRecentErrMsg() != nullptr);
}

}  // namespace

int main() {
  one_stream_of_many_threads();
  destroyed_once();
  a_device_is_waited_for_while_streams_come_and_go();
  messages_belong_to_their_thread();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
