// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Random integers and permutations. The integers of a given range are numbers of it without their
// fraction. Those of a whole dtype are made of word `offset + i` of the sequence of the seed: the
// high half of its product with the number of values, so that all values are equally likely up to
// 2^-64 of their number.
#include <limits>
#include <utility>
#include <vector>

#include "aclnnop/random.h"
#include "ops/fill/generate.h"
#include "ops/random/draw.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

// A number of [0, width).
uint64_t scaled(uint64_t word, uint64_t width) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(word) * width >> 64);
}

void fill_integers(const View &out, int64_t from, uint64_t width, const RandomPlace &place) {
  generate_blocks<int64_t>(out, out.count(), [&](int64_t start, int64_t count, int64_t *block) {
    const RandomPart part = part_of(place, start, count);
    if (width < uint64_t{1} << 32) return word_kernels().integers(part, from, width, block);
    uint64_t words[kBlock];
    word_kernels().words(part, words);
    for (int64_t i = 0; i < count; ++i)
      block[i] = static_cast<int64_t>(static_cast<uint64_t>(from) + scaled(words[i], width));
  });
}

// The integers from the lowest to the highest that a dtype holds, as far as INT64 does.
std::pair<int64_t, int64_t> integers_of(aclDataType dtype) {
  switch (dtype) {
    case ACL_BOOL: return {0, 1};
    case ACL_UINT8: return {0, 255};
    case ACL_INT8: return {INT8_MIN, INT8_MAX};
    case ACL_INT16: return {INT16_MIN, INT16_MAX};
    case ACL_INT32: return {INT32_MIN, INT32_MAX};
    case ACL_FLOAT16: return {-65504, 65504};
    default: return {INT64_MIN, INT64_MAX};
  }
}

// Up to where a dtype holds every integer.
int64_t last_exact_integer(aclDataType dtype) {
  switch (dtype) {
    case ACL_BF16: return int64_t{1} << 8;
    case ACL_FLOAT16: return int64_t{1} << 11;
    case ACL_FLOAT: return int64_t{1} << 24;
    case ACL_DOUBLE: return int64_t{1} << 53;
    default: return integers_of(dtype).second;
  }
}

Check check_target(const char *op, const aclTensor *self) {
  Check check(op);
  check.required("selfRef", self).dtype("selfRef", self, chip_is_950() ? dt::kComplex : 0);
  return check.rank("selfRef", self, 0, 8);
}

void check_interval(Check &check, const aclTensor *self, int64_t from, int64_t to) {
  const auto number = [](int64_t value) { return static_cast<long long>(value); };
  check.that(from < to, "from is %lld and to is %lld; from must be less", number(from), number(to));
  if (!check.ok()) return;
  const auto [lowest, highest] = integers_of(self->dtype);
  check.that(from >= lowest && to - 1 <= highest,
             "from is %lld and to is %lld; %s holds %lld to %lld, and to - 1 is the last number",
             number(from), number(to), dtype_name(self->dtype), number(lowest), number(highest));
}

struct Interval {
  int64_t from, to;
};

// How many binary digits a floating dtype holds; 0 for the others, whose bounds stay.
int digits_of(aclDataType dtype) {
  switch (dtype) {
    case ACL_BF16: return 8;
    case ACL_FLOAT16: return 11;
    case ACL_FLOAT: return 24;
    case ACL_DOUBLE: return 53;
    default: return 0;
  }
}

int64_t saturated(double x) {
  return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : static_cast<int64_t>(x);
}

// From one number of a floating dtype to the next, at an integer.
int64_t gap_at(int64_t x, int digits) {
  const uint64_t magnitude = x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  return int64_t{1} << (63 - __builtin_clzll(magnitude) - digits + 1);
}

// Where rounding to the dtype would lead out of the interval, its bounds move inwards.
Interval narrowed(Interval given, aclDataType dtype) {
  const int digits = digits_of(dtype);
  if (digits == 0) return given;
  const auto held = [&](int64_t x) { return saturated(rounded(static_cast<double>(x), dtype)); };
  const int64_t after = held(given.from + 1), before = held(given.to - 1);
  return {after < given.from ? after + gap_at(given.from + 1, digits) : given.from,
          before >= given.to ? before - gap_at(given.to - 1, digits) : given.to};
}

