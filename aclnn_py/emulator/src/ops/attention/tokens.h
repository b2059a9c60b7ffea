// SPDX-License-Identifier: Apache-2.0
// Tensors of heads as matrices of tokens, wherever their dimensions are, whether or not a cache of
// pages holds them, and whatever numbers stand for their elements.
#pragma once

#include <optional>
#include <vector>

#include "ops/attention/attention.h"
#include "ops/matmul/gemm.h"

namespace emu {

// A tensor of heads: distances in elements between sequences, heads, tokens and the elements of a
// head, which may lie in blocks. Elements of INT4 and INT32 are values of 4 bits.
struct Heads {
  const char *data = nullptr;
  aclDataType dtype = ACL_FLOAT;
  int64_t batch = 0, head = 0, token = 0, item = 0;
  int64_t block = 0, block_stride = 0;  // elements of a block; 0 without blocks

  int64_t at(int64_t b, int64_t n, int64_t s) const { return b * batch + n * head + s * token; }
  bool packed() const { return dtype == ACL_INT4 || dtype == ACL_INT32; }
  // Floats of 8 and 4 bits.
  bool low() const {
    return contains(dtype_set(ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8, ACL_FLOAT4_E2M1), dtype);
  }
  GemmAxis axis() const { return {item, block, block_stride}; }
};

Heads heads_of(const View &view, Arrangement form, int64_t width);
// The same, where elements of INT4 and INT32 are values of 4 bits.
Heads heads_of(const aclTensor &tensor, const View &view, Arrangement form, int64_t width);
// The elements of the head that begins at `at`.
void load_head(const Heads &heads, int64_t at, int64_t width, float *to);
// The same for elements of 2 bytes, as they are.
void copy_head(const Heads &heads, int64_t at, int64_t width, uint16_t *to);

// The factors of keys or of values.
class FactorTable {
 public:
  FactorTable(const Attention &attention, const Factors &factors, PlanContext &context);

  explicit operator bool() const { return form_ != FactorForm::kNone; }
  // Turns the numbers of a token into what they stand for; `page` and `place` are where it lies in
  // a cache of pages, `token` where in its sequence.
  void apply(int64_t batch, int64_t head, int64_t token, int64_t page, int64_t place, int64_t width,
             float *values) const;

 private:
  const FactorForm form_;
  const int64_t heads_, tokens_, page_tokens_, groups_;
  std::vector<float> scales_, offsets_;
};

// Where the pages of all sequences are.
struct PageTable {
  std::vector<int64_t> pages;
  int64_t width = 0;  // of a row
};

// Keys or values: the tokens of every sequence.
class Tokens {
 public:
  struct Parts {
    std::vector<Heads> heads;  // one, or one for each sequence
    std::optional<Heads> rope, prefix;
    int64_t width = 0;
  };

  Tokens(const Attention &attention, Parts parts, const FactorTable &factors,
         const PageTable &pages, const std::vector<int64_t> &starts);

  // Tokens [first, first + count) of a sequence and head as the rows of a matrix: where they lie,
  // or copied to `room`, which has a place for them.
  Matrix rows(int64_t batch, int64_t head, int64_t first, int64_t count, char *room) const;
  // The same where they lie; without data if they have to be copied.
  Matrix rows_there(int64_t batch, int64_t head, int64_t first, int64_t count) const;
  // Bytes that `count` tokens take in `room`.
  size_t room(int64_t count) const;

 private:
  // Whether rows are elements of their tensor as they are.
  bool plain() const {
    return !parts_.rope && !parts_.prefix && !factors_ && gemm_is_float(parts_.heads[0].dtype);
  }
  // Whether rows are elements of bfloat16 as they are, of which a part lies elsewhere.
  bool joined_brains() const {
    return parts_.rope && !parts_.prefix && !factors_ && parts_.heads[0].dtype == ACL_BF16 &&
           parts_.rope->dtype == ACL_BF16;
  }
  int64_t full_width() const { return parts_.width + (parts_.rope ? rope_width_ : 0); }
  Matrix in_place(const Heads &from, int64_t at, int64_t count) const;
  Matrix gathered(int64_t batch, int64_t head, int64_t first, int64_t count, char *room) const;
  template <class T>  // float, or uint16_t for elements as they are
  Matrix loaded(int64_t batch, int64_t head, int64_t first, int64_t count, void *room) const;
  int64_t page(int64_t batch, int64_t token) const {
    return pages_.pages[static_cast<size_t>(batch * pages_.width + token / block_size_)];
  }

  Parts parts_;
  const FactorTable &factors_;
  const PageTable &pages_;
  const std::vector<int64_t> &starts_;  // where sequences begin that are packed or padded
  const bool listed_, packed_;
  const int64_t block_size_, prefix_, rope_width_;
};

}  // namespace emu
