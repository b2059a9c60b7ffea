// SPDX-License-Identifier: Apache-2.0
// The shape and format a tensor gets from a cast of its format, for the program to allocate. CANN's
// source decides what is accepted and with which status: no source tensor is 161002 there, no cast
// between two formats 361001.
#include <cstring>
#include <new>

#include "aclnn/host_calls.h"
#include "core/chip.h"
#include "core/export.h"
#include "core/statuses.h"
#include "ops/copy/blocked_format.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnNpuFormatCastCalculateSizeAndFormat";
constexpr int64_t kBlockBytes = 32, kRows = 16;

bool has_cast(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_FLOAT:
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_FLOAT8_E4M3FN: return true;
    default: return false;
  }
}

// The 910B and the 910_93; the 950 casts by rules of its own, below, older chips do not cast.
bool chip_casts() {
  return std::strncmp(soc_name(), "Ascend910B", 10) == 0 ||
         std::strncmp(soc_name(), "Ascend910_93", 12) == 0;
}

bool is_plain(aclFormat format) {
  return format == ACL_FORMAT_ND || format == ACL_FORMAT_NCL || format == ACL_FORMAT_NCHW ||
         format == ACL_FORMAT_NCDHW;
}

int64_t parts(int64_t extent, int64_t size) { return extent / size + (extent % size != 0 ? 1 : 0); }

// The axes of a five-dimensional tensor, in the order its format names: N, C, D, H, W.
Status five_axes(const aclTensor &source) {
  if (source.rank() == 5) return 0;
  return fail(kInvalid, "%s: srcTensor has %zu dimensions; the formats of volumes have 5", kOp,
              source.rank());
}

// The shape and format of the result, or a status.
Status result_of(const aclTensor &source, aclFormat to, Dims *shape, aclFormat *format) {
  const aclFormat from = source.format;
  const int64_t columns = kBlockBytes / (dtype_bits(source.dtype) / 8);
  *format = to;
  if (to == ACL_FORMAT_FRACTAL_NZ && is_plain(from)) {
    const size_t rank = source.rank();
    if (rank < 2)
      return fail(kInvalid, "%s: srcTensor has %zu dimensions; FRACTAL_NZ needs 2 or more", kOp,
                  rank);
    *shape = Dims(source.shape.data(), rank - 2);
    for (const int64_t d : {parts(source.shape[rank - 1], columns),
                            parts(source.shape[rank - 2], kRows), kRows, columns}) {
      shape->push_back(d);
    }
    return 0;
  }
  if (from == ACL_FORMAT_FRACTAL_NZ && to == ACL_FORMAT_ND) {
    *shape = source.shape;
    return 0;
  }
  const bool from_volume =
      from == ACL_FORMAT_NCDHW && (to == ACL_FORMAT_NDC1HWC0 || to == ACL_FRACTAL_Z_3D);
  const bool to_volume =
      to == ACL_FORMAT_NCDHW && (from == ACL_FORMAT_NDC1HWC0 || from == ACL_FRACTAL_Z_3D);
  if (!from_volume && !to_volume) {
    return fail(kRuntimeError, "%s: no cast from %s to %s", kOp, format_name(from),
                format_name(to));
  }
  if (const Status s = five_axes(source)) return s;
  const Dims &axes = source.shape;
  const int64_t slices = parts(axes[1], columns);
  if (to_volume) {
    *shape = axes;
  } else if (to == ACL_FORMAT_NDC1HWC0) {
    *shape = Dims{axes[0], axes[2], slices, axes[3], axes[4], columns};
  } else {
    int64_t first = axes[2];
    for (const int64_t factor : {slices, axes[3], axes[4]}) {
      if (__builtin_mul_overflow(first, factor, &first)) {
        return fail(kInvalid, "%s: the first dimension of FRACTAL_Z_3D would not fit into 64 bits",
                    kOp);
      }
    }
    *shape = Dims{first, parts(axes[0], kRows), kRows, columns};
  }
  return 0;
}

