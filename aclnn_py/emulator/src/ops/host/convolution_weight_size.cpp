// SPDX-License-Identifier: Apache-2.0
// How many elements a convolution's weight has in FRACTAL_Z. CANN answers on the 310P alone.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "aclnn/host_calls.h"
#include "core/chip.h"
#include "core/export.h"
#include "core/statuses.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnCalculateConvolutionWeightSize";
constexpr int64_t kEdge = 16, kMostGroups = 65535;

int64_t parts(int64_t extent, int64_t size) { return extent / size + (extent % size != 0 ? 1 : 0); }

// How many times channels repeat until they fill whole edges.
int64_t repeats(int64_t channels) { return kEdge / std::gcd(channels, kEdge); }

// Groups share an edge as far as they fit into it; every part is padded to whole edges. False when
// it overflows.
bool elements(const Dims &shape, int64_t groups, uint64_t *count) {
  const int64_t out = shape[0] / groups, in = shape[1];
  const int64_t together = std::min(std::lcm(repeats(in), repeats(out)), groups);
  int64_t in_all = 0, out_all = 0;
  if (__builtin_mul_overflow(in, together, &in_all) ||
      __builtin_mul_overflow(out, together, &out_all))
    return false;
  uint64_t total = kEdge * kEdge;
  for (const int64_t factor :
       {parts(groups, together), parts(in_all, kEdge), shape[2], shape[3], parts(out_all, kEdge)}) {
    if (__builtin_mul_overflow(total, static_cast<uint64_t>(factor), &total)) return false;
  }
  *count = total;
  return true;
}

}  // namespace
}  // namespace emu

EMU_EXPORT aclnnStatus aclnnCalculateConvolutionWeightSize(const aclIntArray *tensorShape,
                                                           bool transposed, int64_t groups,
                                                           aclDataType dataType,
                                                           uint64_t *weightTensorSize) try {
  using namespace emu;
  Check check(kOp);
  check.required("tensorShape", tensorShape);
  if (!check.ok()) return check.status();
  if (weightTensorSize == nullptr)
    return fail(emu::kNullPointer, "%s: weightTensorSize is null", kOp);
  const auto &dims = tensorShape->values;
  check.that(dims.size() == 4, "tensorShape has %zu dimensions; allowed: 4 (NCHW)", dims.size());
  check.that(!transposed, "transposed is true; transposed convolutions are not for this function");
  check.that(groups >= 1 && groups <= kMostGroups, "groups is %lld; allowed: 1 to %lld",
             static_cast<long long>(groups), static_cast<long long>(kMostGroups));
  check.that(std::strncmp(soc_name(), "Ascend310P", 10) == 0,
             "the chip is %s; the 310P alone keeps weights so", soc_name());
  check.that(dataType == ACL_FLOAT16, "dataType is %s; allowed: FLOAT16", dtype_name(dataType));
  if (!check.ok()) return check.status();
  for (size_t d = 0; d < dims.size(); ++d) {
    check.that(dims[d] >= 0, "tensorShape[%zu] is %lld; it must not be negative", d,
               static_cast<long long>(dims[d]));
  }
  if (!check.ok()) return check.status();
  const Dims shape(dims.data(), dims.size());
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
    *weightTensorSize = 0;
    return 0;
  }
  check.that(shape[0] % groups == 0,
             "tensorShape[0] is %lld; it must be a multiple of groups, %lld",
             static_cast<long long>(shape[0]), static_cast<long long>(groups));
  if (!check.ok()) return check.status();
  uint64_t count = 0;
  check.that(elements(shape, groups, &count), "the weight would have more than 2^64 elements");
  if (!check.ok()) return check.status();
  *weightTensorSize = count;
  return 0;
}
EMU_CATCH
