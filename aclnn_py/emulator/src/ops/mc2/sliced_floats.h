// SPDX-License-Identifier: Apache-2.0
// Products whose rows are spread over the ranks, of floats of 8 bits on chips of the 950 series.
#pragma once

#include "core/chip.h"
#include "ops/mc2/float_form.h"
#include "ops/mc2/operand.h"

namespace emu {

struct SlicedV2 {
  const char *op;
  bool gathers;
  const aclTensor *x1, *x2, *bias, *x1_scale, *x2_scale, *quant_scale;
  int64_t block_size;
  const char *group;
  int64_t comm_turn, stream_mode, group_size;
  const char *comm_mode;
  const aclTensor *output, *gathered, *amax;
  int64_t gather_index = 0;
  const char *reduce_op = "sum";

  bool floats() const { return chip_is_950() && contains(kLowFloats, x1->dtype); }
  bool integers() const { return is_integer_operand(*x1); }
};

void check_sliced_float_dtypes(Check &check, const SlicedV2 &call);
// Shapes of scales and bias, and the size of groups.
void check_sliced_float_scales(Check &check, const SlicedV2 &call, FloatForm *form);

}  // namespace emu
