// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/gmm/swiglu_quant_floats.h"

#include <algorithm>
#include <cinttypes>

#include "core/chip.h"
#include "core/statuses.h"
#include "ops/gmm/float_scales.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/gated.h"
#include "ops/shared/mx_format.h"

namespace emu {
namespace {

constexpr int64_t kMostGroups = 1024, kMxMode = 2, kBfloat16 = 27;
constexpr DtypeSet kAnyLowFloat = kLowFloats | kFloat4;

struct Sizes {
  int64_t experts = 0, rows = 0, depth = 0, columns = 0;
  FloatMode mode = FloatMode::kWhole;
  ScaleMap left, right;
};

class SwigluFloatRules {
 public:
  SwigluFloatRules(const SwigluQuantCall &call, Sizes *sizes)
      : c_(call), z_(*sizes), check_(call.op) {}

  Status run() {
    modes();
    if (ok()) dtypes();
    if (ok()) weights();
    if (ok()) rows();
    if (ok()) scales();
    return check_.status();
  }

 private:
  bool ok() const { return check_.ok(); }
  bool nz() const { return c_.blocks == Blocks::kAlways; }
  bool four() const { return contains(kFloat4, c_.x->dtype); }

  void modes() {
    check_.that(c_.help.empty(),
                "weightAssistMatrixOptional is given; it belongs to x of INT8 with weight of INT4");
    check_.that(c_.smooth == nullptr,
                "smoothScaleOptional is given; it belongs to x and weight of INT4");
    check_.that(c_.dequant_mode == c_.quant_mode &&
                    (c_.dequant_mode == kMxMode || (c_.dequant_mode == 0 && !four() && !nz())),
                "dequantMode is %" PRId64 " and quantMode %" PRId64 "; with x of %s both are %s",
                c_.dequant_mode, c_.quant_mode, dtype_name(c_.x->dtype),
                four() || nz() ? "2 (MX)" : "0 (scales of rows and columns) or 2 (MX)");
    const bool mx = c_.dequant_mode == kMxMode;
    check_.that(
        c_.dequant_dtype == 0 || (!mx && (c_.dequant_dtype == 1 || c_.dequant_dtype == kBfloat16)),
        "dequantDtype is %" PRId64 "; allowed: 0 (FLOAT)%s", c_.dequant_dtype,
        mx ? "" : ", 1 (FLOAT16), 27 (BFLOAT16)");
    check_.that(c_.list_type == 0 || c_.list_type == 1,
                "groupListType is %" PRId64 "; allowed: 0 (ends), 1 (sizes)", c_.list_type);
    z_.mode = mx ? FloatMode::kMx : FloatMode::kWhole;
  }

  // What x may be, and what it gives.
  void dtypes() {
    const aclDataType x = c_.x->dtype;
    const bool mx = z_.mode == FloatMode::kMx;
    const DtypeSet eight = nz() ? dtype_set(ACL_FLOAT8_E4M3FN) : dt::kFloat8;
    const DtypeSet fours = nz() ? kFloat4 : kFloat4E2m1;
    check_.dtype_in("x", x, mx ? eight | fours : eight | kHifloat8);
    const DtypeSet beside = four() ? fours : x == ACL_HIFLOAT8 ? kHifloat8 : eight;
    for (const aclTensor *w : c_.weight) check_.dtype_in("weight", w->dtype, beside);
    for (const aclTensor *s : c_.scale)
      check_.dtype_in("weightScale", s->dtype, mx ? kPowers : dtype_set(ACL_FLOAT, ACL_BF16));
    check_.dtype_in("xScale", c_.x_scale->dtype, mx ? kPowers : dtype_set(ACL_FLOAT));
    check_.dtype_in("groupList", c_.groups->dtype, dtype_set(ACL_INT64));
    check_.dtype_in("output", c_.output->dtype, four() ? eight | fours : beside);
    check_.dtype_in("outputScale", c_.output_scale->dtype, mx ? kPowers : dtype_set(ACL_FLOAT));
    check_.plain_format("x", c_.x).plain_format("output", c_.output);
    check_float4(check_, "x", c_.x);
    check_float4(check_, "output", c_.output);
  }

