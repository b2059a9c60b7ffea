// SPDX-License-Identifier: Apache-2.0
// Phase one of the attention of training: nulls, dtypes, then what the tiling judges with 561002.
#pragma once

#include <algorithm>
#include <cinttypes>

#include "ops/attention/rules.h"
#include "ops/attention/training/training.h"

namespace emu {

class TrainingRules {
 public:
  TrainingRules(const TrainingCall &call, TrainingForm form, Training *training)
      : c_(call), form_(form), t_(*training), a_(training->attention), check_(call.op) {}

  Status run();

 private:
  bool ok() const { return check_.ok(); }
  bool packed() const { return a_.query_form == Arrangement::kPacked; }

  // training_check.cpp
  void nulls();
  template <class F>
  void each_optional(F &&f);
  template <class F>
  void each_reserved(F &&f);
  void dtypes();
  void layout();
  struct Sizes {
    int64_t batch = 0, tokens = 0, heads = 0, width = 0;
  };

  Sizes measure(const Named<aclTensor> &t, int64_t heads, int64_t width = 0);
  void sizes();
  void ropes(const Sizes &q, const Sizes &k);
  int64_t unpack(const Named<aclIntArray> &ends, const char *of, int64_t tokens,
                 std::vector<int64_t> *starts, std::vector<int64_t> *lengths);
  void sequences();
  void attributes();
  // Calls f(queries, keys, sequence): once for sequences of one length.
  template <class F>
  void each_sequence(F &&f);

  // training_pairs.cpp
  void mode();
  void mask();
  void prefix();
  void bias();
  void distances();
  void dropout();

  // training_check.cpp
  void others();
  void statistics();
  void results();

  const TrainingCall &c_;
  const TrainingForm form_;
  Training &t_;
  Attention &a_;
  Check check_;
};

template <class F>
void TrainingRules::each_optional(F &&f) {
  for (const auto *t :
       {&c_.query_rope, &c_.key_rope, &c_.pse, &c_.drop, &c_.padding, &c_.mask, &c_.sink,
        &c_.highest, &c_.sum, &c_.out, &c_.dy, &c_.query_gradient, &c_.key_gradient,
        &c_.value_gradient, &c_.query_rope_gradient, &c_.key_rope_gradient, &c_.sink_gradient}) {
    if (*t) f(*t);
  }
}

// Factors of a query with 8 bits.
template <class F>
void TrainingRules::each_reserved(F &&f) {
  for (const auto *t : {&c_.d_scale_q, &c_.d_scale_k, &c_.d_scale_v, &c_.d_scale_dy, &c_.d_scale_o})
    f(*t);
}

template <class F>
void TrainingRules::each_sequence(F &&f) {
  if (!packed()) return f(a_.queries, a_.keys, size_t{0});
  for (size_t b = 0; ok() && b < a_.query_lengths.size(); ++b)
    f(a_.query_lengths[b], a_.key_lengths[b], b);
}

}  // namespace emu
