// SPDX-License-Identifier: Apache-2.0
// Arguments and results as a trace has them: enumerators by name, handles by number, tensors by
// shape, dtype and address, scalars and arrays by value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "faults/gate.h"

namespace emu::faults {

struct Parameter {
  std::string_view name, type;
  bool counted = false;  // an array, and the next parameter is its length
};

// What `Call::described` says.
struct Signature {
  explicit Signature(const char *described);
  std::string_view name, result;
  std::vector<Parameter> parameters;
};

// "\n" and a type, then " 107000=ACL_ERROR_RT_PARAM_INVALID" and so on; generated.
extern const char *const kEnumerators;

// Empty when the type has no such value.
std::string_view enumerator(std::string_view type, int64_t value);
// Whether a function that returns this type says with 0 that it succeeded.
bool is_status(std::string_view type);
std::string status_text(std::string_view type, int64_t value);

// The number of a handle among those of its type; `anew` where the handle is given out.
int handle_number(std::string_view type, const void *handle, bool anew);

std::string pointer_text(const void *address);

// An argument before its call.
std::string argument_text(const Value &value, const Parameter &parameter, const Value &next);
// What a successful call wrote to where an argument points.
std::string written_text(const Value &value, const Parameter &parameter, bool anew);
bool is_written(const Value &value);
std::string result_text(const Value &value, std::string_view type, bool anew);

}  // namespace emu::faults
