// SPDX-License-Identifier: Apache-2.0
// Scales of grouped products of floats of 8 and 4 bits, which chips of the 950 series have.
#pragma once

#include "ops/matmul/quant/float_product.h"
#include "ops/op.h"
#include "ops/shared/low_codes.h"

namespace emu {

constexpr DtypeSet kHifloat8 = dtype_set(ACL_HIFLOAT8), kFloat4E2m1 = dtype_set(ACL_FLOAT4_E2M1),
                   kPowers = dtype_set(ACL_FLOAT8_E8M0);
constexpr DtypeSet kLowFloats = dt::kFloat8 | kHifloat8 | kFloat4E2m1;

// What is multiplied by a floats' dtype: its own kind.
constexpr DtypeSet low_floats_beside(aclDataType dtype) {
  if (contains(dt::kFloat8, dtype)) return dt::kFloat8;
  return contains(~DtypeSet{0}, dtype) ? dtype_set(dtype) : DtypeSet{0};
}

enum class FloatMode : uint8_t {
  kWhole,   // scales of rows and columns, or one for all
  kBlocks,  // of 128 elements of the inner axis, beside 128 columns or one row
  kMx       // of 32 elements of the inner axis, powers of two in pairs
};
constexpr int64_t inner_group(FloatMode mode) {
  return mode == FloatMode::kWhole ? 0 : mode == FloatMode::kBlocks ? 128 : 32;
}
// Entries of the inner axis that scales have for a depth: a pair of mx scales counts once.
constexpr int64_t inner_entries(FloatMode mode, int64_t depth) {
  const int64_t unit = mode == FloatMode::kMx ? 64 : 128;
  return depth / unit + (depth % unit != 0);
}

// The sizes of a stack of weights (groups, depth, columns), and whether it is a transposed view.
struct FloatWeight {
  int64_t groups, depth, columns;
  bool turned;
};

// Scales of such a stack in blocks or mx: (groups, entries, columns) with the entries of
// inner_entries and a last dimension of 2 for mx. Beside a transposed view they are a transposed
// view too, or lie in its order, (groups, columns, entries). Says in `map` how those of one group
// lie in row-major order. A stack of one group may lack the first dimension: `stacked` is false.
Check &check_weight_scales(Check &check, const char *name, const aclTensor &scale, FloatMode mode,
                           const FloatWeight &weight, bool stacked, ScaleMap *map);
// Scales of rows in blocks or mx: (rows, entries), with a last dimension of 2 for mx.
Check &check_row_scales(Check &check, const char *name, const aclTensor &scale, FloatMode mode,
                        int64_t rows, int64_t depth, ScaleMap *map);

// Rounds float32 values to a narrower kind of float; FLOAT leaves them.
void round_values(aclDataType dtype, float *values, int64_t count);

}  // namespace emu
