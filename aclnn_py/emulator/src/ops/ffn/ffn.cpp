// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/ffn/ffn.h"

#include <algorithm>
#include <cmath>

#include "aclnnop/ffn.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/gmm/low_bits.h"
#include "ops/matmul/dequantise.h"
#include "ops/matmul/stack.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

// Phase two. Indices are those of the plan.
struct FfnJob {
  const char *op, *tokens_name;
  FfnMode mode;
  bool experts, ends, rounds_first;
  int64_t groups, rows, width, hidden, activation;
  std::vector<int64_t> token_array;
  size_t x, weight[2], tokens, bias[2], scale, offset, dequant[2], antiquant_scale[2],
      antiquant_offset[2], y;
};

// Rows of the second product, scaled and stored.
class StoredRows final : public RowSink<int32_t> {
 public:
  MatrixOut out;
  const int32_t *bias = nullptr;
  const float *scale = nullptr;

  void accept(int64_t row, int64_t col, int64_t count, const int32_t *sums) const override {
    constexpr int64_t kPiece = 256;
    float values[kPiece];
    for (int64_t done = 0; done < count; done += kPiece) {
      const int64_t n = std::min(kPiece, count - done), first = col + done;
      for (int64_t i = 0; i < n; ++i) {
        const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[done + i]) +
                                              static_cast<uint32_t>(bias ? bias[first + i] : 0));
        values[i] = static_cast<float>(sum) * scale[first + i];
      }
      store_f32(values, out.data, out.dtype, row * out.row_stride + first * out.col_stride,
                out.col_stride, n);
    }
  }
};

class FfnRun {
 public:
  FfnRun(const FfnJob &job, PlanContext &context) : job_(job), c_(context) {}

  Status run() {
    std::vector<GroupSpan> spans;
    if (const Status status = read_spans(&spans)) return status;
    // Dense copies: rows of any leading dimensions then have a single stride.
    const View result = view_of(c_.tensor(job_.y));
    const Snapshot source(view_of(c_.tensor(job_.x))), target(result);
    const Matrix all = as_rows(source.view());
    const Matrix out = as_rows(target.view());
    for (const GroupSpan &span : spans) {
      for (int64_t done = 0; done < span.count; done += kRowsAtOnce) {
        const int64_t first = span.first + done, count = std::min(kRowsAtOnce, span.count - done);
        block(span.group, part(all, first, count), part(out, first, count));
      }
    }
    copy_view(target.view(), result);
    return 0;
  }

 private:
  static View rows_of(const aclTensor &tensor) { return view_of(tensor); }
  Matrix as_rows(const View &dense) const {
    Matrix m;
    m.data = dense.data;
    m.dtype = dense.dtype;
    m.rows = job_.rows;
    m.cols = job_.width;
    m.row.stride = job_.width;
    m.col.stride = 1;
    return m;
  }
  static Matrix part(Matrix m, int64_t first, int64_t count) {
    m.data = static_cast<const char *>(m.data) + first * m.row.stride * item_size(m.dtype);
    m.rows = count;
    return m;
  }

  Status read_spans(std::vector<GroupSpan> *spans) const {
    if (!job_.experts) {
      spans->push_back({0, 0, job_.rows});
      return 0;
    }
    if (!c_.has(job_.tokens)) {
      int64_t first = 0;
      for (size_t e = 0; e < job_.token_array.size(); ++e) {
        const int64_t end = job_.ends ? job_.token_array[e] : first + job_.token_array[e];
        spans->push_back({e, first, end - first});
        first = end;
      }
      return 0;
    }
    const auto kind = job_.ends ? GroupListKind::kEnds : GroupListKind::kSizes;
    const Status status = read_groups(job_.op, c_.tensor(job_.tokens), static_cast<int64_t>(kind),
                                      static_cast<size_t>(job_.groups), job_.rows, spans);
    if (status != 0) return status;
    const int64_t end = spans->back().first + spans->back().count;
    if (end == job_.rows) return 0;
    return fail(kKernelFault, "%s: %s gives %lld rows to experts; x has %lld.", job_.op,
                job_.tokens_name, static_cast<long long>(end), static_cast<long long>(job_.rows));
  }

  aclTensor of_expert(size_t index, size_t expert) const {
    const aclTensor &tensor = c_.tensor(index);
    return job_.experts ? entry_of(tensor, expert) : tensor;
  }
  Matrix row_or_none(size_t index, size_t expert, std::vector<float> &memory) const {
    if (!c_.has(index)) return {};
    memory = every_scale(of_expert(index, expert));
    Matrix row;
    row.data = memory.data();
    row.rows = 1;
    row.cols = static_cast<int64_t>(memory.size());
    row.col.stride = 1;
    return row;
  }
  std::vector<int32_t> sums_bias(size_t index, size_t expert) const {
    if (!c_.has(index)) return {};
    const aclTensor bias = of_expert(index, expert);
    std::vector<int32_t> values(static_cast<size_t>(bias.numel()));
    RowSource<int32_t>(view_of(bias)).read(0, bias.numel(), values.data());
    return values;
  }

