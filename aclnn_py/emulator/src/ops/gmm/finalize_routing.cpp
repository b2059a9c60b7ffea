// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Grouped products of quantised operands whose rows are weighted and added to the rows of their
// tokens, on top of what a shared expert made.
#include <cinttypes>

#include "aclnnop/gmm.h"
#include "core/statuses.h"
#include "ops/gmm/finalize_routing.h"
#include "ops/matmul/dequantise.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr DtypeSet kFourBits = dtype_set(ACL_INT4, ACL_INT32);

struct FinalizeJob {
  const char *op;
  const FinalizeNames *names;
  int64_t experts, rows, columns, tokens, list_type, shared_offset;
  float shared_weight;
  bool four_bits, transpose_weight;
  FinalizeSizes sizes;
  size_t x, weight, scale, bias, offset, token, groups, shared, logit, row_index, out;
};

// Rows of one group, computed and waiting to be added to the tokens.
struct FinishedRows {
  const float *values;
  int64_t first, count, columns;
  const float *offset, *bias;  // of the columns; null: none
  const int32_t *sums;         // of the rows of x, for the offset
  const float *token, *logit;  // of all rows; null: 1
  const int64_t *target;       // of all rows
};

// A thread adds a strip of columns for every row, so that the order of the rows decides the sum.
void add_rows(const FinishedRows &r, float *tokens) {
  parallel_for(r.columns, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < r.count; ++i) {
      const int64_t row = r.first + i;
      const float token = r.token ? r.token[row] : 1.0f, weight = r.logit ? r.logit[row] : 1.0f;
      const float *from = r.values + i * r.columns;
      float *to = tokens + r.target[row] * r.columns;
      for (int64_t j = begin; j < end; ++j) {
        float value = from[j];
        if (r.offset) value += static_cast<float>(r.sums[i]) * r.offset[j];
        value *= token;
        if (r.bias) value += r.bias[j];
        to[j] += value * weight;
      }
    }
  });
}

std::vector<int32_t> row_sums(const Matrix &x) {
  std::vector<int32_t> sums(static_cast<size_t>(x.rows));
  const auto *data = static_cast<const int8_t *>(x.data);
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t k = 0; k < x.cols; ++k)
      sums[static_cast<size_t>(i)] += data[x.row.at(i) + x.col.at(k)];
  return sums;
}

class FinalizeRun {
 public:
  FinalizeRun(const FinalizeJob &job, PlanContext &context) : job_(job), c_(context) {}

  Status run() {
    std::vector<GroupSpan> spans;
    Status status = read_groups(job_.op, c_.tensor(job_.groups), job_.list_type,
                                static_cast<size_t>(job_.experts), job_.rows, &spans);
    if (status == 0) status = read_targets(spans);
    if (status != 0) return status;
    // Powers of two are scales of groups: the product has them.
    if (job_.sizes.mode == FloatMode::kMx) {
      left_ = float_scales(c_.tensor(job_.token));
      token_.assign(static_cast<size_t>(job_.rows), 1.0f);
    } else {
      token_ = read_all<float>(c_, job_.token, job_.rows, 1.0f);
    }
    logit_ = read_all<float>(c_, job_.logit, job_.rows, 1.0f);
    values_.resize(static_cast<size_t>(std::min(kRowsAtOnce, job_.rows) * job_.columns));
    tokens_.assign(static_cast<size_t>(job_.tokens * job_.columns), 0.0f);
    add_shared();
    for (const GroupSpan &span : spans) {
      if (span.count > 0) job_.sizes.floats ? add_floats(span) : add_group(span);
    }
    RowTarget<float>(view_of(c_.tensor(job_.out)))
        .write(0, static_cast<int64_t>(tokens_.size()), tokens_.data());
    return 0;
  }

 private:
  Status read_targets(const std::vector<GroupSpan> &spans) {
    target_ = read_all<int64_t>(c_, job_.row_index, job_.rows, int64_t{0});
    for (const GroupSpan &span : spans) {
      for (int64_t row = span.first; row < span.first + span.count; ++row) {
        const int64_t target = target_[static_cast<size_t>(row)];
        if (target < 0 || target >= job_.tokens) {
          return fail(kKernelFault,
                      "%s: %s[%" PRId64 "] is %" PRId64 ", which is none of the %" PRId64
                      " rows of %s.",
                      job_.op, job_.names->row_index, row, target, job_.tokens, job_.names->out);
        }
      }
    }
    return 0;
  }

  void add_shared() {
    if (!c_.has(job_.shared)) return;
    const aclTensor &shared = c_.tensor(job_.shared);
    const int64_t count = shared.numel();
    float *to = tokens_.data() + job_.shared_offset * job_.columns;
    RowSource<float>(view_of(shared)).read(0, count, to);
    for (int64_t i = 0; i < count; ++i) to[i] *= job_.shared_weight;
  }

  std::vector<float> of_group(size_t index, const GroupSpan &span) const {
    return c_.has(index) ? float_scales(entry_of(c_.tensor(index), span.group))
                         : std::vector<float>();
  }

