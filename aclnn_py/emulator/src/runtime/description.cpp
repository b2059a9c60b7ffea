// SPDX-License-Identifier: Apache-2.0
// Tensor descriptions, data buffers and the two conversions of float16.
#include "runtime/description.h"

#include <cstring>
#include <utility>

#include "core/export.h"
#include "core/half.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "core/slots.h"
#include "faults/objects.h"
#include "meta/tensor.h"

namespace emu {
namespace {

Slots<aclTensorDesc> &descriptions() {
  static auto *const all = new Slots<aclTensorDesc>(1 << 18);
  return *all;
}
Slots<aclDataBuffer> &buffers() {
  static auto *const all = new Slots<aclDataBuffer>(1 << 18);
  return *all;
}

bool unknown_rank(const aclTensorDesc &d) { return d.dims.size() == 1 && d.dims[0] == -2; }

Status check(const char *routine, const aclTensorDesc *desc) {
  if (descriptions().live(desc)) return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "%s: desc is null or destroyed.", routine);
}

Status set_dims(const char *routine, aclTensorDesc *desc,
                std::vector<int64_t> aclTensorDesc::*field, int count, const int64_t *dims) {
  if (const Status s = check(routine, desc)) return s;
  if (count < 0 || (count > 0 && dims == nullptr)) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %d dimensions, dims %p.", routine, count,
                static_cast<const void *>(dims));
  }
  (desc->*field).assign(dims, dims + count);
  return 0;
}

Status set_ranges(const char *routine, aclTensorDesc *desc,
                  std::vector<std::pair<int64_t, int64_t>> aclTensorDesc::*field, size_t count,
                  const int64_t (*range)[2]) {
  if (const Status s = check(routine, desc)) return s;
  if (count > 0 && range == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: the ranges are null.", routine);
  (desc->*field).clear();
  for (size_t i = 0; i < count; ++i) (desc->*field).emplace_back(range[i][0], range[i][1]);
  return 0;
}

}  // namespace

bool live(const aclTensorDesc *desc) { return descriptions().live(desc); }
bool live(const aclDataBuffer *buffer) { return buffers().live(buffer); }

}  // namespace emu

using emu::descriptions;
using emu::fail;
using emu::Status;

EMU_EXPORT aclDataBuffer *aclCreateDataBuffer(void *data, size_t size) try {
  if (emu::check_process(__func__)) return nullptr;
  aclDataBuffer *buffer = emu::buffers().create();
  if (buffer == nullptr) return nullptr;
  buffer->data = data;
  buffer->size = size;
  emu::faults::made("aclDataBuffer", buffer);
  return buffer;
}
EMU_CATCH

EMU_EXPORT aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer) try {
  EMU_ENTER();
  if (!emu::buffers().retire(dataBuffer)) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclDestroyDataBuffer: the buffer is null or destroyed.");
  }
  emu::faults::ended(dataBuffer);
  emu::buffers().destroy(const_cast<aclDataBuffer *>(dataBuffer));
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size) try {
  EMU_ENTER();
  if (!emu::buffers().live(dataBuffer)) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclUpdateDataBuffer: the buffer is null or destroyed.");
  }
  dataBuffer->data = data;
  dataBuffer->size = size;
  return 0;
}
EMU_CATCH

EMU_EXPORT void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer) try {
  return emu::buffers().live(dataBuffer) ? dataBuffer->data : nullptr;
}
EMU_CATCH
EMU_EXPORT size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer) try {
  return emu::buffers().live(dataBuffer) ? dataBuffer->size : 0;
}
EMU_CATCH
EMU_EXPORT uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer) try {
  return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}
EMU_CATCH

EMU_EXPORT aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims,
                                              const int64_t *dims, aclFormat format) try {
  if (emu::check_process(__func__)) return nullptr;
  if (numDims < 0 || (numDims > 0 && dims == nullptr)) {
    fail(ACL_ERROR_INVALID_PARAM, "aclCreateTensorDesc: %d dimensions, dims %p.", numDims,
         static_cast<const void *>(dims));
    return nullptr;
  }
  auto desc = descriptions().guard(descriptions().create());
  if (desc == nullptr) return nullptr;
  desc->dtype = dataType;
  desc->format = format;
  desc->dims.assign(dims, dims + numDims);
  emu::faults::made("aclTensorDesc", desc.get());
  return desc.release();
}
EMU_CATCH

