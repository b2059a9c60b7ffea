// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include "ops/convert.h"

#include "core/isa.h"
#include "ops/direct_casts.h"

namespace emu {

EMU_DECLARE_ISA(const ConvertTable &table(); DirectFn direct_cast(aclDataType, aclDataType);)

const ConvertTable &convert_table() {
  static const ConvertTable &chosen = EMU_PICK_ISA(table)();
  return chosen;
}

DirectFn direct_cast(aclDataType from, aclDataType to) {
  static const auto chosen = EMU_PICK_ISA(direct_cast);
  return chosen(from, to);
}

namespace {

constexpr DtypeSet kNarrowFloats =
    dt::kHalf | dt::kFloat8 | dtype_set(ACL_COMPLEX32);  // what a float is rounded to once more

// Casting to bool asks "is it not zero", which truncation to an integer would answer wrongly.
template <class T>
void to_truth(const void *from, int64_t count, int32_t *truth) {
  const auto *values = static_cast<const T *>(from);
  for (int64_t i = 0; i < count; ++i) truth[i] = values[i] != T{};
}

void to_truth(Compute have, const void *from, int64_t count, int32_t *truth) {
  switch (have) {
    case Compute::F32: return to_truth<float>(from, count, truth);
    case Compute::F64: return to_truth<double>(from, count, truth);
    case Compute::I32: return to_truth<int32_t>(from, count, truth);
    case Compute::I64: return to_truth<int64_t>(from, count, truth);
    case Compute::U64: return to_truth<uint64_t>(from, count, truth);
    case Compute::C64: return to_truth<Complex64>(from, count, truth);
    case Compute::C128: return to_truth<Complex128>(from, count, truth);
  }
}

void store_block(aclDataType to, char *memory, int64_t step, int64_t count, Compute have,
                 const void *from) {
  const ConvertTable &table = convert_table();
  const Compute want = compute_for(to);
  if (have == want) return table.store[to](memory, step, count, from);
  const auto &casts = contains(kNarrowFloats, to) ? table.cast_to_odd : table.cast;
  const CastFn cast = casts[static_cast<int>(have)][static_cast<int>(want)];
  if (is_native(to) && step == compute_size(want)) return cast(from, count, memory);
  alignas(64) char block[kBlock * sizeof(Complex128)];
  if (to == ACL_BOOL) to_truth(have, from, count, reinterpret_cast<int32_t *>(block));
  else cast(from, count, block);
  table.store[to](memory, step, count, block);
}

}  // namespace

void store_as(aclDataType to, char *memory, int64_t step, int64_t count, Compute have,
              const void *from) {
  const auto *values = static_cast<const char *>(from);
  for (int64_t done = 0; done < count; done += kBlock) {
    const int64_t run = count - done < kBlock ? count - done : kBlock;
    store_block(to, memory + done * step, step, run, have, values + done * compute_size(have));
  }
}

void load_as(aclDataType from, const char *memory, int64_t step, int64_t count, aclDataType via,
             void *to) {
  const ConvertTable &table = convert_table();
  if (from == via) return table.load[from](memory, step, count, to);
  if (is_native(via) && step == item_size(from)) {
    if (const DirectFn cast = direct_cast(from, via))
      return cast(memory, count, static_cast<char *>(to));
  }
  const Compute have = compute_for(from), want = compute_for(via);
  const int64_t via_size = item_size(via);
  alignas(64) char block[kBlock * sizeof(Complex128)];
  alignas(64) char packed[kBlock * sizeof(Complex128)];
  for (int64_t done = 0; done < count; done += kBlock) {
    const int64_t run = count - done < kBlock ? count - done : kBlock;
    auto *target = static_cast<char *>(to) + done * compute_size(want);
    table.load[from](memory + done * step, step, run, block);
    if (is_native(via)) {
      table.cast[static_cast<int>(have)][static_cast<int>(want)](block, run, target);
    } else {
      // The operator computes in a narrower dtype than this operand has: round to it first.
      store_block(via, packed, via_size, run, have, block);
      table.load[via](packed, via_size, run, target);
    }
  }
}

}  // namespace emu
