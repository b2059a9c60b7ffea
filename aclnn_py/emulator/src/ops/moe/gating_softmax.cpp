// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// MoeGatingTopKSoftmax and its V2: the softmax of each row of scores and its k highest values.
// float32 inside. A row that is finished gets the number of experts as every expert; its values are
// computed like those of any other row.
#include <numeric>

#include "aclnnop/moe.h"
#include "ops/moe/scores.h"

namespace emu {
namespace {

constexpr int64_t kMostChosen = 1024;

struct SoftmaxGate {
  const char *op;
  const aclTensor *x, *finished;
  int64_t k;
  bool choose_first;  // the softmax is taken of the k chosen scores alone
  const aclTensor *values, *experts;
  const aclTensor *row_index = nullptr;  // V1
  const aclTensor *softmax = nullptr;    // V2, when it is asked for
  const aclTensor *ignored = nullptr;    // V2, when it is given and not asked for
};

// From the dtypes on; the caller has checked what it requires.
Check &check_gate(Check &check, const SoftmaxGate &gate) {
  check.dtype("x", gate.x).dtype("finishedOptional", gate.finished).dtype("yOut", gate.values);
  check.dtype("expertIdxOut", gate.experts).dtype("rowIdxOut", gate.row_index);
  if (check.ok()) check.same_dtype("yOut", gate.values->dtype, "x", gate.x->dtype);
  check.plain_format("x", gate.x).tiling().dtype("softmaxResultOutOptional", gate.softmax);
  check.rank("x", gate.x, 2, 3);
  if (!check.ok()) return check;
  Layout rows = layout_of(*gate.x), chosen = rows;
  for (int d = 0; d < rows.rank; ++d) {
    check.that(rows.shape[d] <= INT32_MAX, "x has a dimension of %lld; allowed: up to %d",
               static_cast<long long>(rows.shape[d]), INT32_MAX);
  }
  const int64_t width = rows.shape[--rows.rank];
  check.shape("finishedOptional", gate.finished, rows);
  const int64_t most = std::min(width, kMostChosen);
  check.that(gate.k >= 0 && gate.k <= most,
             "k is %lld; allowed: 0 to %lld, the smaller of the last dimension of x and %lld",
             static_cast<long long>(gate.k), static_cast<long long>(most),
             static_cast<long long>(kMostChosen));
  chosen.shape[chosen.rank - 1] = gate.k;
  check.shape("yOut", gate.values, chosen).shape("expertIdxOut", gate.experts, chosen);
  check.shape("rowIdxOut", gate.row_index, chosen);
  return check.shape("softmaxResultOutOptional", gate.softmax, layout_of(*gate.x));
}

struct GateViews {
  View x, values, experts, row_index, softmax;
  std::vector<int64_t> finished;
};

void run_gate(const GateViews &views, int64_t k, bool choose_first) {
  const int64_t width = views.x.layout.shape[views.x.layout.rank - 1];
  if (width == 0 || views.x.count() == 0) return;
  const int64_t rows = views.x.count() / width;
  const RowSource<float> source(views.x);
  const bool indexes = views.row_index.data != nullptr, softens = views.softmax.data != nullptr;
  const RowTarget<float> to_values(views.values), to_softmax(softens ? views.softmax : views.x);
  const RowTarget<int32_t> to_experts(views.experts),
      to_index(indexes ? views.row_index : views.experts);
  parallel_for(rows, std::max<int64_t>(1, 4096 / width), [&](int64_t begin, int64_t end) {
    std::vector<float> x(static_cast<size_t>(width)), values(static_cast<size_t>(k));
    std::vector<int32_t> experts(values.size()), index(values.size());
    std::vector<int64_t> order(x.size());
    for (int64_t row = begin; row < end; ++row) {
      source.read(row * width, width, x.data());
      if (!choose_first) soften(x.data(), width);
      if (softens) to_softmax.write(row * width, width, x.data());
      std::iota(order.begin(), order.end(), int64_t{0});
      highest_first(x.data(), k, order);
      const bool done = !views.finished.empty() && views.finished[static_cast<size_t>(row)] != 0;
      for (size_t j = 0; j < values.size(); ++j) {
        values[j] = x[static_cast<size_t>(order[j])];
        experts[j] = static_cast<int32_t>(done ? width : order[j]);
        index[j] = static_cast<int32_t>(static_cast<int64_t>(j) * rows + row);
      }
      if (choose_first) soften(values.data(), k);
      to_values.write(row * k, k, values.data());
      to_experts.write(row * k, k, experts.data());
      if (indexes) to_index.write(row * k, k, index.data());
    }
  });
}

Status plan_gate(const SoftmaxGate &gate, uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(gate.op);
  const size_t x = plan.input(gate.x), finished = plan.input(gate.finished),
               values = plan.output(gate.values), experts = plan.output(gate.experts),
               index = plan.output_if(gate.row_index), softmax = plan.output_if(gate.softmax);
  if (gate.ignored != nullptr) plan.unused(gate.ignored);
  return plan.finish(
      [=, k = gate.k, choose_first = gate.choose_first](PlanContext &c) {
        const auto view = [&c](size_t at) { return c.has(at) ? view_of(c.tensor(at)) : View(); };
        GateViews views{view(x),     view(values),  view(experts),
                        view(index), view(softmax), integers(c, finished)};
        Operands operands;
        views.x =
            operands.safe(views.x, {views.values, views.experts, views.row_index, views.softmax});
        run_gate(views, k, choose_first);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeGatingTopKSoftmax,
             (const aclTensor *x, const aclTensor *finishedOptional, int64_t k, aclTensor *yOut,
              aclTensor *expertIdxOut, aclTensor *rowIdxOut)) {
  using namespace emu;
  Check check("aclnnMoeGatingTopKSoftmax");
  check.required("x", x).optional("finishedOptional", finishedOptional).required("yOut", yOut);
  check.required("expertIdxOut", expertIdxOut).required("rowIdxOut", rowIdxOut);
  const SoftmaxGate gate{check.op(), x, finishedOptional, k, false, yOut, expertIdxOut, rowIdxOut};
  if (!check.ok() || !check_gate(check, gate).ok()) return check.status();
  return plan_gate(gate, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeGatingTopKSoftmaxV2,
             (const aclTensor *x, const aclTensor *finishedOptional, int64_t k, int64_t renorm,
              bool outputSoftmaxResultFlag, aclTensor *yOut, aclTensor *expertIdxOut,
              aclTensor *softmaxResultOutOptional)) {
  using namespace emu;
  Check check("aclnnMoeGatingTopKSoftmaxV2");
  check.required("x", x).optional("finishedOptional", finishedOptional).required("yOut", yOut);
  check.required("expertIdxOut", expertIdxOut);
  const bool softens = outputSoftmaxResultFlag && renorm == 0;
  if (softens) check.required("softmaxResultOutOptional", softmaxResultOutOptional);
  else check.optional("softmaxResultOutOptional", softmaxResultOutOptional);
  SoftmaxGate gate{check.op(), x, finishedOptional, k, renorm == 1, yOut, expertIdxOut};
  (softens ? gate.softmax : gate.ignored) = softmaxResultOutOptional;
  if (!check.ok() || !check_gate(check, gate).ok()) return check.status();
  check.dtype("softmaxResultOutOptional", softmaxResultOutOptional);
  check.that(renorm == 0 || renorm == 1, "renorm is %lld; allowed: 0 and 1",
             static_cast<long long>(renorm));
  if (!check.ok()) return check.status();
  return plan_gate(gate, workspaceSize, executor);
}
EMU_CATCH
