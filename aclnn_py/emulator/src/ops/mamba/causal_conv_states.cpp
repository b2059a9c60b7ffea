// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// CausalConv1dFn and CausalConv1dUpdate: a causal convolution of 2 to 4 tokens with a bias and an
// activation. The tokens that the next call needs stand at the beginning of a line of the cache.
#include <cmath>
#include <cstring>

#include "aclnnop/mamba.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kNarrowest = 2, kWidest = 4, kMostSequences = 1024;
constexpr int64_t kColumnsAtOnce = 512;

struct NamedTensor {
  const char *name;
  const aclTensor *tensor;
};

struct StatesCall {
  const char *op;
  bool update;  // one token for each sequence, or those of a speculation
  const aclTensor *x, *weight, *states, *bias, *starts, *cache, *mode, *accepted;
  // A cache with one line per sequence leaves these nothing to choose.
  NamedTensor unused[4];
  const char *activation;
  int64_t null_block;
  const aclTensor *y;
};

struct StatesSizes {
  int64_t batch, tokens, dim, width, lines, line;
  bool even, silu;
};

void check_range(Check &check, const char *what, int64_t value, int64_t least, int64_t most) {
  check.that(value >= least && value <= most, "%s is %lld; allowed: %lld to %lld", what,
             wide(value), wide(least), wide(most));
}

void check_x(Check &check, const StatesCall &a, StatesSizes *s) {
  const size_t rank = a.x->rank();
  s->even = rank == 3;
  s->dim = a.x->shape[rank - 1];
  s->tokens = count_of(a.x->shape.data(), rank - 1);
  if (!s->even) {
    check.that(a.starts != nullptr, "queryStartLocOptional is null; x of 2 dimensions needs it");
    check.that(!a.update || a.accepted != nullptr,
               "numAcceptedTokensOptional is null; x of 2 dimensions needs it");
    check.rank("queryStartLocOptional", a.starts, 1, 1);
    if (!check.ok()) return;
  }
  s->batch = s->even ? a.x->shape[0] : a.starts->shape[0] - 1;
  check_range(check, "the number of sequences", s->batch, 1, kMostSequences);
  if (!check.ok()) return;
  if (s->even) {
    check_range(check, "the second dimension of x", a.x->shape[1], a.update ? 1 : 2,
                a.update ? 1 : 16384);
  } else {
    check_range(check, "the first dimension of x", s->tokens, s->batch,
                a.update ? 8 * s->batch : int64_t{1} << 20);
  }
  check_range(check, "the last dimension of x", s->dim, 64, 16384);
  check.that(s->dim % 16 == 0, "x has a last dimension of %lld; it must be a multiple of 16",
             wide(s->dim));
}

void check_sizes(Check &check, const StatesCall &a, StatesSizes *s) {
  check_x(check, a, s);
  if (!check.ok()) return;
  s->width = a.weight->shape[0];
  s->lines = a.states->shape[0], s->line = a.states->shape[1];
  check_range(check, "the first dimension of weight", s->width, kNarrowest, kWidest);
  check.that(a.accepted == nullptr || s->width == kWidest,
             "numAcceptedTokensOptional is given; then weight has %lld rows, not %lld",
             wide(kWidest), wide(s->width));
  check.that(s->line >= s->width - 1,
             "convStatesRef keeps %lld tokens in a line; weight needs at least %lld", wide(s->line),
             wide(s->width - 1));
  check.that(s->lines >= s->batch, "convStatesRef has %lld lines; there must be %lld",
             wide(s->lines), wide(s->batch));
  const int64_t weight[] = {s->width, s->dim}, states[] = {s->lines, s->line, s->dim};
  const int64_t bounds = s->batch + 1;
  check.shape("weight", a.weight, dense_layout(weight, 2));
  check.shape("convStatesRef", a.states, dense_layout(states, 3));
  check.shape("biasOptional", a.bias, dense_layout(&s->dim, 1));
  check.shape("queryStartLocOptional", a.starts, dense_layout(&bounds, 1));
  check.shape("y", a.y, layout_of(*a.x));
}

