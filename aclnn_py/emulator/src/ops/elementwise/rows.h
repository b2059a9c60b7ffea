// SPDX-License-Identifier: Apache-2.0
// The forms of elementwise operators. A new operator is one row:
//
//     EMU_UNARY(Square, kKeep, types::kNumber, times(x, x))
//
// that is: name, dtype rule, compute types, and the formula over x, y, z (elements of the tensors,
// in C order) followed by a, b, c (scalars, in C order). Which dtypes each parameter takes comes
// from the documents. The ..._OF forms reuse the formula of another row:
// EMU_UNARY_INPLACE_OF(InplaceCos, Cos, ...).
#pragma once

#include "ops/elementwise/engine.h"

// The formula of a row as a type: Formula::of(elements..., scalars...).
#define EMU_FORMULA(NAME, ARGUMENTS, ...)  \
  namespace {                              \
  struct NAME##Formula {                   \
    template <class T>                     \
    static auto of(EMU_UNPACK ARGUMENTS) { \
      return __VA_ARGS__;                  \
    }                                      \
  };                                       \
  }
// In float32 the row NAME, which follows, is computed by a kernel of float_kernels.h.
#define EMU_FLOAT_KERNEL(NAME, KERNEL) \
  namespace {                          \
  struct NAME##Formula;                \
  }                                    \
  template <>                          \
  inline constexpr FloatKernel float_kernel<NAME##Formula> = FloatKernel::KERNEL;

// The rows of the formula NAME, which follows, also run over elements as they lie in memory
// (direct.h): of the compute types TYPES, or of all.
#define EMU_DIRECT_IN(NAME, TYPES) \
  namespace {                      \
  struct NAME##Formula;            \
  }                                \
  template <>                      \
  inline constexpr unsigned direct_types<NAME##Formula> = TYPES;
#define EMU_DIRECT(NAME) EMU_DIRECT_IN(NAME, types::kAll)

