// SPDX-License-Identifier: Apache-2.0
// Products of whole numbers, which wrap.
#pragma once

#include <cstdint>

namespace emu {

// lanes[r] *= the product of row r, for rows one behind the other.
void multiply_rows(int64_t *lanes, const int64_t *x, int64_t rows, int64_t length);
void multiply_rows(int64_t *lanes, const int32_t *x, int64_t rows, int64_t length);

}  // namespace emu
