// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The plan of attention, and the work before its kernel: what only the device knows is read and
// judged.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/kernel.h"
#include "ops/index/addresses.h"
#include "ops/shared/packed_scale.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

bool has(const PlanContext &c, size_t at) { return at != kAbsent && c.has(at); }

// A matrix of pairs, or one for each sequence, perhaps with dimensions of 1 between.
Pairs mask_of(const View &view, bool one_row) {
  const int last = view.layout.rank - 1;
  const int64_t *stride = view.layout.stride;
  if (one_row) return {view.data, view.dtype, stride[0], 0, 0, stride[last]};
  if (last == 0) return {view.data, view.dtype, 0, 0, 0, stride[0]};
  const bool shared = last == 1 || view.layout.shape[0] == 1;
  return {view.data, view.dtype, shared ? 0 : stride[0], 0, stride[last - 1], stride[last]};
}

Pairs encoding_of(const View &view) {
  const int64_t *stride = view.layout.stride;
  return {view.data, view.dtype, view.layout.shape[0] == 1 ? 0 : stride[0],
          stride[1], stride[2],  stride[3]};
}

// The pages of all sequences. A page number outside the cache would read other memory.
Status read_pages(const Attention &a, PlanContext &c, PageTable *table) {
  const aclTensor &given = c.tensor(a.table_at);
  const int64_t width = given.shape[1], there = c.tensor(a.key_at).shape[0];
  table->width = width;
  table->pages.resize(static_cast<size_t>(given.numel()));
  RowSource<int64_t>(view_of(given)).read(0, given.numel(), table->pages.data());
  for (int64_t b = 0; b < a.batch; ++b) {
    const int64_t used = (a.key_lengths[static_cast<size_t>(b)] + a.block_size - 1) / a.block_size;
    for (int64_t i = 0; i < used; ++i) {
      const int64_t page = table->pages[static_cast<size_t>(b * width + i)];
      if (page < 0 || page >= there) {
        return fail(kKernelFault,
                    "%s: the block table has %lld at (%lld, %lld); the cache has %lld pages", a.op,
                    static_cast<long long>(page), static_cast<long long>(b),
                    static_cast<long long>(i), static_cast<long long>(there));
      }
    }
  }
  return 0;
}

// The one mask that stands for all causal ones is not read where it could be computed; but a
// program that passes another one, an inverted one for instance, gets wrong results from the NPU
// and has to hear of it.
Status check_triangle(const Attention &a, const aclTensor &mask) {
  const size_t last = mask.rank() - 1;
  const int64_t side = mask.shape[last], row = mask.strides[last - 1], step = mask.strides[last];
  const auto *data = static_cast<const unsigned char *>(mask.view_data());
  std::vector<unsigned char> line(static_cast<size_t>(2 * side), 0);
  std::fill(line.begin() + side, line.end(), 1);
  std::atomic<int64_t> wrong{side};
  parallel_for(side, side / 8, [&](int64_t begin, int64_t end) {
    std::vector<unsigned char> gathered(step == 1 ? 0 : static_cast<size_t>(side));
    for (int64_t i = begin; i < end; ++i) {
      const unsigned char *given = data + i * row;
      if (step != 1) {
        for (int64_t j = 0; j < side; ++j) gathered[static_cast<size_t>(j)] = given[j * step];
        given = gathered.data();
      }
      // Row i has i + 1 zeros before its ones.
      if (std::memcmp(given, line.data() + side - 1 - i, static_cast<size_t>(side)) != 0) wrong = i;
    }
  });
  if (wrong == side) return 0;
  return fail(
      kKernelFault,
      "%s: row %lld of the mask is not 0 up to its diagonal and 1 behind it, as causal masks "
      "and bands need it",
      a.op, static_cast<long long>(wrong.load()));
}

// A scale of FLOAT, or packed into 64 bits.
float read_scale(const aclTensor &tensor) {
  const char *data = static_cast<const char *>(tensor.view_data());
  float scale;
  if (tensor.dtype == ACL_UINT64) {
    uint64_t packed;
    std::memcpy(&packed, data, sizeof packed);
    return unpack_scale(packed);
  }
  std::memcpy(&scale, data, sizeof scale);
  return scale;
}

std::vector<float> read_floats(PlanContext &c, size_t at) {
  if (!has(c, at)) return {};
  return read_all<float>(c, at, c.tensor(at).numel(), 0.0f);
}

