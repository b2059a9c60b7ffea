// SPDX-License-Identifier: Apache-2.0
// Phase one of grouped products of integers one side of which has 4 bits.
#include <cinttypes>

#include "core/chip.h"
#include "ops/gmm/few_bits.h"
#include "ops/gmm/low_bits.h"

namespace emu {
namespace {

constexpr DtypeSet kPacked = dtype_set(ACL_UINT64, ACL_INT64),
                   kNumbers = dtype_set(ACL_INT4, ACL_INT32);
constexpr int64_t kDeepestSymmetric = 18432;  // of INT8 with INT4 without an offset
constexpr int64_t kSymmetricGroup = 256;      // rows of such a weight that share a scale
constexpr int64_t kBlockUnit = 64;            // numbers of 4 bits in the 32 bytes of a block

const aclTensor &first_of(const aclTensorList *list) { return *list->members[0]; }

class FewBitsDtypes {
 public:
  FewBitsDtypes(Check &check, GroupedCall *call, const char *out_name, FewBits *form)
      : check_(check), c_(*call), out_(out_name), form_(*form) {}

  void run() {
    form_.kind = kind();
    common();
    if (!check_.ok()) return;
    switch (form_.kind) {
      case FewBits::kFour: return four();
      case FewBits::kHalves: return halves();
      case FewBits::kTwice: return twice();
    }
  }

 private:
  FewBits::Kind kind() const {
    if (first_of(c_.x).dtype != ACL_INT8) return FewBits::kFour;
    return chip_is_950() ? FewBits::kTwice : FewBits::kHalves;
  }
  const char *pair() const {
    return form_.kind == FewBits::kFour ? "x and weight of INT4" : "x of INT8 with weight of INT4";
  }
  void absent(const char *name, const aclTensorList *list) {
    check_.that(list == nullptr, "%s is given; with %s it must be null", name, pair());
  }
  void present(const char *name, const aclTensorList *list, DtypeSet dtypes) {
    check_.required(name, list);
    if (check_.ok()) check_.dtype_in(name, first_of(list).dtype, dtypes);
  }
  void optional(const char *name, const aclTensorList *list, DtypeSet dtypes) {
    if (list) check_.dtype_in(name, first_of(list).dtype, dtypes);
  }

  void common() {
    const bool four = form_.kind == FewBits::kFour, nz = c_.version == 6;
    check_.that(c_.version >= 4,
                "x is %s and weight %s, which the versions from the fourth on take",
                dtype_name(first_of(c_.x).dtype), dtype_name(first_of(c_.weight).dtype));
    // An INT32 stands for eight numbers; the document of x and weight of INT4 names it for
    // WeightNz alone.
    check_.dtype_in("x", first_of(c_.x).dtype,
                    !four ? dtype_set(ACL_INT8)
                    : nz  ? kNumbers
                          : dtype_set(ACL_INT4));
    check_.dtype_in("weight", first_of(c_.weight).dtype,
                    four && !nz ? dtype_set(ACL_INT4) : kNumbers);
    check_.that(c_.group_type == 0, "groupType is %" PRId64 "; with %s it is 0", c_.group_type,
                pair());
    const bool lists = form_.kind == FewBits::kHalves && c_.version >= 5;
    check_.that(c_.x->members.size() == 1 && c_.y->members.size() == 1 &&
                    (lists || c_.weight->members.size() == 1),
                "x, weight and %s have %zu, %zu and %zu tensors; with %s %s", out_,
                c_.x->members.size(), c_.weight->members.size(), c_.y->members.size(), pair(),
                lists ? "x and the result have one" : "each has one");
    // The version whose weight is in blocks takes an activation and makes nothing of it.
    check_.that(c_.activation == 0 || (nz && !chip_is_950()),
                "actType is %" PRId64 "; with %s it is 0", c_.activation, pair());
    check_.dtype_in(out_, first_of(c_.y).dtype, dt::kHalf);
    check_.that(c_.group_tensor != nullptr, "groupListOptional is null; %s needs it", pair());
    absent("antiquantOffsetOptional", c_.antiquant_offset);
    if (form_.kind != FewBits::kTwice) absent("antiquantScaleOptional", c_.antiquant_scale);
    if (nz && !chip_is_950()) c_.activation = 0;
  }

  void four() {
    absent("biasOptional", c_.bias);
    absent("offsetOptional", c_.offset);
    present("scaleOptional", c_.scale, kPacked);
    optional("perTokenScaleOptional", c_.per_token, dtype_set(ACL_FLOAT));
  }

