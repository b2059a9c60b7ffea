// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/moe/routing.h"

#include <cstring>
#include <numeric>

#include "core/copying.h"

namespace emu {
namespace {

// Quantises a row of float32 to whole numbers between -limit - 1 and limit; the scale on return.
float quantise_by_row(float *x, int64_t width, float limit) {
  float highest = 0;
  for (int64_t i = 0; i < width; ++i) highest = std::max(highest, std::fabs(x[i]));
  const float scale = highest / limit;
  for (int64_t i = 0; i < width; ++i) x[i] = scale == 0 ? 0 : std::nearbyint(x[i] / scale);
  return scale;
}

void clip(float *x, int64_t width, float limit) {
  for (int64_t i = 0; i < width; ++i) {
    x[i] = std::isnan(x[i]) ? 0 : std::min(std::max(x[i], -limit - 1), limit);
  }
}

// Two values share a byte, the low half first.
void pack(const float *x, int64_t width, char *to) {
  for (int64_t i = 0; i < width; i += 2) {
    const int low = static_cast<int>(x[i]), high = static_cast<int>(x[i + 1]);
    to[i / 2] = static_cast<char>((low & 15) | (high & 15) << 4);
  }
}

bool overlap(const View &a, const View &b) {
  if (a.data == nullptr || b.data == nullptr || a.count() == 0 || b.count() == 0) return false;
  const auto bounds = [](const View &view) {
    const Extent extent = extent_of(view.layout);
    const int64_t size = view.dtype == ACL_INT4 ? 1 : item_size(view.dtype);
    return std::pair{view.data + extent.lowest * size, view.data + (extent.highest + 1) * size};
  };
  const auto [first_a, last_a] = bounds(a);
  const auto [first_b, last_b] = bounds(b);
  return first_a < last_b && first_b < last_a;
}

void clear_all(const View &view) {
  if (view.data == nullptr) return;
  if (view.dtype == ACL_INT4) {
    std::memset(view.data, 0, static_cast<size_t>(view.count() / 2));
  } else {
    const char zero[16] = {};
    fill_view(view, zero);
  }
}

void copy_rows(const View &x, const View &out, const std::vector<RowMove> &moves, int64_t width) {
  const DenseSource from(x);
  const DenseTarget to(out);
  const size_t bytes = static_cast<size_t>(width * item_size(x.dtype));
  const int64_t grain = std::max<int64_t>(1, 65536 / static_cast<int64_t>(bytes));
  // Rows that leave the caches before they are read again need not enter them; those of one token
  // are written together then, so that it is read once.
  const bool past = moves.size() * bytes >= kPastCaches;
  std::vector<int64_t> order;
  if (past) {
    std::vector<int64_t> tokens;
    for (const RowMove &move : moves) tokens.push_back(move.token);
    order = order_by_expert(tokens);
  }
  parallel_for(static_cast<int64_t>(moves.size()), grain, [&](int64_t begin, int64_t end) {
    PastCaches copies;
    for (int64_t i = begin; i < end; ++i) {
      const auto place = static_cast<size_t>(i);
      const RowMove &move = moves[past ? static_cast<size_t>(order[place]) : place];
      char *target = to.data() + static_cast<size_t>(move.to) * bytes;
      const char *source = from.data() + static_cast<size_t>(move.token) * bytes;
      if (past) copies.copy(target, source, bytes);
      else std::memcpy(target, source, bytes);
    }
  });
  to.finish();
}

void quantise_rows(const View &x, const View &out, const View &scales,
                   const std::vector<RowMove> &moves, const Quantisation &q, int64_t width) {
  const bool packed = out.dtype == ACL_INT4, by_row = q.kind == Quantised::kByRow;
  const float limit = packed ? 7 : 127;
  const bool keeps = by_row && scales.data != nullptr;
  const RowSource<float> source(x);
  // INT4 has no stores of its own: its rows are packed here.
  const RowTarget<float> target(packed ? x : out), to_scales(keeps ? scales : x);
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, width));
  parallel_for(static_cast<int64_t>(moves.size()), grain, [&](int64_t begin, int64_t end) {
    std::vector<float> row(static_cast<size_t>(width));
    for (int64_t i = begin; i < end; ++i) {
      const RowMove &move = moves[static_cast<size_t>(i)];
      source.read(move.token * width, width, row.data());
      if (by_row) {
        const int64_t which = q.factor_rows == 1 ? 0 : move.expert;
        const float *factors = q.factors.empty() ? nullptr : q.factors.data() + which * width;
        for (int64_t j = 0; factors != nullptr && j < width; ++j) {
          row[static_cast<size_t>(j)] *= factors[j];
        }
        const float scale = quantise_by_row(row.data(), width, limit);
        if (keeps) to_scales.write(move.to, 1, &scale);
      } else {
        for (float &value : row) value = std::nearbyint(value * q.scale + q.offset);
      }
      clip(row.data(), width, limit);
      if (packed) pack(row.data(), width, out.data + move.to * width / 2);
      else target.write(move.to * width, width, row.data());
    }
  });
}

}  // namespace

