// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "meta/executor.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "core/host_calls.h"
#include "core/host_memory.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/reports.h"
#include "core/statuses.h"
#include "core/stream.h"
#include "core/timeline.h"
#include "faults/arguments.h"
#include "faults/findings.h"
#include "faults/launches.h"
#include "faults/objects.h"
#include "faults/pages.h"
#include "meta/dumps.h"
#include "meta/executor_state.h"
#include "meta/fractal.h"
#include "meta/parameter_names.h"
#include "meta/pieces.h"

namespace emu {
namespace {

// of all tensors: tens of microseconds for most operators
constexpr int64_t kBriefElements = 65536;
// a few milliseconds for most operators of linear work, kLongTask (core/stream_worker.cpp) for the
// slowest
constexpr int64_t kModestElements = int64_t{4} << 20;

// Gives a run that is over back to its plan, which may end with it.
struct GiveBack {
  void operator()(RepeatedRun *run) const {
    const std::shared_ptr<PlanState> plan = std::move(run->plan);
    plan->spare.give(std::unique_ptr<RepeatedRun>(run));
  }
};
using RunHandle = std::unique_ptr<RepeatedRun, GiveBack>;

// The tensors of a plan as they are bound now. Between two runs only their addresses change.
RunHandle repeated_run(std::shared_ptr<PlanState> plan) {
  std::unique_ptr<RepeatedRun> run = plan->spare.take();
  if (run == nullptr) {
    run = std::make_unique<RepeatedRun>();
    run->tensors = plan->tensors;
  } else {
    for (size_t i = 0; i < run->tensors.size(); ++i) {
      run->tensors[i].tensor.data = plan->tensors[i].tensor.data;
      run->tensors[i].tensor.moved = plan->tensors[i].tensor.moved;
    }
  }
  run->plan = std::move(plan);
  return RunHandle(run.release());
}

Status check_addresses(const char *op, const std::vector<PlanTensor> &tensors, Stream &stream) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const PlanTensor &entry = tensors[i];
    int64_t low = 0, high = 0;
    if (!entry.present || !entry.tensor.reach(&low, &high)) continue;
    const char *start = entry.tensor.at(low);
    int owner = -1;
    if (entry.tensor.data != nullptr &&
        kernel_may_use(start, static_cast<size_t>(high - low), stream.device, &owner)) {
      continue;
    }
    if (owner < 0) {
      return fail(
          kKernelFault,
          "%s: %s needs the %lld bytes at %p (%s), which are not device memory it may touch.", op,
          parameter_text(op, tensors, i).c_str(), static_cast<long long>(high - low),
          static_cast<const void *>(start), describe_address(start).c_str());
    }
    return fail(
        kKernelFault,
        "%s: %s at %p lives on device %d; the stream runs on device %d, and peer access was "
        "not enabled.",
        op, parameter_text(op, tensors, i).c_str(), static_cast<const void *>(start), owner,
        stream.device);
  }
  return 0;
}

void report_unwritten(const char *op, const std::vector<PlanTensor> &tensors,
                      const Stream &stream) {
  const bool makes_something =
      std::any_of(tensors.begin(), tensors.end(), [](const PlanTensor &entry) {
        int64_t low = 0, high = 0;
        return entry.present && entry.output && entry.tensor.reach(&low, &high);
      });
  if (!makes_something) return;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].input) continue;
    each_piece(tensors[i], [&](const void *start, size_t nbytes) {
      const void *at = first_unwritten(start, nbytes);
      if (at == nullptr) return true;
      add_report(stream, op,
                 std::string(op) + ": " + parameter_text(op, tensors, i) +
                     " is read where nothing was written, " + describe_address(at));
      return false;
    });
  }
}

// Shapes, dtypes and formats as CANN's tables of operators have them: "4,8;8,2", "FLOAT;FLOAT".
void describe(const aclTensor &tensor, std::string texts[3]) {
  if (!texts[1].empty()) {
    for (int i = 0; i < 3; ++i) texts[i] += ';';
  }
  for (size_t axis = 0; axis < tensor.rank(); ++axis) {
    if (axis > 0) texts[0] += ',';
    texts[0] += std::to_string(tensor.shape[axis]);
  }
  texts[1] += dtype_name(tensor.dtype);
  texts[2] += format_name(tensor.format);
}

