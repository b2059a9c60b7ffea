// SPDX-License-Identifier: Apache-2.0
// The arguments of attention one by one: nulls, dtypes, strides and attributes.
#include <algorithm>
#include <cstring>

#include "ops/attention/rules.h"

namespace emu {
namespace {

constexpr int64_t kMostHeads = 256, kLargestGroup = 64, kLargestRotaryGroup = 128;

struct LayoutName {
  const char *name;
  Arrangement input, output;
  AttentionLayouts from;
};

constexpr LayoutName kLayoutNames[] = {
    {"BSH", Arrangement::kHidden, Arrangement::kHidden, AttentionLayouts::kFour},
    {"BSND", Arrangement::kTokensFirst, Arrangement::kTokensFirst, AttentionLayouts::kFour},
    {"BNSD", Arrangement::kHeadsFirst, Arrangement::kHeadsFirst, AttentionLayouts::kFour},
    {"BNSD_BSND", Arrangement::kHeadsFirst, Arrangement::kTokensFirst, AttentionLayouts::kFour},
    {"TND", Arrangement::kPacked, Arrangement::kPacked, AttentionLayouts::kPacked},
    {"NTD", Arrangement::kPackedHeads, Arrangement::kPackedHeads, AttentionLayouts::kAll},
    {"NTD_TND", Arrangement::kPackedHeads, Arrangement::kPacked, AttentionLayouts::kAll},
    {"TND_NTD", Arrangement::kPacked, Arrangement::kPackedHeads, AttentionLayouts::kAll},
    {"BSH_BNSD", Arrangement::kHidden, Arrangement::kHeadsFirst, AttentionLayouts::kAll},
    {"BSND_BNSD", Arrangement::kTokensFirst, Arrangement::kHeadsFirst, AttentionLayouts::kAll},
    {"BSH_NBSD", Arrangement::kHidden, Arrangement::kHeadsOutside, AttentionLayouts::kAll},
    {"BSND_NBSD", Arrangement::kTokensFirst, Arrangement::kHeadsOutside, AttentionLayouts::kAll},
    {"BNSD_NBSD", Arrangement::kHeadsFirst, Arrangement::kHeadsOutside, AttentionLayouts::kAll},
};

std::string layout_names(AttentionLayouts most) {
  std::string names;
  for (const LayoutName &layout : kLayoutNames) {
    if (layout.from <= most) names += (names.empty() ? "" : ", ") + std::string(layout.name);
  }
  return names;
}

}  // namespace

Status AttentionRules::run() {
  a_.op = c_.op;
  nulls();
  if (ok()) dtypes();
  if (ok()) contiguous();
  check_.tiling();
  if (ok()) attributes();
  if (ok()) query();
  if (ok()) a_.nothing = c_.query->numel() == 0;
  if (!ok() || a_.nothing) return check_.status();
  if (ok()) c_.block_table ? pages() : a_.packed() ? packed() : sequences();
  if (ok()) rotary_parts();
  if (ok()) lengths();
  if (ok()) prefix();
  if (ok() && c_.block_table) table();
  if (ok()) limits();
  if (ok()) paddings();
  if (ok()) factors();
  if (ok()) pse();
  if (ok()) mask();
  if (ok()) latent_keys();
  if (ok()) bands();
  if (ok()) sink();
  if (ok()) results();
  return check_.status();
}

void AttentionRules::nulls() {
  check_.required("query", c_.query.given);
  side(c_.key, c_.key_tensor);
  side(c_.value, c_.value_tensor);
  check_.required("attentionOut", c_.out.given).required_text("inputLayout", c_.layout.given);
  if (c_.with_lse) check_.required(c_.lse.name, c_.lse.given);
  else if (c_.lse.name != nullptr) check_.optional(c_.lse.name, c_.lse.given);
  for (const auto *tensor : {&c_.pse, &c_.mask}) check_.optional(tensor->name, tensor->given);
  for (const auto *array :
       {&c_.query_lengths, &c_.key_lengths, &c_.prefix_length, &c_.query_starts, &c_.key_starts})
    check_.optional(array->name, array->given);
  each_optional([&](const Named<aclTensor> &t) { check_.optional(t.name, t.given); });
  if (ok()) keys_ = members(c_.key, c_.key_tensor);
  if (ok()) values_ = members(c_.value, c_.value_tensor);
}

// Keys or values: a list, or the one tensor of an operator that takes no list.
void AttentionRules::side(const Named<aclTensorList> &list, const Named<aclTensor> &tensor) {
  tensor.name ? check_.required(tensor.name, tensor.given) : check_.required(list.name, list.given);
}

std::vector<const aclTensor *> AttentionRules::members(const Named<aclTensorList> &list,
                                                       const Named<aclTensor> &tensor) {
  if (tensor.name) return {tensor.given};
  const auto &members = list->members;
  check_.that(!members.empty(), "%s is an empty list", list.name);
  for (size_t i = 0; ok() && i < members.size(); ++i) {
    check_.that(members[i] && live(members[i]), "%s[%zu] is null or was destroyed", list.name, i);
  }
  return {members.begin(), members.end()};
}

void AttentionRules::plain(const char *name, const aclTensor *tensor) {
  check_.dtype(name, tensor);
  if (!ok()) return;
  check_.that(!is_fractal(*tensor), "%s is in FRACTAL_NZ; allowed: ND", name);
  check_.that(!contains(dtype_set(ACL_INT4, ACL_FLOAT4_E2M1), tensor->dtype) ||
                  (layout_of(*tensor).is_dense() && tensor->offset % 2 == 0),
              "%s has dtype %s; then it must be contiguous and start at a whole byte", name,
              dtype_name(tensor->dtype));
  check_.that(tensor->dtype != ACL_INT32 || tensor->rank() == 0 || tensor->strides.back() == 1 ||
                  tensor->shape.back() == 1,
              "%s has dtype INT32 with eight values of 4 bits; their dimension must be contiguous",
              name);
}

void AttentionRules::dtypes() {
  const aclDataType query = c_.query->dtype;
  plain("query", c_.query.given);
  for (const auto &[name, tensors] : {std::pair{"key", &keys_}, std::pair{"value", &values_}}) {
    for (const aclTensor *tensor : *tensors) {
      plain(name, tensor);
      if (!ok()) return;
      const bool quantised = (contains(dtype_set(ACL_INT8, ACL_INT4, ACL_INT32), tensor->dtype) ||
                              (low_float(tensor->dtype) && !low_float(query))) &&
                             has_factors();
      if (!quantised) check_.same_dtype(name, tensor->dtype, "query", query);
      check_.same_dtype(name, tensor->dtype, "key", keys_[0]->dtype);
    }
  }
  optional_dtypes();
  plain("attentionOut", c_.out.given);
  if (!ok()) return;
  if (c_.quant2) {
    check_.that(one_byte(c_.out->dtype), "%s is given, so attentionOut must be INT8, not %s",
                c_.quant2.name, dtype_name(c_.out->dtype));
    check_.that(!low_float(keys_[0]->dtype) || c_.out->dtype == keys_[0]->dtype,
                "attentionOut has dtype %s; with key of %s it must be the same",
                dtype_name(c_.out->dtype), dtype_name(keys_[0]->dtype));
  } else if (low_float(query)) {
    check_.dtype_in("attentionOut", c_.out->dtype,
                    rotary() ? dtype_set(ACL_BF16) : dtype_set(ACL_BF16, ACL_FLOAT16));
  } else if (query == ACL_INT8) {
    const aclDataType expected = c_.query_scale ? ACL_BF16 : ACL_FLOAT16;
    check_.that(c_.out->dtype == expected,
                "attentionOut has dtype %s; for a query of INT8 it is %s, or INT8 with quantScale2",
                dtype_name(c_.out->dtype), dtype_name(expected));
  } else {
    check_.that(!one_byte(c_.out->dtype), "attentionOut has dtype %s, but %s is null",
                dtype_name(c_.out->dtype), c_.quant2.name ? c_.quant2.name : "quantScale2");
    check_.same_dtype("attentionOut", c_.out->dtype, "query", query);
  }
  if (c_.with_lse) check_.dtype(c_.lse.name, c_.lse.given);
}

void AttentionRules::optional_dtypes() {
  const aclDataType query = c_.query->dtype;
  check_.dtype(c_.pse.name, c_.pse.given);
  if (c_.pse) {
    check_.that(c_.pse->dtype == (query == ACL_BF16 ? ACL_BF16 : ACL_FLOAT16),
                "%s has dtype %s; it must have the dtype of query, %s (FLOAT16 for INT8)",
                c_.pse.name, dtype_name(c_.pse->dtype), dtype_name(query));
  }
  check_.dtype(c_.mask.name, c_.mask.given);
  each_optional([&](const Named<aclTensor> &t) { check_.dtype(t.name, t.given); });
  if (!ok()) return;
  for (const auto *part : {&c_.key_prefix, &c_.value_prefix}) {
    if (!*part) continue;
    plain(part->name, part->given);
    check_.same_dtype(part->name, part->given->dtype, "key", keys_[0]->dtype);
  }
  for (const auto *part : {&c_.query_rope, &c_.key_rope}) {
    if (!*part) continue;
    const aclDataType expected = byte_query() ? ACL_BF16 : query;
    check_.that(part->given->dtype == expected,
                "%s has dtype %s; it must have the dtype of query (BFLOAT16 for 8 bits)",
                part->name, dtype_name(part->given->dtype));
  }
  const auto pair = [&](const Named<aclTensor> &scale, const Named<aclTensor> &offset) {
    if (scale && offset) check_.same_dtype(offset.name, offset->dtype, scale.name, scale->dtype);
  };
  pair(c_.factors, c_.factor_offsets);
  pair(c_.key_factors, c_.key_offsets);
  pair(c_.value_factors, c_.value_offsets);
  pair(c_.quant2, c_.offset2);
  if (c_.quant2) {
    check_.that(c_.quant2->dtype == ACL_FLOAT || query == ACL_BF16,
                "%s has dtype %s; for a query of %s it must be FLOAT", c_.quant2.name,
                dtype_name(c_.quant2->dtype), dtype_name(query));
  }
  if (c_.sink) check_.same_dtype(c_.sink.name, c_.sink->dtype, "query", query);
}

// The kernel of PromptFlashAttention alone takes its tensors as they lie; those of the others copy
// strided ones.
void AttentionRules::contiguous() {
  if (form_.kind != AttentionKind::kPrompt) return;
  const auto whole = [&](const char *name, const aclTensor *tensor) {
    check_.that(!tensor || tensor->contiguous(), "%s is a strided view; it must be contiguous",
                name);
  };
  whole("query", c_.query.given);
  for (const aclTensor *tensor : keys_) whole("key", tensor);
  for (const aclTensor *tensor : values_) whole("value", tensor);
  whole(c_.pse.name, c_.pse.given);
  whole(c_.mask.name, c_.mask.given);
  each_optional([&](const Named<aclTensor> &t) { whole(t.name, t.given); });
}

void AttentionRules::layout() {
  const auto *named =
      std::find_if(std::begin(kLayoutNames), std::end(kLayoutNames), [&](const LayoutName &l) {
        return l.from <= form_.layouts && std::strcmp(l.name, c_.layout.given) == 0;
      });
  check_.that(named != std::end(kLayoutNames), "inputLayout is \"%.40s\"; allowed: %s",
              c_.layout.given, layout_names(form_.layouts).c_str());
  if (!ok()) return;
  a_.query_form = a_.key_form = a_.prefix_form = named->input;
  a_.out_form = named->output;
}

void AttentionRules::attributes() {
  layout();
  if (!ok()) return;
  a_.heads = c_.heads;
  a_.kv_heads = c_.kv_heads == 0 ? c_.heads : c_.kv_heads;
  a_.scale = static_cast<float>(c_.scale);
  check_.that(c_.heads >= 1 && c_.heads <= kMostHeads,
              "numHeads is %" PRId64 "; allowed: 1 to %" PRId64, c_.heads, kMostHeads);
  check_.that(c_.kv_heads >= 0 && c_.kv_heads <= c_.heads,
              "numKeyValueHeads is %" PRId64 "; allowed: 0 to numHeads, %" PRId64, c_.kv_heads,
              c_.heads);
  check_.that(ok() && c_.heads % a_.kv_heads == 0,
              "numHeads is %" PRId64 ", not a multiple of numKeyValueHeads, %" PRId64, c_.heads,
              a_.kv_heads);
  const int64_t largest = form_.relaxed ? kMostHeads
                          : rotary()    ? kLargestRotaryGroup
                                        : kLargestGroup;
  check_.that(ok() && a_.group() <= largest,
              "numHeads is %" PRId64 ", more than %" PRId64 " times numKeyValueHeads, %" PRId64,
              c_.heads, largest, a_.kv_heads);
  check_.that(c_.inner_precise >= 0 && c_.inner_precise <= 3,
              "innerPrecise is %" PRId64 "; allowed: 0 to 3", c_.inner_precise);
  check_.that(c_.pse_type == 0, "pseType is %" PRId64 "; allowed: 0", c_.pse_type);
  a_.clear_masked_rows = (c_.inner_precise & 2) != 0;
}

Status check_attention(const AttentionCall &call, AttentionForm form, Attention *attention) {
  return AttentionRules(call, form, attention).run();
}

}  // namespace emu
