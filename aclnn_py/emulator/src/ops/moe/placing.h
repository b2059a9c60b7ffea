// SPDX-License-Identifier: Apache-2.0
// Where MoeInitRoutingV2, V3 and QuantV2 put the tokens of each expert, how they count and quantise
// them.
#pragma once

#include <vector>

#include "ops/moe/routing.h"

namespace emu {

// Every expert has places for `capacity` tokens; those beyond are dropped.
struct Places {
  int64_t experts, capacity;
};

// A fault when a list of experts holds one below 0 or from `count` on.
Status check_experts(const char *op, const std::vector<int64_t> &experts, int64_t count);

// The first `rows` of the sorted list, row by row. Each token stands `each` times in `experts`;
// `first` is the expert whose factors come first.
std::vector<RowMove> moves_in_order(const std::vector<int64_t> &experts,
                                    const std::vector<int64_t> &order, int64_t each, int64_t rows,
                                    int64_t first);

// Each token to a place of its expert as long as there is one. `index` gets the place of every
// entry of `experts`, -1 for one that is dropped.
std::vector<RowMove> moves_to_places(const Places &places, const std::vector<int64_t> &experts,
                                     const std::vector<int64_t> &order, int64_t each,
                                     std::vector<int32_t> *index);

// How many entries each expert has from `first` on, or with `ends` also those of the experts before
// it.
void write_counts(const View &to, const std::vector<int64_t> &experts, int64_t first, bool ends);

// One scale and one offset for the whole tensor.
void check_tensor_scale(Check &check, const aclTensor *scale, const aclTensor *offset);
Quantisation read_quantisation(PlanContext &c, bool by_row, size_t scale, size_t offset);

}  // namespace emu
