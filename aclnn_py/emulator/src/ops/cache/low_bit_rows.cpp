// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Caches of a 950 whose rows are quantised on the way to their slots: IndexerQuantCache with the
// scales in a cache of their own, KvCompressEpilog with everything of a token in one row of bytes.
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/half.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/mx_format.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMxGroup = 32, kGroup = 64, kRotary = 64, kWidest = 8192;
constexpr int64_t kMxFloat8 = 0, kPlain = 1, kHifloat8 = 2, kMxFloat4 = 3;

// (blocks, places, 1, elements): blocks may lie apart, what is in them may not.
void check_cache(Check &check, const char *parameter, const aclTensor *cache, int64_t least) {
  check.rank(parameter, cache, 4, 4);
  if (!check.ok()) return;
  const auto &shape = cache->shape;
  check.that(shape[2] == 1 && shape[3] >= least && cache->numel() != 0,
             "%s has shape %s; expected (blocks, places, 1, at least %" PRId64 ")", parameter,
             shape_text(layout_of(*cache)).c_str(), least);
  if (!check.ok()) return;
  const auto &strides = cache->strides;
  const int64_t block = shape[1] * shape[3];
  check.that((shape[3] == 1 || strides[3] == 1) && (shape[1] == 1 || strides[1] == shape[3]) &&
                 (shape[0] == 1 || strides[0] >= block),
             "%s has other gaps than between its blocks", parameter);
}

void check_rows(Check &check, const aclTensor *x, const aclTensor *slots, int64_t unit) {
  check.rank("x", x, 2, 2).rank("slotMapping", slots, 1, 1);
  if (!check.ok()) return;
  check.that(x->numel() != 0, "x has shape %s; it must not be empty",
             shape_text(layout_of(*x)).c_str());
  check.that(x->shape[1] % unit == 0 && x->shape[1] <= kWidest,
             "x has rows of %" PRId64 " elements; allowed: multiples of %" PRId64 " up to 8192",
             x->shape[1], unit);
  check.that(slots->shape[0] == x->shape[0],
             "slotMapping has %" PRId64 " slots for %" PRId64 " rows of x", slots->shape[0],
             x->shape[0]);
}

// Where the rows of a cache lie, in bytes.
class SlotRows {
 public:
  explicit SlotRows(const aclTensor &cache) : places_(cache.shape[1]) {
    const int64_t per_byte = contains(kFloat4, cache.dtype) ? 2 : 1,
                  size = per_byte == 2 ? 1 : item_size(cache.dtype);
    data_ = static_cast<uint8_t *>(cache.data) + cache.offset * size / per_byte;
    block_ = cache.strides[0] * size / per_byte;
    row_ = cache.shape[3] * size / per_byte;
  }
  uint8_t *row(int64_t slot) const {
    return data_ + slot / places_ * block_ + slot % places_ * row_;
  }

 private:
  uint8_t *data_;
  int64_t places_, block_, row_;
};

// Calls body(row, values, slot) for each row that has a slot; one beyond the cache is a fault.
template <class F>
Status for_each_slot(const char *op, PlanContext &c, size_t slots_at, size_t x_at,
                     const aclTensor &cache, const F &body) {
  const int64_t there = cache.shape[0] * cache.shape[1], rows = c.tensor(x_at).shape[0],
                width = c.tensor(x_at).shape[1];
  const std::vector<int64_t> slots = read_all<int64_t>(c, slots_at, rows, 0);
  for (const int64_t slot : slots) {
    if (slot < -1 || slot >= there)
      return fail(kKernelFault, "%s: slotMapping has %lld; the cache has %lld slots", op,
                  static_cast<long long>(slot), static_cast<long long>(there));
  }
  const RowSource<float> source(view_of(c.tensor(x_at)));
  for_each_row<float>(rows, width, 1, [&](int64_t row, float *values) {
    const int64_t slot = slots[static_cast<size_t>(row)];
    if (slot < 0) return;
    source.read(row * width, width, values);
    body(values, width, slot);
  });
  return 0;
}

float largest_of(const float *values, int64_t count) {
  float most = 0.0f;
  for (int64_t i = 0; i < count; ++i) {
    const float size = std::fabs(values[i]);
    if (size > most || std::isnan(size)) most = size;
  }
  return most;
}

// Codes and the code of the scale of a group whose scale is a power of two.
uint8_t encode_mx(const MxFormat &format, const float *values, int64_t count, uint8_t *codes) {
  const uint8_t scale = format.scale_of(largest_of(values, count));
  const EncodeFn encode = encoder(format.dtype, LowRounding::kRint);
  encode(values, count, mx_factor(scale), codes);
  if (mx_factor(scale) == 0.0f) std::fill(codes, codes + count, uint8_t{0});
  return scale;
}

