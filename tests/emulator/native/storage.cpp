// SPDX-License-Identifier: Apache-2.0
// Matrices in FRACTAL_NZ and the storage they were described with: an offset or strides that leave
// it are refused in phase one, however large the memory is.
#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"
#include "aclnnop/matmul.h"
#include "expect.h"

namespace {

using Dims = std::vector<int64_t>;

void *g_memory = nullptr;

aclTensor *tensor(const Dims &shape, const Dims &strides, int64_t offset, aclFormat format,
                  const Dims &storage) {
  aclTensor *made = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT16, strides.data(), offset,
                                    format, storage.data(), storage.size(), g_memory);
  EXPECT(made != nullptr);
  return made;
}

// Phase one of a product with the right matrix (32, 64).
int product(const Dims &strides, int64_t offset, const Dims &storage) {
  aclTensor *left = tensor({4, 32}, {32, 1}, 0, ACL_FORMAT_ND, {4, 32});
  aclTensor *right = tensor({32, 64}, strides, offset, ACL_FORMAT_FRACTAL_NZ, storage);
  aclTensor *out = tensor({4, 64}, {64, 1}, 0, ACL_FORMAT_ND, {4, 64});
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  const int status = aclnnMatmulGetWorkspaceSize(left, right, out, 0, &size, &executor);
  if (status == 0) EXPECT(aclDestroyAclOpExecutor(executor) == 0);
  for (aclTensor *each : {left, right, out}) EXPECT(aclDestroyTensor(each) == 0);
  return status;
}

}  // namespace

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtMalloc(&g_memory, size_t{1} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  const Dims blocks = {4, 2, 16, 16}, more = {4, 4, 16, 16}, flat = {2048}, dense = {64, 1};
  EXPECT_OK(product(dense, 0, blocks));
  EXPECT_OK(product(dense, 2048, more));
  EXPECT_OK(product({1, 32}, 0, blocks));  // transposed
  EXPECT_OK(product(dense, 0, flat));      // without the blocks, as programs say it too
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, product(dense, 1, blocks));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, product(dense, 2049, more));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, product(dense, -1, blocks));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, product({128, 1}, 0, blocks));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, product(dense, 1, flat));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, product(dense, 0, {2, 2, 16, 16}));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, product(dense, 0, {1}));
  EXPECT_OK(aclrtFree(g_memory));
  return 0;
}
