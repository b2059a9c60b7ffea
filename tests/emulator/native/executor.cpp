// SPDX-License-Identifier: Apache-2.0
// The two phases: single use, repeatable, deep copies, wrong use.
#include "aclnnop/matmul.h"
#include "gate.h"
#include "operands.h"

namespace {

const std::vector<float> kThree(4, 3.0f);

void single_use() {
  Vector a({1, 1, 1, 1}), b({2, 2, 2, 2}), out({0, 0, 0, 0});
  uint64_t size = 99;
  aclOpExecutor *executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_CODE(ACLNN_ERR_PARAM_NULLPTR, aclnnAdd(nullptr, size, nullptr, nullptr));
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclnnAdd(nullptr, size, executor, nullptr));  // consumed
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclDestroyAclOpExecutor(executor));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclSetAclOpExecutorRepeatable(executor));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT(out.read() == kThree);

  executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_OK(aclDestroyAclOpExecutor(executor));  // one that never ran
  EXPECT_CODE(ACLNN_ERR_INNER_NULLPTR, aclDestroyAclOpExecutor(nullptr));

  executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_CODE(ACLNN_ERR_PARAM_NULLPTR, aclnnAdd(nullptr, size + 32, executor, nullptr));
  // consumed by the refusal
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclnnAdd(nullptr, size, executor, nullptr));

  executor = add(a.tensor, b.tensor, out.tensor, &size);
  int junk = 0;
  EXPECT_CODE(ACLNN_ERR_RUNTIME_ERROR, aclnnAdd(nullptr, size, executor, &junk));  // not a stream
  executor = add(a.tensor, b.tensor, out.tensor, &size);
  // of another operator
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclnnMul(nullptr, size, executor, nullptr));
}

void null_outputs_of_phase_one() {
  Vector a({1}), out({0});
  float one = 1;
  aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  EXPECT_CODE(ACLNN_ERR_PARAM_NULLPTR,
              aclnnAddGetWorkspaceSize(a.tensor, a.tensor, alpha, out.tensor, nullptr, &executor));
  EXPECT_CODE(ACLNN_ERR_PARAM_NULLPTR,
              aclnnAddGetWorkspaceSize(a.tensor, a.tensor, alpha, out.tensor, &size, nullptr));
  EXPECT_CODE(ACLNN_ERR_PARAM_NULLPTR,
              aclnnAddGetWorkspaceSize(nullptr, a.tensor, alpha, out.tensor, &size, &executor));
  EXPECT_OK(aclDestroyScalar(alpha));
}

void host_objects_may_go_at_once() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  Vector a({1, 1, 1, 1}), b({2, 2, 2, 2}), out({0, 0, 0, 0});
  Gate gate;
  gate.close(stream);
  uint64_t first_size = 0, second_size = 0;
  // Both first phases, then both second ones.
  aclOpExecutor *first = add(a.tensor, b.tensor, out.tensor, &first_size);
  aclOpExecutor *second = add(out.tensor, b.tensor, out.tensor, &second_size);
  EXPECT_OK(aclnnAdd(nullptr, first_size, first, stream));
  EXPECT_OK(aclnnAdd(nullptr, second_size, second, stream));
  EXPECT_OK(aclDestroyTensor(out.tensor));
  out.tensor = nullptr;
  gate.open();
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT(out.read() == std::vector<float>(4, 5.0f));
  EXPECT_OK(aclrtDestroyStream(stream));
}

void repeatable() {
  Vector a({1, 1}), b({2, 2}), out({0, 0}), c({10, 20}), other({0, 0});
  uint64_t size = 0;
  aclOpExecutor *executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_CODE(ACLNN_ERR_INNER_NULLPTR, aclSetAclOpExecutorRepeatable(nullptr));
  EXPECT_OK(aclSetAclOpExecutorRepeatable(executor));
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  Gate gate;
  gate.close(stream);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, stream));
  // New addresses while the first run is queued: it keeps its own.
  EXPECT_OK(aclSetInputTensorAddr(executor, 0, a.tensor, c.data));
  EXPECT_OK(aclSetOutputTensorAddr(executor, 0, out.tensor, other.data));
  EXPECT_OK(aclnnAdd(nullptr, size, executor, stream));
  gate.open();
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT((out.read() == std::vector<float>{3, 3}));
  EXPECT((other.read() == std::vector<float>{12, 22}));
  EXPECT_OK(aclSetTensorAddr(executor, 1, b.tensor, a.data));  // counts all tensors
  EXPECT_OK(AclSetTensorAddr(executor, 2, out.tensor, out.data));
  EXPECT_OK(aclnnAdd(nullptr, size, executor, stream));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclSetTensorAddr(executor, 3, c.tensor, a.data));
  EXPECT_CODE(ACLNN_ERR_INNER_NULLPTR, aclSetTensorAddr(executor, 0, nullptr, a.data));
  EXPECT_CODE(ACLNN_ERR_INNER_NULLPTR, aclSetTensorAddr(nullptr, 0, b.tensor, a.data));
  EXPECT_OK(aclDestroyAclOpExecutor(executor));  // the queued run keeps the plan
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT((out.read() == std::vector<float>{11, 21}));
  EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclnnAdd(nullptr, size, executor, stream));
  EXPECT_OK(aclrtDestroyStream(stream));
}

