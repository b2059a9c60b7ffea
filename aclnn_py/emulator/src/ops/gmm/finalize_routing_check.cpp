// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>

#include "ops/gmm/finalize_routing.h"

namespace emu {
namespace {

constexpr int64_t kMostExperts = 256, kMostRows = 16 * 1024 * 8, kDeepest = 65535;

class FinalizeRules {
 public:
  FinalizeRules(const FinalizeCall &call, FinalizeSizes *sizes)
      : c_(call), n_(*call.names), z_(*sizes), check_(c_.op) {}

  Status run() {
    nulls();
    attributes();
    if (!ok()) return check_.status();
    if (is_finalize_floats(c_)) {
      check_finalize_floats(check_, c_, &z_);
      return check_.status();
    }
    dtypes();
    if (ok()) shapes();
    return check_.status();
  }

 private:
  bool ok() const { return check_.ok(); }
  bool four_bits() const { return c_.weight->dtype != ACL_INT8; }

  void nulls() {
    check_.required(n_.x, c_.x).required(n_.weight, c_.weight).required(n_.out, c_.out);
    check_.required(n_.scale, c_.scale).optional(n_.bias, c_.bias);
    check_.optional("offsetOptional", c_.offset).optional("pertokenScaleOptional", c_.token);
    check_.required(n_.groups, c_.groups).required(n_.row_index, c_.row_index);
    check_.optional(n_.shared, c_.shared).optional(n_.logit, c_.logit);
    check_.optional("tuningConfigOptional", c_.tuning);
    if (ok() && four_bits() && !is_finalize_floats(c_)) check_.required(n_.bias, c_.bias);
    check_.that(c_.antiquant_scale == nullptr && c_.antiquant_offset == nullptr,
                "%s is given; it is reserved and must be null",
                c_.antiquant_scale ? "antiquantScaleOptional" : "antiquantOffsetOptional");
  }

  void attributes() {
    check_.that(c_.dtype == 0, "dtype is %" PRId64 "; allowed: 0 (FLOAT)", c_.dtype);
    check_.that(!c_.transpose_x, "%s is true; only false is supported", n_.transpose_x);
    check_.that(!c_.transpose_weight || (ok() && is_finalize_floats(c_)),
                "%s is true; only false is supported", n_.transpose_weight);
    check_.that(c_.list_type == 0 || c_.list_type == 1,
                "groupListType is %" PRId64 "; allowed: 0 (ends), 1 (sizes)", c_.list_type);
  }

  void dtypes() {
    check_.dtype_in(n_.x, c_.x->dtype, dtype_set(ACL_INT8));
    check_.dtype_in(n_.weight, c_.weight->dtype, c_.weights);
    if (!ok()) return;
    const bool low = four_bits();
    check_.dtype_in(n_.scale, c_.scale->dtype,
                    low ? dtype_set(ACL_INT64) : dtype_set(ACL_FLOAT, ACL_BF16));
    if (c_.bias) {
      check_.that(low || contains(c_.weights, ACL_INT4),
                  "%s is given; it is reserved and must be null", n_.bias);
      check_.dtype_in(n_.bias, c_.bias->dtype, dtype_set(low ? ACL_FLOAT : ACL_BF16));
    }
    if (c_.offset) {
      check_.that(low, "offsetOptional is given; it belongs to a weight of INT4");
      check_.dtype_in("offsetOptional", c_.offset->dtype, dtype_set(ACL_FLOAT));
    }
    if (c_.token) check_.dtype_in("pertokenScaleOptional", c_.token->dtype, dtype_set(ACL_FLOAT));
    check_.dtype_in(n_.groups, c_.groups->dtype, dtype_set(ACL_INT64));
    if (c_.shared) check_.dtype_in(n_.shared, c_.shared->dtype, dtype_set(ACL_BF16));
    if (c_.logit) check_.dtype_in(n_.logit, c_.logit->dtype, dtype_set(ACL_FLOAT));
    const bool narrow = !low && c_.scale->dtype == ACL_FLOAT;
    check_.dtype_in(n_.row_index, c_.row_index->dtype,
                    dtype_set(ACL_INT64) | (narrow ? dtype_set(ACL_INT32) : 0));
    check_.dtype_in(n_.out, c_.out->dtype, dtype_set(ACL_FLOAT));
    check_.plain_format(n_.x, c_.x).plain_format(n_.out, c_.out);
    check_.that(low || is_fractal(*c_.weight),
                "%s has the format %s; of INT8 it must be in "
                "FRACTAL_NZ",
                n_.weight, format_name(c_.weight->format));
  }

