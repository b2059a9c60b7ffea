// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// SwigluGroupQuant, which chips of the 950 series have: a gated unit whose rows are weighted and
// quantised to 8 bits, in blocks or with one scale for each group of rows.
#include <cmath>
#include <optional>

#include "aclnnop/activation.h"
#include "core/statuses.h"
#include "ops/ffn/gated_units.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnSwigluGroupQuant";
constexpr int64_t kUnit = 256, kBlockWidth = 128;
constexpr float kLeast = 1e-4f;  // what the largest value of a block counts as at least

enum Mode : int64_t { kBlocks = 0, kMx = 1, kStatic = 2, kDynamic = 3 };

struct SwigluGroupQuantCall {
  const aclTensor *x, *weight, *groups, *scale_in;
  int64_t dtype, mode, block;
  bool round_scale;
  double limit, largest;
  bool keeps_origin;
  const aclTensor *y, *scale, *origin;
};

// What the checks find out, and where the plan keeps the tensors.
struct SwigluGroupQuantJob {
  int64_t mode, rows, width;
  bool round_scale, keeps_origin;
  float limit, largest;
  MxFormat format;
  size_t x, weight, groups, scale_in, y, scale, origin;
};

void check_attributes(Check &check, const SwigluGroupQuantCall &c) {
  check.that(c.mode >= kBlocks && c.mode <= kDynamic, "quantMode is %lld; allowed: 0 to 3",
             static_cast<long long>(c.mode));
  check.that(c.limit == -1.0 || c.limit > 0,
             "clampLimit is %g; it must be positive, or -1 for none", c.limit);
  const bool blocks = c.mode == kBlocks || c.mode == kMx;
  const int64_t block = c.mode == kMx ? kMxBlock : kBlockWidth;
  check.that(!blocks || c.block == 0 || c.block == block, "blockSize is %lld; allowed: 0, %lld",
             static_cast<long long>(c.block), static_cast<long long>(block));
  check.that(c.mode != kMx || c.round_scale, "roundScale is false; quantMode 1 needs true");
  check.that(c.mode != kDynamic || c.largest == 15 || c.largest == 56 || c.largest == 224 ||
                 c.largest == 32768,
             "dstTypeMax is %g; allowed: 15, 56, 224, 32768", c.largest);
}

void check_dtypes(Check &check, const SwigluGroupQuantCall &c) {
  check.dtype("x", c.x).dtype("weightOptional", c.weight).dtype("groupIndexOptional", c.groups);
  check.dtype("scaleOptional", c.scale_in).dtype("yOut", c.y).dtype("yScaleOut", c.scale);
  check.dtype("yOriginOutOptional", c.origin);
  check_attributes(check, c);
  if (!check.ok()) return;
  const bool blocks = c.mode == kBlocks || c.mode == kMx;
  check.dtype_in("x", c.x->dtype, blocks ? dt::kHalf : dt::kFloat);
  check.dtype_in("yOut", c.y->dtype, blocks ? dt::kFloat8 : dtype_set(ACL_HIFLOAT8));
  if (blocks) check_dst_type(check, "dstType", c.dtype, "yOut", c.y);
  if (c.mode != kStatic)
    check.dtype_in("yScaleOut", c.scale->dtype,
                   dtype_set(c.mode == kMx ? ACL_FLOAT8_E8M0 : ACL_FLOAT));
  check.same_dtype("yOriginOutOptional", c.origin->dtype, "x", c.x->dtype);
}

void check_shapes(Check &check, const SwigluGroupQuantCall &c, SwigluGroupQuantJob *job) {
  check.rank("x", c.x, 2, c.mode == kMx ? 7 : 8).rank("groupIndexOptional", c.groups, 1, 1);
  check.plain_format("x", c.x);
  if (!check.ok()) return;
  Layout values = layout_of(*c.x);
  int64_t &last = values.shape[values.rank - 1];
  check.that(last % kUnit == 0, "x has %lld in its last dimension; it must be a multiple of 256",
             static_cast<long long>(last));
  last /= 2;
  job->width = last;
  job->rows = count_of(values.shape, static_cast<size_t>(values.rank - 1));
  check.shape("yOut", c.y, values).shape("yOriginOutOptional", c.origin, values);
  check.that(c.weight == nullptr || c.weight->numel() == job->rows,
             "weightOptional has %lld elements; x has %lld rows",
             static_cast<long long>(c.weight ? c.weight->numel() : 0),
             static_cast<long long>(job->rows));
  const int64_t groups = c.groups ? c.groups->shape[0] : 1;
  if (c.mode == kBlocks) {
    Layout scales = values;
    scales.shape[scales.rank - 1] = job->width / kBlockWidth;
    check.shape("yScaleOut", c.scale, scales);
  } else if (c.mode == kMx) {
    check.shape("yScaleOut", c.scale, mx_scale_layout(values, values.rank - 1, kMxBlock));
  } else if (c.mode == kDynamic) {
    check.shape("yScaleOut", c.scale, dense_layout(&groups, 1));
  } else {
    check.required("scaleOptional", c.scale_in);
    check.shape("scaleOptional", c.scale_in, dense_layout(&groups, 1));
  }
  const bool may_be_empty = c.mode == kBlocks || c.mode == kMx;
  check.that(may_be_empty || values.count() > 0, "x has shape %s; quantMode %lld takes no empty x",
             shape_text(layout_of(*c.x)).c_str(), static_cast<long long>(c.mode));
  check.that(groups > 0 || values.count() == 0, "groupIndexOptional is empty");
}