Check check_call(const StatesCall &a, StatesSizes *s) {
  Check check(a.op);
  const NamedTensor lists[] = {{"cacheIndicesOptional", a.cache},
                               {"initialStateModeOptional", a.mode},
                               {"numAcceptedTokensOptional", a.accepted}};
  check.required("x", a.x).required("weight", a.weight).required("convStatesRef", a.states);
  check.optional("biasOptional", a.bias).optional("queryStartLocOptional", a.starts);
  for (const NamedTensor &n : lists) check.optional(n.name, n.tensor);
  for (const NamedTensor &n : a.unused) check.optional(n.name, n.tensor);
  check.required_text("activation", a.activation).required("y", a.y);
  if (!check.ok() || check_chip(check, kRuntimeError) != 0) return check;
  check.tiling();
  check.dtype("x", a.x).dtype("weight", a.weight).dtype("convStatesRef", a.states);
  check.dtype("biasOptional", a.bias).dtype("queryStartLocOptional", a.starts).dtype("y", a.y);
  for (const NamedTensor &n : lists) check.dtype(n.name, n.tensor);
  for (const NamedTensor &n : a.unused) check.dtype(n.name, n.tensor);
  check.rank("x", a.x, 2, 3).rank("weight", a.weight, 2, 2);
  check.rank("convStatesRef", a.states, 3, 3);
  if (!check.ok()) return check;
  for (const NamedTensor &n : {NamedTensor{"weight", a.weight},
                               {"convStatesRef", a.states},
                               {"biasOptional", a.bias},
                               {"y", a.y}})
    if (n.tensor) check.same_dtype(n.name, n.tensor->dtype, "x", a.x->dtype);
  check_sizes(check, a, s);
  for (const NamedTensor &n : lists) check.shape(n.name, n.tensor, dense_layout(&s->batch, 1));
  for (const NamedTensor &n : a.unused) check.shape(n.name, n.tensor, dense_layout(&s->batch, 1));
  s->silu = std::strcmp(a.activation, "silu") == 0;
  check.that(s->silu || std::strcmp(a.activation, "none") == 0,
             "activation is \"%.40s\"; allowed: \"silu\", \"none\"", a.activation);
  return check;
}

struct StatesPlan {
  const char *op;
  bool update;
  size_t x, weight, states, bias, starts, cache, chosen, y;
  StatesSizes sizes;
  int64_t null_block;
};

struct Sequence {
  int64_t start = 0, length = 0;
  int64_t line = -1;    // -1: skipped, its results are 0
  int64_t offset = 0;   // the first token of the line that is history
  bool begins = false;  // without history
};

Status wrong(const StatesPlan &p, const char *name, int64_t at, int64_t value, int64_t least,
             int64_t most) {
  return fail(kKernelFault, "%s: %s[%lld] is %lld; allowed: %lld to %lld.", p.op, name, wide(at),
              wide(value), wide(least), wide(most));
}

// A fault names the number that leads nowhere.
Status find_sequences(PlanContext &c, const StatesPlan &p, std::vector<Sequence> *found) {
  const StatesSizes &s = p.sizes;
  const auto list = [&](size_t index, int64_t count) {
    return read_all<int64_t>(c, index, count, 0);
  };
  const auto starts = list(p.starts, s.batch + 1), cache = list(p.cache, s.batch),
             chosen = list(p.chosen, s.batch);
  const int64_t each = s.tokens / s.batch;
  found->resize(static_cast<size_t>(s.batch));
  for (int64_t b = 0; b < s.batch; ++b) {
    const auto i = static_cast<size_t>(b);
    Sequence &q = (*found)[i];
    const int64_t first = s.even ? b * each : starts[i],
                  end = s.even ? first + each : starts[i + 1];
    if (b == 0 && first != 0) return wrong(p, "queryStartLocOptional", 0, first, 0, 0);
    const int64_t least = b + 1 == s.batch ? s.tokens : first;
    if (end < least || end > s.tokens)
      return wrong(p, "queryStartLocOptional", b + 1, end, least, s.tokens);
    q.start = first, q.length = end - first;
    q.line = c.has(p.cache) ? cache[i] : b;
    if (c.has(p.cache) && cache[i] == p.null_block) q.line = -1;
    else if (q.line < 0 || q.line >= s.lines)
      return wrong(p, "cacheIndicesOptional", b, q.line, 0, s.lines - 1);
    // The tokens that were accepted, or whether there is a history.
    const int64_t most = p.update ? s.line - (s.width - 1) : 1;
    if (chosen[i] < 0 || chosen[i] > most)
      return wrong(p, p.update ? "numAcceptedTokensOptional" : "initialStateModeOptional", b,
                   chosen[i], 0, most);
    q.begins = !p.update && chosen[i] == 0;
    q.offset = p.update ? std::max<int64_t>(chosen[i] - 1, 0) : 0;
  }
  return 0;
}

