// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// UnfoldGrad: slices along a dimension are added up where they overlap, many in float64.
#include "aclnnop/conversion.h"
#include "core/pool.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

// The longest slices and steps of the kernel, in the last dimension and in the one before it.
struct SliceLimits {
  int64_t last, before_last;
};
constexpr SliceLimits kFloat = {49088, 88}, kHalf = {32720, 72};

struct Slices {
  int64_t extent, size, step, count;
  int64_t inner;  // elements behind the dimension
};

// Of so few slopes the sum in float32 is as good as that in float64.
constexpr int64_t kFewSlopes = 64;

// Slices of single elements. Element k of all slices at a time: neighbours of the result that wait
// for nothing. So few places at a time that their slopes stay in the nearest cache for every k.
template <class Sum>
void add_lines(const Sum *slopes, const Slices &s, Sum *sums) {
  constexpr int64_t kPlaces = 1024;
  for (int64_t first = 0; first < s.extent; first += kPlaces) {
    const int64_t end = first + kPlaces, least = first - (s.count - 1) * s.step;
    for (int64_t k = std::max<int64_t>(0, least); k < std::min(s.size, end); ++k) {
      // The slices that have this element at these places.
      const int64_t from = (std::max<int64_t>(0, first - k) + s.step - 1) / s.step,
                    to = std::min(s.count, (end - k + s.step - 1) / s.step);
      const Sum *next = slopes + k;
      Sum *line = sums + k;
      if (s.step == 1) {
        for (int64_t i = from; i < to; ++i) line[i] += next[i * s.size];
      } else {
        for (int64_t i = from; i < to; ++i) line[i * s.step] += next[i * s.size];
      }
    }
  }
}

// Likewise, with the elements behind the dimension.
template <class Sum>
void add_rows(const Sum *slopes, const Slices &s, Sum *sums) {
  for (int64_t k = 0; k < s.size; ++k) {
    const Sum *next = slopes + k;
    for (int64_t i = 0; i < s.count; ++i, next += s.inner * s.size) {
      Sum *line = sums + (i * s.step + k) * s.inner;
      for (int64_t w = 0; w < s.inner; ++w) line[w] += next[w * s.size];
    }
  }
}

template <class Sum>
void add_slices(const View &source, const View &result, const Slices &s) {
  const int64_t given = s.count * s.inner * s.size, made = s.extent * s.inner;
  const RowSource<Sum> slopes(source);
  const RowTarget<Sum> target(result);
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, given));
  parallel_for(result.count() / made, grain, [&](int64_t begin, int64_t end) {
    std::vector<Sum> from(static_cast<size_t>(given)), sums(static_cast<size_t>(made));
    for (int64_t block = begin; block < end; ++block) {
      const Sum *read = slopes.row(block * given, given, from.data());
      std::fill(sums.begin(), sums.end(), Sum{});
      (s.inner == 1 ? add_lines<Sum> : add_rows<Sum>)(read, s, sums.data());
      target.write(block * made, made, sums.data());
    }
  });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(UnfoldGrad, (const aclTensor *gradOut, const aclIntArray *inputSizes, int64_t dim,
                          int64_t size, int64_t step, aclTensor *gradIn)) {
  using namespace emu;
  Check check("aclnnUnfoldGrad");
  check.required("gradOut", gradOut).required("inputSizes", inputSizes).required("gradIn", gradIn);
  check.dtype("gradOut", gradOut).dtype("gradIn", gradIn);
  if (!check.ok()) return check.status();
  check.same_dtype("gradIn", gradIn->dtype, "gradOut", gradOut->dtype)
      .rank("gradOut", gradOut, 1, 8)
      .rank("gradIn", gradIn, 1, 8);
  if (!check.ok()) return check.status();
  const auto &sizes = inputSizes->values;
  const auto rank = static_cast<int64_t>(sizes.size());
  check.that(sizes.size() == gradIn->rank(), "inputSizes has %zu values; gradIn has %zu dimensions",
             sizes.size(), gradIn->rank());
  if (!check.ok()) return check.status();
  Layout folded;
  for (const int64_t extent : sizes) folded.push(extent, 0);
  check.shape("gradIn", gradIn, folded).tiling();
  check.that(gradOut->rank() == sizes.size() + 1,
             "gradOut has %zu dimensions; it must have one more than inputSizes, %zu",
             gradOut->rank(), sizes.size());
  check.that(dim >= 0 && dim < rank && dim >= rank - 2,
             "dim is %lld; allowed: the last two dimensions of inputSizes, %lld and %lld",
             static_cast<long long>(dim), static_cast<long long>(rank - 2),
             static_cast<long long>(rank - 1));
  if (!check.ok()) return check.status();
  const int64_t extent = sizes[static_cast<size_t>(dim)];
  const SliceLimits &limits = gradOut->dtype == ACL_FLOAT ? kFloat : kHalf;
  const int64_t most = dim == rank - 1 ? limits.last : limits.before_last;
  check.that(size >= 1 && size <= extent && size <= most,
             "size is %lld; allowed: 1 to %lld elements along dim, and at most %lld",
             static_cast<long long>(size), static_cast<long long>(extent),
             static_cast<long long>(most));
  check.that(step >= 1 && step <= most, "step is %lld; allowed: 1 to %lld",
             static_cast<long long>(step), static_cast<long long>(most));
  if (!check.ok()) return check.status();
  const Slices slices = {extent, size, step, (extent - size) / step + 1,
                         dim == rank - 1 ? 1 : sizes.back()};
  Layout unfolded = folded;
  unfolded.shape[dim] = slices.count;
  unfolded.push(size, 0);
  check.shape("gradOut", gradOut, unfolded);
  if (!check.ok()) return check.status();
  return plan_one_to_one(
      "aclnnUnfoldGrad", gradOut, gradIn,
      [=](const View &source, const View &result) {
        if (result.count() == 0) return;
        const bool few = (slices.size + slices.step - 1) / slices.step <= kFewSlopes;
        (few ? add_slices<float> : add_slices<double>)(source, result, slices);
      },
      workspaceSize, executor);
}
EMU_CATCH
