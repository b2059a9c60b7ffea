// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The gradient of an embedding: each row is the sum of the gradients of the places that looked it
// up, added in float64 in the order of the places.
#include <optional>

#include "aclnnop/index.h"
#include "ops/index/addresses.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

// The places of each row behind each other: those of row r are from starts[r] to starts[r + 1].
struct PlacesOfRows {
  std::vector<int64_t> starts, places;

  // Places that name the row `skipped` are left out.
  PlacesOfRows(const std::vector<int64_t> &rows, int64_t count, int64_t skipped)
      : starts(static_cast<size_t>(count) + 1) {
    for (const int64_t row : rows) {
      if (row != skipped) ++starts[static_cast<size_t>(row) + 1];
    }
    for (size_t r = 1; r < starts.size(); ++r) starts[r] += starts[r - 1];
    places.resize(static_cast<size_t>(starts.back()));
    std::vector<int64_t> next(starts.begin(), starts.end() - 1);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] != skipped) {
        places[static_cast<size_t>(next[static_cast<size_t>(rows[i])]++)] = static_cast<int64_t>(i);
      }
    }
  }
};

void add_rows(const View &gradient, const PlacesOfRows &of, int64_t width, bool averaged,
              const View &out) {
  const RowSource<float> source(gradient);
  const RowTarget<double> target(out);
  const int64_t rows = static_cast<int64_t>(of.starts.size()) - 1;
  parallel_for(rows, std::max<int64_t>(1, 8192 / width), [&](int64_t begin, int64_t end) {
    std::vector<float> one(static_cast<size_t>(width));
    std::vector<double> sum(static_cast<size_t>(width));
    for (int64_t row = begin; row < end; ++row) {
      std::fill(sum.begin(), sum.end(), 0.0);
      const auto first = static_cast<size_t>(of.starts[static_cast<size_t>(row)]),
                 last = static_cast<size_t>(of.starts[static_cast<size_t>(row) + 1]);
      for (size_t place = first; place < last; ++place) {
        source.read(of.places[place] * width, width, one.data());
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(one[i]);
      }
      if (averaged && last > first) {
        for (double &value : sum) value /= static_cast<double>(last - first);
      }
      target.write(row * width, width, sum.data());
    }
  });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(EmbeddingDenseBackward,
             (const aclTensor *grad, const aclTensor *indices, uint64_t numWeights,
              uint64_t paddingIdx, bool scaleGradByFreq, aclTensor *out)) {
  constexpr const char *op = "aclnnEmbeddingDenseBackward";
  emu::Check check(op);
  check.required("grad", grad).required("indices", indices).required("out", out);
  check.dtype("grad", grad).dtype("indices", indices).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "grad", grad->dtype);
  check.rank("grad", grad, 1, 8).rank("indices", indices, 0, 8).rank("out", out, 2, 2);
  if (!check.ok()) return check.status();
  const int64_t width = grad->shape.back();
  const int64_t places = emu::count_of(grad->shape.data(), grad->rank() - 1);
  check.that(places == indices->numel(),
             "grad has %lld rows; indices has %lld elements, and each needs a row",
             static_cast<long long>(places), static_cast<long long>(indices->numel()));
  check.that(out->shape[1] == width && static_cast<uint64_t>(out->shape[0]) == numWeights,
             "out has shape %s; expected (%llu, %lld): numWeights and the last dimension of grad",
             emu::shape_text(emu::layout_of(*out)).c_str(),
             static_cast<unsigned long long>(numWeights), static_cast<long long>(width));
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(op, emu::KernelTime::linear);
  const size_t from = plan.input(grad), rows = plan.input(indices), to = plan.output(out);
  const auto count = static_cast<int64_t>(numWeights), skipped = static_cast<int64_t>(paddingIdx);
  return plan.finish(
      [=](emu::PlanContext &c) {
        using namespace emu;
        const View result = view_of(c.tensor(to));
        std::vector<int64_t> named(static_cast<size_t>(c.tensor(rows).numel()));
        RowSource<int64_t>(view_of(c.tensor(rows))).read(0, places, named.data());
        IndexFault fault;
        for (const int64_t row : named) {
          if (row < 0 || row >= count) fault.report(row, count);
        }
        if (fault.found) return fault.status(op, "indices");
        if (result.count() == 0) return Status{0};
        const View given = view_of(c.tensor(from));
        std::optional<Snapshot> kept;  // a row of the result may need any row of the gradient
        if (given.data == result.data || clash(given, result)) kept.emplace(given);
        add_rows(kept ? kept->view() : given, PlacesOfRows(named, count, skipped), width,
                 scaleGradByFreq, result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
