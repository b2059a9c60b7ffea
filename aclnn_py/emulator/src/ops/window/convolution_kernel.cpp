// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Three ways to convolve. Forward, the windows of a piece of the output become columns, which the
// matrix product multiplies with the filters while they are in the cache; filters of one element
// need no columns. Where a channel meets few filters (depthwise), there is nothing to share between
// them and rows are weighed directly. Transposed, the product makes columns, which are added up
// where their windows overlap; those of a single channel are its rows, weighed.
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
constexpr int64_t kColumnBytes = int64_t{2} << 20;
// fewer, and packing the filters again would show
constexpr int64_t kFewestColumns = 256;
constexpr int64_t kFewFilters = 8;
// of the lines of an input that are spread at a time
constexpr int64_t kLineElements = 4096;

const char *advance(const void *data, int64_t elements, aclDataType dtype) {
  return static_cast<const char *>(data) + elements * item_size(dtype);
}

class Work {
 public:
  Work(const Convolution &c, const View &input, const View &weight, const View &bias,
       const View &output)
      : c_(c),
        input_(image_of(input, c.spatial)),
        output_(image_of(output, c.spatial)),
        weight_(weight),
        bias_(bias),
        elements_(c.windows.elements()) {}

  void forward() const {
    if (c_.in_channels == 1 && c_.out_channels < kFewFilters) return depthwise();
    const int64_t depth = c_.in_channels * elements_, positions = c_.windows.positions();
    int64_t from_step = 0, to_step = 0;
    const bool pointwise =
        elements_ == 1 && input_.even(&from_step) && input_.area() == positions && unpadded();
    output_.even(&to_step);
    const int64_t room = kColumnBytes / (depth * item_size(input_.dtype));
    const int64_t width = std::min(positions, std::max(kFewestColumns, room / 32 * 32));
    const int64_t tiles = (positions + width - 1) / width, tasks = input_.batch * c_.groups * tiles;
    parallel_for(tasks, 1, [&](int64_t begin, int64_t end) {
      std::unique_ptr<char[]> columns;
      if (!pointwise)
        columns.reset(new char[static_cast<size_t>(depth * width * item_size(input_.dtype))]);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % tiles * width, count = std::min(width, positions - first);
        const int64_t group = task / tiles % c_.groups, n = task / tiles / c_.groups;
        Matrix x;
        x.dtype = input_.dtype;
        x.rows = depth;
        x.cols = count;
        if (pointwise) {
          x.data = advance(input_.at(n, group * c_.in_channels), first * from_step, x.dtype);
          x.row.stride = input_.channel_stride;
          x.col.stride = from_step;
        } else {
          unfold(input_, n, c_.windows, group * depth, (group + 1) * depth, first, count,
                 columns.get(), width);
          x.data = columns.get();
          x.row.stride = width;
          x.col.stride = 1;
        }
        GemmEpilogue epilogue;
        epilogue.addend = bias_of(group * c_.out_channels, c_.out_channels, count);
        char *to =
            output_.at(n, group * c_.out_channels) + first * to_step * item_size(output_.dtype);
        gemm(filters(group), x, {to, output_.dtype, output_.channel_stride, to_step}, epilogue);
      }
    });
  }

  void transposed() const {
    if (c_.in_channels == 1) return spread();
    int64_t from_step = 0;
    input_.even(&from_step);
    const Windows &w = c_.windows;
    // `positions` are those of the input here, `area` that of the output.
    const int64_t width = w.axes[2].count, lines = w.positions() / width, area = w.area();
    // lines of the input at a time
    const int64_t some = std::clamp<int64_t>(kLineElements / width, 1, lines);
    const int64_t bytes =
        std::max(elements_ * some * width, area) * static_cast<int64_t>(sizeof(float));
    const int64_t block = std::clamp<int64_t>(kColumnBytes / bytes, 1, c_.out_channels);
    const int64_t blocks = (c_.out_channels + block - 1) / block;
    parallel_for(input_.batch * c_.groups * blocks, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> columns(static_cast<size_t>(block * elements_ * some * width));
      std::vector<float> planes(static_cast<size_t>(block * area));
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % blocks * block,
                      count = std::min(block, c_.out_channels - first);
        const int64_t group = task / blocks % c_.groups, n = task / blocks / c_.groups;
        std::fill(planes.begin(), planes.end(), 0.0f);
        for (int64_t at = 0; at < lines; at += some) {
          const int64_t tall = std::min(some, lines - at), cols = tall * width;
          Matrix x;
          x.data =
              advance(input_.at(n, group * c_.in_channels), at * width * from_step, input_.dtype);
          x.dtype = input_.dtype;
          x.rows = c_.in_channels;
          x.cols = cols;
          x.row.stride = input_.channel_stride;
          x.col.stride = from_step;
          gemm(turned_filters(group, first, count), x, {columns.data(), ACL_FLOAT, cols, 1});
          parallel_for(count, 1, [&](int64_t low, int64_t high) {
            for (int64_t i = low; i < high; ++i) {
              fold_add(columns.data() + i * elements_ * cols, cols, w, at, tall,
                       planes.data() + i * area);
            }
          });
        }
        for (int64_t i = 0; i < count; ++i) {
          store(n, group * c_.out_channels + first + i, planes.data() + i * area);
        }
      }
    });
  }

 private:
  bool unpadded() const {
    return std::all_of(c_.windows.axes, c_.windows.axes + kAxes, [](const Axis &axis) {
      return axis.before == 0 && axis.after == 0 && axis.step == 1;
    });
  }

  // The filters of a group as a matrix (out_channels, in_channels * elements).
  Matrix filters(int64_t group) const {
    const int64_t depth = c_.in_channels * elements_;
    Matrix m;
    m.data = advance(weight_.data, group * c_.out_channels * depth, weight_.dtype);
    m.dtype = weight_.dtype;
    m.rows = c_.out_channels;
    m.cols = depth;
    m.row.stride = depth;
    m.col.stride = 1;
    return m;
  }

  // Transposed filters lie as (in_channels, out_channels * elements): the rows of some output
  // channels.
  Matrix turned_filters(int64_t group, int64_t first, int64_t count) const {
    const int64_t stride = c_.out_channels * elements_;
    Matrix m;
    m.data =
        advance(weight_.data, group * c_.in_channels * stride + first * elements_, weight_.dtype);
    m.dtype = weight_.dtype;
    m.rows = count * elements_;
    m.cols = c_.in_channels;
    m.row.stride = 1;
    m.col.stride = stride;
    return m;
  }

  // One value per row, the same in every column.
  Matrix bias_of(int64_t first, int64_t rows, int64_t cols) const {
    Matrix m;
    if (bias_.data == nullptr) return m;
    m.data = advance(bias_.data, first * bias_.layout.stride[0], bias_.dtype);
    m.dtype = bias_.dtype;
    m.rows = rows;
    m.cols = cols;
    m.row.stride = bias_.layout.stride[0];
    return m;
  }

  float bias_value(int64_t channel) const {
    float value = 0.0f;
    if (bias_.data != nullptr)
      load_f32(bias_.data, bias_.dtype, channel * bias_.layout.stride[0], 1, 1, &value);
    return value;
  }

  void store(int64_t n, int64_t channel, float *plane) const {
    const float shift = bias_value(channel);
    const int64_t area = c_.windows.area();
    for (int64_t i = 0; i < area; ++i) plane[i] += shift;
    RowTarget<float>(output_.plane(n, channel)).write(0, area, plane);
  }

  void depthwise() const {
    const Windows &w = c_.windows;
    const WindowKernels &kernels = window_kernels();
    const int64_t positions = w.positions();
    const int64_t grain =
        std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, positions * elements_));
    parallel_for(input_.batch * c_.groups, grain, [&](int64_t begin, int64_t end) {
      Plane<float> plane(w, 0.0f);
      std::vector<const float *> taps(static_cast<size_t>(elements_));
      std::vector<float> filter(static_cast<size_t>(elements_)),
          sums(static_cast<size_t>(positions));
      for (int64_t task = begin; task < end; ++task) {
        const int64_t group = task % c_.groups, n = task / c_.groups;
        plane.load(input_.plane(n, group));
        for (int64_t i = 0; i < c_.out_channels; ++i) {
          const int64_t channel = group * c_.out_channels + i;
          load_f32(weight_.data, weight_.dtype, channel * elements_, 1, elements_, filter.data());
          const float shift = bias_value(channel);
          float *to = sums.data();
          for (int64_t z = 0; z < w.axes[0].count; ++z) {
            for (int64_t y = 0; y < w.axes[1].count; ++y, to += w.axes[2].count) {
              plane.taps(z, y, taps.data());
              kernels.weigh(taps.data(), filter.data(), elements_, w.axes[2].count, shift, to);
            }
          }
          RowTarget<float>(output_.plane(n, channel)).write(0, positions, sums.data());
        }
      }
    });
  }

  void spread() const {
    const Windows &w = c_.windows;
    const int64_t width = w.axes[2].count, lines = w.positions() / width, area = w.area();
    const int64_t some = std::clamp<int64_t>(kLineElements / width, 1, lines);
    const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / (w.positions() * elements_));
    parallel_for(input_.batch * c_.groups, grain, [&](int64_t begin, int64_t end) {
      std::vector<float> from(static_cast<size_t>(w.positions())), plane(static_cast<size_t>(area)),
          filter(static_cast<size_t>(elements_));
      for (int64_t task = begin; task < end; ++task) {
        const int64_t group = task % c_.groups, n = task / c_.groups;
        RowSource<float>(input_.plane(n, group)).read(0, w.positions(), from.data());
        for (int64_t i = 0; i < c_.out_channels; ++i) {
          const int64_t channel = group * c_.out_channels + i;
          load_f32(weight_.data, weight_.dtype, channel * elements_, 1, elements_, filter.data());
          std::fill(plane.begin(), plane.end(), 0.0f);
          for (int64_t at = 0; at < lines; at += some) {
            fold_add(from.data() + at * width, 0, w, at, std::min(some, lines - at), plane.data(),
                     filter.data());
          }
          store(n, channel, plane.data());
        }
      }
    });
  }

  const Convolution &c_;
  const Image input_, output_;
  const View &weight_, &bias_;
  const int64_t elements_;
};

bool even(const View &view, int spatial) {
  int64_t step = 0;
  return image_of(view, spatial).even(&step);
}

}  // namespace

void convolve(const Convolution &c, const View &input, const View &weight, const View &bias,
              const View &output) {
  std::unique_ptr<char[]> memory[2];
  const View filters =
      weight.layout.is_dense() ? weight : dense_as(weight, weight.dtype, &memory[0]);
  if (c.transposed) {
    // The product reads planes of the input as rows.
    const View image = even(input, c.spatial) ? input : dense_as(input, input.dtype, &memory[1]);
    Work(c, image, filters, bias, output).transposed();
    return;
  }
  // The product writes planes of the output as rows.
  const View result =
      even(output, c.spatial) ? output : dense_as(output, output.dtype, &memory[1], false);
  Work(c, input, filters, bias, result).forward();
  if (result.data != output.data) copy_view(result, output);
}

}  // namespace emu
