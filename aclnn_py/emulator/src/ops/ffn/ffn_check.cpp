// SPDX-License-Identifier: Apache-2.0
#include "ops/ffn/ffn.h"

#include <cinttypes>
#include <cstring>

namespace emu {
namespace {

constexpr int64_t kMostExperts = 256, kDeepest = 65535;

// The positions of the names.
enum : int { kTokens, kBias1, kBias2, kScale, kOffset, kDequant1, kDequant2, kAntiquant1 };

class FfnRules {
 public:
  explicit FfnRules(FfnProblem *problem) : p_(*problem), c_(problem->call), check_(c_.op) {}

  Status run() {
    nulls();
    if (ok()) activation();
    if (ok()) mode();
    if (ok()) shapes();
    if (ok()) tokens();
    if (ok()) companions();
    return check_.status();
  }

 private:
  bool ok() const { return check_.ok(); }
  const char *name(int position) const { return c_.names[position]; }
  static const char *weight_name(int i) { return i == 0 ? "weight1" : "weight2"; }

  void nulls() {
    check_.required("x", c_.x).required("weight1", c_.weight[0]).required("weight2", c_.weight[1]);
    check_.required_text("activation", c_.activation).required("y", c_.y);
    check_.optional(name(kTokens), c_.token_array).optional(name(kTokens), c_.token_tensor);
    check_.optional(name(kScale), c_.scale).optional(name(kOffset), c_.offset);
    for (int i = 0; i < 2; ++i) {
      check_.optional(name(kBias1 + i), c_.bias[i]).optional(name(kDequant1 + i), c_.dequant[i]);
      check_.optional(name(kAntiquant1 + i), c_.antiquant_scale[i]);
      check_.optional(name(kAntiquant1 + 2 + i), c_.antiquant_offset[i]);
    }
  }

  void activation() {
    static const struct {
      const char *name;
      int64_t kind;
    } kinds[] = {{"relu", 1}, {"gelu", 3}, {"fastgelu", 4}, {"silu", 5}};
    for (const auto &kind : kinds) {
      if (std::strcmp(c_.activation, kind.name) == 0) p_.activation = kind.kind;
    }
    for (const char *gated : {"geglu", "swiglu", "reglu"}) {
      check_.that(std::strcmp(c_.activation, gated) != 0,
                  "activation is \"%s\"; the documents do not say which half it activates, so the "
                  "emulator takes \"relu\", \"gelu\", \"fastgelu\" and \"silu\" only",
                  gated);
    }
    check_.that(p_.activation != 0,
                "activation is \"%.40s\"; allowed: \"relu\", \"gelu\", \"fastgelu\", \"silu\"",
                c_.activation);
    check_.that(c_.precision == 0 || c_.precision == 1,
                "innerPrecise is %" PRId64 "; allowed: 0 (high precision), 1 (high performance)",
                c_.precision);
  }

  bool quantised() const { return c_.scale || c_.offset || c_.dequant[0] || c_.dequant[1]; }
  bool antiquantised() const {
    return c_.antiquant_scale[0] || c_.antiquant_scale[1] || c_.antiquant_offset[0] ||
           c_.antiquant_offset[1];
  }

  void mode() {
    const aclDataType x = c_.x->dtype, weight = c_.weight[0]->dtype;
    check_.dtype_in("x", x, dt::kHalf | dtype_set(ACL_INT8));
    check_.dtype_in("weight1", weight, dt::kHalf | dtype_set(ACL_INT8, ACL_INT4));
    check_.same_dtype("weight2", c_.weight[1]->dtype, "weight1", weight);
    check_.plain_format("x", c_.x).plain_format("y", c_.y);
    for (int i = 0; i < 2; ++i) check_.plain_format(weight_name(i), c_.weight[i]);
    if (!ok()) return;
    p_.mode = x == ACL_INT8                              ? FfnMode::kInt8
              : weight == ACL_INT8 || weight == ACL_INT4 ? FfnMode::kAntiquant
                                                         : FfnMode::kFloat;
    check_.that(p_.mode == FfnMode::kInt8 || !quantised(),
                "scales of quantisation are given; they belong to x of INT8, not %s",
                dtype_name(x));
    check_.that(p_.mode == FfnMode::kAntiquant || !antiquantised(),
                "antiquant scales or offsets are given; they belong to weights of INT8 or INT4 "
                "with x of FLOAT16 or BF16");
    if (p_.mode == FfnMode::kInt8) return int8_dtypes();
    if (p_.mode == FfnMode::kFloat) {
      check_.same_dtype("weight1", weight, "x", x);
      check_.that(x == ACL_FLOAT16 || c_.precision == 0,
                  "innerPrecise is 1; with x of BF16 it must be 0");
    } else {
      antiquant_dtypes(x);
    }
    check_.same_dtype("y", c_.y->dtype, "x", x);
    biases(x == ACL_FLOAT16 ? ACL_FLOAT16 : ACL_FLOAT);
  }

