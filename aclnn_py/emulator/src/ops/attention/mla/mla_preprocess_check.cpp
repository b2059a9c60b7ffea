// SPDX-License-Identifier: Apache-2.0
#include "core/chip.h"
#include "ops/attention/mla/mla_preprocess.h"

namespace emu {
namespace {

constexpr int64_t kMostTokens = 256, kLeastHidden = 2048, kMostHidden = 10240, kHiddenUnit = 256,
                  kLeastRank = 32, kMostRank = 4096, kMostHeads = 128, kLeastHead = 16,
                  kMostHead = 256, kPlaces = 128;

struct StepNames {
  const char *gamma, *beta, *scale, *offset, *weight, *factors, *bias;
};
constexpr StepNames kNames[] = {
    {"gamma0", "beta0", "quantScale0", "quantOffset0", "wdqkv", "deScale0", "bias0"},
    {"gamma1", "beta1", "quantScale1", "quantOffset1", "wuq", "deScale1", "bias1"}};

void check_present(Check &check, const PreprocessCall &c) {
  check.required("input", c.input);
  for (int i = 0; i < 2; ++i) {
    const PreprocessStep &s = c.step[i];
    const StepNames &n = kNames[i];
    check.required(n.gamma, s.gamma).required(n.beta, s.beta).required(n.scale, s.scale);
    check.required(n.offset, s.offset).required(n.weight, s.weight);
    check.required(n.factors, s.factors).required(n.bias, s.bias);
  }
  check.required("gamma2", c.gamma).required("cos", c.cos).required("sin", c.sin);
  check.required("wuk", c.up).required("kvCache", c.kv_cache).required("slotMapping", c.slots);
  check.optional("kvCacheRopeOptional", c.kr_cache).optional("ctkvScaleOptional", c.unused[0]);
  check.optional("qNopeScaleOptional", c.unused[1]);
  check.required("qOut", c.query).required("kvCacheOut", c.kv_out);
  check.optional("qRopeOutOptional", c.query_rope).optional("krCacheOutOptional", c.kr_out);
  check.optional("qDownOut", c.down);
}

void check_dtypes(Check &check, const PreprocessCall &c) {
  check.dtype("input", c.input);
  for (int i = 0; i < 2; ++i) {
    const PreprocessStep &s = c.step[i];
    const StepNames &n = kNames[i];
    check.dtype(n.gamma, s.gamma).dtype(n.beta, s.beta).dtype(n.scale, s.scale);
    check.dtype(n.offset, s.offset).dtype(n.weight, s.weight).dtype(n.factors, s.factors);
    check.dtype(n.bias, s.bias);
  }
  check.dtype("gamma2", c.gamma).dtype("cos", c.cos).dtype("sin", c.sin).dtype("wuk", c.up);
  check.dtype("kvCache", c.kv_cache).dtype("kvCacheRopeOptional", c.kr_cache);
  check.dtype("slotMapping", c.slots).dtype("ctkvScaleOptional", c.unused[0]);
  check.dtype("qNopeScaleOptional", c.unused[1])
      .dtype("qOut", c.query)
      .dtype("kvCacheOut", c.kv_out);
  check.dtype("qRopeOutOptional", c.query_rope)
      .dtype("krCacheOutOptional", c.kr_out)
      .dtype("qDownOut", c.down);
  if (!check.ok()) return;
  const aclDataType kind = c.input->dtype;
  const auto same = [&](const char *name, const aclTensor *given) {
    if (given != nullptr) check.same_dtype(name, given->dtype, "input", kind);
  };
  for (int i = 0; i < 2; ++i) {
    const PreprocessStep &s = c.step[i];
    same(kNames[i].gamma, s.gamma);
    same(kNames[i].beta, s.beta);
    same(kNames[i].scale, s.scale);
    check.dtype_in(kNames[i].factors, s.factors->dtype,
                   dtype_set(kind == ACL_FLOAT16 ? ACL_INT64 : ACL_FLOAT));
  }
  for (const auto &[name, given] : {std::pair{"gamma2", c.gamma},
                                    {"cos", c.cos},
                                    {"sin", c.sin},
                                    {"wuk", c.up},
                                    {"kvCache", c.kv_cache},
                                    {"qOut", c.query},
                                    {"kvCacheOut", c.kv_out}})
    same(name, given);
  if (c.cache_mode == kJoinedCache) return;
  same("kvCacheRopeOptional", c.kr_cache);
  same("qRopeOutOptional", c.query_rope);
  same("krCacheOutOptional", c.kr_out);
}

void check_modes(Check &check, const PreprocessCall &c) {
  check.that(c.quant_mode == 0, "quantMode is %lld; allowed: 0 (by tensor, with an offset)",
             wide(c.quant_mode));
  check.that(
      c.cache_mode == kJoinedCache || c.cache_mode == kSplitCache || c.cache_mode == kBlockedCache,
      "cacheMode is %lld; allowed: 0, 1, 3 (of 2 the document does not say how ctkvScaleOptional "
      "and qNopeScaleOptional are applied)",
      wide(c.cache_mode));
  check.that(c.transposed[0] && c.transposed[1] && c.transposed[2],
             "transposeWdq is %d, transposeWuq %d and transposeWuk %d; all must be true",
             c.transposed[0], c.transposed[1], c.transposed[2]);
  check.that(c.parts == 1, "wdkvSplitCount is %lld; allowed: 1", wide(c.parts));
  check.that(!c.with_down,
             "qDownOutFlag is true; it must be false, because the document does not say whether "
             "qDownOut holds the values in front of the norm or behind it");
}

// (rows, columns) in FRACTAL_NZ, or the four dimensions of its blocks.
void check_weight(Check &check, const char *name, const aclTensor *weight, int64_t rows,
                  int64_t columns) {
  if (!check.ok()) return;
  check.that(is_fractal(*weight), "%s has format %s; allowed: FRACTAL_NZ", name,
             format_name(weight->format));
  check.that(weight->contiguous(), "%s must be contiguous", name);
  const int64_t plain[] = {rows, columns};
  const int64_t blocks[] = {(columns + 31) / 32, (rows + 15) / 16, 16, 32};
  if (weight->rank() == 4) check.shape(name, weight, dense_layout(blocks, 4));
  else check.shape(name, weight, dense_layout(plain, 2));
}

void find_sizes(Check &check, const PreprocessCall &c, PreprocessSizes *s) {
  check.rank("input", c.input, 2, 2).rank("gamma1", c.step[1].gamma, 1, 1).rank("wuk", c.up, 3, 3);
  if (!check.ok()) return;
  s->tokens = c.input->shape[0];
  s->hidden = c.input->shape[1];
  s->rank = c.step[1].gamma->shape[0];
  s->heads = c.up->shape[0];
  s->head = c.up->shape[1];
  check.that(s->tokens <= kMostTokens, "input has %lld tokens; at most %lld are allowed",
             wide(s->tokens), wide(kMostTokens));
  check.that(s->hidden >= kLeastHidden && s->hidden <= kMostHidden && s->hidden % kHiddenUnit == 0,
             "input has %lld as its last dimension; allowed: multiples of 256 from 2048 to 10240",
             wide(s->hidden));
  check.that(s->rank >= kLeastRank && s->rank <= kMostRank && s->rank % kLeastRank == 0,
             "gamma1 has %lld elements; allowed: multiples of 32 up to 4096", wide(s->rank));
  check.that(s->heads >= 1 && s->heads <= kMostHeads, "wuk has %lld heads; allowed: 1 to 128",
             wide(s->heads));
  check.that(s->head >= kLeastHead && s->head <= kMostHead && s->head % kLeastHead == 0,
             "wuk has heads of %lld; allowed: multiples of 16 up to 256", wide(s->head));
}

void check_shapes(Check &check, const PreprocessCall &c, const PreprocessSizes &s) {
  const auto one = [](int64_t a) { return dense_layout(&a, 1); };
  const int64_t widths[] = {s.hidden, s.rank};
  const int64_t rows[] = {kJoinedKey + s.rank, s.heads * (s.head + kRotary)};
  for (int i = 0; i < 2; ++i) {
    const PreprocessStep &p = c.step[i];
    const StepNames &n = kNames[i];
    check.shape(n.gamma, p.gamma, one(widths[i])).shape(n.beta, p.beta, one(widths[i]));
    check.shape(n.scale, p.scale, one(1)).shape(n.offset, p.offset, one(1));
    check_weight(check, n.weight, p.weight, rows[i], widths[i]);
    check.shape(n.factors, p.factors, one(rows[i])).shape(n.bias, p.bias, one(rows[i]));
  }
  const int64_t tables[] = {s.tokens, kRotary}, up[] = {s.heads, s.head, kKeyRank};
  const bool joined = c.cache_mode == kJoinedCache;
  const int64_t query[] = {s.tokens, s.heads, joined ? kJoinedKey : kKeyRank},
                rope[] = {s.tokens, s.heads, kRotary};
  check.shape("gamma2", c.gamma, one(kKeyRank)).shape("wuk", c.up, dense_layout(up, 3));
  check.shape("cos", c.cos, dense_layout(tables, 2)).shape("sin", c.sin, dense_layout(tables, 2));
  check.shape("slotMapping", c.slots, one(s.tokens)).shape("qOut", c.query, dense_layout(query, 3));
  if (joined) return;
  check.required("kvCacheRopeOptional", c.kr_cache).required("qRopeOutOptional", c.query_rope);
  check.required("krCacheOutOptional", c.kr_out)
      .shape("qRopeOutOptional", c.query_rope, dense_layout(rope, 3));
}

void check_caches(Check &check, const PreprocessCall &c, PreprocessSizes *s) {
  const bool joined = c.cache_mode == kJoinedCache, blocked = c.cache_mode == kBlockedCache;
  check.rank("kvCache", c.kv_cache, 4, 4);
  if (!check.ok()) return;
  constexpr int64_t kRun = 16;  // elements in 32 bytes
  const Dims &shape = c.kv_cache->shape;
  s->places = shape[blocked ? 2 : 1];
  check.that(s->places == kPlaces || c.kv_cache->numel() == 0,
             "kvCache has blocks of %lld places; allowed: 128", wide(s->places));
  for (const auto &[name, cache, width] :
       {std::tuple{"kvCache", c.kv_cache, joined ? kJoinedKey : kKeyRank},
        {"kvCacheOut", c.kv_out, joined ? kJoinedKey : kKeyRank},
        {"kvCacheRopeOptional", joined ? nullptr : c.kr_cache, kRotary},
        {"krCacheOutOptional", joined ? nullptr : c.kr_out, kRotary}}) {
    if (cache == nullptr) continue;
    const int64_t plain[] = {shape[0], s->places, 1, width};
    const int64_t runs[] = {shape[0], width / kRun, s->places, kRun};
    check.shape(name, cache, dense_layout(blocked ? runs : plain, 4));
    if (check.ok())
      check.that(cache->strides[3] == 1, "%s has gaps between the elements of a token", name);
  }
  s->slots = check.size("kvCache", Checked(shape[0]) * s->places);
}

}  // namespace

aclTensor weight_matrix(const aclTensor &weight, int64_t rows, int64_t columns) {
  if (weight.rank() == 2) return weight;
  aclTensor matrix = weight;
  matrix.storage_shape = weight.shape;
  matrix.shape = {rows, columns};
  matrix.strides = {columns, 1};
  return matrix;
}

PreprocessSizes check_preprocess(Check &check, const PreprocessCall &c) {
  PreprocessSizes s{};
  check.that(!chip_is_950(), "the chip is %s, which does not have this operator", soc_name());
  check_present(check, c);
  if (check.ok()) check_dtypes(check, c);
  check.tiling();
  if (check.ok()) check_modes(check, c);
  if (check.ok()) find_sizes(check, c, &s);
  if (check.ok()) check_shapes(check, c, s);
  if (check.ok()) check_caches(check, c, &s);
  return s;
}

}  // namespace emu
