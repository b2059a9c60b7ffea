// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// New addresses for the tensors of a repeatable executor.
//
// CANN counts tensors as they stand in the call, first what is read, then what is written, null
// ones and members of lists included; a reference stands on both sides. Executors composed of
// several kernels hold on to the program's aclTensor objects instead and look at nothing else. So
// the tensor decides wherever the executor was made from it, except where CANN goes by position
// alone. A tensor the executor does not know takes the place its position names, if it looks like
// the one that was there. What is left is refused: it would write to the wrong memory.
#include <string>

#include "aclnn/aclnn_base.h"
#include "core/export.h"
#include "core/process.h"
#include "core/statuses.h"
#include "meta/executor_state.h"
#include "meta/parameters.h"

namespace emu {
namespace {

enum class Side : uint8_t { kAny, kInput, kOutput };

// A tensor that a position names.
struct Place {
  const TensorParameter *parameter = nullptr;
  PlanTensor *entry = nullptr;
  bool as_output = false;
};

class Places {
 public:
  explicit Places(PlanState &plan) : plan_(plan), parameters_(find_tensor_parameters(plan.op)) {}

  // Does the plan have the tensors of the prototype? Without that no position can be told.
  bool known() const { return parameters_.count == plan_.arguments; }

  // Calls f(place) for what the positions of a side name, in order, until it returns false.
  template <class F>
  void each(Side side, F f) const {
    for (const bool as_output : {false, true}) {
      if (side == (as_output ? Side::kInput : Side::kOutput)) continue;
      for (int32_t i = 0; i < parameters_.count; ++i) {
        if (on_side(i, as_output) && !each_of(i, as_output, f)) return;
      }
    }
  }

  // The same without a second place for references: the position in the call.
  template <class F>
  void each_in_call(F f) const {
    for (int32_t i = 0; i < parameters_.count; ++i) {
      if (!each_of(i, !parameters_.first[i].read, f)) return;
    }
  }

  Place at(Side side, size_t index) const {
    Place found;
    each(side, [&](const Place &place) { return index-- > 0 || (found = place, false); });
    return found;
  }

  Place at_in_call(size_t index) const {
    Place found;
    each_in_call([&](const Place &place) { return index-- > 0 || (found = place, false); });
    return found;
  }

  // A member of a list, or a single tensor as its own member 0. The argument is counted on its
  // side.
  Place member(Side side, size_t argument, size_t number) const {
    Place found;
    for (const bool as_output : {false, true}) {
      if (side == (as_output ? Side::kInput : Side::kOutput)) continue;
      for (int32_t i = 0; i < parameters_.count; ++i) {
        if (!on_side(i, as_output) || argument-- > 0) continue;
        each_of(i, as_output,
                [&](const Place &place) { return number-- > 0 || (found = place, false); });
        return found;
      }
    }
    return found;
  }

  // "0 self, 1 other, 2 out"
  std::string text(Side side) const {
    if (!known()) return std::string("positions of ") + plan_.op + " are not known";
    std::string text;
    size_t position = 0;
    const TensorParameter *before = nullptr;
    each(side, [&](const Place &place) {
      if (place.parameter != before || !place.parameter->list) {
        text += (text.empty() ? "" : ", ") + std::to_string(position) + " " + place.parameter->name;
        if (place.parameter->list) text += "[0] and on";
        if (!place.entry->present) text += " (null)";
        if (place.as_output && place.parameter->read) text += " (as output)";
      }
      before = place.parameter;
      ++position;
      return true;
    });
    return text.empty() ? "none" : text;
  }

 private:
  bool on_side(int32_t i, bool as_output) const {
    return as_output ? parameters_.first[i].written : parameters_.first[i].read;
  }

  template <class F>
  bool each_of(int32_t i, bool as_output, F &&f) const {
    for (PlanTensor &entry : plan_.tensors) {
      if (entry.list == i && !f(Place{&parameters_.first[i], &entry, as_output})) return false;
    }
    return true;
  }

