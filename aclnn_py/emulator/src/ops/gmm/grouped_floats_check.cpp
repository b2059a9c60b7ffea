// SPDX-License-Identifier: Apache-2.0
// Phase one of grouped products whose operands are floats of 8 or 4 bits.
#include <cinttypes>

#include "core/chip.h"
#include "ops/gmm/grouped_dtypes.h"
#include "ops/gmm/grouped_floats.h"

namespace emu {
namespace {

constexpr DtypeSet kPacked = dtype_set(ACL_UINT64, ACL_INT64);

const aclTensor &first_of(const aclTensorList *list) { return *list->members[0]; }

bool has_shape(const aclTensor &t, int64_t rows, int64_t columns) {
  return t.rank() == 2 && t.shape[0] == rows && t.shape[1] == columns;
}

// With groups along the inner axis the scales of all of them lie behind each other: each begins
// behind the entries of the whole depth in front of it and one more for each group in front.
int64_t entries_of_groups(FloatMode mode, int64_t depth, int64_t groups) {
  return depth / (mode == FloatMode::kMx ? 64 : 128) + groups;
}

class FloatScaleRules {
 public:
  FloatScaleRules(Check &check, const GroupedProblem &problem, bool turned, FloatGroups *form)
      : check_(check), c_(problem.call), form_(*form) {
    const aclTensor &x = first_of(c_.x), &w = problem.weights[0];
    mixed_ = is_mixed_floats(c_);
    stacked_ = w.rank() == 3;
    rows_ = x.shape[0];
    depth_ = x.shape[1];
    columns_ = w.shape[w.rank() - 1];
    groups_ = static_cast<int64_t>(problem.groups);
    turned_ = turned;
  }

  void run() {
    for (const aclTensorList *list : {c_.x, c_.weight}) {
      for (const aclTensor *t : list->members) float4(*t);
    }
    if (mixed_) mixed();
    c_.group_type == 2 ? along_depth() : along_rows();
    if (!c_.bias || !check_.ok()) return;
    check_.that(c_.bias->members.size() == c_.weight->members.size(),
                "biasOptional has %zu tensors for %zu of weight", c_.bias->members.size(),
                c_.weight->members.size());
    const int64_t shape[] = {groups_, columns_};
    for (const aclTensor *bias : c_.bias->members)
      check_.shape("biasOptional", bias,
                   stacked_ ? dense_layout(shape, 2) : dense_layout(shape + 1, 1));
  }

 private:
  const aclTensorList *scales() const { return mixed_ ? c_.antiquant_scale : c_.scale; }
  const char *scale_name() const { return mixed_ ? "antiquantScaleOptional" : "scaleOptional"; }

  void mixed() {
    check_.that(turned_, "weight of %s must be a transposed view with x of FLOAT8_E4M3FN",
                dtype_name(first_of(c_.weight).dtype));
    check_.that(depth_ % 64 == 0 && columns_ % 64 == 0,
                "weight is (%" PRId64 ", %" PRId64 "); both must be multiples of 64", depth_,
                columns_);
  }

  void float4(const aclTensor &t) {
    if (!contains(kFloat4, t.dtype)) return;
    const size_t rank = t.rank();
    const bool turned = t.strides[rank - 1] != 1;
    check_.that(t.shape[rank - (turned ? 2 : 1)] % 2 == 0 && t.offset % 2 == 0,
                "a tensor of %s has shape %s; two values share a byte: the dimension of neighbours "
                "must be even",
                dtype_name(t.dtype), shape_text(layout_of(t)).c_str());
    check_.that(is_fractal(t) || turned || t.contiguous(), "a tensor of %s has gaps; copy it first",
                dtype_name(t.dtype));
    check_.that(depth_ != 2, "x of 4 bits has 2 columns (K), which is not supported");
  }

