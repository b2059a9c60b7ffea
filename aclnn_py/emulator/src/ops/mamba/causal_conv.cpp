// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// A causal convolution of short width over the tokens of each sequence, whose last tokens of the
// call before are kept in lines of a cache. With a line per block of the sequence the lines of the
// blocks that are completed are filled too.
#include "aclnnop/attention.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kWidth = 3, kKept = kWidth - 1;
constexpr int64_t kColumnsAtOnce = 512;

struct ConvArguments {
  const char *op;
  const aclTensor *x;
  const char *x_name;
  const aclTensor *weight, *states, *starts, *cache, *mode, *bias, *accepted, *computed, *first,
      *last, *initial;
  int64_t pad, residual, block, conv_mode;
  const aclTensor *y;  // null: x is written
};

struct ConvSizes {
  int64_t batch, tokens, dim, lines, line;  // `line` tokens are kept per line
  int64_t blocks;                           // lines per sequence, 0 where it has one
  bool even;                                // x is (batch, tokens / batch, dim)
};

void check_range(Check &check, const char *what, int64_t value, int64_t least, int64_t most) {
  check.that(value >= least && value <= most, "%s is %lld; allowed: %lld to %lld", what,
             static_cast<long long>(value), static_cast<long long>(least),
             static_cast<long long>(most));
}

void check_sizes(Check &check, const ConvArguments &a, ConvSizes *s) {
  const size_t rank = a.x->rank();
  s->even = rank == 3;
  s->dim = a.x->shape[rank - 1];
  s->tokens = count_of(a.x->shape.data(), rank - 1);
  if (!s->even && a.starts == nullptr) {
    check.that(false, "queryStartLoc is null; %s of 2 dimensions needs it", a.x_name);
    return;
  }
  s->batch = s->even ? a.x->shape[0] : a.starts->shape[0] - 1;
  check_range(check, "the number of sequences", s->batch, 1, 256);
  if (s->even) check_range(check, "the second dimension of x", a.x->shape[1], 1, 8);
  else check_range(check, "the first dimension of x", s->tokens, s->batch, int64_t{1} << 20);
  check_range(check, "the last dimension of x", s->dim, 64, 16384);
  check.that(s->dim % 16 == 0, "%s has a last dimension of %lld; it must be a multiple of 16",
             a.x_name, static_cast<long long>(s->dim));
  s->lines = a.states->shape[0], s->line = a.states->shape[1];
  check_range(check, "the second dimension of convStatesRef", s->line, kKept, kKept + 7);
  const int64_t needed = std::max(s->batch, a.cache ? a.cache->numel() : 0);
  check.that(s->lines >= needed, "convStatesRef has %lld lines; there must be %lld",
             static_cast<long long>(s->lines), static_cast<long long>(needed));
  s->blocks = a.cache && a.cache->rank() == 2 ? a.cache->shape[1] : 0;
}

