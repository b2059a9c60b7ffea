// SPDX-License-Identifier: Apache-2.0
// What a dtype is: size, kind, name, promotion, and the C++ type the kernels compute it in.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#include "acl/acl_base.h"

namespace emu {

// A set of dtypes: bit N stands for aclDataType N. The enumeration ends far below 64.
using DtypeSet = uint64_t;

template <class... Dtype>
constexpr DtypeSet dtype_set(Dtype... dtype) {
  return (DtypeSet{0} | ... | (DtypeSet{1} << static_cast<int>(dtype)));
}

constexpr bool contains(DtypeSet set, aclDataType dtype) {
  return static_cast<int>(dtype) >= 0 && static_cast<int>(dtype) < 64 &&
         ((set >> static_cast<int>(dtype)) & 1) != 0;
}

namespace dt {
constexpr DtypeSet kHalf = dtype_set(ACL_FLOAT16, ACL_BF16);
constexpr DtypeSet kFloat = kHalf | dtype_set(ACL_FLOAT);
constexpr DtypeSet kDouble = dtype_set(ACL_DOUBLE);
constexpr DtypeSet kFloating = kFloat | kDouble;
constexpr DtypeSet kFloat8 = dtype_set(ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN);
constexpr DtypeSet kSigned = dtype_set(ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64);
constexpr DtypeSet kWideUnsigned = dtype_set(ACL_UINT16, ACL_UINT32, ACL_UINT64);
constexpr DtypeSet kUnsigned = kWideUnsigned | dtype_set(ACL_UINT8);
constexpr DtypeSet kInteger = kSigned | kUnsigned;
constexpr DtypeSet kBool = dtype_set(ACL_BOOL);
constexpr DtypeSet kComplex = dtype_set(ACL_COMPLEX32, ACL_COMPLEX64, ACL_COMPLEX128);
// Every dtype the block loads and stores know.
constexpr DtypeSet kComputable = kFloating | kFloat8 | kInteger | kBool | kComplex;
}  // namespace dt

constexpr bool is_floating(aclDataType d) { return contains(dt::kFloating | dt::kFloat8, d); }
constexpr bool is_integer(aclDataType d) { return contains(dt::kInteger, d); }
constexpr bool is_complex(aclDataType d) { return contains(dt::kComplex, d); }
constexpr bool is_computable(aclDataType d) { return contains(dt::kComputable, d); }

// Bytes of one element; 0 for a dtype without whole-byte elements or an unknown one.
int64_t item_size(aclDataType dtype);
// "FLOAT, FLOAT16, BF16"; dtype_name() of meta/tensor.h gives one name.
std::string dtype_list(DtypeSet set);

// The dtype in which two tensors meet; ACL_DT_UNDEFINED when they have none. Halves of different
// kind meet in float; the wide unsigned types meet only themselves, bool and floating types.
aclDataType promote(aclDataType a, aclDataType b);
// The dtype in which a tensor meets a scalar: the scalar counts only when its category
// (bool < integer < floating < complex) is above the tensor's.
aclDataType promote_with_scalar(aclDataType tensor, aclDataType scalar);
// Whether a result may be stored in another dtype: never complex to real, floating to integer,
// or anything but bool to bool.
bool can_cast(aclDataType from, aclDataType to);

// The C++ types kernels are written for. Narrower dtypes are widened on load and narrowed on store,
// so there is one kernel per operator and compute type, not one per dtype.
enum class Compute : uint8_t { F32, F64, I32, I64, U64, C64, C128 };
constexpr int kComputeCount = 7;

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

template <Compute C>
struct compute_type;
template <>
struct compute_type<Compute::F32> {
  using type = float;
};
template <>
struct compute_type<Compute::F64> {
  using type = double;
};
template <>
struct compute_type<Compute::I32> {
  using type = int32_t;
};
template <>
struct compute_type<Compute::I64> {
  using type = int64_t;
};
template <>
struct compute_type<Compute::U64> {
  using type = uint64_t;
};
template <>
struct compute_type<Compute::C64> {
  using type = Complex64;
};
template <>
struct compute_type<Compute::C128> {
  using type = Complex128;
};
template <Compute C>
using ComputeType = typename compute_type<C>::type;

// Calls f(std::integral_constant<Compute, C>()) for each compute type C whose bit of `kTypes` is
// set.
template <unsigned kTypes, class F, int kFrom = 0>
constexpr void for_each_compute(F f) {
  if constexpr (kFrom < kComputeCount) {
    if constexpr ((kTypes >> kFrom & 1) != 0)
      f(std::integral_constant<Compute, static_cast<Compute>(kFrom)>());
    for_each_compute<kTypes, F, kFrom + 1>(f);
  }
}

template <class T>
constexpr Compute compute_of() {
  if constexpr (std::is_same_v<T, float>) return Compute::F32;
  else if constexpr (std::is_same_v<T, double>) return Compute::F64;
  else if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, bool>) return Compute::I32;
  else if constexpr (std::is_same_v<T, int64_t>) return Compute::I64;
  else if constexpr (std::is_same_v<T, uint64_t>) return Compute::U64;
  else if constexpr (std::is_same_v<T, Complex64>) return Compute::C64;
  else {
    static_assert(std::is_same_v<T, Complex128>, "not a compute type");
    return Compute::C128;
  }
}

// The narrowest compute type that holds every value of a computable dtype.
constexpr Compute compute_for(aclDataType dtype) {
  switch (dtype) {
    case ACL_DOUBLE: return Compute::F64;
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT16:
    case ACL_UINT16:
    case ACL_INT32:
    case ACL_BOOL: return Compute::I32;
    case ACL_INT64:
    case ACL_UINT32: return Compute::I64;
    case ACL_UINT64: return Compute::U64;
    case ACL_COMPLEX32:
    case ACL_COMPLEX64: return Compute::C64;
    case ACL_COMPLEX128: return Compute::C128;
    default: return Compute::F32;
  }
}

constexpr int64_t compute_size(Compute c) {
  switch (c) {
    case Compute::F32:
    case Compute::I32: return 4;
    case Compute::C128: return 16;
    default: return 8;
  }
}

// Whether the dtype's memory image is its compute type's, so that blocks need no conversion.
constexpr bool is_native(aclDataType d) {
  return contains(dtype_set(ACL_FLOAT, ACL_DOUBLE, ACL_INT32, ACL_INT64, ACL_UINT64, ACL_COMPLEX64,
                            ACL_COMPLEX128),
                  d);
}

}  // namespace emu
