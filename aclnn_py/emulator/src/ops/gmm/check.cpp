// SPDX-License-Identifier: Apache-2.0
// Phase one of the grouped products: nulls are 161001, every other refusal is 161002.
#include <algorithm>
#include <cinttypes>

#include "core/chip.h"
#include "ops/gmm/companions.h"
#include "ops/gmm/few_bits.h"
#include "ops/gmm/grouped_dtypes.h"
#include "ops/gmm/grouped_floats.h"
#include "ops/gmm/low_bits.h"
#include "ops/matmul/stack.h"

namespace emu {
namespace {

constexpr size_t kMostTensors = 128;  // a 950 takes as many as groups in products of floats
constexpr size_t kMostGroups = 1024;
constexpr int64_t kLargestInner = 65535;
const char *const kReserved[] = {"activationInputOptional", "activationQuantScaleOptional",
                                 "activationQuantOffsetOptional", "activationFeatureOutOptional",
                                 "dynQuantScaleOutOptional"};

// The rules of phase one, applied in order; they fill in the problem as they go.
class GroupedRules {
 public:
  explicit GroupedRules(GroupedProblem *problem) : p_(*problem), c_(problem->call), check_(c_.op) {}

  Status run() {
    nulls();
    if (ok()) attributes();
    if (ok()) members();
    if (ok()) list_presence();
    if (ok()) counts();
    if (ok()) check_grouped_dtypes(check_, &p_, out_name());
    if (ok()) numbers();
    if (ok())
      p_.nothing = std::all_of(c_.x->members.begin(), c_.x->members.end(),
                               [](const aclTensor *t) { return t->numel() == 0; });
    if (ok() && p_.nothing) return 0;
    if (ok()) transposition();
    if (ok()) shapes();
    if (ok()) group_list();
    if (ok()) results();
    if (ok()) {
      if (p_.mode != GroupedMode::kFewBits) no_group_size();
      if (p_.mode == GroupedMode::kLowFloats)
        check_float_scales(check_, p_, weight_turned_, &p_.floats);
      else if (p_.mode == GroupedMode::kFewBits)
        check_few_bits_shapes(check_, p_, weight_turned_, &p_.few);
      else check_companions(check_, p_, weight_turned_);
    }
    return check_.status();
  }

 private:
  bool ok() const { return check_.ok(); }
  bool single() const { return c_.y->members.size() == 1 && c_.split_item >= 2; }
  const char *out_name() const { return c_.version >= 4 ? "out" : "y"; }

  void nulls() {
    check_.required("x", c_.x).required("weight", c_.weight).required(out_name(), c_.y);
    for (const auto &[name, list] : optionals()) check_.optional(name, list);
    check_.optional("groupListOptional", c_.group_array)
        .optional("groupListOptional", c_.group_tensor);
    for (size_t i = 0; i < 5; ++i) check_.optional(kReserved[i], c_.reserved[i]);
    if (!ok()) return;
    for (const aclTensorList **list : {&c_.bias, &c_.scale, &c_.offset, &c_.antiquant_scale,
                                       &c_.antiquant_offset, &c_.per_token}) {
      if (absent(*list)) *list = nullptr;
    }
  }

  std::vector<std::pair<const char *, const aclTensorList *>> optionals() const {
    return {{"biasOptional", c_.bias},
            {"scaleOptional", c_.scale},
            {"offsetOptional", c_.offset},
            {"antiquantScaleOptional", c_.antiquant_scale},
            {"antiquantOffsetOptional", c_.antiquant_offset},
            {"perTokenScaleOptional", c_.per_token}};
  }

  void attributes() {
    check_.that(c_.group_type != 1,
                "groupType is 1 (the N axis), which is not supported; allowed: -1, 0, 2");
    check_.that(c_.group_type == -1 || c_.group_type == 0 || c_.group_type == 2,
                "groupType is %" PRId64 "; allowed: -1, 0, 2", c_.group_type);
    check_.that(c_.split_item >= 0 && c_.split_item <= 3,
                "splitItem is %" PRId64 "; allowed: 0 to 3", c_.split_item);
    check_.that(c_.group_list_type >= 0 && c_.group_list_type <= 2,
                "groupListType is %" PRId64 "; allowed: 0 (ends), 1 (sizes), 2 (pairs)",
                c_.group_list_type);
    check_.that(c_.group_list_type != 2 || c_.group_type == 0,
                "groupListType is 2 (pairs), which needs groupType 0, not %" PRId64, c_.group_type);
    check_.that(c_.activation >= 0 && c_.activation <= 5 && c_.activation != 3,
                "actType is %" PRId64 "; allowed: 0, 1, 2, 4, 5", c_.activation);
    for (size_t i = 0; i < 5; ++i)
      check_.that(absent(c_.reserved[i]), "%s is given; it is reserved and must be null",
                  kReserved[i]);
  }

