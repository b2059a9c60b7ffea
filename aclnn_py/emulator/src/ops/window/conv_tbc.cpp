// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// ConvTbc and its gradient: convolution along the first of the dimensions (time, batch, channels)
// with filters (window, channels of the input, channels of the output). Windows lie in memory as
// the rows of a matrix, so each direction is one product.
#include "aclnnop/conv.h"

#include <cstring>
#include <vector>

#include "core/chip.h"
#include "ops/matmul/gemm.h"
#include "ops/shared/rows.h"
#include "ops/window/geometry.h"

namespace emu {
namespace {

constexpr int64_t kWidestPad = 255;

struct TbcCall {
  const char *op;
  const char *input_name, *output_name;
  const aclTensor *input, *weight, *bias, *output;
  int64_t pad, widest;
  int8_t cube_math_type;
};

// What a convolution along time is for the kernel.
struct TbcShape {
  int64_t window, pad, time, made, batch, in, out;  // steps of the input and of the output
  bool half;
};

void check_tensors(Check &check, const TbcCall &a) {
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {a.input_name, a.input}, {"weight", a.weight}, {a.output_name, a.output}};
  constexpr DtypeSet kEightBits = ~dt::kFloat;
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  check.required("biasOptional", a.bias);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor, kEightBits);
  check.dtype("biasOptional", a.bias);
  if (!check.ok()) return;
  for (const auto &[name, tensor] : tensors) {
    check.same_dtype(name, tensor->dtype, a.input_name, a.input->dtype).rank(name, tensor, 3, 3);
    if (check.ok()) format_in(check, name, tensor, {ACL_FORMAT_ND, ACL_FORMAT_NCL});
  }
  check.same_dtype("biasOptional", a.bias->dtype, a.input_name, a.input->dtype)
      .rank("biasOptional", a.bias, 1, 1);
}

// The shapes of a convolution, and what it is for the kernel.
void check_tbc(Check &check, const TbcCall &a, TbcShape *shape) {
  if (!check.ok()) return;
  const auto &x = a.input->shape, &w = a.weight->shape;
  check.that(a.pad >= 0 && a.pad <= a.widest, "pad is %lld; allowed: 0 to %lld",
             static_cast<long long>(a.pad), static_cast<long long>(a.widest));
  check.that(w[0] > 0, "weight has shape %s; a window must not be empty",
             shape_text(layout_of(*a.weight)).c_str());
  check.that(w[1] == x[2],
             "weight has shape %s; its second dimension must be the %lld channels of %s",
             shape_text(layout_of(*a.weight)).c_str(), static_cast<long long>(x[2]), a.input_name);
  Layout biases;
  biases.push(w[2], 0);
  check.shape("biasOptional", a.bias, biases);
  if (!check.ok()) return;
  const int64_t count = check.size("pad", Checked(x[0]) + a.pad + a.pad - w[0] + 1);
  check.that(count >= 0, "%s has %lld elements along time, with pad %lld; the window covers %lld",
             a.input_name, static_cast<long long>(x[0]),
             static_cast<long long>(x[0] + a.pad + a.pad), static_cast<long long>(w[0]));
  if (!check.ok()) return;
  Layout made;
  made.push(count, 0);
  made.push(x[1], 0);
  made.push(w[2], 0);
  check.shape(a.output_name, a.output, made);
  check.that(a.output->numel() == 0 || (a.input->numel() != 0 && a.weight->numel() != 0),
             "%s %s or weight %s is empty and %s %s is not", a.input_name,
             shape_text(layout_of(*a.input)).c_str(), shape_text(layout_of(*a.weight)).c_str(),
             a.output_name, shape_text(layout_of(*a.output)).c_str());
  check.that(a.cube_math_type >= 0 && a.cube_math_type <= 3, "cubeMathType is %d; allowed: 0 to 3",
             a.cube_math_type);
  check.that(a.cube_math_type != 2 || a.input->dtype != ACL_BF16,
             "cubeMathType is 2, which BF16 operands cannot have");
  *shape = {w[0], a.pad, x[0], count, x[1], x[2], w[2], a.cube_math_type == 2};
}

// On older chips FLOAT needs leave to lose precision.
Check &check_precision(Check &check, const TbcCall &a, bool also_hf32) {
  if (!check.ok() || a.input->dtype != ACL_FLOAT || chip_is_950()) return check;
  return check.that(a.cube_math_type != 0 && (a.cube_math_type != 3 || !also_hf32),
                    "cubeMathType is %d, which FLOAT operands cannot have on this chip; allowed: "
                    "%s",
                    a.cube_math_type, also_hf32 ? "1, 2" : "1 to 3");
}

