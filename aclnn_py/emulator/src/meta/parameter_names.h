// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "meta/executor.h"

namespace emu {

// A tensor of a call as messages name it: "other (4, 8) FLOAT", "x[1] (3) INT64"; by its position
// where the prototype is not known.
std::string parameter_text(const char *op, const std::vector<PlanTensor> &tensors, size_t index);

}  // namespace emu
