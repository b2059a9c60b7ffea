// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// DequantRopeQuantKvcache: a product of queries, keys and values is dequantised, turned, quantised
// and written into caches.
#include <cstring>

#include "aclnnop/posembedding.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/cache/slot_target.h"
#include "ops/moe/routing.h"
#include "ops/rotary/rotate.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnDequantRopeQuantKvcache";

struct Call {
  const aclTensor *x, *cos, *sin, *caches[2], *indices, *scales[2], *offsets[2];
  const aclTensor *weight, *activation, *bias;
  const aclIntArray *splits;
  const char *quant_mode, *layout, *cache_mode;
  bool keeps;
  const aclTensor *outs[3];
};

constexpr const char *kCaches[] = {"kCacheRef", "vCacheRef"};
constexpr const char *kScales[] = {"scaleK", "scaleV"};
constexpr const char *kOffsets[] = {"offsetKOptional", "offsetVOptional"};
constexpr const char *kOuts[] = {"qOut", "kOut", "vOut"};

struct Sizes {
  int64_t batches, sequence, heads[2], head, places, slots;
  bool paged, per_token;  // per_token: indices name a slot for each token, not for each batch
  int64_t tokens() const { return batches * sequence; }
  int64_t all() const { return (heads[0] + 2 * heads[1]) * head; }
};

void check_dtypes(Check &check, const Call &a) {
  check.dtype("x", a.x).dtype("cos", a.cos).dtype("indices", a.indices);
  check.dtype("weightScaleOptional", a.weight).dtype("activationScaleOptional", a.activation);
  check.dtype("biasOptional", a.bias);
  for (int i = 0; i < 2; ++i) {
    check.dtype(kCaches[i], a.caches[i]).dtype(kScales[i], a.scales[i]);
    check.dtype(kOffsets[i], a.offsets[i]).plain_format(kCaches[i], a.caches[i]);
  }
  if (!check.ok()) return;
  check.same_dtype("sin", a.sin->dtype, "cos", a.cos->dtype);
  for (int i = 0; i < 3; ++i) check.same_dtype(kOuts[i], a.outs[i]->dtype, "cos", a.cos->dtype);
  if (a.x->dtype != ACL_INT32) check.same_dtype("x", a.x->dtype, "cos", a.cos->dtype);
  check.that(a.x->dtype != ACL_INT32 || a.weight != nullptr,
             "weightScaleOptional is null; x of INT32 needs it");
}

bool is_word(const char *given, const char *word) {
  return given == nullptr || std::strcmp(given, word) == 0;
}

void check_attributes(Check &check, const Call &a) {
  const auto text = [](const char *given) { return given == nullptr ? "" : given; };
  check.that(is_word(a.quant_mode, "static"), "quantModeOptional is \"%.40s\"; allowed: \"static\"",
             text(a.quant_mode));
  check.that(is_word(a.layout, "BSND"), "layoutOptional is \"%.40s\"; allowed: \"BSND\"",
             text(a.layout));
  check.that(is_word(a.cache_mode, "contiguous") || is_word(a.cache_mode, "page"),
             "cacheModeOptional is \"%.40s\"; allowed: null, \"contiguous\", \"page\"",
             text(a.cache_mode));
  check.that(a.splits->values.size() == 3, "sizeSplits has %zu numbers; allowed: 3",
             a.splits->values.size());
}

