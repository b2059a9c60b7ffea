// SPDX-License-Identifier: Apache-2.0
// Sequences of numbers made from scalars: arange, range, linspace, logspace, and the unit matrix.
#include <cmath>
#include <cstring>
#include <vector>

#include "aclnnop/math.h"
#include "core/chip.h"
#include "ops/fill/generate.h"
#include "ops/op.h"
#include "ops/shape/movement.h"
#include "ops/shared/rows.h"

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

// What is left of a scalar in a tensor of `dtype`.
double as_element(const aclScalar &scalar, aclDataType dtype) {
  alignas(16) char element[16] = {};
  View view;
  view.data = element;
  view.dtype = dtype;
  fill_scalar(view, scalar);
  double value = 0;
  RowSource<double>(view).read(0, 1, &value);
  return value;
}

// `steps` numbers between two ends, both included.
struct Space {
  double from, to;
  int64_t steps;

  double at(int64_t i) const {
    if (i == steps - 1 && i > 0) return to;
    return from + static_cast<double>(i) * (steps > 1 ? (to - from) / double(steps - 1) : 0);
  }
};

// As the kernel computes the numbers that are cut to integers: in float32, each half from its end.
class SpaceOfFloats {
 public:
  explicit SpaceOfFloats(const Space &space)
      : from_(static_cast<float>(space.from)),
        to_(static_cast<float>(space.to)),
        steps_(space.steps),
        fused_(chip_is_950()) {
    if (steps_ > 1) step_ = (to_ - from_) / static_cast<float>(steps_ - 1);
  }

  float at(int64_t i) const {
    if (steps_ == 1) return from_;
    const bool first = i < steps_ / 2;
    const float end = first ? from_ : to_, count = static_cast<float>(first ? i : i + 1 - steps_);
    return fused_ ? std::fma(count, step_, end) : end + count * step_;
  }

 private:
  float from_, to_, step_ = 0;
  int64_t steps_;
  bool fused_;
};

Check &check_space(Check &check, const aclScalar *start, const aclScalar *end, int64_t steps,
                   aclTensor *out) {
  const char *out_name = check.facts().name(check.facts().count - 1);
  check.required("start", start).required("end", end).required(out_name, out);
  check.dtype("start", start).dtype("end", end).dtype(out_name, out);
  check.that(steps >= 0, "steps is %lld; it must not be negative", static_cast<long long>(steps));
  if (!check.ok()) return check;
  return check.that(out->numel() == steps, "%s has %lld elements; expected %lld", out_name,
                    static_cast<long long>(out->numel()), static_cast<long long>(steps));
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

// The ends are cast to the dtype of out before anything is computed, to float32 for INT64. Before
// the 950 series the kernel holds integers of 8 and 16 bits in float16.
EMU_OPERATOR(Linspace,
             (const aclScalar *start, const aclScalar *end, int64_t steps, aclTensor *out)) {
  Check check("aclnnLinspace");
  if (!check_space(check, start, end, steps, out).ok()) return check.status();
  const aclDataType dtype = out->dtype, kept = dtype == ACL_INT64 ? ACL_FLOAT : dtype;
  const Space space{as_element(*start, kept), as_element(*end, kept), steps};
  const aclScalar first = *start;
  PlanBuilder plan("aclnnLinspace", KernelTime::linear);
  const size_t target = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const View view = view_of(context.tensor(target));
        if (space.steps == 1) {
          fill_scalar(view, first);
        } else if (is_integer(dtype)) {
          const SpaceOfFloats floats(space);
          const bool narrow = item_size(dtype) <= 2 && !chip_is_950();
          generate<float>(
              view, [&](int64_t i) { return floats.at(i); },
              narrow ? ACL_FLOAT16 : ACL_DT_UNDEFINED);
        } else {
          generate<double>(view, [&](int64_t i) { return space.at(i); });
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// The powers of the elements of a Linspace; ends, exponents and base are rounded to the dtype of
// result, and to float32 where one end is FLOAT16 and the other BFLOAT16.
EMU_OPERATOR(LogSpace, (const aclScalar *start, const aclScalar *end, int64_t steps, double base,
                        aclTensor *result)) {
  Check check("aclnnLogSpace");
  check.required("start", start).required("end", end).required("result", result);
  check.that(base > 0, "base is %g; it must be positive", base);
  if (!check.ok()) return check.status();
  if (!check_space(check, start, end, steps, result).ok()) return check.status();
  const bool mixed = (start->dtype == ACL_FLOAT16 && end->dtype == ACL_BF16) ||
                     (start->dtype == ACL_BF16 && end->dtype == ACL_FLOAT16);
  const aclDataType dtype = mixed ? ACL_FLOAT : result->dtype;
  const Space space{as_element(*start, dtype), as_element(*end, dtype), steps};
  aclScalar given;
  given.dtype = ACL_FLOAT;
  const auto single = static_cast<float>(base);
  std::memcpy(given.value, &single, sizeof single);
  const double power_of = as_element(given, dtype);
  PlanBuilder plan("aclnnLogSpace", KernelTime::linear);
  const size_t target = plan.output(result);
  return plan.finish(
      [=](PlanContext &context) {
        std::vector<char> memory(static_cast<size_t>(space.steps * item_size(dtype)));
        View exponents;
        exponents.data = memory.data();
        exponents.dtype = dtype;
        exponents.layout.push(space.steps, 1);
        generate<double>(exponents, [&](int64_t i) { return space.at(i); });
        const RowSource<double> source(exponents);
        const auto fill = [&](int64_t begin, int64_t count, double *block) {
          source.read(begin, count, block);
          for (int64_t i = 0; i < count; ++i) block[i] = std::pow(power_of, block[i]);
        };
        generate_blocks<double>(view_of(context.tensor(target)), space.steps, fill);
        return Status{0};
      },
      workspaceSize, executor);
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
