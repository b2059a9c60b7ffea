// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/attention/sequences.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/statuses.h"
#include "ops/float_kernels.h"

namespace emu {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

class ScaledSink final : public RowSink<float> {
 public:
  ScaledSink(float *to, int64_t pitch, float scale) : to_(to), pitch_(pitch), scale_(scale) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    float *to = to_ + row * pitch_ + col;
    for (int64_t i = 0; i < count; ++i) to[i] = values[i] * scale_;
  }

 private:
  float *to_;
  const int64_t pitch_;
  const float scale_;
};

}  // namespace

SequenceForm sequence_form(Check &check, const char *parameter, const aclTensor *tensor,
                           const char *layout_name, const char *layout, const char *pages_layout) {
  SequenceForm form;
  if (!check.ok()) return form;
  form.packed = std::strcmp(layout, "TND") == 0;
  form.paged = pages_layout != nullptr && std::strcmp(layout, pages_layout) == 0;
  check.that(form.packed || form.paged || std::strcmp(layout, "BSND") == 0,
             "%s is \"%.40s\"; allowed: BSND, TND%s%s", layout_name, layout,
             pages_layout ? ", " : "", pages_layout ? pages_layout : "");
  const int rank = form.packed ? 3 : 4;
  check.rank(parameter, tensor, rank, rank);
  if (!check.ok()) return form;
  check.that(tensor->numel() != 0, "%s has shape %s; it must not be empty", parameter,
             shape_text(layout_of(*tensor)).c_str());
  const auto *shape = tensor->shape.data();
  form.batch = form.packed ? 0 : shape[0];
  form.tokens = shape[form.packed ? 0 : 1];
  form.heads = shape[rank - 2];
  form.width = shape[rank - 1];
  if (form.paged) {
    form.pages = form.batch;
    form.batch = 0;
  }
  return form;
}

void check_pages(Check &check, const char *parameter, const aclTensor *table, int64_t batch,
                 SequenceForm *form) {
  if (!check.ok() || !form->paged) return;
  check.that(table != nullptr, "%s is null; a cache of pages needs it", parameter);
  if (check.ok()) check.rank(parameter, table, 2, 2);
  if (!check.ok()) return;
  check.that(table->shape[0] == batch,
             "%s has %" PRId64 " rows; it must have one for each of the %" PRId64 " sequences",
             parameter, table->shape[0], batch);
  form->table_width = table->shape[1];
  if (check.ok()) check.size(parameter, Checked(form->table_width) * form->tokens);
}

void check_lengths(Check &check, const char *parameter, const aclTensor *list, LengthList kind,
                   int64_t batch) {
  if (!check.ok() || list == nullptr) return;
  const int64_t expected = batch + (kind == LengthList::kOffsets ? 1 : 0);
  check.rank(parameter, list, 1, 1);
  check.that(check.ok() && list->shape[0] == expected,
             "%s has shape %s; it must have %" PRId64 " elements for %" PRId64 " sequences",
             parameter, shape_text(layout_of(*list)).c_str(), expected, batch);
}

Sequences ends_of(Check &check, const char *parameter, const aclIntArray *list, int64_t tokens) {
  Sequences s;
  check.that(list != nullptr && !list->values.empty(), "%s is missing; inputLayout TND needs it",
             parameter);
  int64_t last = 0;
  for (size_t b = 0; check.ok() && b < list->values.size(); ++b) {
    const int64_t end = list->values[b];
    check.that(end >= last && end <= tokens,
               "%s[%zu] is %" PRId64 "; allowed: %" PRId64 " to %" PRId64, parameter, b, end, last,
               tokens);
    if (!check.ok()) break;
    s.starts.push_back(last);
    s.lengths.push_back(end - last);
    last = end;
  }
  return s;
}

namespace {

// Phase one keeps a start and a length of each sequence.
constexpr int64_t kMostSequences = int64_t{1} << 20;

bool check_count(Check &check, const char *name, int64_t batch) {
  check.that(batch >= 0 && batch <= kMostSequences,
             "%s: there are %" PRId64 " sequences; allowed: at most %" PRId64, name, batch,
             kMostSequences);
  return check.ok();
}

}  // namespace

