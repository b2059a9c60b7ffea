// SPDX-License-Identifier: Apache-2.0
// Tokens that become floats of 8 or 4 bits on the way to their experts, which chips of the 950
// series have.
#pragma once

#include <optional>

#include "ops/moe/routing.h"

namespace emu {

enum class LowScales : uint8_t {
  kNone,    // values are cast
  kTensor,  // multiplied by one given number
  kRow,     // the largest value of a row divided by that of the dtype
  kGroup,   // the same for 128 values
  kPowers   // powers of two for 32 values
};

struct LowForm {
  aclDataType dtype;
  LowScales scales;
  bool in_pairs;  // scales have a last dimension of 2

  bool has_scales() const { return scales > LowScales::kTensor; }
};

// What a quantisation mode of MoeInitRoutingV3 makes; nothing for those to integers.
std::optional<LowForm> low_form(int64_t mode);

// The shape of the scales of so many rows.
Layout low_scale_layout(const LowForm &form, int64_t rows, int64_t width);

// Quantises the rows of x. `factor` is what kTensor multiplies by; `scales` may be null without
// scales.
void move_low_rows(const LowForm &form, const View &x, const aclTensor &out,
                   const aclTensor *scales, const std::vector<RowMove> &moves, float factor);

// A dense tensor of FLOAT4 as bytes of two values each; another one as it is.
View byte_view(const aclTensor &tensor);

}  // namespace emu
