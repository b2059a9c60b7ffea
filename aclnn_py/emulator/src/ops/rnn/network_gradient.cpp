// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include <algorithm>
#include <utility>

#include "ops/rnn/network.h"

namespace emu {
namespace {

size_t at(int64_t n) { return static_cast<size_t>(n); }

// Reads what a gradient needs, layer by layer from the last to the first.
class NetworkGradient {
 public:
  NetworkGradient(PlanContext &c, const BackwardPlan &plan)
      : c_(c), plan_(plan), shape_(plan.shape), length_(shape_.batch * shape_.hidden) {}

  Status run() {
    const aclTensor *sizes = shape_.places == RowPlaces::kEqual ? nullptr : &c_.tensor(plan_.sizes);
    const Status status = time_steps(plan_.op, plan_.sizes_name, shape_, sizes, &steps_);
    if (status != 0) return status;
    for (int s = 0; s < shape_.cell->states; ++s) {
      initial_.push_back(states(plan_.initial[s]));
      slopes_.push_back(states(plan_.last_slopes[s]));
    }
    Floats y_slope(at(shape_.rows * shape_.width()));
    if (c_.has(plan_.y_slope)) y_slope = read_floats(c_.tensor(plan_.y_slope), shape_.batch_first);
    params_.resize(at(shape_.runs()));
    for (int64_t layer = shape_.layers - 1; layer >= 0; --layer) {
      y_slope = through(layer, y_slope);
      round_floats(shape_.dtype, &y_slope);
    }
    write_floats(c_.tensor(plan_.x_slope), y_slope, shape_.batch_first);
    for (int s = 0; s < shape_.cell->states; ++s) {
      write_floats(c_.tensor(plan_.initial_slopes[s]), slopes_[at(s)]);
    }
    for (int64_t run = 0; run < shape_.runs(); ++run) {
      write_weights(c_, shape_, plan_.param_slopes, run, params_[at(run)]);
    }
    return 0;
  }

 private:
  Floats states(size_t index) {
    return c_.has(index) ? read_floats(c_.tensor(index)) : Floats(at(shape_.runs() * length_));
  }

  // What the layer took: the input, or the hidden states of the layer below.
  Floats input_of(int64_t layer) {
    Floats x;
    if (layer == 0) {
      x = read_floats(c_.tensor(plan_.input), shape_.batch_first);
    } else {
      x.resize(at(shape_.rows * shape_.width()));
      for (int64_t d = 0; d < shape_.directions; ++d) {
        const size_t plane = plan_.planes[shape_.cell->state_plane[0]];
        const Floats hidden =
            read_floats(c_.tensor(plane + at((layer - 1) * shape_.directions + d)));
        for (int64_t r = 0; r < shape_.rows; ++r) {
          std::copy_n(hidden.data() + r * shape_.hidden, shape_.hidden,
                      x.data() + r * shape_.width() + d * shape_.hidden);
        }
      }
    }
    clear_padding(steps_, layer == 0 ? shape_.in : shape_.width(), &x);
    return x;
  }

  // The gradient of a layer's input, given that of its output.
  Floats through(int64_t layer, const Floats &y_slope) {
    const Floats x = input_of(layer);
    Floats x_slope(x.size());
    for (int64_t d = 0; d < shape_.directions; ++d) {
      const int64_t run = layer * shape_.directions + d;
      const LayerWeights weights = read_weights(c_, shape_, plan_.params, run, false);
      Floats memory[kMostPlanes];
      std::vector<const float *> planes;
      for (int p = 0; p < shape_.cell->planes; ++p) {
        planes.push_back(ready_floats(c_.tensor(plan_.planes[p] + at(run)), &memory[p]));
      }
      const Floats initial = gathered(initial_, run);
      Floats states = gathered(slopes_, run);
      run_layer_gradient({shape_.cell, &steps_, d == 1, &weights, x.data(), initial.data()}, planes,
                         y_slope.data() + d * shape_.hidden, shape_.width(), &states,
                         x_slope.data(), &params_[at(run)]);
      for (int s = 0; s < shape_.cell->states; ++s) {
        std::copy_n(states.data() + s * length_, length_, slopes_[at(s)].data() + run * length_);
      }
    }
    return x_slope;
  }

  Floats gathered(const std::vector<Floats> &all, int64_t run) const {
    Floats one(at(shape_.cell->states * length_));
    for (int s = 0; s < shape_.cell->states; ++s) {
      std::copy_n(all[at(s)].data() + run * length_, length_, one.data() + s * length_);
    }
    return one;
  }

  PlanContext &c_;
  const BackwardPlan &plan_;
  const NetworkShape &shape_;
  int64_t length_;
  TimeSteps steps_;
  std::vector<Floats> initial_, slopes_;
  std::vector<LayerWeights> params_;
};

}  // namespace

Status run_network_gradient(PlanContext &c, const BackwardPlan &plan) {
  return NetworkGradient(c, plan).run();
}

}  // namespace emu