EMU_EXPORT void aclDestroyTensorDesc(const aclTensorDesc *desc) try {
  if (emu::check_process(__func__) == 0 && descriptions().retire(desc)) {
    emu::faults::ended(desc);
    descriptions().destroy(const_cast<aclTensorDesc *>(desc));
  }
}
EMU_CATCH_VOID

EMU_EXPORT aclDataType aclGetTensorDescType(const aclTensorDesc *desc) try {
  return emu::check(__func__, desc) ? ACL_DT_UNDEFINED : desc->dtype;
}
EMU_CATCH
EMU_EXPORT aclFormat aclGetTensorDescFormat(const aclTensorDesc *desc) try {
  return emu::check(__func__, desc) ? ACL_FORMAT_UNDEFINED : desc->format;
}
EMU_CATCH
EMU_EXPORT size_t aclGetTensorDescNumDims(const aclTensorDesc *desc) try {
  if (emu::check(__func__, desc)) return 0;
  return emu::unknown_rank(*desc) ? ACL_UNKNOWN_RANK : desc->dims.size();
}
EMU_CATCH

EMU_EXPORT size_t aclGetTensorDescElementCount(const aclTensorDesc *desc) try {
  if (emu::check(__func__, desc)) return 0;
  int64_t count = 1;
  for (const int64_t d : desc->dims) {
    if (d < 0) return 0;  // not known before the dimensions are
    count *= d;
  }
  return static_cast<size_t>(count);
}
EMU_CATCH

EMU_EXPORT size_t aclGetTensorDescSize(const aclTensorDesc *desc) try {
  if (emu::check(__func__, desc)) return 0;
  return (aclGetTensorDescElementCount(desc) * static_cast<size_t>(emu::dtype_bits(desc->dtype)) +
          7) /
         8;
}
EMU_CATCH

EMU_EXPORT int64_t aclGetTensorDescDim(const aclTensorDesc *desc, size_t index) try {
  if (emu::check(__func__, desc)) return -1;
  return index < desc->dims.size() ? desc->dims[index] : -1;
}
EMU_CATCH

EMU_EXPORT aclError aclGetTensorDescDimV2(const aclTensorDesc *desc, size_t index,
                                          int64_t *dimSize) try {
  if (const Status s = emu::check(__func__, desc)) return s;
  if (dimSize == nullptr || index >= desc->dims.size()) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclGetTensorDescDimV2: dimSize is null or index %zu is not below %zu.", index,
                desc->dims.size());
  }
  *dimSize = desc->dims[index];
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclGetTensorDescDimRange(const aclTensorDesc *desc, size_t index,
                                             size_t dimRangeNum, int64_t *dimRange) try {
  if (const Status s = emu::check(__func__, desc)) return s;
  if (dimRange == nullptr || dimRangeNum < 2 || index >= desc->ranges.size()) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclGetTensorDescDimRange: no range %zu, or no room for it.", index);
  }
  dimRange[0] = desc->ranges[index].first;
  dimRange[1] = desc->ranges[index].second;
  return 0;
}
EMU_CATCH

EMU_EXPORT const char *aclGetTensorDescName(aclTensorDesc *desc) try {
  return emu::check(__func__, desc) ? "" : desc->name.c_str();
}
EMU_CATCH
EMU_EXPORT void aclSetTensorDescName(aclTensorDesc *desc, const char *name) try {
  if (emu::check(__func__, desc) == 0) desc->name = name != nullptr ? name : "";
}
EMU_CATCH_VOID

