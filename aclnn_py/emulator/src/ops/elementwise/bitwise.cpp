// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Operations on the bits of integers; on BOOL they are logic.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

#define EMU_BITWISE(NAME, RULE, ...)                              \
  EMU_DIRECT(NAME)                                                \
  EMU_FORMULA_XY(NAME, __VA_ARGS__)                               \
  EMU_BINARY_OF(NAME##Tensor, NAME, RULE, kBits)                  \
  EMU_BINARY_INPLACE_OF(Inplace##NAME##Tensor, NAME, RULE, kBits) \
  EMU_SCALAR_OF(NAME##Scalar, NAME, RULE | kAlikeScalars, kBits)  \
  EMU_SCALAR_INPLACE_OF(Inplace##NAME##Scalar, NAME, RULE | kAlikeScalars, kBits)

namespace emu {

constexpr unsigned kBits = types::kInt | types::kUnsigned;

EMU_BITWISE(BitwiseAnd, kPlain, x &y)
EMU_BITWISE(BitwiseOr, kKeep, x | y)
EMU_BITWISE(BitwiseXor, kKeep, x ^ y)
EMU_BINARY_OF(BitwiseAndTensorOut, BitwiseAnd, kPlainFirst, kBits)
EMU_BINARY_INPLACE_OF(InplaceBitwiseAndTensorOut, BitwiseAnd, kPlainFirst, kBits)

EMU_DIRECT(BitwiseNot)
EMU_FORMULA_X(BitwiseNot, ~x)
EMU_DIRECT(BoolNot)
EMU_FORMULA_X(BoolNot, x == T{} ? T{1} : T{})

// The complement of a BOOL is its negation, not the complement of its byte.
EMU_OPERATOR(BitwiseNot, (const aclTensor *self, aclTensor *out)) {
  static constexpr ElementwiseRow bits = {
      "aclnnBitwiseNot", &block_table<BitwiseNotFormula, kBits, 1, 0>, kExact | kPlain};
  static constexpr ElementwiseRow logic = {
      "aclnnBitwiseNot", &block_table<BoolNotFormula, kBits, 1, 0>, kExact | kPlain};
  const bool is_bool = self != nullptr && live(self) && self->dtype == ACL_BOOL;
  return elementwise(is_bool ? logic : bits, {self}, out, workspaceSize, executor);
}
EMU_CATCH

EMU_DIRECT(LeftShift)
EMU_FORMULA_XY(LeftShift, shift_left(x, y))
EMU_DIRECT(RightShift)
EMU_FORMULA_XY(RightShift, shift_right(x, y))
EMU_ROW(LeftShift, LeftShift, kPlainFirst, kBits, 2, 0,
        (const aclTensor *self, const aclTensor *shiftBits, aclTensor *out), elementwise,
        {self, shiftBits}, out)
EMU_ROW(LeftShifts, LeftShift, kPlainFirst | kAlikeScalars, kBits, 1, 1,
        (const aclTensor *self, const aclScalar *shiftBits, aclTensor *out), elementwise,
        {self, shiftBits}, out)
EMU_ROW(RightShift, RightShift, kKeep, kBits, 2, 0,
        (const aclTensor *input, const aclTensor *shiftBits, aclTensor *out), elementwise,
        {input, shiftBits}, out)

// Narrower integers may meet one of these, but have no common divisor among themselves.
EMU_MEET_IN(Gcd, dtype_set(ACL_INT16, ACL_INT32, ACL_INT64))
EMU_BINARY(Gcd, kKeep, types::kInt, gcd(x, y))

}  // namespace emu
