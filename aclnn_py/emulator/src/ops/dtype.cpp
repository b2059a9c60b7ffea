// SPDX-License-Identifier: Apache-2.0
#include "ops/dtype.h"

#include <algorithm>

#include "meta/tensor.h"

namespace emu {
namespace {

enum Category { kCategoryBool, kCategoryInteger, kCategoryFloating, kCategoryComplex };

Category category(aclDataType d) {
  if (d == ACL_BOOL) return kCategoryBool;
  if (is_integer(d)) return kCategoryInteger;
  return is_complex(d) ? kCategoryComplex : kCategoryFloating;
}

aclDataType promote_integers(aclDataType a, aclDataType b) {
  if (contains(dt::kWideUnsigned, a) || contains(dt::kWideUnsigned, b)) return ACL_DT_UNDEFINED;
  const bool unsigned_a = a == ACL_UINT8, unsigned_b = b == ACL_UINT8;
  if (unsigned_a == unsigned_b) return item_size(a) >= item_size(b) ? a : b;
  const aclDataType other = unsigned_a ? b : a;
  return other == ACL_INT8 ? ACL_INT16 : other;
}

aclDataType promote_floating(aclDataType a, aclDataType b) {
  if (a == ACL_DOUBLE || b == ACL_DOUBLE) return ACL_DOUBLE;
  return ACL_FLOAT;  // the two are different, and float holds every narrower pair
}

// The real dtype a complex one is made of.
aclDataType real_part(aclDataType d) {
  if (d == ACL_COMPLEX32) return ACL_FLOAT16;
  if (d == ACL_COMPLEX64) return ACL_FLOAT;
  return d == ACL_COMPLEX128 ? ACL_DOUBLE : d;
}

aclDataType promote_complex(aclDataType a, aclDataType b) {
  const aclDataType real_a = real_part(a), real_b = real_part(b);
  if (real_a == ACL_DOUBLE || real_b == ACL_DOUBLE) return ACL_COMPLEX128;
  if (real_a == ACL_FLOAT || real_b == ACL_FLOAT || real_a == ACL_BF16 || real_b == ACL_BF16) {
    return ACL_COMPLEX64;
  }
  return ACL_COMPLEX32;
}

}  // namespace

int64_t item_size(aclDataType dtype) {
  const int bits = dtype_bits(dtype);
  return bits % 8 == 0 ? bits / 8 : 0;
}

std::string dtype_list(DtypeSet set) {
  std::string text;
  for (int number = 0; number < 64; ++number) {
    const auto dtype = static_cast<aclDataType>(number);
    if (!contains(set, dtype)) continue;
    if (!text.empty()) text += ", ";
    text += dtype_name(dtype);
  }
  return text;
}

aclDataType promote(aclDataType a, aclDataType b) {
  if (a == b) return a;
  if (!is_computable(a) || !is_computable(b)) return ACL_DT_UNDEFINED;
  if (contains(dt::kFloat8, a) || contains(dt::kFloat8, b)) return ACL_DT_UNDEFINED;
  const Category high = std::max(category(a), category(b));
  if (high == kCategoryComplex) return promote_complex(a, b);
  if (category(a) != category(b)) return category(a) == high ? a : b;
  return high == kCategoryFloating ? promote_floating(a, b) : promote_integers(a, b);
}

aclDataType promote_with_scalar(aclDataType tensor, aclDataType scalar) {
  if (!is_computable(tensor) || !is_computable(scalar)) return ACL_DT_UNDEFINED;
  if (category(scalar) <= category(tensor)) return tensor;
  return promote(tensor, scalar);
}

bool can_cast(aclDataType from, aclDataType to) {
  if (!is_computable(from) || !is_computable(to)) return from == to;
  return category(from) <= category(to);
}

}  // namespace emu
