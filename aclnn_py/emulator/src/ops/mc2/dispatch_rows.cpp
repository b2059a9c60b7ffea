// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include <cmath>
#include <cstring>

#include "ops/mc2/dispatch.h"
#include "ops/quant/dynamic.h"

namespace emu {

float quantise_token(const float *values, int64_t width, int8_t *to) {
  float least, most;
  extremes(values, width, 0.0f, &least, &most, [](float value) { return std::fabs(value); });
  const float factor = 127.0f / most;
  for (int64_t i = 0; i < width; ++i) {
    const float value = std::nearbyint(values[i] * factor);
    to[i] = static_cast<int8_t>(std::isnan(value) ? 0 : std::min(std::max(value, -128.0f), 127.0f));
  }
  return 1.0f / factor;
}

TokenRows::TokenRows(const aclTensor &x, const aclTensor &expanded, TokenForm form,
                     std::vector<float> factors)
    : x_(x), form_(form), width_(x.shape[1]), factors_(std::move(factors)) {
  envelope_.row_bytes = width_ * item_size(expanded.dtype);
  if (form == TokenForm::integers_by_row) envelope_.scale_bytes = sizeof(float);
}

void TokenRows::make(const Route &route, char *message) const {
  if (form_ == TokenForm::moved) {
    const View all = view_of(x_);
    View row{message, all.dtype, {}}, from = all;
    from.data += route.token * all.layout.stride[0] * item_size(all.dtype);
    from.layout = {};
    from.layout.push(width_, all.layout.stride[1]);
    row.layout.push(width_, 1);
    copy_view(from, row);
    return;
  }
  std::vector<float> values(static_cast<size_t>(width_));
  RowSource<float>(view_of(x_)).read(route.token * width_, width_, values.data());
  if (!factors_.empty()) {
    const float *factor = factors_.data() + route.factors * width_;
    for (int64_t i = 0; i < width_; ++i) values[static_cast<size_t>(i)] *= factor[i];
  }
  const float scale = quantise_token(values.data(), width_, reinterpret_cast<int8_t *>(message));
  std::memcpy(envelope_.scales(message), &scale, sizeof scale);
}

}  // namespace emu
