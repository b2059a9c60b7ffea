// SPDX-License-Identifier: Apache-2.0
// Call an operator from C++, without Python, as any program for CANN does.
//
// Build:
//   c++ -std=c++17 $(aclnn-py config --cflags) samples/07_add.cpp $(aclnn-py config --libs) -o add
//
// Run: ./add
//
// Last line: "ok".

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"

static void check(int status, const char *what) {
  if (status == 0) return;
  const char *message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", what, status, message ? message : "");
  std::exit(1);
}

static aclTensor *tensor_of(void *data, const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, strides.data(), 0, ACL_FORMAT_ND,
                         shape.data(), shape.size(), data);
}

int main() {
  const std::vector<int64_t> shape = {4, 8};
  const size_t count = 32, nbytes = count * sizeof(float);
  std::vector<float> a(count), b(count), result(count);
  for (size_t i = 0; i < count; ++i)
    a[i] = 0.5f * static_cast<float>(i), b[i] = 100.0f - static_cast<float>(i);

  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  std::printf("device 0: %s\n", aclrtGetSocName());
  aclrtStream stream = nullptr;
  check(aclrtCreateStream(&stream), "aclrtCreateStream");

  void *memory[3] = {};
  for (void *&block : memory)
    check(aclrtMalloc(&block, nbytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclrtMemcpy(memory[0], nbytes, a.data(), nbytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
  check(aclrtMemcpy(memory[1], nbytes, b.data(), nbytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");

  aclTensor *self = tensor_of(memory[0], shape), *other = tensor_of(memory[1], shape),
            *out = tensor_of(memory[2], shape);
  float two = 2.0f;
  aclScalar *alpha = aclCreateScalar(&two, ACL_FLOAT);

  uint64_t workspace_nbytes = 0;
  aclOpExecutor *executor = nullptr;
  check(aclnnAddGetWorkspaceSize(self, other, alpha, out, &workspace_nbytes, &executor),
        "aclnnAddGetWorkspaceSize");
  void *workspace = nullptr;
  if (workspace_nbytes)
    check(aclrtMalloc(&workspace, workspace_nbytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  check(aclnnAdd(workspace, workspace_nbytes, executor, stream), "aclnnAdd");
  check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
  check(aclrtMemcpy(result.data(), nbytes, memory[2], nbytes, ACL_MEMCPY_DEVICE_TO_HOST),
        "aclrtMemcpy");

  double error = 0;
  for (size_t i = 0; i < count; ++i)
    error = std::fmax(error, std::fabs(result[i] - (a[i] + 2.0 * b[i])));
  std::printf("%zu elements, largest error %g\n", count, error);

  aclDestroyTensor(self), aclDestroyTensor(other), aclDestroyTensor(out);
  aclDestroyScalar(alpha);
  if (workspace) check(aclrtFree(workspace), "aclrtFree");
  for (void *block : memory) check(aclrtFree(block), "aclrtFree");
  check(aclrtDestroyStream(stream), "aclrtDestroyStream");
  check(aclrtResetDevice(0), "aclrtResetDevice");
  check(aclFinalize(), "aclFinalize");
  std::puts(error < 1e-5 ? "ok" : "WRONG");
  return error < 1e-5 ? 0 : 1;
}