void note_operands(const std::vector<PlanTensor> &tensors) {
  TimedRun *run = TimedRun::with_operands();
  if (run == nullptr) return;
  for (const PlanTensor &entry : tensors) {
    if (entry.present && entry.input) describe(entry.tensor, run->entry().inputs);
    if (entry.present && entry.output) describe(entry.tensor, run->entry().outputs);
  }
}

// Under ACLNN_PY_CHECK=1: with the pages of its operands open. One that meets other ranks uses
// their memory too.
Status run_guarded(const PlanState &plan, PlanContext &context,
                   const std::vector<PlanTensor> &tensors) {
  if (plan.waits) {
    const faults::Access all;
    return plan.kernel(context);
  }
  std::vector<faults::Pages> pages;
  for (const PlanTensor &entry : tensors) {
    int64_t low = 0, high = 0;
    if (!entry.present || !entry.tensor.reach(&low, &high)) continue;
    pages.push_back({reinterpret_cast<uintptr_t>(entry.tensor.at(low)),
                     reinterpret_cast<uintptr_t>(entry.tensor.at(high))});
  }
  const auto workspace = reinterpret_cast<uintptr_t>(context.workspace());
  if (workspace != 0) pages.push_back({workspace, workspace + context.workspace_size()});
  const faults::Access open(std::move(pages));
  return plan.kernel(context);
}

// The kernel, and what is noted about it.
Status run_watched(const PlanState &plan, const std::vector<PlanTensor> &tensors,
                   PlanContext &context) {
  if (!check_mode()) {
    const Status status = plan.kernel(context);
    note_operands(tensors);
    return status;
  }
  report_unwritten(plan.op, tensors, context.stream());
  if (const Status s = run_guarded(plan, context, tensors)) return s;
  note_operands(tensors);
  for (const PlanTensor &entry : tensors) {
    if (entry.output)
      each_piece(entry, [](const void *start, size_t nbytes) {
        note_written(start, nbytes);
        return true;
      });
  }
  return check_guards(context.device(), plan.op);
}

void dump(const PlanState &plan, const std::vector<PlanTensor> &tensors, DumpPart part,
          const Stream &stream) {
  const char *const type = std::strncmp(plan.op, "aclnn", 5) == 0 ? plan.op + 5 : plan.op;
  dump_tensors(type, plan.op, tensors, part, stream);
}

Status run_kernel(const PlanState &plan, const std::vector<PlanTensor> &tensors, void *workspace,
                  uint64_t size, Stream &stream) {
  if (const Status s = check_addresses(plan.op, tensors, stream)) return s;
  if (size > 0 && workspace != nullptr && plan.workspace > 0) {
    int owner = -1;
    if (!kernel_may_use(workspace, plan.workspace, stream.device, &owner)) {
      return fail(kKernelFault, "%s: the workspace of %llu bytes at %p is %s.", plan.op,
                  static_cast<unsigned long long>(plan.workspace), workspace,
                  describe_address(workspace).c_str());
    }
  }
  if constexpr (kEmptyKernels) return 0;
  PlanContext context(tensors, workspace, size, stream);
  if (!dumps_operators()) return run_watched(plan, tensors, context);
  dump(plan, tensors, DumpPart::inputs, stream);
  if (const Status s = run_watched(plan, tensors, context)) return s;
  dump(plan, tensors, DumpPart::outputs, stream);
  return 0;
}

Status consumed(const char *op, const void *executor) {
  return fail(
      kInvalid,
      "%s: %p is not a live executor. Phase two consumes an executor, also when it fails: call "
      "%sGetWorkspaceSize again, or make the executor repeatable before it runs.",
      op, executor, op);
}

RunBy run_by(const std::vector<PlanTensor> &tensors, KernelTime time) {
  int64_t elements = 0;
  for (const PlanTensor &entry : tensors) {
    if (entry.present) elements += std::min(entry.tensor.numel(), kModestElements + 1);
  }
  if (elements <= kBriefElements) return RunBy::anyone_in_haste;
  return time == KernelTime::linear && elements <= kModestElements ? RunBy::anyone_with_time
                                                                   : RunBy::anyone;
}

// `repeated`: the run of a repeatable plan, else none.
Status queue_plan(const char *op, std::shared_ptr<PlanState> plan, RunHandle repeated,
                  void *workspace, uint64_t size, Stream &stream) {
  // The thread that runs the task names the stream: a captured plan may be replayed on another one.
  const RunBy run_by = plan->run_by;
  if (repeated == nullptr) {
    return enqueue_on(
        stream, op,
        [plan = std::move(plan), workspace, size]() -> Status {
          return run_kernel(*plan, plan->tensors, workspace, size, *working_stream());
        },
        run_by);
  }
  return enqueue_on(
      stream, op,
      [run = std::move(repeated), workspace, size]() -> Status {
        return run_kernel(*run->plan, run->tensors, workspace, size, *working_stream());
      },
      run_by);
}

}  // namespace

