// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Sums whose negative ones become zero. Narrow integers wrap before they are compared with zero, as
// if the sum were stored first; a wrapped UINT8 is never negative.
#include "aclnnop/activation.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

template <class Narrow>
struct NarrowAddReluFormula {
  template <class T>
  static auto of(T x, T y, T a) {
    return maximum(static_cast<T>(static_cast<Narrow>(plus(x, times(y, a)))), T{});
  }
};

}  // namespace

EMU_DIRECT(AddRelu)
EMU_FORMULA_XYA(AddRelu, maximum(plus(x, times(y, a)), T{}))

#define EMU_ADD_RELU(NAME, PARAMETERS, BODY, SELF, OUT)                                         \
  EMU_OPERATOR(NAME, PARAMETERS) {                                                              \
    static constexpr ElementwiseRow plain = {                                                   \
        "aclnn" #NAME, &block_table<AddReluFormula, types::kReal, 2, 1>, kKeep};                \
    static constexpr ElementwiseRow narrow[] = {                                                \
        {"aclnn" #NAME, &block_table<NarrowAddReluFormula<int8_t>, types::kInt, 2, 1>, kKeep},  \
        {"aclnn" #NAME, &block_table<NarrowAddReluFormula<int16_t>, types::kInt, 2, 1>, kKeep}, \
        {"aclnn" #NAME, &block_table<NarrowAddReluFormula<uint8_t>, types::kInt, 2, 1>, kKeep}, \
    };                                                                                          \
    Check check("aclnn" #NAME);                                                                 \
    check.required(check.facts().name(0), SELF).required("other", other);                       \
    if (!check.ok()) return check.status();                                                     \
    const aclDataType meet = promote(SELF->dtype, other->dtype);                                \
    const ElementwiseRow &row = meet == ACL_INT8    ? narrow[0]                                 \
                                : meet == ACL_INT16 ? narrow[1]                                 \
                                : meet == ACL_UINT8 ? narrow[2]                                 \
                                                    : plain;                                    \
    return BODY(row, {SELF, other, attribute(alpha)}, OUT, workspaceSize, executor);            \
  }                                                                                             \
  EMU_CATCH

EMU_ADD_RELU(AddRelu,
             (const aclTensor *self, const aclTensor *other, const aclScalar *alpha,
              aclTensor *out),
             elementwise, self, out)
EMU_ADD_RELU(InplaceAddRelu, (aclTensor *selfRef, const aclTensor *other, const aclScalar *alpha),
             elementwise_in_place, selfRef, selfRef)

}  // namespace emu
