// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Dropout. A mask has one bit for each element, from the lowest bit of a byte on, and ends at a
// multiple of 128 bits: bit i is 1, and element i kept, where number `offset + i` of the sequence
// of the seed is not below the probability of a zero. The bits that stand for no element are drawn
// like the others; DropoutV3 leaves them 0.
#include <algorithm>

#include "aclnnop/math.h"
#include "aclnnop/random.h"
#include "ops/block_kernels.h"
#include "ops/random/draw.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMaskUnit = 128;          // a mask is a multiple of so many bits
constexpr int64_t kMaskBlock = kBlock / 8;  // bytes

// Bytes of the mask of so many elements.
Checked mask_bytes(int64_t elements) {
  const int64_t units = elements / kMaskUnit + (elements % kMaskUnit != 0 ? 1 : 0);
  return Checked(units) * (kMaskUnit / 8);
}

void check_mask(Check &check, const char *name, const aclTensor *mask, int64_t elements) {
  if (!check.ok()) return;
  const int64_t expected = check.size(name, mask_bytes(elements));
  check.that(mask->numel() == expected,
             "%s has shape %s; expected %lld bytes, one bit for each of %lld elements up to a "
             "multiple of 128",
             name, shape_text(layout_of(*mask)).c_str(), static_cast<long long>(expected),
             static_cast<long long>(elements));
}

void check_probability(Check &check, const char *name, double prob) {
  check.that(prob >= 0 && prob <= 1, "%s is %g; it must be from 0 to 1", name, prob);
}

// --- masks

// The bytes of elements [start, start + count), the rest of `bytes` 0.
void draw_mask(const RandomPlace &place, double prob, int64_t start, int64_t count,
               int32_t *bytes) {
  constexpr int64_t kWord = 64;
  const uint64_t position = place.offset + static_cast<uint64_t>(start);
  const uint64_t side = position % 2;  // the first bit belongs to no element
  // unit_of(word) >= prob, in whole numbers.
  const auto least = static_cast<uint64_t>(std::ceil(prob * 0x1p53));
  uint64_t bits[kBlock / kWord + 1] = {};
  const int64_t pairs = (count + static_cast<int64_t>(side) + 1) / 2;
  word_kernels().compare(place.seed, position / 2, pairs, least, bits);
  for (int64_t first = 0; first < kBlock; first += kWord) {
    const uint64_t *word = bits + first / kWord;
    uint64_t kept = side == 0 ? word[0] : word[0] >> 1 | word[1] << 63;
    const int64_t rest = count - first;
    if (rest < kWord) kept &= rest <= 0 ? 0 : (uint64_t{1} << rest) - 1;
    for (int64_t at = 0; at < kWord / 8; ++at)
      bytes[first / 8 + at] = static_cast<int32_t>(kept >> 8 * at & 0xff);
  }
}

// Calls body(start, count, first byte, bytes) for the elements and the mask, block by block.
template <class F>
void for_each_mask_block(int64_t elements, F &&body) {
  const int64_t bytes = mask_bytes(elements).value();
  parallel_for((bytes + kMaskBlock - 1) / kMaskBlock, 16, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t start = block * kBlock, first = block * kMaskBlock;
      body(start, std::min(kBlock, elements - start), first, std::min(kMaskBlock, bytes - first));
    }
  });
}

struct MaskCall {
  const char *op;
  const aclIntArray *shape;
  double prob;
  RandomPlace place;
  const aclTensor *seed, *offset;  // null: numbers
  aclDataType dtype;
  aclTensor *out;
};

Status plan_mask(const MaskCall &a, Check &check, uint64_t *workspace_size,
                 aclOpExecutor **executor) {
  check.dtype("out", a.out).dtype_in("probDataType", a.dtype, dt::kFloat);
  check_probability(check, "prob", a.prob);
  if (!check.ok()) return check.status();
  Checked count = 1;
  for (const int64_t extent : a.shape->values) {
    check.that(extent >= 0, "shape has an extent of %lld; it must be 0 or more",
               static_cast<long long>(extent));
    count *= extent;
  }
  const int64_t elements = check.size("shape", count);
  check.rank("out", a.out, 1, 1);
  check_mask(check, "out", a.out, elements);
  // The 910B compares with the probability as a number of its dtype.
  const double prob = chip_is_950() ? a.prob : rounded(static_cast<float>(a.prob), a.dtype);
  return plan_filled(
      check, a.out, a.place, a.seed, a.offset,
      [=](const View &out, const RandomPlace &place) {
        const RowTarget<int32_t> to(out);
        for_each_mask_block(elements, [&](int64_t start, int64_t, int64_t first, int64_t n) {
          int32_t bytes[kMaskBlock];
          draw_mask(place, prob, start, 8 * n, bytes);
          to.write(first, n, bytes);
        });
      },
      workspace_size, executor);
}