Slots<aclOpExecutor> &executors() {
  static auto *const all = new Slots<aclOpExecutor>(size_t{1} << 20);
  return *all;
}

int PlanContext::device() const { return stream_.device; }

PlanBuilder::PlanBuilder(const char *op, KernelTime time)
    : executor_(nullptr), op_(op), time_(time) {
  begin_phase_one(op);  // of an operator that makes no Check
  auto made = executors().guard(executors().create());
  if (made != nullptr) {
    made->plan = std::make_shared<PlanState>();
    made->plan->tensors.reserve(4);
  }
  executor_ = made.release();
}

PlanBuilder::~PlanBuilder() {
  if (executor_ != nullptr && executors().retire(executor_)) executors().destroy(executor_);
}

size_t PlanBuilder::add(const aclTensor *tensor, Use use, int32_t argument, int32_t member) {
  if (executor_ == nullptr) return 0;
  auto &list = executor_->plan->tensors;
  list.emplace_back();
  PlanTensor &entry = list.back();
  entry.input = use == Use::input || use == Use::both;
  entry.output = use == Use::output || use == Use::both;
  entry.list = argument;
  entry.member = member;
  if (tensor != nullptr) {
    entry.tensor = *tensor;
    entry.source = tensor;
    entry.present = use != Use::none;
    countable_ = countable_ && tensor->countable;
  }
  return list.size() - 1;
}

size_t PlanBuilder::add_list(const aclTensorList *list, Use use) {
  const int32_t argument = arguments_++;
  const size_t first = executor_ != nullptr ? executor_->plan->tensors.size() : 0;
  if (list == nullptr) return first;
  for (size_t i = 0; i < list->members.size(); ++i)
    add(list->members[i], use, argument, static_cast<int32_t>(i));
  return first;
}

size_t PlanBuilder::input(const aclTensor *tensor) {
  return add(tensor, Use::input, arguments_++, -1);
}
size_t PlanBuilder::output(const aclTensor *tensor) {
  return add(tensor, Use::output, arguments_++, -1);
}
size_t PlanBuilder::in_place(const aclTensor *tensor) {
  return add(tensor, Use::both, arguments_++, -1);
}
size_t PlanBuilder::input_if(const aclTensor *tensor) {
  return tensor != nullptr ? input(tensor) : add(nullptr, Use::none, -1, -1);
}
size_t PlanBuilder::output_if(const aclTensor *tensor) {
  return tensor != nullptr ? output(tensor) : add(nullptr, Use::none, -1, -1);
}
size_t PlanBuilder::unused(const aclTensor *tensor) {
  if (tensor != nullptr && !live(tensor)) {
    stale_ = true;
    tensor = nullptr;
  }
  return add(tensor, Use::none, arguments_++, -1);
}
size_t PlanBuilder::input_list(const aclTensorList *list) { return add_list(list, Use::input); }
size_t PlanBuilder::output_list(const aclTensorList *list) { return add_list(list, Use::output); }
size_t PlanBuilder::unused_list(const aclTensorList *list) {
  if (list != nullptr && !live(list)) {
    stale_ = true;
    list = nullptr;
  }
  return add_list(list, Use::none);
}

