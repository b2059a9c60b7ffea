// SPDX-License-Identifier: Apache-2.0
// The aclop functions that run operators. An operator of a type is a call of its aclnn form: phase
// one judges, host inputs are copied to the device on the stream, the kernel runs there.
#include <memory>
#include <utility>

#include "acl/acl_op_compiler.h"
#include "aclop/compiled.h"
#include "core/device.h"
#include "core/export.h"
#include "core/kernel_call.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/slots.h"
#include "core/stream.h"
#include "faults/objects.h"
#include "runtime/copy.h"

using emu::fail;
using emu::Status;
using emu::aclop::Call;
using emu::aclop::Operand;

// Copies of what the program described: it may destroy its own.
struct aclopHandle {
  std::string type;
  std::vector<aclTensorDesc *> inputs, outputs;
  aclopAttr *attr = nullptr;

  ~aclopHandle() {
    for (const auto *side : {&inputs, &outputs}) {
      for (const aclTensorDesc *desc : *side) aclDestroyTensorDesc(desc);
    }
    aclopDestroyAttr(attr);
  }
};

namespace emu::aclop {
namespace {

enum class Find : uint8_t { compile, look_up };

struct Asked {
  const char *routine, *type;
  int input_count, output_count;
  const aclTensorDesc *const *input_descs, *const *output_descs;
  const aclopAttr *attr;
};

Slots<aclopHandle> &handles() {
  static auto *const all = new Slots<aclopHandle>(1 << 16);
  return *all;
}

Status check_asked(const Asked &a, const Row **row) {
  if (const Status s = check_process(a.routine)) return s;
  if (a.type == nullptr || *a.type == '\0')
    return fail(ACL_ERROR_INVALID_PARAM, "%s: opType is null or empty.", a.routine);
  if (a.input_count < 0 || (a.input_count > 0 && a.input_descs == nullptr) || a.output_count < 0 ||
      (a.output_count > 0 && a.output_descs == nullptr)) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s: %d inputs are described at %p, %d outputs at %p.",
                a.routine, a.type, a.input_count, static_cast<const void *>(a.input_descs),
                a.output_count, static_cast<const void *>(a.output_descs));
  }
  if (a.attr != nullptr && !live(a.attr))
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s: attr is destroyed.", a.routine, a.type);
  *row = find_row(a.type);
  if (*row != nullptr) return 0;
  std::string attributes;
  if (a.attr != nullptr) {
    for (const auto &[name, value] : a.attr->values)
      attributes += (attributes.empty() ? "" : "; ") + name + "=" + text_of(value);
  }
  return fail(ACL_ERROR_OP_NOT_FOUND,
              "%s: the emulator runs no operator of type %s (%d inputs, %d outputs, attributes: "
              "%s); docs/aclop.md lists the types it runs. Call its aclnn form instead.",
              a.routine, a.type, a.input_count, a.output_count,
              attributes.empty() ? "none" : attributes.c_str());
}

std::vector<Operand> described(const aclTensorDesc *const *descs, int count) {
  std::vector<Operand> operands(static_cast<size_t>(count));
  for (size_t i = 0; i < operands.size(); ++i) operands[i].desc = descs[i];
  return operands;
}

// A refusal of phase one, in the statuses of this interface.
Status refused(const Call &call, const Asked &a, Status code) {
  if (call.failed()) return call.status();
  const bool memory = code == ACL_ERROR_RT_MEMORY_ALLOCATION;
  return fail(memory ? code : ACL_ERROR_GE_FAILURE,
              "%s: %s: its aclnn form refuses with %d, see the next line. Given: %s.", a.routine,
              a.type, code, call.described().c_str());
}

Status plan(const Row &row, Call &call, uint64_t *workspace, aclOpExecutor **executor) {
  const KernelCall kernel;
  return row.phase_one(call, workspace, executor);
}

Status compile(const Asked &a) {
  const Row *row = nullptr;
  if (const Status s = check_asked(a, &row)) return s;
  Call call(a.routine, *row);
  if (const Status s = call.bind(described(a.input_descs, a.input_count),
                                 described(a.output_descs, a.output_count), a.attr, -1)) {
    return s;
  }
  uint64_t workspace = 0;
  aclOpExecutor *executor = nullptr;
  const Status s = plan(*row, call, &workspace, &executor);
  if (executor != nullptr) aclDestroyAclOpExecutor(executor);
  if (s != 0) return refused(call, a, s);
  note_compiled(call);
  return 0;
}