// On a 950 the format depends on the dtype whose size the blocks get.
struct Cast950 {
  aclDataType source, additional;
  aclFormat format;
};
constexpr Cast950 kCasts950[] = {
    {ACL_INT8, ACL_INT8, ACL_FORMAT_FRACTAL_NZ},
    {ACL_INT32, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ_C0_16},
    {ACL_INT32, ACL_BF16, ACL_FORMAT_FRACTAL_NZ_C0_16},
    {ACL_FLOAT, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ_C0_16},
    {ACL_FLOAT, ACL_BF16, ACL_FORMAT_FRACTAL_NZ_C0_16},
    {ACL_FLOAT, ACL_FLOAT8_E4M3FN, ACL_FORMAT_FRACTAL_NZ_C0_32},
    {ACL_FLOAT16, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ},
    {ACL_BF16, ACL_BF16, ACL_FORMAT_FRACTAL_NZ},
    {ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E4M3FN, ACL_FORMAT_FRACTAL_NZ},
    {ACL_HIFLOAT8, ACL_HIFLOAT8, ACL_FORMAT_FRACTAL_NZ},
    {ACL_FLOAT4_E2M1, ACL_FLOAT4_E2M1, ACL_FORMAT_FRACTAL_NZ},
    {ACL_FLOAT4_E1M2, ACL_FLOAT4_E1M2, ACL_FORMAT_FRACTAL_NZ},
};

Status result_of_950(const aclTensor &source, aclFormat to, int additional, Dims *shape,
                     aclFormat *format) {
  if (source.rank() < 2 || source.rank() > 6)
    return fail(kInvalid, "%s: srcTensor has %zu dimensions; allowed: 2 to 6", kOp, source.rank());
  if (source.numel() == 0) return fail(kInvalid, "%s: srcTensor is empty", kOp);
  if (to == ACL_FORMAT_ND && is_format_pair(to, source.format)) {
    *shape = source.shape;
    *format = to;
    return 0;
  }
  const int wanted = additional == -1 ? static_cast<int>(source.dtype) : additional;
  for (const Cast950 &cast : kCasts950) {
    if (cast.source != source.dtype || static_cast<int>(cast.additional) != wanted) continue;
    if (source.format != ACL_FORMAT_ND || to != ACL_FORMAT_FRACTAL_NZ) break;
    FormatPair pair;
    if (!pair_formats(source.format, cast.format, source.shape,
                      block_columns(cast.format, source.dtype), &pair))
      return fail(kInvalid, "%s: the blocks of srcTensor do not fit 64 bits", kOp);
    *shape = pair.storage;
    *format = cast.format;
    return 0;
  }
  return fail(kRuntimeError, "%s: no cast of %s from %s to %s with additionalDtype %d", kOp,
              dtype_name(source.dtype), format_name(source.format), format_name(to), additional);
}

}  // namespace
}  // namespace emu

EMU_EXPORT aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(
    const aclTensor *srcTensor, const int dstFormat, int additionalDtype, int64_t **dstShape,
    uint64_t *dstShapeSize, int *actualFormat) try {
  using namespace emu;
  if (srcTensor == nullptr || dstShape == nullptr || dstShapeSize == nullptr ||
      actualFormat == nullptr) {
    return fail(srcTensor == nullptr ? emu::kInvalid : emu::kNullPointer, "%s: %s is null", kOp,
                srcTensor == nullptr      ? "srcTensor"
                : dstShape == nullptr     ? "dstShape"
                : dstShapeSize == nullptr ? "dstShapeSize"
                                          : "actualFormat");
  }
  if (!live(srcTensor)) return fail(emu::kInvalid, "%s: srcTensor is destroyed", kOp);
  if (!chip_casts() && !chip_is_950())
    return fail(emu::kInvalid, "%s: the chip is %s; the 910B, 910_93 and 950 are supported", kOp,
                soc_name());
  if (!chip_is_950() && !has_cast(srcTensor->dtype)) {
    return fail(emu::kInvalid,
                "%s: srcTensor is %s; allowed: INT8, UINT8, FLOAT, FLOAT16, BFLOAT16, INT32, "
                "UINT32, FLOAT8_E4M3FN",
                kOp, dtype_name(srcTensor->dtype));
  }
  if (!chip_is_950() && additionalDtype != -1) {
    return fail(emu::kInvalid, "%s: additionalDtype is %d; chips before the 950 take -1 only", kOp,
                additionalDtype);
  }
  Dims shape;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  const auto target = static_cast<aclFormat>(dstFormat);
  const Status found = chip_is_950()
                           ? result_of_950(*srcTensor, target, additionalDtype, &shape, &format)
                           : result_of(*srcTensor, target, &shape, &format);
  if (found != 0) return found;
  auto *values = new (std::nothrow) int64_t[shape.size()];
  if (values == nullptr)
    return fail(emu::kRuntimeError, "%s: no host memory for %zu numbers", kOp, shape.size());
  for (size_t i = 0; i < shape.size(); ++i) values[i] = shape[i];
  *dstShape = values;
  *dstShapeSize = shape.size();
  *actualFormat = format;
  return 0;
}
EMU_CATCH