void captured() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  Vector total({0, 0}), step({1, 2});
  aclmdlRI graph = nullptr;
  uint64_t size = 0;
  EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  aclOpExecutor *executor = add(total.tensor, step.tensor, total.tensor, &size);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, stream));
  EXPECT_OK(aclmdlRICaptureEnd(stream, &graph));
  EXPECT((total.read() == std::vector<float>{0, 0}));
  for (int i = 0; i < 5; ++i) EXPECT_OK(aclmdlRIExecuteAsync(graph, stream));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT((total.read() == std::vector<float>{5, 10}));
  EXPECT_OK(aclmdlRIDestroy(graph));
  EXPECT_OK(aclrtDestroyStream(stream));
}

void wrong_memory_is_a_device_fault() {
  Vector a({1, 1, 1, 1}), b({2, 2, 2, 2}), out({0, 0, 0, 0});
  std::vector<float> host(4, 1.0f);
  uint64_t size = 0;
  // A host address, null, freed memory, too short a block, another device's memory.
  EXPECT_OK(aclSetRawTensorAddr(a.tensor, host.data()));
  aclOpExecutor *executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
#ifdef SCARCE_ONLY_LIBRARY  // where memory fails, the words of a fault may be lost
  EXPECT_CODE(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(nullptr));
#else
  EXPECT(aclrtSynchronizeStream(nullptr) == ACL_ERROR_RT_AICORE_EXCEPTION);
  const char *text = aclGetRecentErrMsg();
  EXPECT(text != nullptr && strstr(text, "host memory") != nullptr &&
         strstr(text, "aclnnAdd") != nullptr);
#endif

  void *gone = nullptr;
  EXPECT_OK(aclrtMalloc(&gone, 16, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtFree(gone));
  EXPECT_OK(aclSetRawTensorAddr(a.tensor, gone));
  executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeDevice());

  EXPECT_OK(aclrtSetDevice(1));
  void *foreign = nullptr;
  EXPECT_OK(aclrtMalloc(&foreign, 16, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(foreign, 16, 0, 16));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclSetRawTensorAddr(a.tensor, foreign));
  executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(nullptr));
  EXPECT_OK(aclrtDeviceEnablePeerAccess(1, 0));
  executor = add(a.tensor, b.tensor, out.tensor, &size);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT(out.read() == std::vector<float>(4, 2.0f));
  EXPECT_OK(aclrtFree(foreign));
  EXPECT_OK(aclrtResetDevice(1));
  EXPECT_OK(aclrtSetDevice(0));
}

// What lies behind a matrix in FRACTAL_NZ must not be multiplied in place of its last blocks.
void blocks_belong_to_a_matrix() {
  const int64_t left[] = {5, 37}, right[] = {37, 29}, product[] = {5, 29};
  const auto tensor = [](const int64_t *shape, aclFormat format, size_t bytes, void **data) {
    EXPECT_OK(aclrtMalloc(data, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtMemset(*data, bytes, 0, bytes));
    aclTensor *made = aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, format, shape, 2, *data);
    EXPECT(made != nullptr);
    return made;
  };
  constexpr size_t kBlocks = size_t{4} * 3 * 16 * 8 * 4, kElements = size_t{37} * 29 * 4;
  void *data[4] = {};
  aclTensor *x = tensor(left, ACL_FORMAT_ND, 5 * 37 * 4, &data[0]),
            *whole = tensor(right, ACL_FORMAT_FRACTAL_NZ, kBlocks, &data[1]),
            *cut = tensor(right, ACL_FORMAT_FRACTAL_NZ, kElements, &data[2]),
            *out = tensor(product, ACL_FORMAT_ND, 5 * 29 * 4, &data[3]);
  for (const aclTensor *y : {whole, cut}) {
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    EXPECT_OK(aclnnMmGetWorkspaceSize(x, y, out, 0, &size, &executor));
    EXPECT_OK(aclnnMm(nullptr, size, executor, nullptr));
    EXPECT_CODE(y == whole ? 0 : ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(nullptr));
  }
  for (aclTensor *one : {x, whole, cut, out}) EXPECT_OK(aclDestroyTensor(one));
  for (void *block : data) EXPECT_OK(aclrtFree(block));
}

uint32_t g_code, g_device;

void the_exception_callback_hears_of_it() {
  EXPECT_OK(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo *info) {
    g_code = aclrtGetErrorCodeFromExceptionInfo(info);
    g_device = aclrtGetDeviceIdFromExceptionInfo(info);
  }));
  Vector a({1}), out({0});
  uint64_t size = 0;
  g_device = 99;
  EXPECT_OK(aclSetRawTensorAddr(a.tensor, &g_code));
  aclOpExecutor *executor = add(a.tensor, a.tensor, out.tensor, &size);
  EXPECT_OK(aclnnAdd(nullptr, size, executor, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(nullptr));
  EXPECT(g_code == ACL_ERROR_RT_AICORE_EXCEPTION && g_device == 0);
  EXPECT_OK(aclrtSetExceptionInfoCallback(nullptr));
}

}  // namespace

int main() {
  EXPECT_OK(aclrtSetDevice(0));
  single_use();
  null_outputs_of_phase_one();
  host_objects_may_go_at_once();
  repeatable();
  captured();
  wrong_memory_is_a_device_fault();
  blocks_belong_to_a_matrix();
  the_exception_callback_hears_of_it();
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
