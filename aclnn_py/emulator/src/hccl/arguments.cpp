// SPDX-License-Identifier: Apache-2.0
#include "hccl/arguments.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/chip.h"
#include "core/memory.h"

namespace emu::hccl {
namespace {

constexpr uint64_t kMaxCount = 0x7fffffff;

using Types = uint32_t;  // bit N: HcclDataType N

template <class... T>
constexpr Types types(T... dtype) {
  return (Types{0} | ... | (Types{1} << static_cast<int>(dtype)));
}

constexpr Types kReduceBase =
    types(HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT32, HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32);
constexpr Types kMoveBase =
    types(HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32, HCCL_DATA_TYPE_INT64,
          HCCL_DATA_TYPE_UINT8, HCCL_DATA_TYPE_UINT16, HCCL_DATA_TYPE_UINT32, HCCL_DATA_TYPE_UINT64,
          HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32, HCCL_DATA_TYPE_FP64);
constexpr Types kFloat8 = types(HCCL_DATA_TYPE_HIF8, HCCL_DATA_TYPE_FP8E4M3, HCCL_DATA_TYPE_FP8E5M2,
                                HCCL_DATA_TYPE_FP8E8M0);

bool reduces(Collective collective) { return collective <= Collective::reduce_scatter_v; }

// The data types of a collective on a chip; none: the chip does not have the collective.
Types supported(Collective collective, Chip chip) {
  const bool newer = chip == Chip::a2 || chip == Chip::a3 || chip == Chip::a5;
  if (collective == Collective::reduce_scatter_v) {
    if (chip == Chip::a1) return 0;
    if (chip == Chip::p310)
      return types(HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_FP16, HCCL_DATA_TYPE_FP32);
    Types all = kReduceBase | types(HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_BFP16);
    return chip == Chip::a2 ? all : all | types(HCCL_DATA_TYPE_INT64);
  }
  if (reduces(collective)) {
    if (chip == Chip::a1) return kReduceBase | types(HCCL_DATA_TYPE_INT64);
    if (chip == Chip::p310)
      return collective == Collective::reduce ? 0 : kReduceBase | types(HCCL_DATA_TYPE_INT16);
    Types all =
        kReduceBase | types(HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT64, HCCL_DATA_TYPE_BFP16);
    return chip == Chip::a5 ? all | types(HCCL_DATA_TYPE_UINT64, HCCL_DATA_TYPE_FP64) : all;
  }
  switch (collective) {
    case Collective::all_gather_v:
      if (chip == Chip::a1) return 0;
      break;
    case Collective::all_to_all_vc:
      if (!newer) return 0;
      break;
    case Collective::all_gather:
    case Collective::all_to_all: break;
    default:
      if (chip == Chip::p310) return 0;
  }
  Types all = kMoveBase;
  if (newer) all |= types(HCCL_DATA_TYPE_BFP16);
  if (chip == Chip::a5) all |= kFloat8;
  return all;
}

bool starts_with(const char *text, const char *start) {
  return std::strncmp(text, start, std::strlen(start)) == 0;
}

}  // namespace

uint32_t item_bytes(uint32_t dtype) {
  switch (dtype) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_UINT8:
    case HCCL_DATA_TYPE_HIF8:
    case HCCL_DATA_TYPE_FP8E4M3:
    case HCCL_DATA_TYPE_FP8E5M2:
    case HCCL_DATA_TYPE_FP8E8M0: return 1;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16: return 2;
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_FP32: return 4;
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64: return 8;
    case HCCL_DATA_TYPE_INT128: return 16;
    default: return 0;
  }
}

const char *dtype_text(uint32_t dtype) {
  static const char *const names[] = {"int8",   "int16", "int32",  "fp16",    "fp32",    "int64",
                                      "uint64", "uint8", "uint16", "uint32",  "fp64",    "bfp16",
                                      "int128", "13",    "hif8",   "fp8e4m3", "fp8e5m2", "fp8e8m0"};
  return dtype < sizeof names / sizeof *names ? names[dtype] : "no data type";
}

