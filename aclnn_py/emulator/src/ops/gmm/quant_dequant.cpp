// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// QuantMatmulDequant, QuantGroupedMatmulDequant and its WeightNZ, which the 310P has: rows are
// quantised, by given scales or by their own, multiplied by the weight of their group, and scaled
// back. Everything around the exact sums is float32; the result is rounded once. Rows behind the
// last group are not written.
#include <cmath>
#include <cstring>

#include "aclnnop/gmm.h"
#include "aclnnop/matmul.h"
#include "core/chip.h"
#include "ops/gmm/grouped.h"
#include "ops/gmm/low_bits.h"
#include "ops/matmul/quant/product.h"
#include "ops/shared/dynamic.h"

namespace emu {
namespace {

constexpr int64_t kUnit = 16, kBlock = 32, kRowsAtOnce = 1024;

struct DequantCall {
  const char *op;
  bool grouped;
  Blocks blocks;
  const aclTensor *x, *weight, *weight_scale, *groups, *bias, *x_scale, *x_offset, *smooth;
  const char *mode;
  bool transpose;
  const aclTensor *out;

  // An operand without elements is as good as none.
  bool dynamic() const { return x_scale == nullptr || x_scale->numel() == 0; }
  bool smooths() const { return smooth != nullptr && smooth->numel() > 0; }
  // The scales of the weight hold the bits of a float32 that has the scale of x in it.
  bool joined() const { return weight_scale->dtype == ACL_INT64; }
  bool by_tensor() const { return std::strcmp(mode, "pertensor") == 0; }
};

struct DequantSizes {
  int64_t rows, depth, columns, groups;
};

void check_presence(Check &check, const DequantCall &a) {
  check.required("x", a.x).required("weight", a.weight).required("weightScale", a.weight_scale);
  if (a.grouped) check.required("groupList", a.groups);
  check.optional("biasOptional", a.bias).optional("xScaleOptional", a.x_scale);
  check.optional("xOffsetOptional", a.x_offset).optional("smoothScaleOptional", a.smooth);
  check.required_text("xQuantMode", a.mode).required("out", a.out);
  check.that(chip_is_310p(),
             "the chip is %s; only the 310P has this operator, which "
             "ACLNN_PY_EMULATOR_SOC=Ascend310P3 emulates",
             soc_name());
  check.that(a.bias == nullptr, "biasOptional is given; it must be null");
  check.that(a.x_offset == nullptr, "xOffsetOptional is given; it must be null");
}

void check_dtypes(Check &check, const DequantCall &a) {
  check.dtype("x", a.x).dtype("weight", a.weight).dtype("weightScale", a.weight_scale);
  if (a.grouped) check.dtype("groupList", a.groups);
  check.dtype("xScaleOptional", a.x_scale).dtype("smoothScaleOptional", a.smooth);
  check.dtype("out", a.out).plain_format("x", a.x).plain_format("out", a.out);
  if (!check.ok() || a.x_scale == nullptr) return;
  check.dtype_in("xScaleOptional", a.x_scale->dtype,
                 dtype_set(a.joined() ? ACL_FLOAT16 : ACL_FLOAT));
}

void check_mode(Check &check, const DequantCall &a) {
  check.that(a.by_tensor() || std::strcmp(a.mode, "pertoken") == 0,
             "xQuantMode is \"%.40s\"; allowed: pertoken, pertensor", a.mode);
  check.that(a.transpose, "transposeWeight is false; only true is supported");
  check.that(!a.by_tensor() || !a.dynamic(),
             "xQuantMode is \"pertensor\"; then xScaleOptional must be given");
  check.that(
      !a.joined() || (a.by_tensor() && !a.dynamic()),
      "weightScale has dtype INT64; then xQuantMode must be \"pertensor\" and xScaleOptional "
      "be given");
}

Status check_dequant(const DequantCall &a, DequantSizes *s) {
  Check check(a.op);
  check_presence(check, a);
  if (check.ok()) check_dtypes(check, a);
  if (!check.ok()) return check.status();
  Check form(a.op);
  form.tiling();
  const size_t dimensions = a.grouped ? 3 : 2;
  check_weight(form, "weight", *a.weight, dimensions, a.blocks).rank("x", a.x, 2, 2);
  if (!form.ok()) return form.status();
  const aclTensor weight = weight_of(*a.weight, a.blocks);
  const size_t rank = weight.rank();
  s->columns = weight.shape[rank - 2], s->depth = weight.shape[rank - 1];
  s->groups = a.grouped ? weight.shape[0] : 1;
  s->rows = a.x->shape[0];
  // A shape of blocks tells k as a whole number of them only.
  const int64_t own = a.x->shape[1];
  const bool filled = a.weight->rank() > dimensions && own < s->depth && s->depth - own < kBlock;
  if (filled) s->depth = own;
  check.that(s->columns % kUnit == 0 && s->depth % kUnit == 0,
             "weight has %lld columns and %lld rows for each group; both must be multiples of 16",
             wide(s->columns), wide(s->depth));
  if (!check.ok()) return check.status();
  check_mode(form, a);
  form.that(s->rows > 0 && s->depth > 0, "x has shape %s; it must not be empty",
            shape_text(layout_of(*a.x)).c_str());
  form.that(s->columns > 0 && s->groups > 0, "weight has shape %s; it must not be empty",
            shape_text(layout_of(*a.weight)).c_str());
  const int64_t x[] = {s->rows, s->depth}, out[] = {s->rows, s->columns};
  const int64_t scales[] = {s->groups, s->columns}, one = 1;
  form.shape("x", a.x, dense_layout(x, 2)).shape("out", a.out, dense_layout(out, 2));
  form.shape("weightScale", a.weight_scale,
             a.grouped ? dense_layout(scales, 2) : dense_layout(scales + 1, 1));
  if (a.grouped) form.shape("groupList", a.groups, dense_layout(&s->groups, 1));
  if (!a.dynamic())
    form.shape("xScaleOptional", a.x_scale, dense_layout(a.by_tensor() ? &one : &s->rows, 1));
  if (a.smooths()) form.shape("smoothScaleOptional", a.smooth, dense_layout(&s->depth, 1));
  return form.status();
}

struct DequantJob {
  const char *op;
  size_t x, weight, weight_scale, groups, x_scale, smooth, out;
  DequantSizes sizes;
  Blocks blocks;
  bool grouped, by_tensor, joined;
};

int8_t code_of(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int8_t>(std::clamp(std::nearbyint(value), -128.0f, 127.0f));
}

class DequantRun {
 public:
  DequantRun(const DequantJob &job, PlanContext &c)
      : job_(job), c_(c), x_(view_of(c.tensor(job.x))) {}

