// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// KvRmsNormRopeCache and V2: latent keys and values normalised, turned and written into two caches.
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

struct KvCall {
  const char *op;
  const aclTensor *kv, *gamma, *cos, *sin, *index, *k_cache, *ckv_cache;
  const aclTensor *k_scale, *ckv_scale, *k_offset, *ckv_offset, *v;
  double epsilon;
  const char *mode;
  bool keeps;  // isOutputKv
  const aclTensor *k_out, *ckv_out;
  bool second;  // has vOptional, which a 950 passes over
};

// How a cache is addressed.
struct Mode {
  const char *name;
  SlotOrder order;
  bool paged, by_block, repeats;  // repeats: one row of cos may serve the whole sequence
};
constexpr Mode kModes[] = {{"Norm", SlotOrder::kHeads, false, false, true},
                           {"PA", SlotOrder::kPlaces, true, false, true},
                           {"PA_BNSD", SlotOrder::kPlaces, true, false, false},
                           {"PA_NZ", SlotOrder::kBlocks, true, false, false},
                           {"PA_BLK_BNSD", SlotOrder::kPlaces, true, true, false},
                           {"PA_BLK_NZ", SlotOrder::kBlocks, true, true, false}};

const Mode *find_mode(const char *name) {
  if (name == nullptr) return &kModes[0];
  for (const Mode &mode : kModes)
    if (std::strcmp(mode.name, name) == 0) return &mode;
  return nullptr;
}

// What a kernel knows about the call.
struct Sizes {
  int64_t batches, heads, sequence;
  int64_t key, value, turned;  // elements of a head in the two caches, and those that turn
  int64_t places;              // of a block, or of a sequence in the cache
  int64_t slots;
  bool apart;  // values come from a tensor of their own
};

void check_dtypes(Check &check, const KvCall &a) {
  check.dtype("kv", a.kv).dtype("gamma", a.gamma).dtype("cos", a.cos).dtype("sin", a.sin);
  check.dtype("index", a.index).dtype("kCacheRef", a.k_cache);
  check.dtype("ckvCacheRef", a.ckv_cache).dtype("kRopeScaleOptional", a.k_scale);
  if (a.ckv_scale) check.dtype_in("cKvScaleOptional", a.ckv_scale->dtype, dtype_set(ACL_FLOAT));
  check.dtype("kRopeOffsetOptional", a.k_offset).dtype("cKvOffsetOptional", a.ckv_offset);
  check.dtype("kRopeOut", a.k_out).dtype("cKvOut", a.ckv_out);
  check.plain_format("kCacheRef", a.k_cache).plain_format("ckvCacheRef", a.ckv_cache);
  if (!check.ok()) return;
  for (const auto &[name, tensor] : {std::pair{"gamma", a.gamma},
                                     {"cos", a.cos},
                                     {"sin", a.sin},
                                     {"kRopeOut", a.k_out},
                                     {"cKvOut", a.ckv_out}})
    check.same_dtype(name, tensor->dtype, "kv", a.kv->dtype);
  if (a.v) check.dtype("vOptional", a.v).same_dtype("vOptional", a.v->dtype, "kv", a.kv->dtype);
}

