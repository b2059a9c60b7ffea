// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/moe/low_rows.h"

#include <algorithm>

#include "ops/shared/dynamic.h"
#include "ops/shared/mx_format.h"

namespace emu {
namespace {

constexpr int64_t kGroup = 128, kPowerBlock = 32;

int64_t pairs_of(int64_t width, int64_t block) { return (width + 2 * block - 1) / (2 * block); }

// One row at a time: its codes, and the bytes of its scales.
class LowRow {
 public:
  LowRow(const LowForm &form, int64_t width, float factor)
      : form_(form),
        factor_(factor),
        encode_(encoder(form.dtype, LowRounding::kRint)),
        range_(quant_range(form.dtype)),
        width_(width) {
    format_.dtype = form.dtype;
  }

  void make(float *values, uint8_t *codes, float *scales, uint8_t *powers) const {
    switch (form_.scales) {
      case LowScales::kNone: return encode_(values, width_, 1.0f, codes);
      case LowScales::kTensor: return encode_(values, width_, factor_, codes);
      case LowScales::kRow: return quantise(values, width_, codes, scales);
      case LowScales::kGroup:
        for (int64_t at = 0; at < width_; at += kGroup)
          quantise(values + at, std::min(kGroup, width_ - at), codes + at, scales + at / kGroup);
        return;
      case LowScales::kPowers: break;
    }
    constexpr int64_t kPair = 2 * kPowerBlock;
    for (int64_t at = 0; at < width_; at += kPair)
      mx_quantise_pair(format_, values + at, std::min(kPair, width_ - at), 1, kPowerBlock,
                       codes + at, powers + at / kPowerBlock);
  }

 private:
  void quantise(float *values, int64_t count, uint8_t *codes, float *scale) const {
    *scale = scale_symmetric(values, count, range_).scale;
    encode_(values, count, 1.0f, codes);
  }

  LowForm form_;
  float factor_;
  EncodeFn encode_;
  QuantRange range_;
  int64_t width_;
  MxFormat format_;
};

}  // namespace

std::optional<LowForm> low_form(int64_t mode) {
  switch (mode) {
    case 2: return LowForm{ACL_FLOAT8_E5M2, LowScales::kPowers, false};
    case 3: return LowForm{ACL_FLOAT8_E4M3FN, LowScales::kPowers, false};
    case 6: return LowForm{ACL_HIFLOAT8, LowScales::kNone, false};
    case 7: return LowForm{ACL_HIFLOAT8, LowScales::kTensor, false};
    case 8: return LowForm{ACL_HIFLOAT8, LowScales::kRow, false};
    case 9: return LowForm{ACL_FLOAT4_E2M1, LowScales::kPowers, true};
    case 11: return LowForm{ACL_FLOAT8_E5M2, LowScales::kGroup, true};
    case 12: return LowForm{ACL_FLOAT8_E4M3FN, LowScales::kGroup, true};
    default: return std::nullopt;
  }
}

Layout low_scale_layout(const LowForm &form, int64_t rows, int64_t width) {
  const int64_t pairs = pairs_of(width, form.scales == LowScales::kGroup ? kGroup : kPowerBlock);
  const int64_t flat[] = {rows, form.scales == LowScales::kRow ? 1 : 2 * pairs},
                paired[] = {rows, pairs, 2};
  return form.in_pairs ? dense_layout(paired, 3) : dense_layout(flat, 2);
}

void move_low_rows(const LowForm &form, const View &x, const aclTensor &out,
                   const aclTensor *scales, const std::vector<RowMove> &moves, float factor) {
  const int64_t width = x.layout.shape[1];
  if (width == 0) return;
  const int64_t each = low_scale_layout(form, 1, width).count();
  const bool powers = form.scales == LowScales::kPowers, found = form.has_scales() && !powers;
  Apart apart;
  const View source_view = apart.from(x, {code_view(out), scales ? view_of(*scales) : View()});
  const RowSource<float> source(source_view);
  const LowCodes target(out), to_powers(powers ? *scales : out);
  const RowTarget<float> to_scales(found ? view_of(*scales) : source_view);
  const LowRow row(form, width, factor);
  const int64_t grain = std::max<int64_t>(1, 8192 / width);
  parallel_for(static_cast<int64_t>(moves.size()), grain, [&](int64_t begin, int64_t end) {
    std::vector<float> values(static_cast<size_t>(width)), scale(static_cast<size_t>(each));
    std::vector<uint8_t> codes(values.size()), power(scale.size());
    for (int64_t i = begin; i < end; ++i) {
      const RowMove &move = moves[static_cast<size_t>(i)];
      source.read(move.token * width, width, values.data());
      row.make(values.data(), codes.data(), scale.data(), power.data());
      target.write(move.to * width, width, codes.data());
      if (powers) to_powers.write(move.to * each, each, power.data());
      if (found) to_scales.write(move.to * each, each, scale.data());
    }
  });
}

View byte_view(const aclTensor &tensor) {
  View view = view_of(tensor);
  if (!contains(kFloat4, tensor.dtype)) return view;
  if (tensor.data) view.data = static_cast<char *>(tensor.data) + tensor.offset / 2;
  view.dtype = ACL_UINT8;
  view.layout.shape[view.layout.rank - 1] /= 2;
  view.layout = dense_like(view.layout);
  return view;
}

}  // namespace emu
