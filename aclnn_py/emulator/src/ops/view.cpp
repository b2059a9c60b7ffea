// SPDX-License-Identifier: Apache-2.0
#include "ops/view.h"

#include <cstring>

#include "core/pool.h"

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
  view.data = static_cast<char *>(tensor.data) + tensor.offset * item_size(tensor.dtype);
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

namespace {

// Enough work per piece that waking a thread pays.
constexpr int64_t kGrain = 64 * kBlock;

void move_bytes(const View &from, const View &to, int64_t size) {
  const Layout source = coalesced(from.layout), target = coalesced(to.layout);
  const int64_t total = from.count();
  const auto piece = [&](int64_t begin, int64_t end) {
    for_each_run(target, begin, end - begin, [&](int64_t to_offset, int64_t to_step, int64_t run) {
      char *write = to.data + to_offset * size;
      for_each_run(source, begin, run, [&](int64_t offset, int64_t step, int64_t count) {
        const char *read = from.data + offset * size;
        if (step == 1 && to_step == 1) {
          std::memmove(write, read, static_cast<size_t>(count * size));
        } else {
          for (int64_t i = 0; i < count; ++i) {
            std::memcpy(write + i * to_step * size, read + i * step * size, static_cast<size_t>(size));
          }
        }
        write += count * to_step * size;
      });
      begin += run;
    });
  };
  if (overlaps_itself(target)) piece(0, total);  // the last write wins, in order
  else parallel_for(total, kGrain, piece);
}

}  // namespace

void copy_view(const View &from, const View &to) {
  const int64_t total = from.count();
  if (total == 0) return;
  if (from.dtype == to.dtype) return move_bytes(from, to, item_size(from.dtype));
  const Compute have = compute_for(from.dtype);
  const Reader reader(from, from.dtype);
  const Writer writer(to, have, ACL_DT_UNDEFINED);
  const auto piece = [&](int64_t begin, int64_t end) {
    alignas(64) char scratch[kBlock * sizeof(Complex128)];
    for (int64_t start = begin; start < end; start += kBlock) {
      const int64_t count = end - start < kBlock ? end - start : kBlock;
      const void *block = reader.read(start, count, scratch);
      // A writer that would take its block in place has to be given it there.
      void *place = writer.target(start, scratch);
      if (place == scratch) writer.write(start, count, block);
      else std::memcpy(place, block, static_cast<size_t>(count * compute_size(have)));
    }
  };
  if (overlaps_itself(to.layout)) piece(0, total);
  else parallel_for(total, kGrain, piece);
}

void fill_view(const View &view, const void *item) {
  const auto size = static_cast<size_t>(item_size(view.dtype));
  const Layout layout = coalesced(view.layout);
  // A block of copies of the item: dense runs are filled by whole blocks.
  std::unique_ptr<char[]> pattern(new char[kBlock * size]);
  for (int64_t i = 0; i < kBlock; ++i) std::memcpy(pattern.get() + static_cast<size_t>(i) * size, item, size);
  parallel_for(view.count(), kGrain, [&](int64_t begin, int64_t end) {
    for_each_run(layout, begin, end - begin, [&](int64_t offset, int64_t step, int64_t run) {
      char *write = view.data + offset * static_cast<int64_t>(size);
      if (step != 1) {
        for (int64_t i = 0; i < run; ++i) std::memcpy(write + i * step * static_cast<int64_t>(size), item, size);
        return;
      }
      for (; run > 0; run -= kBlock) {
        const auto bytes = static_cast<size_t>(run < kBlock ? run : kBlock) * size;
        std::memcpy(write, pattern.get(), bytes);
        write += bytes;
      }
    });
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

}  // namespace emu
