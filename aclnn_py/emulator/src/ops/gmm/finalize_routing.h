// SPDX-License-Identifier: Apache-2.0
// Grouped products whose rows are added to those of their tokens: one argument set behind all
// versions.
#pragma once

#include "ops/gmm/float_scales.h"
#include "ops/gmm/low_bits.h"

namespace emu {

// The names that the versions give their parameters, where they differ.
struct FinalizeNames {
  const char *x, *weight, *scale, *bias, *groups, *shared, *logit, *row_index, *out;
  const char *transpose_x, *transpose_weight;
};
inline constexpr FinalizeNames kFirstNames = {
    "x",
    "w",
    "scaleOptional",
    "biasOptional",
    "groupListOptional",
    "sharedInputOptional",
    "logitOptional",
    "rowIndexOptional",
    "y",
    "transposeX",
    "transposeW",
};
inline constexpr FinalizeNames kLaterNames = {
    "x1",
    "x2",
    "scaleOptional",
    "biasOptional",
    "groupListOptional",
    "sharedInputOptional",
    "logitOptional",
    "rowIndexOptional",
    "out",
    "transposeX1",
    "transposeX2",
};
inline constexpr FinalizeNames kBlockNames = {
    "x1",
    "x2",
    "scale",
    "biasOptional",
    "groupList",
    "sharedInputOptional",
    "logitOptional",
    "rowIndex",
    "out",
    "transposeX1",
    "transposeX2",
};

struct FinalizeCall {
  const char *op;
  const FinalizeNames *names;
  DtypeSet weights;
  DtypeSet floats_950;  // of x on a 950
  bool has_offset;      // the version has the parameters offset, antiquantScale and antiquantOffset
  const aclTensor *x, *weight, *scale, *bias, *offset, *antiquant_scale, *antiquant_offset, *token,
      *groups, *shared, *logit, *row_index;
  int64_t dtype;
  float shared_weight;
  int64_t shared_offset;
  bool transpose_x, transpose_weight;
  int64_t list_type;
  const aclIntArray *tuning;
  const aclTensor *out;
};

// What the checks found out.
struct FinalizeSizes {
  int64_t experts = 0, depth = 0, columns = 0;
  bool floats = false;  // of 8 or 4 bits, with these scales
  FloatMode mode = FloatMode::kWhole;
  bool mixed = false;  // rows of 8 bits, a weight of 4
  ScaleMap left, right;
};

// Whether the chip multiplies the elements of x as floats.
bool is_finalize_floats(const FinalizeCall &call);
// The rules for those, behind nulls and attributes.
void check_finalize_floats(Check &check, const FinalizeCall &call, FinalizeSizes *sizes);
// The rules for what stands beside the operands, with the shape that the scale must have; null
// where that was judged.
void check_finalize_companions(Check &check, const FinalizeCall &call, const FinalizeSizes &sizes,
                               const Layout *scale);

// The weight of one expert in blocks of 32 values of the inner axis, as a matrix that is multiplied
// from the right.
Matrix mixed_weight(const aclTensor &weight, const FinalizeSizes &sizes, int64_t expert,
                    std::vector<float> &memory);

// Every rule of phase one.
Status check_finalize(const FinalizeCall &call, FinalizeSizes *sizes);

}  // namespace emu