// Frees memory of a call once the stream has passed its kernel.
Status release_after(Stream &stream, std::vector<std::shared_ptr<DeviceBlock>> blocks) {
  return enqueue_on(
      stream, "aclop",
      [blocks = std::move(blocks)]() mutable -> Status {
        blocks.clear();
        return 0;
      },
      RunBy::anyone_in_haste);
}

struct DestroyExecutor {
  void operator()(aclOpExecutor *executor) const { aclDestroyAclOpExecutor(executor); }
};
using Executor = std::unique_ptr<aclOpExecutor, DestroyExecutor>;

Status launch(Call &call, const Asked &a, uint64_t workspace_bytes, Executor executor,
              Stream &stream, aclrtStream raw) {
  std::vector<std::shared_ptr<DeviceBlock>> blocks;
  auto workspace = std::make_shared<DeviceBlock>();
  if (workspace_bytes > 0) {
    if (const Status s =
            device_malloc(stream.device, workspace_bytes, &workspace->address, a.routine)) {
      return s;
    }
    blocks.push_back(workspace);
  }
  for (Upload &upload : call.uploads()) {
    blocks.push_back(upload.to);
    auto bytes = std::make_shared<std::vector<char>>(std::move(upload.bytes));
    const Status s = enqueue_on(
        stream, "aclop",
        [to = upload.to, bytes]() -> Status {
          return move_bytes("aclop", to->address, bytes->data(), bytes->size());
        },
        RunBy::anyone);
    if (s != 0) return s;
  }
  if (const Status s =
          call.second()(workspace->address, workspace_bytes, executor.release(), raw)) {
    return fail(ACL_ERROR_GE_FAILURE, "%s: %s: its kernel was not launched (%d).", a.routine,
                a.type, s);
  }
  return blocks.empty() ? 0 : release_after(stream, std::move(blocks));
}

Status run(const Asked &a, const aclDataBuffer *const *inputs, aclDataBuffer *const *outputs,
           Find find, aclrtStream raw) {
  const Row *row = nullptr;
  if (const Status s = check_asked(a, &row)) return s;
  if ((a.input_count > 0 && inputs == nullptr) || (a.output_count > 0 && outputs == nullptr))
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s: the array of %s is null.", a.routine, a.type,
                inputs == nullptr && a.input_count > 0 ? "inputs" : "outputs");
  Stream *stream = nullptr;
  if (const Status s = resolve(raw, a.routine, &stream)) return s;
  if (stream->capture.load() != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURED,
                "%s: %s: operators of the aclop interface cannot be captured; call aclnn operators "
                "while stream %d is captured.",
                a.routine, a.type, stream->id);
  }
  std::vector<Operand> from = described(a.input_descs, a.input_count),
                       to = described(a.output_descs, a.output_count);
  for (size_t i = 0; i < from.size(); ++i) from[i].buffer = inputs[i];
  for (size_t i = 0; i < to.size(); ++i) to[i].buffer = outputs[i];
  Call call(a.routine, *row);
  if (const Status s = call.bind(from, to, a.attr, stream->device)) return s;
  if (find == Find::look_up && !is_compiled(call)) {
    return fail(ACL_ERROR_OP_NOT_FOUND,
                "%s: %s was not compiled for these tensors and attributes: call aclopCompile, or "
                "aclopCompileAndExecute. Given: %s.",
                a.routine, a.type, call.described().c_str());
  }
  uint64_t workspace = 0;
  aclOpExecutor *made = nullptr;
  if (const Status s = plan(*row, call, &workspace, &made)) return refused(call, a, s);
  Executor executor(made);
  if (find == Find::compile) note_compiled(call);
  return launch(call, a, workspace, std::move(executor), *stream, raw);
}

Status check_engine(const char *routine, aclopEngineType engine, aclopCompileType kind,
                    const char *path) {
  if (path != nullptr && *path != '\0') {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: opPath is reserved and has to be null or empty.",
                routine);
  }
  if (engine < ACL_ENGINE_SYS || engine > ACL_ENGINE_VECTOR)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %d is no engine.", routine, static_cast<int>(engine));
  if (kind == ACL_COMPILE_SYS) return 0;
  if (kind != ACL_COMPILE_UNREGISTERED) {
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %d is no kind of compilation.", routine,
                static_cast<int>(kind));
  }
  return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              "%s: the emulator compiles no operators of the program (ACL_COMPILE_UNREGISTERED).",
              routine);
}

// Copies a description into a new one.
aclTensorDesc *copy_of(const aclTensorDesc &given) {
  aclTensorDesc *made = aclCreateTensorDesc(given.dtype, static_cast<int>(given.dims.size()),
                                            given.dims.data(), given.format);
  if (made != nullptr) *made = given;
  return made;
}

