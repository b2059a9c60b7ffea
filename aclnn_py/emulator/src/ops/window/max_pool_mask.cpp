// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Maximum pools with a mask of the maxima: MaxPool2dWithMask and its gradient. The mask of a plane
// has a row for each element of a window, in row-major order, and in it a bit for each window, the
// first one lowest in the first byte: set where that element is the maximum. The bytes behind are
// 0.
#include <cstring>

#include "aclnnop/pooling.h"
#include "ops/window/max_pool.h"
#include "ops/window/pool_gradient.h"

namespace emu {
namespace {

// Bits are kept by sixteens of windows, with one more, and 32 bytes for each.
constexpr int64_t kSixteen = 16, kGroupBytes = 32;

struct MaskCall {
  const char *op;
  bool backward;
  const aclTensor *slopes;  // null forward
  const aclTensor *self;
  MaxWindows how;
  const aclTensor *indices;
  const char *result_name;
  const aclTensor *result;
};

int64_t row_bytes(const Windows &w) {
  return ((w.positions() + kSixteen - 1) / kSixteen + 1) * kGroupBytes;
}

// A plane of a mask, dense.
struct MaskPlane {
  MaskPlane(const Windows &w, int64_t elements)
      : windows(w), width(row_bytes(w)), bytes(static_cast<size_t>(elements * width)) {}

  View view() {
    View dense;
    dense.data = reinterpret_cast<char *>(bytes.data());
    dense.dtype = ACL_INT8;
    dense.layout.push(static_cast<int64_t>(bytes.size()) / width, width);
    dense.layout.push(width, 1);
    return dense;
  }
  uint8_t &byte(int64_t element, int64_t window) {
    return bytes[static_cast<size_t>(element * width + window / 8)];
  }
  static View of(const Image &masks, int64_t n, int64_t channel) {
    View plane = masks.plane(n, channel);
    plane.layout = Layout();
    for (int d = 1; d < kAxes; ++d) plane.layout.push(masks.extent[d], masks.stride[d]);
    return plane;
  }

  const Windows &windows;
  const int64_t width;
  std::vector<uint8_t> bytes;
};

// Element k of a window is at row k / across of it; `across` is the width the caller gave, which
// may be more than the image has.
struct MaskOfHighest {
  const Image &output, &masks;
  const Windows &windows;
  int64_t elements, across;