void read_lengths(Check &check, const char *name, const aclIntArray *list, bool packed,
                  int64_t batch, int64_t tokens, std::vector<int64_t> *starts,
                  std::vector<int64_t> *lengths) {
  if (!check_count(check, name, batch)) return;
  starts->assign(static_cast<size_t>(batch), 0);
  lengths->assign(static_cast<size_t>(batch), tokens);
  if (list == nullptr) return;
  check.that(static_cast<int64_t>(list->values.size()) == batch,
             "%s has %zu lengths for %" PRId64 " sequences", name, list->values.size(), batch);
  int64_t first = 0;
  for (size_t b = 0; check.ok() && b < lengths->size(); ++b) {
    const int64_t length = list->values[b], most = packed ? tokens - first : tokens;
    check.that(length >= 0 && length <= most, "%s[%zu] is %" PRId64 "; allowed: 0 to %" PRId64,
               name, b, length, most);
    (*starts)[b] = packed ? first : 0;
    (*lengths)[b] = length;
    first += length;
  }
}

void counts_or_ends(Check &check, const char *parameter, const aclIntArray *list,
                    const SequenceForm &form, Sequences *s) {
  if (!check.ok() || !check_count(check, parameter, form.batch)) return;
  s->starts.assign(static_cast<size_t>(form.batch), 0);
  s->lengths.assign(static_cast<size_t>(form.batch), form.tokens);
  if (list == nullptr) return;
  check.that(list->values.size() == s->starts.size(), "%s has %zu lengths for %zu sequences",
             parameter, list->values.size(), s->starts.size());
  int64_t last = 0;
  for (size_t b = 0; check.ok() && b < s->starts.size(); ++b) {
    const int64_t low = form.packed ? last : 0, value = list->values[b];
    check.that(value >= low && value <= form.tokens,
               "%s[%zu] is %" PRId64 "; allowed: %" PRId64 " to %" PRId64, parameter, b, value, low,
               form.tokens);
    if (!check.ok()) return;
    s->starts[b] = low;
    s->lengths[b] = value - low;
    last = value;
  }
}

View split_heads(View view, const SequenceForm &form) {
  const int rank = form.packed ? 3 : 4;
  if (view.layout.rank == rank) return view;
  const int last = view.layout.rank - 1;
  const int64_t step = view.layout.stride[last];
  view.layout.shape[last] = form.heads;
  view.layout.stride[last] = form.width * step;
  view.layout.push(form.width, step);
  return view;
}

Status read_sequences(const char *op, const char *parameter, PlanContext &c, size_t at,
                      LengthList kind, const SequenceForm &form, Sequences *s) {
  const auto batch = static_cast<size_t>(form.batch);
  const int64_t room = form.paged ? form.table_width * form.tokens : form.tokens;
  s->starts.assign(batch, 0);
  s->lengths.assign(batch, room);
  if (at == kAbsent || !c.has(at)) return 0;
  std::vector<int64_t> values = read_all<int64_t>(c, at, c.tensor(at).numel(), 0);
  int64_t last = 0;
  if (kind == LengthList::kOffsets) {
    last = values.front();
    values.erase(values.begin());
  }
  for (size_t b = 0; b < batch; ++b) {
    const bool counts = kind == LengthList::kCounts;
    const int64_t low = counts ? 0 : last, value = values[b];
    if (last < 0 || value < low || value > room) {
      return fail(kKernelFault, "%s: %s has %lld for sequence %zu; allowed: %lld to %lld", op,
                  parameter, static_cast<long long>(value), b, static_cast<long long>(low),
                  static_cast<long long>(room));
    }
    s->starts[b] = counts ? 0 : last;
    s->lengths[b] = value - low;
    last = counts ? 0 : value;
  }
  return 0;
}

Status read_page_table(const char *op, PlanContext &c, size_t at, const SequenceForm &form,
                       const Sequences &sequences, PageTable *table) {
  if (!form.paged) return 0;
  const aclTensor &given = c.tensor(at);
  table->width = form.table_width;
  table->pages = read_all<int64_t>(c, at, given.numel(), 0);
  for (int64_t b = 0; b < form.batch; ++b) {
    const int64_t used =
        (sequences.lengths[static_cast<size_t>(b)] + form.tokens - 1) / form.tokens;
    for (int64_t i = 0; i < used; ++i) {
      const int64_t page = table->pages[static_cast<size_t>(b * table->width + i)];
      if (page < 0 || page >= form.pages) {
        return fail(kKernelFault,
                    "%s: the block table has %lld at (%lld, %lld); the cache has %lld pages", op,
                    static_cast<long long>(page), static_cast<long long>(b),
                    static_cast<long long>(i), static_cast<long long>(form.pages));
      }
    }
  }
  return 0;
}

