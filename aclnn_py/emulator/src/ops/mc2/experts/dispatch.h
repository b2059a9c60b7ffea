// SPDX-License-Identifier: Apache-2.0
// MoeDistributeDispatch in all its versions, and its two halves.
#pragma once

#include "ops/mc2/experts/experts.h"

namespace emu {

struct HalfCall;

struct DispatchCall {
  ExpertAttributes attributes;
  const aclTensor *x, *ids, *scales, *mask, *weights;
  const aclTensor *elastic = nullptr, *times = nullptr;
  int64_t quant_mode = 0, count_type = 0;
  const aclTensor *expanded = nullptr, *dynamic_scales = nullptr, *assist = nullptr,
                  *expert_counts = nullptr, *ep_counts = nullptr, *tp_counts = nullptr,
                  *expanded_weights = nullptr;
  const aclTensor *y = nullptr, *commands = nullptr;  // of a teardown
  // Names of parameters that differ between the versions.
  bool first() const { return attributes.version == 1; }
  const char *name(const char *of_first, const char *of_others) const {
    return first() ? of_first : of_others;
  }
};

// How tokens travel: as they are, perhaps with scales that they have; cast; or quantised with
// scales found on the way. Only a 950 has others than `moved` and `integers_by_row`.
enum class TokenForm : uint8_t {
  moved,
  moved_with_scales,
  converted,
  integers_by_row,
  floats_by_row,
  floats_by_group  // of 128 values
};
constexpr int64_t kTokenGroup = 128;

// Makes the rows of one rank.
class TokenRows {
 public:
  // `factors` are rows that tokens are multiplied with, by TokenRoute::factors; one row or one
  // value for all; or none. `scales` are those that tokens have.
  TokenRows(const aclTensor &x, const aclTensor &expanded, TokenForm form,
            std::vector<float> factors, const aclTensor *scales = nullptr);
  const Envelope &envelope() const { return envelope_; }
  void make(const TokenRoute &route, char *message) const;

 private:
  void copy_row(const aclTensor &tensor, int64_t row, char *to) const;
  void multiply(const TokenRoute &route, float *values) const;
  void quantise(const float *values, int64_t first, int64_t count, char *message,
                int64_t group) const;

  const aclTensor &x_;
  TokenForm form_;
  int64_t width_;
  aclDataType dtype_;
  std::vector<float> factors_;
  const aclTensor *scales_;
  Envelope envelope_;
};

// All checks of phase one. `form` says how tokens travel.
Status check_dispatch(const DispatchCall &call, Experts *experts, TokenForm *form);
// With `half` the second half alone, whose rows a setup has put into `y`.
Status plan_dispatch(const DispatchCall &call, uint64_t *workspace_size, aclOpExecutor **executor,
                     const HalfCall *half = nullptr);

}  // namespace emu
