// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/attention/tokens.h"

#include <algorithm>
#include <cstring>

#include "ops/four_bits.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/shared/low_codes.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kGroup = 32;  // elements that share a factor

// The value of every code of a dtype, found once.
const float *low_table(aclDataType dtype) {
  struct Table {
    explicit Table(aclDataType of) { low_value_table(of, values); }
    float values[256];
  };
  static const Table e4m3(ACL_FLOAT8_E4M3FN), hifloat8(ACL_HIFLOAT8), e2m1(ACL_FLOAT4_E2M1);
  return (dtype == ACL_FLOAT8_E4M3FN ? e4m3 : dtype == ACL_HIFLOAT8 ? hifloat8 : e2m1).values;
}

void load_low(const Heads &heads, int64_t at, int64_t width, float *to) {
  const float *table = low_table(heads.dtype);
  const auto *codes = reinterpret_cast<const unsigned char *>(heads.data);
  const bool nibbles = heads.dtype == ACL_FLOAT4_E2M1;
  for (int64_t i = 0; i < width; ++i) {
    const int64_t place = at + heads.axis().at(i);
    to[i] = table[nibbles ? code_of_4_bits(codes, place) : codes[place]];
  }
}

}  // namespace

Heads heads_of(const View &view, Arrangement form, int64_t width) {
  const int64_t *stride = view.layout.stride;
  Heads heads{view.data, view.dtype, stride[0]};
  switch (form) {
    case Arrangement::kPacked:
    case Arrangement::kPackedHeads:
      heads.batch = 0;
      heads.token = stride[form == Arrangement::kPacked ? 0 : 1];
      heads.head = stride[form == Arrangement::kPacked ? 1 : 0];
      heads.item = stride[2];
      break;
    case Arrangement::kHidden:
      heads.token = stride[1];
      heads.item = stride[2];
      heads.head = width * stride[2];
      break;
    case Arrangement::kHeadsOutside:
      heads.head = stride[0];
      heads.batch = stride[1];
      heads.token = stride[2];
      heads.item = stride[3];
      break;
    case Arrangement::kBlocks:
      heads.head = stride[1];
      heads.token = stride[3];
      heads.item = stride[4];
      heads.block = view.layout.shape[4];
      heads.block_stride = stride[2];
      break;
    default: {
      const bool tokens_first = form == Arrangement::kTokensFirst;
      heads.token = stride[tokens_first ? 1 : 2];
      heads.head = stride[tokens_first ? 2 : 1];
      heads.item = stride[3];
    }
  }
  return heads;
}

Heads heads_of(const aclTensor &tensor, const View &view, Arrangement form, int64_t width) {
  Heads heads = heads_of(view, form, width);
  if (view.dtype == ACL_INT4 || view.dtype == ACL_FLOAT4_E2M1) {
    heads.data = static_cast<const char *>(tensor.data) + tensor.offset / 2;
  } else if (view.dtype == ACL_INT32) {
    heads.batch *= 8;
    heads.token *= 8;
    // Heads that lie side by side are counted in values already.
    if (form != Arrangement::kHidden) heads.head *= 8;
    heads.item = 1;
    if (form == Arrangement::kHidden) heads.head = width;
  }
  return heads;
}

void load_head(const Heads &heads, int64_t at, int64_t width, float *to) {
  if (heads.packed()) {
    for (int64_t i = 0; i < width; ++i) to[i] = number_of_4_bits(heads.data, at + i * heads.item);
  } else if (heads.low()) {
    load_low(heads, at, width, to);
  } else if (heads.block == 0) {
    load_f32(heads.data, heads.dtype, at, heads.item, width, to);
  } else {
    for (int64_t i = 0; i < width; i += heads.block) {
      load_f32(heads.data, heads.dtype, at + i / heads.block * heads.block_stride, heads.item,
               std::min(heads.block, width - i), to + i);
    }
  }
}

void copy_head(const Heads &heads, int64_t at, int64_t width, uint16_t *to) {
  const auto *from = reinterpret_cast<const uint16_t *>(heads.data) + at;
  if (heads.item == 1 && heads.block == 0) {
    std::copy_n(from, width, to);
    return;
  }
  for (int64_t i = 0; i < width; ++i) to[i] = from[heads.axis().at(i)];
}

FactorTable::FactorTable(const Attention &a, const Factors &factors, PlanContext &context)
    : form_(factors.form),
      heads_(a.kv_heads),
      tokens_(factors.tokens),
      page_tokens_(a.block_size),
      groups_(a.width / kGroup) {
  if (form_ == FactorForm::kNone) return;
  const auto read = [&](size_t at) {
    if (form_ == FactorForm::kTokenGroup) return low_values(context.tensor(at));
    const View view = view_of(context.tensor(at));
    std::vector<float> all(static_cast<size_t>(view.count() - factors.first));
    RowSource<float>(view).read(factors.first, static_cast<int64_t>(all.size()), all.data());
    return all;
  };
  scales_ = read(factors.scale_at);
  if (factors.offset_at != kAbsent && context.has(factors.offset_at))
    offsets_ = read(factors.offset_at);
}

