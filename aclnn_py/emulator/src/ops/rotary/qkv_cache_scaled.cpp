// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// QkvRmsNormRopeCacheWithKScale: queries and keys normalised, turned, multiplied by a common matrix
// and quantised by token and head; keys, values and the scales of keys go into caches of pages.
#include <cstring>

#include "aclnnop/posembedding.h"
#include "core/half.h"
#include "ops/moe/routing.h"
#include "ops/norm/rms.h"
#include "ops/rotary/rotate.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnQkvRmsNormRopeCacheWithKScale";
constexpr int64_t kHead = 128, kMostQueries = 64, kQueriesPerKey = 8;

struct ScaledCall {
  const aclTensor *qkv, *gamma[2], *table, *slots, *caches[2], *key_scales, *starts, *lengths;
  const aclTensor *rotation, *value_scale;
  const aclIntArray *heads;
  const char *layout, *out_layout;
  const aclTensor *q_out, *q_scale;
};

struct ScaledSizes {
  int64_t tokens, batch, queries, keys, all, positions, blocks, block, width;
  bool heads_first, out_heads_first;
};

// Null and "" stand for the default.
bool heads_first(Check &check, const char *name, const char *given, const char *fallback) {
  const char *text = given == nullptr || *given == 0 ? fallback : given;
  const bool first = std::strcmp(text, "NTD") == 0;
  check.that(first || std::strcmp(text, "TND") == 0,
             "%s is \"%.40s\"; allowed: \"TND\", \"NTD\", and null for \"%s\"", name, text,
             fallback);
  return first;
}

void check_dtypes(Check &check, const ScaledCall &a) {
  check.dtype("qkv", a.qkv).dtype("qGamma", a.gamma[0]).dtype("kGamma", a.gamma[1]);
  check.dtype("cosSin", a.table).dtype("slotMapping", a.slots).dtype("kCacheRef", a.caches[0]);
  check.dtype("vCacheRef", a.caches[1]).dtype("kScaleCacheRef", a.key_scales);
  check.dtype("queryStartLoc", a.starts).dtype("seqLens", a.lengths);
  check.dtype("rotationOptional", a.rotation).dtype("vScaleOptional", a.value_scale);
  check.dtype("qOut", a.q_out).dtype("qScale", a.q_scale);
}

void check_heads(Check &check, const ScaledCall &a, ScaledSizes *s) {
  const std::vector<int64_t> &heads = a.heads->values;
  check.that(heads.size() == 3, "headNums has %zu numbers; allowed: 3", heads.size());
  if (!check.ok()) return;
  s->queries = heads[0], s->keys = heads[1];
  check.that(
      heads[0] >= kQueriesPerKey && heads[0] <= kMostQueries && heads[0] % kQueriesPerKey == 0 &&
          heads[1] == heads[0] / kQueriesPerKey && heads[2] == heads[1],
      "headNums is [%lld, %lld, %lld]; allowed: up to %lld heads of queries, %lld for each "
      "head of keys, and as many heads of values as of keys",
      wide(heads[0]), wide(heads[1]), wide(heads[2]), wide(kMostQueries), wide(kQueriesPerKey));
  if (!check.ok()) return;  // any numbers could not be added up
  s->heads_first = heads_first(check, "layoutQkv", a.layout, "TND");
  s->out_heads_first = heads_first(check, "layoutQOut", a.out_layout, "NTD");
  check.that(s->out_heads_first || !s->heads_first,
             "layoutQOut is \"TND\" and layoutQkv \"NTD\"; allowed then: \"NTD\"");
  s->all = s->queries + 2 * s->keys, s->width = kHead;
}

// A cache may have gaps; a place of it is one run.
void check_gaps(Check &check, const char *name, const aclTensor &cache, int64_t least) {
  for (const int64_t stride : cache.strides)
    check.that(stride > 0, "%s has a stride of %lld; strides are positive", name, wide(stride));
  check.that(cache.strides[3] == 1, "%s has %lld as its last stride; allowed: 1", name,
             wide(cache.strides[3]));
  for (const int axis : {1, 2})
    check.that(cache.strides[axis] >= least,
               "%s has a stride of %lld along its dimension %d; it must be at least %lld", name,
               wide(cache.strides[axis]), axis, wide(least));
}

