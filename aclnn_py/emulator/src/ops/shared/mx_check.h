// SPDX-License-Identifier: Apache-2.0
// Arguments that the operators of MX quantisation have in common.
#pragma once

#include "ops/shared/mx_format.h"

namespace emu {

constexpr int64_t kMxBlock = 32;

// The status of the checks so far, else a refusal on a chip before the 950 series: those do not
// have the operator.
Status check_chip(const Check &check, Status refusal);

// The algorithms that an operator has for a format: bit N stands for algorithm N.
struct MxAlgorithms {
  unsigned float8, e2m1, e1m2;
};
constexpr MxAlgorithms kTwoAlgorithms{0b011, 0b001, 0b001};
constexpr MxAlgorithms kThreeAlgorithms{0b011, 0b101, 0b001};

// The attributes as given, with the names of those that differ between operators.
struct MxAttributes {
  const char *rounding_name;
  const char *rounding;
  const char *dtype_name;
  int64_t dtype;
  int64_t algorithm;
  MxAlgorithms algorithms;
  const char *limit_name = nullptr;  // null: no such attribute
  double limit = 0.0;
  bool free_limit = true;  // any limit within the range of the format, not only 6 and 7
};

// Checks the attributes against the quantised tensor, whose dtype was checked before.
MxFormat check_mx_format(Check &check, const MxAttributes &given, const char *y_name,
                         const aclTensor *y);

// "rint", "floor" or "round"; null is "rint". Only a format of 4 bits has the other two.
LowRounding check_rounding(Check &check, const char *name, const char *given, aclDataType dtype);

// The attribute names a dimension of the tensor; returns it counted from the front.
int check_axis(Check &check, const char *name, int64_t given, const char *tensor_name, int rank);

// The quantised tensor has the shape of the values, and the scales one for each block along `axis`.
Check &check_mx_results(Check &check, const Layout &values, int axis, int64_t block,
                        const char *y_name, const aclTensor *y, const char *scale_name,
                        const aclTensor *scale);

// Rows of a matrix in groups whose ends a tensor gives, as steps of `each` rows: the scales of a
// group begin at its first row / each + its number. A list that decreases or reaches beyond the
// rows is a fault of the kernel. Returns the end of the last group through `end`.
Status read_group_steps(const char *op, const char *parameter, const aclTensor &ends, int64_t rows,
                        int64_t each, std::vector<MxStep> *steps, int64_t *end);

}  // namespace emu
