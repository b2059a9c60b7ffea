// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Uniform and normal numbers into a tensor. Element i is number `offset + i` of the
// sequence of the seed: equal seeds and offsets give equal numbers on any number of threads, and a
// larger offset goes on in the same sequence.
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "aclnnop/random.h"
#include "core/chip.h"
#include "ops/fill/generate.h"
#include "ops/random/draw.h"

namespace emu {
namespace {

// As arguments, or as tensors that are read when the stream gets there.
using Place = RandomPlace;

bool rounds_to_single(aclDataType dtype) { return dtype == ACL_DOUBLE && !chip_is_950(); }

}  // namespace

double rounded(double x, aclDataType dtype) {
  alignas(8) char item[8] = {};
  store_as(dtype, item, 0, 1, Compute::F64, &x);
  load_as(dtype, item, 0, 1, ACL_DOUBLE, &x);
  return x;
}

double below(double limit, aclDataType dtype) {
  alignas(8) char item[8] = {};
  store_as(dtype, item, 0, 1, Compute::F64, &limit);
  const auto value = [&] {
    double result = 0;
    load_as(dtype, item, 0, 1, ACL_DOUBLE, &result);
    return result;
  };
  if (value() < limit) return value();
  const auto size = static_cast<size_t>(item_size(dtype));
  const uint64_t sign = uint64_t{1} << (8 * size - 1);
  uint64_t bits = 0;
  std::memcpy(&bits, item, size);
  if ((bits & ~sign) == 0) bits = sign | 1;
  else bits += (bits & sign) != 0 ? 1 : -1;
  std::memcpy(item, &bits, size);
  return value();
}

// The 910B draws FLOAT for DOUBLE, and converts it.
void fill_uniform(const View &out, double from, double to, const Place &place) {
  if (is_integer(out.dtype)) return fill_whole(out, from, to, false, place);
  const bool single = rounds_to_single(out.dtype);
  const aclDataType drawn = single ? ACL_FLOAT : out.dtype;
  const double first = rounded(from, drawn), limit = rounded(to, drawn);
  const UniformRange range{first, limit - first, below(limit, drawn)};
  generate_blocks<double>(out, out.count(), [&](int64_t start, int64_t count, double *block) {
    word_kernels().uniform(part_of(place, start, count), range, block);
    if (!single) return;
    for (int64_t i = 0; i < count; ++i) block[i] = static_cast<float>(block[i]);
  });
}

void fill_whole(const View &out, double from, double to, bool wide, const Place &place) {
  const aclDataType drawn = wide ? ACL_DOUBLE : ACL_FLOAT;
  const double first = rounded(from, drawn), limit = rounded(to, drawn);
  const UniformRange range{first, limit - first, below(limit, drawn)};
  const bool truth = out.dtype == ACL_BOOL;
  generate_blocks<int64_t>(out, out.count(), [&](int64_t start, int64_t count, int64_t *block) {
    alignas(64) double numbers[kBlock];
    word_kernels().uniform(part_of(place, start, count), range, numbers);
    for (int64_t i = 0; i < count; ++i) {
      const double x = wide ? numbers[i] : static_cast<double>(static_cast<float>(numbers[i]));
      block[i] = truth ? std::nearbyint(x) != 0 : static_cast<int64_t>(x);
    }
  });
}

namespace {

uint64_t first_number(const View &view) {
  uint64_t result = 0;
  load_as(view.dtype, view.data, 0, 1, view.dtype, &result);
  return result;
}

Check &one_number(Check &check, const char *parameter, const aclTensor *tensor) {
  check.dtype(parameter, tensor);
  return check.that(tensor->rank() == 1 && tensor->numel() == 1, "%s has shape %s; expected (1)",
                    parameter, shape_text(layout_of(*tensor)).c_str());
}

}  // namespace

Check &check_place(Check &check, const aclTensor *seed, const aclTensor *offset) {
  check.required("seedTensor", seed).required("offsetTensor", offset);
  if (check.ok()) one_number(one_number(check, "seedTensor", seed), "offsetTensor", offset);
  return check;
}

RandomPlace place_in(PlanContext &context, RandomPlace start, size_t seed, size_t offset) {
  if (!context.has(seed)) return start;
  return {first_number(view_of(context.tensor(seed))),
          start.offset + first_number(view_of(context.tensor(offset)))};
}

namespace {

using Fill = void (*)(const View &out, double first, double second, const Place &place);

// The operators differ in what fills the tensor, and in where the seed comes from.
Status plan_random(Check &check, Fill fill, aclTensor *self, double first, double second,
                   const Place &place, const aclTensor *seed, const aclTensor *offset,
                   uint64_t *workspace_size, aclOpExecutor **executor) {
  return plan_filled(
      check, self, place, seed, offset,
      [=](const View &out, const Place &at) { fill(out, first, second, at); }, workspace_size,
      executor);
}

// Lowest and highest number of a dtype that uniform numbers are drawn in.
std::pair<double, double> limits_of(aclDataType dtype) {
  if (dtype == ACL_UINT8) return {0, 255};
  if (is_integer(dtype)) {
    const double half = std::ldexp(1.0, static_cast<int>(8 * item_size(dtype)) - 1);
    return {-half, half - 1};
  }
  const double highest = dtype == ACL_FLOAT16 ? 65504
                         : dtype == ACL_BF16  ? 0x1.FEp127
                         : dtype == ACL_FLOAT ? std::numeric_limits<float>::max()
                                              : std::numeric_limits<double>::max();
  return {-highest, highest};
}

Check check_uniform(const char *op, const aclTensor *self, double from, double to) {
  Check check(op);
  check.required("selfRef", self).dtype("selfRef", self).rank("selfRef", self, 0, 8);
  check.that(from <= to, "from is %g and to is %g; from must not be greater", from, to);
  if (!check.ok()) return check;
  const auto [lowest, highest] = limits_of(self->dtype);
  check.that(from >= lowest && to <= highest, "from is %g and to is %g; %s holds %g to %g", from,
             to, dtype_name(self->dtype), lowest, highest);
  return check;
}

// Integers get what is drawn without its fraction.
Check check_normal(const char *op, const aclTensor *self) {
  Check check(op);
  check.required("selfRef", self).dtype("selfRef", self).rank("selfRef", self, 0, 8);
  return check;
}

void check_deviation(Check &check, float deviation) {
  check.that(!(deviation < 0), "std is %g; a standard deviation must not be negative", deviation);
}

}  // namespace

EMU_OPERATOR(InplaceUniform,
             (aclTensor *selfRef, double from, double to, uint64_t seed, uint64_t offset)) {
  Check check = check_uniform("aclnnInplaceUniform", selfRef, from, to);
  return plan_random(check, fill_uniform, selfRef, from, to, {seed, offset}, nullptr, nullptr,
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceUniformTensor,
             (aclTensor *selfRef, double from, double to, const aclTensor *seedTensor,
              const aclTensor *offsetTensor, uint64_t offset)) {
  Check check = check_uniform("aclnnInplaceUniformTensor", selfRef, from, to);
  check_place(check, seedTensor, offsetTensor);
  return plan_random(check, fill_uniform, selfRef, from, to, {0, offset}, seedTensor, offsetTensor,
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceNormal,
             (aclTensor *selfRef, float mean, float std, int64_t seed, int64_t offset)) {
  Check check = check_normal("aclnnInplaceNormal", selfRef);
  check_deviation(check, std);
  return plan_random(check, fill_normal, selfRef, mean, std,
                     {static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)}, nullptr, nullptr,
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceNormalTensor,
             (aclTensor *selfRef, float mean, float std, const aclTensor *seedTensor,
              const aclTensor *offsetTensor, int64_t offset)) {
  Check check = check_normal("aclnnInplaceNormalTensor", selfRef);
  check_place(check, seedTensor, offsetTensor);
  check_deviation(check, std);
  return plan_random(check, fill_normal, selfRef, mean, std, {0, static_cast<uint64_t>(offset)},
                     seedTensor, offsetTensor, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