void check_caches(Check &check, const ScaledCall &a, ScaledSizes *s) {
  const aclTensor &keys = *a.caches[0], &values = *a.caches[1];
  check.rank("kCacheRef", &keys, 4, 4);
  if (!check.ok()) return;
  s->blocks = keys.shape[0], s->block = keys.shape[2];
  const int64_t cache[] = {s->blocks, s->keys, s->block, kHead};
  const int64_t scales[] = {s->blocks, s->keys, s->block, 1};
  check.that(s->blocks > 0 && s->block > 0, "kCacheRef has shape %s; no dimension may be 0",
             shape_text(layout_of(keys)).c_str());
  check.shape("kCacheRef", &keys, dense_layout(cache, 4));
  check.shape("vCacheRef", &values, dense_layout(cache, 4));
  check.shape("kScaleCacheRef", a.key_scales, dense_layout(scales, 4));
  if (!check.ok()) return;
  check_gaps(check, "kCacheRef", keys, kHead);
  check_gaps(check, "vCacheRef", values, kHead);
  check_gaps(check, "kScaleCacheRef", *a.key_scales, 1);
  for (int axis = 0; axis < 3; ++axis)
    check.that(keys.strides[axis] == values.strides[axis],
               "vCacheRef has a stride of %lld along its dimension %d; kCacheRef has %lld",
               wide(values.strides[axis]), axis, wide(keys.strides[axis]));
}

void check_shapes(Check &check, const ScaledCall &a, ScaledSizes *s) {
  for (const auto &[name, tensor] : {std::pair{"qkv", a.qkv},
                                     {"kCacheRef", a.caches[0]},
                                     {"vCacheRef", a.caches[1]},
                                     {"kScaleCacheRef", a.key_scales},
                                     {"qOut", a.q_out}})
    check.plain_format(name, tensor);
  check_heads(check, a, s);
  check.rank("qkv", a.qkv, 3, 3).rank("cosSin", a.table, 2, 2);
  check.rank("seqLens", a.lengths, 1, 1);
  if (!check.ok()) return;
  s->tokens = a.qkv->shape[s->heads_first ? 1 : 0];
  s->batch = a.lengths->shape[0], s->positions = a.table->shape[0];
  check.that(s->tokens > 0, "qkv has no tokens; an empty tensor is not taken");
  check.that(s->positions > 0, "cosSin has no rows; an empty tensor is not taken");
  check.that(s->batch > 0, "seqLens is empty; it has one length per sequence");
  const int64_t rows[] = {s->heads_first ? s->all : s->tokens, s->heads_first ? s->tokens : s->all,
                          kHead};
  const int64_t made[] = {s->out_heads_first ? s->queries : s->tokens,
                          s->out_heads_first ? s->tokens : s->queries, kHead};
  const int64_t square[] = {kHead, kHead}, table[] = {s->positions, kHead};
  const int64_t bounds = s->batch + 1;
  check.shape("qkv", a.qkv, dense_layout(rows, 3)).shape("qOut", a.q_out, dense_layout(made, 3));
  check.shape("qScale", a.q_scale, dense_layout(made, 2));
  check.shape("qGamma", a.gamma[0], dense_layout(&kHead, 1));
  check.shape("kGamma", a.gamma[1], dense_layout(&kHead, 1));
  check.shape("cosSin", a.table, dense_layout(table, 2));
  check.shape("slotMapping", a.slots, dense_layout(&s->tokens, 1));
  check.shape("queryStartLoc", a.starts, dense_layout(&bounds, 1));
  check.shape("rotationOptional", a.rotation, dense_layout(square, 2));
  check.shape("vScaleOptional", a.value_scale, dense_layout(&s->keys, 1));
  if (check.ok()) check_caches(check, a, s);
}

struct ScaledJob {
  size_t qkv, gamma[2], table, slots, cache[2], key_scales, starts, lengths, rotation, value_scale,
      q_out, q_scale;
  ScaledSizes sizes;
  double epsilon;
};

