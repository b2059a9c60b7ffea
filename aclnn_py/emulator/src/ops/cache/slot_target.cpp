// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/cache/slot_target.h"

namespace emu {

aclTensor slots_of(const aclTensor &cache, SlotOrder order) {
  aclTensor made = cache;
  made.format = ACL_FORMAT_ND;
  if (order == SlotOrder::kHeads) {
    std::swap(made.shape[1], made.shape[2]);
    std::swap(made.strides[1], made.strides[2]);
  } else if (order == SlotOrder::kBlocks) {
    const int64_t unit = fractal_columns(cache.dtype), places = cache.shape[1];
    const int64_t slot = cache.shape[2] * cache.shape[3];
    made.shape = {cache.shape[0], places, slot / unit, unit};
    made.strides = {places * slot, unit, places * unit, 1};
  }
  return made;
}

Check &check_blocks(Check &check, const char *parameter, const aclTensor *cache) {
  if (!check.ok()) return check;
  const int64_t unit = fractal_columns(cache->dtype), head = cache->shape[3];
  check.that(head % unit == 0,
             "%s has %lld as its last dimension; it must be a multiple of 32 bytes, which is %lld "
             "elements",
             parameter, static_cast<long long>(head), static_cast<long long>(unit));
  return check.that(cache->contiguous(), "%s must be contiguous in this cacheModeOptional",
                    parameter);
}

SlotTarget::SlotTarget(const aclTensor &to) {
  if (contains(dt::kFloat, to.dtype)) plain_.emplace(view_of(to));
  else quantised_.emplace(to);
}

void SlotTarget::write(int64_t start, int64_t count, const float *values) const {
  if (plain_) plain_->write(start, count, values);
  else quantised_->write(start, count, values);
}

std::vector<float> slot_factors(PlanContext &c, size_t index, int64_t heads, int64_t head,
                                float fallback) {
  const int64_t given = c.has(index) ? c.tensor(index).numel() : 0;
  const std::vector<float> own = read_all<float>(c, index, given, fallback);
  std::vector<float> all(static_cast<size_t>(heads * head), fallback);
  for (size_t i = 0; given > 0 && i < all.size(); ++i) all[i] = own[i % own.size()];
  return all;
}

}  // namespace emu