Status plan_interval(Check &check, aclTensor *self, Interval given, const RandomPlace &start,
                     const aclTensor *seed, const aclTensor *offset, uint64_t *workspace_size,
                     aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  const Interval interval = narrowed(given, self->dtype);
  const auto from = static_cast<double>(interval.from), to = static_cast<double>(interval.to);
  const bool wide = self->dtype == ACL_DOUBLE && chip_is_950();
  return plan_filled(
      check, self, start, seed, offset,
      [=](const View &out, const RandomPlace &place) { fill_whole(out, from, to, wide, place); },
      workspace_size, executor);
}

Status plan_integers(Check &check, aclTensor *self, int64_t from, uint64_t width,
                     const RandomPlace &start, const aclTensor *seed, const aclTensor *offset,
                     uint64_t *workspace_size, aclOpExecutor **executor) {
  return plan_filled(
      check, self, start, seed, offset,
      [=](const View &out, const RandomPlace &place) { fill_integers(out, from, width, place); },
      workspace_size, executor);
}

RandomPlace place_of(int64_t seed, int64_t offset) {
  return {static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)};
}

// Fisher and Yates: element i changes places with one of those from i on, which word `offset + i`
// chooses.
std::vector<int64_t> permutation(int64_t count, const RandomPlace &place) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) order[static_cast<size_t>(i)] = i;
  uint64_t words[kBlock];
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t end = std::min(count, start + kBlock);
    word_kernels().words(part_of(place, start, end - start), words);
    for (int64_t i = start; i < end; ++i) {
      const uint64_t other =
          static_cast<uint64_t>(i) + scaled(words[i - start], static_cast<uint64_t>(count - i));
      std::swap(order[static_cast<size_t>(i)], order[other]);
    }
  }
  return order;
}

void fill_permutation(const View &out, const RandomPlace &place) {
  const std::vector<int64_t> order = permutation(out.count(), place);
  generate<int64_t>(out, [&](int64_t i) { return order[static_cast<size_t>(i)]; });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(InplaceRandom,
             (aclTensor *selfRef, int64_t from, int64_t to, int64_t seed, int64_t offset)) {
  emu::Check check = emu::check_target("aclnnInplaceRandom", selfRef);
  emu::check_interval(check, selfRef, from, to);
  emu::check_offset(check, offset);
  return emu::plan_interval(check, selfRef, {from, to}, emu::place_of(seed, offset), nullptr,
                            nullptr, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceRandomTensor,
             (aclTensor *selfRef, int64_t from, int64_t to, const aclTensor *seedTensor,
              const aclTensor *offsetTensor, int64_t offset)) {
  emu::Check check = emu::check_target("aclnnInplaceRandomTensor", selfRef);
  emu::check_place(check, seedTensor, offsetTensor);
  emu::check_interval(check, selfRef, from, to);
  emu::check_offset(check, offset);
  return emu::plan_interval(check, selfRef, {from, to}, emu::place_of(0, offset), seedTensor,
                            offsetTensor, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceRandomWithoutFromTo, (aclTensor *selfRef, int64_t seed, int64_t offset)) {
  emu::Check check = emu::check_target("aclnnInplaceRandomWithoutFromTo", selfRef);
  if (const emu::Status s = emu::check_chip(check, emu::kInvalid)) return s;
  emu::check_offset(check, offset);
  const uint64_t width = static_cast<uint64_t>(emu::last_exact_integer(selfRef->dtype)) + 1;
  return emu::plan_integers(check, selfRef, 0, width, emu::place_of(seed, offset), nullptr, nullptr,
                            workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceRandomWithoutFromToTensor, (aclTensor *selfRef, const aclTensor *seedTensor,
                                                const aclTensor *offsetTensor, int64_t offset)) {
  emu::Check check = emu::check_target("aclnnInplaceRandomWithoutFromToTensor", selfRef);
  emu::check_place(check, seedTensor, offsetTensor);
  if (const emu::Status s = emu::check_chip(check, emu::kInvalid)) return s;
  emu::check_offset(check, offset);
  const uint64_t width = static_cast<uint64_t>(emu::last_exact_integer(selfRef->dtype)) + 1;
  return emu::plan_integers(check, selfRef, 0, width, emu::place_of(0, offset), seedTensor,
                            offsetTensor, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Randperm, (int64_t n, int64_t seed, int64_t offset, aclTensor *out)) {
  emu::Check check("aclnnRandperm");
  check.required("out", out).dtype("out", out);
  check.that(n >= 0, "n is %lld; it must be 0 or more", static_cast<long long>(n));
  if (!check.ok()) return check.status();
  check.shape("out", out, emu::dense_layout(&n, 1));
  return emu::plan_filled(check, out, emu::place_of(seed, offset), nullptr, nullptr,
                          emu::fill_permutation, workspaceSize, executor);
}
EMU_CATCH
