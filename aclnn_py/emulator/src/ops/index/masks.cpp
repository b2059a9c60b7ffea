// SPDX-License-Identifier: Apache-2.0
#include "ops/index/masks.h"

namespace emu {

std::vector<unsigned char> truth_of(const View &view) {
  std::vector<unsigned char> truth(static_cast<size_t>(view.count()));
  const Reader reader(view, ACL_BOOL);
  for (int64_t i = 0; i < view.count(); i += kBlock) {
    const int64_t n = std::min(kBlock, view.count() - i);
    int32_t scratch[kBlock];
    const auto *block = static_cast<const int32_t *>(reader.read(i, n, scratch));
    for (int64_t j = 0; j < n; ++j) truth[static_cast<size_t>(i + j)] = block[j] != 0;
  }
  return truth;
}

void true_coordinates(const View &mask, std::vector<std::vector<int64_t>> *coordinates) {
  const auto truth = truth_of(mask);
  const size_t first = coordinates->size(), rank = static_cast<size_t>(mask.layout.rank);
  coordinates->resize(first + rank);
  for (size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == 0) continue;
    auto rest = static_cast<int64_t>(i);
    for (size_t d = rank; d-- > 0;) {
      const int64_t extent = mask.layout.shape[d];
      (*coordinates)[first + d].push_back(rest % extent);
      rest /= extent;
    }
  }
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
