// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// SwinTransformerLnQkvQuant, which the 310P has: rows of an image normalised, cut into windows,
// quantised, and multiplied by the joint weight of queries, keys and values.
#include <cmath>

#include "aclnnop/ffn.h"
#include "core/chip.h"
#include "ops/matmul/gemm.h"
#include "ops/moe/routing.h"
#include "ops/norm/layer.h"
#include "ops/shared/packed_scale.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnSwinTransformerLnQkvQuant";
constexpr int64_t kMostBatches = 32, kMostHeads = 32, kWidest = 1024;
constexpr int64_t kSmallestWindow = 7, kLargestWindow = 32;
constexpr const char *kResults[] = {"queryOutputOut", "keyOutputOut", "valueOutputOut"};

struct SwinProjection {
  const aclTensor *x, *gamma, *beta, *weight, *bias, *scale, *offset, *column_scale;
  int64_t heads, head, height, width, window_height, window_width;
  bool transposed;
  const aclTensor *out[3];
};

void check_range(Check &check, const char *name, int64_t value, int64_t least, int64_t most) {
  check.that(value >= least && value <= most, "%s is %lld; allowed: %lld to %lld", name,
             wide(value), wide(least), wide(most));
}

void check_attributes(Check &check, const SwinProjection &a) {
  check_range(check, "headNum", a.heads, 1, kMostHeads);
  check.that(a.head == 32 || a.head == 64, "seqLength is %lld; allowed: 32, 64", wide(a.head));
  check_range(check, "hWinSize", a.window_height, kSmallestWindow, kLargestWindow);
  check_range(check, "wWinSize", a.window_width, kSmallestWindow, kLargestWindow);
  check.that(a.transposed, "weightTranspose is false; only true is supported");
  if (!check.ok()) return;
  check.that(a.height > 0 && a.height % a.window_height == 0,
             "oriHeight is %lld; it must be a multiple of hWinSize, %lld", wide(a.height),
             wide(a.window_height));
  check.that(a.width > 0 && a.width % a.window_width == 0,
             "oriWeight is %lld; it must be a multiple of wWinSize, %lld", wide(a.width),
             wide(a.window_width));
}

Check check_projection(const SwinProjection &a) {
  Check check(kOp);
  check.required("x", a.x).required("gamma", a.gamma).required("beta", a.beta);
  check.required("weight", a.weight).required("bias", a.bias).required("quantScale", a.scale);
  check.required("quantOffset", a.offset).required("dequantScale", a.column_scale);
  for (int i = 0; i < 3; ++i) check.required(kResults[i], a.out[i]);
  check.that(chip_is_310p(),
             "the chip is %s; only the 310P has this operator, which "
             "ACLNN_PY_EMULATOR_SOC=Ascend310P3 emulates",
             soc_name());
  check.dtype("x", a.x).dtype("gamma", a.gamma).dtype("beta", a.beta).dtype("weight", a.weight);
  check.dtype("bias", a.bias).dtype("quantScale", a.scale).dtype("quantOffset", a.offset);
  check.dtype("dequantScale", a.column_scale);
  for (int i = 0; i < 3; ++i) check.dtype(kResults[i], a.out[i]);
  check.tiling();
  check.rank("x", a.x, 3, 3);
  if (check.ok()) check_attributes(check, a);
  if (!check.ok()) return check;
  const int64_t batches = a.x->shape[0], pixels = a.x->shape[1], width = a.x->shape[2];
  check_range(check, "the first dimension of x", batches, 1, kMostBatches);
  check_range(check, "the last dimension of x", width, 1, kWidest);
  const Checked area = Checked(a.height) * a.width;
  check.that(area.fits() && area.value() == pixels,
             "x has %lld rows for each image; oriHeight * oriWeight is %lld * %lld", wide(pixels),
             wide(a.height), wide(a.width));
  check.that(a.heads * a.head == width, "x has rows of %lld; headNum * seqLength is %lld",
             wide(width), wide(a.heads * a.head));
  if (!check.ok()) return check;
  const int64_t window = a.window_height * a.window_width, columns = 3 * width;
  const int64_t weight[] = {columns, width};
  const int64_t made[] = {batches * (pixels / window), a.heads, window, a.head};
  for (const auto &[name, tensor] : {std::pair{"gamma", a.gamma},
                                     {"beta", a.beta},
                                     {"quantScale", a.scale},
                                     {"quantOffset", a.offset}})
    check.shape(name, tensor, dense_layout(&width, 1));
  check.shape("weight", a.weight, dense_layout(weight, 2));
  check.shape("bias", a.bias, dense_layout(&columns, 1));
  check.shape("dequantScale", a.column_scale, dense_layout(&columns, 1));
  for (int i = 0; i < 3; ++i) check.shape(kResults[i], a.out[i], dense_layout(made, 4));
  return check;
}

struct SwinPlan {
  size_t x, gamma, beta, weight, bias, scale, offset, column_scale, out[3];
  int64_t rows, columns, heads, head, height, width, window_height, window_width;
  double epsilon;
};

// The row of the image that a row of the windows is.
int64_t source_row(const SwinPlan &p, int64_t row) {
  const int64_t window = p.window_height * p.window_width, across = p.width / p.window_width,
                per_image = p.height / p.window_height * across;
  const int64_t number = row / window, place = row % window, within = number % per_image;
  const int64_t y = within / across * p.window_height + place / p.window_width,
                x = within % across * p.window_width + place % p.window_width;
  return (number / per_image * p.height + y) * p.width + x;
}

