// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Keys and values of native sparse attention, compressed: each window of tokens becomes the sum of
// its tokens by the weights of their places and heads. Sums are float32 and rounded once.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/sequences.h"

namespace emu {
namespace {

constexpr int64_t kUnit = 16, kWidest = 256, kMostHeads = 128, kLongestWindow = 128;
constexpr int64_t kCachedHeads = 64, kEvenHeads = 50, kLongestCached = 64;

struct Window {
  int64_t batch, first, to;  // its first token in the sequence, and the row it becomes
};

// Each window as a row of `out`, read from the tokens of its sequence.
int64_t windows_in(int64_t tokens, int64_t block, int64_t stride) {
  return tokens < block ? 0 : (tokens - block) / stride + 1;
}

void compress(const std::vector<Window> &windows, const TokenReader &tokens,
              const std::vector<float> &weight, int64_t length, int64_t heads, const Heads &out) {
  const int64_t width = tokens.width();
  const auto count = static_cast<int64_t>(windows.size());
  parallel_for(count * heads, 16, [&](int64_t begin, int64_t end) {
    std::vector<float> token(static_cast<size_t>(width)), sum(token.size());
    for (int64_t task = begin; task < end; ++task) {
      const Window &w = windows[static_cast<size_t>(task / heads)];
      const int64_t head = task % heads;
      std::fill(sum.begin(), sum.end(), 0.0f);
      for (int64_t i = 0; i < length; ++i) {
        tokens.load(w.batch, head, w.first + i, token.data());
        const float factor = weight[static_cast<size_t>(i * heads + head)];
        for (size_t j = 0; j < sum.size(); ++j) sum[j] += factor * token[j];
      }
      store_f32(sum.data(), const_cast<char *>(out.data), out.dtype, out.at(0, head, w.to),
                out.item, width);
    }
  });
}

void check_window(Check &check, const aclTensor *weight, int64_t length, int64_t stride,
                  int64_t longest) {
  check.that(length >= kUnit && length % kUnit == 0 && length <= longest,
             "compressBlockSize is %" PRId64 "; allowed: multiples of 16 up to %" PRId64, length,
             longest);
  check.that(stride >= kUnit && stride % kUnit == 0 && stride <= length,
             "compressStride is %" PRId64
             "; allowed: multiples of 16 up to compressBlockSize, "
             "%" PRId64,
             stride, length);
  check.that(check.ok() && weight->shape[0] == length,
             "weight has shape %s; its rows must be compressBlockSize, %" PRId64,
             shape_text(layout_of(*weight)).c_str(), length);
}

void check_dtypes(Check &check, const aclTensor *input, const aclTensor *weight,
                  const char *out_name, const aclTensor *out) {
  check.dtype("input", input).dtype("weight", weight).dtype(out_name, out);
  if (!check.ok()) return;
  check.same_dtype("weight", weight->dtype, "input", input->dtype);
  check.same_dtype(out_name, out->dtype, "input", input->dtype);
  check.rank("weight", weight, 2, 2).rank(out_name, out, 3, 3);
  check.that(input->numel() != 0 && weight->numel() != 0, "input or weight is empty");
}

// The list as starts and lengths of the sequences.
Sequences sequences_of(const aclIntArray &list, bool ends, int64_t tokens, Check &check) {
  Sequences s;
  int64_t last = 0;
  for (size_t b = 0; check.ok() && b < list.values.size(); ++b) {
    const int64_t value = list.values[b], least = ends ? last : 0;
    check.that(value >= least && value - least <= tokens - last,
               "actSeqLenOptional[%zu] is %" PRId64 "; the sequences must lie within %" PRId64
               " tokens",
               b, value, tokens);
    if (!check.ok()) break;
    const int64_t length = value - least;
    s.starts.push_back(last);
    s.lengths.push_back(length);
    last += length;
  }
  return s;
}

struct CachedCompress {
  SequenceForm input;
  Sequences sequences;
  int64_t length = 0, stride = 0, rows = 0;
  size_t input_at, weight_at, slots_at, table_at, out_at;
};

// A sequence whose last tokens fill a window gets one row more in the cache.
Status run_cached(const CachedCompress &x, PlanContext &c) {
  PageTable pages;
  const char *op = "aclnnNsaCompressWithCache";
  if (const Status s = read_page_table(op, c, x.table_at, x.input, x.sequences, &pages)) return s;
  const std::vector<int64_t> slots = read_all<int64_t>(c, x.slots_at, x.input.batch, 0);
  std::vector<Window> windows;
  for (int64_t b = 0; b < x.input.batch; ++b) {
    const int64_t before = x.sequences.lengths[static_cast<size_t>(b)] - x.length;
    if (before < 0 || before % x.stride != 0) continue;
    const int64_t slot = slots[static_cast<size_t>(b)];
    if (slot < 0 || slot >= x.rows) {
      return fail(kKernelFault,
                  "%s: slotMapping has %lld for sequence %lld; the cache has %lld "
                  "rows",
                  op, static_cast<long long>(slot), static_cast<long long>(b),
                  static_cast<long long>(x.rows));
    }
    windows.push_back({b, before, slot});
  }
  Operands operands;
  const View out = view_of(c.tensor(x.out_at));
  const TokenReader tokens(operands.safe(view_of(c.tensor(x.input_at)), {out}), x.input,
                           x.sequences, &pages);
  const std::vector<float> weight = read_all<float>(c, x.weight_at, x.length * x.input.heads, 0.0f);
  compress(windows, tokens, weight, x.length, x.input.heads,
           heads_of(out, Arrangement::kPacked, x.input.width));
  return 0;
}

struct CompressBack {
  Sequences sequences;
  int64_t tokens = 0, heads = 0, width = 0, length = 0, stride = 0;
  size_t dy_at, input_at, weight_at, dx_at, dw_at;
};

// A token has a part in each window it lies in, a weight in all windows of its head.
Status run_compress_back(const CompressBack &x, PlanContext &c) {
  const View dx = view_of(c.tensor(x.dx_at)), dw = view_of(c.tensor(x.dw_at));
  Operands operands;
  const auto heads = [&](size_t at) {
    return heads_of(operands.safe(view_of(c.tensor(at)), {dx, dw}), Arrangement::kPacked, x.width);
  };
  const Heads dy = heads(x.dy_at), input = heads(x.input_at),
              to = heads_of(dx, Arrangement::kPacked, x.width);
  const std::vector<float> weight = read_all<float>(c, x.weight_at, x.length * x.heads, 0.0f);
  std::vector<float> slopes(weight.size());
  parallel_for(x.heads, 1, [&](int64_t begin, int64_t end) {
    const auto width = static_cast<size_t>(x.width);
    std::vector<float> sums(static_cast<size_t>(x.tokens) * width), row(width), token(width);
    for (int64_t head = begin; head < end; ++head) {
      std::vector<double> along(static_cast<size_t>(x.length), 0.0);
      std::fill(sums.begin(), sums.end(), 0.0f);
      int64_t from = 0;
      for (size_t b = 0; b < x.sequences.lengths.size(); ++b) {
        const int64_t count = windows_in(x.sequences.lengths[b], x.length, x.stride);
        for (int64_t i = 0; i < count; ++i, ++from) {
          const int64_t first = x.sequences.starts[b] + i * x.stride;
          load_head(dy, dy.at(0, head, from), x.width, row.data());
          for (int64_t j = 0; j < x.length; ++j) {
            load_head(input, input.at(0, head, first + j), x.width, token.data());
            const float factor = weight[static_cast<size_t>(j * x.heads + head)];
            float *sum = sums.data() + (first + j) * x.width;
            double dot = 0.0;
            for (size_t d = 0; d < width; ++d) {
              sum[d] += factor * row[d];
              dot += static_cast<double>(token[d]) * row[d];
            }
            along[static_cast<size_t>(j)] += dot;
          }
        }
      }
      for (int64_t t = 0; t < x.tokens; ++t)
        store_f32(sums.data() + t * x.width, const_cast<char *>(to.data), to.dtype,
                  to.at(0, head, t), to.item, x.width);
      for (int64_t j = 0; j < x.length; ++j)
        slopes[static_cast<size_t>(j * x.heads + head)] =
            static_cast<float>(along[static_cast<size_t>(j)]);
    }
  });
  RowTarget<float>(dw).write(0, x.length * x.heads, slopes.data());
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(NsaCompress,
             (const aclTensor *input, const aclTensor *weight, const aclIntArray *actSeqLenOptional,
              const char *layoutOptional, int64_t compressBlockSize, int64_t compressStride,
              int64_t actSeqLenType, aclTensor *output)) {
  emu::Check check("aclnnNsaCompress");
  check.required("input", input)
      .required("weight", weight)
      .required("actSeqLenOptional", actSeqLenOptional)
      .required("output", output);
  emu::check_dtypes(check, input, weight, "output", output);
  if (!check.ok()) return check.status();
  const char *layout = layoutOptional ? layoutOptional : "TND";
  check.that(std::strcmp(layout, "TND") == 0, "layoutOptional is \"%.40s\"; allowed: TND", layout);
  check.rank("input", input, 3, 3);
  check.that(check.ok() && input->shape[1] == weight->shape[1],
             "weight has shape %s and input %s; the number of heads must be equal",
             emu::shape_text(emu::layout_of(*weight)).c_str(),
             emu::shape_text(emu::layout_of(*input)).c_str());
  check.tiling();
  if (check.ok())
    emu::check_window(check, weight, compressBlockSize, compressStride, emu::kLongestWindow);
  check.that(actSeqLenType == 0, "actSeqLenType is %" PRId64 "; allowed: 0", actSeqLenType);
  if (!check.ok()) return check.status();
  const int64_t tokens = input->shape[0], heads = input->shape[1], width = input->shape[2];
  check.that(heads <= emu::kMostHeads, "input has %" PRId64 " heads; at most 128 are allowed",
             heads);
  check.that(width % emu::kUnit == 0 && width <= emu::kWidest,
             "input has heads of %" PRId64 " elements; allowed: multiples of 16 up to 256", width);
  const auto &ends = actSeqLenOptional->values;
  check.that(!ends.empty() && ends.back() == tokens,
             "actSeqLenOptional must end with the tokens of input, %" PRId64, tokens);
  const auto sequences = std::make_shared<emu::Sequences>(
      check.ok() ? emu::sequences_of(*actSeqLenOptional, true, tokens, check) : emu::Sequences());
  int64_t count = 0;
  for (size_t b = 0; check.ok() && b < sequences->lengths.size(); ++b)
    count += emu::windows_in(sequences->lengths[b], compressBlockSize, compressStride);
  const int64_t shape[] = {count, heads, width};
  if (check.ok()) check.shape("output", output, emu::dense_layout(shape, 3));
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan("aclnnNsaCompress");
  const size_t from = plan.input(input), by = plan.input(weight), to = plan.output(output);
  const emu::SequenceForm form{true,   false, static_cast<int64_t>(ends.size()),
                               tokens, heads, width};
  return plan.finish(
      [=](emu::PlanContext &c) {
        std::vector<emu::Window> windows;
        windows.reserve(static_cast<size_t>(count));
        for (size_t b = 0; b < sequences->lengths.size(); ++b) {
          const int64_t here =
              emu::windows_in(sequences->lengths[b], compressBlockSize, compressStride);
          for (int64_t i = 0; i < here; ++i) {
            windows.push_back({static_cast<int64_t>(b), i * compressStride,
                               static_cast<int64_t>(windows.size())});
          }
        }
        emu::Operands operands;
        const emu::View out = emu::view_of(c.tensor(to));
        const emu::TokenReader reader(operands.safe(emu::view_of(c.tensor(from)), {out}), form,
                                      *sequences, nullptr);
        emu::compress(windows, reader, emu::read_all<float>(c, by, compressBlockSize * heads, 0.0f),
                      compressBlockSize, heads,
                      emu::heads_of(out, emu::Arrangement::kPacked, width));
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NsaCompressWithCache,
             (const aclTensor *input, const aclTensor *weight, const aclTensor *slotMapping,
              const aclIntArray *actSeqLenOptional, const aclTensor *blockTableOptional,
              const char *layoutOptional, int64_t compressBlockSize, int64_t compressStride,
              int64_t actSeqLenType, int64_t pageBlockSize, aclTensor *outputCache)) {
  emu::Check check("aclnnNsaCompressWithCache");
  check.required("input", input)
      .required("weight", weight)
      .required("slotMapping", slotMapping)
      .optional("actSeqLenOptional", actSeqLenOptional)
      .optional("blockTableOptional", blockTableOptional)
      .required("outputCache", outputCache)
      .dtype("slotMapping", slotMapping)
      .dtype("blockTableOptional", blockTableOptional);
  emu::check_dtypes(check, input, weight, "outputCache", outputCache);
  if (!check.ok()) return check.status();
  check.that(outputCache->numel() != 0, "outputCache is empty");
  check.rank("slotMapping", slotMapping, 1, 1);
  check.tiling();
  if (!check.ok()) return check.status();
  const bool paged = blockTableOptional != nullptr;
  const char *layout = layoutOptional ? layoutOptional : "TND";
  auto x = std::make_shared<emu::CachedCompress>();
  x->input = emu::sequence_form(check, "input", input, "layoutOptional", paged ? "pages" : layout,
                                "pages");
  check.that(x->input.packed || x->input.paged, "layoutOptional is \"%.40s\"; allowed: TND",
             layout);
  if (!check.ok()) return check.status();
  emu::check_window(check, weight, compressBlockSize, compressStride, emu::kLongestCached);
  const int64_t heads = x->input.heads, width = x->input.width;
  check.that(heads == weight->shape[1],
             "weight has shape %s; its columns must be the heads of input, %" PRId64,
             emu::shape_text(emu::layout_of(*weight)).c_str(), heads);
  check.that(heads <= emu::kCachedHeads && (heads <= emu::kEvenHeads || heads % 2 == 0),
             "input has %" PRId64 " heads; allowed: 1 to 50, and even numbers up to 64", heads);
  check.that(width % emu::kUnit == 0 && width <= emu::kWidest,
             "input has heads of %" PRId64 " elements; allowed: multiples of 16 up to 256", width);
  check.that(actSeqLenType == 1, "actSeqLenType is %" PRId64 "; allowed: 1", actSeqLenType);
  check.that(
      !paged || ((pageBlockSize == 64 || pageBlockSize == 128) && pageBlockSize == x->input.tokens),
      "pageBlockSize is %" PRId64 " and input has pages of %" PRId64
      " tokens; both must be 64 or 128",
      pageBlockSize, x->input.tokens);
  check.that(actSeqLenOptional != nullptr,
             "actSeqLenOptional is null; it says where the last window of a sequence is");
  if (!check.ok()) return check.status();
  x->input.batch = slotMapping->shape[0];
  check.that(static_cast<int64_t>(actSeqLenOptional->values.size()) == x->input.batch,
             "actSeqLenOptional has %zu lengths and slotMapping %" PRId64 " slots",
             actSeqLenOptional->values.size(), x->input.batch);
  emu::check_pages(check, "blockTableOptional", blockTableOptional, x->input.batch, &x->input);
  if (!check.ok()) return check.status();
  if (paged) {
    const int64_t room = x->input.table_width * x->input.tokens;
    for (size_t b = 0; check.ok() && b < actSeqLenOptional->values.size(); ++b) {
      const int64_t length = actSeqLenOptional->values[b];
      check.that(length >= 0 && length <= room,
                 "actSeqLenOptional[%zu] is %" PRId64 "; allowed: 0 to %" PRId64, b, length, room);
      x->sequences.starts.push_back(0);
      x->sequences.lengths.push_back(length);
    }
  } else {
    x->sequences = emu::sequences_of(*actSeqLenOptional, false, x->input.tokens, check);
  }
  x->rows = outputCache->shape[0];
  check.that(outputCache->shape[1] == heads && outputCache->shape[2] == width,
             "outputCache has shape %s; its rows must have the heads of input, (%" PRId64
             ", %" PRId64 ")",
             emu::shape_text(emu::layout_of(*outputCache)).c_str(), heads, width);
  if (!check.ok()) return check.status();
  x->length = compressBlockSize;
  x->stride = compressStride;
  emu::PlanBuilder plan("aclnnNsaCompressWithCache");
  x->input_at = plan.input(input);
  x->weight_at = plan.input(weight);
  x->slots_at = plan.input(slotMapping);
  x->table_at = plan.input(blockTableOptional);
  x->out_at = plan.in_place(outputCache);
  const std::shared_ptr<const emu::CachedCompress> kept = x;
  return plan.finish([kept](emu::PlanContext &c) { return emu::run_cached(*kept, c); },
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NsaCompressGrad,
             (const aclTensor *outputGrad, const aclTensor *input, const aclTensor *weight,
              const aclIntArray *actSeqLenOptionalOptional, int64_t compressBlockSize,
              int64_t compressStride, int64_t actSeqLenType, const char *layoutOptionalOptional,
              aclTensor *inputGradOut, aclTensor *weightGradOut)) {
  emu::Check check("aclnnNsaCompressGrad");
  check.required("outputGrad", outputGrad)
      .required("input", input)
      .required("weight", weight)
      .required("actSeqLenOptionalOptional", actSeqLenOptionalOptional)
      .required("inputGradOut", inputGradOut)
      .required("weightGradOut", weightGradOut);
  emu::check_dtypes(check, input, weight, "outputGrad", outputGrad);
  check.dtype("inputGradOut", inputGradOut).dtype("weightGradOut", weightGradOut);
  if (!check.ok()) return check.status();
  check.same_dtype("inputGradOut", inputGradOut->dtype, "input", input->dtype)
      .same_dtype("weightGradOut", weightGradOut->dtype, "input", input->dtype);
  const char *layout = layoutOptionalOptional ? layoutOptionalOptional : "TND";
  check.that(std::strcmp(layout, "TND") == 0, "layoutOptionalOptional is \"%.40s\"; allowed: TND",
             layout);
  check.rank("input", input, 3, 3);
  check.that(check.ok() && input->shape[1] == weight->shape[1],
             "weight has shape %s and input %s; the number of heads must be equal",
             emu::shape_text(emu::layout_of(*weight)).c_str(),
             emu::shape_text(emu::layout_of(*input)).c_str());
  check.tiling();
  if (check.ok())
    emu::check_window(check, weight, compressBlockSize, compressStride, emu::kLongestWindow);
  check.that(actSeqLenType == 0, "actSeqLenType is %" PRId64 "; allowed: 0", actSeqLenType);
  if (!check.ok()) return check.status();
  auto x = std::make_shared<emu::CompressBack>();
  x->tokens = input->shape[0];
  x->heads = input->shape[1];
  x->width = input->shape[2];
  x->length = compressBlockSize;
  x->stride = compressStride;
  check.that(x->heads <= emu::kMostHeads, "input has %" PRId64 " heads; at most 128 are allowed",
             x->heads);
  check.that(x->width % emu::kUnit == 0 && x->width <= emu::kWidest,
             "input has heads of %" PRId64 " elements; allowed: multiples of 16 up to 256",
             x->width);
  const auto &ends = actSeqLenOptionalOptional->values;
  check.that(!ends.empty() && ends.back() == x->tokens,
             "actSeqLenOptionalOptional must end with the tokens of input, %" PRId64, x->tokens);
  if (check.ok())
    x->sequences = emu::sequences_of(*actSeqLenOptionalOptional, true, x->tokens, check);
  int64_t count = 0;
  for (size_t b = 0; check.ok() && b < x->sequences.lengths.size(); ++b)
    count += emu::windows_in(x->sequences.lengths[b], compressBlockSize, compressStride);
  const int64_t shape[] = {count, x->heads, x->width};
  if (check.ok()) check.shape("outputGrad", outputGrad, emu::dense_layout(shape, 3));
  check.shape("inputGradOut", inputGradOut, emu::layout_of(*input))
      .shape("weightGradOut", weightGradOut, emu::layout_of(*weight));
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan("aclnnNsaCompressGrad");
  x->dy_at = plan.input(outputGrad);
  x->input_at = plan.input(input);
  x->weight_at = plan.input(weight);
  x->dx_at = plan.output(inputGradOut);
  x->dw_at = plan.output(weightGradOut);
  const std::shared_ptr<const emu::CompressBack> kept = x;
  return plan.finish([kept](emu::PlanContext &c) { return emu::run_compress_back(*kept, c); },
                     workspaceSize, executor);
}
EMU_CATCH
