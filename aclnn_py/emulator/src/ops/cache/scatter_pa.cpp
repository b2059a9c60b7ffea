// SPDX-License-Identifier: Apache-2.0
// Keys and values of new tokens written into caches in pages.
#include <cstring>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/memory.h"
#include "ops/cache/pages.h"
#include "ops/moe/routing.h"

namespace emu {
namespace {

enum class Form : uint8_t { kPlain, kNct, kHeadsFirst, kFractal, kAlibi, kRope, kOmni };

constexpr bool compresses(Form form) {
  return form == Form::kAlibi || form == Form::kRope || form == Form::kOmni;
}

// Keys with their cache, or values with theirs.
struct Half {
  const char *name, *cache_name;
  const aclTensor *rows, *cache;
};

struct ScatterCall {
  const char *op;
  Half halves[2];
  int count;  // of halves
  const aclTensor *slots, *lens, *offsets, *lengths;
  Form form = Form::kPlain;
};

// The dimension of a cache that numbers the places of a block.
int places_of(Form form, const aclTensor &cache) {
  if (form == Form::kHeadsFirst) return 2;
  return form == Form::kFractal ? static_cast<int>(cache.rank()) - 2 : 1;
}

void check_fractal(Check &check, const Half &half) {
  constexpr int64_t kPlaces = 65535;
  const aclTensor &cache = *half.cache;
  check.rank(half.cache_name, half.cache, 4, 5);
  if (!check.ok()) return;
  const size_t rank = cache.rank();
  const int64_t heads = half.rows->shape[1], width = half.rows->shape[2];
  const int64_t block = fractal_columns(cache.dtype), places = cache.shape[rank - 2];
  check.that(width % block == 0,
             "%s has heads of %lld elements; cacheModeOptional \"PA_NZ\" needs a multiple of 32 "
             "bytes, which is %lld elements",
             half.name, wide(width), wide(block));
  check.that(places < kPlaces, "%s has blocks of %lld places; allowed: fewer than %lld",
             half.cache_name, wide(places), wide(kPlaces));
  if (!check.ok()) return;
  const int64_t flat[] = {cache.shape[0], heads * (width / block), places, block};
  const int64_t split[] = {cache.shape[0], heads, width / block, places, block};
  check.shape(half.cache_name, half.cache,
              rank == 4 ? dense_layout(flat, 4) : dense_layout(split, 5));
  check.that(cache.contiguous(), "%s must be contiguous for cacheModeOptional \"PA_NZ\"",
             half.cache_name);
}

// What only the form with the heads in front of the places asks for.
void check_heads_first(Check &check, const ScatterCall &call) {
  constexpr int64_t kHeads = 4095, kBytes = 196608;
  Checked total = 0;
  for (int i = 0; i < call.count; ++i) {
    const Half &half = call.halves[i];
    const int64_t item = item_size(half.rows->dtype), width = half.rows->shape[2];
    check.that(width * item % 32 == 0,
               "%s has heads of %lld elements; scatterModeOptional \"NHSD\" needs a multiple of 32 "
               "bytes",
               half.name, wide(width));
    total += Checked(half.rows->shape[1]) * width * item;
    const Checked block = Checked(half.cache->shape[2]) * width;
    check.that(block.fits() && block.value() < int64_t{UINT32_MAX},
               "%s has blocks of too many elements for a head; allowed: fewer than 4294967295",
               half.cache_name);
  }
  check.that(call.halves[0].rows->shape[1] < kHeads, "key has %lld heads; allowed: fewer than %lld",
             wide(call.halves[0].rows->shape[1]), wide(kHeads));
  check.that(total.fits() && total.value() < kBytes,
             "a token of key and value has too many bytes; allowed: fewer than %lld", wide(kBytes));
}

void check_half(Check &check, const ScatterCall &call, const Half &half) {
  check_nibbles(check, half.name, half.rows).plain_format(half.name, half.rows);
  if (call.form != Form::kFractal) check.plain_format(half.cache_name, half.cache);
  check_nibbles(check, half.cache_name, half.cache);
  if (!check.ok()) return;
  if (call.form == Form::kFractal) return check_fractal(check, half);
  check.rank(half.cache_name, half.cache, 4, 4);
  if (!check.ok()) return;
  const aclTensor &rows = *half.rows, &cache = *half.cache;
  const int64_t heads = rows.shape[rows.rank() - 2], width = rows.shape[rows.rank() - 1];
  const bool first = call.form == Form::kHeadsFirst;
  const int64_t expected[] = {cache.shape[0], first ? heads : cache.shape[1],
                              first                   ? cache.shape[2]
                              : compresses(call.form) ? 1
                                                      : heads,
                              width};
  check.shape(half.cache_name, half.cache, dense_layout(expected, 4));
}

// The lists of a form that compresses; all others have none.
void check_lists(Check &check, const ScatterCall &call) {
  const bool compressed = compresses(call.form), offset = compressed && call.form != Form::kAlibi;
  const aclTensor &key = *call.halves[0].rows;
  for (const auto &[name, given, wanted] :
       {std::tuple{"compressLensOptional", call.lens, compressed},
        std::tuple{"seqLensOptional", call.lengths, compressed},
        std::tuple{"compressSeqOffsetOptional", call.offsets, offset}}) {
    check.that((given != nullptr) == wanted, "%s must %s in this form", name,
               wanted ? "be given" : "be null");
    if (check.ok() && given) check.same_dtype(name, given->dtype, "slotMapping", call.slots->dtype);
  }
  if (!check.ok()) return;
  if (!compressed) {
    check.shape("slotMapping", call.slots, dense_layout(key.shape.data(), 1));
    return;
  }
  const bool padded = key.rank() == 4;
  const int64_t heads = key.shape[padded ? 2 : 1];
  check.rank("seqLensOptional", call.lengths, 1, 1);
  if (!check.ok()) return;
  const int64_t sequences = call.lengths->shape[0];
  if (padded) check.shape("seqLensOptional", call.lengths, dense_layout(key.shape.data(), 1));
  const int64_t all = check.size("slotMapping", Checked(sequences) * heads);
  const int64_t matrix[] = {sequences, heads};
  const Layout rows = dense_layout(matrix, 2), flat = dense_layout(&all, 1);
  check.shape("slotMapping", call.slots, padded ? rows : flat);
  check.shape("compressLensOptional", call.lens, padded && offset ? rows : flat);
  check.shape("compressSeqOffsetOptional", call.offsets, flat);
}

void check_scatter(Check &check, const ScatterCall &call) {
  const aclTensor &key = *call.halves[0].rows;
  for (int i = 0; i < call.count; ++i) check_half(check, call, call.halves[i]);
  check_lists(check, call);
  if (!check.ok()) return;
  if (call.form == Form::kHeadsFirst) check_heads_first(check, call);
  if (call.form == Form::kRope) {
    for (int i = 0; i < call.count; ++i)
      check.dtype_in(call.halves[i].name, call.halves[i].rows->dtype, dt::kFloat);
  }
  if (call.count == 1 || !check.ok()) return;
  const Half &value = call.halves[1];
  const int leading = static_cast<int>(key.rank()) - 1;
  check.that(same_shape(dense_layout(key.shape.data(), leading),
                        dense_layout(value.rows->shape.data(), leading)),
             "value has shape %s; all but its last dimension must be those of key %s",
             shape_text(layout_of(*value.rows)).c_str(), shape_text(layout_of(key)).c_str());
  const auto slots = [&](const aclTensor &cache) {
    return Checked(cache.shape[0]) * cache.shape[static_cast<size_t>(places_of(call.form, cache))];
  };
  check.that(slots(*value.cache).value() == slots(*call.halves[0].cache).value(),
             "%s has %lld slots; %s has %lld", value.cache_name, wide(slots(*value.cache).value()),
             call.halves[0].cache_name, wide(slots(*call.halves[0].cache).value()));
}

struct Indices {
  size_t rows[2], cache[2], slots, lens, offsets, lengths;
};

// The tokens of the form "Nct": each `stride` elements after the one before it. The tensor
// describes the first of them; the others may lie anywhere in the same allocation.
Status apart_rows(const char *op, const char *name, int64_t stride, int64_t offset, View *view) {
  const int64_t tokens = view->layout.shape[0], item = item_size(view->dtype);
  const int64_t width = view->layout.shape[1] * view->layout.shape[2];
  const Checked end =
      (Checked(offset) + Checked(std::max<int64_t>(tokens - 1, 0)) * stride + width) * item;
  void *start = nullptr;
  size_t size = 0;
  int64_t room = 0;  // from the tensor to the end of the allocation
  if (find_block(view->data, &start, &size, nullptr))
    room = static_cast<int64_t>(size) - (view->data - static_cast<char *>(start));
  if (tokens > 0 && width > 0 && (!end.fits() || end.value() > room)) {
    return fail(kKernelFault,
                "%s: offsetsOptional and stridesOptional reach elements %lld to %lld behind the "
                "start of %s, whose memory ends after %lld",
                op, wide(offset), wide(end.fits() ? end.value() / item : INT64_MAX), name,
                wide(room / item));
  }
  view->data += offset * item;
  view->layout = Layout();
  view->layout.push(tokens, stride);
  view->layout.push(width, 1);
  return 0;
}

Status scatter(PlanContext &c, const char *op, const Indices &at, int count, Form form,
               const int64_t (&strides)[2], const int64_t (&starts)[2]) {
  const aclTensor &key_cache = c.tensor(at.cache[0]);
  const View first_slots = slots_of(key_cache, places_of(form, key_cache));
  const int64_t slot_count = first_slots.layout.shape[0] * first_slots.layout.shape[1];
  std::vector<Piece> pieces;
  const aclTensor &key = c.tensor(at.rows[0]);
  const int outer = compresses(form) ? static_cast<int>(key.rank()) - 1 : 1;
  if (compresses(form)) {
    const bool padded = key.rank() == 4;
    const Compression lists{op,
                            integers(c, at.slots),
                            integers(c, at.lens),
                            integers(c, at.offsets),
                            integers(c, at.lengths),
                            key.shape[padded ? 2 : 1],
                            padded ? key.shape[0] * key.shape[1] : key.shape[0],
                            padded ? key.shape[1] : 0,
                            slot_count,
                            form == Form::kRope};
    if (const Status bad = pieces_of(lists, &pieces)) return bad;
  } else if (const Status bad = pieces_of(op, integers(c, at.slots), slot_count, &pieces)) {
    return bad;
  }
  for (int i = 0; i < count; ++i) {
    View rows = bytes_of(c.tensor(at.rows[i]));
    if (form == Form::kNct) {
      const char *name = i == 0 ? "key" : "value";
      if (const Status bad = apart_rows(op, name, strides[i], starts[i], &rows)) return bad;
    }
    const aclTensor &cache = c.tensor(at.cache[i]);
    const View slots = slots_of(cache, places_of(form, cache));
    Apart apart;
    write_pieces(ByteRows(apart.from(rows, {slots}), outer), ByteRows(slots, 2), pieces,
                 cache.dtype);
  }
  return 0;
}

bool known_form(const char *mode, Form *form) {
  const std::pair<const char *, Form> known[] = {
      {"None", Form::kPlain},  {"Nct", Form::kNct},   {"NHSD", Form::kHeadsFirst},
      {"Alibi", Form::kAlibi}, {"Rope", Form::kRope}, {"Omni", Form::kOmni}};
  for (const auto &[name, meaning] : known) {
    if (mode != nullptr && std::strcmp(mode, name) != 0) continue;
    *form = meaning;
    return true;
  }
  return false;
}

// The two numbers of an attribute of the form "Nct".
void read_pair(Check &check, const char *name, const aclIntArray *given, int64_t lowest,
               int64_t (&pair)[2]) {
  if (!check.ok() || given == nullptr) return;
  check.that(given->values.size() == 2, "%s has %zu numbers; allowed: 2", name,
             given->values.size());
  for (size_t i = 0; i < 2 && check.ok(); ++i) {
    pair[i] = given->values[i];
    check.that(pair[i] >= lowest, "%s has %lld at %zu; allowed: from %lld on", name, wide(pair[i]),
               i, wide(lowest));
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ScatterPaKvCache,
             (const aclTensor *key, aclTensor *keyCacheOptionalRef, const aclTensor *slotMapping,
              const aclTensor *value, aclTensor *valueCacheOptionalRef,
              const aclTensor *compressLensOptional, const aclTensor *compressSeqOffsetOptional,
              const aclTensor *seqLensOptional, const char *cacheModeOptional,
              const char *scatterModeOptional, const aclIntArray *stridesOptional,
              const aclIntArray *offsetsOptional)) {
  using namespace emu;
  constexpr const char *op = "aclnnScatterPaKvCache";
  Check check(op);
  check.required("key", key).required("keyCacheOptionalRef", keyCacheOptionalRef);
  check.required("slotMapping", slotMapping).required("value", value);
  check.required("valueCacheOptionalRef", valueCacheOptionalRef);
  check.optional("compressLensOptional", compressLensOptional);
  check.optional("compressSeqOffsetOptional", compressSeqOffsetOptional);
  check.optional("seqLensOptional", seqLensOptional);
  check.optional("stridesOptional", stridesOptional).optional("offsetsOptional", offsetsOptional);
  check.dtype("key", key).dtype("slotMapping", slotMapping);
  check.rank("key", key, 3, 4);
  if (!check.ok()) return check.status();
  const auto takes = check.facts().dtypes_of("key");
  check.dtype_in("value", value->dtype, takes);
  check.same_dtype("keyCacheOptionalRef", keyCacheOptionalRef->dtype, "key", key->dtype);
  check.same_dtype("valueCacheOptionalRef", valueCacheOptionalRef->dtype, "value", value->dtype);
  const bool fractal = cacheModeOptional != nullptr && std::strcmp(cacheModeOptional, "PA_NZ") == 0;
  check.that(fractal || cacheModeOptional == nullptr || std::strcmp(cacheModeOptional, "Norm") == 0,
             "cacheModeOptional is \"%.40s\"; allowed: null, \"Norm\", \"PA_NZ\"",
             cacheModeOptional == nullptr ? "" : cacheModeOptional);
  ScatterCall call{op,
                   {{"key", "keyCacheOptionalRef", key, keyCacheOptionalRef},
                    {"value", "valueCacheOptionalRef", value, valueCacheOptionalRef}},
                   2,
                   slotMapping,
                   compressLensOptional,
                   compressSeqOffsetOptional,
                   seqLensOptional};
  check.that(known_form(scatterModeOptional, &call.form),
             "scatterModeOptional is \"%.40s\"; allowed: null, \"None\", \"Nct\", \"Alibi\", "
             "\"Rope\", \"Omni\", \"NHSD\"",
             scatterModeOptional == nullptr ? "" : scatterModeOptional);
  if (!fractal) check.same_dtype("value", value->dtype, "key", key->dtype);
  check.tiling();
  check.that(!fractal || call.form == Form::kPlain,
             "scatterModeOptional is \"%s\"; cacheModeOptional \"PA_NZ\" allows \"None\" only",
             scatterModeOptional == nullptr ? "" : scatterModeOptional);
  if (fractal) call.form = Form::kFractal;
  if (key->rank() == 4) {
    check.that(chip_is_950() && call.form == Form::kPlain,
               "key has 4 dimensions; this chip takes 3 in this form");
    call.form = Form::kRope;
  }
  const bool uncompressed = call.form == Form::kPlain || call.form == Form::kNct;
  check.that(!chip_is_950() || call.form != Form::kHeadsFirst,
             "scatterModeOptional is \"NHSD\"; this chip does not have it");
  if (uncompressed && !chip_is_950() && value->rank() == 0 && valueCacheOptionalRef->rank() == 0)
    call.count = 1;
  if (call.count == 2)
    check.rank("value", value, static_cast<int>(key->rank()), static_cast<int>(key->rank()));
  for (int i = 0; i < call.count && check.ok(); ++i) {
    const Half &half = call.halves[i];
    const bool packed = dtype_bits(half.rows->dtype) < 8;
    check.that(!packed || call.form == Form::kPlain || call.form == Form::kFractal,
               "%s has dtype %s; scatterModeOptional must be \"None\" then", half.name,
               dtype_name(half.rows->dtype));
    check.that(half.rows->numel() != 0 && half.cache->numel() != 0,
               "%s or %s is empty; this operator takes no empty tensors", half.name,
               half.cache_name);
  }
  if (check.ok()) check_scatter(check, call);
  int64_t strides[2] = {1, 1}, starts[2] = {0, 0};
  if (call.form == Form::kNct) {
    read_pair(check, "stridesOptional", stridesOptional, 1, strides);
    read_pair(check, "offsetsOptional", offsetsOptional, 0, starts);
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  Indices at{};
  at.rows[0] = plan.input(key);
  at.cache[0] = plan.in_place(keyCacheOptionalRef);
  at.slots = plan.input(slotMapping);
  at.rows[1] = call.count == 2 ? plan.input(value) : plan.unused(value);
  at.cache[1] =
      call.count == 2 ? plan.in_place(valueCacheOptionalRef) : plan.unused(valueCacheOptionalRef);
  at.lens = plan.input(compressLensOptional);
  at.offsets = plan.input(compressSeqOffsetOptional);
  at.lengths = plan.input(seqLensOptional);
  const int count = call.count;
  const Form form = call.form;
  return plan.finish(
      [=](PlanContext &c) { return scatter(c, op, at, count, form, strides, starts); },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScatterPaCache,
             (const aclTensor *key, aclTensor *keyCacheRef, const aclTensor *slotMapping,
              const aclTensor *compressLensOptional, const aclTensor *compressSeqOffsetOptional,
              const aclTensor *seqLensOptional, [[maybe_unused]] const char *cacheMode)) {
  using namespace emu;
  constexpr const char *op = "aclnnScatterPaCache";
  Check check(op);
  check.required("key", key).required("keyCacheRef", keyCacheRef);
  check.required("slotMapping", slotMapping).optional("compressLensOptional", compressLensOptional);
  check.optional("compressSeqOffsetOptional", compressSeqOffsetOptional);
  check.optional("seqLensOptional", seqLensOptional);
  check.that(chip_is_950(), "this chip does not have the operator; allowed: the 950 series");
  check.dtype("key", key).dtype("slotMapping", slotMapping);
  if (!check.ok()) return check.status();
  check.same_dtype("keyCacheRef", keyCacheRef->dtype, "key", key->dtype);
  check.tiling().rank("key", key, 3, 4);
  if (!check.ok()) return check.status();
  ScatterCall call{op,
                   {{"key", "keyCacheRef", key, keyCacheRef}, {}},
                   1,
                   slotMapping,
                   compressLensOptional,
                   compressSeqOffsetOptional,
                   seqLensOptional};
  if (key->rank() == 4) {
    call.form = compressSeqOffsetOptional == nullptr ? Form::kAlibi : Form::kRope;
    check.that(item_size(key->dtype) > 0 && is_computable(key->dtype) &&
                   !contains(dt::kFloat8, key->dtype),
               "key has dtype %s; then it must have 3 dimensions", dtype_name(key->dtype));
  }
  if (check.ok()) check_scatter(check, call);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  Indices at{};
  at.rows[0] = plan.input(key);
  at.cache[0] = plan.in_place(keyCacheRef);
  at.slots = plan.input(slotMapping);
  at.lens = plan.input(compressLensOptional);
  at.offsets = plan.input(compressSeqOffsetOptional);
  at.lengths = plan.input(seqLensOptional);
  const Form form = call.form;
  return plan.finish([=](PlanContext &c) { return scatter(c, op, at, 1, form, {1, 1}, {0, 0}); },
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScatterPaKvCacheWithKScale,
             (const aclTensor *key, const aclTensor *value, aclTensor *keyCacheRef,
              aclTensor *valueCacheRef, const aclTensor *slotMapping, const aclTensor *keyScale,
              aclTensor *keyScaleCacheRef, const char *cacheLayoutOptional)) {
  using namespace emu;
  constexpr const char *op = "aclnnScatterPaKvCacheWithKScale";
  Check check(op);
  check.required("key", key).required("value", value).required("keyCacheRef", keyCacheRef);
  check.required("valueCacheRef", valueCacheRef).required("slotMapping", slotMapping);
  check.required("keyScale", keyScale).required("keyScaleCacheRef", keyScaleCacheRef);
  check.that(chip_is_950(), "this chip does not have the operator; allowed: the 950 series");
  check.dtype("key", key).dtype("value", value).dtype("slotMapping", slotMapping);
  check.dtype("keyScale", keyScale).dtype("keyScaleCacheRef", keyScaleCacheRef);
  if (!check.ok()) return check.status();
  check.same_dtype("value", value->dtype, "key", key->dtype);
  check.same_dtype("keyCacheRef", keyCacheRef->dtype, "key", key->dtype);
  check.same_dtype("valueCacheRef", valueCacheRef->dtype, "key", key->dtype);
  check.that(cacheLayoutOptional == nullptr || std::strcmp(cacheLayoutOptional, "BNBD") == 0,
             "cacheLayoutOptional is \"%.40s\"; allowed: null, \"BNBD\"",
             cacheLayoutOptional == nullptr ? "" : cacheLayoutOptional);
  check.tiling().rank("key", key, 3, 3).rank("value", value, 3, 3);
  check.rank("slotMapping", slotMapping, 1, 1);
  check.rank("keyCacheRef", keyCacheRef, 4, 4).rank("valueCacheRef", valueCacheRef, 4, 4);
  if (!check.ok()) return check.status();
  const Layout rows = layout_of(*key), slots = layout_of(*keyCacheRef);
  const int64_t tokens = rows.shape[0], heads = rows.shape[1];
  const int64_t value_shape[] = {tokens, heads, value->shape[2]};
  const int64_t key_cache[] = {slots.shape[0], heads, slots.shape[2], rows.shape[2]};
  const int64_t value_cache[] = {slots.shape[0], heads, slots.shape[2], value->shape[2]};
  const int64_t scale_cache[] = {slots.shape[0], heads, slots.shape[2], 1};
  check.shape("value", value, dense_layout(value_shape, 3));
  check.shape("keyCacheRef", keyCacheRef, dense_layout(key_cache, 4));
  check.shape("valueCacheRef", valueCacheRef, dense_layout(value_cache, 4));
  check.shape("slotMapping", slotMapping, dense_layout(&tokens, 1));
  check.shape("keyScale", keyScale, dense_layout(rows.shape, 2));
  check.shape("keyScaleCacheRef", keyScaleCacheRef, dense_layout(scale_cache, 4));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from[] = {plan.input(key), plan.input(value)};
  const size_t to[] = {plan.in_place(keyCacheRef), plan.in_place(valueCacheRef)};
  const size_t where = plan.input(slotMapping), scales = plan.input(keyScale);
  const size_t scales_to = plan.in_place(keyScaleCacheRef);
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<Piece> pieces;
        const View first = slots_of(c.tensor(to[0]), 2);
        const int64_t slot_count = first.layout.shape[0] * first.layout.shape[1];
        if (const Status bad = pieces_of(op, integers(c, where), slot_count, &pieces)) return bad;
        for (const auto &[source, target] :
             {std::pair{from[0], to[0]}, {from[1], to[1]}, {scales, scales_to}}) {
          const View places = slots_of(c.tensor(target), 2);
          Apart apart;
          const View moved = apart.from(view_of(c.tensor(source)), {places});
          write_pieces(ByteRows(moved, 1), ByteRows(places, 2), pieces, moved.dtype);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
