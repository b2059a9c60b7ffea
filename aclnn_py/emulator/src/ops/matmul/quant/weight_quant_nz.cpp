// SPDX-License-Identifier: Apache-2.0
// WeightQuantBatchMatmulNz, which chips of the 950 series have: a product with a quantised weight
// in blocks. Blocks of numbers of 4 bits have 16 columns, those of INT8 32.
#include <cinttypes>

#include "aclnnop/matmul.h"
#include "core/statuses.h"
#include "ops/matmul/quant/float_product.h"
#include "ops/matmul/quant/product.h"
#include "ops/matmul/quant/weight_quant.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr DtypeSet kIntegers = dtype_set(ACL_INT4, ACL_INT32),
                   kFloats = dtype_set(ACL_FLOAT4_E2M1, ACL_FLOAT);
constexpr DtypeSet kWords = dtype_set(ACL_INT32, ACL_FLOAT);  // eight numbers to an element
constexpr int64_t kMostExtent = 65535;                        // of a weight of INT8

struct WeightNzCall {
  const char *op;
  const aclTensor *x, *weight, *scale, *offset, *quant_scale, *quant_offset, *bias;
  int group_size;
  const aclTensor *y;
};

// What the checks find out, and where the plan keeps the tensors.
struct WeightNzJob {
  int64_t m, k, n, groups, group_size;
  Packing packing;
  bool halves;  // the numbers are floats
  size_t x, weight, scale, offset, bias, y;
};

class WeightNzRules {
 public:
  WeightNzRules(const WeightNzCall &call, WeightNzJob *job) : c_(call), j_(*job), check_(c_.op) {}

  Status run() {
    check_.required("x", c_.x).required("weight", c_.weight).required("antiquantScale", c_.scale);
    check_.required("y", c_.y).optional("antiquantOffsetOptional", c_.offset);
    check_.optional("quantScaleOptional", c_.quant_scale);
    check_.optional("quantOffsetOptional", c_.quant_offset).optional("biasOptional", c_.bias);
    if (const Status s = check_chip(check_, kRuntimeError)) return s;
    check_.that(c_.quant_scale == nullptr,
                "quantScaleOptional is given; it is reserved and must be null");
    check_.that(c_.quant_offset == nullptr,
                "quantOffsetOptional is given; it is reserved and must be null");
    dtypes();
    if (check_.ok()) shapes();
    if (check_.ok()) scales();
    return check_.status();
  }

 private:
  bool is(DtypeSet set) const { return contains(set, c_.weight->dtype); }

  void dtypes() {
    check_.dtype("x", c_.x).dtype("weight", c_.weight).dtype("antiquantScale", c_.scale);
    check_.dtype("antiquantOffsetOptional", c_.offset).dtype("biasOptional", c_.bias);
    check_.dtype("y", c_.y);
    if (!check_.ok()) return;
    const aclDataType x = c_.x->dtype;
    check_.same_dtype("y", c_.y->dtype, "x", x);
    if (c_.scale->dtype != ACL_FLOAT8_E8M0 || !is(kFloats))
      check_.same_dtype("antiquantScale", c_.scale->dtype, "x", x);
    check_.that(c_.offset == nullptr || !is(kFloats),
                "antiquantOffsetOptional is given; a weight of %s takes none",
                dtype_name(c_.weight->dtype));
    if (c_.offset) check_.same_dtype("antiquantOffsetOptional", c_.offset->dtype, "x", x);
    if (!c_.bias) return;
    // Beside BFLOAT16 integers take a bias of FLOAT, those of 4 bits also one of BFLOAT16.
    const DtypeSet wide = dtype_set(ACL_FLOAT), same = dtype_set(x);
    check_.dtype_in("biasOptional", c_.bias->dtype,
                    x == ACL_FLOAT16 || is(kFloats) ? same
                    : is(kIntegers)                 ? same | wide
                                                    : wide);
  }

