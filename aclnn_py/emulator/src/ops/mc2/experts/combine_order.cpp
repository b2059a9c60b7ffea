// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cinttypes>

#include "ops/mc2/experts/combine.h"

namespace emu {
namespace {

constexpr int64_t kAssistPerRow = 128;

// The rows of this rank's experts: [begin(i), ends[i]) of expert and rank.
struct Ranges {
  std::vector<int64_t> ends;
  int64_t begin(size_t i) const { return i == 0 ? 0 : ends[i - 1]; }
};

Status read_ranges(const Experts &e, const std::vector<int64_t> &all, int64_t rows,
                   Ranges *ranges) {
  const auto count = static_cast<size_t>(e.here() * e.ranks());
  const size_t from = e.tp ? e.tp->rank() * count : 0;
  ranges->ends.assign(all.begin() + static_cast<int64_t>(from),
                      all.begin() + static_cast<int64_t>(from + count));
  int64_t last = 0;
  for (const int64_t end : ranges->ends) {
    if (end < last || end > rows)
      return stop_all(e,
                      "epSendCounts has %" PRId64 " after %" PRId64
                      "; its values never fall and are at most %" PRId64
                      ", the rows that this rank may have. They must be those that dispatch gave",
                      end, last, rows);
    last = end;
  }
  return 0;
}

Origin origin_of(const int64_t *words) {
  return {static_cast<int32_t>(words[0]), static_cast<int32_t>(words[1]), 0};
}

}  // namespace

Status order_rows(const Experts &e, const std::vector<int64_t> &ep_counts,
                  const std::vector<int64_t> &assist, int64_t rows, SendingOrder *order,
                  RowCounts *counts) {
  Ranges ranges;
  if (const Status s = read_ranges(e, ep_counts, rows, &ranges)) return s;
  const auto experts = static_cast<size_t>(e.here()), ranks = static_cast<size_t>(e.ranks());
  for (size_t r = 0; r < ranks; ++r) {
    for (size_t expert = 0; expert < experts; ++expert) {
      const size_t at = expert * ranks + r;
      const int64_t end = ranges.ends[at];
      counts->add(static_cast<int64_t>(r), static_cast<int64_t>(expert), end - ranges.begin(at));
      for (int64_t row = ranges.begin(at); row < end; ++row) {
        Origin origin{-1, -1, 0};
        if (!assist.empty()) {
          const int64_t *words = assist.data() + row * kAssistPerRow;
          if (words[0] != static_cast<int64_t>(r))
            return stop_all(e,
                            "assistInfoForCombine says that row %" PRId64 " is from rank %" PRId64
                            ", epSendCounts that it is from rank %zu. They must be those that "
                            "dispatch gave",
                            row, words[0], r);
          origin = origin_of(words + 1);
        }
        order->push_back({row, origin});
      }
    }
  }
  return 0;
}

void order_as_told(const std::vector<TokenRoute> &routes, SendingOrder *order, RowCounts *counts) {
  std::vector<int64_t> rows(routes.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  std::stable_sort(rows.begin(), rows.end(), [&](int64_t a, int64_t b) {
    return routes[static_cast<size_t>(a)].rank < routes[static_cast<size_t>(b)].rank;
  });
  for (const int64_t row : rows) {
    const TokenRoute &route = routes[static_cast<size_t>(row)];
    const int64_t words[] = {route.token, route.slot};
    order->push_back({row, origin_of(words)});
    counts->add(route.rank, 0, 1);
  }
}

}  // namespace emu