// Products are summed in float32 over so many steps at a time, and then in float64.
constexpr int64_t kSummedRows = 4096;

// An operand of the products, dense and in the dtype that they take.
class TbcOperand {
 public:
  TbcOperand(const View &view, bool half) {
    const aclDataType dtype = half ? ACL_FLOAT16 : view.dtype;
    view_ = view.layout.is_dense() && view.dtype == dtype ? view : dense_as(view, dtype, &memory_);
  }
  // `steps` steps of time from `front` steps in front of the first one; those that the tensor does
  // not have are 0.
  TbcOperand(const View &view, bool half, int64_t front, int64_t steps) : TbcOperand(view, half) {
    const int64_t time = view_.layout.shape[0], row = view_.layout.shape[1] * view_.layout.shape[2];
    if (front == 0 && steps == time) return;
    const int64_t bytes = row * item_size(view_.dtype);
    std::unique_ptr<char[]> padded(new char[static_cast<size_t>(steps * bytes) + 1]());
    const int64_t first = std::max<int64_t>(0, front), last = std::min(steps, front + time);
    if (last > first) {
      std::memcpy(padded.get() + first * bytes, view_.data + (first - front) * bytes,
                  static_cast<size_t>((last - first) * bytes));
    }
    memory_ = std::move(padded);
    view_.data = memory_.get();
    view_.layout.shape[0] = steps;
  }

  // Every window as a row: (steps * batch, window * channels).
  Matrix windows(int64_t steps, int64_t window) const {
    const int64_t batch = view_.layout.shape[1], channels = view_.layout.shape[2];
    Matrix m = rows(steps * batch, channels);
    m.cols = window * channels;
    m.col.block = channels;
    m.col.block_stride = batch * channels;
    return m;
  }
  Matrix rows(int64_t count, int64_t width) const {
    Matrix m;
    m.data = view_.data;
    m.dtype = view_.dtype;
    m.rows = count;
    m.cols = width;
    m.row.stride = width;
    m.col.stride = 1;
    return m;
  }

 private:
  std::unique_ptr<char[]> memory_;
  View view_;
};

// The product into a tensor of any strides.
void multiply(const Matrix &a, const Matrix &b, const View &result,
              const GemmEpilogue &epilogue = {}) {
  std::unique_ptr<char[]> memory;
  const View to =
      result.layout.is_dense() ? result : dense_as(result, result.dtype, &memory, false);
  gemm(a, b, {to.data, to.dtype, b.cols, 1}, epilogue);
  if (to.data != result.data) copy_view(to, result);
}

void convolve_time(const TbcShape &s, const View &input, const View &weight, const View &bias,
                   const View &output) {
  const TbcOperand image(input, s.half, s.pad, s.time + 2 * s.pad), filters(weight, s.half);
  GemmEpilogue epilogue;
  epilogue.addend.data = bias.data;
  epilogue.addend.dtype = bias.dtype;
  epilogue.addend.rows = s.made * s.batch;
  epilogue.addend.cols = s.out;
  epilogue.addend.col.stride = bias.layout.stride[0];
  multiply(image.windows(s.made, s.window), filters.rows(s.window * s.in, s.out), output, epilogue);
}

// The windows of the slopes, from the last element to the first, meet the filters turned.
void input_slopes(const TbcShape &s, const View &slopes, const View &weight, const View &result) {
  const TbcOperand given(slopes, s.half, s.window - 1 - s.pad, s.time + s.window - 1);
  View turned = weight;
  const Layout from = weight.layout;
  turned.data += (s.window - 1) * from.stride[0] * item_size(weight.dtype);
  turned.layout.stride[0] = -from.stride[0];
  std::swap(turned.layout.shape[1], turned.layout.shape[2]);
  std::swap(turned.layout.stride[1], turned.layout.stride[2]);
  std::unique_ptr<char[]> memory;
  const TbcOperand filters(dense_as(turned, turned.dtype, &memory), s.half);
  multiply(given.windows(s.time, s.window), filters.rows(s.window * s.out, s.in), result);
}

