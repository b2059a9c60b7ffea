// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/moe/combining.h"

namespace emu {
namespace {

// Rows of a view that may be absent.
class OptionalRows {
 public:
  OptionalRows(const View &view, const View &stand_in)
      : there_(view.data != nullptr), rows_(there_ ? view : stand_in) {}
  bool there() const { return there_; }
  void read(int64_t row, int64_t width, float *to) const { rows_.read(row * width, width, to); }

 private:
  bool there_;
  RowSource<float> rows_;
};

struct Sources {
  explicit Sources(const Combination &c)
      : results(c.results, c.out),
        first(c.first, c.out),
        second(c.second, c.out),
        bias(c.bias, c.out),
        x(c.x, c.out),
        alpha(c.alpha, c.out),
        beta(c.beta, c.out),
        constant(c.constant, c.out) {}
  OptionalRows results, first, second, bias, x, alpha, beta, constant;
};

// The term of `token`, without bias and weight. `scratch` holds a row.
void read_term(const Sources &from, const Term &term, int64_t token, int64_t width, float *scratch,
               float *to) {
  if (term.kind == Term::kRow) return from.results.read(term.row, width, to);
  from.x.read(token, width, to);
  if (term.kind == Term::kCopy) return;
  from.alpha.read(term.row, width, scratch);
  for (int64_t i = 0; i < width; ++i) to[i] *= scratch[i];
  from.beta.read(term.row, width, scratch);
  std::vector<float> constant(static_cast<size_t>(width));
  from.constant.read(term.row, width, constant.data());
  for (int64_t i = 0; i < width; ++i) to[i] += scratch[i] * constant[static_cast<size_t>(i)];
}

}  // namespace

void combine(const Combination &c, const std::vector<Term> &terms, int64_t each) {
  const int64_t tokens = c.out.layout.shape[0], width = c.out.layout.shape[1];
  if (tokens == 0 || width == 0) return;
  const Sources from(c);
  std::vector<float> weights;
  if (c.weights.data != nullptr) {
    weights.resize(terms.size());
    RowSource<float>(c.weights).read(0, static_cast<int64_t>(terms.size()), weights.data());
  }
  const RowTarget<float> out(c.out);
  for_each_row<float>(tokens, width, 3, [&](int64_t token, float *sum) {
    float *value = sum + width, *other = value + width;
    std::fill(sum, sum + width, 0.0f);
    for (const OptionalRows *shared : {&from.first, &from.second}) {
      if (!shared->there()) continue;
      shared->read(token, width, value);
      for (int64_t i = 0; i < width; ++i) sum[i] += value[i];
    }
    for (int64_t j = 0; j < each; ++j) {
      const size_t at = static_cast<size_t>(token * each + j);
      const Term &term = terms[at];
      if (term.kind == Term::kNothing) continue;
      read_term(from, term, token, width, other, value);
      if (from.bias.there()) {
        from.bias.read(term.expert, width, other);
        for (int64_t i = 0; i < width; ++i) value[i] += other[i];
      }
      const float weight = weights.empty() ? 1.0f : weights[at];
      for (int64_t i = 0; i < width; ++i) sum[i] += weight * value[i];
    }
    out.write(token * width, width, sum);
  });
}

}  // namespace emu
