// SPDX-License-Identifier: Apache-2.0
// Attention of training: one description for all versions of FlashAttentionScore,
// FlashAttentionVarLenScore and their gradients. The forward form runs in the kernel of inference,
// with terms of its own; the gradient has a kernel that uses the same terms.
#pragma once

#include <memory>
#include <vector>

#include "ops/attention/kernel.h"
#include "ops/shared/rows.h"

namespace emu {

// The forms that the operators of TrainingCall have.
struct TrainingForm {
  bool gradient = false;
  bool packed = false;  // sequences are always packed, with lists of their ends
  bool united = false;  // one operator for packed sequences and others
};

enum class BiasForm : uint8_t {
  kNone,
  kPairs,       // an element for each pair of tokens
  kLastRows,    // the last 1,024 rows of a bias that depends on the distance of tokens only
  kPackedPairs  // the matrices of packed sequences behind each other
};

// A valid call without addresses. `attention` has the lists of its sequences only where they are
// packed; the run fills them in for others.
struct Training {
  Attention attention;
  bool sequence_first = false;               // SBH
  int64_t query_tokens = 0, key_tokens = 0;  // of packed sequences: rows of the tensors
  int64_t sparse_mode = 0;
  bool masked = false;
  Band band{0, 0};
  std::vector<int64_t> prefix;  // keys that every token of a sequence meets
  BiasForm bias = BiasForm::kNone;
  bool slopes = false, roots = false;        // the bias is made of a slope for each head
  int64_t distance = 0, start_distance = 0;  // added to that of the tokens
  float bias_scale = 1.0f, keep = 1.0f;
  bool tokens_first = false;  // of the statistics of packed sequences
  size_t padding_at = kAbsent, drop_at = kAbsent, highest_at = kAbsent, sum_at = kAbsent,
         dy_at = kAbsent;
  size_t query_gradient_at = kAbsent, key_gradient_at = kAbsent, value_gradient_at = kAbsent;
  size_t query_rope_gradient_at = kAbsent, key_rope_gradient_at = kAbsent,
         sink_gradient_at = kAbsent;
};

// Phase one without the plan.
Status check_training(const TrainingCall &call, TrainingForm form, Training *training);
// Both phases of any form.
Status plan_training(TrainingCall &call, TrainingForm form, uint64_t *workspace_size,
                     aclOpExecutor **executor);

// The arguments of a call where they lie, made when its kernel runs.
class TrainingTerms final : public PairTerms {
 public:
  TrainingTerms(const Training &training, PlanContext &context);

  // Reads and judges what only the device knows.
  Status read();
  const Training &training() const { return t_; }
  const Attention &attention() const { return a_; }
  // The view of a tensor with its sequences in front.
  View view(size_t at) const;
  Heads heads(size_t at, Arrangement form, int64_t width) const;
  // An operand that none of the results overlaps.
  Heads operand(size_t at, Arrangement form, int64_t width, std::initializer_list<size_t> results);
  AttentionOperand &attention_operand() { return o_; }
  void read_pairs(std::initializer_list<size_t> results);

  void shift(int64_t batch, int64_t head, int64_t token, int64_t first, int64_t count,
             float *scores) const override;
  void drop(int64_t batch, int64_t head, int64_t token, int64_t first, int64_t count,
            float *values) const override;
  void keep_sums(int64_t batch, int64_t head, int64_t token, float highest,
                 double sum) const override;
  // Where the statistics of a token are, in rows of eight.
  int64_t statistics_at(int64_t batch, int64_t head, int64_t token) const;

 private:
  void sequences();
  View safe(size_t at, std::initializer_list<size_t> results);

  const Training &t_;
  PlanContext &c_;
  Attention a_;
  AttentionOperand o_;
  Operands operands_;
  View bias_;
  std::vector<float> slopes_;
  int64_t slope_batch_ = 0;
  size_t distant_ = 0;                // the sequence that start_distance is about
  std::vector<int64_t> pair_starts_;  // pairs of heads and tokens before each packed sequence
  std::vector<std::unique_ptr<Snapshot>> kept_;
  const unsigned char *drop_ = nullptr;
  std::vector<RowTarget<float>> highest_, sum_;
};

Status run_training_gradient(const Training &training, PlanContext &context);

}  // namespace emu