  void members() {
    list_members("x", c_.x);
    list_members("weight", c_.weight);
    list_members(out_name(), c_.y);
    for (const auto &[name, list] : optionals()) {
      if (list) list_members(name, list);
    }
  }

  void list_members(const char *name, const aclTensorList *list) {
    if (!ok()) return;
    const auto &members = list->members;
    check_.that(!members.empty(), "%s is an empty list", name);
    const size_t most = chip_is_950() ? kMostGroups : kMostTensors;
    check_.that(members.size() <= most, "%s has %zu tensors; at most %zu are allowed", name,
                members.size(), most);
    for (size_t i = 0; ok() && i < members.size(); ++i) {
      check_.that(members[i] && live(members[i]), "%s[%zu] is null or was destroyed", name, i);
      if (ok())
        check_.that(members[i]->dtype == members[0]->dtype,
                    "%s[%zu] is %s, but %s[0] is %s; a list has one dtype", name, i,
                    dtype_name(members[i]->dtype), name, dtype_name(members[0]->dtype));
    }
  }

  bool listed() const { return c_.group_array || c_.group_tensor; }

  // Whether there must be a group list, whatever is in it.
  void list_presence() {
    if (c_.group_type == -1) {
      check_.that(!listed(),
                  "groupListOptional is given; without grouping (groupType -1) it must be null");
      return;
    }
    if (deep_lists() && !chip_is_950()) {
      check_.that(!listed(),
                  "groupListOptional is given; with groupType 2 and splitItem %" PRId64
                  " it must be null",
                  c_.split_item);
      return;
    }
    const bool needed = c_.group_type == 2 ? !deep_lists() : c_.x->members.size() == 1;
    check_.that(listed() || !needed,
                "groupListOptional is null; groupType %" PRId64 " with one x needs it",
                c_.group_type);
  }

  // Parts of the K axis, each with a weight and a result of its own.
  bool deep_lists() const { return c_.group_type == 2 && c_.split_item < 2 && c_.version >= 3; }

  // The table of scenarios: how many tensors each list has.
  void counts() {
    const size_t nx = c_.x->members.size(), nw = c_.weight->members.size(),
                 ny = c_.y->members.size();
    if (c_.group_type == -1) {
      check_.that(c_.split_item < 2,
                  "splitItem is %" PRId64 "; without grouping (groupType -1) it is 0 or 1",
                  c_.split_item);
      check_.that(nx == nw && nw == ny,
                  "x, weight and %s have %zu, %zu and %zu tensors; without grouping the numbers "
                  "must be equal",
                  out_name(), nx, nw, ny);
      p_.groups = nx;
    } else if (deep_lists()) {
      check_.that(nx == 1 && nw == ny,
                  "x, weight and %s have %zu, %zu and %zu tensors; with groupType 2 and splitItem "
                  "%" PRId64 " there is one x, and as many weights as results",
                  out_name(), nx, nw, ny, c_.split_item);
      check_.that(c_.bias == nullptr, "biasOptional is given; with groupType 2 there is none");
      p_.groups = nw;
    } else if (c_.group_type == 2) {
      check_.that(c_.split_item >= 2,
                  "splitItem is %" PRId64
                  "; cutting the K axis (groupType 2) gives one tensor: 2 or 3",
                  c_.split_item);
      check_.that(nx == 1 && nw == 1 && ny == 1,
                  "x, weight and %s have %zu, %zu and %zu tensors; with groupType 2 each has one",
                  out_name(), nx, nw, ny);
      check_.that(c_.bias == nullptr, "biasOptional is given; with groupType 2 there is none");
      if (ok()) {
        check_.rank(out_name(), c_.y->members[0], 3, 3);
        if (ok()) p_.groups = static_cast<size_t>(c_.y->members[0]->shape[0]);
      }
    } else if (c_.split_item >= 2) {
      check_.that(ny == 1, "%s has %zu tensors; splitItem %" PRId64 " gives one", out_name(), ny,
                  c_.split_item);
      check_.that(nx == 1 || nx == nw,
                  "x has %zu tensors and weight %zu; x has one, or as many as weight", nx, nw);
      if (ok() && nx == 1 && nw == 1 && !lone_matrix()) {
        check_.rank("weight", c_.weight->members[0], 3, 3);
        if (ok()) p_.groups = static_cast<size_t>(c_.weight->members[0]->shape[0]);
      } else {
        p_.groups = nw;
      }
    } else {
      check_.that(
          c_.version <= 2,
          "splitItem is %" PRId64
          "; one tensor per group from one x needs a host group list, which only V1 and V2 take",
          c_.split_item);
      check_.that(nx == 1 && nw == ny,
                  "x, weight and %s have %zu, %zu and %zu tensors; splitItem %" PRId64
                  " with groupType 0 takes one x and as many weights as results",
                  out_name(), nx, nw, ny, c_.split_item);
      p_.groups = nw;
    }
  }