  PlanState &plan_;
  const TensorParameters parameters_;
};

ExecutorKind kind_of(const PlanState &plan) {
  if (plan.kind) return *plan.kind;
  return plan.rule == WorkspaceRule::kComposite ? executor_kind(plan.op) : ExecutorKind::wrapped;
}

// Whether the tensor that an entry was made from has had another address since.
bool has_moved(const PlanTensor &entry) {
  return entry.source != nullptr && live(entry.source) &&
         entry.source->identity == entry.tensor.identity &&
         entry.source->moved != entry.tensor.moved;
}

// The address counts that the executor was given last: a move before it does not any more.
void settle(PlanTensor &entry, void *address) {
  if (has_moved(entry)) entry.tensor.moved = entry.source->moved;
  entry.tensor.data = address;
}

bool looks_like(const aclTensor &one, const aclTensor &other) {
  return one.dtype == other.dtype && one.offset == other.offset && one.shape == other.shape &&
         one.strides == other.strides;
}

int64_t offset_bytes(const aclTensor &tensor) {
  return tensor.offset * dtype_bits(tensor.dtype) / 8;
}

size_t uses_of(const PlanState &plan, const aclTensor &tensor) {
  size_t count = 0;
  for (const PlanTensor &entry : plan.tensors) count += entry.tensor.identity == tensor.identity;
  return count;
}

// Runs already queued carry their own copy of the tensors: the plan itself is free to change.
Status bind_uses(PlanState &plan, aclTensor &tensor, void *address) {
  for (PlanTensor &entry : plan.tensors) {
    if (entry.tensor.identity == tensor.identity) settle(entry, address);
  }
  tensor.data = address;
  return 0;
}

Status bind_place(const char *routine, const Place &place, aclTensor &tensor, void *address) {
  aclTensor &bound = place.entry->tensor;
  // CANN takes the first element of the tensor it is given.
  void *const start = static_cast<char *>(address) + (offset_bytes(tensor) - offset_bytes(bound));
  if (place.as_output && place.parameter->read && bound.data != start) {
    return fail(
        kInvalid,
        "%s: %s is read and written at one address; set it as an input, and its output follows.",
        routine, place.parameter->name);
  }
  settle(*place.entry, start);
  tensor.data = address;
  return 0;
}

Status check_place(const char *routine, const char *what, size_t index, const Places &places,
                   const PlanState &plan, const Place &place, Side side) {
  if (place.entry == nullptr) {
    return fail(kInvalid, "%s: %s %zu is out of range. %s has %s.", routine, what, index, plan.op,
                places.text(side).c_str());
  }
  if (!place.entry->present) {
    return fail(
        kInvalid,
        "%s: %s %zu is %s, which was null in phase one: it cannot get an address. %s has %s.",
        routine, what, index, place.parameter->name, plan.op, places.text(side).c_str());
  }
  return 0;
}

Status cannot_tell(const char *routine, const char *why, const Places &places,
                   const PlanState &plan, Side side) {
  return fail(kInvalid,
              "%s: the tensor meant cannot be told: %s. Pass the aclTensor that phase one of %s "
              "was given; positions are: %s.",
              routine, why, plan.op, places.text(side).c_str());
}

// For a tensor the executor was not made from: the place, when it looks like what was there.
Status bind_unknown(const char *routine, const char *what, size_t index, const Places &places,
                    PlanState &plan, const Place &place, aclTensor &tensor, void *address,
                    Side side) {
  if (!places.known())
    return cannot_tell(routine, "the executor was not made from it", places, plan, side);
  if (const Status s = check_place(routine, what, index, places, plan, place, side)) return s;
  if (!looks_like(place.entry->tensor, tensor)) {
    const std::string why =
        "the executor was not made from it, and it has another dtype, shape, strides or offset "
        "than " +
        std::string(place.parameter->name);
    return cannot_tell(routine, why.c_str(), places, plan, side);
  }
  return bind_place(routine, place, tensor, address);
}

Status check_arguments(const char *routine, aclOpExecutor *executor, const void *given,
                       const char *what) {
  if (const Status s = check_process(routine)) return s;
  if (const Status s = check_executor(routine, executor)) return s;
  if (given == nullptr) return fail(kInnerNull, "%s: the %s is null.", routine, what);
  return 0;
}

Status set_address(const char *routine, aclOpExecutor *executor, size_t index, aclTensor *tensor,
                   void *address, Side side) {
  if (const Status s = check_arguments(routine, executor, tensor, "tensor")) return s;
  if (!live(tensor)) {
    return fail(kInvalid, "%s: %p is not a live tensor.", routine, static_cast<void *>(tensor));
  }
  PlanState &plan = *executor->plan;
  if (!plan.kind) plan.kind = kind_of(plan);
  const ExecutorKind kind = *plan.kind;
  const size_t uses = uses_of(plan, *tensor);
  if (uses > 0 && kind == ExecutorKind::composed) return bind_uses(plan, *tensor, address);
  if (uses == 1 && kind == ExecutorKind::wrapped) return bind_uses(plan, *tensor, address);
  const Places places(plan);
  if (uses > 1 && kind == ExecutorKind::wrapped) {
    return cannot_tell(routine, "phase one was given it more than once", places, plan, side);
  }
  Place place = places.known() ? places.at(side, index) : Place{};
  if (kind == ExecutorKind::generated && places.known()) {
    if (const Status s = check_place(routine, "index", index, places, plan, place, side)) return s;
    return bind_place(routine, place, *tensor, address);
  }
  if (uses == 1) return bind_uses(plan, *tensor, address);
  if (side == Side::kAny && places.known()) {
    // When an input follows an output in the call, programs disagree on how positions are counted.
    const Place other = places.at_in_call(index);
    const bool fits =
        place.entry != nullptr && place.entry->present && looks_like(place.entry->tensor, *tensor);
    const bool other_fits =
        other.entry != nullptr && other.entry->present && looks_like(other.entry->tensor, *tensor);
    if (fits && other_fits && place.entry != other.entry) {
      return cannot_tell(
          routine,
          "the executor was not made from it, and an input stands behind an output in the call",
          places, plan, side);
    }
    if (!fits && other_fits) place = other;
  }
  return bind_unknown(routine, "index", index, places, plan, place, *tensor, address, side);
}

// The argument counts the tensors and lists of that side, a list is one; the number counts the
// members of the list.
Status set_list_address(const char *routine, aclOpExecutor *executor, size_t argument,
                        size_t number, aclTensorList *list, void *address, Side side) {
  if (const Status s = check_arguments(routine, executor, list, "tensor list")) return s;
  if (!live(list)) {
    return fail(kInvalid, "%s: %p is not a live tensor list.", routine, static_cast<void *>(list));
  }
  if (number >= list->members.size()) {
    return fail(kInvalid, "%s: relativeIndex %zu is out of range, the list has %zu tensors.",
                routine, number, list->members.size());
  }
  aclTensor *tensor = list->members[number];
  if (tensor == nullptr)
    return fail(kInnerNull, "%s: member %zu of the list is null.", routine, number);
  if (!live(tensor)) {
    return fail(kInvalid, "%s: member %zu of the list (%p) is not a live tensor.", routine, number,
                static_cast<void *>(tensor));
  }
  PlanState &plan = *executor->plan;
  if (!plan.kind) plan.kind = kind_of(plan);
  const ExecutorKind kind = *plan.kind;
  const size_t uses = uses_of(plan, *tensor);
  if (uses > 0 && kind == ExecutorKind::composed) return bind_uses(plan, *tensor, address);
  if (uses == 1 && kind == ExecutorKind::wrapped) return bind_uses(plan, *tensor, address);
  const Places places(plan);
  if (uses > 1 && kind == ExecutorKind::wrapped) {
    return cannot_tell(routine, "phase one was given it more than once", places, plan, side);
  }
  const Place place = places.known() ? places.member(side, argument, number) : Place{};
  if (kind == ExecutorKind::generated && places.known()) {
    if (const Status s = check_place(routine, "irIndex", argument, places, plan, place, side))
      return s;
    return bind_place(routine, place, *tensor, address);
  }
  if (uses == 1) return bind_uses(plan, *tensor, address);
  return bind_unknown(routine, "irIndex", argument, places, plan, place, *tensor, address, side);
}

}  // namespace

Status follow_moves(const PlanState &plan, std::vector<PlanTensor> &tensors) {
  for (PlanTensor &entry : tensors) {
    if (!has_moved(entry)) continue;
    if (kind_of(plan) != ExecutorKind::composed) {
      const TensorParameters parameters = find_tensor_parameters(plan.op);
      const bool known = parameters.count == plan.arguments && entry.list >= 0;
      return fail(
          kInvalid,
          "%s: aclSetRawTensorAddr gave %s another address, but this executor keeps those of "
          "phase one. Give it the address with aclSetTensorAddr, or call %sGetWorkspaceSize "
          "again.",
          plan.op, known ? parameters.first[entry.list].name : "a tensor", plan.op);
    }
    entry.tensor.data = entry.source->data;
    entry.tensor.moved = entry.source->moved;
  }
  return 0;
}

}  // namespace emu

using emu::set_address;
using emu::set_list_address;
using emu::Side;

#define EMU_ADDRESS_SETTER(name, side)                                                        \
  EMU_EXPORT aclnnStatus name(aclOpExecutor *executor, const size_t index, aclTensor *tensor, \
                              void *addr) try {                                               \
    return set_address(__func__, executor, index, tensor, addr, side);                        \
  }                                                                                           \
  EMU_CATCH
#define EMU_LIST_ADDRESS_SETTER(name, side)                                                        \
  EMU_EXPORT aclnnStatus name(aclOpExecutor *executor, size_t irIndex, const size_t relativeIndex, \
                              aclTensorList *tensors, void *addr) try {                            \
    return set_list_address(__func__, executor, irIndex, relativeIndex, tensors, addr, side);      \
  }                                                                                                \
  EMU_CATCH

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
