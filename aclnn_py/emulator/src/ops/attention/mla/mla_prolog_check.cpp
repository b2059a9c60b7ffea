// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/chip.h"
#include "ops/attention/mla/mla_prolog.h"

namespace emu {
namespace {

void check_present(Check &check, const PrologCall &c) {
  check.required("tokenX", c.x).required("weightDq", c.w_dq).required("weightUqQr", c.w_uq_qr);
  check.required("weightUk", c.w_uk).required("weightDkvKr", c.w_dkv_kr);
  check.required("rmsnormGammaCq", c.gamma_cq).required("rmsnormGammaCkv", c.gamma_ckv);
  check.required("ropeSin", c.sin).required("ropeCos", c.cos);
  if (c.version < 3) check.required("cacheIndex", c.index);
  check.required("kvCacheRef", c.kv_cache).required("krCacheRef", c.kr_cache);
  check.optional("cacheIndexOptional", c.index).optional("dequantScaleXOptional", c.scale_x);
  check.optional("dequantScaleWDqOptional", c.scale_w_dq);
  check.optional("dequantScaleWUqQrOptional", c.scale_w_uq_qr);
  check.optional("dequantScaleWDkvKrOptional", c.scale_w_dkv_kr);
  check.optional("quantScaleCkvOptional", c.quant_ckv);
  check.optional("quantScaleCkrOptional", c.quant_ckr);
  check.optional("smoothScalesCqOptional", c.smooth).optional("actualSeqLenOptional", c.ends);
  check.optional("kNopeClipAlphaOptional", c.clip);
  check.required("queryOut", c.query).required("queryRopeOut", c.query_rope);
  check.optional("dequantScaleQNopeOutOptional", c.query_scale);
  check.optional("queryNormOutOptional", c.query_norm);
  check.optional("dequantScaleQNormOutOptional", c.query_norm_scale);
}

void check_dtypes(Check &check, const PrologCall &c) {
  check.dtype("tokenX", c.x).dtype("weightDq", c.w_dq);
  check.dtype("weightUqQr", c.w_uq_qr).dtype("weightUk", c.w_uk);
  check.dtype("weightDkvKr", c.w_dkv_kr).dtype("rmsnormGammaCq", c.gamma_cq);
  check.dtype("rmsnormGammaCkv", c.gamma_ckv).dtype("ropeSin", c.sin).dtype("ropeCos", c.cos);
  check.dtype(c.version < 3 ? "cacheIndex" : "cacheIndexOptional", c.index);
  check.dtype("kvCacheRef", c.kv_cache).dtype("krCacheRef", c.kr_cache);
  check.dtype("queryOut", c.query).dtype("queryRopeOut", c.query_rope);
  check.dtype("actualSeqLenOptional", c.ends);
  for (const auto &[name, weight] :
       {std::pair{"weightDq", c.w_dq}, {"weightUqQr", c.w_uq_qr}, {"weightDkvKr", c.w_dkv_kr}}) {
    check.rank(name, weight, 2, 2);
    if (check.ok())
      check.that(is_fractal(*weight), "%s has format %s; allowed: FRACTAL_NZ", name,
                 format_name(weight->format));
  }
  check.plain_format("tokenX", c.x).plain_format("weightUk", c.w_uk);
  check.plain_format("kvCacheRef", c.kv_cache).plain_format("krCacheRef", c.kr_cache);
}

// What is quantised, as the dtypes say; the attributes of the third version must agree.
void find_scene(Check &check, const PrologCall &c, PrologSizes *s) {
  s->whole = c.x->dtype != ACL_BF16;
  s->part = c.w_uq_qr->dtype != ACL_BF16;
  s->keys = c.kv_cache->dtype != ACL_BF16;
  s->low = s->whole ? c.x->dtype : ACL_INT8;
  s->mx = s->whole && c.version == 3 && c.weight_mode == 3;
  s->queries = s->whole && s->keys;
  const aclDataType low = s->whole ? s->low : ACL_BF16;
  check.dtype_in("weightDq", c.w_dq->dtype, dtype_set(low));
  check.dtype_in("weightDkvKr", c.w_dkv_kr->dtype, dtype_set(low));
  check.that(s->part || !s->whole, "weightUqQr has dtype BF16; tokenX of %s needs %s",
             dtype_name(s->low), dtype_name(s->low));
  if (s->part) check.dtype_in("weightUqQr", c.w_uq_qr->dtype, dtype_set(s->low));
  check.that(s->part || !s->keys, "kvCacheRef has dtype %s; then weightUqQr must have it too",
             dtype_name(c.kv_cache->dtype));
  if (s->keys) check.dtype_in("kvCacheRef", c.kv_cache->dtype, dtype_set(s->low));
  check.dtype_in("krCacheRef", c.kr_cache->dtype,
                 dtype_set(s->keys && !s->whole ? ACL_INT8 : ACL_BF16));
  check.dtype_in("queryOut", c.query->dtype, dtype_set(s->queries ? s->low : ACL_BF16));
  if (c.version < 3) return;
  check.that(c.cache_mode != 3 && c.merged == 0 && c.merged_scales == 0,
             "kvCacheQuantMode is %lld, ckvkrRepoMode %lld and quantScaleRepoMode %lld; this "
             "device takes 0 to 2, and 0 for both others",
             wide(c.cache_mode), wide(c.merged), wide(c.merged_scales));
  check.that(c.clip == nullptr, "kNopeClipAlphaOptional is given; it is for kvCacheQuantMode 3");
  const int64_t weight = !s->whole                     ? s->part
                         : s->low == ACL_FLOAT8_E4M3FN ? (s->mx ? 3 : 4)
                         : s->low == ACL_HIFLOAT8      ? 5
                                                       : 2;
  const int64_t cache = !s->keys ? 0 : s->whole ? 1 : 2, query = s->queries ? 1 : 0;
  check.that(c.weight_mode == weight,
             "weightQuantMode is %lld; the dtypes of the weights mean %lld", wide(c.weight_mode),
             wide(weight));
  check.that(c.cache_mode == cache, "kvCacheQuantMode is %lld; the dtypes of the caches mean %lld",
             wide(c.cache_mode), wide(cache));
  check.that(c.query_mode == query, "queryQuantMode is %lld; the dtype of queryOut means %lld",
             wide(c.query_mode), wide(query));
}

void find_mode(Check &check, const PrologCall &c, PrologSizes *s) {
  struct Mode {
    const char *name;
    PrologPlaces by;
    bool fractal;
  };
  constexpr Mode modes[] = {
      {"PA_BSND", PrologPlaces::kSlots, false},      {"PA_NZ", PrologPlaces::kSlots, true},
      {"PA_BLK_BSND", PrologPlaces::kBlocks, false}, {"PA_BLK_NZ", PrologPlaces::kBlocks, true},
      {"BSND", PrologPlaces::kOwn, false},           {"TND", PrologPlaces::kOwn, false}};
  const char *given = c.mode == nullptr ? "PA_BSND" : c.mode;
  for (int i = 0; i < (c.version < 3 ? 2 : 6); ++i) {
    if (std::strcmp(modes[i].name, given) != 0) continue;
    s->by = modes[i].by;
    s->fractal = modes[i].fractal;
    const bool flat = std::strcmp(given, "TND") == 0;
    check.that(s->by != PrologPlaces::kOwn || (c.x->rank() == 2) == flat,
               "tokenX has %zu dimensions; cacheModeOptional \"%s\" needs %d", c.x->rank(), given,
               flat ? 2 : 3);
    return;
  }
  check.that(
      false, "cacheModeOptional is \"%.40s\"; allowed: %s", given,
      c.version < 3
          ? "null, \"PA_BSND\", \"PA_NZ\""
          : "null, \"PA_BSND\", \"PA_NZ\", \"PA_BLK_BSND\", \"PA_BLK_NZ\", \"BSND\", \"TND\"");
}

void check_sizes(Check &check, const PrologCall &c, PrologSizes *s) {
  constexpr int64_t hidden[] = {1024, 2048, 3072, 4096, 5120, 6144, 7168, 7680, 8192};
  check.rank("tokenX", c.x, 2, 3).rank("weightUk", c.w_uk, 3, 3);
  if (!check.ok()) return;
  const bool deep = c.x->rank() == 3;
  s->batches = deep ? c.x->shape[0] : 0;
  s->sequence = deep ? c.x->shape[1] : c.x->shape[0];
  s->tokens = check.size("tokenX", deep ? Checked(s->batches) * s->sequence : s->sequence);
  s->hidden = c.x->shape.back();
  s->query_rank = c.w_dq->shape[1];
  s->heads = c.w_uk->shape[0];
  s->head = c.w_uk->shape[1];
  check.that(std::count(std::begin(hidden), std::end(hidden), s->hidden) == 1,
             "tokenX has %lld as its last dimension; allowed: 1024 to 6144 in steps of 1024, 7168, "
             "7680, 8192",
             wide(s->hidden));
  check.that(s->query_rank == 1536 || (c.version == 3 && s->query_rank == 2048),
             "weightDq has %lld columns; allowed: 1536%s", wide(s->query_rank),
             c.version == 3 ? ", 2048" : "");
  check.that(s->heads > 0 && s->heads <= 128 && (s->heads & (s->heads - 1)) == 0,
             "weightUk has %lld heads; allowed: a power of two up to 128", wide(s->heads));
  check.that(s->head == 128 || (c.version == 3 && s->head == 192),
             "weightUk has heads of %lld; allowed: 128%s", wide(s->head),
             c.version == 3 ? ", 192" : "");
}

void check_shapes(Check &check, const PrologCall &c, const PrologSizes &s) {
  const bool deep = s.batches != 0 || c.x->rank() == 3;
  const int64_t all = s.heads * (s.head + kRotary), joined = kKeyRank + kRotary;
  const auto two = [](int64_t a, int64_t b) {
    const int64_t shape[] = {a, b};
    return dense_layout(shape, 2);
  };
  const auto one = [](int64_t a) { return dense_layout(&a, 1); };
  const auto by_token = [&](int64_t a, int64_t b, bool has_b) {
    Layout shape;
    if (deep) shape.push(s.batches, 0);
    shape.push(s.sequence, 0);
    shape.push(a, 0);
    if (has_b) shape.push(b, 0);
    return dense_like(shape);
  };
  const int64_t keys[] = {s.heads, s.head, kKeyRank};
  check.shape("weightDq", c.w_dq, two(s.hidden, s.query_rank));
  check.shape("weightUqQr", c.w_uq_qr, two(s.query_rank, all));
  check.shape("weightUk", c.w_uk, dense_layout(keys, 3));
  check.shape("weightDkvKr", c.w_dkv_kr, two(s.hidden, joined));
  check.shape("rmsnormGammaCq", c.gamma_cq, one(s.query_rank));
  check.shape("rmsnormGammaCkv", c.gamma_ckv, one(kKeyRank));
  check.shape("ropeSin", c.sin, by_token(kRotary, 0, false));
  check.shape("ropeCos", c.cos, by_token(kRotary, 0, false));
  check.shape("queryOut", c.query, by_token(s.heads, kKeyRank, true));
  check.shape("queryRopeOut", c.query_rope, by_token(s.heads, kRotary, true));
  check.that(c.x->contiguous(), "tokenX must be contiguous");
  struct Factor {
    const char *name;
    const aclTensor *given;
    bool needed, allowed, result;
    Layout shape;
  };
  const int64_t heads[] = {s.tokens, s.heads, 1};
  const bool channels = s.keys && !s.whole, single = c.version == 3 && s.queries;
  const bool norms = c.query_norm != nullptr;
  // Scales of rows and columns, or powers of two for 32 values.
  const auto scales = [&](int64_t count, int64_t depth, bool rows) {
    if (s.mx) return two(count, depth / 32);
    return rows ? two(count, 1) : two(1, count);
  };
  const Factor factors[] = {
      {"dequantScaleXOptional", c.scale_x, s.whole, s.whole, false,
       scales(s.tokens, s.hidden, true)},
      {"dequantScaleWDqOptional", c.scale_w_dq, s.whole, s.whole, false,
       scales(s.query_rank, s.hidden, false)},
      {"dequantScaleWUqQrOptional", c.scale_w_uq_qr, s.part, s.part, false,
       scales(all, s.query_rank, false)},
      {"dequantScaleWDkvKrOptional", c.scale_w_dkv_kr, s.whole, s.whole, false,
       scales(joined, s.hidden, false)},
      {"quantScaleCkvOptional", c.quant_ckv, s.keys, s.keys, false,
       single ? one(1) : two(1, kKeyRank)},
      {"quantScaleCkrOptional", c.quant_ckr, channels, channels, false, two(1, kRotary)},
      {"smoothScalesCqOptional", c.smooth, false, s.part && !s.mx, false, two(1, s.query_rank)},
      {"dequantScaleQNopeOutOptional", c.query_scale, s.queries, true, true,
       dense_layout(heads, 3)},
      {"dequantScaleQNormOutOptional", c.query_norm_scale, norms && s.part, true, true,
       scales(s.tokens, s.query_rank, true)}};
  const std::string_view plain[] = {"quantScaleCkvOptional", "quantScaleCkrOptional",
                                    "smoothScalesCqOptional", "dequantScaleQNopeOutOptional"};
  for (const Factor &factor : factors) {
    check.that(factor.given != nullptr || !factor.needed, "%s is null; it must be given here",
               factor.name);
    check.that(factor.given == nullptr || factor.allowed, "%s is given; it must be null here",
               factor.name);
    // A result that is not written may have any shape.
    if (!check.ok() || factor.given == nullptr) continue;
    const bool power =
        s.mx && std::find(std::begin(plain), std::end(plain), factor.name) == std::end(plain);
    check.dtype_in(factor.name, factor.given->dtype,
                   dtype_set(power ? ACL_FLOAT8_E8M0 : ACL_FLOAT));
    if (factor.needed || !factor.result) check.shape(factor.name, factor.given, factor.shape);
  }
  if (norms && check.ok()) {
    check.shape("queryNormOutOptional", c.query_norm, by_token(s.query_rank, 0, false));
    check.dtype_in("queryNormOutOptional", c.query_norm->dtype,
                   dtype_set(s.part ? s.low : ACL_BF16));
  }
}

void check_caches(Check &check, const PrologCall &c, PrologSizes *s) {
  const bool deep = c.x->rank() == 3, own = s->by == PrologPlaces::kOwn;
  const int rank = own && !deep ? 3 : 4;
  check.rank("kvCacheRef", c.kv_cache, rank, rank).rank("krCacheRef", c.kr_cache, rank, rank);
  if (!check.ok()) return;
  const Dims &shape = c.kv_cache->shape;
  s->places = rank == 4 ? shape[1] : 1;
  for (const auto &[name, cache, width] : {std::tuple{"kvCacheRef", c.kv_cache, kKeyRank},
                                           std::tuple{"krCacheRef", c.kr_cache, kRotary}}) {
    const int64_t four[] = {own ? s->batches : shape[0], own ? s->sequence : shape[1], 1, width};
    const int64_t three[] = {s->tokens, 1, width};
    check.shape(name, cache, dense_layout(rank == 4 ? four : three, rank));
    if (s->fractal)
      check.that(cache->contiguous(), "%s must be contiguous in this cacheModeOptional", name);
  }
  const char *index = c.version < 3 ? "cacheIndex" : "cacheIndexOptional";
  if (own) {
    check.that(c.index == nullptr, "%s is given; it must be null in this cacheModeOptional", index);
    s->slots = s->tokens;
    return;
  }
  check.that(s->places % 16 == 0 && s->places <= 1024 && (s->places >= 16 || shape[0] == 0),
             "kvCacheRef has blocks of %lld places; allowed: a multiple of 16 up to 1024",
             wide(s->places));
  check.that(c.index != nullptr, "%s is null; it must be given in this cacheModeOptional", index);
  if (!check.ok()) return;
  const bool blocks = s->by == PrologPlaces::kBlocks;
  const int64_t each =
      blocks && s->places > 0 ? (s->sequence + s->places - 1) / s->places : s->sequence;
  const int64_t pair[] = {s->batches, each};
  if (deep) check.shape(index, c.index, dense_layout(pair, 2));
  else if (!blocks) check.shape(index, c.index, dense_layout(&s->tokens, 1));
  else check.rank(index, c.index, 1, 1);
  check.that(deep || !blocks || c.ends != nullptr,
             "actualSeqLenOptional is null; it must be given in this cacheModeOptional");
  check.rank("actualSeqLenOptional", c.ends, 1, 1);
  s->slots = shape[0] * s->places;
}

}  // namespace

PrologSizes check_prolog(Check &check, const PrologCall &c) {
  PrologSizes s{};
  check_present(check, c);
  check.that(c.version == 3 || !chip_is_950(), "this chip does not have the operator");
  check_dtypes(check, c);
  check.tiling();
  if (check.ok()) check_sizes(check, c, &s);
  if (check.ok()) find_scene(check, c, &s);
  if (check.ok()) find_mode(check, c, &s);
  if (check.ok()) check_shapes(check, c, s);
  if (check.ok()) check_caches(check, c, &s);
  return s;
}

}  // namespace emu