Status check_call(const SwigluGroupQuantCall &c, SwigluGroupQuantJob *job) {
  Check check(kOp);
  check.required("x", c.x).optional("weightOptional", c.weight);
  check.optional("groupIndexOptional", c.groups).optional("scaleOptional", c.scale_in);
  check.required("yOut", c.y).required("yScaleOut", c.scale);
  check.required("yOriginOutOptional", c.origin);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check_dtypes(check, c);
  if (check.ok()) check_shapes(check, c, job);
  if (!check.ok()) return check.status();
  job->mode = c.mode;
  job->round_scale = c.round_scale;
  job->keeps_origin = c.keeps_origin;
  job->limit = static_cast<float>(c.limit);
  job->largest = static_cast<float>(c.largest);
  job->format.dtype = c.y->dtype;
  job->format.algorithm = 1;
  job->format.limit = c.y->dtype == ACL_FLOAT8_E5M2 ? kLargestE5m2 : kLargestE4m3;
  job->format.low_bound = kLeast;
  return 0;
}

// The rows of each group, one after the other; those beyond the last row are cut off.
struct RowGroup {
  int64_t first, count;
};

Status read_row_counts(const aclTensor &list, int64_t rows, std::vector<RowGroup> *groups) {
  int64_t total = 0;
  if (const Status s = grouped_rows(kOp, list, rows, &total)) return s;
  std::vector<int64_t> sizes(static_cast<size_t>(list.numel()));
  RowSource<int64_t>(view_of(list)).read(0, list.numel(), sizes.data());
  int64_t first = 0;
  for (const int64_t size : sizes) {
    groups->push_back({first, std::min(size, rows - first)});
    first += groups->back().count;
  }
  return 0;
}

// The scale of a block, and what its values are multiplied with.
struct BlockScale {
  float scale, factor;
};

BlockScale block_scale(const float *values, float largest, bool rounded) {
  float most = 0;
  for (int64_t i = 0; i < kBlockWidth; ++i)
    if (std::isfinite(values[i])) most = std::max(most, std::fabs(values[i]));
  most = std::max(most, kLeast);
  const float scale = most / largest;
  if (!rounded) return {scale, largest / most};
  int power = 0;
  const float fraction = std::frexp(scale, &power);  // in [0.5, 1)
  if (fraction == 0.5f) --power;
  return {std::ldexp(1.0f, power), std::ldexp(1.0f, -power)};
}

class Run {
 public:
  Run(const SwigluGroupQuantJob &job, PlanContext &context)
      : job_(job),
        c_(context),
        x_(operands_.safe(view_of(c_.tensor(job.x)),
                          {code_view(c_.tensor(job.y)), code_view(c_.tensor(job.scale)),
                           view_of(c_.tensor(job.origin))})),
        y_(c_.tensor(job.y)),
        weights_(read_all<float>(c_, job.weight, job.rows, 1.0f)),
        encode_(encoder(job.format.dtype, LowRounding::kRint)) {
    if (job.keeps_origin) origin_.emplace(view_of(c_.tensor(job.origin)));
  }

  Status run() {
    std::vector<RowGroup> groups{{0, job_.rows}};
    if (c_.has(job_.groups)) {
      groups.clear();
      if (const Status s = read_row_counts(c_.tensor(job_.groups), job_.rows, &groups)) return s;
    }
    const int64_t rows = groups.back().first + groups.back().count;
    switch (job_.mode) {
      case kBlocks: blocks(rows); break;
      case kMx: mx(rows); break;
      default: whole(groups);
    }
    return 0;
  }

 private:
  // A row of the weighted unit, and what it was before its weight, where that is asked for.
  void unit(int64_t row, float *gate) const {
    const int64_t width = job_.width;
    float *linear = gate + width;
    x_.read(row * 2 * width, 2 * width, gate);
    if (job_.limit > 0) {
      for (int64_t i = 0; i < width; ++i) {
        gate[i] = std::min(gate[i], job_.limit);
        linear[i] = std::max(std::min(linear[i], job_.limit), -job_.limit);
      }
    }
    silu_gate(gate, linear, width);
    if (origin_) origin_->write(row * width, width, gate);
    for (int64_t i = 0; i < width; ++i) gate[i] *= weights_[static_cast<size_t>(row)];
  }

  void encode(int64_t row, const float *values, float factor) const {
    std::vector<uint8_t> codes(static_cast<size_t>(job_.width));
    encode_(values, job_.width, factor, codes.data());
    y_.write(row * job_.width, job_.width, codes.data());
  }

