// SPDX-License-Identifier: Apache-2.0
// The C calls on executors: repeatable mode, destruction, new addresses.
#include "aclnn/aclnn_base.h"
#include "core/export.h"
#include "core/process.h"
#include "meta/executor_state.h"

namespace emu {
namespace {

Status check_executor(const char *routine, aclOpExecutor *executor) {
  if (executor == nullptr) return fail(ACLNN_ERR_INNER_NULLPTR, "%s: the executor is null.", routine);
  if (!executors().live(executor)) {
    return fail(ACLNN_ERR_PARAM_INVALID,
                "%s: %p is not a live executor (phase two consumed it, it was destroyed, or it never was one).", routine,
                static_cast<void *>(executor));
  }
  return 0;
}

enum class Side : uint8_t { kAny, kInput, kOutput };

bool on_side(const PlanTensor &entry, Side side) {
  return side == Side::kAny || entry.output == (side == Side::kOutput);
}

void rebind(aclOpExecutor &executor, size_t at, void *address) {
  // Runs already queued carry their own copy of the tensors: the plan itself is free to change.
  executor.plan->tensors[at].tensor.data = address;
}

// index counts the tensors of that side as they stand in the call, members of lists included.
Status set_address(const char *routine, aclOpExecutor *executor, size_t index, aclTensor *tensor, void *address,
                   Side side) {
  if (const Status s = check_process(routine)) return s;
  if (const Status s = check_executor(routine, executor)) return s;
  if (tensor == nullptr) return fail(ACLNN_ERR_INNER_NULLPTR, "%s: the tensor is null.", routine);
  if (!live(tensor)) {
    return fail(ACLNN_ERR_PARAM_INVALID, "%s: %p is not a live tensor.", routine, static_cast<void *>(tensor));
  }
  size_t seen = 0;
  const auto &entries = executor->plan->tensors;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].present || !on_side(entries[i], side)) continue;
    if (seen++ != index) continue;
    rebind(*executor, i, address);
    tensor->data = address;
    return 0;
  }
  return fail(ACLNN_ERR_PARAM_INVALID, "%s: index %zu is out of range, %s has %zu such tensors.", routine, index,
              executor->plan->op, seen);
}

// irIndex counts the arguments of that side (a list is one argument), relativeIndex the members of the list.
Status set_list_address(const char *routine, aclOpExecutor *executor, size_t argument, size_t member,
                        aclTensorList *list, void *address, Side side) {
  if (const Status s = check_process(routine)) return s;
  if (const Status s = check_executor(routine, executor)) return s;
  if (list == nullptr) return fail(ACLNN_ERR_INNER_NULLPTR, "%s: the tensor list is null.", routine);
  if (!live(list)) {
    return fail(ACLNN_ERR_PARAM_INVALID, "%s: %p is not a live tensor list.", routine, static_cast<void *>(list));
  }
  const auto &entries = executor->plan->tensors;
  int32_t argument_seen = -1;
  size_t count = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!on_side(entries[i], side)) continue;
    if (entries[i].list != argument_seen) {
      argument_seen = entries[i].list;
      ++count;
    }
    if (count != argument + 1 || entries[i].member != static_cast<int32_t>(member)) continue;
    rebind(*executor, i, address);
    if (member < list->members.size() && live(list->members[member])) list->members[member]->data = address;
    return 0;
  }
  return fail(ACLNN_ERR_PARAM_INVALID, "%s: %s has no member %zu in list argument %zu.", routine, executor->plan->op,
              member, argument);
}

}  // namespace
}  // namespace emu

using emu::Side;
using emu::fail;
using emu::set_address;
using emu::set_list_address;

EMU_EXPORT aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor) {
  EMU_ENTER();
  if (const emu::Status s = emu::check_executor(__func__, executor)) return s;
  if (!executor->plan->repeatable_allowed) {
    return fail(ACLNN_ERR_INNER, "aclSetAclOpExecutorRepeatable: %s cannot be repeated.", executor->plan->op);
  }
  executor->repeatable.store(true);
  return 0;
}

EMU_EXPORT aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor) {
  EMU_ENTER();
  if (const emu::Status s = emu::check_executor(__func__, executor)) return s;
  // Queued runs share the plan: it goes with the last of them.
  if (!emu::executors().retire(executor)) return emu::check_executor(__func__, executor);
  emu::executors().destroy(executor);
  return 0;
}

#define EMU_ADDRESS_SETTER(name, side)                                                                               \
  EMU_EXPORT aclnnStatus name(aclOpExecutor *executor, const size_t index, aclTensor *tensor, void *addr) {          \
    return set_address(__func__, executor, index, tensor, addr, side);                                               \
  }
#define EMU_LIST_ADDRESS_SETTER(name, side)                                                                          \
  EMU_EXPORT aclnnStatus name(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex,                   \
                              aclTensorList *tensors, void *addr) {                                                  \
    return set_list_address(__func__, executor, irIndex, relativeIndex, tensors, addr, side);                        \
  }

EMU_ADDRESS_SETTER(aclSetTensorAddr, Side::kAny)
EMU_ADDRESS_SETTER(AclSetTensorAddr, Side::kAny)
EMU_ADDRESS_SETTER(aclSetInputTensorAddr, Side::kInput)
EMU_ADDRESS_SETTER(AclSetInputTensorAddr, Side::kInput)
EMU_ADDRESS_SETTER(aclSetOutputTensorAddr, Side::kOutput)
EMU_ADDRESS_SETTER(AclSetOutputTensorAddr, Side::kOutput)
EMU_LIST_ADDRESS_SETTER(aclSetDynamicTensorAddr, Side::kAny)
EMU_LIST_ADDRESS_SETTER(AclSetDynamicTensorAddr, Side::kAny)
EMU_LIST_ADDRESS_SETTER(aclSetDynamicInputTensorAddr, Side::kInput)
EMU_LIST_ADDRESS_SETTER(AclSetDynamicInputTensorAddr, Side::kInput)
EMU_LIST_ADDRESS_SETTER(aclSetDynamicOutputTensorAddr, Side::kOutput)
EMU_LIST_ADDRESS_SETTER(AclSetDynamicOutputTensorAddr, Side::kOutput)
