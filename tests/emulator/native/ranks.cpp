// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process, each with its own device, stream and operators.
#include <thread>
#include <vector>

#include "operands.h"

namespace {

void rank_on_its_device(int rank) {
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
}

}  // namespace

int main() {
  std::vector<std::thread> ranks;
  for (int i = 0; i < 8; ++i) ranks.emplace_back(rank_on_its_device, i);
  for (std::thread &rank : ranks) rank.join();
  return 0;
}