// Where the tokens of sequences begin that end before a padding. A step whose keys would begin
// before their tensor has none; elsewhere that is a fault.
Status read_padding(const Attention &a, PlanContext &c, size_t at, const char *what, int64_t tokens,
                    bool forgiven, std::vector<int64_t> *lengths, std::vector<int64_t> *starts) {
  int64_t padding;
  RowSource<int64_t>(view_of(c.tensor(at))).read(0, 1, &padding);
  padding = std::clamp<int64_t>(padding, 0, tokens + 1);
  for (size_t b = 0; b < lengths->size(); ++b) {
    const int64_t start = tokens - padding - (*lengths)[b];
    if (start < 0 && !forgiven) {
      return fail(kKernelFault,
                  "%s: sequence %zu of %s has %lld tokens before a padding of %lld; its tensor has "
                  "%lld",
                  a.op, b, what, static_cast<long long>((*lengths)[b]),
                  static_cast<long long>(padding), static_cast<long long>(tokens));
    }
    if (start < 0) (*lengths)[b] = 0;
    starts->push_back(std::max<int64_t>(0, start));
  }
  return 0;
}

class Run {
 public:
  Run(const Attention &attention, PlanContext &context)
      : a_(attention),
        c_(context),
        out_(view_of(c_.tensor(a_.out_at))),
        lse_(a_.with_lse ? view_of(c_.tensor(a_.lse_at)) : View()) {}

  Status run() {
    PageTable pages;
    if (a_.block_size != 0) {
      if (const Status s = read_pages(a_, c_, &pages)) return s;
    }
    if (const Status s = starts()) return s;
    heads();
    if (const Status s = pairs()) return s;
    scales();
    const FactorTable key_factors(a_, a_.key_factors, c_), value_factors(a_, a_.value_factors, c_);
    Tokens::Parts keys = side(a_.key_at, a_.key_prefix_at, a_.width),
                  values = side(a_.value_at, a_.value_prefix_at, a_.value_width);
    if (has(c_, a_.key_rope_at)) keys.rope = heads_at(a_.key_rope_at, a_.key_form, a_.rope_width);
    const Tokens key_tokens(a_, std::move(keys), key_factors, pages, o_.key_starts),
        value_tokens(a_, std::move(values), value_factors, pages, o_.key_starts);
    compute_attention(a_, o_, key_tokens, value_tokens);
    return 0;
  }

 private:
  View safe(size_t at) {
    const aclTensor &tensor = c_.tensor(at);
    const View view = view_of(tensor);
    // Nothing else can lie on values of 4 bits: a result of INT8 does not go with them.
    return dtype_bits(tensor.dtype) == 4 ? view : operands_.safe(view, {out_, lse_});
  }

  Heads heads_at(size_t at, Arrangement form, int64_t width) {
    return heads_of(c_.tensor(at), safe(at), form, width);
  }

  Status starts() {
    o_.query_starts = a_.query_starts;
    o_.key_starts = a_.key_starts;
    o_.key_lengths = a_.key_lengths;
    if (a_.query_padded) {
      std::vector<int64_t> lengths = a_.query_lengths;
      if (const Status s = read_padding(a_, c_, a_.query_padding_at, "query", a_.queries, false,
                                        &lengths, &o_.query_starts))
        return s;
    }
    if (!a_.keys_padded) return 0;
    return read_padding(a_, c_, a_.kv_padding_at, "key", a_.keys, a_.step, &o_.key_lengths,
                        &o_.key_starts);
  }

  void heads() {
    o_.query = heads_at(a_.query_at, a_.query_form, a_.width);
    if (has(c_, a_.query_rope_at))
      o_.rope = heads_at(a_.query_rope_at, a_.query_form, a_.rope_width);
    o_.out = heads_of(c_.tensor(a_.out_at), out_, a_.out_form, a_.value_width);
    // A row of one element each, arranged like heads whose tokens come last, or first where
    // sequences are packed.
    if (a_.with_lse)
      o_.lse = heads_of(c_.tensor(a_.lse_at), lse_,
                        a_.lse_heads_first ? Arrangement::kPackedHeads
                        : a_.packed()      ? Arrangement::kPacked
                                           : Arrangement::kHeadsFirst,
                        1);
    if (!has(c_, a_.query_scale_at)) return;
    View scale = view_of(c_.tensor(a_.query_scale_at));
    scale.layout.push(1, 1);
    const Arrangement form =
        a_.query_form == Arrangement::kHidden ? Arrangement::kTokensFirst : a_.query_form;
    o_.query_scale = heads_of(c_.tensor(a_.query_scale_at), scale, form, 1);
  }