Status copy_side(const char *routine, const aclTensorDesc *const *descs, int count,
                 std::vector<aclTensorDesc *> *to) {
  to->reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (aclTensorDesc *made = copy_of(*descs[i])) to->push_back(made);
    else return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: too many live descriptions.", routine);
  }
  return 0;
}

Status create_handle(const Asked &a, aclopHandle **handle) {
  const Row *row = nullptr;
  if (const Status s = check_asked(a, &row)) return s;
  if (handle == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s: handle is null.", a.routine, a.type);
  Call call(a.routine, *row);
  if (const Status s = call.bind(described(a.input_descs, a.input_count),
                                 described(a.output_descs, a.output_count), a.attr, -1)) {
    return s;
  }
  if (!is_compiled(call)) {
    return fail(ACL_ERROR_OP_NOT_FOUND,
                "%s: %s was not compiled for these tensors and attributes: call aclopCompile "
                "first. Given: %s.",
                a.routine, a.type, call.described().c_str());
  }
  auto made = handles().guard(handles().create());
  aclopAttr *attr = made != nullptr ? aclopCreateAttr() : nullptr;
  if (attr == nullptr)
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: too many live handles.", a.routine);
  made->attr = attr;
  if (a.attr != nullptr) *attr = *a.attr;
  made->type = a.type;
  if (const Status s = copy_side(a.routine, a.input_descs, a.input_count, &made->inputs)) return s;
  if (const Status s = copy_side(a.routine, a.output_descs, a.output_count, &made->outputs))
    return s;
  *handle = made.release();
  faults::made("aclopHandle", *handle);
  return 0;
}

// A cast by its descriptions alone, the way aclopCast names it.
template <class F>
Status with_cast(const char *routine, const aclTensorDesc *source, const aclTensorDesc *target,
                 uint8_t truncate, F f) {
  if (const Status s = check_process(routine)) return s;
  if (truncate > 1)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: truncate is %d; it is 0 or 1.", routine, truncate);
  aclopAttr *attr = aclopCreateAttr();
  if (attr == nullptr) return ACL_ERROR_RT_MEMORY_ALLOCATION;
  const std::unique_ptr<const aclopAttr, void (*)(const aclopAttr *)> owner(attr,
                                                                            &aclopDestroyAttr);
  if (const Status s = aclopSetAttrBool(attr, "truncate", truncate)) return s;
  return f(Asked{routine, "Cast", 1, 1, &source, &target, attr});
}

}  // namespace
}  // namespace emu::aclop

using emu::aclop::Asked;
using emu::aclop::Find;

EMU_EXPORT aclError aclopCompile(const char *opType, int numInputs,
                                 const aclTensorDesc *const inputDesc[], int numOutputs,
                                 const aclTensorDesc *const outputDesc[], const aclopAttr *attr,
                                 aclopEngineType engineType, aclopCompileType compileFlag,
                                 const char *opPath) try {
  if (const Status s = emu::aclop::check_engine(__func__, engineType, compileFlag, opPath))
    return s;
  return emu::aclop::compile(
      Asked{__func__, opType, numInputs, numOutputs, inputDesc, outputDesc, attr});
}
EMU_CATCH

