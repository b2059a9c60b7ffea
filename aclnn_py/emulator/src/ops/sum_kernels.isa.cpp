// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include "ops/sum_kernels.h"

#include "ops/registers.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Element i is added to sum i % kSums, and then the sums in halves, until kWidth are left.
template <int64_t kWidth, class X>
void sum_up(const X *x, int64_t count, double *to) {
  constexpr int64_t kSums = 32, kEach = kLanes<double>;
  Wide<double> sums[kSums / kEach] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
#pragma GCC unroll 16
    for (int64_t k = 0; k < kSums / kEach; ++k) sums[k] += widened_at<double>(x + i + k * kEach);
  }
  double all[kSums];
  std::memcpy(all, sums, sizeof all);
  for (int64_t k = 0; i + k < count; ++k) all[k] += static_cast<double>(x[i + k]);
  for (int64_t half = kSums / 2; half >= kWidth; half /= 2)
    for (int64_t k = 0; k < half; ++k) all[k] += all[k + half];
  for (int64_t k = 0; k < kWidth; ++k) to[k] = all[k];
}

double sum_doubles(const double *x, int64_t count) {
  double total = 0;
  sum_up<1>(x, count, &total);
  return total;
}

template <class X>
int64_t sum_whole(const X *x, int64_t count) {
  uint64_t total = 0;
  for (int64_t i = 0; i < count; ++i) total += static_cast<uint64_t>(int64_t{x[i]});
  return static_cast<int64_t>(total);
}

// sums[c] = f(sum, element, column) for all elements of rows: some rows at a time, so that the sums
// are loaded and stored less often.
template <class S, class X, class F>
void down_columns(S *sums, const X *x, int64_t rows, int64_t step, int64_t count, F f) {
  constexpr int64_t kTogether = 4;
  const auto take = [&](auto together) {
    int64_t c = 0;
    for (; c + kLanes<S> <= count; c += kLanes<S>) {
      Wide<S> sum = at(sums + c);
      for (int64_t k = 0; k < together; ++k) sum = f(sum, widened_at<S>(x + k * step + c), c);
      std::memcpy(sums + c, &sum, sizeof sum);
    }
    for (; c < count; ++c)
      for (int64_t k = 0; k < together; ++k)
        sums[c] = f(sums[c], static_cast<S>(x[k * step + c]), c);
    x += together * step;
    rows -= together;
  };
  while (rows >= kTogether) take(std::integral_constant<int64_t, kTogether>());
  while (rows > 0) take(std::integral_constant<int64_t, 1>());
}

template <class S, class X>
void add(S *sums, const X *x, int64_t rows, int64_t step, int64_t count) {
  if constexpr (std::is_same_v<S, double>) {
    down_columns(sums, x, rows, step, count,
                 [](auto sum, auto element, int64_t) { return sum + element; });
  } else {
    // as unsigned numbers, which wrap
    down_columns(reinterpret_cast<uint64_t *>(sums), x, rows, step, count,
                 [](auto sum, auto element, int64_t) { return sum + element; });
  }
}

void add_squares(double *sums, const double *means, const float *x, int64_t rows, int64_t step,
                 int64_t count) {
  down_columns(sums, x, rows, step, count, [means](auto sum, auto element, int64_t c) {
    decltype(element) mean;
    std::memcpy(&mean, means + c, sizeof mean);
    const auto distance = element - mean;
    return sum + distance * distance;
  });
}

}  // namespace

extern const SumKernels sum_table;
constexpr SumKernels sum_table = {sum_doubles,         sum_whole<int32_t>,    sum_whole<int64_t>,
                                  sum_up<2, float>,    sum_up<2, double>,     add<double, float>,
                                  add<double, double>, add<int64_t, int32_t>, add<int64_t, int64_t>,
                                  add_squares};

}  // namespace EMU_ISA_NS
}  // namespace emu