  void block(size_t expert, const Matrix &x, const Matrix &out) {
    const MatrixOut target{const_cast<void *>(out.data), out.dtype, out.row.stride, 1};
    if (job_.mode == FfnMode::kInt8) return int8_block(expert, x, target);
    std::vector<char> memory[2];
    Matrix weight[2];
    for (int i = 0; i < 2; ++i) weight[i] = float_weight(i, expert, memory[i]);
    std::vector<float> bias[2], hidden(static_cast<size_t>(x.rows * job_.hidden));
    GemmEpilogue epilogue;
    epilogue.bias = row_or_none(job_.bias[0], expert, bias[0]);
    gemm(x, weight[0], {hidden.data(), ACL_FLOAT, job_.hidden, 1}, epilogue);
    std::vector<uint16_t> rounded(hidden.size());
    const auto count = static_cast<int64_t>(hidden.size());
    if (job_.rounds_first) {
      store_f32(hidden.data(), rounded.data(), x.dtype, 0, 1, count);
      load_f32(rounded.data(), x.dtype, 0, 1, count, hidden.data());
    }
    parallel_for(count, 8192, [&](int64_t begin, int64_t end) {
      activate(hidden.data() + begin, end - begin, job_.activation);
    });
    store_f32(hidden.data(), rounded.data(), x.dtype, 0, 1, count);
    Matrix between;
    between.data = rounded.data();
    between.dtype = x.dtype;
    between.rows = x.rows;
    between.cols = job_.hidden;
    between.row.stride = job_.hidden;
    between.col.stride = 1;
    epilogue.bias = row_or_none(job_.bias[1], expert, bias[1]);
    gemm(between, weight[1], target, epilogue);
  }

  Matrix float_weight(int i, size_t expert, std::vector<char> &memory) const {
    const aclTensor weight = of_expert(job_.weight[i], expert);
    if (job_.mode == FfnMode::kFloat) return matrix_stack(weight).first;
    const aclTensor scale = of_expert(job_.antiquant_scale[i], expert),
                    offset = of_expert(job_.antiquant_offset[i], expert);
    memory.resize(static_cast<size_t>(weight.numel()) * 2);
    const int64_t pieces = scale.rank() == 2 ? scale.shape[0] : 1;
    return dequantised_weight(weight, scale, &offset, pieces > 1 ? weight.shape[0] / pieces : 0,
                              memory.data());
  }

  void int8_block(size_t expert, const Matrix &x, const MatrixOut &target) {
    const std::vector<float> scales[] = {every_scale(of_expert(job_.dequant[0], expert)),
                                         every_scale(of_expert(job_.dequant[1], expert))};
    const std::vector<int32_t> biases[] = {sums_bias(job_.bias[0], expert),
                                           sums_bias(job_.bias[1], expert)};
    const aclTensor &scale = c_.tensor(job_.scale);
    // One factor for each expert, or a row of them.
    const std::vector<float> all = every_scale(scale),
                             offsets = every_scale(c_.tensor(job_.offset));
    const bool by_column = scale.numel() != job_.groups;
    const float *factor = all.data() + static_cast<int64_t>(expert) * (by_column ? job_.hidden : 1);
    const float shift = offsets[expert];
    std::vector<float> hidden(static_cast<size_t>(x.rows * job_.hidden));
    ScaledProduct first;
    first.x = x;
    first.w = matrix_stack(of_expert(job_.weight[0], expert)).first;
    first.scale = scales[0].data();
    first.bias = biases[0].empty() ? nullptr : biases[0].data();
    scaled_product(first, hidden.data());
    std::vector<int8_t> quantised(hidden.size());
    parallel_for(x.rows, 16, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float *row = hidden.data() + i * job_.hidden;
        activate(row, job_.hidden, job_.activation);
        for (int64_t j = 0; j < job_.hidden; ++j)
          quantised[static_cast<size_t>(i * job_.hidden + j)] =
              nearest_int8(row[j] * factor[by_column ? j : 0] + shift);
      }
    });
    Matrix between;
    between.data = quantised.data();
    between.dtype = ACL_INT8;
    between.rows = x.rows;
    between.cols = job_.hidden;
    between.row.stride = job_.hidden;
    between.col.stride = 1;
    StoredRows sink;
    sink.out = target;
    sink.bias = biases[1].empty() ? nullptr : biases[1].data();
    sink.scale = scales[1].data();
    gemm_i32(between, matrix_stack(of_expert(job_.weight[1], expert)).first, sink);
  }

  static int8_t nearest_int8(float value) {
    if (!(value == value)) return 0;
    return static_cast<int8_t>(std::nearbyintf(std::min(127.0f, std::max(-128.0f, value))));
  }

  const FfnJob &job_;
  PlanContext &c_;
};

