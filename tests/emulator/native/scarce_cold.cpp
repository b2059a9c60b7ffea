// SPDX-License-Identifier: Apache-2.0
// A whole program from its first call on, with the n-th allocation refused: `scarce_cold N`. Every
// call answers with a documented status and a message and succeeds when it is made again. Prints
// "all" once nothing was left to refuse.
#include "scarce.h"

#include "acl/acl_mdl.h"
#include "aclnnop/index.h"
#include "aclnnop/math.h"
#include "aclnnop/matmul.h"

namespace {

long g_n = 0;

template <class F>
void step(const char *what, F &&call) {
  const int code = call();
  if (code == 0) return;
  scarce::expect_refusal(what, g_n, code);
  scarce::expect_success(what, g_n, call());
}

aclTensor *tensor(void *data, int64_t rows, int64_t cols, aclDataType dtype) {
  const int64_t shape[] = {rows, cols};
  return aclCreateTensor(shape, 2, dtype, nullptr, 0, ACL_FORMAT_ND, shape, 2, data);
}

void nothing(void *) {}

}  // namespace

int main(int, char **arguments) {
  g_n = std::atol(arguments[1]);
  (void)scarce::real_pthread_create();
  scarce::arm(g_n);
  step("aclInit", [] { return aclInit(nullptr); });
  step("aclrtSetDevice", [] { return aclrtSetDevice(0); });
  aclrtStream stream = nullptr;
  step("aclrtCreateStream", [&] { return aclrtCreateStream(&stream); });
  void *data = nullptr;
  step("aclrtMalloc", [&] { return aclrtMalloc(&data, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST); });
  const auto at = [&](size_t place) { return static_cast<char *>(data) + (place << 17); };
  aclTensor *a = nullptr, *values = nullptr, *places = nullptr, *product = nullptr;
  step("aclCreateTensor",
       [&] { return (a = tensor(at(0), 48, 48, ACL_FLOAT)) != nullptr ? 0 : scarce::kNull; });
  step("aclCreateTensor",
       [&] { return (values = tensor(at(1), 48, 48, ACL_FLOAT)) != nullptr ? 0 : scarce::kNull; });
  step("aclCreateTensor",
       [&] { return (places = tensor(at(2), 48, 48, ACL_INT64)) != nullptr ? 0 : scarce::kNull; });
  step("aclCreateTensor",
       [&] { return (product = tensor(at(3), 48, 48, ACL_FLOAT)) != nullptr ? 0 : scarce::kNull; });
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  const auto sort = [&] {
    const int code = aclnnSortGetWorkspaceSize(a, true, 1, false, values, places, &size, &executor);
    return code != 0 ? code : aclnnSort(nullptr, 0, executor, stream);
  };
  const auto multiply = [&] {
    const int code = aclnnMatmulGetWorkspaceSize(a, values, product, 0, &size, &executor);
    return code != 0 ? code : aclnnMatmul(nullptr, 0, executor, stream);
  };
  const auto synchronize = [&] { return aclrtSynchronizeStream(stream); };
  step("aclnnSort", sort);
  step("aclrtSynchronizeStream", synchronize);
  step("aclnnMatmul", multiply);
  step("aclrtSynchronizeStream", synchronize);
  step("aclrtLaunchHostFunc", [&] { return aclrtLaunchHostFunc(stream, nothing, nullptr); });
  aclrtEvent event = nullptr;
  step("aclrtCreateEvent", [&] { return aclrtCreateEvent(&event); });
  step("aclrtRecordEvent", [&] { return aclrtRecordEvent(event, stream); });
  step("aclrtSynchronizeEvent", [&] { return aclrtSynchronizeEvent(event); });
  step("aclmdlRICaptureBegin",
       [&] { return aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED); });
  step("captured aclnnSort", sort);
  aclmdlRI graph = nullptr;
  step("aclmdlRICaptureEnd", [&] { return aclmdlRICaptureEnd(stream, &graph); });
  step("aclmdlRIExecuteAsync", [&] { return aclmdlRIExecuteAsync(graph, stream); });
  step("aclrtSynchronizeStream", synchronize);
  step("aclmdlRIDestroy", [&] { return aclmdlRIDestroy(graph); });
  step("aclrtDestroyEvent", [&] { return aclrtDestroyEvent(event); });
  for (aclTensor *one : {a, values, places, product}) {
    step("aclDestroyTensor", [&] { return aclDestroyTensor(one); });
  }
  step("aclrtFree", [&] { return aclrtFree(data); });
  step("aclrtDestroyStream", [&] { return aclrtDestroyStream(stream); });
  step("aclrtResetDevice", [] { return aclrtResetDevice(0); });
  step("aclFinalize", [] { return aclFinalize(); });
  std::puts(scarce::disarm() ? "refused" : "all");
  return 0;
}