void check_shapes(Check &check, const Call &a, Sizes *s) {
  constexpr int64_t kWidest = 4096, kStep = 64;
  check.rank("x", a.x, 2, 3).rank("kCacheRef", a.caches[0], 4, 4);
  if (!check.ok()) return;
  const bool deep = a.x->rank() == 3;
  const int64_t width = a.x->shape.back();
  const std::vector<int64_t> &splits = a.splits->values;
  s->batches = a.x->shape[0];
  s->sequence = deep ? a.x->shape[1] : 1;
  s->heads[1] = a.caches[0]->shape[2];
  s->head = a.caches[0]->shape[3];
  s->places = a.caches[0]->shape[1];
  s->paged = a.cache_mode != nullptr && std::strcmp(a.cache_mode, "page") == 0;
  s->per_token = s->paged && deep;
  check.that(width > 0 && width <= kWidest && width % kStep == 0,
             "x has %lld as its last dimension; allowed: a multiple of %lld up to %lld",
             wide(width), wide(kStep), wide(kWidest));
  check.that(s->head > 0 && s->head % 2 == 0 && s->head <= width,
             "kCacheRef has heads of %lld elements; allowed: an even number up to %lld",
             wide(s->head), wide(width));
  if (!check.ok()) return;
  const Checked sum = Checked(splits[0]) + splits[1] + splits[2];
  const Checked keys = Checked(s->heads[1]) * s->head;
  check.that(splits[0] > 0 && splits[0] % s->head == 0 && sum.fits() && sum.value() == width &&
                 splits[1] == splits[2] && keys.fits() && keys.value() == splits[1],
             "sizeSplits is [%lld, %lld, %lld]; the first must be a multiple of %lld, the others "
             "the %lld heads of kCacheRef times that, and all together %lld",
             wide(splits[0]), wide(splits[1]), wide(splits[2]), wide(s->head), wide(s->heads[1]),
             wide(width));
  if (!check.ok()) return;
  s->heads[0] = splits[0] / s->head;
  const int64_t tokens = check.size("x", Checked(s->batches) * s->sequence);
  const int64_t flat[] = {s->batches, s->head}, table[] = {s->batches, s->sequence, 1, s->head};
  check.shape("cos", a.cos, deep ? dense_layout(table, 4) : dense_layout(flat, 2));
  check.shape("sin", a.sin, layout_of(*a.cos));
  check.shape("vCacheRef", a.caches[1], layout_of(*a.caches[0]));
  check.that(s->paged || a.caches[0]->shape[0] >= s->batches,
             "kCacheRef has %lld batches; x has %lld", wide(a.caches[0]->shape[0]),
             wide(s->batches));
  check.shape("indices", a.indices, dense_layout(s->per_token ? &tokens : &s->batches, 1));
  for (int i = 0; i < 2; ++i) {
    for (const auto &[name, factor] :
         {std::pair{kScales[i], a.scales[i]}, std::pair{kOffsets[i], a.offsets[i]}})
      check.that(factor == nullptr || (factor->numel() == splits[1] && factor->rank() > 0),
                 "%s has shape %s; expected %lld elements", name,
                 factor ? shape_text(layout_of(*factor)).c_str() : "", wide(splits[1]));
  }
  if (a.x->dtype == ACL_INT32) {
    check.shape("weightScaleOptional", a.weight, dense_layout(&width, 1));
    check.shape("activationScaleOptional", a.activation, dense_layout(&tokens, 1));
    check.shape("biasOptional", a.bias, dense_layout(&width, 1));
  }
  for (int i = 0; i < (a.keeps ? 3 : 1); ++i) {
    const int64_t heads = s->heads[i == 0 ? 0 : 1];
    const int64_t four[] = {s->batches, s->sequence, heads, s->head};
    const int64_t three[] = {s->batches, heads, s->head};
    check.shape(kOuts[i], a.outs[i], deep ? dense_layout(four, 4) : dense_layout(three, 3));
  }
  s->slots = a.caches[0]->shape[0] * s->places;
}

// The slot of every token.
Status find_slots(const std::vector<int64_t> &indices, const Sizes &s, std::vector<int64_t> *to) {
  const int64_t last = s.paged ? s.slots - 1 : s.places - s.sequence;
  for (const int64_t index : indices) {
    if (index >= 0 && index <= last) continue;
    return fail(kKernelFault, "%s: indices holds %lld; allowed: 0 to %lld", kOp, wide(index),
                wide(last));
  }
  for (int64_t b = 0; b < s.batches; ++b) {
    for (int64_t t = 0; t < s.sequence; ++t) {
      const int64_t at = indices[static_cast<size_t>(s.per_token ? b * s.sequence + t : b)];
      to->push_back(s.paged ? at : b * s.places + at + t);
    }
  }
  return 0;
}

