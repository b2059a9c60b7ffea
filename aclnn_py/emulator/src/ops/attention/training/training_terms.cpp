// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/statuses.h"
#include "ops/attention/rules.h"
#include "ops/attention/training/training.h"

namespace emu {
namespace {

constexpr int64_t kTriangle = 2048, kLastRows = 1024, kLanes = 8;

// The first sequence with tokens, or the last.
size_t used_sequence(const Attention &a, bool last) {
  const size_t count = a.query_lengths.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t b = last ? count - 1 - i : i;
    if (a.query_lengths[b] > 0) return b;
  }
  return 0;
}

}  // namespace

TrainingTerms::TrainingTerms(const Training &training, PlanContext &context)
    : t_(training), c_(context), a_(training.attention) {
  sequences();
  o_.query_starts = a_.query_starts;
  o_.key_starts = a_.key_starts;
  o_.key_lengths = a_.key_lengths;
  o_.terms = this;
}

void TrainingTerms::sequences() {
  const auto batch = static_cast<size_t>(a_.batch);
  if (!a_.packed()) {
    a_.query_lengths.assign(batch, a_.queries);
    a_.key_lengths.assign(batch, a_.keys);
  }
  const size_t first = used_sequence(a_, false), last = used_sequence(a_, true);
  const int64_t mode = t_.sparse_mode;
  for (size_t b = 0; b < batch; ++b) {
    const int64_t more = a_.key_lengths[b] - a_.query_lengths[b];
    const bool band = mode == 4 || (mode == 7 && b == last) || (mode == 8 && b == first);
    if (mode == 0) a_.bands.push_back(t_.band);
    else if (mode == 1) a_.bands.push_back({kFarthest, kFarthest});
    else if (band) a_.bands.push_back({t_.band.before - more, t_.band.after + more});
    else a_.bands.push_back({kFarthest, mode == 2 || mode == 8 ? 0 : more});
  }
  a_.reach = t_.prefix;
  distant_ = first;
  int64_t pairs = 0;
  for (size_t b = 0; a_.packed() && b < batch; ++b) {
    pair_starts_.push_back(pairs);
    pairs += a_.heads * a_.query_lengths[b] * a_.key_lengths[b];
  }
}

View TrainingTerms::view(size_t at) const {
  View seen = view_of(c_.tensor(at));
  if (t_.sequence_first) {
    std::swap(seen.layout.shape[0], seen.layout.shape[1]);
    std::swap(seen.layout.stride[0], seen.layout.stride[1]);
  }
  return seen;
}

Heads TrainingTerms::heads(size_t at, Arrangement form, int64_t width) const {
  return heads_of(view(at), form, width);
}

Heads TrainingTerms::operand(size_t at, Arrangement form, int64_t width,
                             std::initializer_list<size_t> results) {
  View seen = view(at);
  for (const size_t result : results) {
    if (result != kAbsent && c_.has(result))
      seen = operands_.safe(seen, {view_of(c_.tensor(result))});
  }
  return heads_of(seen, form, width);
}

View TrainingTerms::safe(size_t at, std::initializer_list<size_t> results) {
  View seen = view_of(c_.tensor(at));
  for (const size_t result : results) {
    if (result != kAbsent && c_.has(result))
      seen = operands_.safe(seen, {view_of(c_.tensor(result))});
  }
  return seen;
}

void TrainingTerms::read_pairs(std::initializer_list<size_t> results) {
  if (t_.masked && !a_.triangle) {
    const View mask = safe(a_.mask_at, results);
    const int64_t *stride = mask.layout.stride, *shape = mask.layout.shape;
    const int last = mask.layout.rank - 1;
    o_.mask = {mask.data, mask.dtype, 0, 0, stride[last - 1], stride[last]};
    if (last == 3) {
      o_.mask.batch = shape[0] == 1 ? 0 : stride[0];
      o_.mask.head = shape[1] == 1 ? 0 : stride[1];
    }
  }
  if (t_.slopes) {
    const aclTensor &given = c_.tensor(a_.pse_at);
    slopes_ = read_all<float>(c_, a_.pse_at, given.numel(), 0.0f);
    slope_batch_ = given.rank() == 2 ? a_.heads : 0;
  } else if (t_.bias != BiasForm::kNone) {
    bias_ = safe(a_.pse_at, results);
  }
  if (t_.drop_at != kAbsent && c_.has(t_.drop_at)) {
    View bits = safe(t_.drop_at, results);
    if (!bits.layout.is_dense()) {
      kept_.push_back(std::make_unique<Snapshot>(bits));
      bits = kept_.back()->view();
    }
    drop_ = reinterpret_cast<const unsigned char *>(bits.data);
  }
  if (a_.sink_at != kAbsent && c_.has(a_.sink_at))
    o_.sink = read_all<float>(c_, a_.sink_at, a_.heads, 0.0f);
}