// The same with a scale that is any number; a group of zeros stays zeros.
void encode_divided(aclDataType dtype, float scale, float *values, int64_t count, uint8_t *codes) {
  const float divisor = scale == 0.0f ? 1.0f : scale;
  for (int64_t i = 0; i < count; ++i) values[i] /= divisor;
  encoder(dtype, LowRounding::kRint)(values, count, 1.0f, codes);
}

// What IndexerQuantCache needs to know of a mode.
struct IndexerMode {
  DtypeSet cache, scale;
  const char *cache_text, *scale_text;
};
IndexerMode indexer_mode(int64_t mode) {
  constexpr DtypeSet float8 = dt::kFloat8;
  if (mode == kMxFloat4) return {kFloat4, dtype_set(ACL_FLOAT8_E8M0), "FLOAT4", "FLOAT8_E8M0"};
  if (mode == kMxFloat8) return {float8, dtype_set(ACL_FLOAT8_E8M0), "FLOAT8", "FLOAT8_E8M0"};
  return {float8, dtype_set(ACL_FLOAT), "FLOAT8", "FLOAT"};
}

void quantise_indexer(int64_t mode, aclDataType dtype, float *values, int64_t width, uint8_t *row,
                      uint8_t *scales) {
  const float limit = dtype == ACL_FLOAT8_E5M2 ? kLargestE5m2 : kLargestE4m3;
  if (mode == kPlain) {
    const float scale = largest_of(values, width) / limit;
    encode_divided(dtype, scale, values, width, row);
    std::memcpy(scales, &scale, sizeof scale);
    return;
  }
  const bool nibbles = mode == kMxFloat4;
  MxFormat format;
  format.dtype = dtype;
  format.algorithm = nibbles ? 0 : 1;
  format.limit = limit;
  uint8_t codes[kMxGroup];
  for (int64_t i = 0; i < width; i += kMxGroup) {
    scales[i / kMxGroup] = encode_mx(format, values + i, kMxGroup, codes);
    if (!nibbles) {
      std::memcpy(row + i, codes, sizeof codes);
      continue;
    }
    for (int64_t j = 0; j < kMxGroup; j += 2)
      row[(i + j) / 2] = static_cast<uint8_t>((codes[j] & 0xf) | (codes[j + 1] & 0xf) << 4);
  }
}

// Bytes of a row of KvCompressEpilog.
int64_t epilog_row(int64_t width, int64_t mode) {
  const int64_t rest = width - kRotary,
                row = rest + 2 * kRotary + rest / kGroup * (mode == 0 ? 2 : 1);
  return mode == 0 ? (row + 31) / 32 * 32 : row;
}