Status PlanBuilder::finish(Kernel kernel, uint64_t *workspace_size, aclOpExecutor **executor) {
  if (const Status s = check_process(op_)) return s;
  if (workspace_size == nullptr || executor == nullptr) {
    return fail(kNullPointer, "%sGetWorkspaceSize: %s is null.", op_,
                workspace_size == nullptr ? "workspaceSize" : "executor");
  }
  if (executor_ == nullptr) {
    return fail(kNoExecutor,
                "%sGetWorkspaceSize: too many live executors (%zu); run or destroy some.", op_,
                executors().live_count());
  }
  // Check refuses such tensors by name; this is for operators that do without it.
  if (!countable_) {
    return fail(kInvalid,
                "%sGetWorkspaceSize: a tensor has more elements, or a wider reach, than 64 "
                "bits can count.",
                op_);
  }
  // So does it with these, where the operator asks it about what it does not access.
  if (stale_) {
    return fail(kInvalid,
                "%sGetWorkspaceSize: an argument that is not accessed is no aclTensor or "
                "aclTensorList, or was destroyed; pass null.",
                op_);
  }
  PlanState &plan = *executor_->plan;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlanTensor &entry = plan.tensors[i];
    if (!entry.present || within_storage(entry.tensor)) continue;
    return fail(kInvalid,
                "%sGetWorkspaceSize: %s is in FRACTAL_NZ and reaches, with offset %lld and its "
                "strides, beyond the %lld elements of its storage.",
                op_, parameter_text(op_, plan.tensors, i).c_str(),
                static_cast<long long>(entry.tensor.offset),
                static_cast<long long>(entry.tensor.storage_shape.count()));
  }
  plan.op = op_;
  plan.moves = moves();
  plan.kernel = std::move(kernel);
  plan.arguments = arguments_;
  plan.workspace = workspace_;
  plan.rule = rule_;
  plan.repeatable_allowed = repeatable_allowed_;
  plan.waits = waits_;
  plan.phase_two_code = phase_two_code_;
  plan.run_by = waits_ ? RunBy::anyone : run_by(plan.tensors, time_);
  if (timeline_notes() & kNoteCalls)
    executor_->prepared_ns.store(end_phase_one(op_), std::memory_order_relaxed);
  *workspace_size = workspace_;
  *executor = std::exchange(executor_, nullptr);
  faults::made("aclOpExecutor", *executor);
  return 0;
}

Status run_plan(const char *op, void *workspace, uint64_t workspace_size, aclOpExecutor *executor,
                aclrtStream stream) {
  const HostCall call(op);
  if (const Status s = check_process(op)) return s;
  if (executor == nullptr) return fail(kNullPointer, "%s: the executor is null.", op);
  if (!executors().live(executor)) return consumed(op, executor);
  const bool repeatable = executor->repeatable.load();
  if (!repeatable && !executors().retire(executor)) return consumed(op, executor);

  if (timeline_notes() & kNoteCalls)
    add_preparation(executor->prepared_ns.exchange(0, std::memory_order_relaxed));
  std::shared_ptr<PlanState> plan = executor->plan;
  RunHandle repeated;
  if (repeatable) {
    repeated = repeated_run(plan);
  } else {
    faults::ended(executor);
    executors().destroy(executor);
  }
  std::vector<PlanTensor> &tensors = repeatable ? repeated->tensors : plan->tensors;
  const auto finish = [&](Status s) {
    return s != 0 && plan->phase_two_code != 0 ? plan->phase_two_code : s;
  };
  if (std::strcmp(plan->op, op) != 0) {
    return finish(
        fail(kInvalid, "%s: this executor was made by %sGetWorkspaceSize.", op, plan->op));
  }
  if (plan->moves != moves()) {
    if (const Status s = follow_moves(*plan, tensors)) return finish(s);
  }
  Stream *target = nullptr;
  if (const Status s = resolve(stream, op, &target)) {
    return plan->phase_two_code != 0
               ? plan->phase_two_code
               : fail(kRuntimeError, "%s: the stream was refused with %d.", op, s);
  }
  if (plan->rule == WorkspaceRule::kSkipEmpty && (workspace == nullptr || workspace_size == 0))
    return 0;
  if (workspace_size > 0 && workspace == nullptr) {
    return finish(fail(kNullPointer, "%s: the workspace is null while workspaceSize is %llu.", op,
                       static_cast<unsigned long long>(workspace_size)));
  }
  if (workspace_size < plan->workspace) {
    // Composite operators take the caller's word for the size; with less than they need they would
    // write outside of it, so this device refuses for every operator.
    return finish(fail(kInvalid, "%s: the workspace has %llu bytes, phase one asked for %llu.", op,
                       static_cast<unsigned long long>(workspace_size),
                       static_cast<unsigned long long>(plan->workspace)));
  }
  const bool watched = faults::checking() && target->capture.load() == nullptr;
  if (watched) {
    faults::look_at_launch(op, tensors, workspace, workspace_size, *target);
  }
  const Status queued =
      queue_plan(op, std::move(plan), std::move(repeated), workspace, workspace_size, *target);
  if (watched) faults::after_launch(*target, queued == 0);
  if (queued != 0) return fail(kRuntimeError, "%s: the stream took no work (%d).", op, queued);
  if (faults::blocking() && target->capture.load() == nullptr) return synchronize(*target, -1, op);
  return 0;
}

}  // namespace emu
