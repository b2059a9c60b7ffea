// SPDX-License-Identifier: Apache-2.0
// npu_cosine.cosine(list) -> list, computed on the device.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_cos.h"

namespace {

void check(int status, const char *what) {
  if (status == 0) return;
  const char *message = aclGetRecentErrMsg();
  throw std::runtime_error(std::string(what) + ": " + std::to_string(status) + " " +
                           (message != nullptr ? message : ""));
}

// Device memory for a call.
class Memory {
 public:
  explicit Memory(size_t bytes) {
    if (bytes != 0) check(aclrtMalloc(&address_, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
  }
  ~Memory() {
    if (address_ != nullptr) aclrtFree(address_);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  void *address() const { return address_; }

 private:
  void *address_ = nullptr;
};

class Tensor {
 public:
  Tensor(const Memory &memory, int64_t count)
      : raw_(aclCreateTensor(&count, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &count, 1,
                             memory.address())) {
    if (raw_ == nullptr) throw std::runtime_error("aclCreateTensor failed");
  }
  ~Tensor() { aclDestroyTensor(raw_); }
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  aclTensor *raw() const { return raw_; }

 private:
  aclTensor *raw_;
};

std::vector<float> cosine(const std::vector<float> &values) {
  std::vector<float> result(values.size());
  if (values.empty()) return result;
  const size_t bytes = values.size() * sizeof(float);
  const Memory in(bytes), out(bytes);
  const Tensor x(in, static_cast<int64_t>(values.size()));
  const Tensor y(out, static_cast<int64_t>(values.size()));
  check(aclrtMemcpy(in.address(), bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE),
        "aclrtMemcpy");
  uint64_t workspace_bytes = 0;
  aclOpExecutor *executor = nullptr;
  check(aclnnCosGetWorkspaceSize(x.raw(), y.raw(), &workspace_bytes, &executor),
        "aclnnCosGetWorkspaceSize");
  const Memory workspace(workspace_bytes);
  check(aclnnCos(workspace.address(), workspace_bytes, executor, nullptr), "aclnnCos");
  check(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream");
  check(aclrtMemcpy(result.data(), bytes, out.address(), bytes, ACL_MEMCPY_DEVICE_TO_HOST),
        "aclrtMemcpy");
  return result;
}

}  // namespace

PYBIND11_MODULE(npu_cosine, module) {
  check(aclInit(nullptr), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  module.def("cosine", &cosine, "Cosines, computed on the device.");
}
