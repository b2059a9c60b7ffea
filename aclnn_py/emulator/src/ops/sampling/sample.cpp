// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// One token of each row of logits: the likeliest of those that top-k, top-p and min-p keep, or with
// exponential numbers `q` a token drawn from them.
#include <cmath>
#include <limits>
#include <numeric>

#include "aclnnop/index.h"
#include "core/per_thread.h"
#include "ops/sampling/filter.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kLongestRow = int64_t{1} << 20, kLargestK = 1024;

struct SampleArguments {
  const char *op;
  const aclTensor *logits, *top_k, *top_p, *q, *min_p;
  double eps;
  bool select;        // the kept logits are a result
  int64_t largest_k;  // top-k of more is skipped
  bool normalise;     // logits become probabilities by softmax, else they are some
  bool intermediate;  // the results are kept probabilities and their positions, not one token
  const aclTensor *token, *selected;
  const aclTensor *positions, *probabilities;  // null in the first version
};

Check check_sample(const SampleArguments &a, bool second_version) {
  Check check(a.op);
  check.required("logits", a.logits).required("topK", a.top_k).required("topP", a.top_p);
  check.optional("qOptional", a.q).optional("minPsOptional", a.min_p);
  check.required("logitsSelectIdx", a.token).required("logitsTopKPSelect", a.selected);
  if (second_version) {
    check.required("logitsIdx", a.positions).required("logitsSortMasked", a.probabilities);
  }
  check.dtype("logits", a.logits)
      .dtype("topK", a.top_k)
      .dtype("topP", a.top_p)
      .dtype("qOptional", a.q);
  check.dtype("minPsOptional", a.min_p);
  check.dtype("logitsSelectIdx", a.token).dtype("logitsTopKPSelect", a.selected);
  check.dtype("logitsIdx", a.positions).dtype("logitsSortMasked", a.probabilities);
  check.rank("logits", a.logits, 2, 2);
  if (!check.ok()) return check;
  check.same_dtype("topP", a.top_p->dtype, "logits", a.logits->dtype);
  if (a.min_p) check.same_dtype("minPsOptional", a.min_p->dtype, "logits", a.logits->dtype);
  const Layout whole = layout_of(*a.logits), rows = dense_layout(whole.shape, 1);
  check.that(whole.count() > 0, "logits has shape %s; no dimension may be 0",
             shape_text(whole).c_str());
  check.shape("topK", a.top_k, rows).shape("topP", a.top_p, rows).shape("qOptional", a.q, whole);
  check.shape("minPsOptional", a.min_p, rows).shape("logitsSelectIdx", a.token, rows);
  check.shape("logitsTopKPSelect", a.selected, whole).shape("logitsIdx", a.positions, whole);
  check.shape("logitsSortMasked", a.probabilities, whole).tiling();
  return check.that(whole.shape[1] <= kLongestRow, "logits has rows of %lld; allowed: 1 to %lld",
                    static_cast<long long>(whole.shape[1]), static_cast<long long>(kLongestRow));
}

// A row on its way through the filters. `order` holds the positions of the tokens that are left,
// the likeliest first; before the first filter it is all of them as they lie.
struct Candidates {
  const float *logits;
  int64_t width;
  std::vector<int64_t> *order;
  bool sorted = false;

  int64_t count() const { return static_cast<int64_t>(order->size()); }
  float logit(int64_t i) const { return logits[(*order)[static_cast<size_t>(i)]]; }
  void keep(int64_t kept) { order->resize(static_cast<size_t>(kept)); }

  // Puts the `kept` likeliest in order, of equal ones the one in front first.
  void sort(int64_t kept) {
    if (sorted) return;
    const auto before = [this](int64_t a, int64_t b) {
      return greater(logits[a], logits[b]) || (!greater(logits[b], logits[a]) && a < b);
    };
    if (kept == count()) {
      std::sort(order->begin(), order->end(), before);
    } else {
      std::partial_sort(order->begin(), order->begin() + kept, order->end(), before);
    }
    sorted = true;
  }
};

struct Filters {
  int64_t k;
  float p, min_p;

  bool with_p() const { return p < 1; }
  bool with_min() const { return min_p > 0; }
};

struct Cut {
  int64_t kept;
  bool certain;  // more tokens behind these, all less likely, would change nothing
};

