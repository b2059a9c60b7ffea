// SPDX-License-Identifier: Apache-2.0
// Products of floats of 8 bits with scales in pairs whose gelu is quantised in blocks of 32: what
// the operator for one matrix and the one for groups have in common.
#pragma once

#include "ops/shared/mx_check.h"

namespace emu {

enum class Gelu : uint8_t { kTanh, kErf };

struct ActivationQuantAttributes {
  const char *activation, *quant_mode, *round_mode;
  int64_t algorithm;
  bool erf;    // gelu_erf is allowed too
  bool empty;  // null and empty texts stand for the only mode
};

// The attributes against the quantised tensor, whose dtype was checked before.
MxFormat check_activation_quant(Check &check, const ActivationQuantAttributes &given,
                                const char *y_name, const aclTensor *y, Gelu *gelu);

// Activates (rows, columns) in place and quantises them to the first rows of `y` and `scale`.
void store_activated(std::vector<float> &values, int64_t rows, int64_t columns, Gelu gelu,
                     const MxFormat &format, const aclTensor &y, const aclTensor &scale);

}  // namespace emu