EMU_EXPORT aclError aclSetTensorFormat(aclTensorDesc *desc, aclFormat format) try {
  if (const Status s = emu::check(__func__, desc)) return s;
  desc->storage_format = format;
  return 0;
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorStorageFormat(aclTensorDesc *desc, aclFormat format) try {
  if (const Status s = emu::check(__func__, desc)) return s;
  desc->storage_format = format;
  return 0;
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorOriginFormat(aclTensorDesc *desc, aclFormat format) try {
  if (const Status s = emu::check(__func__, desc)) return s;
  desc->origin_format = format;
  return 0;
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorShape(aclTensorDesc *desc, int numDims, const int64_t *dims) try {
  return emu::set_dims(__func__, desc, &aclTensorDesc::storage_dims, numDims, dims);
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorStorageShape(aclTensorDesc *desc, int numDims,
                                             const int64_t *dims) try {
  return emu::set_dims(__func__, desc, &aclTensorDesc::storage_dims, numDims, dims);
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorOriginShape(aclTensorDesc *desc, int numDims,
                                            const int64_t *dims) try {
  return emu::set_dims(__func__, desc, &aclTensorDesc::origin_dims, numDims, dims);
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorShapeRange(aclTensorDesc *desc, size_t dimsCount,
                                           int64_t dimsRange[][2]) try {
  return emu::set_ranges(__func__, desc, &aclTensorDesc::ranges, dimsCount, dimsRange);
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorValueRange(aclTensorDesc *desc, size_t valueCount,
                                           int64_t valueRange[][2]) try {
  return emu::set_ranges(__func__, desc, &aclTensorDesc::value_ranges, valueCount, valueRange);
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorDynamicInput(aclTensorDesc *desc,
                                             const char *dynamicInputName) try {
  if (const Status s = emu::check(__func__, desc)) return s;
  if (dynamicInputName == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclSetTensorDynamicInput: the name is null.");
  desc->dynamic_name = dynamicInputName;
  return 0;
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorConst(aclTensorDesc *desc, void *dataBuffer, size_t length) try {
  if (const Status s = emu::check(__func__, desc)) return s;
  if (dataBuffer == nullptr || length == 0)
    return fail(ACL_ERROR_INVALID_PARAM, "aclSetTensorConst: no data is given.");
  std::vector<char> constant(length);
  if (const Status s =
          emu::copy_memory(__func__, ACL_ERROR_INVALID_PARAM, constant.data(), dataBuffer, length))
    return s;
  desc->constant = std::move(constant);
  return 0;
}
EMU_CATCH
EMU_EXPORT aclError aclSetTensorPlaceMent(aclTensorDesc *desc, aclMemType memType) try {
  if (const Status s = emu::check(__func__, desc)) return s;
  if (memType < ACL_MEMTYPE_DEVICE || memType > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclSetTensorPlaceMent: %d is no kind of memory.",
                static_cast<int>(memType));
  }
  desc->placement = memType;
  return 0;
}
EMU_CATCH

// CANN's own conversions know no infinities or NaNs: 0x7C00 reads as 65536, and the other way they
// saturate.
EMU_EXPORT float aclFloat16ToFloat(aclFloat16 value) try {
  if ((value & 0x7C00u) != 0x7C00u) return emu::float16_to_float(value);
  const uint32_t sign = static_cast<uint32_t>(value & 0x8000u) << 16;
  return emu::float_of(sign | (31u + 112u) << 23 | static_cast<uint32_t>(value & 0x3FFu) << 13);
}
EMU_CATCH

EMU_EXPORT aclFloat16 aclFloatToFloat16(float value) try {
  const uint32_t bits = emu::bits_of(value), magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return 0x7BFF;  // every NaN, whatever its sign
  const auto sign = static_cast<aclFloat16>(bits >> 16 & 0x8000u);
  if (magnitude >= 0x477FE000u) return static_cast<aclFloat16>(sign | 0x7BFFu);  // 65504 and above
  // below half the least subnormal
  if (magnitude < 0x33000001u) return sign;
  uint32_t result;
  if (magnitude >= 0x38800000u) {
    const uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1u);
    result = (rounded >> 13) - (112u << 10);
    if (result > 0x7BFFu) result = 0x7BFFu;
  } else {
    const uint32_t shift = 126u - (magnitude >> 23), fraction = (magnitude & 0x7FFFFFu) | 0x800000u;
    const uint32_t half = 1u << (shift - 1u), kept = fraction >> shift,
                   rest = fraction & ((1u << shift) - 1u);
    result = kept + (rest > half || (rest == half && (kept & 1u)) ? 1u : 0u);
  }
  return static_cast<aclFloat16>(sign | result);
}
EMU_CATCH
