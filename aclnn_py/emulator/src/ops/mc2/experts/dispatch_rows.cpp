// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/mc2/experts/dispatch.h"
#include "ops/mc2/operand.h"
#include "ops/shared/dynamic.h"

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
                     std::vector<float> factors, const aclTensor *scales)
    : x_(x),
      form_(form),
      width_(x.shape[1]),
      dtype_(expanded.dtype),
      factors_(std::move(factors)),
      scales_(scales) {
  envelope_.row_bytes = static_cast<int64_t>(operand_bytes(expanded.dtype, width_));
  switch (form) {
    case TokenForm::integers_by_row:
    case TokenForm::floats_by_row: envelope_.scale_bytes = sizeof(float); break;
    case TokenForm::floats_by_group:
      envelope_.scale_bytes = (width_ + kTokenGroup - 1) / kTokenGroup * 4;
      break;
    case TokenForm::moved_with_scales:
      envelope_.scale_bytes = scales->shape[1] * item_size(scales->dtype);
      break;
    default: break;
  }
}

void TokenRows::copy_row(const aclTensor &tensor, int64_t row, char *to) const {
  if (halves_bytes(tensor.dtype)) {  // dense
    const auto bytes = static_cast<size_t>(envelope_.row_bytes);
    std::memcpy(to, static_cast<const char *>(tensor.data) + tensor.offset / 2 + row * bytes,
                bytes);
    return;
  }
  const View all = view_of(tensor);
  View target{to, all.dtype, {}}, from = all;
  from.data += row * all.layout.stride[0] * item_size(all.dtype);
  from.layout = {};
  from.layout.push(all.layout.shape[1], all.layout.stride[1]);
  target.layout.push(all.layout.shape[1], 1);
  copy_view(from, target);
}

void TokenRows::multiply(const TokenRoute &route, float *values) const {
  const auto count = static_cast<int64_t>(factors_.size());
  if (count == 0) return;
  // One row for all, or one value.
  const int64_t first = count <= width_ ? 0 : route.factors * width_, step = count == 1 ? 0 : 1;
  for (int64_t i = 0; i < width_; ++i) values[i] *= factors_[static_cast<size_t>(first + i * step)];
}

// Values that share a scale; zeros stay zeros.
void TokenRows::quantise(const float *values, int64_t first, int64_t count, char *message,
                         int64_t group) const {
  float least, most;
  extremes(values + first, count, 0.0f, &least, &most,
           [](float value) { return std::fabs(value); });
  const float factor = most == 0.0f ? 0.0f : quant_range(dtype_).highest / most;
  const float scale = most == 0.0f ? 0.0f : 1.0f / factor;
  encoder(dtype_, LowRounding::kRint)(values + first, count, factor,
                                      reinterpret_cast<uint8_t *>(message) + first);
  std::memcpy(envelope_.scales(message) + group * 4, &scale, sizeof scale);
}

void TokenRows::make(const TokenRoute &route, char *message) const {
  if (form_ == TokenForm::moved || form_ == TokenForm::moved_with_scales) {
    copy_row(x_, route.token, message);
    if (scales_) copy_row(*scales_, route.token, envelope_.scales(message));
    return;
  }
  std::vector<float> values(static_cast<size_t>(width_));
  RowSource<float>(view_of(x_)).read(route.token * width_, width_, values.data());
  multiply(route, values.data());
  switch (form_) {
    case TokenForm::converted:
      return encoder(dtype_, LowRounding::kRint)(values.data(), width_, 1.0f,
                                                 reinterpret_cast<uint8_t *>(message));
    case TokenForm::floats_by_row: return quantise(values.data(), 0, width_, message, 0);
    case TokenForm::floats_by_group:
      for (int64_t first = 0; first < width_; first += kTokenGroup)
        quantise(values.data(), first, std::min(kTokenGroup, width_ - first), message,
                 first / kTokenGroup);
      return;
    default: break;
  }
  const float scale = quantise_token(values.data(), width_, reinterpret_cast<int8_t *>(message));
  std::memcpy(envelope_.scales(message), &scale, sizeof scale);
}

}  // namespace emu
