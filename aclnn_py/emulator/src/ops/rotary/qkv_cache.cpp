// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// QkvRmsNormRopeCache: queries and keys normalised and turned, keys and values written into caches.
#include <cstring>

#include "aclnnop/posembedding.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/cache/slot_target.h"
#include "ops/moe/routing.h"
#include "ops/norm/rms.h"
#include "ops/rotary/rotate.h"

namespace emu {
namespace {

constexpr int64_t kHead = 128;

struct QkvCall {
  const aclTensor *qkv, *q_gamma, *k_gamma, *cos, *sin, *index, *q_out, *caches[2];
  const aclTensor *scales[2], *offsets[2];
  const aclIntArray *size, *heads;
  double epsilon;
  const char *mode;
  const aclTensor *before[3];
};

constexpr const char *kCaches[] = {"kCacheRef", "vCacheRef"};
constexpr const char *kScales[] = {"kScaleOptional", "vScaleOptional"};
constexpr const char *kOffsets[] = {"kOffsetOptional", "vOffsetOptional"};
constexpr const char *kBefore[] = {"qOutBeforeQuantOptional", "kOutBeforeQuantOptional",
                                   "vOutBeforeQuantOptional"};

void check_dtypes(Check &check, const QkvCall &a) {
  check.dtype("qkv", a.qkv).dtype("qGamma", a.q_gamma).dtype("kGamma", a.k_gamma);
  check.dtype("cos", a.cos).dtype("sin", a.sin).dtype("index", a.index).dtype("qOutRef", a.q_out);
  for (int i = 0; i < 2; ++i) {
    check.dtype(kCaches[i], a.caches[i]).dtype(kScales[i], a.scales[i]);
    check.dtype(kOffsets[i], a.offsets[i]);
  }
  if (!check.ok()) return;
  for (const auto &[name, tensor] : {std::pair{"qGamma", a.q_gamma},
                                     {"kGamma", a.k_gamma},
                                     {"cos", a.cos},
                                     {"sin", a.sin},
                                     {"qOutRef", a.q_out}})
    check.same_dtype(name, tensor->dtype, "qkv", a.qkv->dtype);
  for (int i = 0; i < 2; ++i) {
    check.that(a.scales[i] != nullptr || a.offsets[i] == nullptr,
               "%s is given; then %s must be given too", kOffsets[i], kScales[i]);
    check.dtype_in(kCaches[i], a.caches[i]->dtype,
                   dtype_set(a.scales[i] ? ACL_INT8 : a.qkv->dtype));
  }
}

// qkvSize is (batches, sequence, heads, width), headNums those of queries, keys and values.
void check_attributes(Check &check, const QkvCall &a) {
  const std::vector<int64_t> &size = a.size->values, &heads = a.heads->values;
  check.that(size.size() == 4, "qkvSize has %zu numbers; allowed: 4", size.size());
  check.that(heads.size() == 3, "headNums has %zu numbers; allowed: 3", heads.size());
  if (!check.ok()) return;
  for (const int64_t value : size)
    check.that(value > 0, "qkvSize holds %lld; allowed: from 1 on", wide(value));
  for (const int64_t value : heads)
    check.that(value > 0, "headNums holds %lld; allowed: from 1 on", wide(value));
  check.that(size[3] == kHead, "qkvSize has %lld as its width; allowed: %lld", wide(size[3]),
             wide(kHead));
  const Checked sum = Checked(heads[0]) + heads[1] + heads[2];
  check.that(heads[1] == heads[2] && sum.fits() && sum.value() == size[2],
             "headNums is [%lld, %lld, %lld]; keys and values must have as many heads, and all "
             "together the %lld of qkvSize",
             wide(heads[0]), wide(heads[1]), wide(heads[2]), wide(size[2]));
  check.that(a.mode == nullptr || std::strcmp(a.mode, "PA_NZ") == 0,
             "cacheModeOptional is \"%.40s\"; allowed: null, \"PA_NZ\"",
             a.mode == nullptr ? "" : a.mode);
}

void check_shapes(Check &check, const QkvCall &a) {
  const std::vector<int64_t> &size = a.size->values, &heads = a.heads->values;
  const int64_t tokens = check.size("qkvSize", Checked(size[0]) * size[1]);
  const int64_t whole[] = {tokens, check.size("qkvSize", Checked(size[2]) * kHead)};
  const int64_t queries[] = {tokens, check.size("headNums", Checked(heads[0]) * kHead)};
  const int64_t table[] = {tokens, kHead}, factors[] = {heads[1], kHead};
  check.shape("qkv", a.qkv, dense_layout(whole, 2));
  check.shape("qGamma", a.q_gamma, dense_layout(&kHead, 1));
  check.shape("kGamma", a.k_gamma, dense_layout(&kHead, 1));
  check.shape("cos", a.cos, dense_layout(table, 2)).shape("sin", a.sin, dense_layout(table, 2));
  check.shape("index", a.index, dense_layout(&tokens, 1));
  check.shape("qOutRef", a.q_out, dense_layout(queries, 2));
  for (int i = 0; i < 2; ++i) {
    const aclTensor &cache = *a.caches[i];
    check.plain_format(kCaches[i], &cache).rank(kCaches[i], &cache, 4, 4);
    if (!check.ok()) return;
    const int64_t unit = fractal_columns(cache.dtype), places = cache.shape[2];
    const int64_t runs = check.size("headNums", Checked(heads[1]) * (kHead / unit));
    const int64_t expected[] = {a.caches[0]->shape[0], runs, a.caches[0]->shape[2], unit};
    check.shape(kCaches[i], &cache, dense_layout(expected, 4));
    check.that(places > 0 && places % unit == 0,
               "%s has blocks of %lld places; it must be a multiple of %lld", kCaches[i],
               wide(places), wide(unit));
    check.shape(kScales[i], a.scales[i], dense_layout(factors, 2));
    check.shape(kOffsets[i], a.offsets[i], dense_layout(factors, 2));
    if (!check.ok()) return;
    const int64_t blocks = (size[1] - 1) / places + 1;
    const Checked needed = Checked(blocks) * size[0];
    check.that(needed.fits() && cache.shape[0] >= needed.value(),
               "%s has %lld blocks; %lld sequences of %lld tokens need %lld each", kCaches[i],
               wide(cache.shape[0]), wide(size[0]), wide(size[1]), wide(blocks));
  }
}

struct Indices {
  size_t qkv, gamma[2], cos, sin, index, q_out, cache[2], scale[2], offset[2];
};

struct Heads {
  int64_t queries, keys, all, tokens, width;
};

Status run(PlanContext &c, const char *op, const Indices &at, const Heads &n, double epsilon) {
  const aclTensor caches[] = {slots_of(c.tensor(at.cache[0]), SlotOrder::kHeads),
                              slots_of(c.tensor(at.cache[1]), SlotOrder::kHeads)};
  const std::vector<int64_t> slots = integers(c, at.index);
  const int64_t limit = caches[0].shape[0] * caches[0].shape[1];
  for (const int64_t slot : slots) {
    if (slot >= -1 && slot < limit) continue;
    return fail(kKernelFault, "%s: index holds %lld; allowed: -1 to %lld", op, wide(slot),
                wide(limit - 1));
  }
  Apart apart;
  const View q_view = view_of(c.tensor(at.q_out)), k_view = view_of(caches[0]),
             v_view = view_of(caches[1]);
  const auto source = [&](size_t index) {
    return RowSource<float>(apart.from(view_of(c.tensor(index)), {q_view, k_view, v_view}));
  };
  const RowSource<float> qkv = source(at.qkv), cos = source(at.cos), sin = source(at.sin);
  const RowTarget<float> q_out(q_view);
  const SlotTarget to[] = {SlotTarget(caches[0]), SlotTarget(caches[1])};
  const std::vector<float> gammas[] = {read_all<float>(c, at.gamma[0], kHead, 1.0f),
                                       read_all<float>(c, at.gamma[1], kHead, 1.0f)};
  std::vector<float> scale[2], offset[2];
  for (int i = 0; i < 2; ++i) {
    scale[i] = slot_factors(c, at.scale[i], n.keys, kHead, 1.0f);
    offset[i] = slot_factors(c, at.offset[i], n.keys, kHead, 0.0f);
  }
  for_each_row<float>(n.tokens * n.all, 4 * kHead, 1, [&](int64_t row, float *x) {
    float *cosine = x + kHead, *sine = cosine + kHead, *result = sine + kHead;
    const int64_t token = row / n.all, head = row % n.all;
    const bool query = head < n.queries, value = head >= n.queries + n.keys;
    qkv.read(row * kHead, kHead, x);
    if (value) {
      std::copy_n(x, kHead, result);
    } else {
      cos.read(token * kHead, kHead, cosine);
      sin.read(token * kHead, kHead, sine);
      rms_normalise(x, n.width, epsilon, gammas[query ? 0 : 1].data());
      rotate(kHalf, x, cosine, sine, kHead, result);
    }
    if (query) return q_out.write((token * n.queries + head) * kHead, kHead, result);
    const int64_t slot = slots[static_cast<size_t>(token)];
    if (slot < 0) return;
    const int which = value ? 1 : 0;
    const int64_t own = head - n.queries - (value ? n.keys : 0);
    const float *by = scale[which].data() + own * kHead, *plus = offset[which].data() + own * kHead;
    for (int64_t e = 0; e < kHead; ++e) result[e] = result[e] / by[e] + plus[e];
    to[which].write((slot * n.keys + own) * kHead, kHead, result);
  });
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QkvRmsNormRopeCache,
             (const aclTensor *qkv, const aclTensor *qGamma, const aclTensor *kGamma,
              const aclTensor *cos, const aclTensor *sin, const aclTensor *index,
              aclTensor *qOutRef, aclTensor *kCacheRef, aclTensor *vCacheRef,
              const aclTensor *kScaleOptional, const aclTensor *vScaleOptional,
              const aclTensor *kOffsetOptional, const aclTensor *vOffsetOptional,
              const aclIntArray *qkvSize, const aclIntArray *headNums, double epsilon,
              const char *cacheModeOptional, aclTensor *qOutBeforeQuantOptional,
              aclTensor *kOutBeforeQuantOptional, aclTensor *vOutBeforeQuantOptional)) {
  using namespace emu;
  constexpr const char *op = "aclnnQkvRmsNormRopeCache";
  const QkvCall a{qkv,
                  qGamma,
                  kGamma,
                  cos,
                  sin,
                  index,
                  qOutRef,
                  {kCacheRef, vCacheRef},
                  {kScaleOptional, vScaleOptional},
                  {kOffsetOptional, vOffsetOptional},
                  qkvSize,
                  headNums,
                  epsilon,
                  cacheModeOptional,
                  {qOutBeforeQuantOptional, kOutBeforeQuantOptional, vOutBeforeQuantOptional}};
  Check check(op);
  check.required("qkv", qkv).required("qGamma", qGamma).required("kGamma", kGamma);
  check.required("cos", cos).required("sin", sin).required("index", index);
  check.required("qOutRef", qOutRef);
  for (int i = 0; i < 2; ++i) {
    check.required(kCaches[i], a.caches[i]).optional(kScales[i], a.scales[i]);
    check.optional(kOffsets[i], a.offsets[i]);
  }
  check.required("qkvSize", qkvSize).required("headNums", headNums);
  for (int i = 0; i < 3; ++i) {
    check.optional(kBefore[i], a.before[i]);
    check.that(a.before[i] == nullptr,
               "%s is given; this operator does not give what it quantises, pass null", kBefore[i]);
  }
  check.that(!chip_is_950(), "this chip does not have the operator");
  check_dtypes(check, a);
  check.tiling();
  if (check.ok()) check_attributes(check, a);
  if (check.ok()) check_shapes(check, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  Indices at{};
  at.qkv = plan.input(qkv);
  at.gamma[0] = plan.input(qGamma);
  at.gamma[1] = plan.input(kGamma);
  at.cos = plan.input(cos);
  at.sin = plan.input(sin);
  at.index = plan.input(index);
  at.q_out = plan.output(qOutRef);
  for (int i = 0; i < 2; ++i) at.cache[i] = plan.in_place(a.caches[i]);
  for (int i = 0; i < 2; ++i) at.scale[i] = plan.input(a.scales[i]);
  for (int i = 0; i < 2; ++i) at.offset[i] = plan.input(a.offsets[i]);
  for (const aclTensor *before : a.before) plan.unused(before);
  const std::vector<int64_t> &heads = headNums->values;
  const Heads n{heads[0], heads[1], qkvSize->values[2], qkv->shape[0], qkvSize->values[3]};
  const auto indices = std::make_shared<const Indices>(at);
  return plan.finish([=](PlanContext &c) { return run(c, op, *indices, n, epsilon); },
                     workspaceSize, executor);
}
EMU_CATCH
