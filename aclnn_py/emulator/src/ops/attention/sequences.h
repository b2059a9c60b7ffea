// SPDX-License-Identifier: Apache-2.0
// Sequences whose lengths are tensors, which only the kernel reads, in tensors of the layouts BSND
// and TND or in pages: what the operators of sparse attention share.
#pragma once

#include <string>
#include <vector>

#include "ops/attention/tokens.h"
#include "ops/shared/rows.h"

namespace emu {

// How a list of lengths is to be read.
enum class LengthList {
  kCounts,   // the tokens of each sequence
  kEnds,     // those and all before them
  kOffsets,  // the same with a 0 in front
};

// What phase one knows of a tensor of sequences.
struct SequenceForm {
  bool packed = false, paged = false;
  int64_t batch = 0;   // of packed sequences the length of the list says it
  int64_t tokens = 0;  // of a sequence, of all packed ones, or of a page
  int64_t heads = 0, width = 0;
  int64_t pages = 0;  // of the cache
  int64_t table_width = 0;
};

// "BSND", "TND" or a name for pages; fills in what the tensor of rank 4 or 3 has. A tensor without
// the last dimension (weights, scales) has width 1.
SequenceForm sequence_form(Check &check, const char *parameter, const aclTensor *tensor,
                           const char *layout_name, const char *layout, const char *pages_layout);
// The table of pages: one row for each sequence.
void check_pages(Check &check, const char *parameter, const aclTensor *table, int64_t batch,
                 SequenceForm *form);
// A list of lengths: its length is `batch`, plus one for offsets.
void check_lengths(Check &check, const char *parameter, const aclTensor *list, LengthList kind,
                   int64_t batch);

struct Sequences {
  std::vector<int64_t> starts, lengths;
};

// The sequences that phase one knows: a list of the ends of packed ones, which must be there.
Sequences ends_of(Check &check, const char *parameter, const aclIntArray *list, int64_t tokens);
// Where sequences begin and how long they are, by a list of their lengths; null leaves them whole.
// Packed ones lie behind each other.
void read_lengths(Check &check, const char *name, const aclIntArray *list, bool packed,
                  int64_t batch, int64_t tokens, std::vector<int64_t> *starts,
                  std::vector<int64_t> *lengths);
// Sequences by the ends of packed ones, or by the numbers of their tokens; null leaves them whole.
void counts_or_ends(Check &check, const char *parameter, const aclIntArray *list,
                    const SequenceForm &form, Sequences *sequences);
// The view of a tensor whose heads lie side by side, with a dimension for them.
View split_heads(View view, const SequenceForm &form);

// The sequences of a tensor; a list at kAbsent, or one that is not given, leaves them whole. A list
// that leads out of the tensor is a fault.
Status read_sequences(const char *op, const char *parameter, PlanContext &context, size_t at,
                      LengthList kind, const SequenceForm &form, Sequences *sequences);
Status read_page_table(const char *op, PlanContext &context, size_t at, const SequenceForm &form,
                       const Sequences &sequences, PageTable *table);

// Tokens of a tensor, one by one as float32.
class TokenReader {
 public:
  TokenReader(const View &view, const SequenceForm &form, const Sequences &sequences,
              const PageTable *pages);

  void load(int64_t batch, int64_t head, int64_t token, float *to) const {
    load_head(heads_, at(batch, head, token), width_, to);
  }
  int64_t at(int64_t batch, int64_t head, int64_t token) const;
  const Heads &heads() const { return heads_; }
  int64_t width() const { return width_; }

 private:
  Heads heads_;
  const Sequences &sequences_;
  const PageTable *pages_;  // null without pages
  int64_t width_, page_tokens_;
  bool packed_;
};

// Rounds a token of a head into the result that `to` is over.
void store_token(const TokenReader &to, int64_t batch, int64_t head, int64_t token,
                 const float *from);
// Zeros for a result of which not every element is written.
void clear(const View &result);

// softmax(scale * q @ k^T + bias) @ v for a few rows over keys that were gathered; `bias` has a row
// for each row of q or is null, `sinks` a score for each row that has no value, or is null. A row
// without a key becomes 0, its highest score -inf and its sum 0.
struct GatheredAttention {
  const float *query, *key, *value;
  int64_t rows, keys, width, value_width;
  float scale;
  const float *bias = nullptr, *sinks = nullptr;
  bool with_chances = false;
};
struct GatheredResult {
  std::vector<float> out, highest, sum;
  std::vector<float> chances;  // the softmax itself, where it is asked for
};
void attend(const GatheredAttention &a, GatheredResult *result);

}  // namespace emu