// A cache with a scale is quantised, any other has the dtype of kv.
void check_cache(Check &check, const KvCall &a, const Mode &mode, const Sizes &s, bool key) {
  const char *name = key ? "kCacheRef" : "ckvCacheRef";
  const aclTensor *cache = key ? a.k_cache : a.ckv_cache;
  const aclTensor *scale = key ? a.k_scale : a.ckv_scale;
  const aclTensor *offset = key ? a.k_offset : a.ckv_offset;
  const char *scale_name = key ? "kRopeScaleOptional" : "cKvScaleOptional";
  const char *offset_name = key ? "kRopeOffsetOptional" : "cKvOffsetOptional";
  const int64_t width = key ? s.key : s.value;
  check.that(scale != nullptr || offset == nullptr, "%s is given; then %s must be given too",
             offset_name, scale_name);
  if (scale == nullptr) {
    check.same_dtype(name, cache->dtype, "kv", a.kv->dtype);
  } else {
    check.that(!contains(dt::kHalf, cache->dtype), "%s has dtype %s; %s is for a quantised cache",
               name, dtype_name(cache->dtype), scale_name);
    check.that(mode.paged || s.apart || chip_is_950(),
               "%s is given; cacheModeOptional \"Norm\" does not quantise without vOptional",
               scale_name);
  }
  check.rank(name, cache, 4, 4);
  if (!check.ok()) return;
  const int64_t paged[] = {cache->shape[0], cache->shape[1], s.heads, width};
  const int64_t plain[] = {cache->shape[0], s.heads, cache->shape[2], width};
  check.shape(name, cache, dense_layout(mode.paged ? paged : plain, 4));
  check.that(mode.paged || cache->shape[0] >= s.batches, "%s has %lld batches; kv has %lld", name,
             wide(cache->shape[0]), wide(s.batches));
  if (mode.order == SlotOrder::kBlocks) check_blocks(check, name, cache);
  const int64_t unit = fractal_columns(cache->dtype);
  check.that(!mode.paged || cache->shape[1] % unit == 0,
             "%s has blocks of %lld places; it must be a multiple of %lld", name,
             wide(cache->shape[1]), wide(unit));
  for (const auto &[factor_name, factor] :
       {std::pair{scale_name, scale}, std::pair{offset_name, offset}}) {
    if (factor == nullptr) continue;
    const int64_t rows[] = {s.heads, width}, one = 1;
    const bool single = chip_is_950() && same_shape(layout_of(*factor), dense_layout(&one, 1));
    const bool flat = !s.apart && factor->rank() == 1;
    if (!single)
      check.shape(factor_name, factor, flat ? dense_layout(&width, 1) : dense_layout(rows, 2));
  }
}

void check_tables(Check &check, const KvCall &a, const Mode &mode, const Sizes &s) {
  check.rank("cos", a.cos, 4, 4);
  if (!check.ok()) return;
  const bool quantises = a.k_scale != nullptr || a.ckv_scale != nullptr;
  const bool once =
      a.cos->shape[2] == 1 && (chip_is_950() || (mode.repeats && !(mode.paged && quantises)));
  const int64_t expected[] = {s.batches, s.heads, once ? 1 : s.sequence, s.turned};
  check.shape("cos", a.cos, dense_layout(expected, 4)).shape("sin", a.sin, layout_of(*a.cos));
}

void check_index(Check &check, const KvCall &a, const Mode &mode, const Sizes &s) {
  const int64_t pairs[] = {s.batches, s.sequence};
  const int64_t blocks = s.places > 0 ? (s.sequence + s.places - 1) / s.places : 0;
  const int64_t all =
      check.size("index", Checked(s.batches) * (mode.by_block ? blocks : s.sequence));
  check.shape("index", a.index, mode.paged ? dense_layout(&all, 1) : dense_layout(pairs, 2));
}

// The slot of every token, -1 for one that is left out.
Status find_slots(const char *op, const std::vector<int64_t> &index, const Mode &mode,
                  const Sizes &s, std::vector<int64_t> *slots) {
  const int64_t limit = mode.paged ? s.slots : s.places;
  for (const int64_t value : index) {
    if (value >= -1 && value < limit) continue;
    return fail(kKernelFault, "%s: index holds %lld; allowed: -1 to %lld", op, wide(value),
                wide(limit - 1));
  }
  const int64_t blocks = s.places > 0 ? (s.sequence + s.places - 1) / s.places : 0;
  for (int64_t b = 0; b < s.batches; ++b) {
    for (int64_t t = 0; t < s.sequence; ++t) {
      const int64_t at = mode.by_block ? b * blocks + t / s.places : b * s.sequence + t;
      int64_t slot = index[static_cast<size_t>(at)];
      if (slot >= 0 && mode.by_block) slot = slot / s.places * s.places + t % s.places;
      if (slot >= 0 && !mode.paged) slot += b * s.places;
      slots->push_back(slot);
    }
  }
  return 0;
}