// The row of the table that each token turns by.
Status find_positions(PlanContext &c, const ScaledJob &job, std::vector<int64_t> *found) {
  const ScaledSizes &s = job.sizes;
  const std::vector<int64_t> starts = read_all<int64_t>(c, job.starts, s.batch + 1, 0),
                             lengths = read_all<int64_t>(c, job.lengths, s.batch, 0);
  found->assign(static_cast<size_t>(s.tokens), 0);
  for (int64_t b = 0; b <= s.batch; ++b) {
    const int64_t at = starts[static_cast<size_t>(b)];
    const int64_t least = b == 0 ? 0 : b == s.batch ? s.tokens : starts[static_cast<size_t>(b - 1)];
    const int64_t most = b == 0 ? 0 : s.tokens;
    if (at < least || at > most)
      return fail(kKernelFault, "%s: queryStartLoc[%lld] is %lld; allowed: %lld to %lld.", kOp,
                  wide(b), wide(at), wide(least), wide(most));
  }
  for (int64_t b = 0; b < s.batch; ++b) {
    const auto i = static_cast<size_t>(b);
    const int64_t count = starts[i + 1] - starts[i];
    if (lengths[i] < count || lengths[i] > s.positions)
      return fail(kKernelFault,
                  "%s: seqLens[%lld] is %lld; allowed: %lld, its tokens in this call, to the %lld "
                  "rows of cosSin.",
                  kOp, wide(b), wide(lengths[i]), wide(count), wide(s.positions));
    for (int64_t t = 0; t < count; ++t)
      (*found)[static_cast<size_t>(starts[i] + t)] = lengths[i] - count + t;
  }
  return 0;
}

// x becomes bfloat16(x) @ matrix, in float32.
void multiply(float *x, const float *matrix, float *scratch) {
  for (int64_t k = 0; k < kHead; ++k) scratch[k] = bfloat16_to_float(float_to_bfloat16(x[k]));
  std::fill_n(x, kHead, 0.0f);
  for (int64_t k = 0; k < kHead; ++k) {
    const float factor = scratch[k];
    const float *row = matrix + k * kHead;
    for (int64_t d = 0; d < kHead; ++d) x[d] += factor * row[d];
  }
}