// --- elements

// What happens to elements.
enum class Masking {
  kCopy,      // all are kept as they are
  kZero,      // none are
  kSelect,    // those with a bit are scaled, the others become 0
  kMultiply,  // all are multiplied by their bit and by the scale: what is not finite stays so
};

void mask_block(const float *x, int64_t count, const int32_t *bytes, Masking how, float scale,
                float *to) {
  if (how == Masking::kCopy) std::copy_n(x, count, to);
  if (how == Masking::kZero) std::fill_n(to, count, 0.0f);
  if (how == Masking::kSelect) block_kernels().keep_marked(x, count, bytes, scale, to);
  if (how != Masking::kMultiply) return;
  alignas(64) float bits[kBlock];
  for (int64_t at = 0; at < (count + 7) / 8; ++at) {
    for (int bit = 0; bit < 8; ++bit) bits[8 * at + bit] = static_cast<float>(bytes[at] >> bit & 1);
  }
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] * bits[i] * scale;
}

// Masking::kCopy and kZero.
void fill_plainly(const View &from, const View &to, Masking how) {
  if (how == Masking::kCopy) {
    Operands operands;
    return copy_view(operands.safe(from, {to}), to);
  }
  const int64_t zero = 0;
  fill_view(to, &zero);
}

struct ApplyCall {
  const char *op, *input_name, *out_name;
  const aclTensor *input, *mask;
  aclTensor *out;
  Masking how;
  float scale;
  bool third = false;  // DropoutV3: a tensor that must be null comes after the input
};

void check_elements(Check &check, const ApplyCall &a, const char *mask_name, int lowest_rank) {
  check.dtype(a.input_name, a.input).dtype(mask_name, a.mask).dtype(a.out_name, a.out);
  check.rank(a.input_name, a.input, lowest_rank, 8);
  if (check.ok()) check.shape(a.out_name, a.out, layout_of(*a.input));
  if (check.ok()) check_mask(check, mask_name, a.mask, a.input->numel());
}

Status plan_apply(const ApplyCall &a, Check &check, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const bool plainly = a.how == Masking::kCopy || a.how == Masking::kZero;
  const size_t from = plan.input(a.input);
  const size_t masks = plainly ? plan.unused(a.mask) : plan.input(a.mask);
  const size_t to = plan.output(a.out);
  const Masking how = a.how;
  const float scale = a.scale;
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to)), input = view_of(c.tensor(from));
        if (plainly) {
          fill_plainly(input, result, how);
          return Status{0};
        }
        Operands operands;
        const RowSource<float> source(operands.safe(input, {result}));
        const RowSource<int32_t> bits(operands.safe(view_of(c.tensor(masks)), {result}));
        const RowTarget<float> target(result);
        for_each_mask_block(result.count(),
                            [&](int64_t start, int64_t count, int64_t first, int64_t n) {
                              alignas(64) float memory[kBlock];
                              int32_t bytes[kMaskBlock];
                              const float *x = source.row(start, count, memory);
                              float *made = target.row(start, memory);
                              bits.read(first, n, bytes);
                              mask_block(x, count, bytes, how, scale, made);
                              target.write(start, count, made);
                            });
        return Status{0};
      },
      workspace_size, executor);
}

// The kernel is given the probability of an element that is kept, as a number of the dtype of the
// input, and multiplies by its reciprocal.
struct Kept {
  Masking how;
  float scale;
};

Kept kept_of(double prob, const aclTensor *input) {
  // What the checks refuse has no share to be kept.
  const bool sound = input != nullptr && live(input) && contains(dt::kFloat, input->dtype);
  if (prob == 0 || !sound) return {Masking::kCopy, 1};
  if (prob == 1) return {Masking::kZero, 0};
  const auto kept =
      static_cast<float>(rounded(static_cast<double>(static_cast<float>(1 - prob)), input->dtype));
  if (kept == 0) return {Masking::kZero, 0};
  // The 950's kernel does not read the mask then.
  if (kept == 1 && chip_is_950()) return {Masking::kCopy, 1};
  return {Masking::kSelect, 1 / kept};
}