struct Indices {
  size_t kv, gamma, cos, sin, index, cache[2], scale[2], offset[2], v, out[2];
};

Status run(PlanContext &c, const char *op, const Mode &mode, const Sizes &s, const Indices &at,
           double epsilon, bool keeps, bool shifts) {
  const aclTensor caches[] = {slots_of(c.tensor(at.cache[0]), mode.order),
                              slots_of(c.tensor(at.cache[1]), mode.order)};
  std::vector<int64_t> slots;
  if (const Status bad = find_slots(op, integers(c, at.index), mode, s, &slots)) return bad;
  const View first = view_of(caches[0]), second = view_of(caches[1]);
  const View k_out = keeps ? view_of(c.tensor(at.out[0])) : View();
  const View ckv_out = keeps ? view_of(c.tensor(at.out[1])) : View();
  Apart apart;
  const auto source = [&](const View &view) {
    return RowSource<float>(apart.from(view, {first, second, k_out, ckv_out}));
  };
  const View kv_view = view_of(c.tensor(at.kv));
  Layout table = kv_view.layout;
  table.shape[3] = s.turned;
  const RowSource<float> kv = source(kv_view);
  const RowSource<float> cos = source(view_of(c.tensor(at.cos), table));
  const RowSource<float> sin = source(view_of(c.tensor(at.sin), table));
  const RowSource<float> v = source(s.apart ? view_of(c.tensor(at.v)) : kv_view);
  const int64_t normed = s.apart ? s.key : s.value, widths[] = {s.key, s.value};
  const int64_t row_width = kv_view.layout.shape[3];
  const auto gamma = read_all<float>(c, at.gamma, normed, 1.0f);
  std::vector<float> scale[2], offset[2];
  std::optional<SlotTarget> to[2], out[2];
  for (int i = 0; i < 2; ++i) {
    scale[i] = slot_factors(c, at.scale[i], s.heads, widths[i], 1.0f);
    offset[i] = slot_factors(c, at.offset[i], s.heads, widths[i], 0.0f);
    if (!shifts) std::fill(offset[i].begin(), offset[i].end(), 0.0f);
    to[i].emplace(caches[i]);
    if (keeps) out[i].emplace(c.tensor(at.out[i]));
  }
  const int64_t rows = s.batches * s.heads * s.sequence;
  for_each_row<float>(rows, row_width + s.value + 3 * s.turned, 1, [&](int64_t r, float *x) {
    float *value = x + row_width, *cosine = value + s.value, *sine = cosine + s.turned,
          *turned = sine + s.turned;
    const int64_t b = r / (s.heads * s.sequence), n = r / s.sequence % s.heads, t = r % s.sequence;
    kv.read(r * row_width, row_width, x);
    cos.read(r * s.turned, s.turned, cosine);
    sin.read(r * s.turned, s.turned, sine);
    rms_normalise(x, normed, epsilon, gamma.data());
    float *key = s.apart ? x : x + s.value;
    rotate(kInterleaveHalf, key, cosine, sine, s.turned, turned);
    std::copy_n(turned, s.turned, key);
    if (s.apart) v.read(r * s.value, s.value, value);
    else std::copy_n(x, s.value, value);
    float *const results[] = {key, value};
    const int64_t slot = slots[static_cast<size_t>(b * s.sequence + t)];
    for (int i = 0; i < 2; ++i) {
      const int64_t width = widths[i];
      if (keeps) out[i]->write(r * width, width, results[i]);
      if (slot < 0) continue;
      const float *by = scale[i].data() + n * width, *plus = offset[i].data() + n * width;
      for (int64_t e = 0; e < width; ++e) results[i][e] = results[i][e] * by[e] + plus[e];
      to[i]->write((slot * s.heads + n) * width, width, results[i]);
    }
  });
  return 0;
}

