// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Phase two of the lightning indexers.
#include <algorithm>
#include <cinttypes>
#include <limits>
#include <numeric>

#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/indexer/indexer.h"
#include "ops/attention/indexer/indexer_call.h"

namespace emu {
namespace {

// One dimension more, so that a tensor without elements of heads is read like one with them.
View with_item(View view) {
  view.layout.push(1, 1);
  return view;
}

SequenceForm with_width(SequenceForm form) {
  form.width = 1;
  return form;
}

class IndexerRun {
 public:
  IndexerRun(const Indexer &indexer, PlanContext &context) : x_(indexer), c_(context) {}

  Status run() {
    if (const Status s = read()) return s;
    const TokenReader query = reader(x_.query_at, x_.query, queries_),
                      key = reader(x_.key_at, x_.key, keys_),
                      weights = scale_reader(x_.weights_at, x_.query, queries_);
    IndexerTensors tensors{&query, &key, &weights};
    tensors.heads = x_.query.heads;
    std::vector<TokenReader> scales;
    scales.reserve(2);
    if (x_.query_scale_at != kAbsent) {
      scales.push_back(scale_reader(x_.query_scale_at, x_.query, queries_));
      scales.push_back(scale_reader(x_.key_scale_at, x_.key, keys_));
      tensors.query_scale = &scales[0];
      tensors.key_scale = &scales[1];
    }
    const SequenceForm indices{x_.query.packed, false, x_.query.batch,
                               x_.query.tokens, 1,     x_.count};
    const TokenReader to = reader(x_.indices_at, indices, places_);
    const TokenReader values = x_.with_values ? reader(x_.values_at, indices, places_) : to;
    const int64_t longest =
        x_.query.packed ? *std::max_element(queries_.lengths.begin(), queries_.lengths.end())
                        : x_.query.tokens;
    const int64_t blocks = (longest + kIndexerBlock - 1) / kIndexerBlock;
    parallel_for(x_.query.batch * blocks, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> scores;
      for (int64_t task = begin; task < end; ++task)
        block(task / blocks, task % blocks * kIndexerBlock, tensors, to, values, &scores);
    });
    return 0;
  }

 private:
  Status read() {
    if (const Status s = read_sequences(x_.op, x_.query_lengths_name, c_, x_.query_lengths_at,
                                        x_.query_kind, x_.query, &queries_))
      return s;
    if (const Status s = read_sequences(x_.op, x_.key_lengths_name, c_, x_.key_lengths_at,
                                        x_.key_kind, x_.key, &keys_))
      return s;
    places_ = queries_;
    // Rows behind the used ones get no keys.
    if (!x_.query.packed) places_.lengths.assign(places_.lengths.size(), x_.query.tokens);
    residuals_.assign(keys_.lengths.size(), 0);
    if (x_.residuals_at != kAbsent && c_.has(x_.residuals_at)) {
      residuals_ = read_all<int64_t>(c_, x_.residuals_at, x_.key.batch, 0);
      for (const int64_t r : residuals_) {
        if (r < 0 || r >= x_.ratio)
          return fail(kKernelFault, "%s: a residual is %lld; allowed: 0 to %lld", x_.op,
                      static_cast<long long>(r), static_cast<long long>(x_.ratio - 1));
      }
    }
    return read_page_table(x_.op, c_, x_.table_at, x_.key, keys_, &pages_);
  }

  TokenReader reader(size_t at, const SequenceForm &form, const Sequences &sequences) {
    return {view_of(c_.tensor(at)), form, sequences, &pages_};
  }
  TokenReader scale_reader(size_t at, const SequenceForm &form, const Sequences &sequences) {
    return {with_item(view_of(c_.tensor(at))), with_width(form), sequences, &pages_};
  }

  // Keys that a token of a sequence sees. Compressed keys are seen when all their tokens are.
  int64_t seen(size_t b, int64_t token) const {
    if (token >= queries_.lengths[b]) return 0;
    const int64_t keys = keys_.lengths[b];
    if (!x_.causal) return keys;
    const int64_t all = keys * x_.ratio + residuals_[b];
    const int64_t last = token + 1 + all - queries_.lengths[b];
    return std::clamp<int64_t>(last < 0 ? 0 : last / x_.ratio, 0, keys);
  }

  void block(int64_t batch, int64_t first, const IndexerTensors &tensors, const TokenReader &to,
             const TokenReader &values, std::vector<float> *scores) const {
    const auto b = static_cast<size_t>(batch);
    const int64_t count = std::min(kIndexerBlock, places_.lengths[b] - first);
    if (count <= 0) return;
    const int64_t used = std::clamp<int64_t>(queries_.lengths[b] - first, 0, count);
    const int64_t most = used == 0 ? 0 : seen(b, first + used - 1);
    if (most > 0) indexer_scores(tensors, batch, first, used, most, scores);
    std::vector<int32_t> order, chosen;
    std::vector<float> best;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t keys = std::min(seen(b, first + i), most);
      const float *row = scores->data() + i * most;
      choose(row, keys, &order, &chosen, &best);
      const int64_t at = to.at(batch, 0, first + i);
      auto *indices = reinterpret_cast<int32_t *>(const_cast<char *>(to.heads().data));
      for (int64_t j = 0; j < x_.count; ++j)
        indices[at + j * to.heads().item] = chosen[static_cast<size_t>(j)];
      if (x_.with_values) {
        const Heads &h = values.heads();
        store_f32(best.data(), const_cast<char *>(h.data), h.dtype, values.at(batch, 0, first + i),
                  h.item, x_.count);
      }
    }
  }

  // The order of Topk: NaN is the highest score.
  void choose(const float *row, int64_t keys, std::vector<int32_t> *order,
              std::vector<int32_t> *chosen, std::vector<float> *best) const {
    order->resize(static_cast<size_t>(keys));
    std::iota(order->begin(), order->end(), 0);
    const auto before = [row](int32_t a, int32_t b) {
      const float x = row[a], y = row[b];
      const bool x_nan = std::isnan(x), y_nan = std::isnan(y);
      if (x_nan != y_nan) return x_nan;
      if (!x_nan && x != y) return x > y;
      return a < b;
    };
    const int64_t kept = std::min(keys, x_.count);
    std::partial_sort(order->begin(), order->begin() + kept, order->end(), before);
    chosen->assign(static_cast<size_t>(x_.count), -1);
    best->assign(static_cast<size_t>(x_.count), -std::numeric_limits<float>::infinity());
    for (int64_t j = 0; j < kept; ++j) {
      const auto at = static_cast<size_t>(j);
      (*chosen)[at] = (*order)[at];
      (*best)[at] = row[(*order)[at]];
    }
  }

  const Indexer &x_;
  PlanContext &c_;
  Sequences queries_, keys_, places_;
  std::vector<int64_t> residuals_;
  PageTable pages_;
};

}  // namespace

Status run_indexer(const Indexer &indexer, PlanContext &context) {
  return IndexerRun(indexer, context).run();
}

}  // namespace emu
