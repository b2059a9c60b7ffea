// SPDX-License-Identifier: Apache-2.0
// The halves of dispatch and combine: a setup writes down which row goes where, its teardown lets
// the rows go and takes those that come.
#pragma once

#include "ops/mc2/experts/combine.h"
#include "ops/mc2/experts/dispatch.h"

namespace emu {

// What the four operators share.
struct HalfCall {
  ExpertAttributes attributes;
  const char *shard_name;  // of the attribute that places shared experts
  const char *mode_name;   // of the attribute that quantises, and its value
  int64_t mode;
  int64_t comm_type;
};

// Checks the attributes and the sizes of `x`, rows of H values, and of `ids`.
Status check_half(const HalfCall &call, const char *x_name, const aclTensor *x,
                  const aclTensor *ids, Experts *experts);

struct DispatchSetupCall {
  HalfCall half;
  const aclTensor *x, *ids, *scales, *mask, *y, *places, *commands;
};
Status check_dispatch_setup(const DispatchSetupCall &call, Experts *experts);
Status plan_dispatch_setup(const DispatchSetupCall &call, uint64_t *workspace_size,
                           aclOpExecutor **executor);

struct CombineSetupCall {
  HalfCall half;
  const aclTensor *expanded, *ids, *assist, *quantised, *commands;
};
Status check_combine_setup(const CombineSetupCall &call, Experts *experts);
Status plan_combine_setup(const CombineSetupCall &call, uint64_t *workspace_size,
                          aclOpExecutor **executor);

// The checks of phase one of the teardowns, which are else calls of dispatch and of combine.
Status check_dispatch_teardown(const DispatchCall &call, const HalfCall &half, Experts *experts);
Status check_combine_teardown(const CombineCall &call, const HalfCall &half, Experts *experts);

// commCmdInfo: records of 16 words. One for each row says where it goes and whence it came; behind
// them is one for each place that rows go to, with their number. The first record also has a mark
// of the operator and the number of rows.
class Commands {
 public:
  enum Kind : int32_t { kDispatch = 0x44535054, kCombine = 0x434d4254 };

  Commands(Kind kind, int64_t rows, int64_t places);
  static constexpr int64_t words(int64_t rows, int64_t places) { return (rows + places) * 16; }

  void add(const TokenRoute &route, int64_t place);
  void write(PlanContext &context, size_t position) const;
  // Ends the communicator for what no setup with the same arguments wrote, or for more than `most`
  // rows.
  Status read(const Experts &experts, PlanContext &context, size_t position, int64_t most);

  const std::vector<TokenRoute> &routes() const { return routes_; }

 private:
  Kind kind_;
  int64_t rows_, places_;
  std::vector<TokenRoute> routes_;
  std::vector<int64_t> counts_;
};

}  // namespace emu
