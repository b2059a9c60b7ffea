// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Whether two tensors have equal elements: Equal compares them in the dtype they meet in,
// PrecisionCompare tensors of one dtype.
#include <atomic>
#include <cstring>

#include "aclnnop/math.h"
#include "core/pool.h"
#include "ops/block_kernels.h"
#include "ops/op.h"

namespace emu {
namespace {

template <class T>
bool same_values(const void *a, const void *b, int64_t count) {
  const auto *x = static_cast<const T *>(a), *y = static_cast<const T *>(b);
  if constexpr (std::is_same_v<T, float>) {
    return block_kernels().same_floats(x, y, count);
  } else if constexpr (std::is_integral_v<T>) {
    return std::memcmp(x, y, static_cast<size_t>(count) * sizeof(T)) == 0;
  } else {
    int64_t apart = 0;  // as wide as an element, so that the compiler makes vectors
    for (int64_t i = 0; i < count; ++i) apart |= x[i] == y[i] ? 0 : 1;
    return apart == 0;
  }
}

// NaN is the same as NaN.
bool alike_floats(const void *a, const void *b, int64_t count) {
  return block_kernels().alike_floats(static_cast<const float *>(a), static_cast<const float *>(b),
                                      count);
}

using Compare = bool (*)(const void *, const void *, int64_t);

Compare comparison_in(Compute type) {
  switch (type) {
    case Compute::F32: return same_values<float>;
    case Compute::F64: return same_values<double>;
    case Compute::I32: return same_values<int32_t>;
    case Compute::I64: return same_values<int64_t>;
    case Compute::U64: return same_values<uint64_t>;
    default: return nullptr;  // complex dtypes are not taken
  }
}

bool all_equal(const View &a, const View &b, aclDataType meeting, Compare compare) {
  const Reader left(a, meeting), right(b, meeting);
  const int64_t total = a.count();
  std::atomic<bool> same{true};
  parallel_for(total, 32 * kBlock, [&](int64_t begin, int64_t end) {
    alignas(64) char x[kBlock * sizeof(double)], y[kBlock * sizeof(double) + 64];
    for (int64_t start = begin; start < end && same; start += kBlock) {
      const int64_t n = std::min(kBlock, end - start);
      if (!compare(left.read(start, n, x), right.read(start, n, y), n)) same = false;
    }
  });
  return same;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Equal, (const aclTensor *self, const aclTensor *other, aclTensor *out)) {
  constexpr const char *op = "aclnnEqual";
  emu::Check check(op);
  check.required("self", self).required("other", other).required("out", out);
  check.dtype("self", self).dtype("other", other).dtype("out", out);
  if (!check.ok()) return check.status();
  const aclDataType meeting = emu::promote(self->dtype, other->dtype);
  check.that(meeting != ACL_DT_UNDEFINED,
             "self of dtype %s and other of dtype %s have no common dtype",
             emu::dtype_name(self->dtype), emu::dtype_name(other->dtype));
  const int64_t one = 1;
  check.rank("self", self, 0, 8).rank("other", other, 0, 8);
  check.shape("out", out, emu::dense_layout(&one, 1));
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(op, emu::KernelTime::linear);
  const size_t left = plan.input(self), right = plan.input(other), to = plan.output(out);
  return plan.finish(
      [=](emu::PlanContext &c) {
        const emu::View a = emu::view_of(c.tensor(left)), b = emu::view_of(c.tensor(right));
        // NaN differs from everything.
        const emu::Compare compare = emu::comparison_in(emu::compute_for(meeting));
        const bool same =
            emu::same_shape(a.layout, b.layout) && emu::all_equal(a, b, meeting, compare);
        *emu::view_of(c.tensor(to)).data = same ? 1 : 0;
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(PrecisionCompare,
             (const aclTensor *golden, const aclTensor *realdata, aclTensor *out)) {
  constexpr uint32_t kAlike = 0, kDifferent = 503;
  emu::Check check("aclnnPrecisionCompare");
  check.required("golden", golden).required("realdata", realdata).required("out", out);
  check.dtype("golden", golden).dtype("realdata", realdata).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("realdata", realdata->dtype, "golden", golden->dtype);
  check.rank("golden", golden, 0, 8).rank("realdata", realdata, 0, 8);
  check.shape("realdata", realdata, emu::layout_of(*golden)).shape("out", out, emu::Layout());
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(check.op(), emu::KernelTime::linear);
  const size_t left = plan.input(golden), right = plan.input(realdata), to = plan.output(out);
  return plan.finish(
      [=](emu::PlanContext &c) {
        const emu::View a = emu::view_of(c.tensor(left)), b = emu::view_of(c.tensor(right));
        const uint32_t code =
            emu::all_equal(a, b, a.dtype, emu::alike_floats) ? kAlike : kDifferent;
        emu::fill_view(emu::view_of(c.tensor(to)), &code);
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
