// SPDX-License-Identifier: Apache-2.0
// Sequences of numbers made from scalars: arange, range, linspace, logspace, and the unit matrix.
#include <cmath>

#include "aclnnop/math.h"
#include "ops/fill/generate.h"
#include "ops/op.h"

namespace emu {
namespace {

bool is_integral(const aclScalar *scalar) {
  return is_integer(scalar->dtype) || scalar->dtype == ACL_BOOL;
}

// Elements of start, start + step, ... below `end` or, if `closed`, up to it.
int64_t steps_between(double start, double end, double step, bool closed) {
  const double span = (end - start) / step, count = closed ? std::floor(span) + 1 : std::ceil(span);
  return count < 0x1p63 ? static_cast<int64_t>(count) : kUncountable;
}
int64_t steps_between(int64_t start, int64_t end, int64_t step, bool closed) {
  const auto wide = [](int64_t value) { return static_cast<__int128>(value); };
  const __int128 span = wide(end) - start, whole = span / step;
  const __int128 count = closed ? whole + 1 : whole + (span % step != 0 ? 1 : 0);
  return count < kUncountable ? static_cast<int64_t>(count) : kUncountable;
}

template <class T>
void check_direction(Check &check, T from, T to, T by) {
  const auto shown = [](T value) { return static_cast<double>(value); };
  check.that(by != 0, "step is 0 in the dtype of out");
  check.that(by > 0 ? from <= to : from >= to, "step %g does not lead from %g to %g", shown(by),
             shown(from), shown(to));
}

Status plan_steps(const char *op, const aclScalar *start, const aclScalar *end,
                  const aclScalar *step, aclTensor *out, bool closed, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  Check check(op);
  check.required("start", start).required("end", end).required("step", step).required("out", out);
  check.dtype("start", start).dtype("end", end).dtype("step", step).dtype("out", out);
  if (!check.ok()) return check.status();
  const double from = start->to_double(), to = end->to_double(), by = step->to_double();
  check.that(by != 0 && std::isfinite(by), "step is %g; it must be finite and not zero", by);
  check.that(std::isfinite(from) && std::isfinite(to),
             "start and end are %g and %g; they must be finite", from, to);
  if (!check.ok()) return check.status();
  // Into INT64 the three numbers are cast before anything is computed, into INT32 only before they
  // are compared.
  const bool whole = out->dtype == ACL_INT64;
  const int64_t whole_from = start->to_int64(), whole_by = step->to_int64(),
                whole_to = end->to_int64();
  if (whole || out->dtype == ACL_INT32) check_direction(check, whole_from, whole_to, whole_by);
  else check_direction(check, from, to, by);
  if (!check.ok()) return check.status();
  const int64_t count = whole ? steps_between(whole_from, whole_to, whole_by, closed)
                              : steps_between(from, to, by, closed);
  check.that(out->numel() == count, "out has %lld elements; expected %lld",
             static_cast<long long>(out->numel()), static_cast<long long>(count));
  if (!check.ok()) return check.status();
  const bool exact = whole || (is_integral(start) && is_integral(step));
  PlanBuilder plan(op, KernelTime::linear);
  const size_t target = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const View view = view_of(context.tensor(target));
        if (exact) {
          generate<int64_t>(view, [=](int64_t i) { return whole_from + i * whole_by; });
        } else {
          generate<double>(view, [=](int64_t i) { return from + static_cast<double>(i) * by; });
        }
        return Status{0};
      },
      workspace_size, executor);
}

// `steps` numbers from `start` to `end`, both included; exponents of `base` when that is not 0.
Status plan_space(const char *op, const aclScalar *start, const aclScalar *end, int64_t steps,
                  double base, aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  const char *out_name = check.facts().name(check.facts().count - 1);
  check.required("start", start).required("end", end).required(out_name, out);
  check.dtype("start", start).dtype("end", end).dtype(out_name, out);
  check.that(steps >= 0, "steps is %lld; it must not be negative", static_cast<long long>(steps));
  if (check.ok()) {
    check.that(out->numel() == steps, "%s has %lld elements; expected %lld", out_name,
               static_cast<long long>(out->numel()), static_cast<long long>(steps));
  }
  if (!check.ok()) return check.status();
  const double from = start->to_double(), to = end->to_double();
  const double step = steps > 1 ? (to - from) / static_cast<double>(steps - 1) : 0;
  PlanBuilder plan(op, KernelTime::linear);
  const size_t target = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const auto position = [=](int64_t i) {
          return i == steps - 1 && i > 0 ? to : from + static_cast<double>(i) * step;
        };
        const View view = view_of(context.tensor(target));
        if (base == 0) generate<double>(view, position);
        else generate<double>(view, [=](int64_t i) { return std::pow(base, position(i)); });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

EMU_OPERATOR(Arange, (const aclScalar *start, const aclScalar *end, const aclScalar *step,
                      aclTensor *out)) {
  return plan_steps("aclnnArange", start, end, step, out, false, workspaceSize, executor);
}
EMU_CATCH

// As Arange, with the end included.
EMU_OPERATOR(Range, (const aclScalar *start, const aclScalar *end, const aclScalar *step,
                     aclTensor *out)) {
  return plan_steps("aclnnRange", start, end, step, out, true, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Linspace,
             (const aclScalar *start, const aclScalar *end, int64_t steps, aclTensor *out)) {
  return plan_space("aclnnLinspace", start, end, steps, 0, out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(LogSpace, (const aclScalar *start, const aclScalar *end, int64_t steps, double base,
                        aclTensor *result)) {
  Check check("aclnnLogSpace");
  check.required("start", start).required("end", end).required("result", result);
  check.that(base > 0, "base is %g; it must be positive", base);
  if (!check.ok()) return check.status();
  return plan_space("aclnnLogSpace", start, end, steps, base, result, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Eye, (int64_t n, int64_t m, aclTensor *out)) {
  Check check("aclnnEye");
  check.required("out", out).dtype("out", out);
  check.that(n >= 0 && m >= 0, "n and m are %lld and %lld; they must not be negative",
             static_cast<long long>(n), static_cast<long long>(m));
  if (!check.ok()) return check.status();
  const int64_t shape[] = {n, m};
  check.shape("out", out, dense_layout(shape, 2));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnEye", KernelTime::linear);
  const size_t target = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        generate<int32_t>(view_of(context.tensor(target)),
                          [m](int64_t i) { return i / m == i % m ? 1 : 0; });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