  void along_rows() {
    const aclTensor &scale = first_of(scales());
    if (form_.mode == FloatMode::kWhole && scale.rank() == 3) form_.mode = FloatMode::kBlocks;
    if (form_.mode != FloatMode::kWhole) {
      check_.that(c_.per_token != nullptr,
                  "perTokenScaleOptional is null; scales by groups of K need it");
      const FloatWeight weight{groups_, depth_, columns_, turned_};
      for (const aclTensor *member : scales()->members)
        check_weight_scales(check_, scale_name(), *member, form_.mode, weight, stacked_,
                            &form_.right);
      if (check_.ok())
        check_row_scales(check_, "perTokenScaleOptional", first_of(c_.per_token), form_.mode, rows_,
                         depth_, &form_.left);
      return;
    }
    columns(scale);
    if (!check_.ok() || !c_.per_token) return;
    const aclTensor &token = first_of(c_.per_token);
    form_.by_row = token.rank() == 1 && token.shape[0] == rows_;
    check_.that(form_.by_row || one_each(token, groups_),
                "perTokenScaleOptional has shape %s; expected (%" PRId64
                ",), or one value for each group",
                shape_text(layout_of(token)).c_str(), rows_);
  }

  void columns(const aclTensor &scale) {
    // Of one column, both are the same.
    form_.by_column = !one_each(scale, groups_);
    check_.that(!form_.by_column || has_shape(scale, groups_, columns_),
                "scaleOptional has shape %s; expected (%" PRId64 ", %" PRId64
                "), or one value for each group",
                shape_text(layout_of(scale)).c_str(), groups_, columns_);
    form_.right.row_step = form_.by_column ? 1 : 0;
  }

  void along_depth() {
    const aclTensor &scale = first_of(c_.scale);
    const int64_t blocks = entries_of_groups(FloatMode::kBlocks, depth_, groups_),
                  wide = inner_entries(FloatMode::kBlocks, columns_);
    if (form_.mode == FloatMode::kWhole && c_.per_token && has_shape(scale, blocks, wide))
      form_.mode = FloatMode::kBlocks;
    if (form_.mode == FloatMode::kWhole) {
      columns(scale);
      if (!check_.ok() || !c_.per_token) return;
      const aclTensor &token = first_of(c_.per_token);
      form_.by_row = !one_each(token, groups_);
      form_.left.row_step = form_.by_row ? 1 : 0;
      check_.that(!form_.by_row || has_shape(token, groups_, rows_),
                  "perTokenScaleOptional has shape %s; expected (%" PRId64 ", %" PRId64
                  "), or one value for each group",
                  shape_text(layout_of(token)).c_str(), groups_, rows_);
      return;
    }
    const bool mx = form_.mode == FloatMode::kMx;
    const int64_t unit = mx ? 2 : 1, entries = entries_of_groups(form_.mode, depth_, groups_),
                  across = mx ? columns_ : wide;
    check_.that(c_.per_token != nullptr,
                "perTokenScaleOptional is null; scales by groups of K need it");
    if (!check_.ok()) return;
    const int64_t right[] = {entries, across, 2}, left[] = {entries, rows_, 2};
    check_.shape("scaleOptional", &scale, dense_layout(right, mx ? 3 : 2));
    check_.shape("perTokenScaleOptional", &first_of(c_.per_token), dense_layout(left, mx ? 3 : 2));
    form_.right = {mx ? 1 : 128, unit, across, across * unit, mx};
    form_.left = {1, unit, rows_, rows_ * unit, mx};
  }

