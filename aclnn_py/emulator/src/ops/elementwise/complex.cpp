// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Complex numbers from their parts, and a part from them.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

template <class T>
auto angle(T x) {
  if constexpr (is_complex_v<T>) return std::atan2(x.imag(), x.real());
  else return is_nan(x) ? x : x < T{} ? T(3.14159265358979323846) : T{};
}

}  // namespace

EMU_FORMULA_XY(Complex, std::complex<T>(x, y))
EMU_ROW(Complex, Complex, kOneDtype | kExact | kPlainFirst, types::kFloat, 2, 0,
        (const aclTensor *real, const aclTensor *imag, aclTensor *out), elementwise, {real, imag},
        out)

EMU_FORMULA_XY(Polar, std::complex<T>(x *std::cos(y), x *std::sin(y)))
EMU_ROW(Polar, Polar, kOneDtype | kExact | kPlainFirst, types::bit(Compute::F32), 2, 0,
        (const aclTensor *input, const aclTensor *angle, aclTensor *out), elementwise,
        {input, angle}, out)

EMU_UNARY(AngleV2, kToFloat, types::bit(Compute::F32) | types::bit(Compute::C64), angle(x))
EMU_UNARY(Real, kExact | kPlain, types::kFloat | types::kComplex, real_part_of(x))

}  // namespace emu
