// SPDX-License-Identifier: Apache-2.0
// Layers with several residual streams: each token's streams are normalised together and projected
// to the weights with which they are read, written and mixed.
#pragma once

#include <functional>

#include "ops/op.h"
#include "ops/shared/rows.h"

namespace emu {

struct StreamSizes {
  int64_t tokens = 0, streams = 0, width = 0;
  int64_t mixes = 0;  // rows of phi

  int64_t row() const { return streams * width; }
  int64_t rest() const { return mixes - 2 * streams; }
};

// x is (.., streams, width).
StreamSizes stream_sizes(const aclTensor &x);
// The dimensions of x before the streams, then these.
Layout per_token(const aclTensor &x, std::initializer_list<int64_t> behind);

// What the projection of a token gives.
struct TokenMix {
  const float *x;           // the streams
  float inverse;            // 1 / rms
  const float *before;      // `mixes` values, before the norm
  const float *pre, *post;  // one value per stream
  float *rest;
};

// Scale and shift of the three parts; `eps` is added behind the sigmoid of the first one, and of
// the second where there is no third.
struct MixGates {
  std::vector<float> alpha, bias;
  float eps = 0.0f;
};

// Calls body(token, mix) for every token on the threads of the pool. `phi` is (mixes, row); `gamma`
// scales the streams in the projection alone and may be empty.
void mix_streams(const View &x, const View &phi, const std::vector<float> &gamma,
                 const StreamSizes &sizes, double norm_eps, const MixGates &gates,
                 const std::function<void(int64_t, const TokenMix &)> &body);

// The sum of the streams with their first weights.
void join_streams(const TokenMix &mix, const StreamSizes &sizes, float *joined);

// Sees the stages of a matrix on its way: (stage, sums, matrix). Stage 0 has no sums.
using SinkhornStep = std::function<void(int64_t, const float *, const float *)>;
// A matrix (n, n) becomes doubly stochastic: the softmax of its rows, then its columns and rows
// divided by their sums in turn.
void sinkhorn(float *matrix, int64_t n, int64_t rounds, float eps, const SinkhornStep &step);
// Back through these stages, whose sums (n) and matrices (n, n) lie one after the other: `matrix`
// is the gradient of the last one and becomes that of what the first was made of.
void sinkhorn_back(float *matrix, int64_t n, int64_t rounds, const float *sums, const float *norms);

}  // namespace emu