  Check &check_;
  const GroupedCall &c_;
  FloatGroups &form_;
  int64_t rows_, depth_, columns_, groups_;
  bool turned_, mixed_, stacked_;
};

}  // namespace

bool is_grouped_floats(const GroupedCall &call) {
  return chip_is_950() && contains(kLowFloats | kFloat4, first_of(call.x).dtype);
}

bool is_mixed_floats(const GroupedCall &call) {
  return chip_is_950() && call.version == 6 && first_of(call.x).dtype == ACL_FLOAT8_E4M3FN &&
         contains(dtype_set(ACL_FLOAT4_E2M1, ACL_FLOAT), first_of(call.weight).dtype);
}

static void check_mixed_dtypes(Check &check, const GroupedCall &c, const char *out_name,
                               FloatGroups *form) {
  const char *const pair = "x of FLOAT8_E4M3FN and weight of FLOAT4_E2M1";
  check.that(c.group_type == 0, "groupType is %" PRId64 "; with %s it is 0", c.group_type, pair);
  check.that(c.x->members.size() == 1 && c.y->members.size() == 1,
             "x and %s have %zu and %zu tensors; with %s each has one", out_name,
             c.x->members.size(), c.y->members.size(), pair);
  check.that(!c.scale && !c.offset && !c.antiquant_offset,
             "scaleOptional, offsetOptional or antiquantOffsetOptional is given; with %s they must "
             "be null",
             pair);
  check.that(c.activation == 0, "actType is %" PRId64 "; with %s it is 0", c.activation, pair);
  check.dtype_in(out_name, first_of(c.y).dtype, dt::kHalf);
  check.required("antiquantScaleOptional", c.antiquant_scale);
  check.required("perTokenScaleOptional", c.per_token);
  check.that(c.group_tensor != nullptr, "groupListOptional is null; %s need it", pair);
  if (!check.ok()) return;
  check.dtype_in("antiquantScaleOptional", first_of(c.antiquant_scale).dtype, kPowers);
  check.dtype_in("perTokenScaleOptional", first_of(c.per_token).dtype, kPowers);
  check.that(c.antiquant_scale->members.size() == c.weight->members.size() &&
                 c.per_token->members.size() == 1,
             "antiquantScaleOptional and perTokenScaleOptional have %zu and %zu tensors for %zu of "
             "weight and 1 of x",
             c.antiquant_scale->members.size(), c.per_token->members.size(),
             c.weight->members.size());
  if (c.bias)
    check.same_dtype("biasOptional", first_of(c.bias).dtype, out_name, first_of(c.y).dtype);
  form->mode = FloatMode::kMx;
}

void check_float_dtypes(Check &check, const GroupedCall &c, const char *out_name,
                        FloatGroups *form) {
  const aclDataType x = first_of(c.x).dtype;
  const bool four = contains(kFloat4, x), nz = c.version == 6;
  if (is_mixed_floats(c)) return check_mixed_dtypes(check, c, out_name, form);
  check.that(c.version >= 4, "x is %s, which the versions from the fourth on take", dtype_name(x));
  check.dtype_in("x", x, nz ? dtype_set(ACL_FLOAT8_E4M3FN) | kFloat4 : kLowFloats);
  check.that(c.group_type == 0 || (c.group_type == 2 && !four),
             "groupType is %" PRId64 "; x of %s takes %s", c.group_type, dtype_name(x),
             four ? "0" : "0 or 2");
  check.that(
      c.x->members.size() == 1 && c.y->members.size() == 1 && (c.weight->members.size() == 1 || nz),
      "x, weight and %s have %zu, %zu and %zu tensors; with x of %s each has one", out_name,
      c.x->members.size(), c.weight->members.size(), c.y->members.size(), dtype_name(x));
  check.dtype_in("weight", first_of(c.weight).dtype,
                 nz ? (four ? kFloat4 : dtype_set(x)) : low_floats_beside(x));
  check.that(c.offset == nullptr, "offsetOptional is given; it must be null with x of %s",
             dtype_name(x));
  check.that(!c.antiquant_scale && !c.antiquant_offset,
             "antiquantScaleOptional or antiquantOffsetOptional is given; they belong to a "
             "half-precision x");
  check.that(c.activation == 0, "actType is %" PRId64 "; an activation needs INT8 x and weight",
             c.activation);
  check.dtype_in(out_name, first_of(c.y).dtype, dt::kFloat);
  check.required("scaleOptional", c.scale);
  check.that(c.group_tensor != nullptr, "groupListOptional is null; x of %s needs it",
             dtype_name(x));
  if (!check.ok()) return;
  const aclDataType scale = first_of(c.scale).dtype;
  const DtypeSet whole = dtype_set(ACL_FLOAT) | (c.group_type == 0 ? kPacked : 0);
  check.dtype_in("scaleOptional", scale,
                 four || nz          ? kPowers
                 : x == ACL_HIFLOAT8 ? whole
                                     : whole | kPowers);
  check.that(c.scale->members.size() == c.weight->members.size(),
             "scaleOptional has %zu tensors for %zu of weight", c.scale->members.size(),
             c.weight->members.size());
  if (c.per_token) {
    check.that(!contains(kPacked, scale),
               "perTokenScaleOptional is given; with scaleOptional of %s it must be null",
               dtype_name(scale));
    check.same_dtype("perTokenScaleOptional", first_of(c.per_token).dtype, "scaleOptional", scale);
    check.that(c.per_token->members.size() == 1, "perTokenScaleOptional has %zu tensors for 1 of x",
               c.per_token->members.size());
  }
  if (c.bias) {
    check.that(four && c.weight->members.size() == 1,
               "biasOptional is given; only x of 4 bits with a single weight has one");
    check.dtype_in("biasOptional", first_of(c.bias).dtype, dtype_set(ACL_FLOAT));
    check.that(c.bias->members.size() == 1, "biasOptional has %zu tensors for 1 of weight",
               c.bias->members.size());
  }
  form->mode = contains(kPowers, scale) ? FloatMode::kMx : FloatMode::kWhole;
}

bool is_powers_weight(const GroupedCall &call) {
  return chip_is_950() && call.version == 6 && contains(dt::kHalf, first_of(call.x).dtype) &&
         contains(dtype_set(ACL_FLOAT4_E2M1, ACL_FLOAT), first_of(call.weight).dtype);
}

bool is_float_weight(const GroupedCall &call) {
  return is_powers_weight(call) ||
         (chip_is_950() && contains(dt::kFloat8 | kHifloat8, first_of(call.weight).dtype));
}

void check_powers_weight(Check &check, const GroupedProblem &problem, bool weight_turned) {
  const aclTensor &w = problem.weights[0], &scale = first_of(problem.call.antiquant_scale);
  const int64_t depth = w.shape[1], columns = w.shape[2];
  check.that(!weight_turned, "weight is a transposed view; with x of %s it may not be one",
             dtype_name(first_of(problem.call.x).dtype));
  check.that(depth % 64 == 0 && columns % 64 == 0,
             "weight is (%" PRId64 ", %" PRId64 "); both must be multiples of 64", depth, columns);
  const int64_t shape[] = {w.shape[0], depth / 32, columns};
  check.shape("antiquantScaleOptional", &scale, dense_layout(shape, 3));
}

void check_float_weight(Check &check, const GroupedCall &c) {
  const aclTensor &weight = first_of(c.weight);
  const bool powers = is_powers_weight(c);
  check.that(powers || c.version == 4 || c.version == 5,
             "weight is %s; beside a half-precision x the fourth and fifth version take it",
             dtype_name(weight.dtype));
  check.that(c.group_type == 0 && c.x->members.size() == 1 && c.weight->members.size() == 1,
             "weight is %s; it takes groupType 0 and single tensors", dtype_name(weight.dtype));
  check.required("antiquantScaleOptional", c.antiquant_scale);
  check.that(c.antiquant_offset == nullptr,
             "antiquantOffsetOptional is given; with weight of %s it must be null",
             dtype_name(weight.dtype));
  if (!check.ok()) return;
  const size_t rank = weight.rank();
  if (powers) check.dtype_in("antiquantScaleOptional", first_of(c.antiquant_scale).dtype, kPowers);
  check.that(powers || rank < 2 || weight.strides[rank - 2] == 1,
             "weight of %s must be a transposed view, (E, N, K) in memory",
             dtype_name(weight.dtype));
}

void check_float_scales(Check &check, const GroupedProblem &problem, bool weight_turned,
                        FloatGroups *form) {
  if (!check.ok()) return;
  FloatScaleRules(check, problem, weight_turned, form).run();
}

}  // namespace emu
