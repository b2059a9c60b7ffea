// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The loss of a connectionist temporal classification and its gradient. A target is spelled with
// blanks around its labels; alpha is the logarithm of the probability of all paths up to a time
// and a place in the spelling, beta that of the paths from there on. Both are float64. The gradient
// is that of the logits behind a log_softmax: the probability of each class less its share of the
// paths.
#include <cmath>
#include <limits>

#include "aclnnop/loss.h"
#include "core/chip.h"
#include "ops/index/addresses.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b)) without an overflow.
double log_sum(double a, double b) {
  const double high = a > b ? a : b;
  if (high == kNever || std::isnan(a) || std::isnan(b)) return a + b == kNever ? kNever : a + b;
  return high + std::log1p(std::exp((a > b ? b : a) - high));
}

struct CtcArguments {
  const char *op;
  const aclTensor *logs, *targets;
  const aclIntArray *times, *lengths;
  const char *lengths_name;
  int64_t blank;
  bool zero;
};

// Times, sequences and classes; sequences is 1 for logarithms without that dimension.
struct CtcSizes {
  int64_t times, batch, classes, longest = 0;
};

void check_lengths(Check &check, const CtcArguments &a, CtcSizes *s) {
  const auto &times = a.times->values, &lengths = a.lengths->values;
  const auto batch = static_cast<size_t>(s->batch);
  check.that(times.size() == batch, "inputLengths has %zu entries; logProbs has %zu sequences",
             times.size(), batch);
  check.that(lengths.size() == batch, "%s has %zu entries; logProbs has %zu sequences",
             a.lengths_name, lengths.size(), batch);
  Checked sum(0);
  for (size_t b = 0; check.ok() && b < batch; ++b) {
    check.that(times[b] >= 0 && times[b] <= s->times,
               "inputLengths[%zu] is %lld; allowed: 0 to %lld", b, static_cast<long long>(times[b]),
               static_cast<long long>(s->times));
    check.that(lengths[b] >= 0, "%s[%zu] is %lld; it must not be negative", a.lengths_name, b,
               static_cast<long long>(lengths[b]));
    s->longest = std::max(s->longest, lengths[b]);
    sum += lengths[b];
  }
  check.size(a.lengths_name, Checked(s->longest) * 2 + 8);
  const int64_t total = check.size(a.lengths_name, sum);
  if (!check.ok()) return;
  if (a.targets->rank() == 1) {
    check.shape("targets", a.targets, dense_layout(&total, 1));
    return;
  }
  check.that(a.targets->shape[0] == s->batch && a.targets->shape[1] >= s->longest,
             "targets has shape %s; expected (%lld, %lld or more)",
             shape_text(layout_of(*a.targets)).c_str(), static_cast<long long>(s->batch),
             static_cast<long long>(s->longest));
}

// Rank, classes, lengths and labels; nulls and dtypes were checked before.
void check_ctc(Check &check, const CtcArguments &a, int lowest, CtcSizes *s) {
  check.rank("logProbs", a.logs, lowest, 3).rank("targets", a.targets, 1, 2);
  if (!check.ok()) return;
  const Dims &shape = a.logs->shape;
  *s = {shape[0], shape.size() == 3 ? shape[1] : 1, shape.back(), 0};
  check.that(s->classes > 0, "logProbs has no classes");
  check.that(a.blank >= 0 && a.blank < s->classes, "blank is %lld; allowed: 0 to %lld",
             static_cast<long long>(a.blank), static_cast<long long>(s->classes - 1));
  check_lengths(check, a, s);
}

// One sequence: its labels with blanks around each, and the logarithms of its times.
class Spelling {
 public:
  Spelling(const int64_t *labels, int64_t length, int64_t blank)
      : spelled_(static_cast<size_t>(2 * length + 1), blank) {
    for (int64_t i = 0; i < length; ++i) spelled_[static_cast<size_t>(2 * i + 1)] = labels[i];
  }
  int64_t size() const { return static_cast<int64_t>(spelled_.size()); }
  int64_t label(int64_t place) const { return spelled_[static_cast<size_t>(place)]; }
  // Whether a path may leave out the blank between two places: not between equal labels.
  bool skips(int64_t from, int64_t to) const {
    return from >= 0 && to < size() && label(from) != label(to) && to % 2 == 1;
  }

