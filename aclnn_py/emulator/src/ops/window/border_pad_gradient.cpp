// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of margins made of the image itself: each slope is added to the element it was copied
// from. Sums of many are float64, of complex numbers for each part.
#include "aclnnop/conversion.h"
#include "ops/window/border_pad.h"
#include "ops/window/pool_gradient.h"

namespace emu {
namespace {

// Which places of an axis are met for the first time.
std::vector<bool> firsts(const std::vector<int64_t> &places, int64_t extent) {
  std::vector<bool> met(static_cast<size_t>(extent)), found;
  for (const int64_t place : places) {
    found.push_back(!met[static_cast<size_t>(place)]);
    met[static_cast<size_t>(place)] = true;
  }
  return found;
}

bool all_met(const std::vector<bool> &first, int64_t extent) {
  return std::count(first.begin(), first.end(), true) == extent;
}

// `left` is the width of the margin in front of a line.
template <class T, class Sum>
void add_picked(const Image &slopes, const Image &result, const Picks &picks, int64_t left) {
  const int64_t *columns = picks.axes[2].data();
  const int64_t width = result.extent[2], whole = slopes.extent[2];
  const int64_t deep = result.extent[0], tall = result.extent[1];
  const std::vector<bool> new_slice = firsts(picks.axes[0], deep),
                          new_row = firsts(picks.axes[1], tall);
  const auto add = [&](int64_t, int64_t, const T *from, Sum *sums) {
    for (size_t z = 0; z < new_slice.size(); ++z) {
      for (size_t y = 0; y < new_row.size(); ++y, from += whole) {
        Sum *line = sums + (picks.axes[0][z] * tall + picks.axes[1][y]) * width;
        if (new_slice[z] && new_row[y]) {
          for (int64_t x = 0; x < width; ++x) line[x] = static_cast<Sum>(from[left + x]);
        } else {
          for (int64_t x = 0; x < width; ++x) line[x] += static_cast<Sum>(from[left + x]);
        }
        for (int64_t x = 0; x < left; ++x) line[columns[x]] += static_cast<Sum>(from[x]);
        for (int64_t x = left + width; x < whole; ++x)
          line[columns[x]] += static_cast<Sum>(from[x]);
      }
    }
  };
  // The first slopes of a line set it.
  sum_planes<T, Sum>(slopes, result, add, !all_met(new_slice, deep) || !all_met(new_row, tall));
}

// The real parts of complex numbers, or the imaginary ones.
Image part_of(Image image, int part) {
  image.dtype = image.dtype == ACL_COMPLEX64 ? ACL_FLOAT : ACL_DOUBLE;
  image.data += part * item_size(image.dtype);
  image.batch_stride *= 2;
  image.channel_stride *= 2;
  for (int64_t &stride : image.stride) stride *= 2;
  return image;
}

// Of so few slopes the sum in float32 is as good as that in float64.
constexpr int64_t kFewSlopes = 64;

// Slopes of one element at most.
int64_t most_slopes(const Image &result, const Picks &picks) {
  int64_t most = 1;
  for (int d = 0; d < kAxes; ++d) {
    std::vector<int64_t> counts(static_cast<size_t>(result.extent[d]));
    for (const int64_t place : picks.axes[d]) ++counts[static_cast<size_t>(place)];
    most *= std::min(*std::max_element(counts.begin(), counts.end()), kFewSlopes + 1);
  }
  return most;
}

void add_slopes(const Image &slopes, const Image &result, const Picks &picks, int64_t left) {
  if (slopes.dtype == ACL_COMPLEX64 || slopes.dtype == ACL_COMPLEX128) {
    for (int part = 0; part < 2; ++part)
      add_slopes(part_of(slopes, part), part_of(result, part), picks, left);
  } else if (slopes.dtype == ACL_DOUBLE) {
    add_picked<double, double>(slopes, result, picks, left);
  } else if (most_slopes(result, picks) > kFewSlopes) {
    add_picked<float, double>(slopes, result, picks, left);
  } else {
    add_picked<float, float>(slopes, result, picks, left);
  }
}

// What the kernel of two dimensions takes of BF16.
constexpr int64_t kWidestBf16 = 7;

Status plan_pad_gradient(const char *op, const aclTensor *slopes, const aclTensor *self,
                         const aclIntArray *padding, const aclTensor *result, int spatial,
                         Border border, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("gradOutput", slopes).required("self", self).required("padding", padding);
  check.required("gradInput", result);
  check.dtype("gradOutput", slopes).dtype("self", self).dtype("gradInput", result);
  if (!check.ok()) return check.status();
  check.same_dtype("gradOutput", slopes->dtype, "self", self->dtype)
      .same_dtype("gradInput", result->dtype, "self", self->dtype)
      .rank("self", self, spatial + 1, spatial + 2);
  if (!check.ok()) return check.status();
  Margins margins;
  const Layout shape = check_padding(check, self, padding, spatial, border, true, &margins);
  if (spatial == 2 && border != Border::kCircular && self->dtype == ACL_BF16) {
    for (const int64_t value : check.ok() ? padding->values : std::vector<int64_t>()) {
      check.that(value <= kWidestBf16, "padding has the value %lld; allowed with BF16: 0 to %lld",
                 static_cast<long long>(value), static_cast<long long>(kWidestBf16));
    }
  }
  check_slopes(check, slopes, shape, self, "gradInput", result);
  if (!check.ok()) return check.status();
  return plan_slopes(
      op, slopes, self, result, KernelTime::linear,
      [=](const View &source, const View &target) {
        const Image from = image_of(source, spatial), to = image_of(target, spatial);
        add_slopes(from, to, picks_of(to, from, margins, border), margins.before[kAxes - 1]);
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

#define EMU_PAD_GRADIENT(NAME, SPATIAL, BORDER)                                                   \
  EMU_OPERATOR(NAME##Backward, (const aclTensor *gradOutput, const aclTensor *self,               \
                                const aclIntArray *padding, aclTensor *gradInput)) {              \
    return emu::plan_pad_gradient("aclnn" #NAME "Backward", gradOutput, self, padding, gradInput, \
                                  SPATIAL, emu::Border::BORDER, workspaceSize, executor);         \
  }                                                                                               \
  EMU_CATCH

EMU_PAD_GRADIENT(ReflectionPad1d, 1, kReflected)
EMU_PAD_GRADIENT(ReflectionPad2d, 2, kReflected)
EMU_PAD_GRADIENT(ReflectionPad3d, 3, kReflected)
EMU_PAD_GRADIENT(ReplicationPad1d, 1, kRepeated)
EMU_PAD_GRADIENT(ReplicationPad2d, 2, kRepeated)
EMU_PAD_GRADIENT(ReplicationPad3d, 3, kRepeated)
EMU_PAD_GRADIENT(CircularPad2d, 2, kCircular)
EMU_PAD_GRADIENT(CircularPad3d, 3, kCircular)
