// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "core/export.h"
#include "meta/tensor.h"

namespace emu {
namespace {

struct TypeRow {
  aclDataType dtype;
  int bits;
  const char *name;
};

constexpr TypeRow kTypes[] = {
    {ACL_FLOAT, 32, "FLOAT"},
    {ACL_FLOAT16, 16, "FLOAT16"},
    {ACL_INT8, 8, "INT8"},
    {ACL_INT32, 32, "INT32"},
    {ACL_UINT8, 8, "UINT8"},
    {ACL_INT16, 16, "INT16"},
    {ACL_UINT16, 16, "UINT16"},
    {ACL_UINT32, 32, "UINT32"},
    {ACL_INT64, 64, "INT64"},
    {ACL_UINT64, 64, "UINT64"},
    {ACL_DOUBLE, 64, "DOUBLE"},
    {ACL_BOOL, 8, "BOOL"},
    {ACL_COMPLEX64, 64, "COMPLEX64"},
    {ACL_COMPLEX128, 128, "COMPLEX128"},
    {ACL_BF16, 16, "BFLOAT16"},
    {ACL_INT4, 4, "INT4"},
    {ACL_UINT1, 1, "UINT1"},
    {ACL_COMPLEX32, 32, "COMPLEX32"},
    {ACL_HIFLOAT8, 8, "HIFLOAT8"},
    {ACL_FLOAT8_E5M2, 8, "FLOAT8_E5M2"},
    {ACL_FLOAT8_E4M3FN, 8, "FLOAT8_E4M3FN"},
    {ACL_FLOAT8_E8M0, 8, "FLOAT8_E8M0"},
    {ACL_FLOAT6_E3M2, 6, "FLOAT6_E3M2"},
    {ACL_FLOAT6_E2M3, 6, "FLOAT6_E2M3"},
    {ACL_FLOAT4_E2M1, 4, "FLOAT4_E2M1"},
    {ACL_FLOAT4_E1M2, 4, "FLOAT4_E1M2"},
    {ACL_STRING, 0, "STRING"},
};

const TypeRow *row_of(aclDataType dtype) {
  for (const TypeRow &row : kTypes) {
    if (row.dtype == dtype) return &row;
  }
  return nullptr;
}

}  // namespace

int dtype_bits(aclDataType dtype) {
  // The common ones without a search: this runs for every tensor of every launch.
  switch (dtype) {
    case ACL_FLOAT:
    case ACL_INT32: return 32;
    case ACL_FLOAT16:
    case ACL_BF16: return 16;
    case ACL_INT8:
    case ACL_BOOL: return 8;
    case ACL_INT64: return 64;
    default: break;
  }
  const TypeRow *row = row_of(dtype);
  return row != nullptr ? row->bits : 0;
}

const char *dtype_name(aclDataType dtype) {
  const TypeRow *row = row_of(dtype);
  return row != nullptr ? row->name : "UNDEFINED";
}

const char *format_name(aclFormat format) {
  switch (static_cast<int>(format)) {
    case -1: return "UNDEFINED";
    case 0: return "NCHW";
    case 1: return "NHWC";
    case 2: return "ND";
    case 3: return "NC1HWC0";
    case 4: return "FRACTAL_Z";
    case 16: return "HWCN";
    case 27: return "NDHWC";
    case 29: return "FRACTAL_NZ";
    case 30: return "NCDHW";
    case 32: return "NDC1HWC0";
    case 33: return "FRACTAL_Z_3D";
    case 35: return "NC";
    case 47: return "NCL";
    case 50: return "FRACTAL_NZ_C0_16";
    case 51: return "FRACTAL_NZ_C0_32";
    case 52: return "FRACTAL_NZ_C0_2";
    case 53: return "FRACTAL_NZ_C0_4";
    case 54: return "FRACTAL_NZ_C0_8";
    default: return "a format this device does not know";
  }
}

}  // namespace emu

EMU_EXPORT size_t aclDataTypeSize(aclDataType dataType) try {
  // Types below a byte count as the byte they share.
  return static_cast<size_t>((emu::dtype_bits(dataType) + 7) / 8);
}
EMU_CATCH
