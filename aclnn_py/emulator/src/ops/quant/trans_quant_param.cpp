// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Scales and offsets packed for quantised products: one call on the host, and operators on the
// device.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdlib>

#include "aclnn/host_calls.h"
#include "aclnnop/quant.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/op.h"
#include "ops/shared/packed_scale.h"

namespace emu {
namespace {

constexpr uint64_t kHostMultiple = 16;

// The value, rounded already, as an offset; NaN becomes 0.
int clipped(float offset) {
  if (!(offset == offset)) return 0;
  return static_cast<int>(std::min<float>(std::max<float>(offset, kLowestOffset), kHighestOffset));
}

// A vector, or a matrix of one row.
bool is_row(const aclTensor &tensor) {
  return tensor.rank() == 1 || (tensor.rank() == 2 && tensor.shape[0] == 1);
}

// Device form: `nearest` says how the scale is brought to 19 bits.
Status plan_packing(const char *op, const aclTensor *scale, const aclTensor *offset,
                    int64_t round_mode, aclTensor *out, uint64_t *workspace_size,
                    aclOpExecutor **executor) {
  Check check(op);
  check.required("scale", scale).required("out", out).optional("offsetOptional", offset);
  if (!check.ok()) return check.status();
  check.dtype_in("scale", scale->dtype, dtype_set(ACL_FLOAT));
  if (offset) check.dtype_in("offsetOptional", offset->dtype, dtype_set(ACL_FLOAT));
  check.dtype_in("out", out->dtype, dtype_set(ACL_UINT64, ACL_INT64));
  const std::pair<const char *, const aclTensor *> all[] = {
      {"scale", scale}, {"offsetOptional", offset}, {"out", out}};
  for (const auto &[name, tensor] : all) {
    if (!tensor) continue;
    check.that(tensor->format == ACL_FORMAT_ND, "%s has format %s; allowed: ND", name,
               format_name(tensor->format));
    check.that(is_row(*tensor), "%s has shape %s; it must be (n,) or (1, n)", name,
               shape_text(layout_of(*tensor)).c_str());
  }
  check.that(round_mode == 0 || round_mode == 1,
             "roundMode is %" PRId64 "; allowed: 0 (towards zero) and 1 (nearest)", round_mode);
  if (!check.ok()) return check.status();
  if (offset) {
    const int64_t a = scale->numel(), b = offset->numel();
    check.that(a == b || std::min(a, b) == 1,
               "offsetOptional has %" PRId64 " values, but scale has %" PRId64, b, a);
    check.that(scale->rank() == offset->rank(),
               "offsetOptional has %zu dimensions, but scale has %zu", offset->rank(),
               scale->rank());
  }
  if (!check.ok()) return check.status();
  const Layout expected = layout_of(offset && offset->numel() > scale->numel() ? *offset : *scale);
  check.shape("out", out, expected);
  if (!check.ok()) return check.status();
  // CANN relabels the caller's own tensor; programs can see it
  out->dtype = ACL_UINT64;
  PlanBuilder plan(op, KernelTime::linear);
  plan.rule(WorkspaceRule::kIndividual);
  const size_t from = plan.input(scale), shift = plan.input(offset), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View target = view_of(c.tensor(to));
        const View scales = view_of(c.tensor(from), target.layout);
        const bool shifted = c.has(shift);
        const Reader scale_values(scales, ACL_FLOAT);
        const Reader offset_values(shifted ? view_of(c.tensor(shift), target.layout) : scales,
                                   ACL_FLOAT);
        const Writer writer(target, Compute::U64, ACL_DT_UNDEFINED);
        parallel_for(target.count(), 16 * kBlock, [&](int64_t begin, int64_t end) {
          alignas(64) float scale_memory[kBlock], offset_memory[kBlock];
          alignas(64) uint64_t packed[kBlock];
          for (int64_t at = begin; at < end; at += kBlock) {
            const int64_t n = std::min(kBlock, end - at);
            const auto *s = static_cast<const float *>(scale_values.read(at, n, scale_memory));
            const auto *o = static_cast<const float *>(offset_values.read(at, n, offset_memory));
            auto *block = static_cast<uint64_t *>(writer.target(at, packed));
            for (int64_t i = 0; i < n; ++i) {
              const float value = round_mode == 1 ? nearest_scale(s[i]) : s[i];
              block[i] = pack_scale(value, shifted ? clipped(std::nearbyintf(o[i])) : 0);
            }
            writer.write(at, n, block);
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(TransQuantParamV2,
             (const aclTensor *scale, const aclTensor *offsetOptional, aclTensor *out)) {
  return emu::plan_packing("aclnnTransQuantParamV2", scale, offsetOptional, 0, out, workspaceSize,
                           executor);
}
EMU_CATCH

EMU_OPERATOR(TransQuantParamV3, (const aclTensor *scale, const aclTensor *offsetOptional,
                                 int64_t roundMode, aclTensor *out)) {
  return emu::plan_packing("aclnnTransQuantParamV3", scale, offsetOptional, roundMode, out,
                           workspaceSize, executor);
}
EMU_CATCH

// The caller releases the array with free().
EMU_EXPORT aclnnStatus aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize,
                                            const float *offsetArray, uint64_t offsetSize,
                                            uint64_t **quantParam, uint64_t *quantParamSize) try {
  using namespace emu;
  constexpr const char *op = "aclnnTransQuantParam";
  if (!quantParam || !quantParamSize) {
    return fail(emu::kNullPointer, "%s: %s is null", op,
                quantParam ? "quantParamSize" : "quantParam");
  }
  if (!scaleArray) return fail(emu::kNullPointer, "%s: scaleArray is null", op);
  if (scaleSize == 0) return fail(emu::kInvalid, "%s: scaleSize is 0", op);
  if ((offsetArray == nullptr) != (offsetSize == 0)) {
    return fail(emu::kInvalid, "%s: offsetArray is %s, but offsetSize is %" PRIu64, op,
                offsetArray ? "given" : "null", offsetSize);
  }
  if (scaleSize != 1 && offsetSize > 1 && offsetSize != scaleSize) {
    return fail(emu::kInvalid, "%s: offsetSize is %" PRIu64 ", but scaleSize is %" PRIu64, op,
                offsetSize, scaleSize);
  }
  const uint64_t count = std::max(scaleSize, offsetSize);
  const uint64_t room =
      count == 1 ? 1 : (count + kHostMultiple - 1) / kHostMultiple * kHostMultiple;
  auto *packed = static_cast<uint64_t *>(std::calloc(room, sizeof(uint64_t)));
  if (!packed) return fail(emu::kInner, "%s: no host memory for %" PRIu64 " values", op, room);
  for (uint64_t i = 0; i < count; ++i) {
    const float offset = offsetArray ? offsetArray[offsetSize == 1 ? 0 : i] : 0.0f;
    packed[i] = pack_scale(scaleArray[scaleSize == 1 ? 0 : i], clipped(std::round(offset)));
  }
  *quantParam = packed;
  *quantParamSize = room;
  return 0;
}
EMU_CATCH