// Some columns of one sequence.
class Piece {
 public:
  Piece(const RowSource<float> &x, const RowSource<float> &states, const StatesSizes &s,
        const Sequence &q, int64_t column, int64_t count)
      : x_(x), s_(s), q_(q), column_(column), count_(count), kept_(s.width - 1) {
    before_.assign(static_cast<size_t>(kept_ * count), 0.0f);
    for (int64_t r = 0; !q.begins && r < kept_; ++r)
      states.read((q.line * s.line + q.offset + r) * s.dim + column, count,
                  before_.data() + r * count);
  }

  // What a speculation may need again stands in front of its tokens; else the last tokens are kept.
  void keep(bool update, const RowTarget<float> &states) const {
    std::vector<float> values(static_cast<size_t>(count_));
    const int64_t first = update ? 1 : q_.length,
                  count = update ? std::min(kept_ - 1 + q_.length, s_.line) : kept_;
    for (int64_t r = 0; r < count; ++r) {
      row(first + r, values.data());
      states.write((q_.line * s_.line + r) * s_.dim + column_, count_, values.data());
    }
  }

  void convolve(const float *weight, const float *bias, const RowTarget<float> &y) const {
    const auto n = static_cast<size_t>(count_);
    std::vector<float> window(n * static_cast<size_t>(s_.width)), result(n);
    float *rows[kWidest];
    for (int64_t k = 0; k < s_.width; ++k) rows[k] = window.data() + k * count_;
    for (int64_t k = 0; k < kept_; ++k) row(k, rows[k]);
    for (int64_t i = 0; i < q_.length; ++i) {
      row(i + kept_, rows[kept_]);
      std::fill(result.begin(), result.end(), 0.0f);
      for (int64_t k = 0; k < s_.width; ++k) {
        const float *factor = weight + k * s_.dim + column_, *values = rows[k];
        for (size_t d = 0; d < n; ++d) result[d] += factor[d] * values[d];
      }
      for (size_t d = 0; d < n; ++d) result[d] += bias[column_ + static_cast<int64_t>(d)];
      if (s_.silu)
        for (size_t d = 0; d < n; ++d) result[d] = result[d] / (1.0f + std::exp(-result[d]));
      y.write((q_.start + i) * s_.dim + column_, count_, result.data());
      std::rotate(rows, rows + 1, rows + s_.width);
    }
  }

 private:
  // Row r of the history and the tokens behind it.
  void row(int64_t r, float *to) const {
    if (r < kept_) std::copy_n(before_.data() + r * count_, count_, to);
    else x_.read((q_.start + r - kept_) * s_.dim + column_, count_, to);
  }

  const RowSource<float> &x_;
  const StatesSizes &s_;
  const Sequence &q_;
  int64_t column_, count_, kept_;
  std::vector<float> before_;
};

