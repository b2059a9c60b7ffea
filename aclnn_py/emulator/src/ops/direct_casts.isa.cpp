// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include <cstring>

#include "core/isa.h"
#include "ops/direct_casts.h"
#include "ops/truncate.h"

namespace emu::EMU_ISA_NS {
namespace {

// A byte that holds a truth value.
struct Bool {
  uint8_t byte;
};

template <class To, class From>
To cast_one(From value) {
  if constexpr (std::is_same_v<From, Bool>) {
    return cast_one<To>(static_cast<int8_t>(value.byte != 0));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return {static_cast<uint8_t>(value != From{0})};
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To>
void direct(const char *from, int64_t count, char *to) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Wide = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
    return truncate_all<Wide, From, To>(from, count, to);
  }
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * static_cast<int64_t>(sizeof value), sizeof value);
    const To result = cast_one<To>(value);
    std::memcpy(to + i * static_cast<int64_t>(sizeof result), &result, sizeof result);
  }
}

template <class From, class To>
constexpr DirectFn direct_or_none() {
  // The same bits are for the copies.
  constexpr bool kSameBits =
      std::is_same_v<From, To> ||
      (std::is_integral_v<From> && std::is_integral_v<To> && sizeof(From) == sizeof(To));
  if constexpr (kSameBits) return nullptr;
  else return direct<From, To>;
}

template <class From>
DirectFn from(aclDataType to) {
  switch (to) {
    case ACL_BOOL: return direct_or_none<From, Bool>();
    case ACL_INT8:
    case ACL_UINT8: return direct_or_none<From, int8_t>();  // the low bits either way
    case ACL_INT16: return direct_or_none<From, int16_t>();
    case ACL_INT32: return direct_or_none<From, int32_t>();
    case ACL_INT64: return direct_or_none<From, int64_t>();
    case ACL_FLOAT: return direct_or_none<From, float>();
    case ACL_DOUBLE: return direct_or_none<From, double>();
    default: return nullptr;
  }
}

}  // namespace

DirectFn direct_cast(aclDataType have, aclDataType want) {
  switch (have) {
    case ACL_BOOL: return from<Bool>(want);
    case ACL_INT8: return from<int8_t>(want);
    case ACL_UINT8: return from<uint8_t>(want);
    case ACL_INT16: return from<int16_t>(want);
    case ACL_INT32: return from<int32_t>(want);
    case ACL_INT64: return from<int64_t>(want);
    case ACL_FLOAT: return from<float>(want);
    case ACL_DOUBLE: return from<double>(want);
    default: return nullptr;
  }
}

}  // namespace emu::EMU_ISA_NS