  void shapes() {
    check_.rank("x", c_.x, 2, 2).rank("weight", c_.weight, 2, 2).rank("y", c_.y, 2, 2);
    check_.plain_format("x", c_.x);
    if (!check_.ok()) return;
    check_.that(is_fractal(*c_.weight), "weight has the format %s; allowed: FRACTAL_NZ",
                format_name(c_.weight->format));
    check_matrix_layout(check_, "weight", *c_.weight);
    const bool eight = c_.weight->dtype == ACL_INT8;
    check_.that(eight || c_.weight->contiguous(),
                "weight is a transposed view; only one of INT8 may be that");
    if (!check_.ok()) return;
    if (is(kWords)) check_.size("weight", Checked(c_.weight->shape[1]) * 8);
    if (!check_.ok()) return;
    j_.packing = is(kWords) ? Packing::kAlongColumns : Packing::kNone;
    j_.m = c_.x->shape[0];
    j_.k = c_.x->shape[1];
    const NumberShape weight = number_shape(*c_.weight, j_.packing);
    j_.n = weight.cols;
    check_.that(weight.rows == j_.k, "weight has %" PRId64 " rows; x has %" PRId64 " columns",
                weight.rows, j_.k);
    check_.that(j_.m > 0 && j_.k > 0 && j_.n > 0, "x or weight is empty, which is not supported");
    check_.that(!eight || (j_.k <= kMostExtent && j_.n >= 2 && j_.n <= kMostExtent),
                "weight is (%" PRId64 ", %" PRId64
                "); of INT8 it has at most 65535 rows and 2 to 65535 columns",
                j_.k, j_.n);
    check_.that(eight || is(kWords) || j_.n % 2 == 0,
                "weight has %" PRId64 " columns; with numbers of 4 bits they are even", j_.n);
    if (check_.ok()) storage(eight);
    const int64_t y[] = {j_.m, j_.n};
    check_.shape("y", c_.y, dense_layout(y, 2));
    if (c_.bias)
      check_.that(c_.bias->numel() == j_.n && c_.bias->rank() >= 1 && c_.bias->rank() <= 2 &&
                      c_.bias->shape.back() == j_.n,
                  "biasOptional has shape %s; expected (%" PRId64 ",)",
                  shape_text(layout_of(*c_.bias)).c_str(), j_.n);
  }

  // The blocks, as their shape must say.
  void storage(bool eight) {
    const bool turned = eight && fractal_flipped(*c_.weight);
    const int64_t width = eight ? 32 : 16, rows = turned ? j_.n : j_.k, cols = turned ? j_.k : j_.n;
    const int64_t blocks[] = {(cols - 1) / width + 1, (rows - 1) / kFractalRows + 1, kFractalRows,
                              is(kWords) ? width / 8 : width};
    const Dims &given = c_.weight->storage_shape;
    check_.that(given == Dims(blocks, 4), "weight has a storage shape of %s; expected %s",
                shape_text(given.data(), static_cast<int>(given.size())).c_str(),
                shape_text(blocks, 4).c_str());
  }

  void scales() {
    const int size = c_.group_size;
    const bool powers = c_.scale->dtype == ACL_FLOAT8_E8M0;
    const bool each = size >= 32 && size % 32 == 0 && size < j_.k;
    if (powers)
      check_.that(size == kPairedGroup,
                  "antiquantGroupSize is %d; with an antiquantScale of FLOAT8_E8M0: 32", size);
    else if (is(kFloats))
      check_.that(each, "antiquantGroupSize is %d; allowed: a multiple of 32 below %" PRId64, size,
                  j_.k);
    else if (is(kIntegers))
      check_.that(size == 0 || each,
                  "antiquantGroupSize is %d; allowed: 0, or a multiple of 32 below %" PRId64, size,
                  j_.k);
    else check_.that(size == 0, "antiquantGroupSize is %d; with a weight of INT8: 0", size);
    if (!check_.ok()) return;
    j_.group_size = size;
    j_.groups = size > 0 ? (j_.k - 1) / size + 1 : 1;
    table("antiquantScale", *c_.scale);
    if (c_.offset) table("antiquantOffsetOptional", *c_.offset);
  }