  void shapes() {
    check_weight(check_, n_.weight, *c_.weight, 3, Blocks::kByFormat);
    check_.rank(n_.x, c_.x, 2, 2).rank(n_.out, c_.out, 2, 2);
    if (!ok()) return;
    const aclTensor weight = weight_of(*c_.weight, Blocks::kByFormat);
    const int64_t experts = z_.experts = weight.shape[0];
    const int64_t depth = z_.depth = weight.shape[1];
    const int64_t columns = z_.columns = weight.shape[2];
    check_.that(weight.strides[2] == 1 || columns == 1,
                "%s is a transposed view, which is not supported", n_.weight);
    check_.that(experts <= kMostExperts,
                "%s has %" PRId64 " experts; at most %" PRId64 " are allowed", n_.weight, experts,
                kMostExperts);
    check_.that(depth <= kDeepest, "%s has %" PRId64 " rows; at most %" PRId64 " are allowed",
                n_.weight, depth, kDeepest);
    const int64_t rows = c_.x->shape[0];
    check_.that(rows >= 1 && rows <= kMostRows, "%s has %" PRId64 " rows; allowed: 1 to %" PRId64,
                n_.x, rows, kMostRows);
    check_.that(c_.x->shape[1] == depth, "%s has %" PRId64 " columns, but %s has %" PRId64 " rows",
                n_.x, c_.x->shape[1], n_.weight, depth);
    const int64_t flat[] = {experts, columns}, row[] = {experts, 1, columns};
    const Layout scale = four_bits() ? dense_layout(row, 3) : dense_layout(flat, 2);
    check_.shape("offsetOptional", c_.offset, dense_layout(row, 3));
    check_finalize_companions(check_, c_, z_, &scale);
  }

  const FinalizeCall &c_;
  const FinalizeNames &n_;
  FinalizeSizes &z_;
  Check check_;
};

}  // namespace

void check_finalize_companions(Check &check, const FinalizeCall &c, const FinalizeSizes &z,
                               const Layout *scale) {
  const FinalizeNames &n = *c.names;
  const int64_t flat[] = {z.experts, z.columns}, rows = c.x->shape[0];
  check.that(c.out->shape[0] >= 1 && c.out->shape[1] == z.columns,
             "%s has shape %s; expected the number of tokens and %" PRId64, n.out,
             shape_text(layout_of(*c.out)).c_str(), z.columns);
  const Layout per_row = dense_layout(&rows, 1);
  if (scale) {
    check.shape(n.scale, c.scale, *scale);
    check.shape("pertokenScaleOptional", c.token, per_row);
  }
  check.shape(n.bias, c.bias, dense_layout(flat, 2));
  check.shape(n.logit, c.logit, per_row).shape(n.row_index, c.row_index, per_row);
  check.shape(n.groups, c.groups, dense_layout(&z.experts, 1));
  if (!check.ok() || c.shared == nullptr) return;
  check.rank(n.shared, c.shared, 2, 2);
  if (!check.ok()) return;
  const int64_t count = c.shared->shape[0], tokens = c.out->shape[0];
  check.that(count >= 1 && c.shared->shape[1] == z.columns,
             "%s has shape %s; expected some rows of %" PRId64, n.shared,
             shape_text(layout_of(*c.shared)).c_str(), z.columns);
  check.that(c.shared_offset >= 0 && count <= tokens && c.shared_offset <= tokens - count,
             "sharedInputOffset is %" PRId64 "; the %" PRId64
             " rows of %s must lie within the %" PRId64 " of %s",
             c.shared_offset, count, n.shared, tokens, n.out);
}

Status check_finalize(const FinalizeCall &call, FinalizeSizes *sizes) {
  return FinalizeRules(call, sizes).run();
}

}  // namespace emu
