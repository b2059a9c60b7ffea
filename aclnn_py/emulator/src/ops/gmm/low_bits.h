// SPDX-License-Identifier: Apache-2.0
// Products of quantised matrices, group by group: INT8 rows with weights of INT8 or INT4, scaled to
// float32.
#pragma once

#include <vector>

#include "ops/gmm/grouped.h"
#include "ops/matmul/gemm.h"

namespace emu {

// How the shape of a weight is to be read.
enum class Blocks {
  kByFormat,  // in FRACTAL_NZ if its format says so
  kAlways     // in FRACTAL_NZ whatever its format says
};

// The weight of groups (E, K, N), or of one group (K, N), as the products read it: in INT8 or INT4.
// An INT32 holds eight values of INT4 along the dimension whose elements are neighbours. One with
// two dimensions more has the shape of the blocks of FRACTAL_NZ, (N / c, K / 16, 16, c) for each
// group. Only for what check_weight took.
aclTensor weight_of(const aclTensor &given, Blocks blocks);

// A matrix, or a stack of them, whose words count as the eight numbers that each holds: INT4 in
// INT32, FLOAT4_E2M1 in FLOAT. `exchanged`: with its last two dimensions exchanged.
aclTensor weight_numbers(const aclTensor &given, bool exchanged = false);

// Rules for such a weight with `rank` dimensions, 3 for groups and 2 for one; 2 more when its shape
// is that of blocks.
Check &check_weight(Check &check, const char *parameter, const aclTensor &given, size_t rank,
                    Blocks blocks);

// What belongs to one group of a tensor that holds one entry for each.
aclTensor entry_of(const aclTensor &stack, size_t group);

// A matrix of INT4, or of INT32 with eight values each, as INT8 without gaps, in row-major order
// or, of a transposed view, by columns; INT8 stays where it is. `memory` keeps what had to be made.
Matrix as_int8(const aclTensor &matrix, std::vector<int8_t> &memory);

// out[i, j] = token[i] * (sum over pieces p of scale[p, j] * (x[i, piece p] @ w[piece p, j] +
// lift * (sum of column j in piece p) + bias[j]) + shift[j]), each sum exact in int32, all else in
// float32 and in this order; pieces are equal parts of the depth.
struct ScaledProduct {
  Matrix x, w;  // INT8
  const float *scale = nullptr;
  int64_t pieces = 1;
  int32_t lift = 0;
  const int32_t *bias = nullptr;  // of a single piece without a lift, added to the sums; null:
                                  // none; not beside a lift
  const float *shift = nullptr;   // null: none
  const float *token = nullptr;   // null: 1
};
void scaled_product(const ScaledProduct &product, float *out);

// Rows that are computed at a time, so that what is kept of a group stays small.
constexpr int64_t kRowsAtOnce = 512;

}  // namespace emu
