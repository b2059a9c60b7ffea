// SPDX-License-Identifier: Apache-2.0
// What a program says about an operator of its own, for the profile: a range with the operator's
// name, type and tensors. CANN's documents call for it around the launch of a kernel.
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl_prof.h"
#include "core/export.h"
#include "core/marks.h"
#include "core/process.h"
#include "core/stream.h"
#include "meta/tensor.h"

using emu::fail;
using emu::Status;

namespace {

constexpr uint32_t kMostAxes = 8;
constexpr char kDomain[] = "default";

// Texts by their numbers, for the life of the process.
struct Names {
  std::mutex mutex;
  std::map<uint64_t, std::string> by_number;
};

Names &names() {
  static auto *const instance = new Names;
  return *instance;
}

// The same text has the same number in every process (FNV-1a); 0 stands for no text.
uint64_t number_of(const std::string &text) {
  uint64_t number = 0xcbf29ce484222325u;
  for (const char c : text) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return number != 0 ? number : 1;
}

bool find_name(uint64_t number, std::string *name) {
  std::lock_guard<std::mutex> lock(names().mutex);
  const auto at = names().by_number.find(number);
  if (at == names().by_number.end()) return false;
  *name = at->second;
  return true;
}

thread_local std::vector<uint64_t> t_pushed;

Status check(const aclprofEventAttributes *attr) {
  const auto refuse = [](const char *what) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclprofRangePushEx: %s.", what);
  };
  if (attr == nullptr) return refuse("attr is null");
  if (attr->messageType != ACL_PROF_MESSAGE_TYPE_TENSOR_INFO) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclprofRangePushEx: messageType is %u; only ACL_PROF_MESSAGE_TYPE_TENSOR_INFO (0) "
                "is known.",
                attr->messageType);
  }
  const aclprofTensorInfo *info = attr->message.tensorInfo;
  if (info == nullptr) return refuse("tensorInfo is null");
  if (info->tensors == nullptr && info->tensorNum != 0) return refuse("tensors is null");
  for (uint32_t i = 0; i < info->tensorNum; ++i) {
    const aclprofTensor &tensor = info->tensors[i];
    if (tensor.type <= 1 && tensor.shapeDim <= kMostAxes) continue;
    return fail(
        ACL_ERROR_INVALID_PARAM,
        "aclprofRangePushEx: tensors[%u] has type %u and %u dimensions; a type is 0 (input) "
        "or 1 (output), and there are at most %u dimensions.",
        i, tensor.type, tensor.shapeDim, kMostAxes);
  }
  return 0;
}

// As tables of operators have them: "4,8;8,2", "FLOAT;FLOAT".
void describe(const aclprofTensor &tensor, std::string texts[3]) {
  if (!texts[1].empty()) {
    for (int i = 0; i < 3; ++i) texts[i] += ';';
  }
  for (uint32_t axis = 0; axis < tensor.shapeDim; ++axis)
    texts[0] += (axis > 0 ? "," : "") + std::to_string(tensor.shape[axis]);
  texts[1] += emu::dtype_name(static_cast<aclDataType>(tensor.dataType));
  texts[2] += emu::format_name(static_cast<aclFormat>(tensor.format));
}

}  // namespace

EMU_EXPORT uint64_t aclprofStr2Id(const char *message) try {
  if (emu::check_process(__func__) != 0) return 0;
  if (message == nullptr) {
    fail(ACL_ERROR_INVALID_PARAM, "aclprofStr2Id: message is null.");
    return 0;
  }
  const uint64_t number = number_of(message);
  std::lock_guard<std::mutex> lock(names().mutex);
  names().by_number.emplace(number, message);
  return number;
}
EMU_CATCH

EMU_EXPORT aclError aclprofRangePushEx(aclprofEventAttributes *attr) try {
  EMU_ENTER();
  if (const Status s = check(attr)) return s;
  const aclprofTensorInfo &info = *attr->message.tensorInfo;
  std::string name;
  emu::TimedOperands operands;
  for (const auto &[number, text] :
       {std::pair(info.opNameId, &name), {info.opTypeId, &operands.type}}) {
    if (find_name(number, text)) continue;
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclprofRangePushEx: %s is %llu, which aclprofStr2Id has not given.",
                text == &name ? "opNameId" : "opTypeId", static_cast<unsigned long long>(number));
  }
  emu::Stream *stream = nullptr;
  if (info.stream != nullptr) {
    if (const Status s = emu::resolve(info.stream, __func__, &stream)) return s;
  }
  for (uint32_t i = 0; i < info.tensorNum; ++i) {
    const aclprofTensor &tensor = info.tensors[i];
    describe(tensor, tensor.type == 0 ? operands.inputs : operands.outputs);
  }
  t_pushed.push_back(0);
  return emu::begin_range(emu::TimedMark::Kind::push_pop, std::move(name), kDomain, stream,
                          &t_pushed.back(), std::move(operands));
}
EMU_CATCH

EMU_EXPORT aclError aclprofRangePop(void) try {
  EMU_ENTER();
  if (t_pushed.empty()) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclprofRangePop: aclprofRangePushEx comes first, on this thread.");
  }
  const uint64_t range = t_pushed.back();
  t_pushed.pop_back();
  return emu::end_range(range);
}
EMU_CATCH
