// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Exponential numbers, to the sequence that CANN's kernel publishes: that of a GPU with 78
// multiprocessors of 2048 threads, in blocks of 256. A thread draws four numbers at a time, and
// those of all threads lie beside each other: number k of a draw of thread t is element
// (4 * draw + k) * threads + t. The key of Philox is the seed; the counter holds the draw after
// offset / 4 in its lower half and the thread in its upper one. offset % 4 numbers of the first
// draw are left out where it is 2 or 3, and none where it is 1.
#include <algorithm>
#include <cmath>

#include "aclnnop/random.h"
#include "core/chip.h"
#include "ops/fill/generate.h"
#include "ops/random/draw.h"

namespace emu {
namespace {

constexpr int64_t kThreadsOfBlock = 256, kMostBlocks = 2048 / kThreadsOfBlock * 78;
constexpr int64_t kUnroll = 4;

// How many threads draw `count` numbers.
int64_t threads_for(int64_t count) {
  return std::min((count + kThreadsOfBlock - 1) / kThreadsOfBlock, kMostBlocks) * kThreadsOfBlock;
}

// Word `index` of what a thread draws from the offset on.
uint32_t word_of(const RandomPlace &place, uint64_t thread, uint64_t index) {
  const uint64_t skipped = place.offset % kUnroll;
  const uint64_t word = index + (skipped > 1 ? skipped : 0);
  const uint64_t draw = place.offset / kUnroll + word / kUnroll;
  const PhiloxBlock bits =
      philox({static_cast<uint32_t>(draw), static_cast<uint32_t>(draw >> 32),
              static_cast<uint32_t>(thread), static_cast<uint32_t>(thread >> 32)},
             place.seed);
  return bits[word % kUnroll];
}

// The kernel's steps, in FLOAT: a number of (0, 1], 1 becomes 0 as the end of a range does, and 0
// becomes 1; numbers at 1 give half of what FLOAT can tell from 1, so that no result is 0.
float exponential_of(uint32_t word, float rate) {
  constexpr float kHalfEpsilon = 0x1p-24f;
  float unit = static_cast<float>(word) * 0x1p-32f + 0x1p-33f;
  if (unit == 1 || unit == 0) unit = 1;
  const float logarithm = unit < 1 - kHalfEpsilon ? std::log(unit) : -kHalfEpsilon;
  return -logarithm / rate;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SimThreadExponential,
             (aclTensor *selfRef, int64_t count, double lambda, int64_t seed, int64_t offset)) {
  using namespace emu;
  constexpr const char *op = "aclnnSimThreadExponential";
  Check check(op);
  check.required("selfRef", selfRef).dtype("selfRef", selfRef).rank("selfRef", selfRef, 0, 8);
  check.that(lambda > 0, "lambda is %g; it must be positive", lambda);
  if (!check.ok()) return check.status();
  const int64_t total = selfRef->numel();
  check.that(count >= 0 && count <= total && (count == total || !chip_is_950()),
             chip_is_950() ? "count is %lld; it must be the number of elements of selfRef, %lld"
                           : "count is %lld; allowed: 0 to the number of elements of selfRef, %lld",
             static_cast<long long>(count), static_cast<long long>(total));
  check_offset(check, offset);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  plan.not_repeatable();
  const size_t target = plan.in_place(selfRef);
  const RandomPlace place{static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)};
  const int64_t threads = threads_for(count);
  const auto rate = static_cast<float>(lambda);
  return plan.finish(
      [=](PlanContext &context) {
        generate_blocks<float>(view_of(context.tensor(target)), count,
                               [&](int64_t start, int64_t items, float *block) {
                                 for (int64_t i = 0; i < items; ++i) {
                                   const int64_t at = start + i;
                                   const auto word =
                                       word_of(place, static_cast<uint64_t>(at % threads),
                                               static_cast<uint64_t>(at / threads));
                                   block[i] = exponential_of(word, rate);
                                 }
                               });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