// Draws a mask and applies it. Where nothing is drawn, the mask is not touched; DropoutV3 fills it.
Status plan_dropout(const ApplyCall &a, double prob, const RandomPlace &place, Check &check,
                    uint64_t *workspace_size, aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  plan.not_repeatable();
  const bool draws = prob > 0 && prob < 1, third = a.third;
  const size_t from = plan.input(a.input);
  if (third) plan.input(nullptr);
  const size_t to = plan.output(a.out);
  const size_t masks = draws || third ? plan.output(a.mask) : plan.unused(a.mask);
  const Masking how = a.how;
  const float scale = a.scale;
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to)), input = view_of(c.tensor(from));
        if (!draws) {
          fill_plainly(input, result, how);
          const int64_t bits = how == Masking::kCopy ? 0xff : 0;
          if (third) fill_view(view_of(c.tensor(masks)), &bits);
          return Status{0};
        }
        const View mask = view_of(c.tensor(masks));
        Operands operands;
        const RowSource<float> source(operands.safe(input, {result, mask}));
        const RowTarget<float> target(result);
        const RowTarget<int32_t> drawn(mask);
        for_each_mask_block(result.count(),
                            [&](int64_t start, int64_t count, int64_t first, int64_t n) {
                              alignas(64) float memory[kBlock];
                              int32_t bytes[kMaskBlock];
                              draw_mask(place, prob, start, third ? count : 8 * n, bytes);
                              drawn.write(first, n, bytes);
                              const float *x = source.row(start, count, memory);
                              float *made = target.row(start, memory);
                              mask_block(x, count, bytes, how, scale, made);
                              target.write(start, count, made);
                            });
        return Status{0};
      },
      workspace_size, executor);
}

