// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Quotients, remainders and powers. Division of integers by zero gives 0.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/integer_powers.h"
#include "ops/elementwise/quotient_blocks.h"
#include "ops/elementwise/remainder_blocks.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/wide_power_blocks.h"
#include "ops/power_kernels.h"

namespace emu {

constexpr unsigned kQuotient = types::kFloat | types::kComplex;

// Integers are divided in float32; the quotient may be cut to an integer again.
constexpr unsigned kTrue = kToFloat | kCastBack | kPlain;
constexpr unsigned kTrueByScalar = kTrue | kFloatScalar | kFloatScalarOfHalf;

EMU_DIRECT_IN(Div, types::kFloat)
EMU_FORMULA_XY(Div, x / y)
template <>
inline constexpr BlockTable block_table<DivFormula, kQuotient, 2, 0> =
    with_complex_quotients<2>(make_blocks<DivFormula, kQuotient, 2, 0>());
template <>
inline constexpr BlockTable block_table<DivFormula, kQuotient, 1, 1> =
    with_complex_quotients<1>(make_blocks<DivFormula, kQuotient, 1, 1>());
EMU_BINARY_OF(Div, Div, kTrue, kQuotient)
EMU_BINARY_INPLACE_OF(InplaceDiv, Div, kTrue, kQuotient)
EMU_SCALAR_OF(Divs, Div, kTrueByScalar, kQuotient)
EMU_SCALAR_INPLACE_OF(InplaceDivs, Div, kTrueByScalar, kQuotient)

EMU_FORMULA_XY(DivTrunc, divide_trunc(x, y))
EMU_DIRECT_IN(DivFloor, types::bit(Compute::I32))
EMU_FORMULA_XY(DivFloor, divide_floor(x, y))
EMU_FLOAT_BLOCK(DivFloor, types::kReal, 2, 0, (remainder_block<FlooredQuotient, 2>))
template <>
inline constexpr BlockTable block_table<DivFloorFormula, types::kReal, 1, 1> =
    with_integers_by_one(with_floats(make_blocks<DivFloorFormula, types::kReal, 1, 1>(),
                                     remainder_block<FlooredQuotient, 1>));

// The rows of a division with a rounding mode: 0 true division, 1 towards zero, 2 downwards.
#define EMU_DIV_MODE(NAME, TENSORS, SCALARS, PARAMETERS, BODY, OTHER, FIRST, OUT)               \
  EMU_OPERATOR(NAME, PARAMETERS) {                                                              \
    static constexpr ElementwiseRow rows[] = {                                                  \
        {"aclnn" #NAME, &block_table<DivFormula, kQuotient, TENSORS, SCALARS>, kTrue},          \
        {"aclnn" #NAME, &block_table<DivTruncFormula, types::kReal, TENSORS, SCALARS>, kPlain}, \
        {"aclnn" #NAME, &block_table<DivFloorFormula, types::kReal, TENSORS, SCALARS>, kPlain}, \
    };                                                                                          \
    Check check("aclnn" #NAME);                                                                 \
    check.required(check.facts().name(0), FIRST).required("other", OTHER);                      \
    check.that(mode >= 0 && mode <= 2, "mode is %d; allowed: 0 (true), 1 (trunc), 2 (floor)",   \
               mode);                                                                           \
    if (!check.ok()) return check.status();                                                     \
    return BODY(rows[mode], {FIRST, OTHER, skipped()}, OUT, workspaceSize, executor);           \
  }                                                                                             \
  EMU_CATCH

EMU_DIV_MODE(DivMod, 2, 0,
             (const aclTensor *self, const aclTensor *other, int mode, aclTensor *out), elementwise,
             other, self, out)
EMU_DIV_MODE(DivMods, 1, 1,
             (const aclTensor *self, const aclScalar *other, int mode, aclTensor *out), elementwise,
             other, self, out)
EMU_DIV_MODE(InplaceDivMod, 2, 0, (aclTensor *selfRef, const aclTensor *other, int mode),
             elementwise_in_place, other, selfRef, selfRef)
EMU_DIV_MODE(InplaceDivMods, 1, 1, (aclTensor *selfRef, const aclScalar *other, int mode),
             elementwise_in_place, other, selfRef, selfRef)

EMU_BINARY_OF(FloorDivide, DivFloor, kKeep, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceFloorDivide, DivFloor, kKeep, types::kReal)
EMU_SCALAR_OF(FloorDivides, DivFloor, kAlikeScalars, types::kReal)
EMU_SCALAR_INPLACE_OF(InplaceFloorDivides, DivFloor, kAlikeScalars, types::kReal)

EMU_FORMULA_XY(Fmod, mod_trunc(x, y))
EMU_FLOAT_BLOCK(Fmod, types::kReal, 2, 0, (remainder_block<TruncatedRemainder, 2>))
EMU_FLOAT_BLOCK(Fmod, types::kReal, 1, 1, (remainder_block<TruncatedRemainder, 1>))
EMU_BINARY_OF(FmodTensor, Fmod, kAnyResult, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceFmodTensor, Fmod, kAnyResult, types::kReal)
EMU_SCALAR_OF(FmodScalar, Fmod, kAnyResult, types::kReal)
EMU_SCALAR_INPLACE_OF(InplaceFmodScalar, Fmod, kAnyResult, types::kReal)

constexpr DtypeSet kRemainders = dt::kFloating | dtype_set(ACL_INT32, ACL_INT64);
EMU_MEET_IN(Remainder, kRemainders)
EMU_MEET_IN(RemainderOf, kRemainders)
EMU_FORMULA_XY(Remainder, mod_floor(x, y))
EMU_FORMULA_XY(RemainderOf, mod_floor(y, x))
EMU_FLOAT_BLOCK(Remainder, types::kReal, 2, 0, (remainder_block<FlooredRemainder, 2>))
EMU_FLOAT_BLOCK(Remainder, types::kReal, 1, 1, (remainder_block<FlooredRemainder, 1>))
EMU_FLOAT_BLOCK(RemainderOf, types::kReal, 1, 1, (remainder_block<FlooredRemainder, 1, true>))
EMU_BINARY_OF(RemainderTensorTensor, Remainder, kKeep, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceRemainderTensorTensor, Remainder, kKeep, types::kReal)
EMU_SCALAR_OF(RemainderTensorScalar, Remainder, kFreeScalars, types::kReal)
EMU_SCALAR_INPLACE_OF(InplaceRemainderTensorScalar, Remainder, kFreeScalars, types::kReal)
EMU_SCALAR_FIRST_OF(RemainderScalarTensor, RemainderOf, kFreeScalars, types::kReal)

EMU_FORMULA_XY(Pow, power(x, y))
EMU_FORMULA_XY(PowOf, power(y, x))

namespace {

const float *floats(const void *block) { return static_cast<const float *>(block); }

void power_block(void *out, const void *const *in, int64_t count, const void *) {
  power_kernels().powers(floats(in[0]), floats(in[1]), count, static_cast<float *>(out));
}
void power_to_block(void *out, const void *const *in, int64_t count, const void *scalars) {
  power_kernels().powers_to(floats(in[0]), *floats(scalars), count, static_cast<float *>(out));
}
void power_of_block(void *out, const void *const *in, int64_t count, const void *scalars) {
  power_kernels().powers_of(*floats(scalars), floats(in[0]), count, static_cast<float *>(out));
}

}  // namespace

template <unsigned kTypes>
inline constexpr BlockTable block_table<PowFormula, kTypes, 2, 0> = with_integer_powers<2>(
    with_doubles(with_floats(make_blocks<PowFormula, kTypes & ~types::bit(Compute::F64), 2, 0>(),
                             power_block),
                 wide_power_block));
template <unsigned kTypes>
inline constexpr BlockTable block_table<PowFormula, kTypes, 1, 1> = with_integer_powers<1>(
    with_doubles(with_floats(make_blocks<PowFormula, kTypes & ~types::bit(Compute::F64), 1, 1>(),
                             power_to_block),
                 wide_power_to_block));
template <unsigned kTypes>
inline constexpr BlockTable block_table<PowOfFormula, kTypes, 1, 1> =
    with_doubles(with_floats(make_blocks<PowOfFormula, kTypes & ~types::bit(Compute::F64), 1, 1>(),
                             power_of_block),
                 wide_power_of_block);

EMU_BINARY_OF(PowTensorTensor, Pow, kKeep, types::kNumber)
EMU_BINARY_INPLACE_OF(InplacePowTensorTensor, Pow, kKeep, types::kNumber)

// The commonest power is a product.
EMU_DIRECT(Power2)
EMU_FORMULA_XA(Power2, (static_cast<void>(a), times(x, x)))

namespace {

bool is_two(const aclScalar *exponent) {
  return live(exponent) && !is_complex(exponent->dtype) && exponent->to_double() == 2;
}

}  // namespace

#define EMU_POWER(NAME, PARAMETERS, BODY, SELF, OUT)                                              \
  EMU_OPERATOR(NAME, PARAMETERS) {                                                                \
    static constexpr ElementwiseRow any = {                                                       \
        "aclnn" #NAME, &block_table<PowFormula, types::kNumber, 1, 1>, kFreeScalars};             \
    static constexpr ElementwiseRow square = {                                                    \
        "aclnn" #NAME, &block_table<Power2Formula, types::kNumber, 1, 1>, kFreeScalars};          \
    return BODY(is_two(exponent) ? square : any, {SELF, exponent}, OUT, workspaceSize, executor); \
  }                                                                                               \
  EMU_CATCH

EMU_POWER(PowTensorScalar, (const aclTensor *self, const aclScalar *exponent, aclTensor *out),
          elementwise, self, out)
EMU_POWER(InplacePowTensorScalar, (aclTensor *selfRef, const aclScalar *exponent),
          elementwise_in_place, selfRef, selfRef)

EMU_SCALAR_FIRST_OF(PowScalarTensor, PowOf, kFreeScalars, types::kNumber)

}  // namespace emu
