// SPDX-License-Identifier: Apache-2.0
// Results that go to slots of a cache: float32 in memory, rounded or quantised on the way.
#pragma once

#include <optional>

#include "ops/shared/quantised.h"

namespace emu {

enum class SlotOrder : uint8_t {
  kPlaces,  // (block, place, head, element)
  kHeads,   // (block, head, place, element); also runs of 32 bytes in place of heads
  kBlocks,  // as kPlaces, but a block lies in memory as (runs of 32 bytes, place, element)
};

// The cache with all elements of a slot behind each other, the slots in front.
aclTensor slots_of(const aclTensor &cache, SlotOrder order);
// A cache in kBlocks must be dense and its heads multiples of 32 bytes.
Check &check_blocks(Check &check, const char *parameter, const aclTensor *cache);

// Writes float32 to a tensor of any dtype that a cache may have; what quantises rounds to the
// nearest number, half to even, and limits it.
class SlotTarget {
 public:
  explicit SlotTarget(const aclTensor &to);
  void write(int64_t start, int64_t count, const float *values) const;

 private:
  std::optional<QuantTarget> quantised_;
  std::optional<RowTarget<float>> plain_;
};

// One factor for each element of a slot, `head` elements of each of `heads` heads: given as
// (heads, head), (heads * head), (head) or (1). `fallback` where the tensor is absent.
std::vector<float> slot_factors(PlanContext &c, size_t index, int64_t heads, int64_t head,
                                float fallback);

}  // namespace emu