 private:
  std::vector<int64_t> spelled_;
};

// The labels of each sequence behind each other, and where each begins.
struct Labels {
  std::vector<int64_t> values, starts;

  Labels(const View &targets, const std::vector<int64_t> &lengths, int64_t classes,
         IndexFault &fault)
      : values(static_cast<size_t>(targets.count())) {
    RowSource<int64_t>(targets).read(0, targets.count(), values.data());
    const bool padded = targets.layout.rank == 2;
    int64_t start = 0;
    for (const int64_t length : lengths) {
      starts.push_back(start);
      for (int64_t i = start; i < start + length; ++i) {
        const int64_t one = values[static_cast<size_t>(i)];
        if (one < 0 || one >= classes) fault.report(one, classes);
      }
      start += padded ? targets.layout.shape[1] : length;
    }
  }
  const int64_t *of(int64_t sequence) const {
    return values.data() + starts[static_cast<size_t>(sequence)];
  }
};

// Alpha of one sequence, row after row of `stride` values.
void forward_paths(const double *logs, int64_t times, int64_t step, const Spelling &s,
                   double *alpha, int64_t stride) {
  for (int64_t t = 0; t < times; ++t) {
    const double *now = logs + t * step, *before = alpha + (t - 1) * stride;
    double *row = alpha + t * stride;
    for (int64_t p = 0; p < s.size(); ++p) {
      double paths = kNever;
      if (t == 0) {
        paths = p < 2 ? 0.0 : kNever;
      } else {
        paths = before[p];
        if (p > 0) paths = log_sum(paths, before[p - 1]);
        if (s.skips(p - 2, p)) paths = log_sum(paths, before[p - 2]);
      }
      row[p] = paths + now[s.label(p)];
    }
  }
}

// Beta at each place for the last time, then for each earlier one in turn; visit(t, beta).
template <class F>
void backward_paths(const double *logs, int64_t times, int64_t step, const Spelling &s, F visit) {
  std::vector<double> beta(static_cast<size_t>(s.size())), next(beta.size());
  for (int64_t t = times - 1; t >= 0; --t) {
    const double *now = logs + t * step;
    for (int64_t p = 0; p < s.size(); ++p) {
      const auto at = static_cast<size_t>(p);
      double paths = kNever;
      if (t == times - 1) {
        paths = p >= s.size() - 2 ? 0.0 : kNever;
      } else {
        paths = next[at];
        if (p + 1 < s.size()) paths = log_sum(paths, next[at + 1]);
        if (s.skips(p, p + 2)) paths = log_sum(paths, next[at + 2]);
      }
      beta[at] = paths + now[s.label(p)];
    }
    visit(t, beta);
    beta.swap(next);
  }
}

// The gradient at one time. Alpha and beta both hold the probability of their own label.
void gradient_at(const Spelling &s, const std::vector<double> &alpha,
                 const std::vector<double> &beta, double loss, double incoming, const double *now,
                 int64_t classes, double *slope) {
  std::fill(slope, slope + classes, kNever);
  for (int64_t p = 0; p < s.size(); ++p) {
    double &paths = slope[s.label(p)];
    paths = log_sum(paths, alpha[static_cast<size_t>(p)] + beta[static_cast<size_t>(p)]);
  }
  for (int64_t k = 0; k < classes; ++k)
    slope[k] = (std::exp(now[k]) - std::exp(slope[k] + loss - now[k])) * incoming;
}