RandomPlace dropout_place(int64_t seed, int64_t offset) {
  return {static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)};
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DropoutGenMask, (const aclIntArray *shape, double prob, int64_t seed, int64_t offset,
                              aclTensor *out)) {
  emu::Check check("aclnnDropoutGenMask");
  check.required("shape", shape).required("out", out);
  return emu::plan_mask(
      {check.op(), shape, prob, emu::dropout_place(seed, offset), nullptr, nullptr, ACL_FLOAT, out},
      check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DropoutGenMaskV2, (const aclIntArray *shape, double prob, int64_t seed, int64_t offset,
                                aclDataType probDataType, aclTensor *out)) {
  emu::Check check("aclnnDropoutGenMaskV2");
  check.required("shape", shape).required("out", out);
  return emu::plan_mask({check.op(), shape, prob, emu::dropout_place(seed, offset), nullptr,
                         nullptr, probDataType, out},
                        check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DropoutGenMaskV2Tensor, (const aclIntArray *shape, double prob,
                                      const aclTensor *seedTensor, const aclTensor *offsetTensor,
                                      int64_t offset, aclDataType probDataType, aclTensor *out)) {
  emu::Check check("aclnnDropoutGenMaskV2Tensor");
  check.required("shape", shape).required("out", out);
  emu::check_place(check, seedTensor, offsetTensor);
  return emu::plan_mask({check.op(), shape, prob, emu::dropout_place(0, offset), seedTensor,
                         offsetTensor, probDataType, out},
                        check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DropoutDoMask,
             (const aclTensor *self, const aclTensor *mask, double prob, aclTensor *out)) {
  const emu::Kept kept = emu::kept_of(prob, self);
  const emu::ApplyCall call{
      "aclnnDropoutDoMask", "self", "out", self, mask, out, kept.how, kept.scale};
  emu::Check check(call.op);
  check.required("self", self).required("mask", mask).required("out", out);
  emu::check_elements(check, call, "mask", 0);
  emu::check_probability(check, "prob", prob);
  return emu::plan_apply(call, check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DropoutBackward,
             (const aclTensor *gradOutput, const aclTensor *mask, double scale, aclTensor *out)) {
  const emu::Kept kept = emu::kept_of(scale == 0 ? 1 : 1 - 1 / scale, gradOutput);
  const emu::ApplyCall call{
      "aclnnDropoutBackward", "gradOutput", "out", gradOutput, mask, out, kept.how, kept.scale};
  emu::Check check(call.op);
  check.required("gradOutput", gradOutput).required("mask", mask).required("out", out);
  emu::check_elements(check, call, "mask", 1);
  check.that(scale == 0 || scale >= 1, "scale is %g; it must be 0, or 1 or more", scale);
  return emu::plan_apply(call, check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DropoutV3Grad,
             (const aclTensor *gradY, const aclTensor *mask, double scale, aclTensor *gradX)) {
  const emu::ApplyCall call{
      "aclnnDropoutV3Grad",     "gradY", "gradX", gradY, mask, gradX, emu::Masking::kMultiply,
      static_cast<float>(scale)};
  emu::Check check(call.op);
  check.required("gradY", gradY).required("mask", mask).required("gradX", gradX);
  if (const emu::Status s = emu::check_chip(check, emu::kInvalid)) return s;
  emu::check_elements(check, call, "mask", 0);
  return emu::plan_apply(call, check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Dropout, (const aclTensor *input, double p, bool train, int64_t seed, int64_t offset,
                       aclTensor *out, aclTensor *maskOut)) {
  const double prob = train ? p : 0;
  const emu::Kept kept = emu::kept_of(prob, input);
  const emu::ApplyCall call{"aclnnDropout", "input", "out",    input,
                            maskOut,        out,     kept.how, kept.scale};
  emu::Check check(call.op);
  check.required("input", input).required("out", out).required("maskOut", maskOut);
  emu::check_elements(check, call, "maskOut", 1);
  emu::check_probability(check, "p", p);
  return emu::plan_dropout(call, prob, emu::dropout_place(seed, offset), check, workspaceSize,
                           executor);
}
EMU_CATCH

EMU_OPERATOR(DropoutV3, (const aclTensor *input, const aclTensor *noiseShapeOptional, double p,
                         int64_t seed, int64_t offset, aclTensor *out, aclTensor *maskOut)) {
  // The kernel of the 950 multiplies by the bit, so that what is not finite stays so.
  const auto share = static_cast<float>(1 - p);
  const emu::Masking how = p == 0                 ? emu::Masking::kCopy
                           : p == 1 || share == 0 ? emu::Masking::kZero
                                                  : emu::Masking::kMultiply;
  const emu::ApplyCall call{"aclnnDropoutV3", "input", "out", input, maskOut, out, how,
                            1 / share,        true};
  emu::Check check(call.op);
  check.required("input", input).required("out", out).required("maskOut", maskOut);
  check.that(noiseShapeOptional == nullptr, "noiseShapeOptional is given; pass null");
  if (const emu::Status s = emu::check_chip(check, emu::kInvalid)) return s;
  emu::check_elements(check, call, "maskOut", 0);
  emu::check_probability(check, "p", p);
  emu::check_offset(check, offset);
  return emu::plan_dropout(call, p, emu::dropout_place(seed, offset), check, workspaceSize,
                           executor);
}
EMU_CATCH

EMU_OPERATOR(MaskedScale,
             (const aclTensor *self, const aclTensor *mask, float scale, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMaskedScale");
  check.required("self", self).required("mask", mask).required("out", out);
  if (const Status s = check_chip(check, kInvalid)) return s;
  check.same_dtype("out", out->dtype, "self", self->dtype);
  check.dtype("self", self).dtype("mask", mask).rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  check.shape("out", out, layout_of(*self)).shape("mask", mask, layout_of(*self));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t from = plan.input(self), masks = plan.input(mask), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        Operands operands;
        const RowSource<float> source(operands.safe(view_of(c.tensor(from)), {result}));
        const RowSource<float> factors(operands.safe(view_of(c.tensor(masks)), {result}));
        const RowTarget<float> target(result);
        const int64_t blocks = (result.count() + kBlock - 1) / kBlock;
        parallel_for(blocks, 32, [&](int64_t begin, int64_t end) {
          alignas(64) float x[kBlock], factor[kBlock];
          for (int64_t block = begin; block < end; ++block) {
            const int64_t start = block * kBlock, n = std::min(kBlock, result.count() - start);
            source.read(start, n, x);
            factors.read(start, n, factor);
            for (int64_t i = 0; i < n; ++i) x[i] = x[i] * factor[i] * scale;
            target.write(start, n, x);
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