  void blocks(int64_t rows) const {
    const RowTarget<float> scales(view_of(c_.tensor(job_.scale)));
    const int64_t count = job_.width / kBlockWidth;
    for_each_row<float>(rows, 2 * job_.width, 1, [&](int64_t row, float *values) {
      unit(row, values);
      for (int64_t block = 0; block < count; ++block) {
        float *part = values + block * kBlockWidth;
        const BlockScale found = block_scale(part, job_.format.limit, job_.round_scale);
        scales.write(row * count + block, 1, &found.scale);
        for (int64_t i = 0; i < kBlockWidth; ++i) {
          const float scaled = part[i] * found.factor;
          part[i] = std::isfinite(scaled) ? scaled : part[i];
        }
      }
      encode(row, values, 1.0f);
    });
  }

  void mx(int64_t rows) const {
    const LowCodes scales(c_.tensor(job_.scale));
    const int64_t width = job_.width, pairs = width / (2 * kMxBlock);
    for_each_row<float>(rows, 2 * width, 1, [&](int64_t row, float *values) {
      unit(row, values);
      uint8_t codes[2 * kMxBlock], pair[2];
      for (int64_t p = 0; p < pairs; ++p) {
        const int64_t at = p * 2 * kMxBlock;
        mx_quantise_pair(job_.format, values + at, 2 * kMxBlock, 1, kMxBlock, codes, pair);
        y_.write(row * width + at, 2 * kMxBlock, codes);
        scales.write((row * pairs + p) * 2, 2, pair);
      }
    });
  }

  // One factor for all rows of a group: a given one, or one that comes from its largest value.
  void whole(const std::vector<RowGroup> &groups) const {
    const auto given =
        read_all<float>(c_, job_.scale_in, static_cast<int64_t>(groups.size()), 1.0f);
    for (size_t g = 0; g < groups.size(); ++g) {
      const RowGroup &group = groups[g];
      float divisor = 1.0f;
      if (job_.mode == kDynamic) {
        divisor = largest_of(group) / job_.largest;
        RowTarget<float>(view_of(c_.tensor(job_.scale)))
            .write(static_cast<int64_t>(g), 1, &divisor);
      }
      for_each_row<float>(group.count, 2 * job_.width, 1, [&](int64_t row, float *values) {
        unit(group.first + row, values);
        for (int64_t i = 0; i < job_.width; ++i) values[i] /= divisor;
        encode(group.first + row, values, job_.mode == kStatic ? given[g] : 1.0f);
      });
    }
  }

  float largest_of(const RowGroup &group) const {
    std::vector<float> most(static_cast<size_t>(group.count), kLeast);
    for_each_row<float>(group.count, 2 * job_.width, 1, [&](int64_t row, float *values) {
      unit(group.first + row, values);
      float &found = most[static_cast<size_t>(row)];
      for (int64_t i = 0; i < job_.width; ++i) found = std::max(found, std::fabs(values[i]));
    });
    return most.empty() ? kLeast : *std::max_element(most.begin(), most.end());
  }

  const SwigluGroupQuantJob &job_;
  PlanContext &c_;
  Operands operands_;
  const RowSource<float> x_;
  const LowCodes y_;
  std::optional<RowTarget<float>> origin_;
  const std::vector<float> weights_;
  const EncodeFn encode_;
};

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwigluGroupQuant,
             (const aclTensor *x, const aclTensor *weightOptional,
              const aclTensor *groupIndexOptional, const aclTensor *scaleOptional, int64_t dstType,
              int64_t quantMode, int64_t blockSize, bool roundScale, double clampLimit,
              double dstTypeMax, bool outputOrigin, aclTensor *yOut, aclTensor *yScaleOut,
              aclTensor *yOriginOutOptional)) {
  const emu::SwigluGroupQuantCall call{
      x,         weightOptional,    groupIndexOptional, scaleOptional, dstType,      quantMode,
      blockSize, roundScale,        clampLimit,         dstTypeMax,    outputOrigin, yOut,
      yScaleOut, yOriginOutOptional};
  emu::SwigluGroupQuantJob job{};
  if (const emu::Status status = emu::check_call(call, &job)) return status;
  emu::PlanBuilder plan(emu::kOp);
  job.x = plan.input(x);
  job.weight = plan.input(weightOptional);
  job.groups = plan.input(groupIndexOptional);
  job.scale_in = quantMode == emu::kStatic ? plan.input(scaleOptional) : plan.unused(scaleOptional);
  job.y = plan.output(yOut);
  job.scale = quantMode == emu::kStatic ? plan.unused(yScaleOut) : plan.output(yScaleOut);
  job.origin = outputOrigin ? plan.output(yOriginOutOptional) : plan.unused(yOriginOutOptional);
  const bool nothing = job.rows == 0 || job.width == 0;
  return plan.finish(
      [job, nothing](emu::PlanContext &c) {
        return nothing ? emu::Status{0} : emu::Run(job, c).run();
      },
      workspaceSize, executor);
}
EMU_CATCH