  // A list of matrices of FLOAT4 beside FLOAT8 may have a single one.
  bool lone_matrix() const {
    return is_mixed_floats(c_) && c_.weight->members.size() == 1 &&
           c_.weight->members[0]->rank() == 2;
  }

  // Weights counted in numbers, eight to a word.
  void numbers() {
    check_.that(p_.mode != GroupedMode::kAntiquant || c_.weight->members.size() <= kMostTensors,
                "weight has %zu tensors; of numbers that are scaled at most %zu are allowed",
                c_.weight->members.size(), kMostTensors);
    for (const aclTensor *w : c_.weight->members) {
      if (p_.mode != GroupedMode::kFloat && w->rank() >= 2)
        p_.weights.push_back(weight_numbers(*w, p_.few.weight_by_columns));
      else p_.weights.push_back(*w);
    }
    const aclTensor &x = *c_.x->members[0];
    if (c_.tuning && !c_.tuning->values.empty() && c_.x->members.size() == 1 && !chip_is_950()) {
      const int64_t rows = c_.tuning->values[0];
      check_.that(rows >= 0 && (x.rank() == 0 || rows <= x.shape[0]),
                  "tuningConfigOptional begins with %" PRId64
                  "; allowed: 0 to the number of rows of x",
                  rows);
    }
  }

  // Groups of K have a size of their own only where scales have groups.
  void no_group_size() {
    int64_t size = 0;
    if (p_.mode == GroupedMode::kAntiquant && !chip_is_950()) {
      const aclTensor &scale = *c_.antiquant_scale->members[0], &w = p_.weights[0];
      if (scale.rank() == w.rank() && scale.shape[scale.rank() - 2] > 0)
        size = w.shape[w.rank() - 2] / scale.shape[scale.rank() - 2];
    }
    check_.that(c_.quant_group_size == 0 || c_.quant_group_size == size,
                "quantGroupSize is %" PRId64 "; allowed: 0%s", c_.quant_group_size,
                size > 0 ? ", or the rows of weight that share a scale" : "");
  }

  // Rows and columns exactly swapped, all matrices of a stack packed.
  static bool transposed_view(const aclTensor &t) {
    const size_t rank = t.rank();
    if (rank < 2 || rank > 6 || t.strides[rank - 2] != 1 ||
        t.strides[rank - 1] != t.shape[rank - 2])
      return false;
    int64_t step = t.shape[rank - 1] * t.shape[rank - 2];
    for (size_t d = rank - 2; d-- > 0;) {
      if (t.strides[d] != step) return false;
      step *= t.shape[d];
    }
    return true;
  }