Status plan_ffn(const FfnCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  FfnProblem p;
  p.call = c;
  if (const Status status = check_ffn(&p)) return status;
  auto job = std::make_shared<FfnJob>();
  job->op = c.op;
  job->tokens_name = c.names[0];
  job->mode = p.mode;
  job->experts = p.experts;
  job->ends = c.ends;
  job->rounds_first = p.mode == FfnMode::kFloat && c.precision == 1;
  job->groups = p.groups;
  job->rows = p.rows;
  job->width = p.width;
  job->hidden = p.hidden;
  job->activation = p.activation;
  if (c.token_array) job->token_array = c.token_array->values;
  PlanBuilder plan(c.op);
  plan.phase_two_code(kInner);
  job->x = plan.input(c.x);
  for (int i = 0; i < 2; ++i) job->weight[i] = plan.input(c.weight[i]);
  job->tokens = c.tensor_tokens ? plan.input(c.token_tensor) : plan.input_if(nullptr);
  for (int i = 0; i < 2; ++i) job->bias[i] = plan.input(c.bias[i]);
  job->scale = plan.input(c.scale);
  job->offset = plan.input(c.offset);
  for (int i = 0; i < 2; ++i) job->dequant[i] = plan.input(c.dequant[i]);
  for (int i = 0; i < 2; ++i) job->antiquant_scale[i] = plan.input(c.antiquant_scale[i]);
  for (int i = 0; i < 2; ++i) job->antiquant_offset[i] = plan.input(c.antiquant_offset[i]);
  job->y = plan.output(c.y);
  return plan.finish([job](PlanContext &context) { return FfnRun(*job, context).run(); },
                     workspace_size, executor);
}

constexpr const char *kOptionalNames[] = {
    "expertTokensOptional",
    "bias1Optional",
    "bias2Optional",
    "scaleOptional",
    "offsetOptional",
    "deqScale1Optional",
    "deqScale2Optional",
    "antiquantScale1Optional",
    "antiquantScale2Optional",
    "antiquantOffset1Optional",
    "antiquantOffset2Optional",
};
constexpr const char *kPlainNames[] = {
    "expertTokens",     "bias1",     "bias2",           "scale",           "offset",
    "deqScale1",        "deqScale2", "antiquantScale1", "antiquantScale2", "antiquantOffset1",
    "antiquantOffset2",
};

}  // namespace
}  // namespace emu

#define FFN_OPTIONALS                                                                             \
  const aclTensor *bias1Optional, const aclTensor *bias2Optional, const aclTensor *scaleOptional, \
      const aclTensor *offsetOptional, const aclTensor *deqScale1Optional,                        \
      const aclTensor *deqScale2Optional, const aclTensor *antiquantScale1Optional,               \
      const aclTensor *antiquantScale2Optional, const aclTensor *antiquantOffset1Optional,        \
      const aclTensor *antiquantOffset2Optional, const char *activation, int64_t innerPrecise
#define FFN_OPTIONAL_VALUES                                                                       \
  {bias1Optional, bias2Optional}, scaleOptional, offsetOptional,                                  \
      {deqScale1Optional, deqScale2Optional}, {antiquantScale1Optional, antiquantScale2Optional}, \
      {antiquantOffset1Optional, antiquantOffset2Optional}, activation, innerPrecise

EMU_OPERATOR(FFN, (const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2,
                   const aclIntArray *expertTokensOptional, FFN_OPTIONALS, aclTensor *y)) {
  return emu::plan_ffn({"aclnnFFN",
                        emu::kOptionalNames,
                        x,
                        {weight1, weight2},
                        expertTokensOptional,
                        nullptr,
                        false,
                        FFN_OPTIONAL_VALUES,
                        false,
                        y},
                       workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FFNV2,
             (const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2,
              const aclIntArray *expertTokens, const aclTensor *bias1, const aclTensor *bias2,
              const aclTensor *scale, const aclTensor *offset, const aclTensor *deqScale1,
              const aclTensor *deqScale2, const aclTensor *antiquantScale1,
              const aclTensor *antiquantScale2, const aclTensor *antiquantOffset1,
              const aclTensor *antiquantOffset2, const char *activation, int64_t innerPrecise,
              bool tokensIndexFlag, aclTensor *y)) {
  return emu::plan_ffn({"aclnnFFNV2",
                        emu::kPlainNames,
                        x,
                        {weight1, weight2},
                        expertTokens,
                        nullptr,
                        false,
                        {bias1, bias2},
                        scale,
                        offset,
                        {deqScale1, deqScale2},
                        {antiquantScale1, antiquantScale2},
                        {antiquantOffset1, antiquantOffset2},
                        activation,
                        innerPrecise,
                        tokensIndexFlag,
                        y},
                       workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FFNV3, (const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2,
                     const aclTensor *expertTokensOptional, FFN_OPTIONALS, bool tokensIndexFlag,
                     aclTensor *y)) {
  return emu::plan_ffn({"aclnnFFNV3",
                        emu::kOptionalNames,
                        x,
                        {weight1, weight2},
                        nullptr,
                        expertTokensOptional,
                        true,
                        FFN_OPTIONAL_VALUES,
                        tokensIndexFlag,
                        y},
                       workspaceSize, executor);
}
EMU_CATCH