  void add_floats(const GroupSpan &span) {
    const std::vector<float> scale = of_group(job_.scale, span), bias = of_group(job_.bias, span);
    std::vector<float> memory, x_memory;
    FloatProduct product;
    const aclTensor &weight = c_.tensor(job_.weight);
    if (job_.sizes.mixed) {
      product.w = mixed_weight(weight, job_.sizes, static_cast<int64_t>(span.group), memory);
    } else {
      product.w = as_float(entry_of(weight_of(weight, Blocks::kByFormat), span.group), memory);
      if (job_.transpose_weight) product.w = product.w.transposed();
    }
    product.right = scale.data();
    product.left_map = job_.sizes.left;
    product.right_map = job_.sizes.right;
    product.group = inner_group(job_.sizes.mode);
    for (int64_t done = 0; done < span.count; done += kRowsAtOnce) {
      FinishedRows rows{};
      rows.first = span.first + done;
      rows.count = std::min(kRowsAtOnce, span.count - done);
      aclTensor x = c_.tensor(job_.x);
      x.offset += rows.first * x.strides[0];
      x.shape[0] = rows.count;
      product.x = as_float(x, x_memory);
      if (!left_.empty()) product.left = left_.data() + rows.first * job_.sizes.left.row_step;
      multiply(product, values_.data());
      rows.values = values_.data();
      rows.columns = job_.columns;
      rows.bias = bias.empty() ? nullptr : bias.data();
      rows.token = token_.data();
      rows.logit = logit_.data();
      rows.target = target_.data();
      add_rows(rows, tokens_.data());
    }
  }

  void add_group(const GroupSpan &span) {
    const std::vector<float> scale = of_group(job_.scale, span), bias = of_group(job_.bias, span),
                             offset = of_group(job_.offset, span);
    std::vector<int8_t> memory, x_memory;
    ScaledProduct product;
    product.w =
        as_int8(entry_of(weight_of(c_.tensor(job_.weight), Blocks::kByFormat), span.group), memory);
    product.scale = scale.data();
    // Rows are multiplied as two halves, 16 * high + low - 8: what they lack is in the bias.
    product.lift = job_.four_bits ? -8 : 0;
    product.shift = job_.four_bits ? bias.data() : nullptr;
    const Matrix x = as_int8(c_.tensor(job_.x), x_memory);
    for (int64_t done = 0; done < span.count; done += kRowsAtOnce) {
      FinishedRows rows{};
      rows.first = span.first + done;
      rows.count = std::min(kRowsAtOnce, span.count - done);
      product.x = x;
      product.x.data = static_cast<const int8_t *>(x.data) + x.row.at(rows.first);
      product.x.rows = rows.count;
      scaled_product(product, values_.data());
      std::vector<int32_t> sums;
      if (!offset.empty()) sums = row_sums(product.x);
      rows.values = values_.data();
      rows.columns = job_.columns;
      rows.sums = sums.data();
      rows.offset = offset.empty() ? nullptr : offset.data();
      rows.bias = job_.four_bits || bias.empty() ? nullptr : bias.data();
      rows.token = token_.data();
      rows.logit = logit_.data();
      rows.target = target_.data();
      add_rows(rows, tokens_.data());
    }
  }

  const FinalizeJob &job_;
  PlanContext &c_;
  std::vector<float> token_, left_, logit_, values_, tokens_;
  std::vector<int64_t> target_;
};