  void biases(aclDataType dtype) {
    for (int i = 0; i < 2; ++i) {
      if (c_.bias[i]) check_.dtype_in(name(kBias1 + i), c_.bias[i]->dtype, dtype_set(dtype));
    }
  }

  void int8_dtypes() {
    check_.same_dtype("weight1", c_.weight[0]->dtype, "x", ACL_INT8);
    check_.that(c_.scale && c_.offset, "%s is null; x of INT8 needs it",
                name(c_.scale ? kOffset : kScale));
    check_.that(c_.dequant[0] && c_.dequant[1], "%s is null; x of INT8 needs it",
                name(c_.dequant[0] ? kDequant2 : kDequant1));
    if (!ok()) return;
    check_.dtype_in(name(kScale), c_.scale->dtype, dtype_set(ACL_FLOAT));
    check_.dtype_in(name(kOffset), c_.offset->dtype, dtype_set(ACL_FLOAT));
    check_.dtype_in("y", c_.y->dtype, dt::kHalf);
    const DtypeSet scales =
        c_.y->dtype == ACL_BF16 ? dtype_set(ACL_BF16) : dtype_set(ACL_UINT64, ACL_INT64, ACL_FLOAT);
    check_.dtype_in(name(kDequant1), c_.dequant[0]->dtype, scales);
    check_.same_dtype(name(kDequant2), c_.dequant[1]->dtype, name(kDequant1), c_.dequant[0]->dtype);
    biases(ACL_INT32);
  }

