// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/view.h"

#include <cstdlib>

namespace emu {

Layout layout_of(const aclTensor &tensor) {
  Layout layout;
  layout.rank = static_cast<int>(tensor.shape.size());
  for (int d = 0; d < layout.rank; ++d) {
    layout.shape[d] = tensor.shape[static_cast<size_t>(d)];
    layout.stride[d] = tensor.strides[static_cast<size_t>(d)];
  }
  return layout;
}

View view_of(const aclTensor &tensor) {
  View view;
  // A tensor without data has no elements, or is refused when the kernel runs.
  if (tensor.data != nullptr) {
    view.data = static_cast<char *>(tensor.data) + tensor.offset * item_size(tensor.dtype);
  }
  view.dtype = tensor.dtype;
  view.layout = layout_of(tensor);
  return view;
}

View view_of(const aclTensor &tensor, const Layout &target) {
  View view = view_of(tensor);
  view.layout = broadcast_to(view.layout, target);
  return view;
}

Reader::Reader(const View &view, aclDataType via)
    : view_(view), via_(via), size_(item_size(view.dtype)) {
  view_.layout = coalesced(view.layout);
  direct_ = view.dtype == via && is_native(via) && view_.layout.is_dense() && view_.layout.rank > 0;
}

const void *Reader::read(int64_t start, int64_t count, void *scratch) const {
  if (direct_) return view_.data + start * size_;
  auto *to = static_cast<char *>(scratch);
  const int64_t width = compute_size(compute_for(via_));
  for_each_run(view_.layout, start, count, [&](int64_t offset, int64_t step, int64_t run) {
    load_as(view_.dtype, view_.data + offset * size_, step * size_, run, via_, to);
    to += run * width;
  });
  return scratch;
}

Writer::Writer(const View &view, Compute have, aclDataType via)
    : view_(view), have_(have), via_(via), size_(item_size(view.dtype)) {
  view_.layout = coalesced(view.layout);
  if (via_ == view.dtype) via_ = ACL_DT_UNDEFINED;
  direct_ = via_ == ACL_DT_UNDEFINED && is_native(view.dtype) && compute_for(view.dtype) == have &&
            view_.layout.is_dense() && view_.layout.rank > 0;
}

void *Writer::target(int64_t start, void *scratch) const {
  return direct_ ? view_.data + start * size_ : scratch;
}

void Writer::write(int64_t start, int64_t count, const void *block) const {
  if (direct_ && block == view_.data + start * size_) return;
  alignas(64) char packed[kBlock * sizeof(Complex128)];
  alignas(64) char rounded[kBlock * sizeof(Complex128)];
  Compute have = have_;
  if (via_ != ACL_DT_UNDEFINED) {
    const int64_t via_size = item_size(via_);
    store_as(via_, packed, via_size, count, have, block);
    convert_table().load[via_](packed, via_size, count, rounded);
    block = rounded;
    have = compute_for(via_);
  }
  const auto *from = static_cast<const char *>(block);
  const int64_t width = compute_size(have);
  for_each_run(view_.layout, start, count, [&](int64_t offset, int64_t step, int64_t run) {
    store_as(view_.dtype, view_.data + offset * size_, step * size_, run, have, from);
    from += run * width;
  });
}

bool clash(const View &a, const View &b) {
  if (a.count() == 0 || b.count() == 0) return false;
  const int64_t size_a = item_size(a.dtype), size_b = item_size(b.dtype);
  const Extent extent_a = extent_of(a.layout), extent_b = extent_of(b.layout);
  const char *first_a = a.data + extent_a.lowest * size_a;
  const char *last_a = a.data + (extent_a.highest + 1) * size_a;
  const char *first_b = b.data + extent_b.lowest * size_b;
  const char *last_b = b.data + (extent_b.highest + 1) * size_b;
  if (last_a <= first_b || last_b <= first_a) return false;
  if (a.data != b.data || size_a != size_b || !same_shape(a.layout, b.layout)) return true;
  for (int d = 0; d < a.layout.rank; ++d) {
    if (a.layout.shape[d] > 1 && a.layout.stride[d] != b.layout.stride[d]) return true;
  }
  return false;
}

Snapshot::Snapshot(const View &view)
    : memory_(new char[static_cast<size_t>(view.count() * item_size(view.dtype)) + 1]) {
  view_.data = memory_.get();
  view_.dtype = view.dtype;
  view_.layout = dense_like(view.layout);
  copy_view(view, view_);
}

namespace {

// Fewer elements lie in the caches however they are walked over.
constexpr int64_t kWorthTurning = 4096;

bool worth_turning(const View &view) {
  return view.count() >= kWorthTurning && leads_across(view.layout);
}

}  // namespace

bool leads_across(const Layout &layout) {
  const int last = layout.rank - 1;
  const auto step = [&](int d) { return std::abs(layout.stride[d]); };
  if (last < 1 || layout.shape[last] < 2) return false;
  for (int d = 0; d < last; ++d) {
    if (layout.shape[d] > 1 && step(d) > 0 && step(d) < step(last)) return true;
  }
  return false;
}

TurnedSource::TurnedSource(const View &view) : view_(view) {
  if (!worth_turning(view)) return;
  copy_.emplace(view);
  view_ = copy_->view();
}

TurnedTarget::TurnedTarget(const View &view) : view_(view), dense_(view) {
  if (!worth_turning(view)) return;
  memory_.reset(new char[static_cast<size_t>(view.count() * item_size(view.dtype))]);
  dense_.data = memory_.get();
  dense_.layout = dense_like(view.layout);
}

void TurnedTarget::finish() const {
  if (memory_ != nullptr) copy_view(dense_, view_);
}

}  // namespace emu