void weight_slopes(const TbcShape &s, const View &slopes, const View &input, const View &result) {
  const TbcOperand image(input, s.half, s.pad, s.time + 2 * s.pad), given(slopes, s.half);
  const Matrix windows = image.windows(s.made, s.window),
               rows = given.rows(s.made * s.batch, s.out);
  const auto size = static_cast<size_t>(s.window * s.in * s.out);
  std::vector<float> product(size);
  std::vector<double> sums(size);
  for (int64_t first = 0; first < rows.rows; first += kSummedRows) {
    Matrix left = windows, right = rows;
    left.rows = right.rows = std::min(kSummedRows, rows.rows - first);
    left.data = static_cast<const char *>(windows.data) +
                first * windows.row.stride * item_size(windows.dtype);
    right.data =
        static_cast<const char *>(rows.data) + first * rows.row.stride * item_size(rows.dtype);
    gemm(left.transposed(), right, {product.data(), ACL_FLOAT, s.out, 1});
    for (size_t i = 0; i < size; ++i) sums[i] += static_cast<double>(product[i]);
  }
  RowTarget<double>(result).write(0, static_cast<int64_t>(size), sums.data());
}

void bias_slopes(const TbcShape &s, const View &slopes, const View &result) {
  std::vector<double> sums(static_cast<size_t>(s.out));
  std::vector<float> row(sums.size());
  const RowSource<float> source(slopes);
  for (int64_t i = 0; i < s.made * s.batch; ++i) {
    source.read(i * s.out, s.out, row.data());
    for (size_t c = 0; c < row.size(); ++c) sums[c] += static_cast<double>(row[c]);
  }
  RowTarget<double>(result).write(0, s.out, sums.data());
}

void clear_view(const View &view) {
  static constexpr char kZero[16] = {};
  fill_view(view, kZero);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ConvTbc,
             (const aclTensor *self, const aclTensor *weight, const aclTensor *biasOptional,
              int64_t pad, aclTensor *output, int8_t cubeMathType)) {
  using namespace emu;
  const TbcCall call = {"aclnnConvTbc", "self", "output", self,       weight,
                        biasOptional,   output, pad,      kWidestPad, cubeMathType};
  Check check(call.op);
  check_tensors(check, call);
  TbcShape shape{};
  check_tbc(check, call, &shape);
  check_precision(check, call, false);
  if (!check.ok()) return check.status();
  PlanBuilder plan(call.op);
  const size_t input = plan.input(self), filters = plan.input(weight),
               bias = plan.input(biasOptional), result = plan.output(output);
  return plan.finish(
      [=](PlanContext &context) {
        const View to = view_of(context.tensor(result));
        if (to.count() == 0) return Status{0};
        Operands operands;
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(context.tensor(at)), {to});
        };
        convolve_time(shape, operand(input), operand(filters), operand(bias), to);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ConvTbcBackward,
             (const aclTensor *self, const aclTensor *input, const aclTensor *weight,
              const aclTensor *biasOptional, int64_t pad, int8_t cubeMathType, aclTensor *gradInput,
              aclTensor *gradWeight, aclTensor *gradBias)) {
  using namespace emu;
  const TbcCall call = {"aclnnConvTbcBackward", "input", "self", input,     weight,
                        biasOptional,           self,    pad,    INT32_MAX, cubeMathType};
  Check check(call.op);
  check_tensors(check, call);
  const struct {
    const char *name;
    const aclTensor *made;
    const char *model_name;
    const aclTensor *model;
  } results[] = {{"gradInput", gradInput, "input", input},
                 {"gradWeight", gradWeight, "weight", weight},
                 {"gradBias", gradBias, "biasOptional", biasOptional}};
  for (const auto &one : results) {
    check.required(one.name, one.made).dtype(one.name, one.made, ~dt::kFloat);
    if (!check.ok()) return check.status();
    check.same_dtype(one.name, one.made->dtype, one.model_name, one.model->dtype)
        .shape(one.name, one.made, layout_of(*one.model));
  }
  TbcShape shape{};
  check_tbc(check, call, &shape);
  check_precision(check, call, true);
  if (!check.ok()) return check.status();
  PlanBuilder plan(call.op);
  const size_t slopes = plan.input(self), image = plan.input(input), filters = plan.input(weight);
  plan.input(biasOptional);
  const size_t to_input = plan.output(gradInput), to_weight = plan.output(gradWeight),
               to_bias = plan.output(gradBias);
  return plan.finish(
      [=](PlanContext &context) {
        const View of_input = view_of(context.tensor(to_input)),
                   of_weight = view_of(context.tensor(to_weight)),
                   of_bias = view_of(context.tensor(to_bias));
        Operands operands;
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(context.tensor(at)), {of_input, of_weight, of_bias});
        };
        const View given = operand(slopes), x = operand(image), w = operand(filters);
        if (given.count() == 0) {
          for (const View &result : {of_input, of_weight, of_bias}) clear_view(result);
          return Status{0};
        }
        bias_slopes(shape, given, of_bias);
        weight_slopes(shape, given, x, of_weight);
        input_slopes(shape, given, w, of_input);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
