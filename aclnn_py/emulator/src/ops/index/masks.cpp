// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/index/masks.h"

namespace emu {

namespace {

template <class T>
void mark(const void *block, int64_t count, unsigned char *to) {
  const auto *x = static_cast<const T *>(block);
  for (int64_t i = 0; i < count; ++i) to[i] = x[i] != T{} ? 1 : 0;
}

void mark(Compute compute, const void *block, int64_t count, unsigned char *to) {
  switch (compute) {
    case Compute::F32: return mark<float>(block, count, to);
    case Compute::F64: return mark<double>(block, count, to);
    case Compute::I32: return mark<int32_t>(block, count, to);
    case Compute::I64: return mark<int64_t>(block, count, to);
    case Compute::U64: return mark<uint64_t>(block, count, to);
    case Compute::C64: return mark<Complex64>(block, count, to);
    case Compute::C128: return mark<Complex128>(block, count, to);
  }
}

bool lies_ready(const View &view, std::initializer_list<View> outs) {
  if (view.dtype != ACL_BOOL || !view.layout.is_dense()) return false;
  for (const View &out : outs) {
    if (view.data == out.data || clash(view, out)) return false;
  }
  return true;
}

}  // namespace

Truth::Truth(const View &view, std::initializer_list<View> outs)
    : bytes_(reinterpret_cast<const unsigned char *>(view.data)), total_(view.count()) {
  const bool ready = lies_ready(view, outs);
  if (!ready) own_.reset(new unsigned char[static_cast<size_t>(total_)]);
  if (!ready) bytes_ = own_.get();
  const Reader reader(view, view.dtype);
  const int64_t parts = (total_ + kPart - 1) / kPart;
  before_.resize(static_cast<size_t>(parts) + 1);
  parallel_for(parts, 1, [&](int64_t first, int64_t last) {
    alignas(64) char scratch[kBlock * sizeof(Complex128)];
    for (int64_t part = first; part < last; ++part) {
      int64_t found = 0;
      const int64_t end = std::min((part + 1) * kPart, total_);
      for (int64_t i = part * kPart; i < end; i += kBlock) {
        const int64_t n = std::min(kBlock, end - i);
        if (!ready) mark(compute_for(view.dtype), reader.read(i, n, scratch), n, own_.get() + i);
        found += true_among(i, n);
      }
      before_[static_cast<size_t>(part) + 1] = found;
    }
  });
  for (size_t part = 1; part < before_.size(); ++part) before_[part] += before_[part - 1];
}

int64_t Truth::true_among(int64_t first, int64_t count) const {
  static_assert(kBlock <= UINT16_MAX, "a short sum, of which a register holds more");
  const unsigned char *bytes = bytes_ + first;
  uint16_t found = 0;
  for (int64_t i = 0; i < count; ++i)
    found = static_cast<uint16_t>(found + (bytes[i] != 0 ? 1 : 0));
  return found;
}

void write_coordinates(const Truth &truth, const Layout &shape, int64_t *const *first,
                       int64_t step) {
  if (shape.rank == 0) return;
  const int last = shape.rank - 1;
  const int64_t width = shape.shape[last];
  truth.each([&](int64_t begin, int64_t end, int64_t rank) {
    int64_t columns[kBlock];
    while (begin < end) {  // the part of one row
      const int64_t column = begin % width, n = std::min(end - begin, width - column);
      const int64_t found = truth.keep_numbers(begin, n, column, columns);
      int64_t *to = first[last] + rank * step;
      if (step == 1) std::copy_n(columns, found, to);
      else
        for (int64_t k = 0; k < found; ++k) to[k * step] = columns[k];
      int64_t rest = begin / width;
      for (int d = last - 1; d >= 0; --d) {
        const int64_t at = rest % shape.shape[d];
        rest /= shape.shape[d];
        to = first[d] + rank * step;
        for (int64_t k = 0; k < found; ++k) to[k * step] = at;
      }
      rank += found;
      begin += n;
    }
  });
}

void true_coordinates(const View &mask, std::vector<std::vector<int64_t>> *coordinates) {
  const Truth truth(mask);
  const size_t before = coordinates->size();
  int64_t *first[kMaxRank];
  coordinates->resize(before + static_cast<size_t>(mask.layout.rank));
  for (int d = 0; d < mask.layout.rank; ++d) {
    auto &line = (*coordinates)[before + static_cast<size_t>(d)];
    line.resize(static_cast<size_t>(truth.count()));
    first[d] = line.data();
  }
  write_coordinates(truth, mask.layout, first, 1);
}

void GrowingResult::settle(const Layout &shape) const {
  if (!live(handle_) || handle_->data != data_) return;
  auto *tensor = const_cast<aclTensor *>(handle_);
  Dims dims;
  for (int d = 0; d < shape.rank; ++d) dims.push_back(shape.shape[d]);
  if (tensor->shape == dims) return;
  tensor->shape = dims;
  tensor->strides = contiguous_strides(dims);
}

}  // namespace emu
