// SPDX-License-Identifier: Apache-2.0
// The plug-in. Like those of large frameworks it links the runtime and looks operators up by name,
// so that one binary serves every release of CANN: an operator that is missing is an error when it
// is called, not when the plug-in is loaded.
#include <dlfcn.h>

#include <cstdint>
#include <initializer_list>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "backend.h"

namespace {

// A function of the operators' library, under its own type.
template <class Function>
Function *find(const char *name) {
  static void *const library = dlopen("libopapi.so", RTLD_LAZY);
  return library == nullptr ? nullptr : reinterpret_cast<Function *>(dlsym(library, name));
}

using PhaseOne = aclnnStatus(const aclTensor *, aclTensor *, uint64_t *, aclOpExecutor **);
using PhaseTwo = aclnnStatus(void *, uint64_t, aclOpExecutor *, aclrtStream);

struct Call {
  void *in = nullptr, *out = nullptr, *workspace = nullptr;
  aclTensor *x = nullptr, *y = nullptr;
  ~Call() {
    if (x != nullptr) find<decltype(aclDestroyTensor)>("aclDestroyTensor")(x);
    if (y != nullptr) find<decltype(aclDestroyTensor)>("aclDestroyTensor")(y);
    for (void *block : {in, out, workspace}) {
      if (block != nullptr) aclrtFree(block);
    }
  }
};

const char *recent() {
  const char *message = aclGetRecentErrMsg();
  return message != nullptr ? message : "unknown error";
}

const char *relu(const float *x, float *y, size_t count) {
  // The functions for tensors come along with the operators' library.
  auto *const create = find<decltype(aclCreateTensor)>("aclCreateTensor");
  auto *const plan = find<PhaseOne>("aclnnReluGetWorkspaceSize");
  auto *const run = find<PhaseTwo>("aclnnRelu");
  if (create == nullptr || plan == nullptr || run == nullptr) return "libopapi.so has no Relu";

  Call call;
  const auto length = static_cast<int64_t>(count);
  const size_t bytes = count * sizeof(float);
  uint64_t workspace_bytes = 0;
  aclOpExecutor *executor = nullptr;
  for (void **block : {&call.in, &call.out}) {
    if (aclrtMalloc(block, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0) return recent();
  }
  if (aclrtMemcpy(call.in, bytes, x, bytes, ACL_MEMCPY_HOST_TO_DEVICE) != 0) return recent();
  call.x = create(&length, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &length, 1, call.in);
  call.y = create(&length, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &length, 1, call.out);
  if (plan(call.x, call.y, &workspace_bytes, &executor) != 0) return recent();
  if (workspace_bytes != 0 &&
      aclrtMalloc(&call.workspace, workspace_bytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0)
    return recent();
  if (run(call.workspace, workspace_bytes, executor, nullptr) != 0) return recent();
  if (aclrtSynchronizeStream(nullptr) != 0) return recent();
  if (aclrtMemcpy(y, bytes, call.out, bytes, ACL_MEMCPY_DEVICE_TO_HOST) != 0) return recent();
  return nullptr;
}

const char *device() {
  const char *name = aclrtGetSocName();
  return name != nullptr ? name : "none";
}

}  // namespace

extern "C" const Backend *get_backend() {
  static const Backend backend = {device, relu};
  static const bool ready = aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0;
  static const Backend broken = {device, [](const float *, float *, size_t) { return recent(); }};
  return ready ? &backend : &broken;
}
