// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of a convolution. That of the input is the convolution in the other direction. That of
// the filters is, for each group, the product of one side's channels with the windows of the other
// side as columns, summed over samples; where a channel meets few filters (depthwise), rows are
// multiplied directly. Products sum in float32, tiles and samples in float64; one rounding.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/pool.h"
#include "ops/matmul/gemm.h"
#include "ops/shared/rows.h"
#include "ops/window/columns.h"
#include "ops/window/convolution.h"
#include "ops/window/kernels.h"
#include "ops/window/plane.h"

namespace emu {
namespace {

// columns made at a time stay in the second-level cache
constexpr int64_t kTileBytes = int64_t{1} << 20;
// rows of columns that a task makes: fewer, and packing the other side again would show
constexpr int64_t kTaskRows = 144;
constexpr int64_t kFewRows = 8;

void clear(const View &view) {
  static constexpr char kZero[16] = {};
  fill_view(view, kZero);
}

bool is_even(const View &view, int spatial) {
  int64_t step = 0;
  return image_of(view, spatial).even(&step);
}

class FilterGradient {
 public:
  // `windows` move over the image; each has an element of `positions`.
  FilterGradient(const Convolution &c, const View &image, const View &positions,
                 const View &gradient)
      : w_(c.windows),
        groups_(c.groups),
        rows_(c.transposed ? c.in_channels : c.out_channels),
        channels_(c.transposed ? c.out_channels : c.in_channels),
        elements_(c.windows.elements()),
        count_(c.windows.positions()),
        image_(image_of(image, c.spatial)),
        positions_(image_of(positions, c.spatial)),
        gradient_(gradient) {}

  void run() const {
    if (channels_ == 1 && rows_ < kFewRows) return few_rows();
    const int64_t blocks = (channels_ * elements_ + kTaskRows - 1) / kTaskRows;
    const int64_t block = (channels_ + blocks - 1) / blocks,
                  pieces = (channels_ + block - 1) / block;
    parallel_for(groups_ * pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % pieces * block;
        one_block(task / pieces, first, std::min(block, channels_ - first));
      }
    });
  }

 private:
  // The gradients of some channels of a group.
  void one_block(int64_t group, int64_t first, int64_t some) const {
    const int64_t depth = some * elements_, item = item_size(image_.dtype);
    const int64_t width = std::clamp<int64_t>(kTileBytes / (depth * item), 256, count_ + 256);
    int64_t step = 0;
    positions_.even(&step);
    const auto size = static_cast<size_t>(rows_ * depth);
    std::vector<float> product(size);
    std::vector<double> sums(size);
    std::unique_ptr<char[]> columns(
        new char[static_cast<size_t>(depth * std::min(width, count_) * item)]);
    for (int64_t n = 0; n < image_.batch; ++n) {
      for (int64_t at = 0; at < count_; at += width) {
        const int64_t tile = std::min(width, count_ - at);
        const int64_t from = (group * channels_ + first) * elements_;
        unfold(image_, n, w_, from, from + depth, at, tile, columns.get(), tile);
        Matrix left, right;
        left.data = positions_.at(n, group * rows_) + at * step * item_size(positions_.dtype);
        left.dtype = positions_.dtype;
        left.rows = rows_;
        left.cols = tile;
        left.row.stride = positions_.channel_stride;
        left.col.stride = step;
        right.data = columns.get();
        right.dtype = image_.dtype;
        right.rows = depth;
        right.cols = tile;
        right.row.stride = tile;
        right.col.stride = 1;
        gemm(left, right.transposed(), {product.data(), ACL_FLOAT, depth, 1});
        for (size_t i = 0; i < size; ++i) sums[i] += static_cast<double>(product[i]);
      }
    }
    const RowTarget<double> target(gradient_);
    for (int64_t row = 0; row < rows_; ++row) {
      target.write(((group * rows_ + row) * channels_ + first) * elements_, depth,
                   sums.data() + row * depth);
    }
  }

