// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/float_bits.h"
#include "core/isa.h"

namespace emu::hccl {
namespace EMU_ISA_NS {
namespace {

enum Operation : uint32_t { kSum, kProd, kMax, kMin };

struct Half {
  using Stored = uint16_t;
  using Value = float;
  static Value load(Stored bits) { return float16_to_float(bits); }
  static Stored store(Value value) { return float_to_float16(value); }
};

struct Bfloat {
  using Stored = uint16_t;
  using Value = float;
  static Value load(Stored bits) { return bfloat16_to_float(bits); }
  static Stored store(Value value) { return float_to_bfloat16(value); }
};

template <class T>
struct Plain {
  using Stored = T;
  using Value = T;
  static Value load(Stored value) { return value; }
  static Stored store(Value value) { return value; }
};

// Integers wrap; a NaN on either side of max and min stays a NaN.
template <uint32_t kOperation, class T>
T combine(T a, T b) {
  if constexpr (kOperation == kMax) return a > b || a != a ? a : b;
  else if constexpr (kOperation == kMin) return a < b || a != a ? a : b;
  else if constexpr (std::is_integral_v<T>) {
    // through uint64_t, where overflow is defined and no narrower type is promoted to int
    const uint64_t wide_a = static_cast<uint64_t>(a), wide_b = static_cast<uint64_t>(b);
    return static_cast<T>(kOperation == kSum ? wide_a + wide_b : wide_a * wide_b);
  } else {
    return kOperation == kSum ? a + b : a * b;
  }
}

template <class Format, uint32_t kOperation>
void accumulate(void *accumulator, const void *next, uint64_t count) {
  using Stored = typename Format::Stored;
  auto *a = static_cast<Stored *>(accumulator);
  const auto *b = static_cast<const Stored *>(next);
  for (uint64_t i = 0; i < count; ++i) {
    a[i] = Format::store(combine<kOperation>(Format::load(a[i]), Format::load(b[i])));
  }
}

template <class Format>
void (*choose(uint32_t op))(void *, const void *, uint64_t) {
  switch (op) {
    case kSum: return accumulate<Format, kSum>;
    case kProd: return accumulate<Format, kProd>;
    case kMax: return accumulate<Format, kMax>;
    case kMin: return accumulate<Format, kMin>;
    default: return nullptr;
  }
}

}  // namespace

// Numbers of HcclDataType.
void (*pick_accumulate(uint32_t dtype, uint32_t op))(void *, const void *, uint64_t) {
  switch (dtype) {
    case 0: return choose<Plain<int8_t>>(op);
    case 1: return choose<Plain<int16_t>>(op);
    case 2: return choose<Plain<int32_t>>(op);
    case 3: return choose<Half>(op);
    case 4: return choose<Plain<float>>(op);
    case 5: return choose<Plain<int64_t>>(op);
    case 6: return choose<Plain<uint64_t>>(op);
    case 10: return choose<Plain<double>>(op);
    case 11: return choose<Bfloat>(op);
    default: return nullptr;
  }
}

}  // namespace EMU_ISA_NS
}  // namespace emu::hccl