DenseSource::DenseSource(const View &view) : data_(view.data) {
  if (view.layout.is_dense()) return;
  kept_ = std::make_unique<Snapshot>(view);
  data_ = kept_->view().data;
}

DenseTarget::DenseTarget(const View &view) : view_(view), data_(view.data) {
  if (view.layout.is_dense()) return;
  kept_ = std::make_unique<Snapshot>(view);
  data_ = kept_->view().data;
}

void DenseTarget::finish() const {
  if (kept_ != nullptr) copy_view(kept_->view(), view_);
}

View Apart::from(const View &operand, std::initializer_list<View> results) {
  for (const View &result : results) {
    if (!overlap(operand, result)) continue;
    kept_.push_back(std::make_unique<Snapshot>(operand));
    return kept_.back()->view();
  }
  return operand;
}

std::vector<int64_t> order_by_expert(const std::vector<int64_t> &experts) {
  std::vector<int64_t> order(experts.size());
  if (experts.empty()) return order;
  const auto [low, high] = std::minmax_element(experts.begin(), experts.end());
  int64_t span = 0;
  if (!checked_sub(*high, *low, &span) || span > 4 * static_cast<int64_t>(experts.size()) + 1024) {
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return experts[static_cast<size_t>(a)] < experts[static_cast<size_t>(b)];
    });
    return order;
  }
  std::vector<int64_t> next(static_cast<size_t>(span) + 2, 0);
  for (const int64_t expert : experts) ++next[static_cast<size_t>(expert - *low) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (size_t i = 0; i < experts.size(); ++i) {
    int64_t &place = next[static_cast<size_t>(experts[i] - *low)];
    order[static_cast<size_t>(place++)] = static_cast<int64_t>(i);
  }
  return order;
}

std::vector<int32_t> inverse_of(const std::vector<int64_t> &order) {
  std::vector<int32_t> inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  }
  return inverse;
}

void move_rows(const View &x, const View &out, const View &scales,
               const std::vector<RowMove> &moves, const Quantisation &quantisation, bool clear) {
  int64_t width = 1;
  for (int d = 1; d < x.layout.rank; ++d) width *= x.layout.shape[d];
  Apart apart;
  const View source = apart.from(x, {out, scales});
  if (clear) {
    clear_all(out);
    clear_all(scales);
  }
  if (quantisation.kind != Quantised::kNo) {
    quantise_rows(source, out, scales, moves, quantisation, width);
  } else if (width > 0) {
    copy_rows(source, out, moves, width);
  }
}

View packed_view(const aclTensor &tensor) {
  View view = view_of(tensor);
  if (tensor.dtype == ACL_INT4) view.data += tensor.offset / 2;
  return view;
}

Check &check_int4(Check &check, const char *parameter, const aclTensor *tensor) {
  if (!check.ok() || tensor->dtype != ACL_INT4) return check;
  const Layout layout = layout_of(*tensor);
  const int64_t width = layout.rank == 0 ? 1 : layout.shape[layout.rank - 1];
  return check.that(layout.is_dense() && tensor->offset % 2 == 0 && width % 2 == 0,
                    "%s has shape %s, strides %s and offset %lld; INT4 has to be dense, with rows "
                    "and an offset of an even number of elements",
                    parameter, shape_text(layout).c_str(),
                    shape_text(layout.stride, layout.rank).c_str(),
                    static_cast<long long>(tensor->offset));
}

}  // namespace emu