  void few_rows() const {
    const WindowKernels &kernels = window_kernels();
    const int64_t width = w_.axes[2].count;
    parallel_for(groups_, 1, [&](int64_t begin, int64_t end) {
      Plane<float> plane(w_, 0.0f);
      std::vector<const float *> taps(static_cast<size_t>(elements_));
      std::vector<float> from(static_cast<size_t>(rows_ * count_));
      std::vector<double> sums(static_cast<size_t>(rows_ * elements_));
      const RowTarget<double> target(gradient_);
      for (int64_t group = begin; group < end; ++group) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (int64_t n = 0; n < image_.batch; ++n) {
          plane.load(image_.plane(n, group));
          for (int64_t row = 0; row < rows_; ++row) {
            RowSource<float>(positions_.plane(n, group * rows_ + row))
                .read(0, count_, from.data() + row * count_);
          }
          int64_t at = 0;
          for (int64_t z = 0; z < w_.axes[0].count; ++z) {
            for (int64_t y = 0; y < w_.axes[1].count; ++y, at += width) {
              plane.taps(z, y, taps.data());
              for (int64_t row = 0; row < rows_; ++row) {
                kernels.correlate(taps.data(), from.data() + row * count_ + at, elements_, width,
                                  sums.data() + row * elements_);
              }
            }
          }
        }
        target.write(group * rows_ * elements_, rows_ * elements_, sums.data());
      }
    });
  }

  const Windows &w_;
  const int64_t groups_, rows_, channels_;  // of filters and of the image, in one group
  const int64_t elements_, count_;          // of a window; windows
  const Image image_, positions_;
  const View &gradient_;
};

// Whether the gradient of the input moves windows one by one over the gradient of the output: the
// windows of a depthwise convolution with steps of one, seen from the other side.
bool mirrors(const Convolution &c) {
  return !c.transposed && c.in_channels == 1 && c.out_channels == 1 &&
         std::all_of(c.windows.axes, c.windows.axes + kAxes, [](const Axis &axis) {
           const int64_t wide = (axis.window - 1) * axis.spread;
           return axis.step == 1 && axis.before <= wide && axis.after <= wide;
         });
}

void mirrored(const Convolution &c, const View &grad_output, const View &weight,
              const View &grad_input) {
  Convolution back = c;
  for (Axis &axis : back.windows.axes) {
    const int64_t wide = (axis.window - 1) * axis.spread;
    axis.before = wide - axis.before;
    axis.after = wide - axis.after;
    std::swap(axis.extent, axis.count);
  }
  std::unique_ptr<char[]> memory;
  const View turned = dense_as(weight, ACL_FLOAT, &memory);
  auto *filter = reinterpret_cast<float *>(turned.data);
  const int64_t elements = c.windows.elements();
  for (int64_t i = 0; i < c.groups; ++i, filter += elements)
    std::reverse(filter, filter + elements);
  convolve(back, grad_output, turned, View(), grad_input);
}

}  // namespace

void input_gradient(const Convolution &c, const View &grad_output, const View &weight,
                    const View &grad_input) {
  if (grad_input.count() == 0) return;
  if (grad_output.count() == 0 || weight.count() == 0) return clear(grad_input);
  if (mirrors(c)) return mirrored(c, grad_output, weight, grad_input);
  Convolution back = c;
  back.transposed = !c.transposed;
  std::swap(back.in_channels, back.out_channels);
  convolve(back, grad_output, weight, View(), grad_input);
}

void weight_gradient(const Convolution &c, const View &grad_output, const View &input,
                     const View &grad_weight) {
  if (grad_weight.count() == 0) return;
  if (grad_output.count() == 0 || input.count() == 0) return clear(grad_weight);
  const View &image = c.transposed ? grad_output : input;
  const View &positions = c.transposed ? input : grad_output;
  // The product reads planes of the positions as rows.
  std::unique_ptr<char[]> memory;
  const View rows =
      is_even(positions, c.spatial) ? positions : dense_as(positions, positions.dtype, &memory);
  FilterGradient(c, image, rows, grad_weight).run();
}

void bias_gradient(const Convolution &c, const View &grad_output, const View &grad_bias) {
  const Image from = image_of(grad_output, c.spatial);
  const int64_t area = from.area();
  std::vector<double> sums(static_cast<size_t>(grad_bias.count()));
  const int64_t work = std::max<int64_t>(1, area * from.batch);
  parallel_for(grad_bias.count(), std::max<int64_t>(1, (int64_t{1} << 15) / work),
               [&](int64_t begin, int64_t end) {
                 std::vector<float> plane(static_cast<size_t>(area));
                 for (int64_t channel = begin; channel < end; ++channel) {
                   for (int64_t n = 0; n < from.batch; ++n) {
                     RowSource<float>(from.plane(n, channel)).read(0, area, plane.data());
                     sums[static_cast<size_t>(channel)] += sum_of(plane.data(), area);
                   }
                 }
               });
  RowTarget<double>(grad_bias).write(0, grad_bias.count(), sums.data());
}

}  // namespace emu
