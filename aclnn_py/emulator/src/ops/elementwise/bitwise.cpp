// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Operations on the bits of integers; on BOOL they are logic.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

#define EMU_BITWISE(NAME, ...)                                                        \
  EMU_FORMULA_XY(NAME, __VA_ARGS__)                                                   \
  EMU_BINARY_OF(NAME##Tensor, NAME, kKeep, kBits)                                     \
  EMU_BINARY_INPLACE_OF(Inplace##NAME##Tensor, NAME, kKeep, kBits)                    \
  EMU_SCALAR_OF(NAME##Scalar, NAME, kKeep, kBits)                                     \
  EMU_SCALAR_INPLACE_OF(Inplace##NAME##Scalar, NAME, kKeep, kBits)

namespace emu {

constexpr unsigned kBits = types::kInt | types::kUnsigned;

EMU_BITWISE(BitwiseAnd, x & y)
EMU_BITWISE(BitwiseOr, x | y)
EMU_BITWISE(BitwiseXor, x ^ y)
EMU_BINARY_OF(BitwiseAndTensorOut, BitwiseAnd, kKeep, kBits)

EMU_FORMULA_X(BitwiseNot, ~x)
EMU_FORMULA_X(BoolNot, x == T{} ? T{1} : T{})

// The complement of a BOOL is its negation, not the complement of its byte.
EMU_OPERATOR(BitwiseNot, (const aclTensor *self, aclTensor *out)) {
  static constexpr ElementwiseRow bits = {"aclnnBitwiseNot",
                                          &block_table<BitwiseNotFormula, kBits, 1, 0>, kKeep};
  static constexpr ElementwiseRow logic = {"aclnnBitwiseNot", &block_table<BoolNotFormula, kBits, 1, 0>,
                                           kKeep};
  const bool is_bool = self != nullptr && live(self) && self->dtype == ACL_BOOL;
  return elementwise(is_bool ? logic : bits, {self}, out, workspaceSize, executor);
}

// Programs written for CANN expect INT8 and INT16 to be turned away here, though the documents list them.
EMU_FORMULA_XY(Gcd, gcd(x, y))
EMU_BINARY_NARROW_OF(Gcd, Gcd, kKeep, types::kInt, dtype_set(ACL_INT8, ACL_INT16))

}  // namespace emu
