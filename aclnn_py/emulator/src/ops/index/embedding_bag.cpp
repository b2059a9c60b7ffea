// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Sums, means or largest values of rows of a table, bag by bag. Rows are added in float64.
#include <cmath>

#include "aclnnop/index.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/index/addresses.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnEmbeddingBag";

enum class BagMode : uint8_t { kSum, kMean, kMax };

struct BagArguments {
  const aclTensor *weight, *indices, *offsets;
  bool by_frequency;
  BagMode mode;
  bool sparse;
  const aclTensor *samples;
  bool last;  // the last offset is the end of the last bag
  const aclTensor *output, *bag_of, *sizes, *rows;
};

aclDataType wider_index(aclDataType a, aclDataType b) {
  return item_size(a) >= item_size(b) ? a : b;
}

void check_bag_dtypes(Check &check, const BagArguments &a) {
  constexpr DtypeSet kWide = dtype_set(ACL_INT32, ACL_INT64);
  check.dtype("weight", a.weight).dtype("indices", a.indices).dtype("offsets", a.offsets);
  check.dtype("perSampleWeightsOptional", a.samples).dtype("output", a.output);
  check.dtype("offset2bag", a.bag_of).dtype("bagSize", a.sizes).dtype("maxIndices", a.rows);
  if (!check.ok()) return;
  check.that(contains(kWide, a.indices->dtype) || contains(kWide, a.offsets->dtype),
             "indices has dtype %s and offsets %s; one of them must be INT32 or INT64",
             dtype_name(a.indices->dtype), dtype_name(a.offsets->dtype));
  check.same_dtype("output", a.output->dtype, "weight", a.weight->dtype);
  if (a.samples != nullptr) {
    check.same_dtype("perSampleWeightsOptional", a.samples->dtype, "weight", a.weight->dtype);
  }
  const aclDataType index = wider_index(a.indices->dtype, a.offsets->dtype);
  for (const auto &[name, tensor] :
       {std::pair{"offset2bag", a.bag_of}, {"bagSize", a.sizes}, {"maxIndices", a.rows}}) {
    check.same_dtype(name, tensor->dtype, "the wider of indices and offsets", index);
  }
}

// `bags` becomes their number.
void check_bag_shapes(Check &check, const BagArguments &a, int64_t *bags) {
  check.rank("weight", a.weight, 2, 2).rank("indices", a.indices, 0, 1);
  check.rank("offsets", a.offsets, 0, 1).rank("perSampleWeightsOptional", a.samples, 1, 1);
  check.that(!a.by_frequency, "scaleGradByFreq is true; it must be false");
  check.that(!a.sparse, "sparse is true; it must be false");
  check.that(a.samples == nullptr || a.mode == BagMode::kSum,
             "perSampleWeightsOptional is given; only sums (mode 0) have weights");
  if (!check.ok()) return;
  const int64_t count = a.indices->numel(), ends = a.offsets->numel();
  check.that(!a.last || ends > 0, "offsets is empty; with includeLastOffset it has the last end");
  *bags = a.last ? ends - 1 : ends;
  const int64_t width = a.weight->shape[1], whole[] = {*bags, width}, none = 0;
  const bool newer = chip_is_950();
  check.shape("perSampleWeightsOptional", a.samples, dense_layout(&count, 1));
  check.shape("output", a.output, dense_layout(whole, 2));
  check.shape("offset2bag", a.bag_of, dense_layout(&count, 1));
  check.shape("bagSize", a.sizes, dense_layout(newer ? &ends : bags, 1));
  if (a.mode == BagMode::kMax) check.shape("maxIndices", a.rows, dense_layout(whole, 2));
  else check.shape("maxIndices", a.rows, dense_layout(newer ? &none : bags, 1));
}

// Where each bag begins; the entry behind the last one is the number of indices.
Status read_starts(PlanContext &c, size_t offsets, bool last, int64_t count,
                   std::vector<int64_t> *starts) {
  *starts = read_all<int64_t>(c, offsets, c.tensor(offsets).numel(), 0);
  if (!last) starts->push_back(count);
  for (size_t b = 0; b < starts->size(); ++b) {
    const int64_t least = b == 0 ? 0 : (*starts)[b - 1];
    const int64_t most = b == 0 && starts->size() > 1 ? 0 : count;
    const int64_t one = (*starts)[b];
    if (one < least || one > most) {
      return fail(kKernelFault,
                  "%s: offsets[%zu] is %lld; they begin with 0, do not decrease and stay within "
                  "the %lld indices",
                  kOp, b, static_cast<long long>(one), static_cast<long long>(count));
    }
  }
  if (starts->back() != count) {
    return fail(kKernelFault,
                "%s: the last of offsets is %lld; it must be the number of indices, "
                "%lld",
                kOp, static_cast<long long>(starts->back()), static_cast<long long>(count));
  }
  return 0;
}

// One bag: rows added up, or the largest value of each column with its row.
struct BagReader {
  RowSource<float> table;
  const std::vector<int64_t> &indices;
  const std::vector<float> &samples;
  int64_t padding, width;
  BagMode mode;

