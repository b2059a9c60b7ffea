// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/tokens.h"

#include <algorithm>
#include <cstring>

namespace emu {

Heads heads_of(const View &view, Arrangement form, int64_t width) {
  const int64_t *stride = view.layout.stride;
  Heads heads{view.data, view.dtype, stride[0]};
  if (form == Arrangement::kPacked) {
    heads.batch = 0;
    heads.token = stride[0];
    heads.head = stride[1];
    heads.item = stride[2];
  } else if (form == Arrangement::kHidden) {
    heads.token = stride[1];
    heads.item = stride[2];
    heads.head = width * stride[2];
  } else {
    const bool tokens_first = form == Arrangement::kTokensFirst;
    heads.token = stride[tokens_first ? 1 : 2];
    heads.head = stride[tokens_first ? 2 : 1];
    heads.item = stride[3];
  }
  return heads;
}

Tokens::Tokens(const Attention &attention, const std::vector<View> &tensors,
               const std::vector<int64_t> &pages, int64_t pages_per_sequence)
    : starts_(attention.key_starts),
      listed_(attention.listed),
      width_(attention.width),
      block_size_(attention.block_size),
      pages_per_sequence_(pages_per_sequence),
      pages_(pages) {
  for (const View &view : tensors) heads_.push_back(heads_of(view, attention.key_form, width_));
}

size_t Tokens::room(int64_t count) const {
  return block_size_ == 0 ? 0 : static_cast<size_t>(count * width_ * item_size(heads_[0].dtype));
}

Matrix Tokens::rows(int64_t batch, int64_t head, int64_t first, int64_t count, char *room) const {
  const Heads &from = listed_ ? heads_[static_cast<size_t>(batch)] : heads_[0];
  const int64_t size = item_size(from.dtype);
  if (block_size_ == 0) {
    const int64_t start = starts_.empty() ? 0 : starts_[static_cast<size_t>(batch)];
    return {from.data + from.at(listed_ ? 0 : batch, head, start + first) * size,
            from.dtype,
            count,
            width_,
            {from.token},
            {from.item}};
  }
  for (int64_t done = 0; done < count;) {
    const int64_t token = first + done, within = token % block_size_;
    const int64_t n = std::min(block_size_ - within, count - done);
    const int64_t page =
        pages_[static_cast<size_t>(batch * pages_per_sequence_ + token / block_size_)];
    const char *at = from.data + from.at(page, head, within) * size;
    for (int64_t i = 0; i < n; ++i) {
      char *to = room + (done + i) * width_ * size;
      const char *token_at = at + i * from.token * size;
      if (from.item == 1) {
        std::memcpy(to, token_at, static_cast<size_t>(width_ * size));
      } else {
        for (int64_t j = 0; j < width_; ++j)
          std::memcpy(to + j * size, token_at + j * from.item * size, static_cast<size_t>(size));
      }
    }
    done += n;
  }
  return {room, from.dtype, count, width_, {width_}, {1}};
}

}  // namespace emu