  // A row for each group; without groups also a vector.
  void table(const char *name, const aclTensor &tensor) {
    const Layout given = layout_of(tensor);
    const bool fits = (given.rank == 2 && given.shape[0] == j_.groups && given.shape[1] == j_.n) ||
                      (given.rank == 1 && j_.group_size == 0 && given.shape[0] == j_.n);
    check_.that(fits, "%s has shape %s; expected (%" PRId64 ", %" PRId64 ")", name,
                shape_text(given).c_str(), j_.groups, j_.n);
  }

  const WeightNzCall &c_;
  WeightNzJob &j_;
  Check check_;
};

View table_of(const std::vector<float> &values, int64_t groups, int64_t columns) {
  const int64_t shape[] = {groups, columns};
  View view;
  view.data = const_cast<char *>(reinterpret_cast<const char *>(values.data()));
  view.dtype = ACL_FLOAT;
  view.layout = dense_layout(shape, 2);
  return view;
}

void compute(const WeightNzJob &job, const PlanContext &c, const View &y) {
  QuantisedWeight weight;
  weight.tensor = &c.tensor(job.weight);
  weight.packing = job.packing;
  weight.rows = job.k;
  weight.cols = job.n;
  weight.group_size = job.group_size;
  weight.dtype = c.tensor(job.x).dtype;
  std::vector<float> scale = float_scales(c.tensor(job.scale)), offset;
  if (job.halves)
    for (float &value : scale) value *= 0.5f;
  weight.scale = GroupTable(table_of(scale, job.groups, job.n), job.groups, job.n);
  if (c.has(job.offset)) {
    offset = float_scales(c.tensor(job.offset));
    weight.offset = GroupTable(table_of(offset, job.groups, job.n), job.groups, job.n);
  }
  RoundedStore result;
  const Matrix to = matrix_stack(y).first;
  result.out = {const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride};
  if (c.has(job.bias)) result.bias = float_scales(c.tensor(job.bias));
  multiply_by_weight(matrix_stack(c.tensor(job.x)).first, weight, result);
}

Status run(const WeightNzJob &job, const PlanContext &c) {
  const View y = view_of(c.tensor(job.y));
  if (!memory_overlaps(c.tensor(job.x), c.tensor(job.y))) {
    compute(job, c, y);  // the weight is copied before anything is written
    return 0;
  }
  const Snapshot aside(y);
  compute(job, c, aside.view());
  copy_view(aside.view(), y);
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(WeightQuantBatchMatmulNz,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale,
              const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional,
              const aclTensor *quantOffsetOptional, const aclTensor *biasOptional,
              int antiquantGroupSize, aclTensor *y)) {
  const emu::WeightNzCall call{"aclnnWeightQuantBatchMatmulNz",
                               x,
                               weight,
                               antiquantScale,
                               antiquantOffsetOptional,
                               quantScaleOptional,
                               quantOffsetOptional,
                               biasOptional,
                               antiquantGroupSize,
                               y};
  emu::WeightNzJob job{};
  if (const emu::Status status = emu::WeightNzRules(call, &job).run()) return status;
  emu::PlanBuilder plan(call.op);
  job.x = plan.input(x);
  job.weight = plan.input(weight);
  job.scale = plan.input(antiquantScale);
  job.offset = plan.input(antiquantOffsetOptional);
  plan.unused(quantScaleOptional);
  plan.unused(quantOffsetOptional);
  job.bias = plan.input(biasOptional);
  job.y = plan.output(y);
  job.halves = emu::contains(emu::kFloats, weight->dtype);
  return plan.finish([job](emu::PlanContext &c) { return emu::run(job, c); }, workspaceSize,
                     executor);
}
EMU_CATCH