  Found<float> make(int64_t positions) const {
    const auto count = static_cast<size_t>(positions);
    return {std::vector<float>(count), std::vector<int64_t>(count)};
  }
  void write(int64_t n, int64_t channel, const Found<float> &found) const {
    const Axis *a = windows.axes;
    const auto count = static_cast<int64_t>(found.values.size());
    RowTarget<float>(output.plane(n, channel)).write(0, count, found.values.data());
    MaskPlane mask(windows, elements);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = found.places[static_cast<size_t>(i)];
      const int64_t top = i / a[2].count * a[1].step - a[1].before,
                    left = i % a[2].count * a[2].step - a[2].before;
      const int64_t element = (place / a[2].extent - top) * across + place % a[2].extent - left;
      mask.byte(element, i) |= static_cast<uint8_t>(1u << (i % 8));
    }
    copy_view(mask.view(), MaskPlane::of(masks, n, channel));
  }
};

// Where windows begin in a plane, and whether they lie in it as a whole.
struct Beginnings {
  explicit Beginnings(const Windows &windows, int64_t tall, int64_t wide) {
    const Axis *a = windows.axes;
    for (int64_t i = 0; i < windows.positions(); ++i) {
      const int64_t y = i / a[2].count * a[1].step - a[1].before,
                    x = i % a[2].count * a[2].step - a[2].before;
      top.push_back(y);
      left.push_back(x);
      place.push_back(y * a[2].extent + x);
      whole = whole && y >= 0 && x >= 0 && y + tall <= a[1].extent && x + wide <= a[2].extent;
    }
  }
  std::vector<int64_t> top, left, place;
  bool whole = true;  // all of them
};

// Of so few slopes the sum in float32 is as good as that in float64.
constexpr int64_t kFewSlopes = 64;

// Adds each slope to the elements whose bits are set; bits of margins and of windows that do not
// exist name nothing.
template <class Sum>
void add_at_bits(const Image &slopes, const Image &masks, const Image &result,
                 const Windows &windows, int64_t elements, int64_t across) {
  const Axis *a = windows.axes;
  const int64_t count = slopes.area(), wide = a[2].extent;
  const Beginnings at(windows, elements / across, across);
  sum_planes<float, Sum>(
      slopes, result, [&](int64_t n, int64_t channel, const float *from, Sum *sums) {
        MaskPlane mask(windows, elements);
        copy_view(MaskPlane::of(masks, n, channel), mask.view());
        for (int64_t k = 0; k < elements; ++k) {
          const int64_t down = k / across, right = k % across;
          for (int64_t first = 0; first < count; first += 64) {
            uint64_t bits;
            std::memcpy(&bits, &mask.byte(k, first), sizeof(bits));
            if (count - first < 64) bits &= (uint64_t{1} << (count - first)) - 1;
            for (; bits != 0; bits &= bits - 1) {
              const auto i = static_cast<size_t>(first + __builtin_ctzll(bits));
              if (!at.whole) {
                const int64_t y = at.top[i] + down, x = at.left[i] + right;
                if (y < 0 || y >= a[1].extent || x < 0 || x >= wide) continue;
              }
              sums[at.place[i] + down * wide + right] += static_cast<Sum>(from[i]);
            }
          }
        }
      });
}

// What both directions judge: the windows, and the shape of the mask.
Layout check_mask(Check &check, const MaskCall &a, Windows *windows) {
  const Layout pooled = check_highest(check, a.how, a.self, windows);
  if (!check.ok()) return pooled;
  Layout mask = pooled;
  mask.shape[mask.rank - 2] = check.size(
      "kernelSize", Checked(value_of(a.how.kernel, 0, 1)) * value_of(a.how.kernel, 1, 1));
  const Checked windows_there = Checked(windows->axes[1].count) * windows->axes[2].count;
  check.size("self", windows_there + 2 * kSixteen);
  if (!check.ok()) return pooled;
  mask.shape[mask.rank - 1] = check.size(
      "self", Checked((windows_there.value() + kSixteen - 1) / kSixteen + 1) * kGroupBytes);
  check.shape("indices", a.indices, mask);
  return pooled;
}

Status plan_mask(const MaskCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  if (a.backward) check.required("gradOutput", a.slopes);
  check.required("self", a.self);
  check_given(check, a.how).required(a.result_name, a.result).required("indices", a.indices);
  check.dtype("self", a.self).dtype("gradOutput", a.slopes).dtype(a.result_name, a.result);
  check.dtype("indices", a.indices);
  if (!check.ok()) return check.status();
  check.same_dtype(a.result_name, a.result->dtype, "self", a.self->dtype);
  if (a.backward)
    check.same_dtype("gradOutput", a.slopes->dtype, "self", a.self->dtype)
        .rank("self", a.self, 4, 4);
  auto windows = std::make_shared<Windows>();
  const Layout pooled = check_mask(check, a, windows.get());
  if (!check.ok()) return check.status();
  if (!a.backward) {
    same_format(check, "out", a.result, a.self).shape("out", a.result, pooled);
  } else {
    format_in(check, "self", a.self, {ACL_FORMAT_NCHW});
    same_format(check, "indices", a.indices, a.self);
    check_slopes(check, a.slopes, pooled, a.self, a.result_name, a.result);
  }
  if (!check.ok()) return check.status();
  const bool backward = a.backward;
  const int64_t across = value_of(a.how.kernel, 1, 1),
                elements = value_of(a.how.kernel, 0, 1) * across;
  PlanBuilder plan(a.op, time_of(*windows));
  const size_t slopes = backward ? plan.input(a.slopes) : 0;
  const size_t self = plan.input(a.self);
  const size_t first = backward ? plan.input(a.indices) : plan.output(a.result);
  const size_t second = backward ? plan.output(a.result) : plan.output(a.indices);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View one = view_of(c.tensor(first)), other = view_of(c.tensor(second));
        if (backward) {
          const View from = operands.safe(view_of(c.tensor(slopes)), {other});
          const View mask = operands.safe(one, {other});
          const auto add = elements <= kFewSlopes ? add_at_bits<float> : add_at_bits<double>;
          add(image_of(from, 2), image_of(mask, 2), image_of(other, 2), *windows, elements, across);
          return Status{0};
        }
        const View from = operands.safe(view_of(c.tensor(self)), {one, other});
        const Image output = image_of(one, 2), masks = image_of(other, 2);
        find_highest(image_of(from, 2), *windows,
                     MaskOfHighest{output, masks, *windows, elements, across});
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MaxPool2dWithMask,
             (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode,
              aclTensor *out, aclTensor *indices)) {
  return emu::plan_mask({"aclnnMaxPool2dWithMask",
                         false,
                         nullptr,
                         self,
                         {kernelSize, stride, padding, dilation, ceilMode, 2},
                         indices,
                         "out",
                         out},
                        workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaxPool2dWithMaskBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices,
              const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding,
              const aclIntArray *dilation, bool ceilMode, aclTensor *gradInput)) {
  return emu::plan_mask({"aclnnMaxPool2dWithMaskBackward",
                         true,
                         gradOutput,
                         self,
                         {kernelSize, stride, padding, dilation, ceilMode, 2},
                         indices,
                         "gradInput",
                         gradInput},
                        workspaceSize, executor);
}
EMU_CATCH