  // Returns how many indices took part.
  int64_t read(int64_t first, int64_t end, double *values, int64_t *rows, float *row) const {
    std::fill_n(values, width, 0.0);
    std::fill_n(rows, width, int64_t{-1});
    int64_t used = 0;
    for (int64_t i = first; i < end; ++i) {
      const int64_t index = indices[static_cast<size_t>(i)];
      if (index == padding) continue;
      table.read(index * width, width, row);
      const double sample = static_cast<double>(samples[static_cast<size_t>(i)]);
      for (int64_t d = 0; d < width; ++d) {
        const auto value = static_cast<double>(row[d]);
        if (mode != BagMode::kMax) {
          values[d] += value * sample;
        } else if (used == 0 || value > values[d] ||
                   (std::isnan(value) && !std::isnan(values[d]))) {
          values[d] = value;
          rows[d] = index;
        }
      }
      ++used;
    }
    if (mode == BagMode::kMean && used > 0) {
      for (int64_t d = 0; d < width; ++d) values[d] /= static_cast<double>(used);
    }
    return used;
  }
};

}  // namespace
}  // namespace emu

EMU_OPERATOR(EmbeddingBag, (const aclTensor *weight, const aclTensor *indices,
                            const aclTensor *offsets, bool scaleGradByFreq, int64_t mode,
                            bool sparse, const aclTensor *perSampleWeightsOptional,
                            bool includeLastOffset, int64_t paddingIdx, aclTensor *output,
                            aclTensor *offset2bag, aclTensor *bagSize, aclTensor *maxIndices)) {
  using namespace emu;
  const BagMode how = mode == 0 ? BagMode::kSum : mode == 1 ? BagMode::kMean : BagMode::kMax;
  const BagArguments a{weight,
                       indices,
                       offsets,
                       scaleGradByFreq,
                       how,
                       sparse,
                       perSampleWeightsOptional,
                       includeLastOffset,
                       output,
                       offset2bag,
                       bagSize,
                       maxIndices};
  Check check(kOp);
  check.required("weight", weight).required("indices", indices).required("offsets", offsets);
  check.optional("perSampleWeightsOptional", perSampleWeightsOptional).required("output", output);
  check.required("offset2bag", offset2bag).required("bagSize", bagSize);
  check.required("maxIndices", maxIndices);
  if (!check.ok()) return check.status();
  int64_t bags = 0;
  check_bag_dtypes(check, a);
  if (check.ok()) check_bag_shapes(check, a, &bags);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp, KernelTime::linear);
  const size_t table = plan.input(weight), named = plan.input(indices), ends = plan.input(offsets),
               shares = plan.input(perSampleWeightsOptional), out = plan.output(output),
               of = plan.output(offset2bag), sizes = plan.output(bagSize),
               best = how == BagMode::kMax ? plan.output(maxIndices) : plan.unused(maxIndices);
  const int64_t count = indices->numel(), rows = weight->shape[0], width = weight->shape[1];
  return plan.finish(
      [=, padding = paddingIdx, last = includeLastOffset](PlanContext &c) {
        const auto chosen = read_all<int64_t>(c, named, count, 0);
        IndexFault fault;
        for (const int64_t one : chosen) {
          if (one < 0 || one >= rows) fault.report(one, rows);
        }
        if (fault.found) return fault.status(kOp, "indices");
        std::vector<int64_t> starts;
        if (const Status s = read_starts(c, ends, last, count, &starts)) return s;
        const auto samples = read_all<float>(c, shares, count, 1.0f);
        const View result = view_of(c.tensor(out));
        Operands operands;
        const BagReader reader{RowSource<float>(operands.safe(view_of(c.tensor(table)), {result})),
                               chosen,
                               samples,
                               padding,
                               width,
                               how};
        std::vector<int64_t> bag_of(static_cast<size_t>(count));
        std::vector<int64_t> used(static_cast<size_t>(c.tensor(sizes).numel()));
        const RowTarget<double> target(result);
        const bool largest = how == BagMode::kMax;
        const View positions = largest ? view_of(c.tensor(best)) : View();
        parallel_for(bags, 8, [&](int64_t begin, int64_t end) {
          std::vector<double> values(static_cast<size_t>(width));
          std::vector<int64_t> found(values.size());
          std::vector<float> row(values.size());
          for (int64_t b = begin; b < end; ++b) {
            const auto at = static_cast<size_t>(b);
            std::fill(bag_of.begin() + starts[at], bag_of.begin() + starts[at + 1], b);
            used[at] =
                reader.read(starts[at], starts[at + 1], values.data(), found.data(), row.data());
            target.write(b * width, width, values.data());
            if (largest) RowTarget<int64_t>(positions).write(b * width, width, found.data());
          }
        });
        RowTarget<int64_t>(view_of(c.tensor(of))).write(0, count, bag_of.data());
        const View lengths = view_of(c.tensor(sizes));
        RowTarget<int64_t>(lengths).write(0, lengths.count(), used.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
