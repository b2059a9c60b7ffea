// SPDX-License-Identifier: Apache-2.0
// What a handle is, for a debugger that stands in a program: `aclnn-py gdb` calls this.
#include <cstdio>
#include <string>

#include "core/context.h"
#include "core/event.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/stream.h"
#include "faults/objects.h"
#include "faults/streams.h"
#include "meta/executor_state.h"
#include "meta/parameter_names.h"

namespace emu {
namespace {

std::string numbers(const Dims &values) {
  std::string text = "(";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(values[i]);
  return text + ")";
}

std::string hexadecimal(const void *address) {
  char text[24];
  std::snprintf(text, sizeof text, "%p", address);
  return text;
}

std::string text_of(const aclTensor &tensor) {
  std::string text =
      numbers(tensor.shape) + " " + dtype_name(tensor.dtype) + " " + format_name(tensor.format);
  if (!tensor.contiguous()) text += ", strides " + numbers(tensor.strides);
  if (tensor.offset != 0) text += ", offset " + std::to_string(tensor.offset);
  if (tensor.storage_shape != tensor.shape) text += ", storage " + numbers(tensor.storage_shape);
  return text + ", at " + hexadecimal(tensor.data) + " (" + describe_address(tensor.data) + ")";
}

std::string text_of(const aclOpExecutor &executor) {
  const PlanState &plan = *executor.plan;
  std::string text = std::string("of ") + plan.op + ", workspace " +
                     std::to_string(plan.workspace) + " bytes" +
                     (executor.repeatable.load() ? ", repeatable" : "");
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlanTensor &entry = plan.tensors[i];
    if (!entry.present) continue;
    text += std::string("\n  ") + (entry.output ? (entry.input ? "in and out " : "out ") : "in ") +
            parameter_text(plan.op, plan.tensors, i) + " at " + hexadecimal(entry.tensor.data);
  }
  return text;
}

std::string text_of(const Stream &stream) {
  const uint64_t asked = stream.submitted.load(), done = stream.completed.load();
  return std::to_string(stream.id) + " of device " + std::to_string(stream.device) + ", " +
         std::to_string(done) + " of " + std::to_string(asked) + " tasks done" +
         (stream.faults.open() ? ", with a fault that nobody has read" : "");
}

std::string describe(const void *handle) {
  if (handle == nullptr) return "null";
  if (const auto *tensor = tensors().find(handle)) return "aclTensor " + text_of(*tensor);
  if (const auto *executor = executors().find(handle)) return "aclOpExecutor " + text_of(*executor);
  if (const auto *stream = streams().find(handle)) return "stream " + text_of(*stream);
  if (const auto *list = tensor_lists().find(handle)) {
    std::string text = "aclTensorList of " + std::to_string(list->members.size());
    for (const aclTensor *member : list->members)
      text += "\n  " + (live(member) ? text_of(*member) : std::string("null or destroyed"));
    return text;
  }
  if (const auto *scalar = scalars().find(handle)) {
    return std::string("aclScalar ") + dtype_name(scalar->dtype) + " " +
           std::to_string(scalar->to_double());
  }
  if (const auto *array = int_arrays().find(handle)) {
    return "aclIntArray " + numbers(Dims(array->values.data(), array->values.size())) +
           (array->values.size() > Dims::kMax ? " and more" : "");
  }
  if (events().find(handle) != nullptr) return "event";
  return describe_address(handle) + ", no live handle";
}

}  // namespace

namespace faults {

Stream *launch_stream(const void *handle) {
  if (handle != nullptr) return streams().find(handle);
  Context *context = peek_context();
  return context != nullptr ? context->default_stream.load() : nullptr;
}

int launch_stream_number(const void *handle) {
  const Stream *stream = launch_stream(handle);
  return stream != nullptr ? stream->id : -1;
}

int stream_number(const void *handle) {
  const Stream *stream = streams().find(handle);
  return stream != nullptr ? stream->id : -1;
}

}  // namespace faults
}  // namespace emu

// The text lives until the next call on this thread.
EMU_EXPORT const char *aclnn_py_emulator_describe(const void *handle) try {
  thread_local std::string text;
  text = emu::describe(handle);
  emu::faults::Life life;
  if (emu::faults::checking() && emu::faults::life_of(handle, &life)) {
    text += "\n  made at " + emu::faults::site_text(life.made);
    if (!life.live) text += "\n  ended at " + emu::faults::site_text(life.ended);
  }
  return text.c_str();
}
EMU_CATCH