  Status into(const View &out) {
    const DequantSizes &s = job_.sizes;
    std::vector<GroupSpan> spans{{0, 0, s.rows}};
    if (job_.grouped) {
      spans.clear();
      const Status status = read_groups(job_.op, c_.tensor(job_.groups), 0,
                                        static_cast<size_t>(s.groups), s.rows, &spans);
      if (status != 0) return status;
    }
    smooth_ = read_all<float>(c_, job_.smooth, s.depth, 1.0f);
    if (c_.has(job_.x_scale))
      given_ = read_all<float>(c_, job_.x_scale, job_.by_tensor ? 1 : s.rows, 1.0f);
    const aclTensor weight = weight_of(c_.tensor(job_.weight), job_.blocks);
    for (const GroupSpan &span : spans) {
      if (span.count == 0) continue;
      const aclTensor own = job_.grouped ? entry_of(weight, span.group) : weight;
      std::vector<int8_t> memory;
      Matrix b = as_int8(own, memory).transposed();
      b.rows = s.depth;
      Dequantised form;
      form.column_scale = column_scales(static_cast<int64_t>(span.group));
      for (int64_t i = 0; i < span.count; i += kRowsAtOnce)
        multiply(span.first + i, std::min(kRowsAtOnce, span.count - i), b, form, out);
    }
    return 0;
  }

 private:
  std::vector<float> column_scales(int64_t group) const {
    const int64_t n = job_.sizes.columns;
    const View scales = view_of(c_.tensor(job_.weight_scale));
    std::vector<float> values(static_cast<size_t>(n));
    if (!job_.joined) {
      RowSource<float>(scales).read(group * n, n, values.data());
      return values;
    }
    std::vector<int64_t> bits(static_cast<size_t>(n));
    RowSource<int64_t>(scales).read(group * n, n, bits.data());
    for (size_t i = 0; i < bits.size(); ++i) {
      const auto low = static_cast<uint32_t>(bits[i]);
      std::memcpy(&values[i], &low, sizeof low);
    }
    return values;
  }