  void antiquant_dtypes(aclDataType x) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const aclTensor *given = j == 0 ? c_.antiquant_scale[i] : c_.antiquant_offset[i];
        const char *which = name(kAntiquant1 + 2 * j + i);
        check_.that(given != nullptr, "%s is null; weights of INT8 or INT4 need it", which);
        if (ok()) check_.same_dtype(which, given->dtype, "x", x);
      }
      check_.that(c_.weight[i]->dtype != ACL_INT4 || c_.weight[i]->contiguous(),
                  "%s has dtype INT4; then it must be contiguous", weight_name(i));
    }
  }

  void shapes() {
    p_.experts = c_.token_array || c_.token_tensor;
    const int rank = p_.experts ? 3 : 2;
    check_.rank("x", c_.x, 2, 8);
    for (int i = 0; i < 2; ++i) check_.rank(weight_name(i), c_.weight[i], rank, rank);
    if (!ok()) return;
    const Layout x = layout_of(*c_.x);
    p_.width = x.shape[x.rank - 1];
    p_.rows = p_.width == 0 ? 0 : c_.x->numel() / p_.width;
    const size_t last = static_cast<size_t>(rank) - 1;
    p_.hidden = c_.weight[0]->shape[last];
    if (p_.experts) p_.groups = c_.weight[0]->shape[0];
    check_.that(p_.groups >= 1 && p_.groups <= kMostExperts,
                "weight1 has %" PRId64 " experts; allowed: 1 to %" PRId64, p_.groups, kMostExperts);
    check_.that(p_.width >= 1 && p_.width <= kDeepest && p_.hidden >= 1 && p_.hidden <= kDeepest,
                "x has %" PRId64 " columns and weight1 %" PRId64 "; allowed: 1 to %" PRId64,
                p_.width, p_.hidden, kDeepest);
    check_.that(c_.weight[0]->dtype != ACL_INT4 || (p_.width % 2 == 0 && p_.hidden % 2 == 0),
                "weight1 has dtype INT4; its last dimension and that of weight2 must be even");
    check_.shape("weight1", c_.weight[0], stacked({p_.width, p_.hidden}));
    check_.shape("weight2", c_.weight[1], stacked({p_.hidden, p_.width}));
    check_.shape("y", c_.y, x);
  }

  Layout stacked(std::initializer_list<int64_t> shape) const {
    Layout layout;
    if (p_.experts) layout.push(p_.groups, 0);
    for (const int64_t extent : shape) layout.push(extent, 0);
    return layout;
  }

  void tokens() {
    if (c_.token_tensor) {
      check_.dtype_in(name(kTokens), c_.token_tensor->dtype, dtype_set(ACL_INT64));
      check_.shape(name(kTokens), c_.token_tensor, dense_layout(&p_.groups, 1));
      return;
    }
    if (c_.token_array == nullptr) return;
    const auto &values = c_.token_array->values;
    check_.that(static_cast<int64_t>(values.size()) == p_.groups,
                "%s has %zu entries for %" PRId64 " experts", name(kTokens), values.size(),
                p_.groups);
    Checked end = 0;
    for (size_t e = 0; ok() && e < values.size(); ++e) {
      const Checked next = c_.ends ? Checked(values[e]) : end + values[e];
      check_.that(next.fits() && next.value() >= end.value() && next.value() <= p_.rows,
                  "%s[%zu] is %" PRId64 "; the experts must follow each other within the %" PRId64
                  " rows of x",
                  name(kTokens), e, values[e], p_.rows);
      end = next;
    }
    if (ok())
      check_.that(end.value() == p_.rows, "%s gives %" PRId64 " rows to experts; x has %" PRId64,
                  name(kTokens), end.value(), p_.rows);
  }

  void companions() {
    const int64_t columns[] = {p_.hidden, p_.width};
    for (int i = 0; i < 2; ++i) {
      check_.shape(name(kBias1 + i), c_.bias[i], stacked({columns[i]}));
      check_.shape(name(kDequant1 + i), c_.dequant[i], stacked({columns[i]}));
      pieces(name(kAntiquant1 + i), c_.antiquant_scale[i], columns[1 - i], columns[i]);
      if (ok() && c_.antiquant_scale[i])
        check_.shape(name(kAntiquant1 + 2 + i), c_.antiquant_offset[i],
                     layout_of(*c_.antiquant_scale[i]));
    }
    if (p_.mode != FfnMode::kInt8 || !ok()) return;
    const Layout single = dense_layout(&p_.groups, 1);
    check_.shape(name(kOffset), c_.offset, single);
    const bool by_channel = !same_shape(layout_of(*c_.scale), single);
    if (by_channel) check_.shape(name(kScale), c_.scale, stacked({p_.hidden}));
    if (ok())
      check_.that(!by_channel || c_.dequant[0]->dtype != ACL_FLOAT,
                  "%s has a value for each column; then %s cannot be FLOAT", name(kScale),
                  name(kDequant1));
  }

  // A row of values, or one for each group of rows of the weight.
  void pieces(const char *which, const aclTensor *given, int64_t depth, int64_t columns) {
    if (!ok() || given == nullptr) return;
    const size_t rank = p_.experts ? 2 : 1;
    if (given->rank() != rank + 1) {
      check_.shape(which, given, stacked({columns}));
      return;
    }
    const int64_t count = given->shape[rank - 1];
    check_.that(count > 0 && depth % count == 0,
                "%s has %" PRId64 " groups; they must cut the %" PRId64
                " rows of the weight evenly",
                which, count, depth);
    check_.shape(which, given, stacked({count, columns}));
  }

  FfnProblem &p_;
  const FfnCall &c_;
  Check check_;
};

}  // namespace

Status check_ffn(FfnProblem *problem) { return FfnRules(problem).run(); }

}  // namespace emu
