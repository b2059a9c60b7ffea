// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/mhc/mixing.h"

#include <cmath>

#include "ops/matmul/gemm.h"

namespace emu {
namespace {

constexpr int64_t kTokensAtOnce = 16;

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// Memory of one thread for a few tokens.
struct MixBuffers {
  std::vector<float> x, scaled, before, gates;
  explicit MixBuffers(const StreamSizes &s)
      : x(static_cast<size_t>(kTokensAtOnce * s.row())),
        scaled(x.size()),
        before(static_cast<size_t>(kTokensAtOnce * s.mixes)),
        gates(static_cast<size_t>(s.mixes)) {}
};

void gate(const float *before, float inverse, const StreamSizes &s, const MixGates &g,
          float *gates) {
  const int64_t n = s.streams;
  for (int64_t i = 0; i < s.mixes; ++i) {
    const auto part = static_cast<size_t>(i < n ? 0 : i < 2 * n ? 1 : 2);
    gates[i] = before[i] * inverse * g.alpha[part] + g.bias[static_cast<size_t>(i)];
  }
  for (int64_t i = 0; i < n; ++i) gates[i] = sigmoid(gates[i]) + g.eps;
  const float behind = s.rest() == 0 ? g.eps : 0.0f;
  for (int64_t i = n; i < 2 * n; ++i) gates[i] = 2.0f * sigmoid(gates[i]) + behind;
}

}  // namespace

StreamSizes stream_sizes(const aclTensor &x) {
  const size_t rank = x.rank();
  StreamSizes s;
  s.tokens = count_of(x.shape.data(), rank - 2);
  s.streams = x.shape[rank - 2];
  s.width = x.shape[rank - 1];
  return s;
}

Layout per_token(const aclTensor &x, std::initializer_list<int64_t> behind) {
  Layout layout;
  for (size_t d = 0; d + 2 < x.rank(); ++d) layout.push(x.shape[d], 0);
  for (const int64_t extent : behind) layout.push(extent, 0);
  return dense_like(layout);
}

void mix_streams(const View &x, const View &phi, const std::vector<float> &gamma,
                 const StreamSizes &s, double norm_eps, const MixGates &gates,
                 const std::function<void(int64_t, const TokenMix &)> &body) {
  const RowSource<float> source(x);
  Matrix right;
  right.data = phi.data;
  right.dtype = phi.dtype;
  right.rows = s.row();
  right.cols = s.mixes;
  right.row.stride = phi.layout.stride[1];
  right.col.stride = phi.layout.stride[0];
  const int64_t row = s.row(), pieces = (s.tokens + kTokensAtOnce - 1) / kTokensAtOnce;
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    MixBuffers b(s);
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = piece * kTokensAtOnce,
                    count = std::min(kTokensAtOnce, s.tokens - first);
      source.read(first * row, count * row, b.x.data());
      const bool scales = !gamma.empty();
      for (int64_t i = 0; scales && i < count * row; ++i)
        b.scaled[static_cast<size_t>(i)] =
            b.x[static_cast<size_t>(i)] * gamma[static_cast<size_t>(i % row)];
      Matrix left;
      left.data = scales ? b.scaled.data() : b.x.data();
      left.rows = count;
      left.cols = row;
      left.row.stride = row;
      left.col.stride = 1;
      gemm(left, right, {b.before.data(), ACL_FLOAT, s.mixes, 1});
      for (int64_t t = 0; t < count; ++t) {
        const float *values = b.x.data() + t * row, *before = b.before.data() + t * s.mixes;
        const double mean = square_sum(values, row, 0.0) / static_cast<double>(row);
        const auto inverse = static_cast<float>(1.0 / std::sqrt(mean + norm_eps));
        gate(before, inverse, s, gates, b.gates.data());
        body(first + t, {values, inverse, before, b.gates.data(), b.gates.data() + s.streams,
                         b.gates.data() + 2 * s.streams});
      }
    }
  });
}

void join_streams(const TokenMix &mix, const StreamSizes &s, float *joined) {
  for (int64_t d = 0; d < s.width; ++d) joined[d] = mix.pre[0] * mix.x[d];
  for (int64_t i = 1; i < s.streams; ++i) {
    const float *stream = mix.x + i * s.width;
    for (int64_t d = 0; d < s.width; ++d) joined[d] += mix.pre[i] * stream[d];
  }
}

void sinkhorn(float *m, int64_t n, int64_t rounds, float eps, const SinkhornStep &step) {
  std::vector<float> sums(static_cast<size_t>(n));
  for (int64_t r = 0; r < n; ++r) {
    float *row = m + r * n;
    const float highest = *std::max_element(row, row + n);
    float total = 0.0f;
    for (int64_t i = 0; i < n; ++i) total += row[i] = std::exp(row[i] - highest);
    for (int64_t i = 0; i < n; ++i) row[i] = row[i] / total + eps;
  }
  step(0, nullptr, m);
  for (int64_t stage = 1; stage < 2 * rounds; ++stage) {
    const bool columns = stage % 2 == 1;
    for (int64_t i = 0; i < n; ++i) {
      float sum = 0.0f;
      for (int64_t j = 0; j < n; ++j) sum += columns ? m[j * n + i] : m[i * n + j];
      sums[static_cast<size_t>(i)] = sum + eps;
    }
    for (int64_t r = 0; r < n; ++r)
      for (int64_t i = 0; i < n; ++i) m[r * n + i] /= sums[static_cast<size_t>(columns ? i : r)];
    step(stage, sums.data(), m);
  }
}

void sinkhorn_back(float *matrix, int64_t n, int64_t rounds, const float *sums,
                   const float *norms) {
  for (int64_t stage = 2 * rounds - 1; stage >= 0; --stage) {
    const float *norm = norms + stage * n * n, *sum = sums + stage * n;
    const bool columns = stage % 2 == 1;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t start = columns ? i : i * n, step = columns ? n : 1;
      float along = 0.0f;
      for (int64_t j = 0; j < n; ++j) along += matrix[start + j * step] * norm[start + j * step];
      for (int64_t j = 0; j < n; ++j) {
        float &value = matrix[start + j * step];
        value = stage == 0 ? (value - along) * norm[start + j * step] : (value - along) / sum[i];
      }
    }
  }
}

}  // namespace emu