Status plan_finalize(const FinalizeCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  FinalizeSizes sizes;
  if (const Status status = check_finalize(a, &sizes)) return status;
  auto job = std::make_shared<FinalizeJob>();
  job->op = a.op;
  job->names = a.names;
  job->experts = sizes.experts;
  job->columns = sizes.columns;
  job->rows = a.x->shape[0];
  job->tokens = a.out->shape[0];
  job->list_type = a.list_type;
  job->shared_offset = a.shared_offset;
  job->shared_weight = a.shared_weight;
  job->four_bits = a.weight->dtype != ACL_INT8;
  job->transpose_weight = a.transpose_weight;
  job->sizes = sizes;
  PlanBuilder plan(a.op);
  plan.phase_two_code(kInner);
  job->x = plan.input(a.x);
  job->weight = plan.input(a.weight);
  job->scale = plan.input(a.scale);
  job->bias = plan.input(a.bias);
  job->offset = a.has_offset ? plan.input(a.offset) : plan.input_if(nullptr);
  if (a.has_offset) {
    plan.unused(a.antiquant_scale);
    plan.unused(a.antiquant_offset);
  }
  job->token = plan.input(a.token);
  job->groups = plan.input(a.groups);
  job->shared = plan.input(a.shared);
  job->logit = plan.input(a.logit);
  job->row_index = plan.input(a.row_index);
  job->out = plan.output(a.out);
  return plan.finish([job](PlanContext &c) { return FinalizeRun(*job, c).run(); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GroupedMatmulFinalizeRouting,
             (const aclTensor *x, const aclTensor *w, const aclTensor *scaleOptional,
              const aclTensor *biasOptional, const aclTensor *pertokenScaleOptional,
              const aclTensor *groupListOptional, const aclTensor *sharedInputOptional,
              const aclTensor *logitOptional, const aclTensor *rowIndexOptional, int64_t dtype,
              float sharedInputWeight, int64_t sharedInputOffset, bool transposeX, bool transposeW,
              int64_t groupListType, aclTensor *y)) {
  return emu::plan_finalize({"aclnnGroupedMatmulFinalizeRouting",
                             &emu::kFirstNames,
                             emu::kFourBits,
                             0,
                             false,
                             x,
                             w,
                             scaleOptional,
                             biasOptional,
                             nullptr,
                             nullptr,
                             nullptr,
                             pertokenScaleOptional,
                             groupListOptional,
                             sharedInputOptional,
                             logitOptional,
                             rowIndexOptional,
                             dtype,
                             sharedInputWeight,
                             sharedInputOffset,
                             transposeX,
                             transposeW,
                             groupListType,
                             nullptr,
                             y},
                            workspaceSize, executor);
}
EMU_CATCH

#define FINALIZE_LATER                                                                   \
  const aclTensor *x1, const aclTensor *x2, const aclTensor *scaleOptional,              \
      const aclTensor *biasOptional, const aclTensor *offsetOptional,                    \
      const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, \
      const aclTensor *pertokenScaleOptional, const aclTensor *groupListOptional,        \
      const aclTensor *sharedInputOptional, const aclTensor *logitOptional,              \
      const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight,         \
      int64_t sharedInputOffset, bool transposeX1, bool transposeX2, int64_t groupListType
#define FINALIZE_LATER_VALUES                                                                    \
  x1, x2, scaleOptional, biasOptional, offsetOptional, antiquantScaleOptional,                   \
      antiquantOffsetOptional, pertokenScaleOptional, groupListOptional, sharedInputOptional,    \
      logitOptional, rowIndexOptional, dtype, sharedInputWeight, sharedInputOffset, transposeX1, \
      transposeX2, groupListType

EMU_OPERATOR(GroupedMatmulFinalizeRoutingV2, (FINALIZE_LATER, aclTensor *out)) {
  return emu::plan_finalize({"aclnnGroupedMatmulFinalizeRoutingV2", &emu::kLaterNames,
                             emu::kFourBits, 0, true, FINALIZE_LATER_VALUES, nullptr, out},
                            workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatmulFinalizeRoutingV3,
             (FINALIZE_LATER, const aclIntArray *tuningConfigOptional, aclTensor *out)) {
  return emu::plan_finalize(
      {"aclnnGroupedMatmulFinalizeRoutingV3", &emu::kLaterNames, emu::kFourBits,
       emu::dt::kFloat8 | emu::kFloat4E2m1, true, FINALIZE_LATER_VALUES, tuningConfigOptional, out},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatmulFinalizeRoutingWeightNz,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *scale,
              const aclTensor *biasOptional, const aclTensor *pertokenScaleOptional,
              const aclTensor *groupList, const aclTensor *sharedInputOptional,
              const aclTensor *logitOptional, const aclTensor *rowIndex, int64_t dtype,
              float sharedInputWeight, int64_t sharedInputOffset, bool transposeX1,
              bool transposeX2, int64_t groupListType, aclTensor *out)) {
  return emu::plan_finalize({"aclnnGroupedMatmulFinalizeRoutingWeightNz",
                             &emu::kBlockNames,
                             emu::dtype_set(ACL_INT8),
                             0,
                             false,
                             x1,
                             x2,
                             scale,
                             biasOptional,
                             nullptr,
                             nullptr,
                             nullptr,
                             pertokenScaleOptional,
                             groupList,
                             sharedInputOptional,
                             logitOptional,
                             rowIndex,
                             dtype,
                             sharedInputWeight,
                             sharedInputOffset,
                             transposeX1,
                             transposeX2,
                             groupListType,
                             nullptr,
                             out},
                            workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatmulFinalizeRoutingWeightNzV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *scale,
              const aclTensor *biasOptional, const aclTensor *offsetOptional,
              const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional,
              const aclTensor *pertokenScaleOptional, const aclTensor *groupList,
              const aclTensor *sharedInputOptional, const aclTensor *logitOptional,
              const aclTensor *rowIndex, int64_t dtype, float sharedInputWeight,
              int64_t sharedInputOffset, bool transposeX1, bool transposeX2, int64_t groupListType,
              const aclIntArray *tuningConfigOptional, aclTensor *out)) {
  return emu::plan_finalize({"aclnnGroupedMatmulFinalizeRoutingWeightNzV2",
                             &emu::kBlockNames,
                             emu::kFourBits | emu::dtype_set(ACL_INT8),
                             emu::dtype_set(ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8),
                             true,
                             x1,
                             x2,
                             scale,
                             biasOptional,
                             offsetOptional,
                             antiquantScaleOptional,
                             antiquantOffsetOptional,
                             pertokenScaleOptional,
                             groupList,
                             sharedInputOptional,
                             logitOptional,
                             rowIndex,
                             dtype,
                             sharedInputWeight,
                             sharedInputOffset,
                             transposeX1,
                             transposeX2,
                             groupListType,
                             tuningConfigOptional,
                             out},
                            workspaceSize, executor);
}
EMU_CATCH
