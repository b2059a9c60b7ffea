// SPDX-License-Identifier: Apache-2.0
// What optimizers share: tensors of one shape that are read and written element by element in
// float32, and the step of AdamW.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/shared/rows.h"

namespace emu {

// A tensor of an update; one without memory is absent.
struct UpdatedTensor {
  View view;
  bool written = false;
};

// Whether another tensor has bytes of the dense float32 tensor `which`.
template <size_t kTensors>
bool shared(const UpdatedTensor (&tensors)[kTensors], size_t which, int64_t elements) {
  const char *data = tensors[which].view.data;
  for (size_t i = 0; i < kTensors; ++i) {
    const View &other = tensors[i].view;
    if (i == which || other.dtype == ACL_DT_UNDEFINED || other.count() == 0) continue;
    const Extent reach = extent_of(other.layout);
    const int64_t size = item_size(other.dtype);
    if (other.data + reach.lowest * size < data + elements * static_cast<int64_t>(sizeof(float)) &&
        data < other.data + (reach.highest + 1) * size)
      return true;
  }
  return false;
}

// Calls body(values, count) for each block of elements; values[i] are those of tensor i, null where
// it is absent. What body leaves in tensors that are written is stored; it leaves the others as
// they are.
template <size_t kTensors, class F>
void update_elements(const UpdatedTensor (&tensors)[kTensors], int64_t elements, F &&body) {
  Operands operands;
  std::vector<RowSource<float>> sources;
  std::vector<RowTarget<float>> targets;
  bool present[kTensors];
  for (size_t i = 0; i < kTensors; ++i) {
    View view = tensors[i].view;
    present[i] = view.dtype != ACL_DT_UNDEFINED;
    for (const UpdatedTensor &other : tensors) {
      if (present[i] && !tensors[i].written && other.written)
        view = operands.safe(view, {other.view});
    }
    sources.emplace_back(view);
    targets.emplace_back(view);
  }
  // Tensors that lie ready, in memory of their own, are read and changed where they are.
  bool ready[kTensors];
  for (size_t i = 0; i < kTensors; ++i) {
    const View &view = tensors[i].view;
    ready[i] = present[i] && view.dtype == ACL_FLOAT && view.layout.is_dense() &&
               !shared(tensors, i, elements);
  }
  parallel_for((elements + kBlock - 1) / kBlock, 8, [&](int64_t begin, int64_t end) {
    alignas(64) float memory[kTensors][kBlock];
    float *values[kTensors] = {};
    for (int64_t block = begin; block < end; ++block) {
      const int64_t start = block * kBlock, count = std::min(kBlock, elements - start);
      for (size_t i = 0; i < kTensors; ++i) {
        if (!present[i]) continue;
        values[i] = ready[i] ? reinterpret_cast<float *>(tensors[i].view.data) + start : memory[i];
        if (!ready[i]) sources[i].read(start, count, memory[i]);
      }
      body(values, count);
      for (size_t i = 0; i < kTensors; ++i) {
        if (present[i] && tensors[i].written && !ready[i])
          targets[i].write(start, count, memory[i]);
      }
    }
  });
}

// A tensor that may be absent, as part of an update.
inline UpdatedTensor updated(PlanContext &c, size_t index, bool written) {
  return {c.has(index) ? view_of(c.tensor(index)) : View(), written};
}

// The number that a tensor of one element holds.
inline double number_in(PlanContext &c, size_t index) {
  return read_all<double>(c, index, 1, 0.0)[0];
}

struct AdamwNumbers {
  double lr, beta1, beta2, decay, eps;
  bool maximize;
};

// One step of AdamW with the powers of beta1 and beta2 that correct the moments.
struct AdamwStep {
  float beta1, beta2, rest1, rest2, rate, root, keep, eps, sign;

  AdamwStep(const AdamwNumbers &n, double power1, double power2)
      : beta1(static_cast<float>(n.beta1)),
        beta2(static_cast<float>(n.beta2)),
        rest1(static_cast<float>(1 - n.beta1)),
        rest2(static_cast<float>(1 - n.beta2)),
        rate(static_cast<float>(n.lr / (1 - power1))),
        root(static_cast<float>(1 / std::sqrt(1 - power2))),
        keep(static_cast<float>(1 - n.lr * n.decay)),
        eps(static_cast<float>(n.eps)),
        sign(n.maximize ? -1.0f : 1.0f) {}
  AdamwStep(const AdamwNumbers &n, double step)
      : AdamwStep(n, std::pow(n.beta1, step), std::pow(n.beta2, step)) {}

  void moments(float grad, float *m, float *v) const {
    const float g = sign * grad;
    *m = beta1 * *m + rest1 * g;
    *v = beta2 * *v + rest2 * g * g;
  }
  float moved(float var, float m, float v) const {
    return var * keep - rate * m / (std::sqrt(v) * root + eps);
  }
  // `largest`, where it is given, keeps the largest second moment and stands in for it.
  void run(float *var, float *m, float *v, float *largest, const float *grad, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) moments(grad[i], m + i, v + i);
    if (largest != nullptr) {
      for (int64_t i = 0; i < count; ++i) largest[i] = std::max(largest[i], v[i]);
    }
    const float *second = largest != nullptr ? largest : v;
    for (int64_t i = 0; i < count; ++i) var[i] = moved(var[i], m[i], second[i]);
  }
};

}  // namespace emu