  void transposition() {
    for (size_t i = 0; i < c_.x->members.size(); ++i) {
      const aclTensor &x = *c_.x->members[i];
      if (c_.group_type == 2) {
        check_.rank("x", &x, 2, 2);
        if (ok())
          check_.that(
              transposed_view(x),
              "x is not a transposed view; with groupType 2 it is (M, K) with strides (1, M)");
      } else {
        check_.that(x.contiguous() || !transposed_view(x),
                    "x[%zu] is a transposed view; only groupType 2 takes one", i);
      }
    }
    const auto &weights = c_.weight->members;
    const auto turned = [](const aclTensor &w) { return transposed_view(w) && !w.contiguous(); };
    // A matrix of one row or column is both; it takes the state of the others.
    const auto certain = std::find_if(weights.begin(), weights.end(), [&](const aclTensor *w) {
      return turned(*w) || !transposed_view(*w);
    });
    weight_turned_ = certain != weights.end() && turned(**certain);
    for (size_t i = 0; i < weights.size(); ++i) {
      const bool either = weights[i]->contiguous() && transposed_view(*weights[i]);
      check_.that(either || turned(*weights[i]) == weight_turned_,
                  "weight[%zu]: all weights are transposed views, or none is", i);
      const bool fractal = is_fractal(*weights[i]);
      if (c_.version == 6)
        check_.that(fractal, "weight[%zu] has the format %s; allowed: FRACTAL_NZ", i,
                    format_name(weights[i]->format));
      if (c_.version < 4)
        check_.that(!fractal, "weight[%zu] has the format FRACTAL_NZ; allowed: ND", i);
    }
    check_.that(
        !weight_turned_ || !p_.few.weight_by_columns,
        "weight is a transposed view; tuningConfigOptional says that its shape is (E, N, K)");
    weight_turned_ = weight_turned_ || p_.few.weight_by_columns;
    check_.that(!weight_turned_ || c_.version > 1 || chip_is_950(),
                "weight is a transposed view, which the first version does not take");
    check_.that(!weight_turned_ || c_.group_type != 2,
                "weight is a transposed view; with groupType 2 only x is one");
  }

  void inner(const char *name, size_t i, int64_t value) {
    check_.that(value <= kLargestInner,
                "%s[%zu] has an inner axis of %" PRId64 "; at most %" PRId64 " is allowed", name, i,
                value, kLargestInner);
  }

  void shapes() {
    const int x_highest = c_.group_type == -1 ? 6 : 2;
    const bool stacked = c_.group_type == 0 && c_.weight->members.size() == 1 &&
                         c_.split_item >= 2 && c_.x->members.size() == 1 && !lone_matrix();
    for (const aclTensor *x : c_.x->members) check_.rank("x", x, 2, x_highest);
    for (const aclTensor *w : c_.weight->members)
      check_.rank("weight", w, stacked ? 3 : 2, stacked ? 3 : 2);
    if (!ok()) return;
    int64_t deep = 0;
    const size_t pairs = std::max(c_.x->members.size(), c_.weight->members.size());
    for (size_t i = 0; i < pairs && ok(); ++i) {
      const size_t xi = std::min(i, c_.x->members.size() - 1),
                   wi = std::min(i, c_.weight->members.size() - 1);
      const aclTensor &x = *c_.x->members[xi], &w = p_.weights[wi];
      const int64_t per_element = p_.mode == GroupedMode::kFewBits && x.dtype == ACL_INT32 ? 8 : 1;
      const int64_t k = x.shape[x.rank() - 1] * per_element, depth = w.shape[w.rank() - 2];
      const int64_t columns = w.shape[w.rank() - 1];
      if (deep_lists()) {
        deep = deep > k - depth ? k + 1 : deep + depth;
        check_.that(deep <= k,
                    "the rows of weight[0] to weight[%zu] are more than the %" PRId64
                    " columns of x",
                    wi, k);
      }
      check_.that(deep_lists() || k == depth,
                  "x[%zu] has %" PRId64 " columns (K), but weight[%zu] has %" PRId64 " rows", xi, k,
                  wi, depth);
      inner("x", xi, c_.group_type == 2 ? x.shape[0] : k);
      inner("weight", wi, weight_turned_ ? depth : columns);
      if (is_fractal(w)) aligned(wi, depth, columns, w.dtype);
    }
  }

  void aligned(size_t i, int64_t k, int64_t n, aclDataType dtype) {
    int64_t k_unit = kFractalRows, n_unit = fractal_columns(dtype);
    if (weight_turned_) std::swap(k_unit, n_unit);
    check_.that(k % k_unit == 0 && n % n_unit == 0,
                "weight[%zu] is (%" PRId64 ", %" PRId64
                "); in FRACTAL_NZ its rows are a multiple of %" PRId64
                " and its columns of %" PRId64,
                i, k, n, k_unit, n_unit);
  }

  int64_t columns_of(size_t i) const { return p_.weights[i].shape[p_.weights[i].rank() - 1]; }