  void halves() {
    present("biasOptional", c_.bias, dtype_set(ACL_FLOAT));
    present("scaleOptional", c_.scale, kPacked);
    optional("offsetOptional", c_.offset, dtype_set(ACL_FLOAT));
    present("perTokenScaleOptional", c_.per_token, dtype_set(ACL_FLOAT));
    if (!check_.ok()) return;
    check_.that(!c_.offset || first_of(c_.y).dtype == ACL_FLOAT16,
                "%s is %s; with offsetOptional it is FLOAT16", out_,
                dtype_name(first_of(c_.y).dtype));
    // The kernel counts rows, whatever groupListType says.
    if (!c_.offset || c_.version == 6)
      c_.group_list_type = static_cast<int64_t>(GroupListKind::kSizes);
    form_.weight_by_columns = c_.version >= 5 && c_.tuning && c_.tuning->values.size() > 1 &&
                              c_.tuning->values[1] == 1 && is_fractal(first_of(c_.weight));
  }

  void twice() {
    check_.that(c_.version == 6,
                "weight is %s; with an INT8 x this chip takes it in GroupedMatmulWeightNz alone",
                dtype_name(first_of(c_.weight).dtype));
    absent("offsetOptional", c_.offset);
    present("antiquantScaleOptional", c_.antiquant_scale, dtype_set(ACL_FLOAT16));
    present("scaleOptional", c_.scale, dtype_set(ACL_FLOAT));
    present("perTokenScaleOptional", c_.per_token, dtype_set(ACL_FLOAT));
    optional("biasOptional", c_.bias, dtype_set(ACL_FLOAT));
  }

  Check &check_;
  GroupedCall &c_;
  const char *out_;
  FewBits &form_;
};

class FewBitsShapes {
 public:
  FewBitsShapes(Check &check, const GroupedProblem &problem, bool turned, FewBits *form)
      : check_(check), p_(problem), c_(problem.call), form_(*form), turned_(turned) {
    const aclTensor &w = problem.weights[0];
    depth_ = w.shape[w.rank() - 2];
    columns_ = w.shape[w.rank() - 1];
  }

  void run() {
    operands();
    if (!check_.ok()) return;
    if (form_.kind == FewBits::kTwice) {
      rows("antiquantScaleOptional", c_.antiquant_scale, true);
      rows("scaleOptional", c_.scale, false);
    } else {
      rows("scaleOptional", c_.scale, true);
    }
    if (!check_.ok()) return;
    if (form_.kind == FewBits::kFour) groups_of_four();
    if (form_.kind == FewBits::kHalves) groups_of_halves();
    if (form_.kind == FewBits::kTwice) groups_of_twice();
    if (c_.bias) rows("biasOptional", c_.bias, false);
    if (c_.offset) offsets();
    group_size();
    if (!check_.ok() || !c_.per_token) return;
    check_.that(c_.per_token->members.size() == 1,
                "perTokenScaleOptional has %zu tensors for 1 of x", c_.per_token->members.size());
    const int64_t tokens[] = {first_of(c_.x).shape[0]};
    check_.shape("perTokenScaleOptional", &first_of(c_.per_token), dense_layout(tokens, 1));
  }

 private:
  bool fractal() const { return is_fractal(first_of(c_.weight)); }

  void operands() {
    const bool four = form_.kind == FewBits::kFour;
    check_.that(first_of(c_.x).dtype == ACL_INT8 || first_of(c_.x).contiguous(),
                "x of %s must be contiguous", dtype_name(first_of(c_.x).dtype));
    check_.that(!turned_ || form_.weight_by_columns || (four && fractal() && c_.version >= 5),
                "weight is a transposed view; %s takes none%s",
                four ? "x of INT4" : "x of INT8 with weight of INT4",
                four && c_.version >= 5 ? " in ND" : "");
    for (const aclTensor *w : c_.weight->members)
      check_weight(check_, "weight", *w, w->rank(), Blocks::kByFormat);
    check_.that((four && fractal()) || columns_ % 8 == 0,
                "weight has %" PRId64 " columns; they must be a multiple of 8", columns_);
    const bool units = form_.kind == FewBits::kTwice || (four && turned_);
    check_.that(!units || depth_ % kBlockUnit == 0,
                "weight has %" PRId64 " rows; they must be a multiple of %" PRId64, depth_,
                kBlockUnit);
    check_.that(form_.kind != FewBits::kTwice || columns_ % kBlockUnit == 0,
                "weight has %" PRId64 " columns; they must be a multiple of %" PRId64, columns_,
                kBlockUnit);
  }