struct Indices {
  size_t x, cos, sin, cache[2], indices, scale[2], offset[2], weight, activation, bias, out[3];
};

Status run(PlanContext &c, const Indices &at, const Sizes &s, bool keeps) {
  std::vector<int64_t> slots;
  if (const Status bad = find_slots(integers(c, at.indices), s, &slots)) return bad;
  const View caches[] = {view_of(c.tensor(at.cache[0])), view_of(c.tensor(at.cache[1]))};
  View outs[3];
  std::optional<RowTarget<float>> out[3];
  for (int i = 0; i < (keeps ? 3 : 1); ++i) {
    outs[i] = view_of(c.tensor(at.out[i]));
    out[i].emplace(outs[i]);
  }
  Apart apart;
  const auto from = [&](size_t index) {
    return apart.from(view_of(c.tensor(index)), {caches[0], caches[1], outs[0], outs[1], outs[2]});
  };
  const View x_view = from(at.x);
  const bool whole = x_view.dtype == ACL_INT32;
  const bool whole_bias = whole && c.has(at.bias) && c.tensor(at.bias).dtype == ACL_INT32;
  const RowSource<float> plain(x_view), cos(from(at.cos)), sin(from(at.sin));
  const RowSource<int64_t> sums(whole ? x_view : view_of(c.tensor(at.indices)));
  const int64_t width = s.all();
  std::vector<float> weight, activation, after(static_cast<size_t>(width), 0.0f);
  std::vector<int64_t> before(static_cast<size_t>(width), 0);
  if (whole) {
    weight = read_all<float>(c, at.weight, width, 1.0f);
    activation = read_all<float>(c, at.activation, s.tokens(), 1.0f);
    if (whole_bias) before = read_all<int64_t>(c, at.bias, width, 0);
    else after = read_all<float>(c, at.bias, width, 0.0f);
  }
  std::vector<float> scale[2], offset[2];
  for (int i = 0; i < 2; ++i) {
    scale[i] = slot_factors(c, at.scale[i], s.heads[1], s.head, 1.0f);
    offset[i] = slot_factors(c, at.offset[i], s.heads[1], s.head, 0.0f);
  }
  const SlotTarget to[] = {SlotTarget(c.tensor(at.cache[0])), SlotTarget(c.tensor(at.cache[1]))};
  const int64_t counts[] = {s.heads[0], s.heads[1], s.heads[1]};
  for_each_row<float>(s.tokens(), width + 3 * s.head, 1, [&](int64_t token, float *row) {
    float *cosine = row + width, *sine = cosine + s.head, *result = sine + s.head;
    if (whole) {
      std::vector<int64_t> numbers(static_cast<size_t>(width));
      sums.read(token * width, width, numbers.data());
      const float by = activation[static_cast<size_t>(token)];
      for (size_t i = 0; i < numbers.size(); ++i)
        row[i] = static_cast<float>(numbers[i] + before[i]) * weight[i] * by + after[i];
    } else {
      plain.read(token * width, width, row);
    }
    cos.read(token * s.head, s.head, cosine);
    sin.read(token * s.head, s.head, sine);
    const float *head = row;
    for (int part = 0; part < 3; ++part) {
      for (int64_t h = 0; h < counts[part]; ++h, head += s.head) {
        if (part < 2) rotate(kHalf, head, cosine, sine, s.head, result);
        else std::copy_n(head, s.head, result);
        if (out[part]) out[part]->write((token * counts[part] + h) * s.head, s.head, result);
        if (part == 0) continue;
        const float *by = scale[part - 1].data() + h * s.head,
                    *plus = offset[part - 1].data() + h * s.head;
        for (int64_t e = 0; e < s.head; ++e) result[e] = result[e] / by[e] + plus[e];
        const int64_t slot = slots[static_cast<size_t>(token)];
        to[part - 1].write((slot * s.heads[1] + h) * s.head, s.head, result);
      }
    }
  });
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DequantRopeQuantKvcache,
             (const aclTensor *x, const aclTensor *cos, const aclTensor *sin, aclTensor *kCacheRef,
              aclTensor *vCacheRef, const aclTensor *indices, const aclTensor *scaleK,
              const aclTensor *scaleV, const aclTensor *offsetKOptional,
              const aclTensor *offsetVOptional, const aclTensor *weightScaleOptional,
              const aclTensor *activationScaleOptional, const aclTensor *biasOptional,
              const aclIntArray *sizeSplits, const char *quantModeOptional,
              const char *layoutOptional, bool kvOutput, const char *cacheModeOptional,
              aclTensor *qOut, aclTensor *kOut, aclTensor *vOut)) {
  using namespace emu;
  const Call a{x,
               cos,
               sin,
               {kCacheRef, vCacheRef},
               indices,
               {scaleK, scaleV},
               {offsetKOptional, offsetVOptional},
               weightScaleOptional,
               activationScaleOptional,
               biasOptional,
               sizeSplits,
               quantModeOptional,
               layoutOptional,
               cacheModeOptional,
               kvOutput,
               {qOut, kOut, vOut}};
  Check check(kOp);
  check.required("x", x).required("cos", cos).required("sin", sin);
  for (int i = 0; i < 2; ++i) check.required(kCaches[i], a.caches[i]);
  check.required("indices", indices);
  for (int i = 0; i < 2; ++i) check.required(kScales[i], a.scales[i]);
  for (int i = 0; i < 2; ++i) check.optional(kOffsets[i], a.offsets[i]);
  check.optional("weightScaleOptional", weightScaleOptional);
  check.optional("activationScaleOptional", activationScaleOptional);
  check.optional("biasOptional", biasOptional).required("sizeSplits", sizeSplits);
  for (int i = 0; i < 3; ++i) check.required(kOuts[i], a.outs[i]);
  check.that(!chip_is_950(), "no kernel for this chip; allowed: the 910B and 910_93");
  check_dtypes(check, a);
  check.tiling();
  if (check.ok()) check_attributes(check, a);
  Sizes sizes{};
  if (check.ok()) check_shapes(check, a, &sizes);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp, KernelTime::linear);
  Indices at{};
  at.x = plan.input(x);
  at.cos = plan.input(cos);
  at.sin = plan.input(sin);
  for (int i = 0; i < 2; ++i) at.cache[i] = plan.in_place(a.caches[i]);
  at.indices = plan.input(indices);
  for (int i = 0; i < 2; ++i) at.scale[i] = plan.input(a.scales[i]);
  for (int i = 0; i < 2; ++i) at.offset[i] = plan.input(a.offsets[i]);
  const bool whole = x->dtype == ACL_INT32;
  at.weight = whole ? plan.input(weightScaleOptional) : plan.unused(weightScaleOptional);
  at.activation =
      whole ? plan.input(activationScaleOptional) : plan.unused(activationScaleOptional);
  at.bias = whole ? plan.input(biasOptional) : plan.unused(biasOptional);
  at.out[0] = plan.output(qOut);
  for (int i = 1; i < 3; ++i)
    at.out[i] = kvOutput ? plan.output(a.outs[i]) : plan.unused(a.outs[i]);
  const auto all = std::make_shared<const std::pair<Indices, Sizes>>(at, sizes);
  return plan.finish(
      [all, kvOutput](PlanContext &c) { return run(c, all->first, all->second, kvOutput); },
      workspaceSize, executor);
}
EMU_CATCH
