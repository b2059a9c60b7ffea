// SPDX-License-Identifier: Apache-2.0
// The gradient of attention over gathered keys, and what tokens add to the keys and values of one
// sequence and head.
#pragma once

#include <algorithm>
#include <utility>

#include "core/pool.h"
#include "ops/attention/sequences.h"

namespace emu {

class GatheredSums {
 public:
  // With a `value_width` of 0 the values are the first elements of the keys, and so are their sums.
  GatheredSums(int64_t keys, int64_t width, int64_t value_width)
      : width_(width),
        value_width_(value_width),
        key_(static_cast<size_t>(keys * width), 0.0f),
        value_(static_cast<size_t>(keys * value_width), 0.0f) {}

  // Row i of left @ right, times `scale`, is added to the key (or value) at places[i].
  void add_to_keys(const Matrix &left, const Matrix &right, const std::vector<int64_t> &places,
                   float scale);
  void add_to_values(const Matrix &left, const Matrix &right, const std::vector<int64_t> &places);
  void add(const GatheredSums &other);

  bool united() const { return value_width_ == 0; }
  float *key(int64_t place) { return key_.data() + place * width_; }
  float *value(int64_t place) { return value_.data() + place * value_width_; }
  const float *key(int64_t place) const { return key_.data() + place * width_; }
  const float *value(int64_t place) const { return value_.data() + place * value_width_; }

 private:
  int64_t width_, value_width_;
  std::vector<float> key_, value_;
};

// What the gradient of `attend` reads besides: that of the results, its row sums with the results,
// and what makes a row's scores its softmax, exp(score - reference) * factor.
struct GatheredStatistics {
  const float *slopes;  // of the results
  std::vector<float> along, references, factors;
};
struct GatheredSlopes {
  std::vector<float> query;
  std::vector<float> chances;  // the softmax, a row for each query, where it is asked for
};
// The gradient by the queries; those of the gathered keys and values are added to `sums` at their
// places. Without a bias. Where `sums` are united the value is the key, whatever its width.
void attend_back(const GatheredAttention &a, const GatheredStatistics &rows,
                 const std::vector<int64_t> &places, GatheredSums *sums, GatheredSlopes *found);

// What all tokens of a sequence add to its keys: `row(token, sums)` adds that of one token, on the
// threads of the pool. Each thread takes runs of tokens, each with sums of its own; the runs do not
// depend on the number of threads, and neither does the result.
template <class F>
GatheredSums sum_of_tokens(int64_t tokens, int64_t keys, int64_t width, int64_t value_width, F row,
                           int64_t shortest_run = 16) {
  constexpr int64_t kMostRuns = 16, kRoom = int64_t{1} << 27;  // floats
  const int64_t each = std::max<int64_t>(1, keys * (width + value_width)),
                runs = std::clamp<int64_t>(std::min(tokens / shortest_run, kRoom / each), 1,
                                           kMostRuns),
                length = (tokens + runs - 1) / runs;
  std::vector<GatheredSums> sums(static_cast<size_t>(runs), GatheredSums(keys, width, value_width));
  parallel_for(runs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run) {
      const int64_t behind = std::min(tokens, (run + 1) * length);
      for (int64_t token = run * length; token < behind; ++token)
        row(token, &sums[static_cast<size_t>(run)]);
    }
  });
  for (size_t run = 1; run < sums.size(); ++run) sums[0].add(sums[run]);
  return std::move(sums[0]);
}

// The sum of dy * out of one row.
inline float sum_along(const float *dy, const float *out, int64_t count) {
  double sum = 0.0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(dy[i]) * out[i];
  return static_cast<float>(sum);
}

}  // namespace emu
