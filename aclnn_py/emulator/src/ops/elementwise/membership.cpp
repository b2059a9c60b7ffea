// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Whether elements are among others, where one of the two sides is a scalar. That the others are
// unique is a promise that changes no result.
#include "aclnnop/math.h"
#include "ops/elementwise/rows.h"

namespace emu {

constexpr DtypeSet kCompared =
    dt::kFloating | dtype_set(ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8);

// b inverts the answer.
EMU_MEET_IN(IsIn, kCompared)
EMU_FORMULA_XAB(IsIn, (x == a) != (b != T{}))
EMU_ROW(IsInTensorScalar, IsIn, kToBool | kExact | kFreeScalars, types::kReal, 1, 2,
        (const aclTensor *element, const aclScalar *testElement, bool /* unique */, bool invert,
         aclTensor *out),
        elementwise, {element, testElement, skipped(), number(invert)}, out)

namespace {

bool any_element(const ElementwiseTask &task, const View &in) {
  const Reader reader(in, task.compute_dtype);
  alignas(64) char scratch[kBlock * sizeof(double)];
  alignas(64) int32_t equal[kBlock];
  const int64_t total = in.count();
  for (int64_t start = 0; start < total; start += kBlock) {
    const int64_t count = total - start < kBlock ? total - start : kBlock;
    const void *block = reader.read(start, count, scratch);
    task.fn(equal, &block, count, task.scalars);
    int32_t found = 0;
    for (int64_t i = 0; i < count; ++i) found |= equal[i];
    if (found != 0) return true;
  }
  return false;
}

}  // namespace

EMU_OPERATOR(IsInScalarTensor, (const aclScalar *element, const aclTensor *testElements,
                                bool /* unique */, bool invert, aclTensor *out)) {
  static constexpr ElementwiseRow row = {"aclnnIsInScalarTensor",
                                         &block_table<IsInFormula, types::kReal, 1, 2>, kToBool};
  Check check(row.op);
  check.required("element", element).required("testElements", testElements).required("out", out);
  check.dtype("testElements", testElements).dtype("out", out);
  if (!check.ok()) return check.status();
  const aclDataType common = promote_with_scalar(testElements->dtype, element->dtype);
  check.that(contains(kCompared, common),
             "element of dtype %s and testElements of dtype %s meet in"
             " dtype %s; allowed: %s",
             dtype_name(element->dtype), dtype_name(testElements->dtype), dtype_name(common),
             dtype_list(kCompared).c_str());
  check.rank("testElements", testElements, 0, 8).shape("out", out, Layout());
  ElementwiseTask task;
  if (!check.ok() || !resolve_task(row, common, 1, &task)) return check.status();
  set_scalar(&task, 0, *element, true);
  set_number(&task, 1, 0);
  PlanBuilder plan(row.op);
  const size_t from = plan.input(testElements), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        const int32_t answer = any_element(task, view_of(c.tensor(from))) != invert ? 1 : 0;
        store_as(result.dtype, result.data, 0, 1, Compute::I32, &answer);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