// Mode 0: the rotary part, the rest in 8 bits and its scales in BFLOAT16; mode 1: the rest, the
// rotary part, and scales that are powers of two.
void compress_row(int64_t mode, bool rounds, float *values, int64_t width, uint8_t *row) {
  const int64_t rest = width - kRotary;
  uint8_t *codes = mode == 0 ? row + 2 * kRotary : row, *rotary = mode == 0 ? row : row + rest,
          *scales = row + rest + 2 * kRotary;
  store_as(ACL_BF16, reinterpret_cast<char *>(rotary), 2, kRotary, Compute::F32, values + rest);
  MxFormat format;
  format.algorithm = 1;
  format.limit = kLargestE4m3;
  for (int64_t i = 0; i < rest; i += kGroup) {
    if (mode == 1) {
      scales[i / kGroup] = encode_mx(format, values + i, kGroup, codes + i);
      continue;
    }
    float scale = largest_of(values + i, kGroup) / kLargestE4m3;
    if (rounds && scale > 0.0f && std::isfinite(scale)) {
      int power;
      const float mantissa = std::frexp(scale, &power);
      scale = std::ldexp(1.0f, mantissa == 0.5f ? power - 1 : power);
    }
    char *to = reinterpret_cast<char *>(scales + i / kGroup * 2);
    store_as(ACL_BF16, to, 2, 1, Compute::F32, &scale);
    load_as(ACL_BF16, to, 2, 1, ACL_FLOAT, &scale);  // as a reader will have it
    encode_divided(ACL_FLOAT8_E4M3FN, scale, values + i, kGroup, codes + i);
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(IndexerQuantCache,
             (aclTensor *cacheRef, aclTensor *cacheScaleRef, const aclTensor *x,
              const aclTensor *slotMapping, int64_t quantMode, bool roundScale, float xScale)) {
  using namespace emu;
  static_cast<void>(xScale);  // belongs to HiFloat8
  constexpr const char *op = "aclnnIndexerQuantCache";
  Check check(op);
  check.required("cacheRef", cacheRef)
      .required("cacheScaleRef", cacheScaleRef)
      .required("x", x)
      .required("slotMapping", slotMapping);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.dtype("x", x).dtype("slotMapping", slotMapping);
  check.that(quantMode >= kMxFloat8 && quantMode <= kMxFloat4 && quantMode != kHifloat8,
             "quantMode is %" PRId64
             "; allowed: 0, 1, 3 (of 2 the document does not say what "
             "cacheScaleRef gets)",
             quantMode);
  check.that(quantMode != kMxFloat8 || roundScale,
             "roundScale is false; with quantMode 0 it must be true here: the document does not "
             "say which power of two stands for the scale otherwise");
  if (!check.ok()) return check.status();
  const IndexerMode kinds = indexer_mode(quantMode);
  check.dtype("cacheRef", cacheRef).dtype("cacheScaleRef", cacheScaleRef);
  check.that(contains(kinds.cache, cacheRef->dtype) && contains(kinds.scale, cacheScaleRef->dtype),
             "cacheRef has dtype %s and cacheScaleRef %s; with quantMode %" PRId64
             " they must be %s and %s",
             dtype_name(cacheRef->dtype), dtype_name(cacheScaleRef->dtype), quantMode,
             kinds.cache_text, kinds.scale_text);
  check_rows(check, x, slotMapping, kMxGroup);
  if (!check.ok()) return check.status();
  const int64_t width = x->shape[1];
  check_cache(check, "cacheRef", cacheRef, width);
  check_float4(check, "cacheRef", cacheRef);
  check_cache(check, "cacheScaleRef", cacheScaleRef, quantMode == kPlain ? 1 : width / kMxGroup);
  check.that(!check.ok() || (cacheRef->shape[0] == cacheScaleRef->shape[0] &&
                             cacheRef->shape[1] == cacheScaleRef->shape[1]),
             "cacheScaleRef has other blocks than cacheRef");
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t to = plan.in_place(cacheRef), scale = plan.in_place(cacheScaleRef),
               from = plan.input(x), slots = plan.input(slotMapping);
  return plan.finish(
      [=](PlanContext &c) {
        const SlotRows rows(c.tensor(to)), scales(c.tensor(scale));
        const aclDataType dtype = c.tensor(to).dtype;
        return for_each_slot(
            op, c, slots, from, c.tensor(to), [&](float *values, int64_t count, int64_t slot) {
              quantise_indexer(quantMode, dtype, values, count, rows.row(slot), scales.row(slot));
            });
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(KvCompressEpilog,
             (aclTensor *cacheRef, const aclTensor *x, const aclTensor *slotMapping,
              int64_t quantGroupSize, int64_t quantMode, bool roundScale, float xScale)) {
  using namespace emu;
  static_cast<void>(xScale);  // belongs to quantMode 2
  constexpr const char *op = "aclnnKvCompressEpilog";
  Check check(op);
  check.required("cacheRef", cacheRef).required("x", x).required("slotMapping", slotMapping);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.dtype("cacheRef", cacheRef).dtype("x", x).dtype("slotMapping", slotMapping);
  check.that(quantMode == 0 || quantMode == 1,
             "quantMode is %" PRId64
             "; allowed: 0, 1 (of 2 the document does not say where the parts of a row lie)",
             quantMode);
  check.that(quantGroupSize == kGroup, "quantGroupSize is %" PRId64 "; allowed: 64",
             quantGroupSize);
  check.that(quantMode != 1 || roundScale,
             "roundScale is false; with quantMode 1 it must be true here: the document does not "
             "say which power of two stands for the scale otherwise");
  check_rows(check, x, slotMapping, kGroup);
  check.that(!check.ok() || x->shape[1] > kRotary, "x has rows of 64 elements; more are needed");
  if (!check.ok()) return check.status();
  check_cache(check, "cacheRef", cacheRef, epilog_row(x->shape[1], quantMode));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t to = plan.in_place(cacheRef), from = plan.input(x), slots = plan.input(slotMapping);
  return plan.finish(
      [=](PlanContext &c) {
        const SlotRows rows(c.tensor(to));
        return for_each_slot(op, c, slots, from, c.tensor(to),
                             [&](float *values, int64_t count, int64_t slot) {
                               compress_row(quantMode, roundScale, values, count, rows.row(slot));
                             });
      },
      workspaceSize, executor);
}
EMU_CATCH
