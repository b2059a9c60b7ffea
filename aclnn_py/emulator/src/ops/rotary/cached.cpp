// SPDX-License-Identifier: Apache-2.0
// Rotary embedding with cosines and sines looked up by position: each row of the cache holds the
// cosines, then the sines.
#include "aclnnop/posembedding.h"
#include "core/statuses.h"
#include "ops/norm/rows.h"

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

}  // namespace
}  // namespace emu

EMU_OPERATOR(RopeWithSinCosCache,
             (const aclTensor *positions, const aclTensor *queryIn, const aclTensor *keyIn,
              const aclTensor *cosSinCache, const aclIntArray *mropeSectionOptional,
              int64_t headSize, bool isNeoxStyle, aclTensor *queryOut, aclTensor *keyOut)) {
  using namespace emu;
  Check check("aclnnRopeWithSinCosCache");
  check.required("positions", positions).required("queryIn", queryIn).required("keyIn", keyIn);
  check.required("cosSinCache", cosSinCache).optional("mropeSectionOptional", mropeSectionOptional);
  check.required("queryOut", queryOut).required("keyOut", keyOut);
  check.dtype("positions", positions).dtype("queryIn", queryIn).dtype("keyIn", keyIn);
  check.dtype("cosSinCache", cosSinCache).dtype("queryOut", queryOut).dtype("keyOut", keyOut);
  check.rank("positions", positions, 1, 2)
      .rank("queryIn", queryIn, 2, 2)
      .rank("keyIn", keyIn, 2, 2);
  check.rank("cosSinCache", cosSinCache, 2, 2);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : {std::pair<const char *, const aclTensor *>{"keyIn", keyIn},
                                     {"cosSinCache", cosSinCache},
                                     {"queryOut", queryOut},
                                     {"keyOut", keyOut}}) {
    check.same_dtype(name, tensor->dtype, "queryIn", queryIn->dtype);
  }
  const int64_t tokens = queryIn->shape[0], rotary = cosSinCache->shape[1];
  check.that(rotary % 2 == 0 && rotary > 0, "cosSinCache has rows of %lld; it must be even",
             static_cast<long long>(rotary));
  check.that(headSize >= rotary, "headSize is %lld, less than the %lld elements that turn",
             static_cast<long long>(headSize), static_cast<long long>(rotary));
  check.that(headSize > 0 && queryIn->shape[1] % headSize == 0 && keyIn->shape[1] % headSize == 0,
             "headSize %lld does not divide the rows of queryIn and keyIn",
             static_cast<long long>(headSize));
  check.that(keyIn->shape[0] == tokens, "keyIn has %lld tokens; queryIn has %lld",
             static_cast<long long>(keyIn->shape[0]), static_cast<long long>(tokens));
  check.shape("queryOut", queryOut, layout_of(*queryIn)).shape("keyOut", keyOut, layout_of(*keyIn));
  const bool sections = positions->rank() == 2;
  std::vector<int64_t> section_lengths;
  if (sections) {
    check.that(mropeSectionOptional != nullptr &&
                   static_cast<int64_t>(mropeSectionOptional->values.size()) == positions->shape[0],
               "mropeSectionOptional must have one entry per row of positions");
    if (!check.ok()) return check.status();
    section_lengths = mropeSectionOptional->values;
    Checked sum = 0;
    for (const int64_t length : section_lengths) sum += std::max<int64_t>(length, 0);
    const int64_t total = check.size("mropeSectionOptional", sum);
    check.that(total == rotary / 2, "mropeSectionOptional adds up to %lld; expected %lld",
               static_cast<long long>(total), static_cast<long long>(rotary / 2));
  } else {
    section_lengths = {rotary / 2};
  }
  check.that(
      positions->shape[sections ? 1 : 0] == tokens, "positions has %lld tokens; queryIn has %lld",
      static_cast<long long>(positions->shape[sections ? 1 : 0]), static_cast<long long>(tokens));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnRopeWithSinCosCache");
  const size_t where = plan.input(positions), query = plan.input(queryIn), key = plan.input(keyIn);
  const size_t table = plan.input(cosSinCache), query_to = plan.output(queryOut),
               key_to = plan.output(keyOut);
  return plan.finish(
      [=](PlanContext &c) {
        const View cache_view = view_of(c.tensor(table)), position_view = view_of(c.tensor(where));
        Tables tables{rotary, cache_view.layout.shape[0], {}, {}, tokens};
        for (size_t s = 0; s < section_lengths.size(); ++s) {
          const auto length = static_cast<size_t>(std::max<int64_t>(section_lengths[s], 0));
          tables.section_of.insert(tables.section_of.end(), length, static_cast<int64_t>(s));
        }
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
            turn_heads(tables, isNeoxStyle, headSize, width / headSize, x + width, x);
            target.write(token * width, width, x);
          });
        }
        if (failed) {
          return fail(emu::kKernelFault,
                      "aclnnRopeWithSinCosCache: positions holds %lld; cosSinCache has %lld rows",
                      static_cast<long long>(culprit.load()),
                      static_cast<long long>(tables.cached));
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
