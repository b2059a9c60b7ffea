// SPDX-License-Identifier: Apache-2.0
// Products with quantised weights: the weight becomes (q + offset) * scale, rounded to the dtype of
// x, and is then an ordinary operand. On chips of the 950 series it may be of floats.
#include <cinttypes>

#include "aclnnop/matmul.h"
#include "core/statuses.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/matmul/quant/float_product.h"
#include "ops/matmul/quant/product.h"
#include "ops/matmul/quant/weight_quant.h"

namespace emu {
namespace {

constexpr DtypeSet kPacked = dtype_set(ACL_UINT64, ACL_INT64);
constexpr DtypeSet kWords = dtype_set(ACL_INT32, ACL_FLOAT);  // eight numbers to an element
constexpr DtypeSet kFloats8 = dtype_set(ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8),
                   kFloats4 = dtype_set(ACL_FLOAT4_E2M1, ACL_FLOAT);
constexpr int64_t kMostPackedRows = 96;

struct WeightQuantCall {
  const char *op;
  const aclTensor *x, *weight, *scale, *offset, *quant_scale, *quant_offset, *bias;
  int group_size, inner_precise;
  const aclTensor *y;
};

// The eight 4-bit numbers of an INT32 or FLOAT lie along the axis that is too short without them.
Packing weight_packing(const aclTensor &weight, int64_t depth) {
  if (!contains(kWords, weight.dtype)) return Packing::kNone;
  return weight.shape[0] == depth ? Packing::kAlongColumns : Packing::kAlongRows;
}

// What the rules found out.
struct WeightQuantProblem {
  WeightQuantCall call;
  Packing packing = Packing::kNone;
  int64_t depth = 0, cols = 0, groups = 1;
};

class WeightQuantRules {
 public:
  explicit WeightQuantRules(WeightQuantProblem *problem)
      : p_(*problem), c_(problem->call), check_(c_.op) {}

  Status run() {
    presence();
    if (ok()) dtypes();
    if (ok()) shapes();
    if (ok()) scales();
    if (ok()) results();
    return check_.status();
  }

 private:
  bool ok() const { return check_.ok(); }

  void presence() {
    check_.required("x", c_.x).required("weight", c_.weight).required("antiquantScale", c_.scale);
    check_.required("y", c_.y).optional("antiquantOffsetOptional", c_.offset);
    check_.optional("biasOptional", c_.bias).optional("quantScaleOptional", c_.quant_scale);
    check_.optional("quantOffsetOptional", c_.quant_offset);
  }

  void dtypes() {
    check_.dtype("x", c_.x).dtype("weight", c_.weight).dtype("biasOptional", c_.bias);
    if (!ok()) return;
    const aclDataType x = c_.x->dtype;
    if (contains(kFloats8 | kFloats4, c_.weight->dtype)) {
      float_dtypes();
    } else if (contains(kPacked, c_.scale->dtype)) {
      packed_dtypes();
    } else {
      check_.same_dtype("antiquantScale", c_.scale->dtype, "x", x);
      if (c_.offset) check_.same_dtype("antiquantOffsetOptional", c_.offset->dtype, "x", x);
    }
    check_.dtype_in("y", c_.y->dtype, dtype_set(x, ACL_INT8));
    check_.dtype("quantScaleOptional", c_.quant_scale);
    check_.dtype("quantOffsetOptional", c_.quant_offset);
    check_.that((c_.y->dtype == ACL_INT8) == (c_.quant_scale != nullptr),
                "quantScaleOptional and an INT8 y belong together");
    check_.that(c_.quant_scale || !c_.quant_offset,
                "quantOffsetOptional is given without quantScaleOptional");
    check_.that(c_.inner_precise == 0 || c_.inner_precise == 1,
                "innerPrecise is %d; allowed: 0 and 1", c_.inner_precise);
  }

