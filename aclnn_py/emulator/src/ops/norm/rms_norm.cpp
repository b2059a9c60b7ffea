// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation of the trailing dimensions by the root of their mean square.
#include "ops/norm/rms.h"

#include "aclnnop/norm.h"

namespace emu {
namespace {

// x (or x1 + x2) normalised over the dimensions of gamma, which are the last ones.
struct RmsNormArguments {
  const char *op = nullptr;
  const aclTensor *x1 = nullptr, *x2 = nullptr, *gamma = nullptr;
  double epsilon = 0.0;
  const aclTensor *cast = nullptr;  // y once more, as float32
  const aclTensor *y = nullptr, *rstd = nullptr, *x = nullptr;
  const char *x1_name = "x1", *x2_name = "x2";
  const char *cast_name = "y1Out", *y_name = "yOut", *rstd_name = "rstdOut", *x_name = "xOut";
  bool add = true;           // x1 + x2 is normalised, and kept in x
  bool casts = false;        // cast is an argument
  bool in_place = false;     // y is x1, x is x2
  bool float_gamma = false;  // gamma may be FLOAT beside other dtypes of x1
  bool one_more = false;     // 1 + gamma scales
};

Check check_rms_norm(const RmsNormArguments &a) {
  const bool add = a.add;
  Check check(a.op);
  check.required(a.x1_name, a.x1);
  if (add) check.required(a.x2_name, a.x2);
  check.required("gamma", a.gamma);
  if (a.casts) check.required(a.cast_name, a.cast);
  check.required(a.y_name, a.y).required(a.rstd_name, a.rstd);
  if (add) check.required(a.x_name, a.x);
  check.dtype(a.x1_name, a.x1).dtype(a.x2_name, a.x2).dtype("gamma", a.gamma);
  check.dtype(a.cast_name, a.cast);
  check.dtype(a.y_name, a.y).dtype(a.rstd_name, a.rstd).dtype(a.x_name, a.x);
  check.rank(a.x1_name, a.x1, 1, 8).rank("gamma", a.gamma, 1, 8);
  if (!check.ok()) return check;
  check.same_dtype(a.y_name, a.y->dtype, a.x1_name, a.x1->dtype);
  if (add)
    check.same_dtype(a.x2_name, a.x2->dtype, a.x1_name, a.x1->dtype)
        .same_dtype(a.x_name, a.x->dtype, a.x1_name, a.x1->dtype);
  check.that(a.gamma->dtype == a.x1->dtype || (a.float_gamma && a.gamma->dtype == ACL_FLOAT),
             a.float_gamma ? "gamma has dtype %s; it must be FLOAT or that of %s, %s"
                           : "gamma has dtype %s; it must be that of %s, %s",
             dtype_name(a.gamma->dtype), a.x1_name, dtype_name(a.x1->dtype));
  const size_t rank = a.x1->rank(), inner_rank = a.gamma->rank();
  check.that(inner_rank <= rank, "gamma has %zu dimensions, more than %s with %zu", inner_rank,
             a.x1_name, rank);
  for (size_t d = 0; check.ok() && d < inner_rank; ++d) {
    check.that(a.gamma->shape[d] == a.x1->shape[rank - inner_rank + d],
               "gamma %s is not the trailing shape of %s %s",
               shape_text(layout_of(*a.gamma)).c_str(), a.x1_name,
               shape_text(layout_of(*a.x1)).c_str());
  }
  if (!check.ok()) return check;
  const Layout whole = layout_of(*a.x1);
  check.shape(a.x2_name, a.x2, whole).shape(a.cast_name, a.cast, whole);
  check.shape(a.y_name, a.y, whole).shape(a.x_name, a.x, whole);
  // Programs leave the unit dimensions of rstd away.
  const int64_t rows = outer_count(*a.x1, inner_rank);
  check.that(a.rstd->numel() == rows, "%s has shape %s; expected one value per row, %lld",
             a.rstd_name, shape_text(layout_of(*a.rstd)).c_str(), static_cast<long long>(rows));
  return check;
}

Status plan_rms_norm(const RmsNormArguments &a, uint64_t *workspace_size,
                     aclOpExecutor **executor) {
  const Check check = check_rms_norm(a);
  if (!check.ok()) return check.status();
  const int64_t rows = outer_count(*a.x1, a.gamma->rank()), width = a.gamma->numel();
  const bool add = a.add, casts = a.casts;
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t first = a.in_place ? plan.in_place(a.x1) : plan.input(a.x1);
  const size_t second = !add ? first : a.in_place ? plan.in_place(a.x2) : plan.input(a.x2);
  const size_t gamma = plan.input(a.gamma), cast = plan.output_if(a.cast);
  const size_t y = a.in_place ? first : plan.output(a.y), rstd = plan.output(a.rstd);
  const size_t sum = a.in_place ? second : add ? plan.output(a.x) : y;
  const float more = a.one_more ? 1.0f : 0.0f;
  const double epsilon = a.epsilon;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(y));
        const View sum_view = add ? view_of(c.tensor(sum)) : View();
        const View left = view_of(c.tensor(first));
        const RowSource<float> x1(operands.safe(left, {result, sum_view}));
        const RowSource<float> x2(add ? operands.safe(view_of(c.tensor(second)), {result, sum_view})
                                      : left);
        const RowTarget<float> to(result);
        const RowTarget<float> sum_to(add ? sum_view : result);
        const RowTarget<float> cast_to(casts ? view_of(c.tensor(cast)) : result, result.dtype);
        auto scale = read_all<float>(c, gamma, width, 1.0f);
        for (float &value : scale) value += more;
        std::vector<float> inverses(static_cast<size_t>(rows));
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *x) {
          x1.read(row * width, width, x);
          if (add) {
            float *other = x + width;
            x2.read(row * width, width, other);
            for (int64_t i = 0; i < width; ++i) x[i] += other[i];
            sum_to.write(row * width, width, x);
          }
          const float factor = rms_normalise(x, width, epsilon, scale.data());
          to.write(row * width, width, x);
          if (casts) cast_to.write(row * width, width, x);
          inverses[static_cast<size_t>(row)] = factor;
        });
        RowTarget<float>(view_of(c.tensor(rstd))).write(0, rows, inverses.data());
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RmsNorm, (const aclTensor *x, const aclTensor *gamma, double epsilon, aclTensor *yOut,
                       aclTensor *rstdOut)) {
  emu::RmsNormArguments a;
  a.op = "aclnnRmsNorm";
  a.x1 = x, a.gamma = gamma, a.epsilon = epsilon, a.y = yOut, a.rstd = rstdOut;
  a.x1_name = "x";
  a.add = false, a.float_gamma = true;
  return emu::plan_rms_norm(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GemmaRmsNorm, (const aclTensor *x, const aclTensor *gamma, double epsilon,
                            aclTensor *yOut, aclTensor *rstdOut)) {
  emu::RmsNormArguments a;
  a.op = "aclnnGemmaRmsNorm";
  a.x1 = x, a.gamma = gamma, a.epsilon = epsilon, a.y = yOut, a.rstd = rstdOut;
  a.x1_name = "x";
  a.add = false, a.one_more = true;
  return emu::plan_rms_norm(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AddRmsNorm, (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
                          double epsilon, aclTensor *yOut, aclTensor *rstdOut, aclTensor *xOut)) {
  emu::RmsNormArguments a;
  a.op = "aclnnAddRmsNorm";
  a.x1 = x1, a.x2 = x2, a.gamma = gamma, a.epsilon = epsilon;
  a.y = yOut, a.rstd = rstdOut, a.x = xOut;
  a.rstd_name = "rstdOutOptional", a.x_name = "xOutOptional";
  return emu::plan_rms_norm(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AddRmsNormCast,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, double epsilon,
              aclTensor *y1Out, aclTensor *y2Out, aclTensor *rstdOut, aclTensor *xOut)) {
  emu::RmsNormArguments a;
  a.op = "aclnnAddRmsNormCast";
  a.x1 = x1, a.x2 = x2, a.gamma = gamma, a.epsilon = epsilon;
  a.cast = y1Out, a.y = y2Out, a.rstd = rstdOut, a.x = xOut;
  a.y_name = "y2Out";
  a.casts = true;
  return emu::plan_rms_norm(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceAddRmsNorm, (aclTensor *x1Ref, aclTensor *x2Ref, const aclTensor *gamma,
                                 double epsilon, aclTensor *rstdOut)) {
  emu::RmsNormArguments a;
  a.op = "aclnnInplaceAddRmsNorm";
  a.x1 = x1Ref, a.x2 = x2Ref, a.gamma = gamma, a.epsilon = epsilon;
  a.y = x1Ref, a.rstd = rstdOut, a.x = x2Ref;
  a.x1_name = a.y_name = "x1Ref", a.x2_name = a.x_name = "x2Ref";
  a.in_place = true;
  return emu::plan_rms_norm(a, workspaceSize, executor);
}
EMU_CATCH
