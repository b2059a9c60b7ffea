// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The kernel of Compressor. States are float32: the products of the tokens with both weights, the
// scores with the bias of their place in the group. A group is the average of its values by the
// softmax of its scores, element by element, rounded once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/indexer/compressor.h"
#include "ops/matmul/stack.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kName = "aclnnCompressor";
constexpr int64_t kNone = -1;

struct Sequence {
  int64_t row = 0;               // its first token among those of x
  int64_t first = 0, count = 0;  // the position of that token, and the tokens that count
  int64_t oldest = 0;            // the first position that the groups read
  std::vector<int64_t> earlier;  // rows of the cache from there on, up to the first position
  std::vector<int64_t> own;      // rows of the cache for the tokens of x; kNone is not kept
};

struct Group {
  size_t sequence;
  int64_t number, row;  // the number within the sequence, and the row of the result
};

class Run {
 public:
  Run(PlanContext &c, const Compressor &x)
      : c_(c), x_(x), table_(integers(x.table_at, x.batch * x.columns)) {}

  Status read();
  void compute();
  void write();

 private:
  std::vector<int64_t> integers(size_t at, int64_t count) const {
    return read_all<int64_t>(c_, at, count, 0);
  }
  Status place(Sequence *s) const;
  Status slot(size_t sequence, int64_t position, int64_t *row) const;
  Status find_slots(size_t sequence, Sequence *s) const;
  void add_groups(size_t sequence, int64_t *row);
  void project();
  void average(const Group &group, float *scores, float *sums, float *to) const;
  // The state of a token: its values and then its scores.
  const float *state(const Sequence &s, int64_t position, float *scratch) const;

  int64_t wide_row() const { return 2 * x_.width(); }

  PlanContext &c_;
  const Compressor &x_;
  const std::vector<int64_t> table_;
  std::vector<Sequence> sequences_;
  std::vector<Group> groups_;
  std::vector<float> states_;
};

// The row of the cache that keeps a position.
Status Run::slot(size_t sequence, int64_t position, int64_t *row) const {
  const int64_t column = x_.ring ? 0 : position / x_.places;
  if (column >= x_.columns) {
    return fail(kKernelFault,
                "%s: stateBlockTable has %lld blocks of %lld tokens for a sequence; sequence %zu "
                "reaches position %lld",
                kName, wide(x_.columns), wide(x_.places), sequence, wide(position));
  }
  const int64_t block =
      table_[sequence * static_cast<size_t>(x_.columns) + static_cast<size_t>(column)];
  if (block < 0 || block >= x_.blocks) {
    return fail(kKernelFault,
                "%s: stateBlockTable has block %lld for sequence %zu; the cache has %lld blocks",
                kName, wide(block), sequence, wide(x_.blocks));
  }
  *row = block * x_.places + position % x_.places;
  return 0;
}

Status Run::find_slots(size_t sequence, Sequence *s) const {
  for (int64_t p = s->oldest; p < s->first; ++p) {
    int64_t row = kNone;
    if (const Status bad = slot(sequence, p, &row)) return bad;
    s->earlier.push_back(row);
  }
  if (!c_.has(x_.table_at)) return 0;
  for (int64_t p = s->first; p < s->first + s->count; ++p) {
    int64_t row = kNone;
    if (const Status bad = slot(sequence, p, &row)) return bad;
    s->own.push_back(row / x_.places == 0 ? kNone : row);
  }
  return 0;
}

void Run::add_groups(size_t sequence, int64_t *row) {
  Sequence &s = sequences_[sequence];
  const int64_t begin = s.first / x_.ratio, end = (s.first + s.count) / x_.ratio;
  s.oldest = begin == end ? s.first : std::max<int64_t>(0, (begin - (x_.halves - 1)) * x_.ratio);
  s.oldest = std::min(s.oldest, s.first);
  for (int64_t number = begin; number < end; ++number)
    groups_.push_back({sequence, number, (*row)++});
}

Status Run::read() {
  const std::vector<int64_t> ends = integers(x_.ends_at, x_.packed ? x_.batch + 1 : 0),
                             start = integers(x_.start_at, x_.batch);
  std::vector<int64_t> used = integers(x_.used_at, x_.batch);
  int64_t row = 0;
  for (int64_t b = 0; b < x_.batch; ++b) {
    const auto at = static_cast<size_t>(b);
    const int64_t from = x_.packed ? ends[at] : b * x_.tokens,
                  length = x_.packed ? ends[at + 1] - from : x_.tokens;
    if (x_.packed && ((b == 0 && from != 0) || length < 0 || ends[at + 1] > x_.tokens)) {
      return fail(kKernelFault,
                  "%s: cuSeqlens has %lld behind %lld; it must begin with 0, not decrease and end "
                  "within the %lld tokens",
                  kName, wide(ends[at + 1]), wide(from), wide(x_.tokens));
    }
    if (!c_.has(x_.used_at)) used[at] = length;
    if (used[at] < 0 || used[at] > length || start[at] < 0) {
      return fail(kKernelFault,
                  "%s: sequence %lld has %lld tokens; seqused is %lld and startPos %lld", kName,
                  wide(b), wide(length), wide(used[at]), wide(start[at]));
    }
    Sequence s;
    s.row = from;
    s.first = start[at];
    s.count = used[at];
    sequences_.push_back(std::move(s));
    if (!x_.packed) row = b * x_.rows;
    add_groups(at, &row);
    if (const Status bad = find_slots(at, &sequences_.back())) return bad;
  }
  return 0;
}