  // Floats of 8 bits have a scale for each column, those of 4 bits powers of two for each 32 rows.
  void float_dtypes() {
    const char *weight = dtype_name(c_.weight->dtype);
    const bool four = contains(kFloats4, c_.weight->dtype);
    const aclDataType x = c_.x->dtype, scale = four ? ACL_FLOAT8_E8M0 : x;
    const int group = four ? static_cast<int>(kPairedGroup) : 0;
    check_.that(c_.scale->dtype == scale, "antiquantScale has dtype %s; with a weight of %s: %s",
                dtype_name(c_.scale->dtype), weight, dtype_name(scale));
    check_.that(c_.offset == nullptr,
                "antiquantOffsetOptional is given; with a weight of %s it must be null", weight);
    check_.that(c_.quant_scale == nullptr,
                "quantScaleOptional is given; with a weight of %s it must be null", weight);
    check_.that(c_.group_size == group, "antiquantGroupSize is %d; with a weight of %s: %d",
                c_.group_size, weight, group);
    check_.that(!is_fractal(*c_.weight), "weight has the format %s; of %s: ND",
                format_name(c_.weight->format), weight);
    if (c_.bias) check_.same_dtype("biasOptional", c_.bias->dtype, "x", x);
  }

  void packed_dtypes() {
    const char *scale = dtype_name(c_.scale->dtype);
    check_.that(c_.x->dtype == ACL_FLOAT16, "x has dtype %s; with an antiquantScale of %s: FLOAT16",
                dtype_name(c_.x->dtype), scale);
    check_.that(c_.weight->dtype == ACL_INT8,
                "weight has dtype %s; with an antiquantScale of %s: INT8",
                dtype_name(c_.weight->dtype), scale);
    check_.that(!c_.offset || c_.offset->dtype == ACL_INT32,
                "antiquantOffsetOptional has dtype %s; with an antiquantScale of %s: INT32",
                c_.offset ? dtype_name(c_.offset->dtype) : "", scale);
    check_.that(c_.quant_scale == nullptr,
                "quantScaleOptional is given; with an antiquantScale of %s it must be null", scale);
    check_.that(c_.group_size == 0, "antiquantGroupSize is %d; with an antiquantScale of %s: 0",
                c_.group_size, scale);
  }

  void shapes() {
    check_.rank("x", c_.x, 2, 2).rank("weight", c_.weight, 2, 2);
    check_.rank("antiquantScale", c_.scale, 1, 2);
    if (!ok()) return;
    p_.depth = c_.x->shape[1];
    p_.packing = weight_packing(*c_.weight, p_.depth);
    const NumberShape weight = number_shape(*c_.weight, p_.packing);
    p_.cols = weight.cols;
    check_.that(weight.rows == p_.depth, "x %s and weight %s cannot be multiplied",
                shape_text(layout_of(*c_.x)).c_str(), shape_text(layout_of(*c_.weight)).c_str());
    const int size = c_.group_size;
    check_.that(size == 0 || (size >= 32 && size % 32 == 0 && size < p_.depth),
                "antiquantGroupSize is %d; allowed: 0 or a multiple of 32 below %" PRId64, size,
                p_.depth);
    if (!ok()) return;
    if (size > 0) p_.groups = (p_.depth + size - 1) / size;
    if (!contains(kPacked, c_.scale->dtype)) return;
    check_.that(c_.x->shape[0] >= 1 && c_.x->shape[0] <= kMostPackedRows,
                "x has %" PRId64 " rows; with an antiquantScale of 64 bits 1 to %" PRId64
                " are allowed",
                c_.x->shape[0], kMostPackedRows);
    check_.that(p_.depth % 64 == 0 && p_.cols % 64 == 0,
                "weight is (%" PRId64 ", %" PRId64
                "); with an antiquantScale of 64 bits both are multiples of 64",
                p_.depth, p_.cols);
    check_.that(
        !is_fractal(*c_.weight) && c_.weight->strides[0] == 1 && c_.weight->strides[1] == p_.depth,
        "weight is not a transposed view; with an antiquantScale of 64 bits it is one");
  }