// The logarithms as (sequence, time, class).
View by_sequence(View logs) {
  Layout moved;
  const Layout &l = logs.layout;
  if (l.rank == 3) moved.push(l.shape[1], l.stride[1]);
  else moved.push(1, 0);
  moved.push(l.shape[0], l.stride[0]);
  moved.push(l.shape[l.rank - 1], l.stride[l.rank - 1]);
  logs.layout = moved;
  return logs;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(CtcLoss,
             (const aclTensor *logProbs, const aclTensor *targets, const aclIntArray *inputLengths,
              const aclIntArray *targetlengths, int64_t blank, bool zeroInfinity,
              aclTensor *negLogLikelihoodOut, aclTensor *logAlphaOut)) {
  using namespace emu;
  const CtcArguments a{"aclnnCtcLoss", logProbs,        targets, inputLengths,
                       targetlengths,  "targetlengths", blank,   zeroInfinity};
  Check check(a.op);
  check.required("logProbs", logProbs).required("targets", targets);
  check.required("inputLengths", inputLengths).required("targetlengths", targetlengths);
  check.required("negLogLikelihoodOut", negLogLikelihoodOut).required("logAlphaOut", logAlphaOut);
  check.dtype("logProbs", logProbs).dtype("targets", targets);
  check.dtype("negLogLikelihoodOut", negLogLikelihoodOut).dtype("logAlphaOut", logAlphaOut);
  if (!check.ok()) return check.status();
  check.same_dtype("negLogLikelihoodOut", negLogLikelihoodOut->dtype, "logProbs", logProbs->dtype)
      .same_dtype("logAlphaOut", logAlphaOut->dtype, "logProbs", logProbs->dtype);
  CtcSizes s{};
  check_ctc(check, a, 2, &s);
  if (!check.ok()) return check.status();
  const bool single = logProbs->rank() == 2;
  check.shape("negLogLikelihoodOut", negLogLikelihoodOut,
              single ? Layout() : dense_layout(&s.batch, 1));
  const int64_t places = chip_is_950() ? 2 * s.longest + 1 : (2 * s.longest + 8) / 8 * 8;
  const int64_t shape[] = {s.batch, s.times, places};
  check.shape("logAlphaOut", logAlphaOut, dense_layout(shape, 3));
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  const size_t logs = plan.input(logProbs), labels = plan.input(targets),
               loss = plan.output(negLogLikelihoodOut), alphas = plan.output(logAlphaOut);
  return plan.finish(
      [=, op = a.op, times = inputLengths->values,
       lengths = targetlengths->values](PlanContext &c) {
        IndexFault fault;
        const Labels given(view_of(c.tensor(labels)), lengths, s.classes, fault);
        if (fault.found) return fault.status(op, "targets");
        const View result = view_of(c.tensor(loss)), paths = view_of(c.tensor(alphas));
        Operands operands;
        const RowSource<double> source(
            operands.safe(by_sequence(view_of(c.tensor(logs))), {result, paths}));
        const RowTarget<double> target(paths);
        std::vector<double> losses(static_cast<size_t>(s.batch));
        parallel_for(s.batch, 1, [&](int64_t begin, int64_t end) {
          std::vector<double> x(static_cast<size_t>(s.times * s.classes));
          std::vector<double> alpha(static_cast<size_t>(s.times * places));
          for (int64_t b = begin; b < end; ++b) {
            const auto at = static_cast<size_t>(b);
            const Spelling spelling(given.of(b), lengths[at], blank);
            source.read(b * s.times * s.classes, s.times * s.classes, x.data());
            std::fill(alpha.begin(), alpha.end(), kNever);
            forward_paths(x.data(), times[at], s.classes, spelling, alpha.data(), places);
            double whole = spelling.size() == 1 ? 0.0 : kNever;  // nothing is spelled in no time
            if (times[at] > 0) {
              const double *last = alpha.data() + (times[at] - 1) * places + spelling.size();
              whole = spelling.size() > 1 ? log_sum(last[-1], last[-2]) : last[-1];
            }
            losses[at] = zeroInfinity && std::isinf(whole) ? 0.0 : -whole;
            target.write(b * s.times * places, s.times * places, alpha.data());
          }
        });
        RowTarget<double>(result).write(0, s.batch, losses.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(CtcLossBackward,
             (const aclTensor *gradOut, const aclTensor *logProbs, const aclTensor *targets,
              const aclIntArray *inputLengths, const aclIntArray *targetLengths,
              const aclTensor *negLogLikelihood, const aclTensor *logAlpha, int64_t blank,
              bool zeroInfinity, aclTensor *out)) {
  using namespace emu;
  const CtcArguments a{"aclnnCtcLossBackward", logProbs,        targets, inputLengths,
                       targetLengths,          "targetLengths", blank,   zeroInfinity};
  Check check(a.op);
  const std::pair<const char *, const aclTensor *> floats[] = {
      {"gradOut", gradOut},
      {"logProbs", logProbs},
      {"negLogLikelihood", negLogLikelihood},
      {"logAlpha", logAlpha},
      {"out", out}};
  check.required("gradOut", gradOut).required("logProbs", logProbs).required("targets", targets);
  check.required("inputLengths", inputLengths).required("targetLengths", targetLengths);
  check.required("negLogLikelihood", negLogLikelihood).required("logAlpha", logAlpha);
  check.required("out", out);
  for (const auto &[name, tensor] : floats) check.dtype(name, tensor);
  check.dtype("targets", targets);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : floats) {
    check.same_dtype(name, tensor->dtype, "logProbs", logProbs->dtype);
  }
  CtcSizes s{};
  check_ctc(check, a, 3, &s);
  check.rank("logAlpha", logAlpha, 3, 3);
  if (!check.ok()) return check.status();
  check.shape("gradOut", gradOut, dense_layout(&s.batch, 1))
      .shape("negLogLikelihood", negLogLikelihood, dense_layout(&s.batch, 1))
      .shape("out", out, layout_of(*logProbs));
  const Dims &alpha_shape = logAlpha->shape;
  check.that(
      alpha_shape[0] == s.batch && alpha_shape[1] == s.times && alpha_shape[2] >= 2 * s.longest + 1,
      "logAlpha has shape %s; expected (%lld, %lld, %lld or more)",
      shape_text(layout_of(*logAlpha)).c_str(), static_cast<long long>(s.batch),
      static_cast<long long>(s.times), static_cast<long long>(2 * s.longest + 1));
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  const size_t incoming = plan.input(gradOut), logs = plan.input(logProbs),
               labels = plan.input(targets), losses = plan.input(negLogLikelihood),
               alphas = plan.input(logAlpha), to = plan.output(out);
  return plan.finish(
      [=, op = a.op, times = inputLengths->values,
       lengths = targetLengths->values](PlanContext &c) {
        IndexFault fault;
        const Labels given(view_of(c.tensor(labels)), lengths, s.classes, fault);
        if (fault.found) return fault.status(op, "targets");
        const View result = view_of(c.tensor(to)), paths = view_of(c.tensor(alphas));
        Operands operands;
        const RowSource<double> source(
            operands.safe(by_sequence(view_of(c.tensor(logs))), {result}));
        const RowSource<double> kept(operands.safe(paths, {result}));
        const RowTarget<double> target(by_sequence(result));
        const auto g = read_all<double>(c, incoming, s.batch, 0.0);
        const auto loss = read_all<double>(c, losses, s.batch, 0.0);
        const int64_t places = paths.layout.shape[2];
        parallel_for(s.batch, 1, [&](int64_t begin, int64_t end) {
          std::vector<double> x(static_cast<size_t>(s.times * s.classes)), slope(x.size());
          std::vector<double> alpha(static_cast<size_t>(places));
          for (int64_t b = begin; b < end; ++b) {
            const auto at = static_cast<size_t>(b);
            const Spelling spelling(given.of(b), lengths[at], blank);
            source.read(b * s.times * s.classes, s.times * s.classes, x.data());
            std::fill(slope.begin(), slope.end(), 0.0);
            const bool dropped = zeroInfinity && std::isinf(loss[at]);
            if (!dropped) {
              backward_paths(x.data(), times[at], s.classes, spelling,
                             [&](int64_t t, const std::vector<double> &beta) {
                               kept.read((b * s.times + t) * places, spelling.size(), alpha.data());
                               gradient_at(spelling, alpha, beta, loss[at], g[at],
                                           x.data() + t * s.classes, s.classes,
                                           slope.data() + t * s.classes);
                             });
            }
            target.write(b * s.times * s.classes, s.times * s.classes, slope.data());
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