// How many of `count` sorted tokens top-p and min-p keep.
Cut cut_of(const Filters &by, const float *probabilities, int64_t count) {
  Cut cut{count, false};
  if (by.with_p()) {
    // A token stays while those before it have not passed p.
    const auto p = static_cast<double>(by.p);
    double before = 0;
    cut.kept = 0;
    do before += static_cast<double>(probabilities[cut.kept++]);
    while (cut.kept < count && before <= p);
    cut.certain = !(before <= p);
  }
  if (by.with_min()) {
    const float least =
        by.min_p < 1 ? probabilities[0] * by.min_p : std::numeric_limits<float>::infinity();
    int64_t kept = 1;
    while (kept < cut.kept && probabilities[kept] >= least) ++kept;
    cut.certain = cut.certain || kept < cut.kept;
    cut.kept = kept;
  }
  return cut;
}

// Leaves in `c` the tokens of a row that top-p and min-p keep, and their probabilities. Most rows
// have few likely tokens: only those within `reach` of the likeliest are sorted, and more of them
// if that does not decide.
void filter_whole_row(Candidates *c, const Filters &by, bool normalise, float *scratch,
                      float *probabilities) {
  const float *all = c->logits;
  if (normalise) {
    softmax_of(c->logits, c->width, scratch);
    all = scratch;
  }
  float most = -std::numeric_limits<float>::infinity();
  bool numbers = true;
  for (int64_t i = 0; i < c->width; ++i) {
    numbers = numbers && c->logits[i] == c->logits[i];
    most = std::max(most, c->logits[i]);
  }
  numbers = numbers && std::isfinite(most);
  for (float reach = 4;; reach *= 1.5f) {
    const bool everything = !numbers || reach > 512;
    const float least = everything ? 0 : normalise ? most - reach : most * std::exp2(-reach);
    c->order->clear();
    for (int64_t i = 0; i < c->width; ++i) {
      if (everything || c->logits[i] >= least) c->order->push_back(i);
    }
    c->sorted = false;
    c->sort(c->count());
    for (int64_t i = 0; i < c->count(); ++i) {
      probabilities[i] = all[(*c->order)[static_cast<size_t>(i)]];
    }
    const Cut cut = cut_of(by, probabilities, c->count());
    if (everything || cut.certain || c->count() == c->width) return c->keep(cut.kept);
  }
}

// Leaves in `c` what the filters keep, and its probabilities at `probabilities`.
void filter(Candidates *c, const Filters &by, bool normalise, float *scratch,
            float *probabilities) {
  const bool cuts = by.with_p() || by.with_min();
  if (cuts && by.k <= 0) return filter_whole_row(c, by, normalise, scratch, probabilities);
  if (by.k > 0) {
    c->sort(by.k);
    c->keep(by.k);
  }
  float *values = normalise ? scratch : probabilities;
  for (int64_t i = 0; i < c->count(); ++i) values[i] = c->logit(i);
  if (normalise) softmax_of(scratch, c->count(), probabilities);
  if (cuts) c->keep(cut_of(by, probabilities, c->count()).kept);
}

// The first of the largest scores; a NaN is never one.
int64_t best_of(const float *probabilities, const float *q, float eps, int64_t count) {
  int64_t best = 0;
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    const float score = q ? probabilities[i] / (q[i] + eps) : probabilities[i];
    if (score > most) most = score, best = i;
  }
  return best;
}

