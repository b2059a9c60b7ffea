// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include "ops/elementwise/fold.h"

#include <optional>
#include <vector>

#include "core/pool.h"
#include "ops/block_kernels.h"

namespace emu {
namespace {

// Sums are made of pieces of this many elements, whatever the number of threads, so that their
// rounding does not depend on the machine.
constexpr int64_t kPiece = 64 * kBlock;

template <class T>
T sum_of(const void *block, int64_t count) {
  // Partial sums side by side: the compiler may not reorder a floating-point sum by itself.
  constexpr int64_t kLanes = 8;
  const auto *values = static_cast<const T *>(block);
  T lanes[kLanes]{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  T sum{};
  for (; i < count; ++i) sum += values[i];
  for (const T lane : lanes) sum += lane;
  return sum;
}

}  // namespace

ElementFold::ElementFold(const ElementwiseRow &row, const ElementwiseTask &elements,
                         const Fold &how)
    : task(elements), fold(how), narrow_(compute_for(elements.compute_dtype)) {
  wide_ = narrow_ == Compute::I64 ? Compute::I64 : Compute::F64;
  element_ = how.float_elements && narrow_ == Compute::F32 ? narrow_ : wide_;
  fn_ = row.blocks->fn[static_cast<int>(element_)];
  convert_table().cast[static_cast<int>(narrow_)][static_cast<int>(element_)](
      task.scalars, kMaxScalars, scalars_);
}

void ElementFold::elements(const Reader *readers, int64_t start, int64_t count, void *to) const {
  alignas(64) char narrow[kBlock * sizeof(double)];
  alignas(64) char scratch[kMaxTensors][kBlock * sizeof(double) + 5 * 64];
  const void *in[kMaxTensors] = {};
  for (int i = 0; i < task.inputs; ++i) {
    in[i] = readers[i].read(start, count, narrow_ == element_ ? scratch[i] : narrow);
    if (narrow_ == element_) continue;
    convert_table().cast[static_cast<int>(narrow_)][static_cast<int>(element_)](in[i], count,
                                                                                scratch[i]);
    in[i] = scratch[i];
  }
  fn_(to, in, count, scalars_);
}

void ElementFold::wide_elements(const Reader *readers, int64_t start, int64_t count,
                                void *wide) const {
  if (element_ == wide_) return elements(readers, start, count, wide);
  alignas(64) char narrow[kBlock * sizeof(double)];
  elements(readers, start, count, narrow);
  convert_table().cast[static_cast<int>(element_)][static_cast<int>(wide_)](narrow, count, wide);
}

void ElementFold::all(const View *in, const Layout &shape, const View &out) const {
  Reader readers[kMaxTensors];
  for (int i = 0; i < task.inputs; ++i) readers[i] = Reader(in[i], task.compute_dtype);
  const int64_t count = shape.count();
  const auto pieces = static_cast<size_t>((count + kPiece - 1) / kPiece);
  std::vector<double> sums(pieces);
  std::vector<uint64_t> whole_sums(pieces);
  parallel_for(static_cast<int64_t>(pieces), 1, [&](int64_t begin, int64_t end) {
    alignas(64) char block[kBlock * sizeof(double)];
    for (int64_t piece = begin; piece < end; ++piece) {
      const auto at = static_cast<size_t>(piece);
      const int64_t last = std::min(count, (piece + 1) * kPiece);
      for (int64_t start = piece * kPiece; start < last; start += kBlock) {
        const int64_t n = std::min(kBlock, last - start);
        elements(readers, start, n, block);
        if (element_ == Compute::F32)
          sums[at] += block_kernels().sum(reinterpret_cast<const float *>(block), n);
        else if (element_ == Compute::F64) sums[at] += sum_of<double>(block, n);
        else whole_sums[at] += sum_of<uint64_t>(block, n);
      }
    }
  });
  if (wide_ == Compute::F64) {
    double total = 0;
    for (const double sum : sums) total += sum;
    if (fold.mean) total /= static_cast<double>(count);
    return store_as(out.dtype, out.data, 0, 1, Compute::F64, &total);
  }
  uint64_t total = 0;
  for (const uint64_t sum : whole_sums) total += sum;
  store_as(out.dtype, out.data, 0, 1, Compute::I64, &total);
}

void ElementFold::first_dimension(const View *in, const Layout &shape, const View &out) const {
  const int64_t lines = shape.rank == 0 ? 1 : shape.shape[0];
  const int64_t width = out.count();
  Reader readers[kMaxTensors];
  std::optional<Snapshot> copies[kMaxTensors];
  for (int i = 0; i < task.inputs; ++i) {
    if (clash(in[i], out)) copies[i].emplace(in[i]);
    readers[i] = Reader(copies[i] ? copies[i]->view() : in[i], task.compute_dtype);
  }
  const Writer writer(out, wide_, ACL_DT_UNDEFINED);
  const int64_t blocks = (width + kBlock - 1) / kBlock;
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    alignas(64) double sums[kBlock], wide[kBlock];
    for (int64_t block = begin; block < end; ++block) {
      const int64_t start = block * kBlock, n = std::min(kBlock, width - start);
      std::fill_n(sums, n, 0.0);
      for (int64_t line = 0; line < lines; ++line) {
        wide_elements(readers, line * width + start, n, wide);
        for (int64_t i = 0; i < n; ++i) sums[i] += wide[i];
      }
      for (int64_t i = 0; fold.mean && i < n; ++i) sums[i] /= static_cast<double>(lines);
      writer.write(start, n, sums);
    }
  });
}

void ElementFold::run(const View *in, const Layout &shape, const View &out) const {
  if (fold.over == Fold::kAll) all(in, shape, out);
  else first_dimension(in, shape, out);
}

}  // namespace emu
