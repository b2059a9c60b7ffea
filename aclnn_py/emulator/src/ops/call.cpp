// SPDX-License-Identifier: Apache-2.0
#include "ops/call.h"

namespace emu {

void OperatorCall::add(Named<aclTensor> *member, const char *name, const aclTensor *given,
                       Access access) {
  *member = {name, given};
  entries_[count_++] = {member, nullptr, access};
}

void OperatorCall::add(Named<aclTensorList> *member, const char *name, const aclTensorList *given,
                       Access access) {
  *member = {name, given};
  entries_[count_++] = {nullptr, member, access};
}

void OperatorCall::plan(PlanBuilder &plan) {
  for (size_t i = 0; i < count_; ++i) {
    const auto [tensor, list, access] = entries_[i];
    if (tensor != nullptr) {
      const aclTensor *given = tensor->given;
      tensor->at = !tensor->accessed        ? plan.unused(given)
                   : access == Access::read ? plan.input(given)
                   : access == Access::both ? plan.in_place(given)
                                            : plan.output(given);
    } else {
      const aclTensorList *given = list->given;
      list->at = !list->accessed          ? plan.unused_list(given)
                 : access == Access::read ? plan.input_list(given)
                                          : plan.output_list(given);
    }
  }
}

}  // namespace emu