// In float32 the formula NAME, which stands before, has a loop of its own, BLOCK; rows follow.
#define EMU_FLOAT_BLOCK(NAME, TYPES, TENSORS, SCALARS, BLOCK)                       \
  template <>                                                                       \
  inline constexpr BlockTable block_table<NAME##Formula, TYPES, TENSORS, SCALARS> = \
      with_floats(make_blocks<NAME##Formula, TYPES, TENSORS, SCALARS>(), BLOCK);
// In float64 the row NAME of one tensor, which follows, has a loop of its own, BLOCK, and its
// formula is not compiled.
#define EMU_DOUBLE_BLOCK(NAME, BLOCK)                                    \
  namespace {                                                            \
  struct NAME##Formula;                                                  \
  }                                                                      \
  template <unsigned kTypes>                                             \
  inline constexpr BlockTable block_table<NAME##Formula, kTypes, 1, 0> = \
      with_doubles(make_blocks<NAME##Formula, kTypes & ~types::bit(Compute::F64), 1, 0>(), BLOCK);

// The dtypes in which the operands of a formula's rows may meet; a row whose formula names none
// takes any.
namespace emu {
template <class Formula>
inline constexpr DtypeSet meeting_dtypes = 0;
}
// For the rows of the formula NAME, which follows.
#define EMU_MEET_IN(NAME, DTYPES) \
  namespace {                     \
  struct NAME##Formula;           \
  }                               \
  template <>                     \
  inline constexpr DtypeSet meeting_dtypes<NAME##Formula> = DTYPES;

#define EMU_FORMULA_X(NAME, ...) EMU_FORMULA(NAME, (T x), __VA_ARGS__)
#define EMU_FORMULA_XY(NAME, ...) EMU_FORMULA(NAME, (T x, T y), __VA_ARGS__)
#define EMU_FORMULA_XA(NAME, ...) EMU_FORMULA(NAME, (T x, T a), __VA_ARGS__)
#define EMU_FORMULA_XAB(NAME, ...) EMU_FORMULA(NAME, (T x, T a, T b), __VA_ARGS__)
#define EMU_FORMULA_XABC(NAME, ...) EMU_FORMULA(NAME, (T x, T a, T b, T c), __VA_ARGS__)
#define EMU_FORMULA_XYA(NAME, ...) EMU_FORMULA(NAME, (T x, T y, T a), __VA_ARGS__)
#define EMU_FORMULA_XYZ(NAME, ...) EMU_FORMULA(NAME, (T x, T y, T z), __VA_ARGS__)
#define EMU_FORMULA_XYZA(NAME, ...) EMU_FORMULA(NAME, (T x, T y, T z, T a), __VA_ARGS__)

// One exported operator over a formula: BODY is elementwise or elementwise_in_place.
#define EMU_ROW(NAME, FORMULA, RULE, TYPES, TENSORS, SCALARS, PARAMETERS, BODY, ...)  \
  EMU_OPERATOR(NAME, PARAMETERS) {                                                    \
    static constexpr ElementwiseRow row = {                                           \
        "aclnn" #NAME, &block_table<FORMULA##Formula, TYPES, TENSORS, SCALARS>, RULE, \
        meeting_dtypes<FORMULA##Formula>};                                            \
    return BODY(row, __VA_ARGS__, workspaceSize, executor);                           \
  }                                                                                   \
  EMU_CATCH

// (self, out)
#define EMU_UNARY_OF(NAME, FORMULA, RULE, TYPES)                                                  \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 0, (const aclTensor *self, aclTensor *out), elementwise, \
          {self}, out)
#define EMU_UNARY(NAME, RULE, TYPES, ...) \
  EMU_FORMULA_X(NAME, __VA_ARGS__)        \
  EMU_UNARY_OF(NAME, NAME, RULE, TYPES)
// (selfRef)
#define EMU_UNARY_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                                           \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 0, (aclTensor *selfRef), elementwise_in_place, {selfRef}, \
          selfRef)
// aclnnNAME and aclnnInplaceNAME.
#define EMU_UNARY_PAIR(NAME, RULE, TYPES, ...) \
  EMU_UNARY(NAME, RULE, TYPES, __VA_ARGS__)    \
  EMU_UNARY_INPLACE_OF(Inplace##NAME, NAME, RULE, TYPES)

// (self, other, out)
#define EMU_BINARY_OF(NAME, FORMULA, RULE, TYPES)                                       \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 2, 0,                                             \
          (const aclTensor *self, const aclTensor *other, aclTensor *out), elementwise, \
          {self, other}, out)
#define EMU_BINARY(NAME, RULE, TYPES, ...) \
  EMU_FORMULA_XY(NAME, __VA_ARGS__)        \
  EMU_BINARY_OF(NAME, NAME, RULE, TYPES)
// (selfRef, other)
#define EMU_BINARY_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                                 \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 2, 0, (aclTensor *selfRef, const aclTensor *other), \
          elementwise_in_place, {selfRef, other}, selfRef)

// (self, scalar other, out): the scalar takes part in promotion.
#define EMU_SCALAR_OF(NAME, FORMULA, RULE, TYPES)                                       \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 1,                                             \
          (const aclTensor *self, const aclScalar *other, aclTensor *out), elementwise, \
          {self, other}, out)
#define EMU_SCALAR(NAME, RULE, TYPES, ...) \
  EMU_FORMULA_XA(NAME, __VA_ARGS__)        \
  EMU_SCALAR_OF(NAME, NAME, RULE, TYPES)
// (selfRef, scalar other)
#define EMU_SCALAR_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                                 \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 1, (aclTensor *selfRef, const aclScalar *other), \
          elementwise_in_place, {selfRef, other}, selfRef)
// (scalar self, other, out): the formula's x is the tensor, a the scalar.
#define EMU_SCALAR_FIRST_OF(NAME, FORMULA, RULE, TYPES)                                 \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 1,                                             \
          (const aclScalar *self, const aclTensor *other, aclTensor *out), elementwise, \
          {self, other}, out)

// (self, other, scalar alpha, out)
#define EMU_BINARY_ALPHA_OF(NAME, FORMULA, RULE, TYPES)                                            \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 2, 1,                                                        \
          (const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out), \
          elementwise, {self, other, attribute(alpha)}, out)
#define EMU_BINARY_ALPHA(NAME, RULE, TYPES, ...) \
  EMU_FORMULA_XYA(NAME, __VA_ARGS__)             \
  EMU_BINARY_ALPHA_OF(NAME, NAME, RULE, TYPES)
// (selfRef, other, scalar alpha)
#define EMU_BINARY_ALPHA_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                 \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 2, 1,                                     \
          (aclTensor *selfRef, const aclTensor *other, const aclScalar *alpha), \
          elementwise_in_place, {selfRef, other, attribute(alpha)}, selfRef)