Check check_conv(const ConvArguments &a, ConvSizes *s) {
  Check check(a.op);
  check.required(a.x_name, a.x).required("weight", a.weight).required("convStatesRef", a.states);
  check.optional("queryStartLoc", a.starts).optional("cacheIndices", a.cache);
  check.optional("initialStateMode", a.mode).optional("bias", a.bias);
  check.optional("numAcceptedTokens", a.accepted).optional("numComputedTokens", a.computed);
  check.optional("blockIdxFirstScheduledToken", a.first);
  check.optional("blockIdxLastScheduledToken", a.last).optional("initialStateIdx", a.initial);
  if (a.y) check.required("y", a.y);
  if (!check.ok() || check_chip(check, kRuntimeError) != 0) return check;
  check.tiling();
  check.dtype(a.x_name, a.x).dtype("weight", a.weight).dtype("convStatesRef", a.states);
  check.dtype("bias", a.bias).dtype("y", a.y);
  struct Named {
    const char *name;
    const aclTensor *tensor;
  };
  const Named numbers[] = {{"queryStartLoc", a.starts},
                           {"cacheIndices", a.cache},
                           {"initialStateMode", a.mode},
                           {"numAcceptedTokens", a.accepted},
                           {"numComputedTokens", a.computed},
                           {"blockIdxFirstScheduledToken", a.first},
                           {"blockIdxLastScheduledToken", a.last},
                           {"initialStateIdx", a.initial}};
  for (const Named &n : numbers) check.dtype(n.name, n.tensor);
  check.rank(a.x_name, a.x, 2, 3).rank("convStatesRef", a.states, 3, 3);
  if (a.starts) check.rank("queryStartLoc", a.starts, 1, 1);
  if (a.cache) check.rank("cacheIndices", a.cache, 1, 2);
  if (!check.ok()) return check;
  for (const Named &n : {Named{"weight", a.weight}, {"convStatesRef", a.states}, {"y", a.y}})
    if (n.tensor) check.same_dtype(n.name, n.tensor->dtype, a.x_name, a.x->dtype);
  check_sizes(check, a, s);
  if (!check.ok()) return check;
  const int64_t weight[] = {kWidth, s->dim}, states[] = {s->lines, s->line, s->dim};
  const int64_t bounds = s->batch + 1, cache[] = {s->batch, s->blocks};
  check.shape("weight", a.weight, dense_layout(weight, 2));
  check.shape("convStatesRef", a.states, dense_layout(states, 3));
  check.shape("queryStartLoc", a.starts, dense_layout(&bounds, 1));
  if (a.cache) check.shape("cacheIndices", a.cache, dense_layout(cache, s->blocks ? 2 : 1));
  for (const Named &n : numbers) {
    if (n.tensor == a.starts || n.tensor == a.cache || n.tensor == a.mode) continue;
    check.shape(n.name, n.tensor, dense_layout(&s->batch, 1));
  }
  check.shape("y", a.y, layout_of(*a.x));
  if (s->blocks) {
    check_range(check, "the second dimension of cacheIndices", s->blocks, 1, 1024);
    for (const int i : {4, 5, 6, 7}) {
      check.that(numbers[i].tensor != nullptr, "%s is null; cacheIndices of 2 dimensions needs it",
                 numbers[i].name);
    }
    check.that(a.block >= 2, "blockSize is %lld; it must be at least 2",
               static_cast<long long>(a.block));
  }
  check_range(check, "residualConnection", a.residual, 0, 1);
  check_range(check, "convMode", a.conv_mode, 0, 1);
  check.that(a.conv_mode == 0 || a.computed, "numComputedTokens is null; convMode 1 needs it");
  return check;
}

struct ConvPlan {
  const char *op;
  size_t x, weight, states, starts, cache, accepted, computed, first, last, initial, y;
  ConvSizes sizes;
  int64_t pad, block;
  bool residual, resets;
};

// A line that is filled from two of the rows a sequence sees, beginning with `row`.
struct Fill {
  int64_t line, row;
};

// What is done for one sequence. Its rows are those kept in the line it begins with, or zeros, and
// its tokens behind them.
struct Sequence {
  int64_t start = 0, length = 0;
  bool skipped = false;
  int64_t from = -1;               // the line it begins with; -1: zeros
  int64_t kept = kKept, skip = 0;  // rows before the tokens; rows that the convolution skips
  int64_t to = 0;                  // the line that keeps its last rows
  int64_t reset = 0;               // results at its beginning that are 0
  std::vector<Fill> fills;
};

class Sequences {
 public:
  Sequences(PlanContext &c, const ConvPlan &p) : p_(p), s_(p.sizes) {
    const auto all = [&](size_t index, int64_t count, int64_t fallback) {
      return read_all<int64_t>(c, index, count, fallback);
    };
    if (!s_.even) bounds_ = all(p.starts, s_.batch + 1, 0);
    cache_ = all(p.cache, s_.batch * std::max<int64_t>(1, s_.blocks), 0);
    accepted_ = all(p.accepted, s_.batch, 0), computed_ = all(p.computed, s_.batch, -1);
    first_ = all(p.first, s_.batch, 0), last_ = all(p.last, s_.batch, 0);
    initial_ = all(p.initial, s_.batch, 0);
    has_cache_ = c.has(p.cache);
  }

  // A fault names the number that leads nowhere.
  Status find(std::vector<Sequence> *found) const {
    found->resize(static_cast<size_t>(s_.batch));
    for (int64_t b = 0; b < s_.batch; ++b) {
      if (const Status status = one(b, &(*found)[static_cast<size_t>(b)])) return status;
    }
    return 0;
  }

 private:
  Status wrong(const char *name, int64_t b, int64_t value, int64_t least, int64_t most) const {
    return fail(kKernelFault, "%s: %s[%lld] is %lld; allowed: %lld to %lld.", p_.op, name,
                static_cast<long long>(b), static_cast<long long>(value),
                static_cast<long long>(least), static_cast<long long>(most));
  }

