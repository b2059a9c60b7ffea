// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Signs, magnitudes and rounding.
#include <algorithm>

#include "aclnnop/math.h"
#include "ops/block_kernels.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_DIRECT(Abs)
EMU_FORMULA_X(Abs, absolute(x))

namespace {

// A magnitude of 16 bits is what is left without the sign.
EMU_DIRECT_TARGET void without_signs(void *out, const void *const *in, int64_t count,
                                     const void *) {
  const auto *x = static_cast<const uint16_t *>(in[0]);
  auto *to = static_cast<uint16_t *>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] & 0x7fff;
}

constexpr BlockTable with_half_magnitudes(BlockTable table) {
  table.direct.fn[direct_index(ACL_FLOAT16)] = without_signs;
  return table;
}

}  // namespace

template <>
inline constexpr BlockTable block_table<AbsFormula, types::kNumber, 1, 0> =
    with_half_magnitudes(make_blocks<AbsFormula, types::kNumber, 1, 0>());
EMU_UNARY_OF(Abs, Abs, kExact | kPlainFirst, types::kNumber)
EMU_DIRECT(Neg)
EMU_UNARY_PAIR(Neg, kKeep, types::kNumber, negate(x))
EMU_DIRECT(Square)
EMU_UNARY(Square, kExact | kPlainFirst, types::kReal, times(x, x))
EMU_DIRECT(Signbit)
EMU_UNARY(Signbit, kToBool, types::kReal | types::kUnsigned, sign_bit(x))

namespace {

constexpr float kHalfEven = 0;

// The base of the architecture has no instruction for these, so floats go through the kernels.
void round_floats(const void *x, int64_t count, float mode, void *out) {
  block_kernels().round_by(static_cast<const float *>(x), count, &mode, static_cast<float *>(out));
}
void half_even_block(void *out, const void *const *in, int64_t count, const void *) {
  round_floats(in[0], count, kHalfEven, out);
}
void up_block(void *out, const void *const *in, int64_t count, const void *) {
  round_floats(in[0], count, kUp, out);
}
void down_block(void *out, const void *const *in, int64_t count, const void *) {
  round_floats(in[0], count, kDown, out);
}
void to_zero_block(void *out, const void *const *in, int64_t count, const void *) {
  round_floats(in[0], count, kToZero, out);
}
template <class T, class Round>
void fractions(void *out, const void *const *in, int64_t count, Round round) {
  const auto *x = static_cast<const T *>(in[0]);
  auto *to = static_cast<T *>(out);
  T whole[kBlock];
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t part = std::min(kBlock, count - start);
    round(x + start, part, whole);
    for (int64_t i = 0; i < part; ++i) to[start + i] = x[start + i] - whole[i];
  }
}
void fraction_block(void *out, const void *const *in, int64_t count, const void *) {
  fractions<float>(out, in, count, [](const float *x, int64_t part, float *to) {
    round_floats(x, part, kToZero, to);
  });
}

// The same of float64.
template <int kMode>
void round_doubles(void *out, const void *const *in, int64_t count, const void *) {
  block_kernels().round_wide(static_cast<const double *>(in[0]), count, kMode,
                             static_cast<double *>(out));
}
constexpr BlockFn half_even_block_wide = round_doubles<0>, up_block_wide = round_doubles<kUp>,
                  down_block_wide = round_doubles<kDown>,
                  to_zero_block_wide = round_doubles<kToZero>;
void fraction_block_wide(void *out, const void *const *in, int64_t count, const void *) {
  fractions<double>(out, in, count, [](const double *x, int64_t part, double *to) {
    block_kernels().round_wide(x, part, kToZero, to);
  });
}

}  // namespace

// A pair of rows whose formula has loops of its own in float32 and in float64.
#define EMU_ROUNDING_PAIR(NAME, RULE, TYPES, FLOATS, ...)                                        \
  EMU_FORMULA_X(NAME, __VA_ARGS__)                                                               \
  template <unsigned kTypes>                                                                     \
  inline constexpr BlockTable block_table<NAME##Formula, kTypes, 1, 0> =                         \
      of_any_count(with_doubles(with_floats(make_blocks<NAME##Formula, kTypes, 1, 0>(), FLOATS), \
                                FLOATS##_wide));                                                 \
  EMU_UNARY_OF(NAME, NAME, RULE, TYPES)                                                          \
  EMU_UNARY_INPLACE_OF(Inplace##NAME, NAME, RULE, TYPES)

EMU_ROUNDING_PAIR(Round, kExact | kPlain, types::kReal, half_even_block, round_half_even(x))
EMU_ROUNDING_PAIR(Ceil, kExact, types::kFloat, up_block, round_up(x))
EMU_ROUNDING_PAIR(Trunc, kExact, types::kFloat, to_zero_block, round_to_zero(x))
EMU_ROUNDING_PAIR(Frac, kExact, types::kReal, fraction_block, minus(x, round_to_zero(x)))
EMU_DIRECT(Floor)
EMU_ROUNDING_PAIR(Floor, kExact | kPlain, types::kReal | types::kUnsigned, down_block,
                  round_down(x))

EMU_DIRECT(Sign)
EMU_FORMULA_X(Sign, sign(x))
EMU_ROW(Sign, Sign, kExact, types::kNumber, 1, 0, (const aclTensor *self, aclTensor *result),
        elementwise, {self}, result)

}  // namespace emu