const char *reduce_text(uint32_t op) {
  static const char *const names[] = {"sum", "prod", "max", "min"};
  return op < 4 ? names[op] : "no reduction";
}

Chip chip() {
  const char *soc = soc_name();
  if (starts_with(soc, "Ascend910B")) return Chip::a2;
  if (starts_with(soc, "Ascend910_93")) return Chip::a3;
  if (starts_with(soc, "Ascend950") || starts_with(soc, "Ascend910_95")) return Chip::a5;
  if (starts_with(soc, "Ascend310P")) return Chip::p310;
  if (starts_with(soc, "Ascend910")) return Chip::a1;
  return Chip::a2;
}

const char *chip_text() { return soc_name(); }

Status refuse(Status code, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return fail_as("EI0003", code, "%s", text);
}

Status check_supported(const char *routine, Collective collective, uint32_t dtype) {
  const Types allowed = supported(collective, chip());
  if (allowed == 0)
    return refuse(HCCL_E_NOT_SUPPORT, "%s does not exist on %s", routine, chip_text());
  if (collective == Collective::barrier || (dtype < 32 && (allowed >> dtype & 1))) return 0;
  std::string list;
  for (uint32_t d = 0; d < 32; ++d) {
    if (allowed >> d & 1) list += (list.empty() ? "" : ", ") + std::string(dtype_text(d));
  }
  return refuse(HCCL_E_NOT_SUPPORT, "%s: dataType %u (%s) is not supported on %s; supported are %s",
                routine, dtype, dtype_text(dtype), chip_text(), list.c_str());
}

Status check_reduction(const char *routine, Collective collective, uint32_t dtype, uint32_t op) {
  if (op > HCCL_REDUCE_MIN) {
    return refuse(HCCL_E_NOT_SUPPORT, "%s: op %u is no reduction; 0 sum, 1 prod, 2 max, 3 min",
                  routine, op);
  }
  if (const Status status = check_supported(routine, collective, dtype)) return status;
  const bool v = collective == Collective::reduce_scatter_v;
  bool refused =
      op == HCCL_REDUCE_PROD && (dtype == HCCL_DATA_TYPE_INT16 || dtype == HCCL_DATA_TYPE_BFP16);
  if (chip() == Chip::p310)
    refused |= op != HCCL_REDUCE_SUM && (v || dtype == HCCL_DATA_TYPE_INT16);
  if (v && chip() != Chip::a5) refused |= op == HCCL_REDUCE_PROD;
  if (!refused) return 0;
  return refuse(HCCL_E_NOT_SUPPORT, "%s: %s of %s is not supported on %s", routine, reduce_text(op),
                dtype_text(dtype), chip_text());
}

Status check_pointer(const char *routine, const char *name, const void *value) {
  return value ? 0 : refuse(HCCL_E_PTR, "%s: %s is null", routine, name);
}

Status check_count(const char *routine, const char *name, uint64_t count) {
  if (count <= kMaxCount) return 0;
  return refuse(HCCL_E_PARA, "%s: %s is %llu, more than the limit of %llu", routine, name,
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(kMaxCount));
}

Status check_rank(const char *routine, const char *name, uint32_t rank, uint32_t size) {
  if (rank < size) return 0;
  return refuse(HCCL_E_PARA, "%s: %s is %u, but the communicator has the ranks 0 to %u", routine,
                name, rank, size - 1);
}

Status check_buffer(const char *routine, const char *name, const void *data, uint64_t bytes,
                    int device) {
  if (bytes == 0) return 0;
  int owner = -1;
  if (!on_device(data, bytes, &owner)) {
    return refuse(HCCL_E_PARA, "%s: %s (%llu bytes at %p) is not device memory: %s", routine, name,
                  static_cast<unsigned long long>(bytes), data, describe_address(data).c_str());
  }
  if (owner == device) return 0;
  return refuse(HCCL_E_PARA, "%s: %s lies on device %d, but the communicator belongs to device %d",
                routine, name, owner, device);
}

}  // namespace emu::hccl