// (self, scalar other, scalar alpha, out)
#define EMU_SCALAR_ALPHA_OF(NAME, FORMULA, RULE, TYPES)                                            \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 2,                                                        \
          (const aclTensor *self, const aclScalar *other, const aclScalar *alpha, aclTensor *out), \
          elementwise, {self, other, attribute(alpha)}, out)
// (selfRef, scalar other, scalar alpha)
#define EMU_SCALAR_ALPHA_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                 \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 2,                                     \
          (aclTensor *selfRef, const aclScalar *other, const aclScalar *alpha), \
          elementwise_in_place, {selfRef, other, attribute(alpha)}, selfRef)

// (self, attribute scalars..., out)
#define EMU_ATTRIBUTE_OF(NAME, FORMULA, RULE, TYPES)                                    \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 1,                                             \
          (const aclTensor *self, const aclScalar *first, aclTensor *out), elementwise, \
          {self, attribute(first)}, out)
#define EMU_ATTRIBUTE(NAME, RULE, TYPES, ...) \
  EMU_FORMULA_XA(NAME, __VA_ARGS__)           \
  EMU_ATTRIBUTE_OF(NAME, NAME, RULE, TYPES)
#define EMU_ATTRIBUTE_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                              \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 1, (aclTensor *selfRef, const aclScalar *first), \
          elementwise_in_place, {selfRef, attribute(first)}, selfRef)
#define EMU_ATTRIBUTE2_OF(NAME, FORMULA, RULE, TYPES)                                           \
  EMU_ROW(                                                                                      \
      NAME, FORMULA, RULE, TYPES, 1, 2,                                                         \
      (const aclTensor *self, const aclScalar *first, const aclScalar *second, aclTensor *out), \
      elementwise, {self, attribute(first), attribute(second)}, out)
#define EMU_ATTRIBUTE2(NAME, RULE, TYPES, ...) \
  EMU_FORMULA_XAB(NAME, __VA_ARGS__)           \
  EMU_ATTRIBUTE2_OF(NAME, NAME, RULE, TYPES)
#define EMU_ATTRIBUTE2_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                    \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 2,                                      \
          (aclTensor *selfRef, const aclScalar *first, const aclScalar *second), \
          elementwise_in_place, {selfRef, attribute(first), attribute(second)}, selfRef)
#define EMU_ATTRIBUTE3_OF(NAME, FORMULA, RULE, TYPES)                              \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 3,                                        \
          (const aclTensor *self, const aclScalar *first, const aclScalar *second, \
           const aclScalar *third, aclTensor *out),                                \
          elementwise, {self, attribute(first), attribute(second), attribute(third)}, out)
#define EMU_ATTRIBUTE3_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                                     \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 1, 3,                                                       \
          (aclTensor *selfRef, const aclScalar *first, const aclScalar *second,                   \
           const aclScalar *third),                                                               \
          elementwise_in_place, {selfRef, attribute(first), attribute(second), attribute(third)}, \
          selfRef)

// (self, second, third, out)
#define EMU_TERNARY_OF(NAME, FORMULA, RULE, TYPES)                                              \
  EMU_ROW(                                                                                      \
      NAME, FORMULA, RULE, TYPES, 3, 0,                                                         \
      (const aclTensor *self, const aclTensor *second, const aclTensor *third, aclTensor *out), \
      elementwise, {self, second, third}, out)
#define EMU_TERNARY_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                       \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 3, 0,                                      \
          (aclTensor *selfRef, const aclTensor *second, const aclTensor *third), \
          elementwise_in_place, {selfRef, second, third}, selfRef)
// (self, second, third, attribute value, out)
#define EMU_TERNARY_VALUE_OF(NAME, FORMULA, RULE, TYPES)                           \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 3, 1,                                        \
          (const aclTensor *self, const aclTensor *second, const aclTensor *third, \
           const aclScalar *value, aclTensor *out),                                \
          elementwise, {self, second, third, attribute(value)}, out)
#define EMU_TERNARY_VALUE_INPLACE_OF(NAME, FORMULA, RULE, TYPES)                \
  EMU_ROW(NAME, FORMULA, RULE, TYPES, 3, 1,                                     \
          (aclTensor *selfRef, const aclTensor *second, const aclTensor *third, \
           const aclScalar *value),                                             \
          elementwise_in_place, {selfRef, second, third, attribute(value)}, selfRef)