int8_t code_of(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int8_t>(std::clamp(std::nearbyint(value), -128.0f, 127.0f));
}

// Takes sums of 32 bits to the heads of queries, keys and values.
class HeadStore final : public RowSink<int32_t> {
 public:
  HeadStore(const SwinPlan &p, PlanContext &c) : p_(p) {
    for (const size_t index : p.out) to_.emplace_back(view_of(c.tensor(index)));
    bias_ = read_all<int32_t>(c, p.bias, 3 * p.columns, 0);
    for (const uint64_t one : read_all<uint64_t>(c, p.column_scale, 3 * p.columns, 0))
      scale_.push_back(unpack_scale(one));
  }

  void accept(int64_t row, int64_t col, int64_t count, const int32_t *sums) const override {
    const int64_t window = p_.window_height * p_.window_width;
    std::vector<float> values(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(col + i);
      const auto sum =
          static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + static_cast<uint32_t>(bias_[at]));
      values[static_cast<size_t>(i)] = static_cast<float>(sum) * scale_[at];
    }
    for (int64_t i = 0; i < count;) {
      const int64_t at = col + i, which = at / p_.columns, own = at % p_.columns,
                    first = own % p_.head, run = std::min(count - i, p_.head - first);
      const int64_t place =
          ((row / window * p_.heads + own / p_.head) * window + row % window) * p_.head + first;
      to_[static_cast<size_t>(which)].write(place, run, values.data() + i);
      i += run;
    }
  }

 private:
  const SwinPlan &p_;
  std::vector<RowTarget<float>> to_;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
};

Status run_projection(PlanContext &c, const SwinPlan &p) {
  Apart apart;
  const View out[] = {view_of(c.tensor(p.out[0])), view_of(c.tensor(p.out[1])),
                      view_of(c.tensor(p.out[2]))};
  const RowSource<float> x(apart.from(view_of(c.tensor(p.x)), {out[0], out[1], out[2]}));
  const DenseSource weight(apart.from(view_of(c.tensor(p.weight)), {out[0], out[1], out[2]}));
  const std::vector<float> gamma = read_all<float>(c, p.gamma, p.columns, 1.0f),
                           beta = read_all<float>(c, p.beta, p.columns, 0.0f),
                           scale = read_all<float>(c, p.scale, p.columns, 1.0f),
                           offset = read_all<float>(c, p.offset, p.columns, 0.0f);
  std::vector<int8_t> codes(static_cast<size_t>(p.rows * p.columns));
  for_each_row<float>(p.rows, p.columns, 1, [&](int64_t row, float *values) {
    x.read(source_row(p, row) * p.columns, p.columns, values);
    layer_normalise(values, p.columns, p.epsilon, gamma.data(), beta.data());
    for (int64_t i = 0; i < p.columns; ++i) {
      const auto at = static_cast<size_t>(i);
      codes[static_cast<size_t>(row * p.columns) + at] =
          code_of(values[i] * scale[at] + offset[at]);
    }
  });
  Matrix left, right;
  left.data = codes.data(), right.data = weight.data();
  left.dtype = right.dtype = ACL_INT8;
  left.rows = p.rows, left.cols = p.columns;
  left.row.stride = p.columns, left.col.stride = 1;
  right.rows = p.columns, right.cols = 3 * p.columns;
  right.row.stride = 1, right.col.stride = p.columns;
  gemm_i32(left, right, HeadStore(p, c));
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwinTransformerLnQkvQuant,
             (const aclTensor *x, const aclTensor *gamma, const aclTensor *beta,
              const aclTensor *weight, const aclTensor *bias, const aclTensor *quantScale,
              const aclTensor *quantOffset, const aclTensor *dequantScale, int64_t headNum,
              int64_t seqLength, double epsilon, int64_t oriHeight, int64_t oriWeight,
              int64_t hWinSize, int64_t wWinSize, bool weightTranspose, aclTensor *queryOutputOut,
              aclTensor *keyOutputOut, aclTensor *valueOutputOut)) {
  using namespace emu;
  const SwinProjection a{x,
                         gamma,
                         beta,
                         weight,
                         bias,
                         quantScale,
                         quantOffset,
                         dequantScale,
                         headNum,
                         seqLength,
                         oriHeight,
                         oriWeight,
                         hWinSize,
                         wWinSize,
                         weightTranspose,
                         {queryOutputOut, keyOutputOut, valueOutputOut}};
  const Check check = check_projection(a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp);
  SwinPlan p{};
  p.x = plan.input(x), p.gamma = plan.input(gamma), p.beta = plan.input(beta);
  p.weight = plan.input(weight), p.bias = plan.input(bias), p.scale = plan.input(quantScale);
  p.offset = plan.input(quantOffset), p.column_scale = plan.input(dequantScale);
  for (int i = 0; i < 3; ++i) p.out[i] = plan.output(a.out[i]);
  p.rows = x->shape[0] * x->shape[1], p.columns = x->shape[2];
  p.heads = headNum, p.head = seqLength, p.height = oriHeight, p.width = oriWeight;
  p.window_height = hWinSize, p.window_width = wWinSize, p.epsilon = epsilon;
  const auto kept = std::make_shared<const SwinPlan>(p);
  return plan.finish([kept](PlanContext &c) { return run_projection(c, *kept); }, workspaceSize,
                     executor);
}
EMU_CATCH