void FactorTable::apply(int64_t batch, int64_t head, int64_t token, int64_t page, int64_t place,
                        int64_t width, float *values) const {
  int64_t at = 0;
  switch (form_) {
    case FactorForm::kNone: return;
    case FactorForm::kTensor: break;
    case FactorForm::kChannel: {
      at = head * width;
      for (int64_t i = 0; i < width; ++i) {
        const auto j = static_cast<size_t>(at + i);
        values[i] = (values[i] + (offsets_.empty() ? 0.0f : offsets_[j])) * scales_[j];
      }
      return;
    }
    case FactorForm::kToken: at = batch * tokens_ + token; break;
    case FactorForm::kHead: at = head; break;
    case FactorForm::kTokenHead: at = (batch * heads_ + head) * tokens_ + token; break;
    case FactorForm::kPageToken: at = page * page_tokens_ + place; break;
    case FactorForm::kTokenGroup: {
      at = ((batch * heads_ + head) * tokens_ + token) * groups_;
      for (int64_t i = 0; i < width; ++i)
        values[i] *= scales_[static_cast<size_t>(at + i / kGroup)];
      return;
    }
    case FactorForm::kPageTokenHead: at = (page * heads_ + head) * page_tokens_ + place; break;
  }
  const float scale = scales_[static_cast<size_t>(at)];
  const float offset = offsets_.empty() ? 0.0f : offsets_[static_cast<size_t>(at)];
  for (int64_t i = 0; i < width; ++i) values[i] = (values[i] + offset) * scale;
}

Tokens::Tokens(const Attention &a, Parts parts, const FactorTable &factors, const PageTable &pages,
               const std::vector<int64_t> &starts)
    : parts_(std::move(parts)),
      factors_(factors),
      pages_(pages),
      starts_(starts),
      listed_(a.listed),
      packed_(a.packed()),
      block_size_(a.block_size),
      prefix_(a.prefix),
      rope_width_(a.rope_width) {}

size_t Tokens::room(int64_t count) const {
  if (!plain()) return static_cast<size_t>(count * full_width()) * sizeof(float);
  if (block_size_ == 0) return 0;
  return static_cast<size_t>(count * parts_.width * item_size(parts_.heads[0].dtype));
}

Matrix Tokens::in_place(const Heads &from, int64_t at, int64_t count) const {
  return {from.data + at * item_size(from.dtype),
          from.dtype,
          count,
          parts_.width,
          {from.token},
          from.axis()};
}

Matrix Tokens::rows(int64_t batch, int64_t head, int64_t first, int64_t count, char *room) const {
  if (joined_brains()) return loaded<uint16_t>(batch, head, first, count, room);
  if (!plain()) return loaded<float>(batch, head, first, count, room);  // the room was made for it
  const Matrix there = rows_there(batch, head, first, count);
  return there.data ? there : gathered(batch, head, first, count, room);
}

Matrix Tokens::rows_there(int64_t batch, int64_t head, int64_t first, int64_t count) const {
  if (!plain()) return {};
  const Heads &from = listed_ ? parts_.heads[static_cast<size_t>(batch)] : parts_.heads[0];
  if (block_size_ == 0) {
    const int64_t start = starts_.empty() ? 0 : starts_[static_cast<size_t>(batch)];
    return in_place(from, from.at(listed_ ? 0 : batch, head, start + first), count);
  }
  if (first / block_size_ != (first + count - 1) / block_size_) return {};
  return in_place(from, from.at(page(batch, first), head, first % block_size_), count);
}

Matrix Tokens::gathered(int64_t batch, int64_t head, int64_t first, int64_t count,
                        char *room) const {
  const Heads &from = parts_.heads[0];
  const int64_t size = item_size(from.dtype), width = parts_.width;
  for (int64_t done = 0; done < count;) {
    const int64_t token = first + done, within = token % block_size_;
    const int64_t n = std::min(block_size_ - within, count - done);
    const char *at = from.data + from.at(page(batch, token), head, within) * size;
    const int64_t piece = from.item != 1 ? 1 : from.block == 0 ? width : from.block;
    for (int64_t i = 0; i < n; ++i) {
      char *to = room + (done + i) * width * size;
      const char *token_at = at + i * from.token * size;
      for (int64_t j = 0; j < width; j += piece)
        std::memcpy(to + j * size, token_at + from.axis().at(j) * size,
                    static_cast<size_t>(std::min(piece, width - j) * size));
    }
    done += n;
  }
  return {room, from.dtype, count, width, {width}, {1}};
}

template <class T>
Matrix Tokens::loaded(int64_t batch, int64_t head, int64_t first, int64_t count, void *room) const {
  constexpr bool floats = std::is_same_v<T, float>;
  const int64_t width = parts_.width, full = full_width();
  const auto load = [](const Heads &heads, int64_t at, int64_t elements, T *to) {
    if constexpr (floats) load_head(heads, at, elements, to);
    else copy_head(heads, at, elements, to);
  };
  const Heads &own = listed_ ? parts_.heads[static_cast<size_t>(batch)] : parts_.heads[0];
  for (int64_t i = 0; i < count; ++i) {
    T *to = static_cast<T *>(room) + i * full;
    const int64_t logical = first + i;
    if (logical < prefix_) {
      load(*parts_.prefix, parts_.prefix->at(0, head, logical), width, to);
      if constexpr (floats) factors_.apply(0, head, logical, 0, 0, width, to);
      continue;
    }
    const int64_t start = starts_.empty() ? 0 : starts_[static_cast<size_t>(batch)];
    int64_t token = logical - prefix_, row = listed_ ? 0 : batch, place = start + token;
    if (block_size_ != 0) {
      row = page(batch, token);
      place = token % block_size_;
    } else if (!packed_) {
      token = place;
    }
    load(own, own.at(row, head, place), width, to);
    if constexpr (floats) factors_.apply(batch, head, token, row, place, width, to);
    if (parts_.rope) load(*parts_.rope, parts_.rope->at(row, head, place), rope_width_, to + width);
  }
  return {room, floats ? ACL_FLOAT : ACL_BF16, count, full, {full}, {1}};
}

}  // namespace emu