void Run::project() {
  const int64_t width = x_.width(), all = x_.packed ? x_.tokens : x_.batch * x_.tokens;
  states_.resize(static_cast<size_t>(all * wide_row()));
  const MatrixStack x = matrix_stack(c_.tensor(x_.x_at));
  const Matrix weights[] = {matrix_stack(c_.tensor(x_.kv_at)).first.transposed(),
                            matrix_stack(c_.tensor(x_.gate_at)).first.transposed()};
  for (int64_t b = 0; b < (x_.packed ? 1 : x_.batch); ++b) {
    const Matrix tokens = x_.packed ? x.first : x.at(b * x.batch.stride[0]);
    float *to = states_.data() + b * x_.tokens * wide_row();
    for (const Matrix &weight : weights) {
      gemm(tokens, weight, {to, ACL_FLOAT, wide_row(), 1});
      to += width;
    }
  }
  const std::vector<float> bias = read_all<float>(c_, x_.ape_at, x_.ratio * width, 0.0f);
  for (const Sequence &s : sequences_) {
    for (int64_t i = 0; i < s.count; ++i) {
      const float *add = bias.data() + (s.first + i) % x_.ratio * width;
      float *scores = states_.data() + (s.row + i) * wide_row() + width;
      for (int64_t d = 0; d < width; ++d) scores[d] += add[d];
    }
  }
}

const float *Run::state(const Sequence &s, int64_t position, float *scratch) const {
  if (position >= s.first) return states_.data() + (s.row + position - s.first) * wide_row();
  const int64_t row = s.earlier[static_cast<size_t>(position - s.oldest)];
  RowSource<float>(view_of(c_.tensor(x_.state_at))).read(row * wide_row(), wide_row(), scratch);
  return scratch;
}

// With two halves the tokens of the group in front give the first half of their states, those of
// the group itself the second one; in front of the first group there is none.
void Run::average(const Group &group, float *scores, float *sums, float *to) const {
  const Sequence &s = sequences_[group.sequence];
  const int64_t first = (group.number - (x_.halves - 1)) * x_.ratio,
                end = (group.number + 1) * x_.ratio, own = group.number * x_.ratio;
  std::vector<float> scratch(static_cast<size_t>(wide_row())),
      highest(static_cast<size_t>(x_.head), -std::numeric_limits<float>::infinity());
  const auto half = [&](int64_t p) { return x_.halves == 2 && p >= own ? x_.head : 0; };
  for (int64_t p = std::max<int64_t>(0, first); p < end; ++p) {
    const float *from = state(s, p, scratch.data()) + x_.width() + half(p);
    float *score = scores + (p - first) * x_.head;
    std::copy(from, from + x_.head, score);
    for (size_t d = 0; d < highest.size(); ++d) highest[d] = std::max(highest[d], score[d]);
  }
  std::fill(sums, sums + x_.head, 0.0f);
  std::fill(to, to + x_.head, 0.0f);
  for (int64_t p = std::max<int64_t>(0, first); p < end; ++p) {
    const float *value = state(s, p, scratch.data()) + half(p);
    const float *score = scores + (p - first) * x_.head;
    for (int64_t d = 0; d < x_.head; ++d) {
      const float share = std::exp(score[d] - highest[static_cast<size_t>(d)]);
      sums[d] += share;
      to[d] += share * value[d];
    }
  }
  for (int64_t d = 0; d < x_.head; ++d) to[d] /= sums[d];
}

void Run::compute() {
  if (sequences_.empty() || x_.tokens == 0) return;
  project();
  const RowTarget<float> out(view_of(c_.tensor(x_.out_at)));
  parallel_for(static_cast<int64_t>(groups_.size()), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> scores(static_cast<size_t>(x_.halves * x_.ratio * x_.head)),
        sums(static_cast<size_t>(x_.head)), row(sums.size());
    for (int64_t i = begin; i < end; ++i) {
      const Group &group = groups_[static_cast<size_t>(i)];
      average(group, scores.data(), sums.data(), row.data());
      out.write(group.row * x_.head, x_.head, row.data());
    }
  });
}

// Only when every group is done: a ring may keep a token where another one was.
void Run::write() {
  const RowTarget<float> cache(view_of(c_.tensor(x_.state_at)));
  for (const Sequence &s : sequences_) {
    for (size_t i = 0; i < s.own.size(); ++i) {
      if (s.own[i] == kNone) continue;
      const float *from = states_.data() + (s.row + static_cast<int64_t>(i)) * wide_row();
      cache.write(s.own[i] * wide_row(), wide_row(), from);
    }
  }
}

}  // namespace

Status run_compressor(const Compressor &x, PlanContext &c) {
  Run run(c, x);
  if (const Status bad = run.read()) return bad;
  run.compute();
  run.write();
  return 0;
}

}  // namespace emu