TokenReader::TokenReader(const View &view, const SequenceForm &form, const Sequences &sequences,
                         const PageTable *pages)
    : heads_(heads_of(view, form.packed ? Arrangement::kPacked : Arrangement::kTokensFirst,
                      form.width)),
      sequences_(sequences),
      pages_(form.paged ? pages : nullptr),
      width_(form.width),
      page_tokens_(form.tokens),
      packed_(form.packed) {}

int64_t TokenReader::at(int64_t batch, int64_t head, int64_t token) const {
  if (pages_ != nullptr) {
    const auto entry = static_cast<size_t>(batch * pages_->width + token / page_tokens_);
    return heads_.at(pages_->pages[entry], head, token % page_tokens_);
  }
  return heads_.at(packed_ ? 0 : batch, head,
                   sequences_.starts[static_cast<size_t>(batch)] + token);
}

void store_token(const TokenReader &to, int64_t batch, int64_t head, int64_t token,
                 const float *from) {
  const Heads &heads = to.heads();
  store_f32(from, const_cast<char *>(heads.data), heads.dtype, to.at(batch, head, token),
            heads.item, to.width());
}

void clear(const View &result) {
  const std::vector<float> zeros(4096, 0.0f);
  const RowTarget<float> target(result);
  const int64_t count = result.count();
  for (int64_t i = 0; i < count; i += 4096)
    target.write(i, std::min<int64_t>(4096, count - i), zeros.data());
}

void attend(const GatheredAttention &a, GatheredResult *result) {
  const auto rows = static_cast<size_t>(a.rows);
  result->out.assign(rows * static_cast<size_t>(a.value_width), 0.0f);
  result->highest.assign(rows, kNothing);
  result->sum.assign(rows, 0.0f);
  result->chances.clear();
  if (a.keys == 0) return;
  std::vector<float> scores(rows * static_cast<size_t>(a.keys));
  const Matrix query{a.query, ACL_FLOAT, a.rows, a.width, {a.width}, {1}};
  const Matrix key{a.key, ACL_FLOAT, a.keys, a.width, {a.width}, {1}};
  gemm_f32(query, key.transposed(), ScaledSink(scores.data(), a.keys, a.scale));
  const FloatKernels &kernels = float_kernels();
  std::vector<float> factors(rows);
  for (size_t i = 0; i < rows; ++i) {
    float *row = scores.data() + static_cast<int64_t>(i) * a.keys;
    if (a.bias != nullptr) {
      const float *bias = a.bias + static_cast<int64_t>(i) * a.keys;
      for (int64_t j = 0; j < a.keys; ++j) row[j] += bias[j];
    }
    float highest = kernels.highest(row, a.keys);
    if (a.sinks != nullptr) highest = std::max(highest, a.sinks[i]);
    result->highest[i] = highest;
    const float reference = highest == kNothing ? 0.0f : highest;
    double sum = kernels.shifted_powers(row, a.keys, reference, false);
    if (a.sinks != nullptr) sum += std::exp(static_cast<double>(a.sinks[i] - reference));
    result->sum[i] = static_cast<float>(sum);
    factors[i] = sum == 0.0 ? 0.0f : static_cast<float>(1.0 / sum);
  }
  const Matrix powers{scores.data(), ACL_FLOAT, a.rows, a.keys, {a.keys}, {1}};
  const Matrix value{a.value, ACL_FLOAT, a.keys, a.value_width, {a.value_width}, {1}};
  gemm_f32(powers, value, ScaledSink(result->out.data(), a.value_width, 1.0f));
  for (size_t i = 0; i < rows; ++i) {
    float *row = result->out.data() + static_cast<int64_t>(i) * a.value_width;
    for (int64_t j = 0; j < a.value_width; ++j) row[j] *= factors[i];
  }
  if (!a.with_chances) return;
  for (size_t i = 0; i < rows; ++i) {
    float *row = scores.data() + static_cast<int64_t>(i) * a.keys;
    for (int64_t j = 0; j < a.keys; ++j) row[j] *= factors[i];
  }
  result->chances = std::move(scores);
}

}  // namespace emu