  Status line(int64_t b, int64_t block, int64_t *found) const {
    const int64_t place = s_.blocks ? b * s_.blocks + block : b;
    *found = has_cache_ ? cache_[static_cast<size_t>(place)] : b;
    if (*found == p_.pad || (*found >= 0 && *found < s_.lines)) return 0;
    return wrong("cacheIndices", place, *found, 0, s_.lines - 1);
  }

  Status one(int64_t b, Sequence *q) const {
    const auto i = static_cast<size_t>(b);
    const int64_t most = s_.even ? 0 : s_.tokens;
    q->start = s_.even ? b * (s_.tokens / s_.batch) : bounds_[i];
    const int64_t end = s_.even ? q->start + s_.tokens / s_.batch : bounds_[i + 1];
    if (!s_.even && (q->start < 0 || q->start > most))
      return wrong("queryStartLoc", b, q->start, 0, most);
    if (!s_.even && (end < q->start || end > most))
      return wrong("queryStartLoc", b + 1, end, q->start, most);
    q->length = end - q->start;
    if (s_.blocks) {
      for (const auto &[name, value] :
           {std::pair<const char *, int64_t>{"initialStateIdx", initial_[i]},
            {"blockIdxLastScheduledToken", last_[i]}})
        if (value < 0 || value >= s_.blocks) return wrong(name, b, value, 0, s_.blocks - 1);
      if (first_[i] < 0 || first_[i] > last_[i])
        return wrong("blockIdxFirstScheduledToken", b, first_[i], 0, last_[i]);
    }
    int64_t from = 0;
    if (const Status status = line(b, initial_[i], &from)) return status;
    if (const Status status = line(b, last_[i], &q->to)) return status;
    q->skipped = (has_cache_ && (from == p_.pad || q->to == p_.pad)) || q->length == 0;
    if (q->skipped) return 0;
    if (computed_[i] != 0) {
      q->from = from;
      q->skip = accepted_[i] > 0 ? accepted_[i] - 1 : s_.line - kKept;
      if (accepted_[i] < 0 || q->skip > s_.line - kKept)
        return wrong("numAcceptedTokens", b, accepted_[i], 0, s_.line - kKept + 1);
      q->kept = q->skip + kKept;
    }
    if (p_.resets) q->reset = std::clamp<int64_t>(kKept - computed_[i], 0, q->length);
    return s_.blocks ? fills(b, q) : 0;
  }

  // The blocks that end within the tokens of the call.
  Status fills(int64_t b, Sequence *q) const {
    const auto i = static_cast<size_t>(b);
    const int64_t block = p_.block, rest = block - computed_[i] % block;
    const int64_t behind = ((q->length - rest) % block + block) % block;
    const int64_t full = q->length - behind - (behind == 0 ? block : 0);
    const int64_t count = last_[i] - first_[i];
    for (int64_t chunk = 0; chunk < count; ++chunk) {
      const int64_t row = full - (count - chunk - 1) * block;
      int64_t target = 0;
      if (const Status status = line(b, first_[i] + chunk, &target)) return status;
      if (row < 0 || row > q->length) {
        return fail(kKernelFault,
                    "%s: sequence %lld completes no block at its row %lld; check "
                    "blockIdxFirstScheduledToken, blockIdxLastScheduledToken and "
                    "numComputedTokens.",
                    p_.op, static_cast<long long>(b), static_cast<long long>(row));
      }
      if (target != p_.pad) q->fills.push_back({target, row});
    }
    return 0;
  }

  const ConvPlan &p_;
  const ConvSizes &s_;
  std::vector<int64_t> bounds_, cache_, accepted_, computed_, first_, last_, initial_;
  bool has_cache_ = false;
};

// Some columns of one sequence.
class Columns {
 public:
  Columns(const RowSource<float> &x, const RowSource<float> &states, const ConvSizes &s,
          const Sequence &q, int64_t column, int64_t count)
      : x_(x), s_(s), q_(q), column_(column), count_(count) {
    before_.assign(static_cast<size_t>(q.kept * count), 0.0f);
    for (int64_t r = 0; q.from >= 0 && r < q.kept; ++r)
      states.read((q.from * s.line + r) * s.dim + column, count, before_.data() + r * count);
  }

  // Row r of those kept and the tokens behind them.
  void row(int64_t r, float *to) const {
    if (r < q_.kept) std::copy_n(before_.data() + r * count_, count_, to);
    else x_.read((q_.start + r - q_.kept) * s_.dim + column_, count_, to);
  }

