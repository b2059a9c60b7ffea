// SPDX-License-Identifier: Apache-2.0
#include "ops/gmm/companions.h"

#include <cinttypes>

#include "core/chip.h"
#include "ops/gmm/grouped_dtypes.h"
#include "ops/gmm/grouped_floats.h"

namespace emu {
namespace {

class CompanionRules {
 public:
  CompanionRules(Check &check, const GroupedProblem &problem, bool weight_turned)
      : check_(check), p_(problem), c_(problem.call), turned_(weight_turned) {}

  void run() {
    rows_per_group("biasOptional", c_.bias, false);
    if (!scale_of_groups()) rows_per_group("scaleOptional", c_.scale, false);
    // A 950 has scales of groups of K beside powers of two alone.
    const bool powers = is_powers_weight(c_);
    rows_per_group("antiquantScaleOptional", c_.antiquant_scale, powers || !chip_is_950());
    if (powers && ok()) check_powers_weight(check_, p_, turned_);
    rows_per_group("antiquantOffsetOptional", c_.antiquant_offset, true);
    if (c_.antiquant_offset && ok()) {
      for (size_t i = 0; i < c_.antiquant_scale->members.size(); ++i) {
        check_.that(
            same_shape(layout_of(*c_.antiquant_scale->members[i]),
                       layout_of(*c_.antiquant_offset->members[i])),
            "antiquantOffsetOptional[%zu] must have the shape of antiquantScaleOptional[%zu]", i,
            i);
      }
    }
    if (!c_.per_token || !ok()) return;
    check_.that(c_.per_token->members.size() == c_.x->members.size(),
                "perTokenScaleOptional has %zu tensors for %zu of x", c_.per_token->members.size(),
                c_.x->members.size());
    for (size_t i = 0; ok() && i < c_.per_token->members.size(); ++i) {
      const aclTensor &scale = *c_.per_token->members[i];
      int64_t rows = 1;
      const aclTensor &x = *c_.x->members[i];
      for (size_t d = 0; d + 1 < x.rank(); ++d) rows *= x.shape[d];
      check_.that(scale.rank() == 1 && scale.shape[0] == rows,
                  "perTokenScaleOptional[%zu] has shape %s; expected (%" PRId64 ",)", i,
                  shape_text(layout_of(scale)).c_str(), rows);
    }
  }

 private:
  bool ok() const { return check_.ok(); }
  int64_t columns_of(size_t i) const { return p_.weights[i].shape[p_.weights[i].rank() - 1]; }

  // A 950 takes one scale for each group of INT8 products, but for a result of INT8.
  bool scale_of_groups() const {
    return chip_is_950() && p_.mode == GroupedMode::kInt8 && c_.scale &&
           c_.scale->members.size() == 1 && p_.weights[0].rank() == 3 &&
           c_.y->members[0]->dtype != ACL_INT8 && c_.activation == 0 &&
           one_each(*c_.scale->members[0], static_cast<int64_t>(p_.groups));
  }

  void rows_per_group(const char *name, const aclTensorList *list, bool cut) {
    if (!list || !ok()) return;
    const size_t tensors = c_.weight->members.size();
    check_.that(list->members.size() == tensors, "%s has %zu tensors for %zu of weight", name,
                list->members.size(), tensors);
    for (size_t i = 0; ok() && i < tensors; ++i) {
      const aclTensor &w = p_.weights[i], &t = *list->members[i];
      Layout expected;
      if (w.rank() == 3) expected.push(w.shape[0], 0);
      expected.push(columns_of(i), 0);
      const int expected_rank = expected.rank;
      // Cut along K: one more dimension, whose extent divides K.
      if (cut && static_cast<int>(t.rank()) == expected_rank + 1) {
        const int64_t pieces = t.shape[t.rank() - 2], k = w.shape[w.rank() - 2];
        check_.that(pieces > 0 && k % pieces == 0,
                    "%s[%zu] cuts K into %" PRId64 " pieces; K is %" PRId64, name, i, pieces, k);
        check_.that(
            t.shape[t.rank() - 1] == columns_of(i) && (w.rank() == 2 || t.shape[0] == w.shape[0]),
            "%s[%zu] has shape %s, which does not fit weight", name, i,
            shape_text(layout_of(t)).c_str());
        continue;
      }
      check_.that(same_shape(layout_of(t), expected), "%s[%zu] has shape %s; expected %s", name, i,
                  shape_text(layout_of(t)).c_str(), shape_text(expected).c_str());
    }
  }

  Check &check_;
  const GroupedProblem &p_;
  const GroupedCall &c_;
  const bool turned_;
};

}  // namespace

void check_companions(Check &check, const GroupedProblem &problem, bool weight_turned) {
  CompanionRules(check, problem, weight_turned).run();
}

}  // namespace emu
