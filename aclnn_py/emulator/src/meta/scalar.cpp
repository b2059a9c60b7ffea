// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include "core/export.h"
#include "core/half.h"
#include "core/process.h"
#include "core/statuses.h"
#include "faults/objects.h"
#include "meta/tensor.h"

namespace emu {

Slots<aclScalar> &scalars() {
  static auto *const all = new Slots<aclScalar>(size_t{1} << 20);
  return *all;
}
Slots<aclScalarList> &scalar_lists() {
  static auto *const all = new Slots<aclScalarList>(size_t{1} << 18);
  return *all;
}

namespace {

template <class T>
T read(const aclScalar &scalar) {
  T value;
  std::memcpy(&value, scalar.value, sizeof value);
  return value;
}

// Calls f with the value in its own type; complex numbers give their real part.
template <class F>
auto visit(const aclScalar &s, F f) {
  switch (s.dtype) {
    case ACL_FLOAT:
    case ACL_COMPLEX64: return f(read<float>(s));
    case ACL_DOUBLE:
    case ACL_COMPLEX128: return f(read<double>(s));
    case ACL_FLOAT16:
    case ACL_COMPLEX32: return f(float16_to_float(read<uint16_t>(s)));
    case ACL_FLOAT8_E5M2: return f(e5m2_to_float(read<uint8_t>(s)));
    case ACL_FLOAT8_E4M3FN: return f(e4m3_to_float(read<uint8_t>(s)));
    case ACL_BF16: return f(bfloat16_to_float(read<uint16_t>(s)));
    case ACL_INT8: return f(read<int8_t>(s));
    case ACL_INT16: return f(read<int16_t>(s));
    case ACL_INT32: return f(read<int32_t>(s));
    case ACL_INT64: return f(read<int64_t>(s));
    case ACL_BOOL:
    case ACL_UINT8: return f(read<uint8_t>(s));
    case ACL_UINT16: return f(read<uint16_t>(s));
    case ACL_UINT32: return f(read<uint32_t>(s));
    case ACL_UINT64: return f(read<uint64_t>(s));
    default: return f(0.0);
  }
}

template <class To, class From>
To to_integer(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    // Out of range is undefined for a plain cast; saturate as the device's conversion does.
    constexpr double low = static_cast<double>(std::numeric_limits<To>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<To>::max());
    const double wide = static_cast<double>(value);
    if (std::isnan(wide)) return 0;
    if (wide <= low) return std::numeric_limits<To>::min();
    if (wide >= high) return std::numeric_limits<To>::max();
  }
  return static_cast<To>(value);
}

}  // namespace
}  // namespace emu

double aclScalar::to_double() const {
  return emu::visit(*this, [](auto v) { return static_cast<double>(v); });
}
int64_t aclScalar::to_int64() const {
  return emu::visit(*this, [](auto v) { return emu::to_integer<int64_t>(v); });
}
uint64_t aclScalar::to_uint64() const {
  return emu::visit(*this, [](auto v) {
    if constexpr (std::is_signed_v<decltype(v)> && std::is_integral_v<decltype(v)>) {
      return static_cast<uint64_t>(static_cast<int64_t>(v));
    } else {
      return emu::to_integer<uint64_t>(v);
    }
  });
}
bool aclScalar::to_bool() const {
  double real = 0, imaginary = 0;
  to_complex(&real, &imaginary);
  return real != 0 || imaginary != 0;
}
void aclScalar::to_complex(double *real, double *imaginary) const {
  *real = to_double();
  *imaginary = 0;
  if (dtype == ACL_COMPLEX64) {
    float v[2];
    std::memcpy(v, value, sizeof v);
    *imaginary = static_cast<double>(v[1]);
  } else if (dtype == ACL_COMPLEX128) {
    double v[2];
    std::memcpy(v, value, sizeof v);
    *imaginary = v[1];
  } else if (dtype == ACL_COMPLEX32) {
    uint16_t v[2];
    std::memcpy(v, value, sizeof v);
    *imaginary = static_cast<double>(emu::float16_to_float(v[1]));
  }
}

using emu::fail;

EMU_EXPORT aclScalar *aclCreateScalar(void *value, aclDataType dataType) try {
  if (emu::check_process(__func__)) return nullptr;
  if (value == nullptr) {
    fail(emu::kNullPointer, "aclCreateScalar: value is null.");
    return nullptr;
  }
  const size_t size = aclDataTypeSize(dataType);
  if (size == 0 || size > sizeof(aclScalar::value)) {
    fail(emu::kInvalid, "aclCreateScalar: %d is not the type of a scalar.",
         static_cast<int>(dataType));
    return nullptr;
  }
  aclScalar *scalar = emu::scalars().create();
  if (scalar == nullptr) {
    fail(emu::kNoExecutor, "aclCreateScalar: too many live scalars (%zu).",
         emu::scalars().live_count());
    return nullptr;
  }
  scalar->dtype = dataType;
  std::memcpy(scalar->value, value, size);
  emu::faults::made("aclScalar", scalar);
  return scalar;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclDestroyScalar(const aclScalar *scalar) try {
  EMU_ENTER();
  if (scalar == nullptr) return 0;
  if (!emu::scalars().retire(scalar)) {
    return fail(emu::kInvalid,
                "aclDestroyScalar: %p is not a live scalar (destroyed before, or never one).",
                static_cast<const void *>(scalar));
  }
  emu::faults::ended(scalar);
  emu::scalars().destroy(const_cast<aclScalar *>(scalar));
  return 0;
}
EMU_CATCH