  // One value, a row, or a row for each group.
  void table(const char *name, const aclTensor &tensor) {
    const Layout given = layout_of(tensor);
    bool fits = given.shape[given.rank - 1] == p_.cols &&
                (given.rank == 1 ? p_.groups == 1 : given.shape[0] == p_.groups);
    fits = fits || (p_.groups == 1 && tensor.numel() == 1);
    check_.that(fits, "%s has shape %s; expected (%" PRId64 ", %" PRId64 ")%s", name,
                shape_text(given).c_str(), p_.groups, p_.cols,
                p_.groups == 1 ? ", its row or one value" : "");
  }

  void scales() {
    table("antiquantScale", *c_.scale);
    check_.shape("antiquantOffsetOptional", c_.offset, layout_of(*c_.scale));
    if (!c_.quant_scale) return;
    check_.rank("quantScaleOptional", c_.quant_scale, 1, 2);
    if (!ok()) return;
    const aclTensor &quant = *c_.quant_scale;
    check_.that((quant.rank() == 1 || quant.shape[0] == 1) &&
                    (quant.shape.back() == p_.cols || quant.shape.back() == 1),
                "quantScaleOptional has shape %s; expected (%" PRId64 ",) or (1,)",
                shape_text(layout_of(quant)).c_str(), p_.cols);
    check_.shape("quantOffsetOptional", c_.quant_offset, layout_of(quant));
  }

  void results() {
    if (c_.bias)
      check_.that(c_.bias->numel() == p_.cols && c_.bias->rank() >= 1 && c_.bias->rank() <= 2 &&
                      c_.bias->shape.back() == p_.cols,
                  "biasOptional has shape %s; expected (%" PRId64 ",)",
                  shape_text(layout_of(*c_.bias)).c_str(), p_.cols);
    const int64_t shape[] = {c_.x->shape[0], p_.cols};
    check_.shape("y", c_.y, dense_layout(shape, 2));
  }

