// SPDX-License-Identifier: Apache-2.0
// A weight of 8 or 4 bits as an operand: round((number + offset) * scale) in the dtype of x.
// Numbers of FLOAT4_E2M1, also where eight of them are called a FLOAT, count halves: their scale is
// halved.
#pragma once

#include <vector>

#include "ops/matmul/quant/operand.h"

namespace emu {

// Scale or offset as a (groups, columns) table: one value, one per column, or one per group of rows
// and column.
class GroupTable {
 public:
  GroupTable() = default;  // zeros
  GroupTable(const View &view, int64_t groups, int64_t columns);
  bool zero() const { return view_.data == nullptr; }
  aclDataType dtype() const { return view_.dtype; }
  void read(int64_t group, int64_t first, int64_t count, float *to) const;
  // The values as they are stored, where neighbours of 16 bits are; null where they are not.
  const uint16_t *stored(int64_t group, int64_t first) const;
  // Asks for the memory that `read` will need; the group may be one that does not exist.
  void await(int64_t group, int64_t first, int64_t count) const;

 private:
  View view_;
  int64_t column_ = 0, group_ = 0;
};

struct QuantisedWeight {
  const aclTensor *tensor = nullptr;
  Packing packing = Packing::kNone;
  int64_t rows = 0, cols = 0;
  int64_t group_size = 0;  // rows that share a scale; 0: all
  GroupTable scale, offset;
  aclDataType dtype = ACL_FLOAT16;  // what the weights are rounded to
};

// x @ weight, handed to `sink`.
void multiply_by_weight(const Matrix &x, const QuantisedWeight &weight, const RowSink<float> &sink);

// The whole weight, (rows, cols) without gaps.
std::vector<uint16_t> dequantised(const QuantisedWeight &weight);

// a @ weight of a few rows without the weight in memory, with the sums of the general product to
// the last bit; false, and nothing is done, for a product that is not of this kind.
bool stream_weight(const Matrix &a, const QuantisedWeight &weight, const RowSink<float> &sink);

}  // namespace emu