  void weights() {
    const size_t tensors = c_.weight.size(), rank = tensors == 1 && !flat() ? 3 : 2;
    check_.that(tensors == 1 || nz(), "weight has %zu tensors; allowed: 1", tensors);
    check_.that(c_.scale.size() == tensors, "weightScale has %zu tensors for %zu of weight",
                c_.scale.size(), tensors);
    for (size_t i = 0; ok() && i < tensors; ++i) {
      const aclTensor &given = *c_.weight[i];
      check_.same_dtype("weight", given.dtype, "weight[0]", c_.weight[0]->dtype);
      check_.that(nz() || !is_fractal(given), "weight has the format FRACTAL_NZ; allowed: ND");
      if (given.numel() != 0) check_weight(check_, "weight", given, rank, c_.blocks);
      else check_.rank("weight", &given, static_cast<int>(rank), static_cast<int>(rank));
      if (ok()) shape(weight_of(given, c_.blocks), i);
    }
    if (!ok()) return;
    z_.experts =
        rank == 3 ? weight_of(*c_.weight[0], c_.blocks).shape[0] : static_cast<int64_t>(tensors);
    check_.that(z_.experts <= kMostGroups,
                "weight has %" PRId64 " groups; at most %" PRId64 " are allowed", z_.experts,
                kMostGroups);
  }

  // A list of one tensor for one group: its scales lack the dimension of the groups too.
  bool flat() const { return nz() && c_.scale.size() == 1 && c_.scale[0]->rank() == 3; }

  void shape(const aclTensor &weight, size_t i) {
    const size_t rank = weight.rank();
    const int64_t depth = weight.shape[rank - 2], columns = weight.shape[rank - 1];
    if (i == 0) {
      z_.depth = depth;
      z_.columns = columns;
      turned_ = columns > 1 && weight.strides[rank - 2] == 1 && weight.strides[rank - 1] != 1;
    }
    const int64_t unit = z_.mode == FloatMode::kMx ? 128 : 2;
    check_.that(depth == z_.depth && columns == z_.columns,
                "weight[%zu] is (%" PRId64 ", %" PRId64 "), but weight[0] is (%" PRId64 ", %" PRId64
                ")",
                i, depth, columns, z_.depth, z_.columns);
    check_.that(columns % unit == 0,
                "weight has %" PRId64 " columns; the number must be a multiple of %" PRId64,
                columns, unit);
    check_.that(!four() || (depth % 2 == 0 && depth != 2),
                "weight has %" PRId64 " rows; with x of 4 bits the number is even and not 2",
                depth);
    check_.that(depth > 0, "weight has no rows");
  }

  void rows() {
    check_.rank("x", c_.x, 2, 2);
    if (!ok()) return;
    z_.rows = c_.x->shape[0];
    check_.that(c_.x->shape[1] == z_.depth,
                "x has %" PRId64 " columns; the rows of weight need %" PRId64, c_.x->shape[1],
                z_.depth);
    const int64_t half[] = {z_.rows, z_.columns / 2};
    check_.shape("output", c_.output, dense_layout(half, 2)).rank("groupList", c_.groups, 1, 1);
    if (ok())
      check_.that(c_.groups->shape[0] <= z_.experts,
                  "groupList has %" PRId64 " entries for %" PRId64 " groups", c_.groups->shape[0],
                  z_.experts);
  }

  void scales() {
    const int64_t half[] = {z_.rows, z_.columns / 2}, all[] = {z_.experts, z_.columns};
    if (z_.mode == FloatMode::kWhole) {
      check_.shape("weightScale", c_.scale[0], dense_layout(all, 2));
      check_.shape("xScale", c_.x_scale, dense_layout(half, 1));
      check_.shape("outputScale", c_.output_scale, dense_layout(half, 1));
      z_.left.row_step = z_.right.row_step = 1;
      return;
    }
    const FloatWeight weight{z_.experts, z_.depth, z_.columns, turned_};
    const bool stacked = c_.weight.size() == 1 && !flat();
    for (const aclTensor *scale : c_.scale)
      check_weight_scales(check_, "weightScale", *scale, z_.mode, weight, stacked, &z_.right);
    check_row_scales(check_, "xScale", *c_.x_scale, z_.mode, z_.rows, z_.depth, &z_.left);
    check_.shape("outputScale", c_.output_scale, mx_scale_layout(dense_layout(half, 2), 1, 32));
  }

