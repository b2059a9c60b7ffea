// SPDX-License-Identifier: Apache-2.0
// Elementwise formulas over lists of tensors: member i of each list makes member i of the result.
// Rows read like those of ops/elementwise, with lists for tensors.
#pragma once

#include <string_view>

#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

// Where the formula's scalar comes from.
struct ForeachScalar {
  enum Kind { kNone, kScalar, kScalarList, kTensor, kTensorEach } kind = kNone;
  const aclScalar *scalar = nullptr;
  const aclScalarList *list = nullptr;
  const aclTensor *tensor = nullptr;

  ForeachScalar() = default;
  ForeachScalar(const aclScalar *s) : kind(kScalar), scalar(s) {}
  ForeachScalar(const aclScalarList *l) : kind(kScalarList), list(l) {}
  // One element for all members, read when the stream gets there.
  ForeachScalar(const aclTensor *t) : kind(kTensor), tensor(t) {}
};

// A tensor with one element per member.
inline ForeachScalar each(const aclTensor *tensor) {
  ForeachScalar result(tensor);
  result.kind = ForeachScalar::kTensorEach;
  return result;
}

// Beside the rules of elementwise rows: phase one asks for plain formats, and for numbers of the
// members' own dtype or the widest of its kind.
constexpr unsigned kAsksMore = 1u << 20;
// The result has a dtype of its own, one for all members.
constexpr unsigned kOwnDtype = 1u << 21;
// The scalar stands in front of the lists.
constexpr unsigned kScalarFirst = 1u << 22;
// The scalar says how to compute and has a dtype of the facts.
constexpr unsigned kScalarChooses = 1u << 23;

// Phase one of most operators is generated from the kernel; those named here have one that asks
// more.
constexpr unsigned foreach_rule(std::string_view name) {
  unsigned rule = kExact;
  if (name == "ForeachCopy") rule |= kOwnDtype;
  if (name == "ForeachPowScalarAndTensor") rule |= kScalarFirst;
  if (name == "ForeachRoundOffNumber" || name == "ForeachRoundOffNumberV2") rule |= kScalarChooses;
  if (name == "ForeachExp" || name == "ForeachExpm1") rule |= kToFloat;
  if (name.size() > 2 && name.substr(name.size() - 2) == "V2") rule |= kAsksMore;
  constexpr std::string_view kAsking[] = {
      "ForeachAddList", "ForeachAddcdivScalar", "ForeachAddcdivScalarList", "ForeachCopy",
      "ForeachDivList", "ForeachDivScalar",     "ForeachLerpList",          "ForeachLerpScalar",
      "ForeachMulList", "ForeachSqrt"};
  for (const std::string_view asking : kAsking) rule |= name == asking ? kAsksMore : 0;
  return rule;
}

Status foreach_rows(const ElementwiseRow &row, std::initializer_list<const aclTensorList *> lists,
                    const ForeachScalar &scalar, const aclTensorList *out, uint64_t *workspace_size,
                    aclOpExecutor **executor);

}  // namespace emu

#define EMU_FOREACH(NAME, FORMULA, TYPES, TENSORS, SCALARS, PARAMETERS, LISTS, SCALAR, OUT) \
  EMU_OPERATOR(NAME, PARAMETERS) {                                                          \
    static constexpr ElementwiseRow row = {                                                 \
        "aclnn" #NAME, &block_table<FORMULA##Formula, TYPES, TENSORS, SCALARS>,             \
        foreach_rule(#NAME)};                                                               \
    return foreach_rows(row, {EMU_UNPACK LISTS}, SCALAR, OUT, workspaceSize, executor);     \
  }                                                                                         \
  EMU_CATCH
// (x, out)
#define EMU_FOREACH_UNARY(NAME, TYPES, ...)                                               \
  EMU_FORMULA_X(NAME, __VA_ARGS__)                                                        \
  EMU_FOREACH(NAME, NAME, TYPES, 1, 0, (const aclTensorList *x, aclTensorList *out), (x), \
              ForeachScalar(), out)
// (x1, x2, out)
#define EMU_FOREACH_LIST(NAME, FORMULA, TYPES)                                                  \
  EMU_FOREACH(NAME, FORMULA, TYPES, 2, 0,                                                       \
              (const aclTensorList *x1, const aclTensorList *x2, aclTensorList *out), (x1, x2), \
              ForeachScalar(), out)
// (x, scalar, out), where KIND is aclTensor, aclScalar or aclScalarList
#define EMU_FOREACH_SCALAR(NAME, FORMULA, TYPES, KIND) \
  EMU_FOREACH(NAME, FORMULA, TYPES, 1, 1,              \
              (const aclTensorList *x, const KIND *scalar, aclTensorList *out), (x), scalar, out)
// (x1, x2, alpha, out)
#define EMU_FOREACH_ALPHA(NAME, FORMULA, TYPES, KIND)                                            \
  EMU_FOREACH(                                                                                   \
      NAME, FORMULA, TYPES, 2, 1,                                                                \
      (const aclTensorList *x1, const aclTensorList *x2, const KIND *alpha, aclTensorList *out), \
      (x1, x2), alpha, out)
// (x1, x2, x3, scalar, out)
#define EMU_FOREACH_TERNARY(NAME, FORMULA, TYPES, KIND, SCALAR)                           \
  EMU_FOREACH(NAME, FORMULA, TYPES, 3, 1,                                                 \
              (const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, \
               const KIND *scalar, aclTensorList *out),                                   \
              (x1, x2, x3), SCALAR, out)