EMU_EXPORT aclError aclopCompileAndExecute(const char *opType, int numInputs,
                                           const aclTensorDesc *const inputDesc[],
                                           const aclDataBuffer *const inputs[], int numOutputs,
                                           const aclTensorDesc *const outputDesc[],
                                           aclDataBuffer *const outputs[], const aclopAttr *attr,
                                           aclopEngineType engineType, aclopCompileType compileFlag,
                                           const char *opPath, aclrtStream stream) try {
  if (const Status s = emu::aclop::check_engine(__func__, engineType, compileFlag, opPath))
    return s;
  return emu::aclop::run(
      Asked{__func__, opType, numInputs, numOutputs, inputDesc, outputDesc, attr}, inputs, outputs,
      Find::compile, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclopCompileAndExecuteV2(const char *opType, int numInputs,
                                             aclTensorDesc *inputDesc[], aclDataBuffer *inputs[],
                                             int numOutputs, aclTensorDesc *outputDesc[],
                                             aclDataBuffer *outputs[], aclopAttr *attr,
                                             aclopEngineType engineType,
                                             aclopCompileType compileFlag, const char *opPath,
                                             aclrtStream stream) try {
  if (const Status s = emu::aclop::check_engine(__func__, engineType, compileFlag, opPath))
    return s;
  return emu::aclop::run(
      Asked{__func__, opType, numInputs, numOutputs, inputDesc, outputDesc, attr}, inputs, outputs,
      Find::compile, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclopExecute(const char *opType, int numInputs,
                                 const aclTensorDesc *const inputDesc[],
                                 const aclDataBuffer *const inputs[], int numOutputs,
                                 const aclTensorDesc *const outputDesc[],
                                 aclDataBuffer *const outputs[], const aclopAttr *attr,
                                 aclrtStream stream) try {
  return emu::aclop::run(
      Asked{__func__, opType, numInputs, numOutputs, inputDesc, outputDesc, attr}, inputs, outputs,
      Find::look_up, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclopExecuteV2(const char *opType, int numInputs, aclTensorDesc *inputDesc[],
                                   aclDataBuffer *inputs[], int numOutputs,
                                   aclTensorDesc *outputDesc[], aclDataBuffer *outputs[],
                                   aclopAttr *attr, aclrtStream stream) try {
  return emu::aclop::run(
      Asked{__func__, opType, numInputs, numOutputs, inputDesc, outputDesc, attr}, inputs, outputs,
      Find::look_up, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclopCreateHandle(const char *opType, int numInputs,
                                      const aclTensorDesc *const inputDesc[], int numOutputs,
                                      const aclTensorDesc *const outputDesc[],
                                      const aclopAttr *opAttr, aclopHandle **handle) try {
  return emu::aclop::create_handle(
      Asked{__func__, opType, numInputs, numOutputs, inputDesc, outputDesc, opAttr}, handle);
}
EMU_CATCH

EMU_EXPORT void aclopDestroyHandle(aclopHandle *handle) try {
  if (emu::check_process(__func__) != 0 || !emu::aclop::handles().retire(handle)) return;
  emu::faults::ended(handle);
  emu::aclop::handles().destroy(handle);
}
EMU_CATCH_VOID

EMU_EXPORT aclError aclopExecWithHandle(aclopHandle *handle, int numInputs,
                                        const aclDataBuffer *const inputs[], int numOutputs,
                                        aclDataBuffer *const outputs[], aclrtStream stream) try {
  EMU_ENTER();
  if (!emu::aclop::handles().live(handle)) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclopExecWithHandle: handle is null or destroyed.");
  }
  const auto known_inputs = static_cast<int>(handle->inputs.size()),
             known_outputs = static_cast<int>(handle->outputs.size());
  if (numInputs != known_inputs || numOutputs != known_outputs) {
    return fail(
        numInputs != known_inputs ? ACL_ERROR_OP_INPUT_NOT_MATCH : ACL_ERROR_OP_OUTPUT_NOT_MATCH,
        "aclopExecWithHandle: %s: the handle has %d inputs and %d outputs; %d and %d are "
        "given.",
        handle->type.c_str(), known_inputs, known_outputs, numInputs, numOutputs);
  }
  return emu::aclop::run(Asked{__func__, handle->type.c_str(), numInputs, numOutputs,
                               handle->inputs.data(), handle->outputs.data(), handle->attr},
                         inputs, outputs, Find::look_up, stream);
}
EMU_CATCH

EMU_EXPORT aclError aclopCast(const aclTensorDesc *srcDesc, const aclDataBuffer *srcBuffer,
                              const aclTensorDesc *dstDesc, aclDataBuffer *dstBuffer,
                              uint8_t truncate, aclrtStream stream) try {
  return emu::aclop::with_cast(__func__, srcDesc, dstDesc, truncate, [&](const Asked &asked) {
    return emu::aclop::run(asked, &srcBuffer, &dstBuffer, Find::look_up, stream);
  });
}
EMU_CATCH

EMU_EXPORT aclError aclopCreateHandleForCast(aclTensorDesc *srcDesc, aclTensorDesc *dstDesc,
                                             uint8_t truncate, aclopHandle **handle) try {
  return emu::aclop::with_cast(__func__, srcDesc, dstDesc, truncate, [&](const Asked &asked) {
    return emu::aclop::create_handle(asked, handle);
  });
}
EMU_CATCH

EMU_EXPORT aclError aclopSetMaxOpQueueNum(uint64_t maxOpNum) try {
  EMU_ENTER();
  if (maxOpNum == 0) return fail(ACL_ERROR_INVALID_PARAM, "aclopSetMaxOpQueueNum: maxOpNum is 0.");
  emu::aclop::keep_at_most(maxOpNum);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclopSetCompileFlag(aclOpCompileFlag flag) try {
  EMU_ENTER();
  if (flag != ACL_OP_COMPILE_DEFAULT && flag != ACL_OP_COMPILE_FUZZ) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclopSetCompileFlag: %d is no flag.",
                static_cast<int>(flag));
  }
  emu::aclop::compile_for_any_shape(flag == ACL_OP_COMPILE_FUZZ);
  return 0;
}
EMU_CATCH
