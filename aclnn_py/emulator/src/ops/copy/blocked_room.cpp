// SPDX-License-Identifier: Apache-2.0
#include "ops/copy/blocked_room.h"

#include "core/memory.h"
#include "ops/dtype.h"

namespace emu {

bool has_room(const aclTensor &weight, int64_t needed) {
  bool sizes = true;  // two negative extents have a positive product
  for (size_t d = 0; d < weight.storage_shape.size(); ++d) sizes &= weight.storage_shape[d] >= 0;
  if (sizes && weight.storage_shape.count() - weight.offset >= needed) return true;
  void *start = nullptr;
  size_t size = 0;
  int device = -1;
  if (weight.offset != 0 || !find_block(weight.data, &start, &size, &device) ||
      start != weight.data)
    return false;
  constexpr int64_t kSlack = 4096;
  const int64_t bytes = needed * item_size(weight.dtype), have = static_cast<int64_t>(size);
  return have >= bytes && have - bytes <= bytes + kSlack;
}

}  // namespace emu