  void multiply(int64_t first, int64_t count, const Matrix &b, Dequantised &form, const View &out) {
    const int64_t depth = job_.sizes.depth;
    std::vector<int8_t> codes(static_cast<size_t>(count * depth));
    std::vector<float> scales(static_cast<size_t>(count));
    for_each_row<float>(count, depth, 1, [&](int64_t row, float *values) {
      x_.read((first + row) * depth, depth, values);
      for (int64_t i = 0; i < depth; ++i) values[i] *= smooth_[static_cast<size_t>(i)];
      float &scale = scales[static_cast<size_t>(row)];
      if (given_.empty()) {
        scale = scale_symmetric(values, depth, quant_range(ACL_INT8)).scale;
      } else {
        scale = given_[job_.by_tensor ? 0 : static_cast<size_t>(first + row)];
        for (int64_t i = 0; i < depth; ++i) values[i] /= scale;
      }
      int8_t *to = codes.data() + row * depth;
      for (int64_t i = 0; i < depth; ++i) to[i] = code_of(values[i]);
    });
    if (!job_.joined) form.row_scale = std::move(scales);
    const Matrix a{codes.data(), ACL_INT8, count, depth, {depth}, {1}};
    const int64_t *stride = out.layout.stride;
    const MatrixOut place{out.data + first * stride[0] * item_size(out.dtype), out.dtype, stride[0],
                          stride[1]};
    gemm_i32(a, b, DequantisedStore(form, place));
  }

  const DequantJob &job_;
  PlanContext &c_;
  const RowSource<float> x_;
  std::vector<float> smooth_, given_;
};

Status run(const DequantJob &job, PlanContext &c) {
  const View out = view_of(c.tensor(job.out));
  bool shared = false;
  for (const size_t at : {job.x, job.weight, job.weight_scale})
    shared = shared || memory_overlaps(c.tensor(at), c.tensor(job.out));
  DequantRun product(job, c);
  if (!shared) return product.into(out);
  // The result is made aside, so that no operand is overwritten while it is still read.
  const Snapshot aside(out);
  const Status status = product.into(aside.view());
  if (status == 0) copy_view(aside.view(), out);
  return status;
}

Status plan_dequant(const DequantCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  DequantSizes sizes{};
  if (const Status status = check_dequant(a, &sizes)) return status;
  PlanBuilder plan(a.op);
  DequantJob job{};
  job.op = a.op, job.sizes = sizes, job.blocks = a.blocks, job.grouped = a.grouped;
  job.by_tensor = a.by_tensor(), job.joined = a.joined();
  job.x = plan.input(a.x), job.weight = plan.input(a.weight);
  job.weight_scale = plan.input(a.weight_scale);
  job.groups = a.grouped ? plan.input(a.groups) : plan.input_if(nullptr);
  plan.unused(a.bias);
  job.x_scale = a.dynamic() ? plan.unused(a.x_scale) : plan.input(a.x_scale);
  plan.unused(a.x_offset);
  job.smooth = a.smooths() ? plan.input(a.smooth) : plan.unused(a.smooth);
  job.out = plan.output(a.out);
  const auto kept = std::make_shared<const DequantJob>(job);
  return plan.finish([kept](PlanContext &c) { return run(*kept, c); }, workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantMatmulDequant,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *weightScale,
              const aclTensor *biasOptional, const aclTensor *xScaleOptional,
              const aclTensor *xOffsetOptional, const aclTensor *smoothScaleOptional,
              const char *xQuantMode, bool transposeWeight, aclTensor *out)) {
  return emu::plan_dequant({"aclnnQuantMatmulDequant", false, emu::Blocks::kByFormat, x, weight,
                            weightScale, nullptr, biasOptional, xScaleOptional, xOffsetOptional,
                            smoothScaleOptional, xQuantMode, transposeWeight, out},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantGroupedMatmulDequant,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *weightScale,
              const aclTensor *groupList, const aclTensor *biasOptional,
              const aclTensor *xScaleOptional, const aclTensor *xOffsetOptional,
              const aclTensor *smoothScaleOptional, const char *xQuantMode, bool transposeWeight,
              aclTensor *out)) {
  return emu::plan_dequant({"aclnnQuantGroupedMatmulDequant", true, emu::Blocks::kByFormat, x,
                            weight, weightScale, groupList, biasOptional, xScaleOptional,
                            xOffsetOptional, smoothScaleOptional, xQuantMode, transposeWeight, out},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantGroupedMatmulDequantWeightNZ,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *weightScale,
              const aclTensor *groupList, const aclTensor *biasOptional,
              const aclTensor *xScaleOptional, const aclTensor *xOffsetOptional,
              const aclTensor *smoothScaleOptional, const char *xQuantMode, bool transposeWeight,
              aclTensor *out)) {
  return emu::plan_dequant({"aclnnQuantGroupedMatmulDequantWeightNZ", true, emu::Blocks::kAlways, x,
                            weight, weightScale, groupList, biasOptional, xScaleOptional,
                            xOffsetOptional, smoothScaleOptional, xQuantMode, transposeWeight, out},
                           workspaceSize, executor);
}
EMU_CATCH