// The mask that stands for all causal ones is not read where it could be computed, but a program
// that passes another one has to hear of it.
Status TrainingTerms::read() {
  if (a_.triangle && t_.masked) {
    const View mask = view_of(c_.tensor(a_.mask_at));
    const int last = mask.layout.rank - 1;
    const int64_t rows = mask.layout.shape[last - 1], row = mask.layout.stride[last - 1],
                  step = mask.layout.stride[last];
    std::atomic<int64_t> wrong{rows};
    parallel_for(rows, rows / 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        // Row i of the triangle has i + 1 zeros in front, the rows below it 1024.
        const int64_t zeros = i < kTriangle ? i + 1 : kLastRows;
        int64_t differing = 0;
        for (int64_t j = 0; j < kTriangle; ++j)
          differing += mask.data[i * row + j * step] != (j >= zeros);
        if (differing != 0) wrong = i;
      }
    });
    if (wrong != rows)
      return fail(kKernelFault,
                  "%s: row %lld of the mask is not the one that sparseMode %lld needs: 0 up to its "
                  "diagonal (below row 2047: in its first half) and 1 behind it",
                  a_.op, static_cast<long long>(wrong.load()),
                  static_cast<long long>(t_.sparse_mode));
  }
  highest_.emplace_back(view_of(c_.tensor(t_.highest_at)));
  sum_.emplace_back(view_of(c_.tensor(t_.sum_at)));
  return 0;
}

void TrainingTerms::shift(int64_t batch, int64_t head, int64_t token, int64_t first, int64_t count,
                          float *scores) const {
  if (t_.slopes) {
    const float slope = -slopes_[static_cast<size_t>(batch * slope_batch_ + head)];
    const int64_t start =
        token + t_.distance + (static_cast<size_t>(batch) == distant_ ? t_.start_distance : 0);
    for (int64_t i = 0; i < count; ++i) {
      const auto distance = static_cast<float>(std::abs(start - first - i));
      scores[i] += slope * (t_.roots ? std::sqrt(distance) : distance);
    }
    return;
  }
  if (t_.bias == BiasForm::kNone) return;
  const int64_t *stride = bias_.layout.stride, *shape = bias_.layout.shape;
  constexpr int64_t kPart = 512;
  float part[kPart];
  for (int64_t done = 0; done < count; done += kPart) {
    const int64_t n = std::min(kPart, count - done), key = first + done;
    if (t_.bias == BiasForm::kPackedPairs) {
      const auto b = static_cast<size_t>(batch);
      const int64_t at =
          pair_starts_[b] + (head * a_.query_lengths[b] + token) * a_.key_lengths[b] + key;
      load_f32(bias_.data, bias_.dtype, at * stride[0], stride[0], n, part);
    } else {
      int64_t row = shape[2] == 1 ? 0 : token, column = key;
      if (t_.bias == BiasForm::kLastRows) {
        // The last rows of the longest sequence; a row further up is one of them moved back.
        const int64_t above = shape[3] - 1 - token;
        const int64_t moved = above / kLastRows * kLastRows;
        row = kLastRows - 1 - above % kLastRows;
        column = key + moved;
      }
      const int64_t at =
          (shape[0] == 1 ? 0 : batch) * stride[0] + head * stride[1] + row * stride[2];
      // Behind the diagonal of a moved row nothing is stored; the mask hides those keys.
      const int64_t there = std::clamp<int64_t>(shape[3] - column, 0, n);
      load_f32(bias_.data, bias_.dtype, at + column * stride[3], stride[3], there, part);
      std::fill(part + there, part + n, 0.0f);
    }
    for (int64_t i = 0; i < n; ++i) scores[done + i] += part[i] * t_.bias_scale;
  }
}

void TrainingTerms::drop(int64_t batch, int64_t head, int64_t token, int64_t first, int64_t count,
                         float *values) const {
  if (drop_ == nullptr) return;
  const auto b = static_cast<size_t>(batch);
  const int64_t queries = a_.query_lengths[b], keys = a_.key_lengths[b];
  const int64_t start = a_.packed() ? pair_starts_[b] + (head * queries + token) * keys
                                    : ((batch * a_.heads + head) * queries + token) * keys;
  const float kept = 1.0f / t_.keep;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bit = start + first + i;
    values[i] *= (drop_[bit / 8] >> (bit % 8) & 1) != 0 ? kept : 0.0f;
  }
}

int64_t TrainingTerms::statistics_at(int64_t batch, int64_t head, int64_t token) const {
  if (!a_.packed()) return (batch * a_.heads + head) * a_.queries + token;
  const int64_t row = a_.query_starts[static_cast<size_t>(batch)] + token;
  return t_.tokens_first ? row * a_.heads + head : head * t_.query_tokens + row;
}

void TrainingTerms::keep_sums(int64_t batch, int64_t head, int64_t token, float highest,
                              double sum) const {
  const int64_t at = statistics_at(batch, head, token) * kLanes;
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, highest);
  highest_[0].write(at, kLanes, lanes);
  std::fill(lanes, lanes + kLanes, static_cast<float>(sum));
  sum_[0].write(at, kLanes, lanes);
}

}  // namespace emu
