// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/moe/placing.h"

namespace emu {

Status check_experts(const char *op, const std::vector<int64_t> &experts, int64_t count) {
  for (const int64_t expert : experts) {
    if (expert >= 0 && expert < count) continue;
    if (count == kUncountable) {
      return fail(kKernelFault, "%s: expertIdx holds %lld; experts are numbered from 0", op,
                  static_cast<long long>(expert));
    }
    return fail(kKernelFault, "%s: expertIdx holds %lld; expertNum is %lld", op,
                static_cast<long long>(expert), static_cast<long long>(count));
  }
  return 0;
}

std::vector<RowMove> moves_in_order(const std::vector<int64_t> &experts,
                                    const std::vector<int64_t> &order, int64_t each, int64_t rows,
                                    int64_t first) {
  std::vector<RowMove> moves;
  for (size_t i = 0; i < order.size() && static_cast<int64_t>(i) < rows; ++i) {
    const int64_t expert = experts[static_cast<size_t>(order[i])];
    moves.push_back({static_cast<int64_t>(i), order[i] / each, expert - first});
  }
  return moves;
}

std::vector<RowMove> moves_to_places(const Places &places, const std::vector<int64_t> &experts,
                                     const std::vector<int64_t> &order, int64_t each,
                                     std::vector<int32_t> *index) {
  std::vector<RowMove> moves;
  int64_t before = -1, used = 0;
  for (const int64_t at : order) {
    const int64_t expert = experts[static_cast<size_t>(at)];
    used = expert == before ? used + 1 : 0;
    before = expert;
    const bool fits = used < places.capacity;
    const int64_t place = fits ? expert * places.capacity + used : -1;
    (*index)[static_cast<size_t>(at)] = static_cast<int32_t>(place);
    if (fits) moves.push_back({place, at / each, expert});
  }
  return moves;
}

void write_counts(const View &to, const std::vector<int64_t> &experts, int64_t first, bool ends) {
  const int64_t count = to.count();
  std::vector<int64_t> counts(static_cast<size_t>(count));
  for (const int64_t expert : experts) {
    if (expert >= first && expert - first < count) ++counts[static_cast<size_t>(expert - first)];
  }
  for (size_t i = 1; ends && i < counts.size(); ++i) counts[i] += counts[i - 1];
  RowTarget<int64_t>(to).write(0, count, counts.data());
}

void check_tensor_scale(Check &check, const aclTensor *scale, const aclTensor *offset) {
  check.that(scale != nullptr, "scaleOptional is null; quantMode 0 needs it");
  check.that(offset != nullptr, "offsetOptional is null; quantMode 0 needs it");
  const int64_t one[] = {1};
  check.shape("scaleOptional", scale, dense_layout(one, 1));
  check.shape("offsetOptional", offset, dense_layout(one, 1));
}

Quantisation read_quantisation(PlanContext &c, bool by_row, size_t scale, size_t offset) {
  Quantisation q;
  q.kind = by_row ? Quantised::kByRow : Quantised::kByScale;
  if (!by_row) {
    q.scale = read_all<float>(c, scale, 1, 1.0f)[0];
    q.offset = read_all<float>(c, offset, 1, 0.0f)[0];
  } else if (c.has(scale)) {
    const View factors = view_of(c.tensor(scale));
    q.factor_rows = factors.layout.shape[0];
    q.factors = read_all<float>(c, scale, factors.count(), 1.0f);
  }
  return q;
}

}  // namespace emu