  const SwigluQuantCall &c_;
  Sizes &z_;
  Check check_;
  bool turned_ = false;
};

struct Job {
  const char *op;
  Blocks blocks;
  Sizes sizes;
  size_t tensors, x, weight, scale, x_scale, groups, output, output_scale;
  bool flat;
  int64_t list_type, rounded_to;
};

aclTensor rows_of(const aclTensor &t, int64_t first, int64_t count) {
  aclTensor part = t;
  part.offset += first * t.strides[0];
  part.shape[0] = count;
  return part;
}

void quantise(const Job &job, const PlanContext &c, int64_t first, int64_t rows, float *gates) {
  const int64_t width = job.sizes.columns / 2;
  const aclTensor y = rows_of(c.tensor(job.output), first, rows),
                  scale = rows_of(c.tensor(job.output_scale), first, rows);
  if (job.sizes.mode == FloatMode::kMx) {
    MxFormat format;
    format.dtype = y.dtype;
    const MxPlan plan = mx_plan(layout_of(y), 1, 32);
    return mx_quantise(
        plan, format, LowCodes(y), LowCodes(scale),
        [&](int64_t start, int64_t count, float *to) { std::copy_n(gates + start, count, to); });
  }
  const QuantTarget to(y);
  const QuantRange range = quant_range(y.dtype);
  const RowTarget<float> scale_to(view_of(scale));
  for (int64_t i = 0; i < rows; ++i) {
    const RowScale found = scale_symmetric(gates + i * width, width, range);
    scale_to.write(i, 1, &found.scale);
    to.write(i * width, width, gates + i * width);
  }
}

Status run(const Job &job, PlanContext &c) {
  const Sizes &z = job.sizes;
  std::vector<GroupSpan> spans;
  if (const Status status = read_groups(job.op, c.tensor(job.groups), job.list_type,
                                        static_cast<size_t>(z.experts), z.rows, &spans))
    return status;
  if (z.columns == 0) return 0;
  const bool own = job.tensors > 1 || job.flat;
  const std::vector<float> left = float_scales(c.tensor(job.x_scale));
  const int64_t width = z.columns / 2, most = std::min(kRowsAtOnce, z.rows);
  std::vector<float> w_memory, x_memory, values(static_cast<size_t>(most * z.columns)),
      gates(static_cast<size_t>(most * width));
  for (const GroupSpan &span : spans) {
    if (span.count == 0) continue;
    const aclTensor weight =
        own ? weight_of(c.tensor(job.weight + span.group), job.blocks)
            : entry_of(weight_of(c.tensor(job.weight), job.blocks), span.group);
    const std::vector<float> right = float_scales(own ? c.tensor(job.scale + span.group)
                                                      : entry_of(c.tensor(job.scale), span.group));
    FloatProduct product;
    product.w = as_float(weight, w_memory);
    product.group = inner_group(z.mode);
    product.left_map = z.left;
    product.right_map = z.right;
    product.right = right.data();
    for (int64_t done = 0; done < span.count; done += kRowsAtOnce) {
      const int64_t first = span.first + done, count = std::min(kRowsAtOnce, span.count - done);
      product.x = as_float(rows_of(c.tensor(job.x), first, count), x_memory);
      product.left = left.data() + first * z.left.row_step;
      multiply(product, values.data());
      parallel_for(count, 8, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          float *gate = values.data() + i * z.columns;
          round_values(static_cast<aclDataType>(job.rounded_to), gate, z.columns);
          silu_gate(gate, gate + width, width);
          std::copy_n(gate, width, gates.data() + i * width);
        }
      });
      quantise(job, c, first, count, gates.data());
    }
  }
  return 0;
}

}  // namespace

bool is_swiglu_floats(const SwigluQuantCall &call) {
  return chip_is_950() && contains(kAnyLowFloat, call.x->dtype);
}

Status plan_swiglu_floats(const SwigluQuantCall &call, const SwigluFloatLists &lists,
                          uint64_t *workspace_size, aclOpExecutor **executor) {
  Job job{};
  if (const Status status = SwigluFloatRules(call, &job.sizes).run()) return status;
  job.op = call.op;
  job.blocks = call.blocks;
  job.tensors = call.weight.size();
  job.flat = job.tensors == 1 && call.scale[0]->rank() == 3;
  job.list_type = call.list_type;
  job.rounded_to = call.dequant_dtype;
  PlanBuilder plan(call.op);
  plan.phase_two_code(kInner);
  job.x = plan.input(call.x);
  job.weight = plan.input_list(lists.weight);
  job.scale = plan.input_list(lists.scale);
  job.x_scale = plan.input(call.x_scale);
  job.groups = plan.input(call.groups);
  job.output = plan.output(call.output);
  job.output_scale = plan.output(call.output_scale);
  return plan.finish([job](PlanContext &c) { return run(job, c); }, workspace_size, executor);
}

}  // namespace emu