Status run_scaled(PlanContext &c, const ScaledJob &job) {
  const ScaledSizes &s = job.sizes;
  std::vector<int64_t> positions;
  if (const Status status = find_positions(c, job, &positions)) return status;
  const std::vector<int64_t> slots = read_all<int64_t>(c, job.slots, s.tokens, 0);
  const int64_t places = s.blocks * s.block;
  for (size_t t = 0; t < slots.size(); ++t) {
    if (slots[t] < 0 || slots[t] >= places)
      return fail(kKernelFault, "%s: slotMapping[%zu] is %lld; allowed: 0 to %lld.", kOp, t,
                  wide(slots[t]), wide(places - 1));
  }
  const View made = view_of(c.tensor(job.q_out)), keys = view_of(c.tensor(job.cache[0])),
             values = view_of(c.tensor(job.cache[1])), scales = view_of(c.tensor(job.key_scales)),
             q_scales = view_of(c.tensor(job.q_scale));
  Apart apart;
  const auto source = [&](size_t index) {
    return RowSource<float>(
        apart.from(view_of(c.tensor(index)), {made, keys, values, scales, q_scales}));
  };
  const RowSource<float> qkv = source(job.qkv), table = source(job.table);
  const QuantTarget q_to(c.tensor(job.q_out)),
      to[] = {QuantTarget(c.tensor(job.cache[0])), QuantTarget(c.tensor(job.cache[1]))};
  const RowTarget<float> q_scale_to(q_scales), k_scale_to(scales);
  const std::vector<float> gammas[] = {read_all<float>(c, job.gamma[0], kHead, 1.0f),
                                       read_all<float>(c, job.gamma[1], kHead, 1.0f)};
  const std::vector<float> matrix = read_all<float>(c, job.rotation, kHead * kHead, 0.0f),
                           by = read_all<float>(c, job.value_scale, s.keys, 1.0f);
  const QuantRange range = quant_range(ACL_FLOAT8_E4M3FN);
  for_each_row<float>(s.tokens * s.all, 4 * kHead, 1, [&](int64_t row, float *x) {
    float *cosine = x + kHead, *sine = cosine + kHead, *result = sine + kHead;
    const int64_t token = row / s.all, head = row % s.all;
    const bool query = head < s.queries, value = head >= s.queries + s.keys;
    qkv.read((s.heads_first ? head * s.tokens + token : row) * kHead, kHead, x);
    const int64_t slot = slots[static_cast<size_t>(token)], own = (head - s.queries) % s.keys;
    const int64_t place = query ? 0 : ((slot / s.block) * s.keys + own) * s.block + slot % s.block;
    if (value) {
      for (int64_t d = 0; d < kHead; ++d) x[d] *= by[static_cast<size_t>(own)];
      return to[1].write(place * kHead, kHead, x);
    }
    rms_normalise(x, s.width, job.epsilon, gammas[query ? 0 : 1].data());
    table.read(positions[static_cast<size_t>(token)] * kHead, kHead, result);
    for (int64_t d = 0; d < kHead; ++d) {
      cosine[d] = result[d % (kHead / 2)];
      sine[d] = result[kHead / 2 + d % (kHead / 2)];
    }
    rotate(kHalf, x, cosine, sine, kHead, result);
    multiply(result, matrix.data(), x);
    const RowScale found = scale_symmetric(result, s.width, range);
    if (query) {
      const int64_t at = s.out_heads_first ? head * s.tokens + token : token * s.queries + head;
      q_to.write(at * kHead, kHead, result);
      q_scale_to.write(at, 1, &found.scale);
    } else {
      to[0].write(place * kHead, kHead, result);
      k_scale_to.write(place, 1, &found.scale);
    }
  });
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QkvRmsNormRopeCacheWithKScale,
             (const aclTensor *qkv, const aclTensor *qGamma, const aclTensor *kGamma,
              const aclTensor *cosSin, const aclTensor *slotMapping, aclTensor *kCacheRef,
              aclTensor *vCacheRef, aclTensor *kScaleCacheRef, const aclTensor *queryStartLoc,
              const aclTensor *seqLens, const aclTensor *rotationOptional,
              const aclTensor *vScaleOptional, const aclIntArray *headNums, const char *layoutQkv,
              const char *layoutQOut, float epsilon, aclTensor *qOut, aclTensor *qScale)) {
  using namespace emu;
  const ScaledCall a{qkv,
                     {qGamma, kGamma},
                     cosSin,
                     slotMapping,
                     {kCacheRef, vCacheRef},
                     kScaleCacheRef,
                     queryStartLoc,
                     seqLens,
                     rotationOptional,
                     vScaleOptional,
                     headNums,
                     layoutQkv,
                     layoutQOut,
                     qOut,
                     qScale};
  Check check(kOp);
  check.required("qkv", qkv).required("qGamma", qGamma).required("kGamma", kGamma);
  check.required("cosSin", cosSin).required("slotMapping", slotMapping);
  check.required("kCacheRef", kCacheRef).required("vCacheRef", vCacheRef);
  check.required("kScaleCacheRef", kScaleCacheRef).required("queryStartLoc", queryStartLoc);
  check.required("seqLens", seqLens).required("rotationOptional", rotationOptional);
  check.required("vScaleOptional", vScaleOptional).required("headNums", headNums);
  check.required("qOut", qOut).required("qScale", qScale);
  if (const Status status = check_chip(check, kInvalid)) return status;
  check_dtypes(check, a);
  ScaledJob job{};
  if (check.ok()) check_shapes(check, a, &job.sizes);
  if (!check.ok()) return check.status();
  job.epsilon = static_cast<double>(epsilon);
  PlanBuilder plan(kOp, KernelTime::linear);
  job.qkv = plan.input(qkv);
  job.gamma[0] = plan.input(qGamma), job.gamma[1] = plan.input(kGamma);
  job.table = plan.input(cosSin), job.slots = plan.input(slotMapping);
  job.cache[0] = plan.in_place(kCacheRef), job.cache[1] = plan.in_place(vCacheRef);
  job.key_scales = plan.in_place(kScaleCacheRef);
  job.starts = plan.input(queryStartLoc), job.lengths = plan.input(seqLens);
  job.rotation = plan.input(rotationOptional), job.value_scale = plan.input(vScaleOptional);
  job.q_out = plan.output(qOut), job.q_scale = plan.output(qScale);
  const auto kept = std::make_shared<const ScaledJob>(job);
  return plan.finish([kept](PlanContext &c) { return run_scaled(c, *kept); }, workspaceSize,
                     executor);
}
EMU_CATCH