  void group_list() {
    if (c_.group_type == -1 || !listed()) return;
    if (c_.group_array) return host_list(c_.group_array->values);
    const aclTensor &list = *c_.group_tensor;
    const int rank = c_.group_list_type == 2 ? 2 : 1;
    check_.that(list.dtype == ACL_INT64, "groupListOptional is %s; allowed: INT64",
                dtype_name(list.dtype));
    check_.rank("groupListOptional", &list, rank, rank);
    if (!ok()) return;
    if (rank == 2)
      check_.that(list.shape[1] == 2,
                  "groupListOptional has %" PRId64 " columns; pairs of (group, rows) have 2",
                  list.shape[1]);
    check_.that(list.shape[0] <= static_cast<int64_t>(kMostGroups),
                "groupListOptional has %" PRId64 " entries; at most %zu are allowed", list.shape[0],
                kMostGroups);
    check_.that(list.shape[0] == static_cast<int64_t>(p_.groups),
                "groupListOptional has %" PRId64 " entries for %zu groups", list.shape[0],
                p_.groups);
  }

  void host_list(const std::vector<int64_t> &ends) {
    check_.that(ends.size() <= kMostTensors,
                "groupListOptional has %zu entries; at most %zu are allowed", ends.size(),
                kMostTensors);
    check_.that(ends.size() == p_.groups, "groupListOptional has %zu entries for %zu groups",
                ends.size(), p_.groups);
    if (!ok() || ends.empty()) return;
    const aclTensor &x = *c_.x->members[0];
    const int64_t span = c_.group_type == 2 ? x.shape[1] : x.shape[0];
    for (size_t g = 0; g < ends.size(); ++g) {
      const int64_t before = g ? ends[g - 1] : 0;
      check_.that(ends[g] >= before,
                  "groupListOptional[%zu] is %" PRId64 ", less than %" PRId64
                  " before it; ends do not decrease",
                  g, ends[g], before);
    }
    if (c_.x->members.size() == 1) {
      check_.that(ends.back() <= span,
                  "groupListOptional ends at %" PRId64 ", beyond the %" PRId64
                  " of x that are grouped",
                  ends.back(), span);
    }
  }

  void results() {
    const auto &ys = c_.y->members;
    if (deep_lists()) {
      for (size_t i = 0; i < ys.size() && ok(); ++i) {
        const int64_t expected[] = {c_.x->members[0]->shape[0], columns_of(i)};
        check_.shape(out_name(), ys[i], dense_layout(expected, 2));
      }
      return;
    }
    if (c_.group_type == 2) {
      const aclTensor &x = *c_.x->members[0];
      const int64_t expected[] = {static_cast<int64_t>(p_.groups), x.shape[0], columns_of(0)};
      check_.shape(out_name(), ys[0], dense_layout(expected, 3));
      return;
    }
    if (single()) {
      int64_t rows = 0;
      for (const aclTensor *x : c_.x->members) rows += x->shape[0];
      for (size_t i = 1; i < c_.weight->members.size(); ++i) {
        check_.that(columns_of(i) == columns_of(0),
                    "weight[%zu] has %" PRId64 " columns, but weight[0] has %" PRId64
                    "; they end in one tensor",
                    i, columns_of(i), columns_of(0));
      }
      const int64_t expected[] = {rows, columns_of(0)};
      check_.shape(out_name(), ys[0], dense_layout(expected, 2));
      return;
    }
    for (size_t i = 0; i < ys.size() && ok(); ++i) {
      Layout expected = layout_of(*c_.x->members[c_.group_type == 0 ? 0 : i]);
      if (c_.group_type == 0)
        expected.shape[0] = c_.group_array->values[i] - (i ? c_.group_array->values[i - 1] : 0);
      expected.shape[expected.rank - 1] = columns_of(i);
      const bool fits = same_shape(layout_of(*ys[i]), expected);
      check_.that(fits, "%s[%zu] has shape %s; expected %s", out_name(), i,
                  shape_text(layout_of(*ys[i])).c_str(), shape_text(expected).c_str());
    }
  }

  GroupedProblem &p_;
  GroupedCall &c_;
  Check check_;
  bool weight_turned_ = false;
};

}  // namespace

Status check_grouped(GroupedProblem *problem) { return GroupedRules(problem).run(); }

}  // namespace emu
