// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Rotary embedding with cosines and sines looked up by position: each row of the cache holds the
// cosines, then the sines.
#include "aclnnop/posembedding.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/shared/rows.h"

#include <atomic>

namespace emu {
namespace {

struct Tables {
  int64_t rotary;                   // elements of a head that turn
  int64_t cached;                   // rows of the cache
  std::vector<int64_t> positions;   // (sections, tokens)
  std::vector<int64_t> section_of;  // for each of rotary / 2 angles, the row of positions it uses
  int64_t tokens;
};

// cos and sin of one token; false when a position is outside the cache.
bool angles(const Tables &t, const RowSource<float> &cache, int64_t token, float *cos_sin,
            int64_t *bad) {
  const int64_t half = t.rotary / 2;
  int64_t loaded = -1;
  std::vector<float> line(static_cast<size_t>(t.rotary));
  for (int64_t i = 0; i < half; ++i) {
    const int64_t section = t.section_of[static_cast<size_t>(i)];
    const int64_t position = t.positions[static_cast<size_t>(section * t.tokens + token)];
    if (position < 0 || position >= t.cached) {
      *bad = position;
      return false;
    }
    if (position != loaded) cache.read(position * t.rotary, t.rotary, line.data());
    loaded = position;
    cos_sin[i] = line[static_cast<size_t>(i)];
    cos_sin[half + i] = line[static_cast<size_t>(half + i)];
  }
  return true;
}

void turn_heads(const Tables &t, bool neox, int64_t head_size, int64_t heads, const float *cos_sin,
                float *x) {
  const int64_t half = t.rotary / 2;
  const float *cos = cos_sin, *sin = cos_sin + half;
  for (int64_t h = 0; h < heads; ++h, x += head_size) {
    for (int64_t i = 0; i < half; ++i) {
      float &a = x[neox ? i : 2 * i], &b = x[neox ? half + i : 2 * i + 1];
      const float first = a * cos[i] - b * sin[i], second = b * cos[i] + a * sin[i];
      a = first;
      b = second;
    }
  }
}

// The row of positions that each of `half` angles takes: one section after the other, or in turn,
// where the first section has the angles that the others leave.
std::vector<int64_t> sections_of(const std::vector<int64_t> &lengths, int64_t half, bool in_turn) {
  std::vector<int64_t> sections;
  if (in_turn && lengths.size() > 1) {
    const int64_t last = 3 * std::max<int64_t>(lengths[1], 0);
    for (int64_t i = 0; i < half; ++i) sections.push_back(i < last ? i % 3 : 0);
    return sections;
  }
  for (size_t s = 0; s < lengths.size(); ++s) {
    const auto length = static_cast<size_t>(std::max<int64_t>(lengths[s], 0));
    sections.insert(sections.end(), length, static_cast<int64_t>(s));
  }
  return sections;
}

struct CachedCall {
  const char *op;
  const aclTensor *positions, *query_in, *key_in, *cache;
  const aclIntArray *section;
  int64_t head_size;
  bool neox, in_turn;
  const aclTensor *query_out, *key_out;
};

Status plan_cached(const CachedCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("positions", a.positions)
      .required("queryIn", a.query_in)
      .required("keyIn", a.key_in);
  check.required("cosSinCache", a.cache).optional("mropeSectionOptional", a.section);
  check.required("queryOut", a.query_out).required("keyOut", a.key_out);
  check.dtype("positions", a.positions).dtype("queryIn", a.query_in).dtype("keyIn", a.key_in);
  check.dtype("cosSinCache", a.cache).dtype("queryOut", a.query_out).dtype("keyOut", a.key_out);
  check.rank("positions", a.positions, 1, 2)
      .rank("queryIn", a.query_in, 2, 2)
      .rank("keyIn", a.key_in, 2, 2);
  check.rank("cosSinCache", a.cache, 2, 2);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : {std::pair<const char *, const aclTensor *>{"keyIn", a.key_in},
                                     {"cosSinCache", a.cache},
                                     {"queryOut", a.query_out},
                                     {"keyOut", a.key_out}}) {
    check.same_dtype(name, tensor->dtype, "queryIn", a.query_in->dtype);
  }
  const int64_t tokens = a.query_in->shape[0], rotary = a.cache->shape[1];
  check.that(rotary % 2 == 0 && rotary > 0, "cosSinCache has rows of %lld; it must be even",
             static_cast<long long>(rotary));
  check.that(a.head_size >= rotary, "headSize is %lld, less than the %lld elements that turn",
             static_cast<long long>(a.head_size), static_cast<long long>(rotary));
  check.that(a.head_size > 0 && a.query_in->shape[1] % a.head_size == 0 &&
                 a.key_in->shape[1] % a.head_size == 0,
             "headSize %lld does not divide the rows of queryIn and keyIn",
             static_cast<long long>(a.head_size));
  check.that(a.key_in->shape[0] == tokens, "keyIn has %lld tokens; queryIn has %lld",
             static_cast<long long>(a.key_in->shape[0]), static_cast<long long>(tokens));
  check.shape("queryOut", a.query_out, layout_of(*a.query_in))
      .shape("keyOut", a.key_out, layout_of(*a.key_in));
  const bool several = a.positions->rank() == 2;
  std::vector<int64_t> section_lengths;
  if (several) {
    check.that(a.section != nullptr &&
                   static_cast<int64_t>(a.section->values.size()) == a.positions->shape[0],
               "mropeSectionOptional must have one entry per row of positions");
    if (!check.ok()) return check.status();
    section_lengths = a.section->values;
    Checked sum = 0;
    for (const int64_t length : section_lengths) sum += std::max<int64_t>(length, 0);
    const int64_t total = check.size("mropeSectionOptional", sum);
    check.that(total == rotary / 2, "mropeSectionOptional adds up to %lld; expected %lld",
               static_cast<long long>(total), static_cast<long long>(rotary / 2));
  } else {
    section_lengths = {rotary / 2};
  }
  check.that(
      a.positions->shape[several ? 1 : 0] == tokens, "positions has %lld tokens; queryIn has %lld",
      static_cast<long long>(a.positions->shape[several ? 1 : 0]), static_cast<long long>(tokens));
  if (!check.ok()) return check.status();
  const std::vector<int64_t> sections = sections_of(section_lengths, rotary / 2, a.in_turn);
  const char *op = a.op;
  const int64_t head_size = a.head_size;
  const bool neox = a.neox;
  PlanBuilder plan(op, KernelTime::linear);
  const size_t where = plan.input(a.positions), query = plan.input(a.query_in),
               key = plan.input(a.key_in);
  const size_t table = plan.input(a.cache), query_to = plan.output(a.query_out),
               key_to = plan.output(a.key_out);
  return plan.finish(
      [=](PlanContext &c) {
        const View cache_view = view_of(c.tensor(table)), position_view = view_of(c.tensor(where));
        Tables tables{rotary, cache_view.layout.shape[0], {}, {}, tokens};
        tables.section_of = sections;
        tables.positions.resize(static_cast<size_t>(position_view.count()));
        const Reader position_reader(position_view, ACL_INT64);
        for (int64_t i = 0; i < position_view.count(); i += kBlock) {
          int64_t block[kBlock];
          const int64_t n = std::min(kBlock, position_view.count() - i);
          const auto *ready = static_cast<const int64_t *>(position_reader.read(i, n, block));
          std::copy_n(ready, n, tables.positions.data() + i);
        }
        const RowSource<float> cache(cache_view);
        std::atomic<bool> failed{false};
        std::atomic<int64_t> culprit{0};
        for (const auto &[from, to] : {std::pair{query, query_to}, std::pair{key, key_to}}) {
          Operands operands;
          const View result = view_of(c.tensor(to));
          const View source_view = operands.safe(view_of(c.tensor(from)), {result});
          const RowSource<float> source(source_view);
          const RowTarget<float> target(result);
          const int64_t width = source_view.layout.shape[1];
          for_each_row<float>(tokens, width + rotary, 1, [&](int64_t token, float *x) {
            int64_t bad = 0;
            if (!angles(tables, cache, token, x + width, &bad)) {
              culprit = bad;
              failed = true;
              return;
            }
            source.read(token * width, width, x);
            turn_heads(tables, neox, head_size, width / head_size, x + width, x);
            target.write(token * width, width, x);
          });
        }
        if (failed) {
          return fail(kKernelFault, "%s: positions holds %lld; cosSinCache has %lld rows", op,
                      static_cast<long long>(culprit.load()),
                      static_cast<long long>(tables.cached));
        }
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RopeWithSinCosCache,
             (const aclTensor *positions, const aclTensor *queryIn, const aclTensor *keyIn,
              const aclTensor *cosSinCache, const aclIntArray *mropeSectionOptional,
              int64_t headSize, bool isNeoxStyle, aclTensor *queryOut, aclTensor *keyOut)) {
  return emu::plan_cached({"aclnnRopeWithSinCosCache", positions, queryIn, keyIn, cosSinCache,
                           mropeSectionOptional, headSize, isNeoxStyle, false, queryOut, keyOut},
                          workspaceSize, executor);
}
EMU_CATCH

// cacheMode: 0 one section after the other, 1 in turn.
EMU_OPERATOR(RopeWithSinCosCacheV2,
             (const aclTensor *positions, const aclTensor *queryIn, const aclTensor *keyIn,
              const aclTensor *cosSinCache, const aclIntArray *mropeSectionOptional,
              int64_t headSize, bool isNeoxStyle, int64_t cacheMode, aclTensor *queryOut,
              aclTensor *keyOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnRopeWithSinCosCacheV2";
  Check check(op);
  check.optional("mropeSectionOptional", mropeSectionOptional);
  check.that(!chip_is_950(), "this chip does not have the operator");
  check.that(cacheMode == 0 || cacheMode == 1, "cacheMode is %lld; allowed: 0, 1",
             static_cast<long long>(cacheMode));
  if (!check.ok()) return check.status();
  if (mropeSectionOptional != nullptr && cacheMode == 1) {
    check.that(mropeSectionOptional->values.size() == 3,
               "mropeSectionOptional has %zu entries; cacheMode 1 takes 3",
               mropeSectionOptional->values.size());
    if (!check.ok()) return check.status();
  }
  return plan_cached({op, positions, queryIn, keyIn, cosSinCache, mropeSectionOptional, headSize,
                      isNeoxStyle, cacheMode == 1, queryOut, keyOut},
                     workspaceSize, executor);
}
EMU_CATCH