  WeightQuantProblem &p_;
  const WeightQuantCall &c_;
  Check check_;
};

// Where the plan keeps the tensors.
struct Job {
  size_t x, weight, scale, offset, quant_scale, quant_offset, bias, y;
  Packing packing;
  int64_t depth, cols, groups, group_size;
};

View dense_row(const std::vector<float> &values) {
  View view;
  view.data = const_cast<char *>(reinterpret_cast<const char *>(values.data()));
  view.dtype = ACL_FLOAT;
  view.layout.push(static_cast<int64_t>(values.size()), 1);
  return view;
}

void compute(const Job &job, const PlanContext &c, const View &y) {
  QuantisedWeight weight;
  weight.tensor = &c.tensor(job.weight);
  weight.packing = job.packing;
  weight.rows = job.depth;
  weight.cols = job.cols;
  weight.group_size = job.group_size;
  weight.dtype = c.tensor(job.x).dtype;
  std::vector<float> unpacked;
  if (contains(kFloats4, weight.tensor->dtype)) {  // the numbers are counted in halves
    unpacked = float_scales(c.tensor(job.scale));
    for (float &value : unpacked) value *= 0.5f;
    View table = dense_row(unpacked);
    const int64_t shape[] = {job.groups, job.cols};
    table.layout = dense_layout(shape, 2);
    weight.scale = GroupTable(table, job.groups, job.cols);
  } else if (contains(kPacked, c.tensor(job.scale).dtype)) {
    unpacked = scale_values(c.tensor(job.scale));
    weight.scale = GroupTable(dense_row(unpacked), 1, job.cols);
  } else {
    weight.scale = GroupTable(view_of(c.tensor(job.scale)), job.groups, job.cols);
  }
  if (c.has(job.offset))
    weight.offset = GroupTable(view_of(c.tensor(job.offset)), job.groups, job.cols);
  const Matrix x = matrix_stack(c.tensor(job.x)).first, to = matrix_stack(y).first;
  const MatrixOut out{const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride};
  const std::vector<float> bias =
      c.has(job.bias) ? scale_values(c.tensor(job.bias)) : std::vector<float>();
  if (!c.has(job.quant_scale)) {
    RoundedStore result;
    result.out = out;
    result.bias = bias;
    if (!contains(kFloats8, weight.tensor->dtype)) return multiply_by_weight(x, weight, result);
    const std::vector<uint16_t> values =
        scaled_columns(*weight.tensor, scale_values(c.tensor(job.scale)), weight.dtype);
    Matrix dense;
    dense.data = values.data();
    dense.dtype = weight.dtype;
    dense.rows = job.depth;
    dense.cols = job.cols;
    dense.row.stride = job.cols;
    dense.col.stride = 1;
    return gemm_f32(x, dense, result);
  }
  RequantisedStore result;
  result.out = out;
  result.bias = bias;
  result.scale = scale_values(c.tensor(job.quant_scale));
  result.shift = c.has(job.quant_offset) ? scale_values(c.tensor(job.quant_offset))
                                         : packed_offsets(c.tensor(job.quant_scale));
  multiply_by_weight(x, weight, result);
}

Status run(const Job &job, const PlanContext &c) {
  const View y = view_of(c.tensor(job.y));
  if (y.count() == 0) return 0;
  if (!memory_overlaps(c.tensor(job.x), c.tensor(job.y)) &&
      !memory_overlaps(c.tensor(job.weight), c.tensor(job.y)) &&
      !memory_overlaps(c.tensor(job.scale), c.tensor(job.y))) {
    compute(job, c, y);
    return 0;
  }
  // The result is made aside, so that no operand is overwritten while it is still read.
  const Snapshot aside(y);
  compute(job, c, aside.view());
  copy_view(aside.view(), y);
  return 0;
}

Status plan_weight_quant(const WeightQuantCall &c, uint64_t *workspace_size,
                         aclOpExecutor **executor) {
  WeightQuantProblem problem{c};
  if (const Status status = WeightQuantRules(&problem).run()) return status;
  PlanBuilder plan(c.op);
  Job job{};
  job.x = plan.input(c.x);
  job.weight = plan.input(c.weight);
  job.scale = plan.input(c.scale);
  job.offset = plan.input(c.offset);
  job.quant_scale = plan.input(c.quant_scale);
  job.quant_offset = plan.input(c.quant_offset);
  job.bias = plan.input(c.bias);
  job.y = plan.output(c.y);
  job.packing = problem.packing;
  job.depth = problem.depth;
  job.cols = problem.cols;
  job.groups = problem.groups;
  job.group_size = c.group_size;
  return plan.finish([job](PlanContext &context) { return run(job, context); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(WeightQuantBatchMatmulV2,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale,
              const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional,
              const aclTensor *quantOffsetOptional, const aclTensor *biasOptional,
              int antiquantGroupSize, aclTensor *y)) {
  const emu::WeightQuantCall call{"aclnnWeightQuantBatchMatmulV2",
                                  x,
                                  weight,
                                  antiquantScale,
                                  antiquantOffsetOptional,
                                  quantScaleOptional,
                                  quantOffsetOptional,
                                  biasOptional,
                                  antiquantGroupSize,
                                  0,
                                  y};
  return emu::plan_weight_quant(call, workspaceSize, executor);
}
EMU_CATCH

// innerPrecise chooses between kernels of the device; this one is always precise.
EMU_OPERATOR(WeightQuantBatchMatmulV3,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale,
              const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional,
              const aclTensor *quantOffsetOptional, const aclTensor *biasOptional,
              int antiquantGroupSize, int innerPrecise, aclTensor *y)) {
  const emu::WeightQuantCall call{"aclnnWeightQuantBatchMatmulV3",
                                  x,
                                  weight,
                                  antiquantScale,
                                  antiquantOffsetOptional,
                                  quantScaleOptional,
                                  quantOffsetOptional,
                                  biasOptional,
                                  antiquantGroupSize,
                                  innerPrecise,
                                  y};
  return emu::plan_weight_quant(call, workspaceSize, executor);
}
EMU_CATCH
