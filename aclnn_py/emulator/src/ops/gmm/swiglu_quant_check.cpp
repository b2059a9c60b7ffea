// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>

#include "core/chip.h"
#include "ops/gmm/swiglu_quant.h"

namespace emu {
namespace {

constexpr int64_t kMostColumns = 10240, kDeepestInt8 = 65535, kDeepestInt4 = 19999;
constexpr DtypeSet kFourBits = dtype_set(ACL_INT4, ACL_INT32);

class SwigluQuantRules {
 public:
  explicit SwigluQuantRules(SwigluQuantProblem *problem)
      : p_(*problem), c_(problem->call), check_(c_.op) {}

  Status run() {
    modes();
    if (ok()) dtypes();
    if (ok()) weights();
    if (ok()) rows();
    if (ok()) companions();
    return check_.status();
  }

 private:
  bool ok() const { return check_.ok(); }
  const char *help_name() const { return c_.first ? "biasOptional" : "weightAssistMatrixOptional"; }
  aclDataType kind(const aclTensor *t) const { return t->dtype == ACL_INT32 ? ACL_INT4 : t->dtype; }

  void modes() {
    const bool newer = chip_is_950();
    check_.that(c_.dequant_mode == 0 || (c_.dequant_mode == 1 && !newer),
                "dequantMode is %" PRId64 "; allowed: 0 (scales by channel)%s", c_.dequant_mode,
                newer ? "" : ", 1 (by group of rows)");
    check_.that(c_.dequant_dtype == 0, "dequantDtype is %" PRId64 "; this chip takes 0 (FLOAT)",
                c_.dequant_dtype);
    check_.that(c_.quant_mode == 0, "quantMode is %" PRId64 "; this chip takes 0 (by token)",
                c_.quant_mode);
    check_.that(c_.list_type == 0 || c_.list_type == 1,
                "groupListType is %" PRId64 "; allowed: 0 (ends), 1 (sizes)", c_.list_type);
  }

  void dtypes() {
    const DtypeSet lowest = c_.first ? 0 : kFourBits;
    check_.dtype_in("x", c_.x->dtype, dtype_set(ACL_INT8) | lowest);
    for (const aclTensor *w : c_.weight)
      check_.dtype_in("weight", w->dtype, dtype_set(ACL_INT8) | kFourBits);
    if (!ok()) return;
    const aclDataType x = kind(c_.x), weight = kind(c_.weight[0]);
    check_.that(x == ACL_INT8 || weight == ACL_INT4,
                "weight is %s; with x of 4 bits it is INT4, or INT32 with eight values each",
                dtype_name(c_.weight[0]->dtype));
    p_.halves = x == ACL_INT8 && weight == ACL_INT4;
    const DtypeSet scales = weight == ACL_INT4 ? dtype_set(ACL_UINT64) : dt::kFloat;
    for (const aclTensor *s : c_.scale) check_.dtype_in("weightScale", s->dtype, scales);
    for (const aclTensor *h : c_.help) check_.dtype_in(help_name(), h->dtype, dtype_set(ACL_FLOAT));
    check_.dtype_in("xScale", c_.x_scale->dtype, dtype_set(ACL_FLOAT));
    if (c_.smooth) check_.dtype_in("smoothScaleOptional", c_.smooth->dtype, dtype_set(ACL_FLOAT));
    check_.dtype_in("groupList", c_.groups->dtype, dtype_set(ACL_INT64));
    check_.dtype_in("output", c_.output->dtype, dtype_set(ACL_INT8));
    check_.dtype_in("outputScale", c_.output_scale->dtype, dtype_set(ACL_FLOAT));
    check_.that(p_.halves == !c_.help.empty(), "%s %s; it belongs to x of INT8 with weight of INT4",
                help_name(), p_.halves ? "is null" : "is given");
    check_.that(c_.smooth == nullptr || (x == ACL_INT4 && weight == ACL_INT4),
                "smoothScaleOptional is given; it belongs to x and weight of INT4");
    check_.plain_format("x", c_.x).plain_format("output", c_.output);
  }

  void weights() {
    const size_t tensors = c_.weight.size(), rank = tensors == 1 ? 3 : 2;
    check_.that(c_.scale.size() == tensors, "weightScale has %zu tensors for %zu of weight",
                c_.scale.size(), tensors);
    check_.that(c_.help.empty() || c_.help.size() == tensors,
                "weightAssistMatrixOptional has %zu tensors for %zu of weight", c_.help.size(),
                tensors);
    for (size_t i = 0; ok() && i < tensors; ++i) {
      const aclTensor &given = *c_.weight[i];
      check_.same_dtype("weight", given.dtype, "weight[0]", c_.weight[0]->dtype);
      check_.same_dtype("weightScale", c_.scale[i]->dtype, "weightScale[0]", c_.scale[0]->dtype);
      check_.that(given.dtype != ACL_INT8 || c_.blocks == Blocks::kAlways || is_fractal(given),
                  "weight has the format %s; of INT8 it must be in FRACTAL_NZ",
                  format_name(given.format));
      check_weight(check_, "weight", given, rank, c_.blocks);
      if (ok()) shape(weight_of(given, c_.blocks), i);
    }
    p_.experts = ok() && tensors == 1 ? weight_of(*c_.weight[0], c_.blocks).shape[0]
                                      : static_cast<int64_t>(tensors);
  }

