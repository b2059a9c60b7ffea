// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Products with vectors that also take integers: Dot and Addmv. Integers are summed modulo a power
// of 2 and stored with their low bits.
#include "aclnnop/math.h"
#include "aclnnop/matmul.h"
#include "ops/matmul/dot.h"
#include "ops/matmul/product.h"

#include <algorithm>
#include <vector>

namespace emu {
namespace {

std::vector<int64_t> integers(const View &view) {
  std::vector<int64_t> values(static_cast<size_t>(view.count()) + kBlock);
  const Reader reader(view, ACL_INT64);
  for (int64_t i = 0; i < view.count(); i += kBlock) {
    const int64_t n = std::min(kBlock, view.count() - i);
    const void *block = reader.read(i, n, values.data() + i);
    if (block != values.data() + i)
      std::copy_n(static_cast<const int64_t *>(block), n, values.data() + i);
  }
  return values;
}

int64_t wrapping_dot(const int64_t *a, const int64_t *b, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += static_cast<uint64_t>(a[i]) * static_cast<uint64_t>(b[i]);
  return static_cast<int64_t>(sum);
}

void store_integers(const std::vector<int64_t> &values, int64_t count, const View &out) {
  const Writer writer(out, Compute::I64, ACL_DT_UNDEFINED);
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t n = std::min(kBlock, count - i);
    alignas(64) char scratch[kBlock * 8];
    void *target = writer.target(i, scratch);
    std::copy_n(values.data() + i, n, static_cast<int64_t *>(target));
    writer.write(i, n, target);
  }
}

bool computed_in_integers(aclDataType dtype) { return is_integer(dtype) || dtype == ACL_BOOL; }

// The dtypes that the source lists for every argument of Addmv, tensors and scalars.
constexpr DtypeSet kAddmvDtypes = dt::kFloating | dt::kSigned | dt::kBool | dtype_set(ACL_UINT8);

// bool, integers, floating point: a scalar changes the dtype of tensors only where its kind comes
// later.
int kind_of(aclDataType dtype) { return dtype == ACL_BOOL ? 0 : is_integer(dtype) ? 1 : 2; }

aclDataType with_scalar(aclDataType tensors, aclDataType scalar) {
  return kind_of(scalar) > kind_of(tensors) ? promote(tensors, scalar) : tensors;
}

View as_column(View view) {
  view.layout.push(1, 0);
  return view;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Dot, (const aclTensor *self, const aclTensor *tensor, aclTensor *out)) {
  emu::Check check("aclnnDot");
  check.required("self", self).required("tensor", tensor).required("out", out);
  check.dtype("self", self).dtype("tensor", tensor).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("tensor", tensor->dtype, "self", self->dtype)
      .same_dtype("out", out->dtype, "self", self->dtype);
  check.rank("self", self, 1, 1).rank("tensor", tensor, 1, 1);
  if (check.ok()) check.shape("tensor", tensor, emu::layout_of(*self));
  check.shape("out", out, emu::Layout());
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan("aclnnDot", emu::KernelTime::linear);
  const size_t left = plan.input(self), right = plan.input(tensor), to = plan.output(out);
  return plan.finish(
      [=](emu::PlanContext &c) {
        const emu::View a = emu::view_of(c.tensor(left)), b = emu::view_of(c.tensor(right));
        const emu::View result = emu::view_of(c.tensor(to));
        if (emu::computed_in_integers(a.dtype)) {
          emu::store_integers({emu::dot_of_integers(a, b)}, 1, result);
          return emu::Status{0};
        }
        const auto sum = static_cast<float>(emu::dot_of_floats(a, b));
        emu::Writer(result, emu::Compute::F32, ACL_DT_UNDEFINED).write(0, 1, &sum);
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Addmv,
             (const aclTensor *self, const aclTensor *mat, const aclTensor *vec,
              const aclScalar *alpha, const aclScalar *beta, aclTensor *out, int8_t cubeMathType)) {
  using namespace emu;
  Check check("aclnnAddmv");
  check.required("self", self).required("mat", mat).required("vec", vec);
  check.required("alpha", alpha).required("beta", beta).required("out", out);
  check.dtype("self", self).dtype("mat", mat).dtype("vec", vec).dtype("out", out);
  if (check.ok())
    check.dtype_in("alpha", alpha->dtype, kAddmvDtypes).dtype_in("beta", beta->dtype, kAddmvDtypes);
  check.that(cubeMathType >= 0 && cubeMathType <= 3, "cubeMathType is %d; allowed: 0 to 3",
             cubeMathType);
  check.rank("self", self, 1, 1).rank("mat", mat, 2, 2).rank("vec", vec, 1, 1);
  if (!check.ok()) return check.status();
  aclDataType common = promote(promote(mat->dtype, vec->dtype), self->dtype);
  check.that(common != ACL_DT_UNDEFINED, "mat, vec and self have dtypes that do not meet");
  if (check.ok()) common = with_scalar(with_scalar(common, alpha->dtype), beta->dtype);
  check.castable(common, "out", out->dtype);
  Layout result;
  result.push(mat->shape[0], 1);
  check.that(mat->shape[1] == vec->shape[0], "mat %s and vec %s cannot be multiplied",
             shape_text(layout_of(*mat)).c_str(), shape_text(layout_of(*vec)).c_str());
  Layout met;
  check.that(broadcast_shapes(layout_of(*self), result, &met) && same_shape(met, result),
             "self %s does not broadcast to %s", shape_text(layout_of(*self)).c_str(),
             shape_text(result).c_str());
  check.shape("out", out, result);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnAddmv", KernelTime::linear);
  const size_t addend = plan.input(self), left = plan.input(mat), right = plan.input(vec),
               to = plan.output(out);
  const bool integer = computed_in_integers(common);
  const double alpha_value = alpha->to_double();
  double beta_value = beta->to_double();
  // Without a product CANN multiplies self by beta even where that is zero.
  const bool no_product = counts_as_zero(alpha_value), alone = no_product || mat->shape[1] == 0;
  if (counts_as_zero(beta_value) && !alone) beta_value = 0;
  const int64_t whole_alpha = alpha->to_int64(), whole_beta = beta->to_int64();
  return plan.finish(
      [=](PlanContext &c) {
        View target = view_of(c.tensor(to));
        const View a = view_of(c.tensor(left)), b = view_of(c.tensor(right));
        const View add = view_of(c.tensor(addend), target.layout);
        if (integer) {
          const auto x = integers(a), y = integers(b), z = integers(add);
          const int64_t rows = a.layout.shape[0], cols = a.layout.shape[1];
          std::vector<int64_t> sums(static_cast<size_t>(rows));
          for (int64_t i = 0; i < rows; ++i) {
            const auto product =
                static_cast<uint64_t>(wrapping_dot(x.data() + i * cols, y.data(), cols));
            sums[static_cast<size_t>(i)] =
                static_cast<int64_t>(static_cast<uint64_t>(whole_alpha) * product +
                                     static_cast<uint64_t>(whole_beta) *
                                         static_cast<uint64_t>(z[static_cast<size_t>(i)]));
          }
          store_integers(sums, rows, target);
          return Status{0};
        }
        // All operands in the dtype they meet in: the engine mixes the kinds of float32 and below,
        // but not with float64 or integers.
        const auto met_in = [&](const View &view, std::unique_ptr<char[]> &memory) {
          if (view.dtype == common || (common == ACL_FLOAT && gemm_is_float(view.dtype)))
            return view;
          View copy = view;
          copy.dtype = common;
          copy.layout = dense_like(view.layout);
          memory.reset(new char[static_cast<size_t>(view.count() * item_size(common)) + 1]);
          copy.data = memory.get();
          copy_view(view, copy);
          return copy;
        };
        std::unique_ptr<char[]> memory[4];
        const Snapshot kept(add);
        View result = target;
        if (common == ACL_DOUBLE && target.dtype != ACL_DOUBLE) {
          result.dtype = common;
          result.layout = dense_like(target.layout);
          memory[3].reset(new char[static_cast<size_t>(target.count()) * sizeof(double) + 1]);
          result.data = memory[3].get();
        }
        StackProduct product;
        product.a = matrix_stack(met_in(a, memory[0]));
        product.b = matrix_stack(as_column(met_in(b, memory[1])));
        product.addend = matrix_stack(as_column(met_in(kept.view(), memory[2])));
        product.has_addend = true;
        product.keeps_addend = alone;
        if (no_product) product.a.first.cols = product.b.first.rows = 0;
        product.alpha = alpha_value;
        product.beta = beta_value;
        product.out = as_column(result);
        multiply(product);
        if (result.data != target.data) copy_view(result, target);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