Sizes sizes_of(const KvCall &a, const Mode &mode) {
  Sizes s{};
  s.batches = a.kv->shape[0];
  s.heads = a.kv->shape[1];
  s.sequence = a.kv->shape[2];
  s.apart = a.v != nullptr && !chip_is_950();
  const int64_t width = a.kv->shape[3];
  s.value = s.apart ? a.v->shape[3] : a.gamma->shape[0];
  s.key = s.apart ? width : width - s.value;
  s.turned = s.apart ? 64 : s.key;
  s.places = a.k_cache->shape[mode.paged ? 1 : 2];
  return s;
}

Status plan_kv(const KvCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("kv", a.kv).required("gamma", a.gamma).required("cos", a.cos);
  check.required("sin", a.sin).required("index", a.index).required("kCacheRef", a.k_cache);
  check.required("ckvCacheRef", a.ckv_cache).optional("kRopeScaleOptional", a.k_scale);
  check.optional("cKvScaleOptional", a.ckv_scale).optional("kRopeOffsetOptional", a.k_offset);
  check.optional("cKvOffsetOptional", a.ckv_offset).optional("vOptional", a.v);
  check.required("kRopeOut", a.k_out).required("cKvOut", a.ckv_out);
  check_dtypes(check, a);
  const Mode *mode = find_mode(a.mode);
  check.tiling().that(mode != nullptr,
                      "cacheModeOptional is \"%.40s\"; allowed: null, \"Norm\", \"PA\", "
                      "\"PA_BNSD\", \"PA_NZ\", \"PA_BLK_BNSD\", \"PA_BLK_NZ\"",
                      a.mode == nullptr ? "" : a.mode);
  check.rank("kv", a.kv, 4, 4).rank("gamma", a.gamma, 1, 1).rank("vOptional", a.v, 4, 4);
  check.rank("kCacheRef", a.k_cache, 4, 4).rank("ckvCacheRef", a.ckv_cache, 4, 4);
  if (!check.ok()) return check.status();
  Sizes s = sizes_of(a, *mode);
  if (s.apart) {
    constexpr int64_t kKey = 192, kValue = 128;
    check.that(s.key == kKey && s.value == kValue,
               "kv has %lld as its last dimension and vOptional %lld; allowed: 192 and 128",
               wide(s.key), wide(s.value));
    check.that(s.heads == 1 || s.heads == 2 || s.heads == 4 || s.heads == 8,
               "kv has %lld heads; allowed: 1, 2, 4, 8", wide(s.heads));
    const int64_t shape[] = {s.batches, s.heads, s.sequence, kValue};
    check.shape("vOptional", a.v, dense_layout(shape, 4));
    check.shape("gamma", a.gamma, dense_layout(&kKey, 1));
  } else {
    check.that(s.heads == 1, "kv has %lld heads; allowed without vOptional: 1", wide(s.heads));
    check.that(s.key > 0 && s.key % 2 == 0 && s.value > 0,
               "kv has %lld as its last dimension, of which gamma takes %lld; an even number of "
               "at least 2 must be left",
               wide(a.kv->shape[3]), wide(s.value));
  }
  check.that(a.kv->numel() != 0, "kv is empty; this operator takes no empty tensors");
  check_tables(check, a, *mode, s);
  check_cache(check, a, *mode, s, true);
  check_cache(check, a, *mode, s, false);
  if (!check.ok()) return check.status();
  const int places = mode->paged ? 1 : 2;
  check.that(a.ckv_cache->shape[0] == a.k_cache->shape[0] &&
                 a.ckv_cache->shape[places] == a.k_cache->shape[places],
             "ckvCacheRef has shape %s; but for heads it must have that of kCacheRef, %s",
             shape_text(layout_of(*a.ckv_cache)).c_str(),
             shape_text(layout_of(*a.k_cache)).c_str());
  check.that(a.k_cache->numel() != 0, "kCacheRef is empty; this operator takes no empty tensors");
  check_index(check, a, *mode, s);
  const bool quantises = a.k_scale != nullptr || a.ckv_scale != nullptr;
  const bool keeps = a.keeps && (mode->paged || (s.apart && quantises));
  if (keeps && check.ok()) {
    const int64_t key[] = {s.batches, s.heads, s.sequence, s.key};
    const int64_t value[] = {s.batches, s.heads, s.sequence, s.value};
    check.shape("kRopeOut", a.k_out, dense_layout(key, 4));
    check.shape("cKvOut", a.ckv_out, dense_layout(value, 4));
  }
  if (!check.ok()) return check.status();
  s.slots = a.k_cache->shape[0] * s.places;
  PlanBuilder plan(a.op, KernelTime::linear);
  Indices at{};
  at.kv = plan.input(a.kv);
  at.gamma = plan.input(a.gamma);
  at.cos = plan.input(a.cos);
  at.sin = plan.input(a.sin);
  at.index = plan.input(a.index);
  at.cache[0] = plan.in_place(a.k_cache);
  at.cache[1] = plan.in_place(a.ckv_cache);
  at.scale[0] = plan.input(a.k_scale);
  at.scale[1] = plan.input(a.ckv_scale);
  at.offset[0] = plan.input(a.k_offset);
  at.offset[1] = plan.input(a.ckv_offset);
  at.v = !a.second ? plan.input_if(nullptr) : s.apart ? plan.input(a.v) : plan.unused(a.v);
  at.out[0] = keeps ? plan.output(a.k_out) : plan.unused(a.k_out);
  at.out[1] = keeps ? plan.output(a.ckv_out) : plan.unused(a.ckv_out);
  // A 910B passes over offsets where keys and values share a tensor.
  const bool shifts = s.apart || chip_is_950();
  const auto all = std::make_shared<const std::pair<Sizes, Indices>>(s, at);
  const char *op = a.op;
  const double epsilon = a.epsilon;
  return plan.finish(
      [=](PlanContext &c) {
        return run(c, op, *mode, all->first, all->second, epsilon, keeps, shifts);
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(KvRmsNormRopeCache,
             (const aclTensor *kv, const aclTensor *gamma, const aclTensor *cos,
              const aclTensor *sin, const aclTensor *index, aclTensor *kCacheRef,
              aclTensor *ckvCacheRef, const aclTensor *kRopeScaleOptional,
              const aclTensor *cKvScaleOptional, const aclTensor *kRopeOffsetOptional,
              const aclTensor *cKvOffsetOptional, double epsilon, const char *cacheModeOptional,
              bool isOutputKv, aclTensor *kRopeOut, aclTensor *cKvOut)) {
  return emu::plan_kv(
      {"aclnnKvRmsNormRopeCache", kv, gamma, cos, sin, index, kCacheRef, ckvCacheRef,
       kRopeScaleOptional, cKvScaleOptional, kRopeOffsetOptional, cKvOffsetOptional, nullptr,
       epsilon, cacheModeOptional, isOutputKv, kRopeOut, cKvOut, false},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(KvRmsNormRopeCacheV2,
             (const aclTensor *kv, const aclTensor *gamma, const aclTensor *cos,
              const aclTensor *sin, const aclTensor *index, aclTensor *kCacheRef,
              aclTensor *ckvCacheRef, const aclTensor *kRopeScaleOptional,
              const aclTensor *cKvScaleOptional, const aclTensor *kRopeOffsetOptional,
              const aclTensor *cKvOffsetOptional, const aclTensor *vOptional, double epsilon,
              const char *cacheModeOptional, bool isOutputKv, aclTensor *kRopeOut,
              aclTensor *cKvOut)) {
  return emu::plan_kv(
      {"aclnnKvRmsNormRopeCacheV2", kv, gamma, cos, sin, index, kCacheRef, ckvCacheRef,
       kRopeScaleOptional, cKvScaleOptional, kRopeOffsetOptional, cKvOffsetOptional, vOptional,
       epsilon, cacheModeOptional, isOutputKv, kRopeOut, cKvOut, true},
      workspaceSize, executor);
}
EMU_CATCH
