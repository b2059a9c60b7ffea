// SPDX-License-Identifier: Apache-2.0
// GatherPaKvCache: the keys and values of sequences, read from pages one sequence after the other.
#include <cstring>

#include "aclnnop/attention.h"
#include "core/statuses.h"
#include "ops/cache/pages.h"
#include "ops/moe/routing.h"

namespace emu {
namespace {

struct Half {
  const char *name, *cache_name;
  const aclTensor *rows, *cache;
};

void check_half(Check &check, const Half &half, bool fractal) {
  check.rank(half.cache_name, half.cache, 4, 4)
      .rank(half.name, half.rows, fractal ? 2 : 3, fractal ? 2 : 3);
  check.plain_format(half.name, half.rows);
  if (!check.ok()) return;
  const aclTensor &cache = *half.cache;
  const int64_t tokens = half.rows->shape[0];
  if (!fractal) {
    check.plain_format(half.cache_name, half.cache);
    const int64_t expected[] = {tokens, cache.shape[2], cache.shape[3]};
    check.shape(half.name, half.rows, dense_layout(expected, 3));
    return;
  }
  const int64_t block = fractal_columns(cache.dtype);
  check.that(is_fractal(cache), "%s has format %s; cacheMode \"PA_NZ\" needs FRACTAL_NZ",
             half.cache_name, format_name(cache.format));
  check.that(cache.shape[3] == block && cache.contiguous(),
             "%s has %lld as its last dimension; it must be %lld, which is 32 bytes, and the cache "
             "contiguous",
             half.cache_name, static_cast<long long>(cache.shape[3]),
             static_cast<long long>(block));
  const int64_t expected[] = {tokens, check.size(half.cache_name, Checked(cache.shape[1]) * block)};
  check.shape(half.name, half.rows, dense_layout(expected, 2));
}

struct Lists {
  const char *op;
  std::vector<int64_t> tables, lengths, offsets;
  int64_t columns, blocks, places, tokens;
};

// The slot of every token in the order of the result.
Status slots_to_read(const Lists &l, std::vector<int64_t> *slots) {
  const auto sequences = static_cast<int64_t>(l.lengths.size());
  for (int64_t s = 0; s < sequences; ++s) {
    const int64_t length = l.lengths[static_cast<size_t>(s)];
    const int64_t offset = l.offsets.empty() ? 0 : l.offsets[static_cast<size_t>(s)];
    const auto room = l.tokens - static_cast<int64_t>(slots->size());
    if (length < 0 || length > room) {
      return fail(kKernelFault,
                  "%s: seqLens gives sequence %lld a length of %lld; keyRef has %lld "
                  "rows left for it",
                  l.op, static_cast<long long>(s), static_cast<long long>(length),
                  static_cast<long long>(room));
    }
    if (length == 0) continue;
    const int64_t first = l.places > 0 ? offset / l.places : 0;
    const int64_t last = l.places > 0 ? (length - 1) / l.places : 0;
    if (offset < 0 || l.places == 0 || first > l.columns - 1 - last) {
      return fail(
          kKernelFault,
          "%s: sequence %lld has %lld tokens behind seqOffsetOptional %lld; blockTables has "
          "%lld blocks of %lld tokens",
          l.op, static_cast<long long>(s), static_cast<long long>(length),
          static_cast<long long>(offset), static_cast<long long>(l.columns),
          static_cast<long long>(l.places));
    }
    const int64_t *table = l.tables.data() + s * l.columns + first;
    for (int64_t t = 0; t < length; ++t) {
      const int64_t block = table[t / l.places];
      if (block < 0 || block >= l.blocks) {
        return fail(kKernelFault, "%s: blockTables holds %lld; keyCache has %lld blocks", l.op,
                    static_cast<long long>(block), static_cast<long long>(l.blocks));
      }
      slots->push_back(block * l.places + t % l.places);
    }
  }
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GatherPaKvCache,
             (const aclTensor *keyCache, const aclTensor *valueCache, const aclTensor *blockTables,
              const aclTensor *seqLens, aclTensor *keyRef, aclTensor *valueRef,
              const aclTensor *seqOffsetOptional, const char *cacheMode, bool isSeqLensCumsum)) {
  using namespace emu;
  constexpr const char *op = "aclnnGatherPaKvCache";
  Check check(op);
  check.required("keyCache", keyCache).required("valueCache", valueCache);
  check.required("blockTables", blockTables).required("seqLens", seqLens);
  check.required("keyRef", keyRef).required("valueRef", valueRef);
  check.optional("seqOffsetOptional", seqOffsetOptional).required_text("cacheMode", cacheMode);
  check.dtype("keyCache", keyCache).dtype("valueCache", valueCache);
  check.dtype("blockTables", blockTables);
  if (!check.ok()) return check.status();
  check.same_dtype("seqLens", seqLens->dtype, "blockTables", blockTables->dtype);
  check.same_dtype("keyRef", keyRef->dtype, "keyCache", keyCache->dtype);
  check.same_dtype("valueRef", valueRef->dtype, "valueCache", valueCache->dtype);
  if (seqOffsetOptional)
    check.same_dtype("seqOffsetOptional", seqOffsetOptional->dtype, "blockTables",
                     blockTables->dtype);
  // Beside keys of 8 bits a 950 also takes values of 16.
  const bool mixed = keyCache->dtype == ACL_FLOAT8_E4M3FN && contains(dt::kHalf, valueCache->dtype);
  if (!mixed) check.same_dtype("valueCache", valueCache->dtype, "keyCache", keyCache->dtype);
  const bool fractal = cacheMode != nullptr && std::strcmp(cacheMode, "PA_NZ") == 0;
  check.that(fractal || std::strcmp(cacheMode, "Norm") == 0,
             "cacheMode is \"%.40s\"; allowed: \"Norm\", \"PA_NZ\"", cacheMode);
  check.rank("blockTables", blockTables, 2, 2).rank("seqLens", seqLens, 1, 1);
  const Half halves[] = {{"keyRef", "keyCache", keyRef, keyCache},
                         {"valueRef", "valueCache", valueRef, valueCache}};
  for (const Half &half : halves) check_half(check, half, fractal);
  if (!check.ok()) return check.status();
  const int64_t sequences = blockTables->shape[0], tokens = keyRef->shape[0];
  const int64_t listed = check.size("blockTables", Checked(sequences) + (isSeqLensCumsum ? 1 : 0));
  check.shape("seqLens", seqLens, dense_layout(&listed, 1));
  check.shape("seqOffsetOptional", seqOffsetOptional, dense_layout(&sequences, 1));
  const int places = fractal ? 2 : 1;
  check.that(valueRef->shape[0] == tokens, "valueRef has %lld rows; keyRef has %lld",
             static_cast<long long>(valueRef->shape[0]), static_cast<long long>(tokens));
  check.that(valueCache->shape[0] == keyCache->shape[0] &&
                 valueCache->shape[places] == keyCache->shape[places],
             "valueCache has %lld blocks of %lld tokens; keyCache has %lld of %lld",
             static_cast<long long>(valueCache->shape[0]),
             static_cast<long long>(valueCache->shape[places]),
             static_cast<long long>(keyCache->shape[0]),
             static_cast<long long>(keyCache->shape[places]));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from[] = {plan.input(keyCache), plan.input(valueCache)};
  const size_t tables = plan.input(blockTables), lengths = plan.input(seqLens);
  const size_t to[] = {plan.in_place(keyRef), plan.in_place(valueRef)};
  const size_t offsets = plan.input(seqOffsetOptional);
  return plan.finish(
      [=](PlanContext &c) {
        const View pages = slots_of(c.tensor(from[0]), places);
        Lists lists{op,
                    integers(c, tables),
                    integers(c, lengths),
                    integers(c, offsets),
                    c.tensor(tables).shape[1],
                    pages.layout.shape[0],
                    pages.layout.shape[1],
                    c.tensor(to[0]).shape[0]};
        if (isSeqLensCumsum) {
          std::vector<int64_t> &ends = lists.lengths;
          for (size_t i = 0; i + 1 < ends.size(); ++i) {
            if (!checked_sub(ends[i + 1], ends[i], &ends[i])) ends[i] = -1;
          }
          ends.pop_back();
        }
        std::vector<int64_t> slots;
        if (const Status bad = slots_to_read(lists, &slots)) return bad;
        std::vector<Piece> pieces;
        for (size_t i = 0; i < slots.size(); ++i)
          pieces.push_back({slots[i], 1, 1, static_cast<int64_t>(i)});
        for (int i = 0; i < 2; ++i) {
          const View rows = view_of(c.tensor(to[i]));
          Apart apart;
          const View cache = apart.from(slots_of(c.tensor(from[i]), places), {rows});
          write_pieces(ByteRows(cache, 2), ByteRows(rows, 1), pieces, rows.dtype);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
