// SPDX-License-Identifier: Apache-2.0
// Phase one of the attention of inference, in the order in which it is applied. The documents give
// 161001 to nulls and 161002 to dtypes and formats; what they only call unsupported or an exception
// is judged by the tiling, whose refusal is 561002.
#pragma once

#include <cinttypes>

#include "ops/attention/attention.h"

namespace emu {

// The value that means "all tokens"; larger values mean the same.
constexpr int64_t kFarthest = 2147483647;

// Heads of the latent keys of MLA, whose rotary parts stand beside.
constexpr int64_t kLatentWidth = 512;

// The rules fill in the problem as they go.
class AttentionRules {
 public:
  AttentionRules(const AttentionCall &call, AttentionForm form, Attention *attention)
      : c_(call), form_(form), a_(*attention), check_(call.op) {}

  Status run();

 private:
  struct Sizes {
    int64_t batch, tokens, width;
  };

  bool ok() const { return check_.ok(); }
  // Whether the query counts as a prompt: a step has no band and one row of mask per sequence.
  bool prompt() const {
    return a_.queries > 1 || a_.packed() || form_.kind == AttentionKind::kPrompt || rotary() ||
           a_.width != a_.value_width;
  }
  bool rotary() const { return bool(c_.query_rope); }
  bool few_bits() const {
    return contains(dtype_set(ACL_INT4, ACL_INT32, ACL_FLOAT4_E2M1), keys_[0]->dtype);
  }
  // Floats of 8 and 4 bits, which the facts give to chips of the 950 series.
  static bool low_float(aclDataType dtype) {
    return contains(dtype_set(ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8, ACL_FLOAT4_E2M1), dtype);
  }
  static bool one_byte(aclDataType dtype) {
    return contains(dtype_set(ACL_INT8, ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8), dtype);
  }
  // Queries of 8 bits: keys and values are like them.
  bool byte_query() const { return one_byte(c_.query->dtype); }
  bool has_factors() const { return c_.factors || c_.key_factors; }
  const char *kv_heads_name() const { return c_.kv_heads == 0 ? "numHeads" : "numKeyValueHeads"; }

  // arguments.cpp
  void nulls();
  // The optional tensors between the mask and the result.
  template <class F>
  void each_optional(F &&f) const;
  void side(const Named<aclTensorList> &list, const Named<aclTensor> &tensor);
  std::vector<const aclTensor *> members(const Named<aclTensorList> &list,
                                         const Named<aclTensor> &tensor);
  void dtypes();
  void optional_dtypes();
  void plain(const char *name, const aclTensor *tensor);
  void contiguous();
  void attributes();
  void layout();

  // sizes.cpp
  Sizes measure(const char *name, const aclTensor &t, Arrangement form, const char *heads_name,
                int64_t heads);
  void query();
  int64_t unpack(const Named<aclIntArray> &ends, const char *name, int64_t tokens,
                 std::vector<int64_t> *starts, std::vector<int64_t> *lengths);
  void sequences();
  void packed();
  void pages();
  void page_size(const Sizes &key);
  void widths(const char *name, const Sizes &key, const Sizes &value);
  void shorten(const Named<aclIntArray> &given, std::vector<int64_t> *lengths);
  void lengths();
  void prefix();
  void rotary_parts();
  void rotary_part(const Named<aclTensor> &part, const aclTensor &whole, Arrangement form,
                   const char *heads_name, int64_t heads);
  void table();
  void paddings();
  void limits();

  // latent.cpp
  void latent_keys();
  void latent_pages();
  void latent_mask();

  // factors.cpp
  void factors();
  void quantised();
  void dequantised_query();
  void float_query();
  void separate_factors();
  void float_factors();
  void common_factors();
  Factors factor(const Named<aclTensor> &scale, const Named<aclTensor> &offset, int64_t mode,
                 int64_t parts, int64_t part);
  FactorForm factor_form(const aclTensor &scale, const char *name, int64_t mode, int64_t parts,
                         int64_t *tokens);
  void results_factors();

  // masks.cpp
  void pse();
  void mask();
  void mask_shape();
  void tree();
  void bands();
  void sink();
  void results();

  const AttentionCall &c_;
  const AttentionForm form_;
  Attention &a_;
  Check check_;
  std::vector<const aclTensor *> keys_, values_;
};

template <class F>
void AttentionRules::each_optional(F &&f) const {
  for (const auto *t : {&c_.dequant1,      &c_.quant1,        &c_.dequant2,       &c_.quant2,
                        &c_.offset2,       &c_.factors,       &c_.factor_offsets, &c_.block_table,
                        &c_.query_padding, &c_.kv_padding,    &c_.key_factors,    &c_.key_offsets,
                        &c_.value_factors, &c_.value_offsets, &c_.key_prefix,     &c_.value_prefix,
                        &c_.query_rope,    &c_.key_rope,      &c_.key_rope_scale, &c_.query_scale,
                        &c_.sink}) {
    f(*t);
  }
}

}  // namespace emu
