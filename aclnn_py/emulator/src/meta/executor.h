// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "acl/acl_base_rt.h"
#include "aclnn/acl_meta.h"
#include "core/callable.h"
#include "meta/tensor.h"

// The two phases of an operator. Phase one fills a PlanBuilder with deep copies of its tensors and
// a kernel; phase two (run_plan) hands the plan to the stream, whose worker checks the addresses
// and runs the kernel.
//
//     aclnnStatus aclnnFooGetWorkspaceSize(const aclTensor *x, aclTensor *out, uint64_t *size,
//     aclOpExecutor **executor) {
//       ... checks ...
//       emu::PlanBuilder plan("aclnnFoo");
//       const size_t in = plan.input(x), result = plan.output(out);
//       return plan.finish([=](emu::PlanContext &c) { return foo(c.tensor(in), c.tensor(result));
//       }, size, executor);
//     }
//     aclnnStatus aclnnFoo(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream
//     stream) {
//       return emu::run_plan("aclnnFoo", workspace, size, executor, stream);
//     }
namespace emu {

struct Stream;

// The position in a plan of an argument that the operator does not have.
constexpr size_t kAbsent = SIZE_MAX;

struct PlanTensor {
  aclTensor tensor;
  bool present = false;
  bool input = false;
  bool output = false;
  int32_t list = -1;                  // the argument's position among all tensor and list arguments
  int32_t member = -1;                // its position in a list, -1 for a tensor of its own
  const aclTensor *source = nullptr;  // the program's, while it lives
};

// What a kernel sees when it runs on the worker of a stream.
class PlanContext {
 public:
  PlanContext(const std::vector<PlanTensor> &tensors, void *workspace, uint64_t workspace_size,
              Stream &stream)
      : tensors_(tensors),
        workspace_(workspace),
        workspace_size_(workspace_size),
        stream_(stream) {}

  // The deep copy, with the address it was last bound to.
  const aclTensor &tensor(size_t index) const { return tensors_[index].tensor; }
  // False for an optional tensor that was null, and at kAbsent.
  bool has(size_t index) const { return index < tensors_.size() && tensors_[index].present; }
  size_t tensor_count() const { return tensors_.size(); }

  void *workspace() const { return workspace_; }
  uint64_t workspace_size() const { return workspace_size_; }
  Stream &stream() const { return stream_; }
  int device() const;

 private:
  const std::vector<PlanTensor> &tensors_;
  void *workspace_;
  uint64_t workspace_size_;
  Stream &stream_;
};

// Called by the worker, perhaps many times and (repeatable plans on several streams) by several
// threads at a time: it keeps no state of its own. Returns 0 or fail(...), which becomes a fault of
// the stream.
using Kernel = Callable<Status(PlanContext &), 160>;

// How long a kernel takes. `linear`: it goes over its tensors a fixed number of times, so that
// their elements say how long.
enum class KernelTime : uint8_t { any, linear };

// How phase two judges its arguments.
enum class WorkspaceRule : uint8_t {
  kComposite,   // null workspace with a size: 161001
  kIndividual,  // also: a size below what phase one asked for: 161002
  // null workspace or size 0: succeeds and does nothing (AllGatherMatmul, MatmulReduceScatter)
  kSkipEmpty,
};

class PlanBuilder {
 public:
  explicit PlanBuilder(const char *op, KernelTime time = KernelTime::any);
  ~PlanBuilder();
  PlanBuilder(const PlanBuilder &) = delete;
  PlanBuilder &operator=(const PlanBuilder &) = delete;

  // Every tensor and list of the call is added once and in the order of the call: an address is
  // exchanged by position. Deep copies the tensor and returns its index for PlanContext. Null makes
  // an absent entry.
  size_t input(const aclTensor *tensor);
  size_t output(const aclTensor *tensor);
  // One that is read and written.
  size_t in_place(const aclTensor *tensor);
  // The members of a list get consecutive indices; returns the first. A null list adds nothing.
  size_t input_list(const aclTensorList *list);
  size_t output_list(const aclTensorList *list);

  // For parameters that only some operators of a family have: null means that the operator has no
  // such parameter.
  size_t input_if(const aclTensor *tensor);
  size_t output_if(const aclTensor *tensor);
  // Arguments that the kernel does not access: counted for address exchange, absent for the kernel,
  // at any address.
  size_t unused(const aclTensor *tensor);
  size_t unused_list(const aclTensorList *list);

  void workspace(uint64_t bytes) { workspace_ = bytes; }
  void rule(WorkspaceRule rule) { rule_ = rule; }
  // 561000 from aclSetAclOpExecutorRepeatable: plans that copy between host and device, random
  // steps, ...
  void not_repeatable() { repeatable_allowed_ = false; }
  // Every failure of phase two reads as this code (561000 for the MC2 family).
  void phase_two_code(Status code) { phase_two_code_ = code; }

  // The kernel waits for other ranks.
  void waits() { waits_ = true; }

  // Hands out the executor. 161001 when an out pointer is null.
  Status finish(Kernel kernel, uint64_t *workspace_size, aclOpExecutor **executor);

 private:
  enum class Use : uint8_t { none, input, output, both };
  size_t add(const aclTensor *tensor, Use use, int32_t argument, int32_t member);
  size_t add_list(const aclTensorList *list, Use use);

  aclOpExecutor *executor_;
  const char *op_;
  KernelTime time_;
  uint64_t workspace_ = 0;
  int32_t arguments_ = 0;
  WorkspaceRule rule_ = WorkspaceRule::kComposite;
  bool repeatable_allowed_ = true, waits_ = false;
  Status phase_two_code_ = 0;
  bool countable_ = true;
  bool stale_ = false;
};

// The body of every aclnnXxx. Consumes the executor unless it is repeatable, whether it succeeds or
// not.
Status run_plan(const char *op, void *workspace, uint64_t workspace_size, aclOpExecutor *executor,
                aclrtStream stream);

}  // namespace emu