  void keep(const RowTarget<float> &states) const {
    std::vector<float> values(static_cast<size_t>(count_));
    const auto copy = [&](int64_t from, int64_t line, int64_t place) {
      row(from, values.data());
      states.write((line * s_.line + place) * s_.dim + column_, count_, values.data());
    };
    const int64_t length = q_.kept + q_.length, kept = std::min(s_.line, length);
    for (int64_t i = 0; i < kept; ++i) copy(length - kept + i, q_.to, s_.line - kept + i);
    for (const Fill &f : q_.fills)
      for (int64_t j = 0; j < kKept; ++j) copy(q_.skip + f.row + j, f.line, s_.line - kKept + j);
  }

  void convolve(const float *weight, bool residual, const RowTarget<float> &y) const {
    const auto n = static_cast<size_t>(count_);
    std::vector<float> window(n * kWidth), result(n);
    float *rows[kWidth];
    for (int64_t k = 0; k < kWidth; ++k) rows[k] = window.data() + k * count_;
    for (int64_t k = 0; k < kKept; ++k) row(q_.skip + k, rows[k]);
    for (int64_t i = 0; i < q_.length; ++i) {
      row(q_.skip + i + kKept, rows[kKept]);
      for (size_t d = 0; d < n; ++d) {
        float sum = 0.0f;
        for (int64_t k = 0; k < kWidth; ++k)
          sum += weight[static_cast<size_t>(k * s_.dim + column_) + d] * rows[k][d];
        result[d] = (i < q_.reset ? 0.0f : sum) + (residual ? rows[kKept][d] : 0.0f);
      }
      y.write((q_.start + i) * s_.dim + column_, count_, result.data());
      std::rotate(rows, rows + 1, rows + kWidth);
    }
  }

 private:
  const RowSource<float> &x_;
  const ConvSizes &s_;
  const Sequence &q_;
  int64_t column_, count_;
  std::vector<float> before_;
};

Status run_conv(PlanContext &c, const ConvPlan &p) {
  const ConvSizes &s = p.sizes;
  std::vector<Sequence> sequences;
  if (const Status status = Sequences(c, p).find(&sequences)) return status;
  const View y = view_of(c.tensor(p.y)), kept = view_of(c.tensor(p.states));
  Operands operands;
  const RowSource<float> x(operands.safe(view_of(c.tensor(p.x)), {y, kept}));
  const RowSource<float> before(kept);
  const RowTarget<float> states(kept), to(y);
  const auto weight = read_all<float>(c, p.weight, kWidth * s.dim, 0.0f);
  const int64_t pieces = (s.dim + kColumnsAtOnce - 1) / kColumnsAtOnce;
  // Each piece of columns goes through the sequences in order, as their lines may meet.
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t column = piece * kColumnsAtOnce,
                    count = std::min(kColumnsAtOnce, s.dim - column);
      for (const Sequence &q : sequences) {
        if (q.skipped) continue;
        const Columns columns(x, before, s, q, column, count);
        columns.keep(states);
        columns.convolve(weight.data(), p.residual, to);
      }
    }
  });
  return 0;
}

