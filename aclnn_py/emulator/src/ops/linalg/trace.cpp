// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The sum of the diagonal of a matrix, added up in the widest type of its kind and rounded once.
#include <algorithm>

#include "aclnnop/math.h"
#include "ops/op.h"
#include "ops/view.h"

namespace emu {
namespace {

View diagonal(const View &matrix) {
  View view = matrix;
  view.layout = Layout();
  view.layout.push(std::min(matrix.layout.shape[0], matrix.layout.shape[1]),
                   matrix.layout.stride[0] + matrix.layout.stride[1]);
  return view;
}

template <class T>
void add_up(const View &elements, aclDataType wide, Compute compute, const View &out) {
  const Reader reader(elements, wide);
  T sum{};
  alignas(64) char scratch[kBlock * sizeof(T)];
  const int64_t total = elements.count();
  for (int64_t start = 0; start < total; start += kBlock) {
    const int64_t count = std::min(kBlock, total - start);
    const auto *values = static_cast<const T *>(reader.read(start, count, scratch));
    for (int64_t i = 0; i < count; ++i) sum += values[i];
  }
  store_as(out.dtype, out.data, 0, 1, compute, &sum);
}

}  // namespace

EMU_OPERATOR(Trace, (const aclTensor *self, aclTensor *out)) {
  Check check("aclnnTrace");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  const bool whole = is_integer(self->dtype) || self->dtype == ACL_BOOL;
  check.same_dtype("out", out->dtype, "the result", whole ? ACL_INT64 : self->dtype);
  check.rank("self", self, 2, 2).shape("out", out, Layout());
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to)), elements = diagonal(view_of(c.tensor(from)));
        if (whole) {
          add_up<uint64_t>(elements, ACL_INT64, Compute::I64, result);
        } else if (is_complex(elements.dtype)) {
          add_up<Complex128>(elements, ACL_COMPLEX128, Compute::C128, result);
        } else {
          add_up<double>(elements, ACL_DOUBLE, Compute::F64, result);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