Status plan_sample(const SampleArguments &a, bool second_version, Check &check,
                   uint64_t *workspace_size, aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  const size_t input = plan.input(a.logits), top_k = plan.input(a.top_k),
               top_p = plan.input(a.top_p);
  // With intermediate results no token is drawn.
  const size_t draws = a.intermediate ? plan.unused(a.q) : plan.input(a.q);
  const size_t min_p = second_version ? plan.input(a.min_p) : plan.input_if(a.min_p);
  const auto result = [&](const aclTensor *tensor, bool written) {
    return written ? plan.output(tensor) : plan.unused(tensor);
  };
  const size_t token = result(a.token, !a.intermediate), selected = result(a.selected, a.select);
  const bool intermediate = a.intermediate;
  const size_t positions = second_version ? result(a.positions, intermediate) : 0;
  const size_t probabilities = second_version ? result(a.probabilities, intermediate) : 0;
  const int64_t rows = a.logits->shape[0], width = a.logits->shape[1], largest_k = a.largest_k;
  const auto eps = static_cast<float>(a.eps);
  const bool normalise = a.normalise, select = a.select;
  const float filtered = normalise ? -std::numeric_limits<float>::infinity() : 0.0f;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const auto written = [&](size_t index, bool is_written) {
          return is_written ? view_of(c.tensor(index)) : View();
        };
        const View token_view = written(token, !intermediate),
                   selected_view = written(selected, select),
                   position_view = written(positions, intermediate),
                   probability_view = written(probabilities, intermediate);
        const auto safe = [&](size_t index) {
          return RowSource<float>(
              operands.safe(view_of(c.tensor(index)),
                            {token_view, selected_view, position_view, probability_view}));
        };
        const RowSource<float> from = safe(input);
        const bool drawn = c.has(draws);
        const RowSource<float> numbers = drawn ? safe(draws) : from;
        const auto ks = read_all<int32_t>(c, top_k, rows, 0);
        const auto ps = read_all<float>(c, top_p, rows, 1.0f);
        const bool by_min = second_version && c.has(min_p);
        const auto least = by_min ? read_all<float>(c, min_p, rows, 0.0f) : std::vector<float>();
        for_each_row<float>(rows, width, 4, [&](int64_t row, float *values) {
          const auto r = static_cast<size_t>(row);
          float *scratch = values + width, *probability = scratch + width,
                *result_row = probability + width;
          from.read(row * width, width, values);
          auto &order = PerThread<std::vector<int64_t>, Candidates>::get();
          order.resize(static_cast<size_t>(width));
          std::iota(order.begin(), order.end(), int64_t{0});
          const int64_t k = ks[r] >= 1 && ks[r] <= std::min(width, largest_k) ? ks[r] : 0;
          Candidates left{values, width, &order};
          filter(&left, {k, ps[r], by_min ? least[r] : 0.0f}, normalise, scratch, probability);
          const int64_t kept = left.count();
          if (select) {
            std::fill(result_row, result_row + width, filtered);
            for (const int64_t at : order) result_row[at] = values[at];
            RowTarget<float>(selected_view).write(row * width, width, result_row);
          }
          if (intermediate) {
            std::fill(probability + kept, probability + width, 0.0f);
            RowTarget<float>(probability_view).write(row * width, width, probability);
            order.resize(static_cast<size_t>(width), 0);
            RowTarget<int64_t>(position_view).write(row * width, width, order.data());
          } else {
            if (drawn) numbers.read(row * width, kept, scratch);
            const int64_t best = best_of(probability, drawn ? scratch : nullptr, eps, kept);
            RowTarget<int64_t>(token_view).write(row, 1, &order[static_cast<size_t>(best)]);
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(TopKTopPSample,
             (const aclTensor *logits, const aclTensor *topK, const aclTensor *topP,
              const aclTensor *qOptional, double eps, bool isNeedLogits, int64_t topKGuess,
              aclTensor *logitsSelectIdx, aclTensor *logitsTopKPSelect)) {
  using namespace emu;
  const SampleArguments arguments{"aclnnTopKTopPSample",
                                  logits,
                                  topK,
                                  topP,
                                  qOptional,
                                  nullptr,
                                  eps,
                                  isNeedLogits,
                                  kLargestK,
                                  true,
                                  false,
                                  logitsSelectIdx,
                                  logitsTopKPSelect,
                                  nullptr,
                                  nullptr};
  Check check = check_sample(arguments, false);
  check.that(topKGuess > 0, "topKGuess is %lld; it must be positive",
             static_cast<long long>(topKGuess));
  return plan_sample(arguments, false, check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(TopKTopPSampleV2,
             (const aclTensor *logits, const aclTensor *topK, const aclTensor *topP,
              const aclTensor *qOptional, const aclTensor *minPsOptional, double eps,
              bool isNeedLogits, [[maybe_unused]] int64_t topKGuess, int64_t ksMax,
              bool inputIsLogits, bool isNeedSampleResult, aclTensor *logitsSelectIdx,
              aclTensor *logitsTopKPSelect, aclTensor *logitsIdx, aclTensor *logitsSortMasked)) {
  using namespace emu;
  // The largest k is rounded up to a multiple of eight.
  const int64_t largest_k = ksMax >= 1 && ksMax <= kLargestK ? (ksMax + 7) / 8 * 8 : 0;
  const SampleArguments arguments{"aclnnTopKTopPSampleV2",
                                  logits,
                                  topK,
                                  topP,
                                  qOptional,
                                  minPsOptional,
                                  eps,
                                  isNeedLogits,
                                  largest_k,
                                  inputIsLogits,
                                  isNeedSampleResult,
                                  logitsSelectIdx,
                                  logitsTopKPSelect,
                                  logitsIdx,
                                  logitsSortMasked};
  Check check = check_sample(arguments, true);
  check.that(largest_k > 0, "ksMax is %lld; allowed: 1 to %lld", static_cast<long long>(ksMax),
             static_cast<long long>(kLargestK));
  return plan_sample(arguments, true, check, workspaceSize, executor);
}
EMU_CATCH