  void shape(const aclTensor &weight, size_t i) {
    const size_t rank = weight.rank();
    const int64_t depth = weight.shape[rank - 2], columns = weight.shape[rank - 1];
    if (i == 0) {
      p_.depth = depth;
      p_.columns = columns;
    }
    check_.that(depth == p_.depth && columns == p_.columns,
                "weight[%zu] is (%" PRId64 ", %" PRId64 "), but weight[0] is (%" PRId64 ", %" PRId64
                ")",
                i, depth, columns, p_.depth, p_.columns);
    check_.that(columns <= kMostColumns && columns % 2 == 0,
                "weight has %" PRId64 " columns; the number must be even and at most %" PRId64,
                columns, kMostColumns);
    const bool turned = weight.strides[rank - 2] == 1 && weight.strides[rank - 1] != 1;
    check_.that(!turned || (weight.dtype == ACL_INT4 && !p_.halves && is_fractal(weight)),
                "weight is a transposed view; only one of INT4 in FRACTAL_NZ may be, with x of "
                "4 bits");
    const int64_t deepest = weight.dtype == ACL_INT8 ? kDeepestInt8 : kDeepestInt4;
    check_.that(depth <= deepest, "weight has %" PRId64 " rows; at most %" PRId64 " are allowed",
                depth, deepest);
  }

  void rows() {
    check_.rank("x", c_.x, 2, 2);
    if (!ok()) return;
    const int64_t per_element = c_.x->dtype == ACL_INT32 ? 8 : 1;
    check_.that(c_.x->numel() > 0, "x is empty, which is not supported");
    check_.that(p_.depth % per_element == 0 && c_.x->shape[1] == p_.depth / per_element,
                "x has %" PRId64 " columns; the %" PRId64 " rows of weight need %" PRId64,
                c_.x->shape[1], p_.depth, p_.depth / per_element);
    check_.that(c_.x->dtype == ACL_INT8 || c_.x->contiguous(),
                "x has dtype %s; then it must be contiguous", dtype_name(c_.x->dtype));
    p_.rows = c_.x->shape[0];
    const int64_t half[] = {p_.rows, p_.columns / 2};
    check_.shape("output", c_.output, dense_layout(half, 2));
    check_.shape("outputScale", c_.output_scale, dense_layout(half, 1));
    check_.shape("xScale", c_.x_scale, dense_layout(half, 1));
    check_.rank("groupList", c_.groups, 1, 1);
    if (ok())
      check_.that(c_.groups->shape[0] <= p_.experts,
                  "groupList has %" PRId64 " entries for %" PRId64 " groups", c_.groups->shape[0],
                  p_.experts);
  }

  void companions() {
    const bool single = c_.weight.size() == 1;
    for (size_t i = 0; ok() && i < c_.scale.size(); ++i) {
      const aclTensor &scale = *c_.scale[i];
      const Layout channels = per_group(single, p_.columns);
      const bool cut = static_cast<int>(scale.rank()) == channels.rank + 1;
      check_.that(!cut || scale_may_be_cut(),
                  "weightScale has shape %s; scales by group of rows need a weight of INT4%s",
                  shape_text(layout_of(scale)).c_str(), c_.first ? "" : " and dequantMode 1");
      check_.that(cut || c_.first || c_.dequant_mode == 0,
                  "weightScale has shape %s; dequantMode 1 needs scales by group of rows",
                  shape_text(layout_of(scale)).c_str());
      Layout expected = channels;
      if (cut && ok()) {
        const int64_t pieces = scale.shape[scale.rank() - 2];
        check_.that(pieces > 0 && p_.depth % pieces == 0,
                    "weightScale cuts the %" PRId64 " rows of weight into %" PRId64
                    " groups, which must be of one size",
                    p_.depth, pieces);
        check_.that(i == 0 || pieces == p_.pieces,
                    "weightScale[%zu] has %" PRId64 " groups of rows, but weightScale[0] %" PRId64,
                    i, pieces, p_.pieces);
        p_.pieces = pieces;
        expected = Layout();
        if (single) expected.push(p_.experts, 0);
        expected.push(pieces, 0);
        expected.push(p_.columns, 0);
      }
      check_.shape("weightScale", &scale, expected);
    }
    for (const aclTensor *help : c_.help)
      check_.shape(help_name(), help, per_group(single, p_.columns));
    if (!ok() || c_.smooth == nullptr) return;
    check_.rank("smoothScaleOptional", c_.smooth, 1, 2);
    if (!ok()) return;
    const int64_t shape[] = {p_.experts, p_.columns / 2};
    check_.shape("smoothScaleOptional", c_.smooth,
                 dense_layout(shape, static_cast<int>(c_.smooth->rank())));
  }

  bool scale_may_be_cut() const {
    return kind(c_.weight[0]) == ACL_INT4 && (c_.first || c_.dequant_mode == 1);
  }

  Layout per_group(bool stacked, int64_t columns) const {
    Layout shape;
    if (stacked) shape.push(p_.experts, 0);
    shape.push(columns, 0);
    return shape;
  }

  SwigluQuantProblem &p_;
  SwigluQuantCall &c_;
  Check check_;
};

}  // namespace

Status check_swiglu_quant(SwigluQuantProblem *problem) { return SwigluQuantRules(problem).run(); }

}  // namespace emu
