// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/quant/float_operand.h"

#include <algorithm>

#include "core/pool.h"
#include "ops/quant/low_codes.h"

namespace emu {

std::vector<float> low_values(const aclTensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numel()));
  const auto count = static_cast<int64_t>(values.size());
  const LowValues source(tensor);
  // Two elements may share a byte: pieces are of even length.
  parallel_for((count + kBlock - 1) / kBlock, 16, [&](int64_t first, int64_t last) {
    const int64_t begin = first * kBlock, end = std::min(last * kBlock, count);
    source.read(begin, end - begin, values.data() + begin);
  });
  return values;
}

FloatStack::FloatStack(const aclTensor &tensor) : memory_(low_values(tensor)) {
  View dense;
  dense.data = reinterpret_cast<char *>(memory_.data());
  dense.dtype = ACL_FLOAT;
  dense.layout = dense_like(layout_of(tensor));
  stack_ = matrix_stack(dense);
}

}  // namespace emu