  // One row of values for each group, or one for each piece of the depth where it may be cut.
  void rows(const char *name, const aclTensorList *list, bool cut) {
    const size_t tensors = c_.weight->members.size();
    check_.that(list->members.size() == tensors, "%s has %zu tensors for %zu of weight", name,
                list->members.size(), tensors);
    for (size_t i = 0; check_.ok() && i < tensors; ++i) {
      const aclTensor &t = *list->members[i];
      Layout expected = stack();
      const bool pieces = cut && static_cast<int>(t.rank()) == expected.rank + 2;
      if (pieces) {
        const int64_t given = t.shape[t.rank() - 2];
        check_.that(given > 0 && depth_ % given == 0,
                    "%s[%zu] cuts K into %" PRId64 " pieces; K is %" PRId64, name, i, given,
                    depth_);
        check_.that(i == 0 || given == form_.pieces,
                    "%s[%zu] cuts K into %" PRId64 " pieces, but %s[0] into %" PRId64, name, i,
                    given, name, form_.pieces);
        if (check_.ok()) form_.pieces = given;
        expected.push(given, 0);
      }
      expected.push(columns_, 0);
      check_.shape(name, &t, expected);
    }
  }

  Layout stack() const {
    Layout layout;
    const aclTensor &w = p_.weights[0];
    if (w.rank() == 3) layout.push(w.shape[0], 0);
    return layout;
  }

  int64_t group() const { return depth_ / form_.pieces; }

  void groups_of_four() {
    if (form_.pieces == 1) return;
    const int64_t unit = turned_ ? kBlockUnit : 2;
    check_.that(group() % unit == 0,
                "scaleOptional cuts the %" PRId64 " rows of weight into groups of %" PRId64
                "; a group must be a multiple of %" PRId64,
                depth_, group(), unit);
  }

  void groups_of_halves() {
    const int rank = static_cast<int>(first_of(c_.scale).rank());
    check_.that(rank == stack().rank + 2,
                "scaleOptional has shape %s; with x of INT8 and weight of INT4 it has one row for "
                "each %" PRId64 " of K, or a single row",
                shape_text(layout_of(first_of(c_.scale))).c_str(), kSymmetricGroup);
    if (c_.offset || form_.weight_by_columns) {
      check_.that(form_.pieces == 1, "scaleOptional has %" PRId64 " rows; with %s it has one",
                  form_.pieces, c_.offset ? "offsetOptional" : "a weight (E, N, K)");
      return;
    }
    check_.that(depth_ <= kDeepestSymmetric,
                "weight has %" PRId64 " rows (K); at most %" PRId64 " are allowed", depth_,
                kDeepestSymmetric);
    check_.that(form_.pieces == 1 || group() == kSymmetricGroup,
                "scaleOptional cuts the %" PRId64 " rows of weight into groups of %" PRId64
                "; allowed: %" PRId64 ", or one group",
                depth_, group(), kSymmetricGroup);
  }

  void groups_of_twice() {
    const int rank = static_cast<int>(first_of(c_.antiquant_scale).rank());
    const bool fits = group() == 128 || group() == 192 || group() == 256 || group() == 512;
    check_.that(rank == stack().rank + 2 && fits,
                "antiquantScaleOptional has shape %s; it has one row for each 128, 192, 256 or 512 "
                "of K",
                shape_text(layout_of(first_of(c_.antiquant_scale))).c_str());
  }

  void offsets() {
    const size_t tensors = c_.weight->members.size();
    check_.that(c_.offset->members.size() == tensors,
                "offsetOptional has %zu tensors for %zu of "
                "weight",
                c_.offset->members.size(), tensors);
    Layout expected = stack();
    expected.push(1, 0);
    expected.push(columns_, 0);
    for (size_t i = 0; check_.ok() && i < tensors; ++i)
      check_.shape("offsetOptional", c_.offset->members[i], expected);
  }

  void group_size() {
    const int64_t given = c_.quant_group_size;
    check_.that(given == 0 || (!chip_is_950() && form_.pieces > 1 && given == group()),
                "quantGroupSize is %" PRId64
                "; allowed: 0, or the rows of weight that share a "
                "scale",
                given);
  }

  Check &check_;
  const GroupedProblem &p_;
  const GroupedCall &c_;
  FewBits &form_;
  const bool turned_;
  int64_t depth_, columns_;
};

}  // namespace

bool is_few_bits(const GroupedCall &call) {
  const aclDataType x = first_of(call.x).dtype, weight = first_of(call.weight).dtype;
  const bool packed_x = call.version == 6 && x == ACL_INT32;
  if (x == ACL_INT4 || packed_x) return !chip_is_950();
  return x == ACL_INT8 && contains(kNumbers, weight);
}

void check_few_bits_dtypes(Check &check, GroupedCall *call, const char *out_name, FewBits *form) {
  FewBitsDtypes(check, call, out_name, form).run();
}

void check_few_bits_shapes(Check &check, const GroupedProblem &problem, bool weight_turned,
                           FewBits *form) {
  FewBitsShapes(check, problem, weight_turned, form).run();
}

}  // namespace emu
