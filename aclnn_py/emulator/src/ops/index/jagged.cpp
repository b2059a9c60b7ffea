// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// ExpandIntoJaggedPermute: a permutation of tables becomes one of their rows.
#include "aclnnop/index.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

std::vector<int64_t> numbers_of(const aclTensor &tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.numel()));
  if (!values.empty()) RowSource<int64_t>(view_of(tensor)).read(0, tensor.numel(), values.data());
  return values;
}

struct JaggedTables {
  std::vector<int64_t> permute, from, to;
};

Status fill_rows(const JaggedTables &tables, std::vector<int64_t> *rows) {
  constexpr const char *kOp = "aclnnExpandIntoJaggedPermute";
  const auto count = static_cast<int64_t>(tables.permute.size()),
             size = static_cast<int64_t>(rows->size());
  int64_t last = 0;
  for (size_t i = 0; i < tables.to.size(); ++i) {
    const int64_t offset = tables.to[i];
    if (offset < (i == 0 ? 0 : last) || offset > size) {
      return fail(kKernelFault, "%s: outputOffset[%zu] is %lld; allowed: %lld to %lld", kOp, i,
                  static_cast<long long>(offset), static_cast<long long>(last),
                  static_cast<long long>(size));
    }
    last = offset;
  }
  if (tables.to.front() != 0 || last != size) {
    return fail(kKernelFault,
                "%s: outputOffset goes from %lld to %lld; expected 0 to outputSize, %lld", kOp,
                static_cast<long long>(tables.to.front()), static_cast<long long>(last),
                static_cast<long long>(size));
  }
  for (size_t i = 0; i < tables.permute.size(); ++i) {
    const int64_t table = tables.permute[i];
    if (table < 0 || table >= count) {
      return fail(kKernelFault, "%s: permute[%zu] is %lld; allowed: 0 to %lld", kOp, i,
                  static_cast<long long>(table), static_cast<long long>(count - 1));
    }
    const int64_t first = tables.from[static_cast<size_t>(table)];
    for (int64_t at = tables.to[i]; at < tables.to[i + 1]; ++at) {
      (*rows)[static_cast<size_t>(at)] = first + at - tables.to[i];
    }
  }
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ExpandIntoJaggedPermute,
             (const aclTensor *permute, const aclTensor *inputOffset, const aclTensor *outputOffset,
              int64_t outputSize, aclTensor *outputPermuteOut)) {
  using namespace emu;
  Check check("aclnnExpandIntoJaggedPermute");
  check.required("permute", permute).required("inputOffset", inputOffset);
  check.required("outputOffset", outputOffset).required("outputPermuteOut", outputPermuteOut);
  check.dtype("permute", permute).dtype("inputOffset", inputOffset);
  check.dtype("outputOffset", outputOffset).dtype("outputPermuteOut", outputPermuteOut);
  check.tiling().rank("permute", permute, 1, 1);
  check.that(outputSize >= 0, "outputSize is %lld; it must not be negative",
             static_cast<long long>(outputSize));
  if (!check.ok()) return check.status();
  const int64_t edges = check.size("permute", Checked(permute->shape[0]) + 1);
  if (!check.ok()) return check.status();
  check.shape("inputOffset", inputOffset, dense_layout(&edges, 1));
  check.shape("outputOffset", outputOffset, dense_layout(&edges, 1));
  check.shape("outputPermuteOut", outputPermuteOut, dense_layout(&outputSize, 1));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnExpandIntoJaggedPermute", KernelTime::linear);
  const size_t order = plan.input(permute), from = plan.input(inputOffset);
  const size_t to = plan.input(outputOffset), out = plan.output(outputPermuteOut);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(out));
        std::vector<int64_t> rows(static_cast<size_t>(result.count()));
        const Status status = fill_rows(
            {numbers_of(c.tensor(order)), numbers_of(c.tensor(from)), numbers_of(c.tensor(to))},
            &rows);
        if (status == 0 && !rows.empty()) {
          RowTarget<int64_t>(result).write(0, result.count(), rows.data());
        }
        return status;
      },
      workspaceSize, executor);
}
EMU_CATCH