Status run_states(PlanContext &c, const StatesPlan &p) {
  const StatesSizes &s = p.sizes;
  std::vector<Sequence> sequences;
  if (const Status status = find_sequences(c, p, &sequences)) return status;
  const View y = view_of(c.tensor(p.y)), kept = view_of(c.tensor(p.states));
  Operands operands;
  const RowSource<float> x(operands.safe(view_of(c.tensor(p.x)), {y, kept})), before(kept);
  const RowTarget<float> states(kept), to(y);
  const auto weight = read_all<float>(c, p.weight, s.width * s.dim, 0.0f),
             bias = read_all<float>(c, p.bias, s.dim, 0.0f);
  const std::vector<float> zeros(static_cast<size_t>(kColumnsAtOnce));
  // Each piece of columns goes through the sequences in order, as their lines may meet.
  parallel_for((s.dim + kColumnsAtOnce - 1) / kColumnsAtOnce, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t column = piece * kColumnsAtOnce,
                    count = std::min(kColumnsAtOnce, s.dim - column);
      for (const Sequence &q : sequences) {
        if (q.line < 0) {
          for (int64_t i = 0; i < q.length; ++i)
            to.write((q.start + i) * s.dim + column, count, zeros.data());
        } else if (q.length > 0) {
          const Piece part(x, before, s, q, column, count);
          part.keep(p.update, states);
          part.convolve(weight.data(), bias.data(), to);
        }
      }
    }
  });
  return 0;
}

Status plan_states(const StatesCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  StatesPlan p{};
  const Check check = check_call(a, &p.sizes);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  PlanBuilder plan(a.op);
  p.op = a.op, p.update = a.update, p.null_block = a.null_block;
  p.x = plan.input(a.x), p.weight = plan.input(a.weight), p.states = plan.in_place(a.states);
  p.bias = plan.input(a.bias);
  p.starts = p.sizes.even ? plan.unused(a.starts) : plan.input(a.starts);
  p.cache = plan.input(a.cache);
  p.chosen = plan.input(a.update ? a.accepted : a.mode);
  for (const NamedTensor &n : a.unused)
    if (n.name != nullptr) plan.unused(n.tensor);
  p.y = plan.output(a.y);
  const auto kept = std::make_shared<const StatesPlan>(p);
  return plan.finish([kept](PlanContext &c) { return run_states(c, *kept); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(CausalConv1dFn,
             (const aclTensor *x, const aclTensor *weight, aclTensor *convStatesRef,
              const aclTensor *biasOptional, const aclTensor *queryStartLocOptional,
              const aclTensor *cacheIndicesOptional, const aclTensor *initialStateModeOptional,
              const aclTensor *blockIdxFirstScheduledTokenOptional,
              const aclTensor *blockIdxLastScheduledTokenOptional,
              const aclTensor *initialStateIdxOptional, const aclTensor *numComputedTokensOptional,
              const char *activation, int64_t nullBlockId, int64_t, aclTensor *y)) {
  return emu::plan_states(
      {"aclnnCausalConv1dFn",
       false,
       x,
       weight,
       convStatesRef,
       biasOptional,
       queryStartLocOptional,
       cacheIndicesOptional,
       initialStateModeOptional,
       nullptr,
       {{"blockIdxFirstScheduledTokenOptional", blockIdxFirstScheduledTokenOptional},
        {"blockIdxLastScheduledTokenOptional", blockIdxLastScheduledTokenOptional},
        {"initialStateIdxOptional", initialStateIdxOptional},
        {"numComputedTokensOptional", numComputedTokensOptional}},
       activation,
       nullBlockId,
       y},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(CausalConv1dUpdate,
             (const aclTensor *x, const aclTensor *weight, aclTensor *convStatesRef,
              const aclTensor *biasOptional, const aclTensor *queryStartLocOptional,
              const aclTensor *cacheIndicesOptional, const aclTensor *numAcceptedTokensOptional,
              const aclTensor *blockIdxLastScheduledTokenOptional,
              const aclTensor *initialStateIdxOptional, const char *activation, int64_t nullBlockId,
              int64_t, aclTensor *y)) {
  return emu::plan_states(
      {"aclnnCausalConv1dUpdate",
       true,
       x,
       weight,
       convStatesRef,
       biasOptional,
       queryStartLocOptional,
       cacheIndicesOptional,
       nullptr,
       numAcceptedTokensOptional,
       {{"blockIdxLastScheduledTokenOptional", blockIdxLastScheduledTokenOptional},
        {"initialStateIdxOptional", initialStateIdxOptional},
        {nullptr, nullptr},
        {nullptr, nullptr}},
       activation,
       nullBlockId,
       y},
      workspaceSize, executor);
}
EMU_CATCH
