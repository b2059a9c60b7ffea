// SPDX-License-Identifier: Apache-2.0
// Calls that ACLNN_PY_RECORD cannot keep. "memory": the host has none for the first three of four
// calls. "planned": more executors are made than it follows.
#include <cstring>

#include "operands.h"
#include "scarce.h"

namespace {

void run(const Vector &a, const Vector &b, const Vector &out, bool without_memory) {
  uint64_t size = 0;
  float one = 1;
  aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
  aclOpExecutor *executor = nullptr;
  // The first allocation is made for the record, before the operator begins.
  if (without_memory) scarce::arm(1);
  EXPECT_OK(aclnnAddGetWorkspaceSize(a.tensor, b.tensor, alpha, out.tensor, &size, &executor));
  if (without_memory) EXPECT(scarce::disarm());
  EXPECT_OK(aclDestroyScalar(alpha));
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
}

}  // namespace

int main(int, char **argv) {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  {
    Vector a({1, 2}), b({3, 4}), out({0, 0});
    if (std::strcmp(argv[1], "memory") == 0) {
      for (int i = 0; i < 4; ++i) run(a, b, out, i < 3);
    } else {
      uint64_t size = 0;
      for (int i = 0; i < 100003; ++i) add(a.tensor, b.tensor, out.tensor, &size);
    }
    EXPECT(out.read()[0] == (std::strcmp(argv[1], "memory") == 0 ? 4 : 0));
  }
  EXPECT_OK(aclFinalize());
  return 0;
}