  Status pairs() {
    if (has(c_, a_.pse_at)) o_.pse = encoding_of(safe(a_.pse_at));
    if (!has(c_, a_.mask_at)) return 0;
    if (a_.triangle) return check_triangle(a_, c_.tensor(a_.mask_at));
    o_.mask = mask_of(safe(a_.mask_at), a_.one_mask_row);
    if (!a_.tree || !a_.packed()) return 0;
    int64_t first = 0;
    for (const int64_t length : a_.query_lengths) {
      o_.trees.push_back(first);
      first += length * length;
    }
    return 0;
  }

  void scales() {
    if (has(c_, a_.dequant1_at)) o_.dequant1 = read_scale(c_.tensor(a_.dequant1_at));
    if (has(c_, a_.quant1_at)) o_.quant1 = read_scale(c_.tensor(a_.quant1_at));
    if (has(c_, a_.dequant2_at)) o_.dequant2 = read_scale(c_.tensor(a_.dequant2_at));
    o_.quant2 = read_floats(c_, a_.quant2_at);
    o_.offset2 = read_floats(c_, a_.offset2_at);
    o_.sink = read_floats(c_, a_.sink_at);
  }

  Tokens::Parts side(size_t at, size_t prefix_at, int64_t width) {
    Tokens::Parts parts;
    parts.width = width;
    for (size_t i = 0; i < (a_.listed ? static_cast<size_t>(a_.batch) : 1); ++i)
      parts.heads.push_back(heads_at(at + i, a_.key_form, width));
    if (has(c_, prefix_at)) parts.prefix = heads_at(prefix_at, a_.prefix_form, width);
    return parts;
  }

  const Attention &a_;
  PlanContext &c_;
  const View out_, lse_;
  Operands operands_;
  AttentionOperand o_;
};

}  // namespace

Status run_attention(const Attention &a, PlanContext &c) { return Run(a, c).run(); }

Status plan_attention(AttentionCall &call, AttentionForm form, uint64_t *workspace_size,
                      aclOpExecutor **executor) {
  const auto attention = std::make_shared<Attention>();
  if (const Status s = check_attention(call, form, attention.get())) return s;
  call.lse.accessed = call.with_lse;
  PlanBuilder plan(call.op);
  call.plan(plan);
  Attention &a = *attention;
  a.query_at = call.query.at;
  a.key_at = call.key_tensor.name ? call.key_tensor.at : call.key.at;
  a.value_at = call.value_tensor.name ? call.value_tensor.at : call.value.at;
  a.pse_at = call.pse.at;
  a.mask_at = call.mask.at;
  a.dequant1_at = call.dequant1.at;
  a.quant1_at = call.quant1.at;
  a.dequant2_at = call.dequant2.at;
  a.quant2_at = call.quant2.at;
  a.offset2_at = call.offset2.at;
  a.table_at = call.block_table.at;
  a.query_padding_at = call.query_padding.at;
  a.kv_padding_at = call.kv_padding.at;
  a.key_prefix_at = call.key_prefix.at;
  a.value_prefix_at = call.value_prefix.at;
  a.query_rope_at = call.query_rope.at;
  a.key_rope_at = call.key_rope.at;
  a.query_scale_at = call.query_scale.at;
  a.sink_at = call.sink.at;
  const bool separate = bool(call.key_factors);
  a.key_factors.scale_at = separate ? call.key_factors.at : call.factors.at;
  a.key_factors.offset_at = separate ? call.key_offsets.at : call.factor_offsets.at;
  a.value_factors.scale_at = separate ? call.value_factors.at : call.factors.at;
  a.value_factors.offset_at = separate ? call.value_offsets.at : call.factor_offsets.at;
  a.out_at = call.out.at;
  a.with_lse = call.with_lse;
  a.lse_at = call.lse.at;
  if (a.nothing)
    return plan.finish([](PlanContext &) { return Status{0}; }, workspace_size, executor);
  const std::shared_ptr<const Attention> kept = attention;
  return plan.finish([kept](PlanContext &context) { return run_attention(*kept, context); },
                     workspace_size, executor);
}

}  // namespace emu