Status plan_conv(const ConvArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  ConvPlan p{};
  const Check check = check_conv(a, &p.sizes);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  PlanBuilder plan(a.op);
  p.op = a.op;
  p.x = a.y ? plan.input(a.x) : plan.in_place(a.x);
  p.weight = plan.input(a.weight), p.states = plan.in_place(a.states);
  p.starts = p.sizes.even ? plan.unused(a.starts) : plan.input(a.starts);
  p.cache = plan.input(a.cache);
  plan.unused(a.mode);
  plan.unused(a.bias);
  p.accepted = plan.input(a.accepted), p.computed = plan.input(a.computed);
  p.first = plan.input(a.first), p.last = plan.input(a.last), p.initial = plan.input(a.initial);
  p.y = a.y ? plan.output(a.y) : p.x;
  p.pad = a.pad, p.block = a.block;
  p.residual = a.residual != 0, p.resets = a.conv_mode == 1;
  const auto kept = std::make_shared<const ConvPlan>(p);
  return plan.finish([kept](PlanContext &c) { return run_conv(c, *kept); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(FusedCausalConv1d,
             (const aclTensor *x, const aclTensor *weight, aclTensor *convStatesRef,
              const aclTensor *queryStartLoc, const aclTensor *cacheIndices,
              const aclTensor *initialStateMode, const aclTensor *bias,
              const aclTensor *numAcceptedTokens, const aclTensor *numComputedTokens,
              const aclTensor *blockIdxFirstScheduledToken,
              const aclTensor *blockIdxLastScheduledToken, const aclTensor *initialStateIdx,
              int64_t, int64_t padSlotId, int64_t, int64_t, int64_t residualConnection,
              int64_t blockSize, int64_t convMode, aclTensor *y)) {
  constexpr const char *op = "aclnnFusedCausalConv1d";
  emu::Check check(op);
  check.required("y", y);
  if (!check.ok()) return check.status();
  return emu::plan_conv({op, x, "x", weight, convStatesRef, queryStartLoc, cacheIndices,
                         initialStateMode, bias, numAcceptedTokens, numComputedTokens,
                         blockIdxFirstScheduledToken, blockIdxLastScheduledToken, initialStateIdx,
                         padSlotId, residualConnection, blockSize, convMode, y},
                        workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceFusedCausalConv1d,
             (aclTensor *xRef, const aclTensor *weight, aclTensor *convStatesRef,
              const aclTensor *queryStartLoc, const aclTensor *cacheIndices,
              const aclTensor *initialStateMode, const aclTensor *bias,
              const aclTensor *numAcceptedTokens, const aclTensor *numComputedTokens,
              const aclTensor *blockIdxFirstScheduledToken,
              const aclTensor *blockIdxLastScheduledToken, const aclTensor *initialStateIdx,
              int64_t, int64_t padSlotId, int64_t, int64_t, int64_t residualConnection,
              int64_t blockSize, int64_t convMode)) {
  return emu::plan_conv(
      {"aclnnInplaceFusedCausalConv1d", xRef, "xRef", weight, convStatesRef, queryStartLoc,
       cacheIndices, initialStateMode, bias, numAcceptedTokens, numComputedTokens,
       blockIdxFirstScheduledToken, blockIdxLastScheduledToken, initialStateIdx, padSlotId,
       residualConnection, blockSize, convMode, nullptr},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaskedCausalConv1d, (const aclTensor *x, const aclTensor *weight,
                                  const aclTensor *maskOptional, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMaskedCausalConv1d");
  check.required("x", x).required("weight", weight).optional("maskOptional", maskOptional);
  check.required("out", out);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  check.dtype("x", x).dtype("weight", weight).dtype("maskOptional", maskOptional).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("weight", weight->dtype, "x", x->dtype);
  check.same_dtype("out", out->dtype, "x", x->dtype).tiling();
  check.rank("x", x, 3, 3);
  if (!check.ok()) return check.status();
  const int64_t length = x->shape[0], batch = x->shape[1], dim = x->shape[2];
  check_range(check, "the number of tokens of x", count_of(x->shape.data(), 2), 1, 512 * 1024);
  check_range(check, "the last dimension of x", dim, 384, 24576);
  check.that(dim % 64 == 0, "x has a last dimension of %lld; it must be a multiple of 64",
             static_cast<long long>(dim));
  const int64_t weights[] = {kWidth, dim}, masks[] = {batch, length};
  check.shape("weight", weight, dense_layout(weights, 2));
  check.shape("maskOptional", maskOptional, dense_layout(masks, 2));
  check.shape("out", out, layout_of(*x));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(x), w = plan.input(weight), hide = plan.input(maskOptional),
               to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to)), source = view_of(c.tensor(from));
        // A row is read again for the two rows behind it.
        std::unique_ptr<Snapshot> kept;
        if (source.data == result.data || clash(source, result))
          kept = std::make_unique<Snapshot>(source);
        const RowSource<float> rows(kept ? kept->view() : source);
        const RowTarget<float> target(result);
        const auto factors = read_all<float>(c, w, kWidth * dim, 0.0f);
        const auto mask = read_all<int32_t>(c, hide, batch * length, 1);
        for_each_row<float>(length * batch, dim, 2, [&](int64_t row, float *sum) {
          const int64_t i = row / batch, j = row % batch;
          float *values = sum + dim;
          std::fill(sum, sum + dim, 0.0f);
          const bool shown = mask[static_cast<size_t>(j * length + i)] != 0;
          for (int64_t k = 0; shown && k < kWidth && k <= i; ++k) {
            rows.read((row - k * batch) * dim, dim, values);
            const float *factor = factors.data() + (kWidth - 1 - k) * dim;
            for (int64_t d = 0; d < dim; ++d) sum[d] += values[d] * factor[d];
          }
          target.write(row * dim, dim, sum);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaskedCausalConv1dBackward,
             (const aclTensor *gradY, const aclTensor *x, const aclTensor *weight,
              const aclTensor *maskOptional, aclTensor *gradXOut, aclTensor *gradWeightOut)) {
  using namespace emu;
  constexpr int64_t kMostBatches = 32;
  Check check("aclnnMaskedCausalConv1dBackward");
  const std::pair<const char *, const aclTensor *> floats[] = {{"gradY", gradY},
                                                               {"x", x},
                                                               {"weight", weight},
                                                               {"gradXOut", gradXOut},
                                                               {"gradWeightOut", gradWeightOut}};
  for (const auto &[name, tensor] : floats) check.required(name, tensor);
  check.optional("maskOptional", maskOptional);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  for (const auto &[name, tensor] : floats) {
    check.dtype(name, tensor);
    if (check.ok()) check.same_dtype(name, tensor->dtype, "gradY", gradY->dtype);
  }
  check.dtype("maskOptional", maskOptional).tiling();
  check.rank("x", x, 3, 3);
  if (!check.ok()) return check.status();
  const int64_t length = x->shape[0], batch = x->shape[1], dim = x->shape[2];
  check_range(check, "the second dimension of x", batch, 1, kMostBatches);
  check_range(check, "the number of tokens of x", length * batch, 1, 512 * 1024);
  check_range(check, "the last dimension of x", dim, 384, 24576);
  check.that(dim % 64 == 0, "x has a last dimension of %lld; it must be a multiple of 64",
             static_cast<long long>(dim));
  const int64_t weights[] = {kWidth, dim}, masks[] = {batch, length};
  check.shape("gradY", gradY, layout_of(*x)).shape("weight", weight, dense_layout(weights, 2));
  check.shape("maskOptional", maskOptional, dense_layout(masks, 2));
  check.shape("gradXOut", gradXOut, layout_of(*x));
  check.shape("gradWeightOut", gradWeightOut, layout_of(*weight));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t slopes = plan.input(gradY), from = plan.input(x), w = plan.input(weight),
               hide = plan.input(maskOptional), to = plan.output(gradXOut),
               to_weight = plan.output(gradWeightOut);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to)), sums = view_of(c.tensor(to_weight));
        Operands operands;
        const RowSource<float> dy(operands.safe(view_of(c.tensor(slopes)), {result, sums}));
        const RowSource<float> rows(operands.safe(view_of(c.tensor(from)), {result, sums}));
        const RowTarget<float> target(result), totals(sums);
        const auto factors = read_all<float>(c, w, kWidth * dim, 0.0f);
        const auto mask = read_all<int32_t>(c, hide, batch * length, 1);
        const int64_t pieces = (dim + kColumnsAtOnce - 1) / kColumnsAtOnce;
        parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
          for (int64_t piece = begin; piece < end; ++piece) {
            const int64_t column = piece * kColumnsAtOnce,
                          count = std::min(kColumnsAtOnce, dim - column);
            const auto n = static_cast<size_t>(count);
            std::vector<double> along(n * kWidth, 0.0);
            std::vector<float> slope(n * kWidth), values(n), sum(n);
            for (int64_t row = 0; row < length * batch; ++row) {
              const int64_t i = row / batch, j = row % batch;
              rows.read(row * dim + column, count, values.data());
              std::fill(sum.begin(), sum.end(), 0.0f);
              // The results that this token has a part in: its own and the two behind it.
              for (int64_t k = 0; k < kWidth && i + k < length; ++k) {
                if (mask[static_cast<size_t>(j * length + i + k)] == 0) continue;
                const int64_t tap = kWidth - 1 - k;
                float *g = slope.data() + k * count;
                dy.read((row + k * batch) * dim + column, count, g);
                const float *factor = factors.data() + tap * dim + column;
                double *total = along.data() + tap * count;
                for (int64_t d = 0; d < count; ++d) {
                  sum[static_cast<size_t>(d)] += g[d] * factor[d];
                  total[d] += static_cast<double>(g[d]) * values[static_cast<size_t>(d)];
                }
              }
              target.write(row * dim + column, count, sum.data());
            }
            for (int64_t tap = 0; tap < kWidth; ++tap) {
              for (size_t d = 0; d < n; ++d)
                sum[d] = static_cast<float>(along[static_cast<size_t>(tap) * n + d]);
              totals.write(tap * dim + column, count, sum.data());
            }
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
