// SPDX-License-Identifier: Apache-2.0
// The arguments of an operator, as structs that the build writes from include/aclnnop into
// calls/<family>.h. A source with operators defines what phase one does with them:
//
//     #include "calls/norm.h"
//
//     EMU_CALL(RmsNorm) { return emu::plan_rms_norm(call, workspaceSize, executor); }
//
// `call` is an emu::RmsNormCall: a member per parameter, in snake case and without `Optional` and
// `Ref`. All versions of an operator have one struct, and EMU_VERSIONS one body for several:
//
//     EMU_VERSIONS(FlashAttentionScore, V2, V3) {
//
// A parameter that a version lacks has no name there, and is null; a number is 0.
// build_parts/calls.json joins operators that are no versions of each other, renames members and
// gives such numbers another value.
#pragma once

#include <array>
#include <cstring>

#include "ops/op.h"

namespace emu {

// An argument under the name its operator has for it. Without a name the operator has no such
// argument.
template <class T>
struct Named {
  const char *name = nullptr;
  const T *given = nullptr;
  // Where the plan has it, or the first member of a list; kAbsent before OperatorCall::plan.
  size_t at = kAbsent;
  // Whether the kernel accesses it; a plan keeps the others for the exchange of addresses alone.
  bool accessed = true;

  explicit operator bool() const { return given != nullptr; }
  const T *operator->() const { return given; }
};

enum class Access : uint8_t { read, written, both };

// What the calls of all operators have: the tensors in the order of the prototype.
class OperatorCall {
 public:
  explicit OperatorCall(const char *name) : op(name) {}
  OperatorCall(const OperatorCall &) = delete;
  OperatorCall &operator=(const OperatorCall &) = delete;

  const char *const op;
  bool is(const char *name) const { return std::strcmp(op, name) == 0; }

  void add(Named<aclTensor> *member, const char *name, const aclTensor *given, Access access);
  void add(Named<aclTensorList> *member, const char *name, const aclTensorList *given,
           Access access);

  // Every tensor and list of tensors goes into the plan, which says where it has it.
  void plan(PlanBuilder &plan);

 private:
  struct Entry {
    Named<aclTensor> *tensor;
    Named<aclTensorList> *list;
    Access access;
  };
  std::array<Entry, 48> entries_;
  size_t count_ = 0;
};

}  // namespace emu

#define EMU_PHASE_ONE_OF(NAME)                                                     \
  static emu::Status phase_one_of_##NAME([[maybe_unused]] emu::CallOf##NAME &call, \
                                         [[maybe_unused]] uint64_t *workspaceSize, \
                                         [[maybe_unused]] aclOpExecutor **executor)

// Opens the body of phase one, and defines both entry points of the operator.
#define EMU_CALL(NAME)    \
  EMU_PHASE_ONE_OF(NAME); \
  EMU_ENTRY_##NAME(phase_one_of_##NAME) EMU_PHASE_ONE_OF(NAME)

// The same for an operator and up to five further versions of it; `call.op` tells which it is.
#define EMU_VERSIONS(NAME, ...)                                                          \
  EMU_PHASE_ONE_OF(NAME);                                                                \
  EMU_ENTRY_##NAME(phase_one_of_##NAME)                                                  \
      EMU_SIXTH(__VA_ARGS__, EMU_ENTRIES_5, EMU_ENTRIES_4, EMU_ENTRIES_3, EMU_ENTRIES_2, \
                EMU_ENTRIES_1, )(NAME, __VA_ARGS__) EMU_PHASE_ONE_OF(NAME)

#define EMU_SIXTH(A, B, C, D, E, F, ...) F
#define EMU_ENTRIES_1(NAME, A) EMU_ENTRY_##NAME##A(phase_one_of_##NAME)
#define EMU_ENTRIES_2(NAME, A, ...) EMU_ENTRIES_1(NAME, A) EMU_ENTRIES_1(NAME, __VA_ARGS__)
#define EMU_ENTRIES_3(NAME, A, ...) EMU_ENTRIES_1(NAME, A) EMU_ENTRIES_2(NAME, __VA_ARGS__)
#define EMU_ENTRIES_4(NAME, A, ...) EMU_ENTRIES_1(NAME, A) EMU_ENTRIES_3(NAME, __VA_ARGS__)
#define EMU_ENTRIES_5(NAME, A, ...) EMU_ENTRIES_1(NAME, A) EMU_ENTRIES_4(NAME, __VA_ARGS__)
