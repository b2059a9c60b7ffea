// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// TransConvolutionWeight: filters become FLOAT16 in FRACTAL_Z, which Convolution of a 310P reads
// fastest. Phase one already gives the result its format and storage shape; phase two moves the
// data.
#include "aclnnop/conversion.h"
#include "core/chip.h"
#include "ops/copy/blocked_room.h"
#include "ops/window/filter_blocks.h"
#include "ops/window/geometry.h"

EMU_OPERATOR(TransConvolutionWeight,
             (const aclTensor *weightIn, bool transposed, int64_t groups, aclTensor *weightOut)) {
  using namespace emu;
  constexpr const char *kOp = "aclnnTransConvolutionWeight";
  constexpr int64_t kMostGroups = 65535;
  Check check(kOp);
  check.that(chip_is_310p(), "the chip is %s; only the 310P has this operator", soc_name());
  check.required("weightIn", weightIn).required("weightOut", weightOut);
  check.dtype("weightIn", weightIn).dtype("weightOut", weightOut);
  check.rank("weightIn", weightIn, 4, 4).rank("weightOut", weightOut, 4, 4);
  if (!check.ok()) return check.status();
  format_in(check, "weightIn", weightIn, {ACL_FORMAT_NCHW});
  format_in(check, "weightOut", weightOut, {ACL_FORMAT_NCHW});
  check.that(!transposed, "transposed is true; transposed convolutions take plain filters only");
  check.that(groups >= 1 && groups <= kMostGroups, "groups is %lld; allowed: 1 to %lld",
             static_cast<long long>(groups), static_cast<long long>(kMostGroups));
  check.that(groups == 1,
             "groups is %lld; this device takes 1, because it is not documented how groups share "
             "the blocks. Convolution takes plain filters with groups",
             static_cast<long long>(groups));
  check.shape("weightOut", weightOut, layout_of(*weightIn));
  if (check.ok())
    check.that(weightOut->contiguous() && weightOut->offset == 0,
               "weightOut must be contiguous and begin with its storage");
  if (!check.ok()) return check.status();
  aclTensor result = *weightOut;
  if (result.numel() > 0) {
    FormatPair pair;
    check.that(pair_filters(result, &pair),
               "weightOut has shape %s, whose blocks 64 bits do not count",
               shape_text(layout_of(result)).c_str());
    if (!check.ok()) return check.status();
    const int64_t needed = pair.storage.count();
    check.that(has_room(result, needed),
               "weightOut has a storage of %lld elements; in FRACTAL_Z it takes %lld. Make the "
               "memory as large as aclnnCalculateConvolutionWeightSize says, and give that number "
               "as storageDims",
               static_cast<long long>(result.storage_shape.count()),
               static_cast<long long>(needed));
    if (!check.ok()) return check.status();
    result.storage_shape = pair.storage;
  }
  result.format = ACL_FORMAT_FRACTAL_Z;
  PlanBuilder plan(kOp, KernelTime::linear);
  const size_t from = plan.input(weightIn), to = plan.output(&result);
  const Status status = plan.finish(
      [=](PlanContext &c) {
        const aclTensor &target = c.tensor(to);
        if (target.numel() == 0) return Status{0};
        std::unique_ptr<char[]> memory;
        const View dense = dense_as(view_of(c.tensor(from)), ACL_FLOAT16, &memory);
        return pack_filters(kOp, dense.data, target, c.device());
      },
      workspaceSize, executor);
  if (status == 0) {
    weightOut->storage_shape = result.storage_shape;
    weightOut->format = result.format;
  }
  return status;
}
EMU_CATCH
