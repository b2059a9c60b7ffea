// SPDX-License-Identifier: Apache-2.0
// Float tensors on the device for programs that run operators.
#ifndef TESTS_NATIVE_OPERANDS_H
#define TESTS_NATIVE_OPERANDS_H

#include <cstdint>
#include <vector>

#include "aclnnop/math.h"
#include "expect.h"

struct Vector {
  explicit Vector(std::vector<float> values) : size(static_cast<int64_t>(values.size())) {
    EXPECT_OK(aclrtMalloc(&data, bytes(), ACL_MEM_MALLOC_HUGE_FIRST));
    write(values);
    tensor = aclCreateTensor(&size, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &size, 1, data);
    EXPECT(tensor != nullptr);
  }
  ~Vector() {
    if (tensor != nullptr) EXPECT_OK(aclDestroyTensor(tensor));
    EXPECT_OK(aclrtFree(data));
  }
  Vector(const Vector &) = delete;
  Vector &operator=(const Vector &) = delete;

  size_t bytes() const { return static_cast<size_t>(size) * sizeof(float); }
  void write(const std::vector<float> &values) {
    EXPECT_OK(aclrtMemcpy(data, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  std::vector<float> read() const {
    std::vector<float> values(static_cast<size_t>(size));
    EXPECT_OK(aclrtMemcpy(values.data(), bytes(), data, bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
  }

  int64_t size;
  void *data = nullptr;
  aclTensor *tensor = nullptr;
};

// Phase one of out = a + b.
inline aclOpExecutor *add(const aclTensor *a, const aclTensor *b, aclTensor *out,
                          uint64_t *workspace) {
  float one = 1;
  aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
  aclOpExecutor *executor = nullptr;
  EXPECT_OK(aclnnAddGetWorkspaceSize(a, b, alpha, out, workspace, &executor));
  EXPECT(executor != nullptr);
  EXPECT_OK(aclDestroyScalar(alpha));
  return executor;
}

#endif
