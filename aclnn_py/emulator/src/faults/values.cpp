// SPDX-License-Identifier: Apache-2.0
#include "faults/values.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "core/memory.h"
#include "faults/streams.h"
#include "meta/tensor.h"

namespace emu::faults {
namespace {

constexpr size_t kMostMembers = 16, kMostLetters = 80;

struct Numbers {
  std::mutex mutex;
  std::map<std::pair<std::string, const void *>, int> of;
  std::map<std::string, int> last;
};

Numbers &numbers() {
  static auto *const instance = new Numbers;
  return *instance;
}

template <class... Args>
std::string printed(const char *form, Args... args) {
  char text[64];
  std::snprintf(text, sizeof text, form, args...);
  return text;
}

std::string fraction_text(double value, bool narrow) {
  std::string text = printed(narrow ? "%.9g" : "%.17g", value);
  const std::string brief = printed("%g", value);
  char *end = nullptr;
  const double back = std::strtod(brief.c_str(), &end);
  return back == value || (narrow && static_cast<float>(back) == static_cast<float>(value)) ? brief
                                                                                            : text;
}

template <class Items, class Text>
std::string list_text(const Items &items, size_t count, const char *comma, Text text_of) {
  std::string text = "{";
  for (size_t i = 0; i < count && i < kMostMembers; ++i)
    text += (i > 0 ? comma : "") + text_of(items[i]);
  if (count > kMostMembers) text += comma + ("... " + std::to_string(count)) + " in all";
  return text + "}";
}

std::string dims_text(const Dims &dims) {
  std::string text;
  for (const int64_t value : dims) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

std::string named(const char *type, std::string_view key, const void *handle, bool anew) {
  return std::string(type) + "#" + std::to_string(handle_number(key, handle, anew));
}

// As an argument "Scalar#1(FLOAT 2)", as a result "Scalar#1 FLOAT 2": what ends with a parenthesis
// is a failure there.
std::string with_content(std::string name, const std::string &content, bool result) {
  return name + (result ? " " + content : "(" + content + ")");
}

std::string tensor_text(const void *handle, bool anew, bool result) {
  if (handle == nullptr) return "NULL";
  const aclTensor *tensor = tensors().find(handle);
  std::string name = named("Tensor", "aclTensor", handle, anew);
  if (tensor == nullptr) return with_content(std::move(name), "destroyed", result);
  std::string content = std::string(dtype_name(tensor->dtype)) + "[" + dims_text(tensor->shape) +
                        "] @" + pointer_text(tensor->data);
  if (tensor->offset != 0) content += " offset " + std::to_string(tensor->offset);
  if (!tensor->contiguous()) content += " strides {" + dims_text(tensor->strides) + "}";
  if (tensor->format != ACL_FORMAT_ND) content += std::string(" ") + format_name(tensor->format);
  return with_content(std::move(name), content, result);
}

bool is_float(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8:
    case ACL_INT16:
    case ACL_INT32:
    case ACL_INT64:
    case ACL_UINT8:
    case ACL_UINT16:
    case ACL_UINT32:
    case ACL_UINT64:
    case ACL_BOOL: return false;
    default: return true;
  }
}

std::string number_text(const aclScalar &scalar) {
  if (scalar.dtype == ACL_COMPLEX64 || scalar.dtype == ACL_COMPLEX128) {
    double real = 0, imaginary = 0;
    scalar.to_complex(&real, &imaginary);
    const bool narrow = scalar.dtype == ACL_COMPLEX64;
    return fraction_text(real, narrow) + (imaginary < 0 ? "" : "+") +
           fraction_text(imaginary, narrow) + "i";
  }
  if (scalar.dtype == ACL_BOOL) return scalar.to_bool() ? "true" : "false";
  if (scalar.dtype == ACL_UINT64) return std::to_string(scalar.to_uint64());
  if (!is_float(scalar.dtype)) return std::to_string(scalar.to_int64());
  return fraction_text(scalar.to_double(), scalar.dtype != ACL_DOUBLE);
}

std::string scalar_text(const void *handle, bool anew, bool result) {
  if (handle == nullptr) return "NULL";
  const aclScalar *scalar = scalars().find(handle);
  std::string name = named("Scalar", "aclScalar", handle, anew);
  if (scalar == nullptr) return with_content(std::move(name), "destroyed", result);
  return with_content(std::move(name),
                      std::string(dtype_name(scalar->dtype)) + " " + number_text(*scalar), result);
}

template <class T, class Text>
std::string held_text(const char *name, Slots<T> &slots, const void *handle, bool anew,
                      const Text &content) {
  if (handle == nullptr) return "NULL";
  const T *object = slots.find(handle);
  const std::string text = named(name, std::string("acl") + name, handle, anew);
  return text + (object != nullptr ? content(*object) : std::string("{destroyed}"));
}

std::string meta_text(Kind kind, const void *handle, bool anew, bool result) {
  switch (kind) {
    case Kind::tensor: return tensor_text(handle, anew, result);
    case Kind::scalar: return scalar_text(handle, anew, result);
    case Kind::tensor_list:
      return held_text("TensorList", tensor_lists(), handle, anew, [](const aclTensorList &list) {
        return list_text(list.members, list.members.size(), ", ",
                         [](const aclTensor *member) { return tensor_text(member, false, false); });
      });
    case Kind::scalar_list:
      return held_text("ScalarList", scalar_lists(), handle, anew, [](const aclScalarList &list) {
        return list_text(list.members, list.members.size(), ", ",
                         [](const aclScalar *member) { return scalar_text(member, false, false); });
      });
    case Kind::int_array:
      return held_text("IntArray", int_arrays(), handle, anew, [](const aclIntArray &array) {
        return list_text(array.values, array.values.size(), ",",
                         [](int64_t value) { return std::to_string(value); });
      });
    case Kind::float_array:
      return held_text("FloatArray", float_arrays(), handle, anew, [](const aclFloatArray &array) {
        return list_text(array.values, array.values.size(), ",",
                         [](float value) { return fraction_text(value, true); });
      });
    case Kind::bool_array:
      return held_text("BoolArray", bool_arrays(), handle, anew, [](const aclBoolArray &array) {
        return list_text(array.values, array.values.size(), ",",
                         [](unsigned char value) { return std::string(value ? "true" : "false"); });
      });
    default: return handle == nullptr ? "NULL" : named("Executor", "aclOpExecutor", handle, anew);
  }
}

// A value of `bytes` at an address, in the kind that it has.
Value load(const void *at, Kind kind, uint8_t bytes) {
  Value value;
  value.kind = kind;
  value.bytes = bytes;
  if (kind == Kind::real && bytes == sizeof(float)) {
    float narrow;
    std::memcpy(&narrow, at, sizeof narrow);
    return Value::of(narrow);
  }
  std::memcpy(&value.bits, at, bytes);
  const int unused = 64 - 8 * bytes;
  const bool is_signed = kind == Kind::integer || kind == Kind::enumeration;
  if (is_signed && unused > 0)
    value.bits = static_cast<uint64_t>(static_cast<int64_t>(value.bits << unused) >> unused);
  return value;
}

std::string text_in_quotes(const char *text) {
  if (text == nullptr) return "NULL";
  std::string quoted = "\"";
  for (size_t i = 0; text[i] != '\0'; ++i) {
    if (i == kMostLetters) {
      quoted += "...";
      break;
    }
    const char letter = text[i];
    if (letter == '\n') {
      quoted += "\\n";
    } else if (letter == '"' || letter == '\\') {
      quoted += std::string("\\") + letter;
    } else if (static_cast<unsigned char>(letter) < ' ') {
      quoted += '?';
    } else {
      quoted += letter;
    }
  }
  return quoted + "\"";
}

std::string plain_text(const Value &value, std::string_view type, bool anew, bool result) {
  switch (value.kind) {
    case Kind::nothing: return "void";
    case Kind::integer: return std::to_string(value.number());
    case Kind::natural:
      return value.bytes >= 8 ? std::to_string(value.bits)
                              : std::to_string(value.bits & ((uint64_t{1} << 8 * value.bytes) - 1));
    case Kind::boolean: return (value.bits & 1) != 0 ? "true" : "false";
    case Kind::real: return fraction_text(value.fraction(), value.bytes == sizeof(float));
    case Kind::enumeration: {
      const std::string_view name = enumerator(type, value.number());
      return name.empty() ? std::to_string(value.number()) : std::string(name);
    }
    case Kind::text: return text_in_quotes(static_cast<const char *>(value.pointer()));
    case Kind::record: return std::string(type) + "{...}";
    case Kind::function:
    case Kind::numbers:
    case Kind::pointers: return pointer_text(value.pointer());
    case Kind::address:
      if (value.bits == 0 || type.empty()) return pointer_text(value.pointer());
      return std::string(type) + "#" + std::to_string(handle_number(type, value.pointer(), anew));
    default: return meta_text(value.kind, value.pointer(), anew, result);
  }
}

}  // namespace

Signature::Signature(const char *described) {
  const std::string_view text = described;
  const size_t open = text.find('('), close = text.find(')');
  name = text.substr(0, open);
  result = text.substr(close + 1);
  if (!result.empty()) result.remove_prefix(1);
  std::string_view left = text.substr(open + 1, close - open - 1);
  while (!left.empty()) {
    const size_t comma = std::min(left.find(','), left.size());
    std::string_view one = left.substr(0, comma);
    left.remove_prefix(std::min(comma + 1, left.size()));
    Parameter parameter;
    if (one.size() > 2 && one.substr(one.size() - 2) == "[]") {
      parameter.counted = true;
      one.remove_suffix(2);
    }
    const size_t colon = std::min(one.find(':'), one.size());
    parameter.name = one.substr(0, colon);
    if (colon < one.size()) parameter.type = one.substr(colon + 1);
    parameters.push_back(parameter);
  }
}

std::string_view enumerator(std::string_view type, int64_t value) {
  const std::string head = "\n" + std::string(type) + " ";
  const char *row = std::strstr(kEnumerators, head.c_str());
  if (type.empty() || row == nullptr) return {};
  std::string_view pairs = row + head.size() - 1;
  pairs = pairs.substr(0, pairs.find('\n'));
  const std::string wanted = " " + std::to_string(value) + "=";
  const size_t at = pairs.find(wanted);
  if (at == std::string_view::npos) return {};
  pairs.remove_prefix(at + wanted.size());
  return pairs.substr(0, pairs.find(' '));
}

bool is_status(std::string_view type) {
  return type == "aclError" || type == "aclnnStatus" || type == "HcclResult" ||
         type == "HccnResult";
}

std::string status_text(std::string_view type, int64_t value) {
  std::string_view name = enumerator(type, value);
  // Operators and the runtime hand on each other's codes.
  if (name.empty()) name = enumerator(type == "aclError" ? "aclnnStatus" : "aclError", value);
  std::string text(name.empty() ? "status" : name);
  return value == 0 ? text : text + "(" + std::to_string(value) + ")";
}

int handle_number(std::string_view type, const void *handle, bool anew) {
  Numbers &all = numbers();
  const auto key = std::make_pair(std::string(type), handle);
  std::lock_guard<std::mutex> lock(all.mutex);
  if (type == "aclrtStream") {
    if (const int number = stream_number(handle); number >= 0) return all.of[key] = number;
  }
  const auto at = all.of.find(key);
  if (at != all.of.end() && !anew) return at->second;
  return all.of[key] = ++all.last[key.first];
}

std::string pointer_text(const void *address) {
  return address == nullptr ? "NULL" : printed("%p", address);
}

std::string argument_text(const Value &value, const Parameter &parameter, const Value &next) {
  if (value.kind == Kind::numbers && parameter.counted && value.bits != 0) {
    const auto *first = static_cast<const char *>(value.pointer());
    std::vector<const char *> items;
    for (uint64_t i = 0; i < next.bits && i <= kMostMembers; ++i)
      items.push_back(first + i * value.bytes);
    return list_text(items, next.bits, ",", [&](const char *item) {
      return plain_text(load(item, value.element, value.bytes), parameter.type, false, false);
    });
  }
  return plain_text(value, parameter.type, false, false);
}

bool is_written(const Value &value) {
  void *start = nullptr;
  size_t size = 0;
  return (value.kind == Kind::numbers || value.kind == Kind::pointers) && value.writable &&
         value.bits != 0 && !find_block(value.pointer(), &start, &size, nullptr);
}

std::string written_text(const Value &value, const Parameter &parameter, bool anew) {
  const uint8_t bytes = value.kind == Kind::pointers ? sizeof(void *) : value.bytes;
  return plain_text(load(value.pointer(), value.element, bytes), parameter.type, anew, false);
}

std::string result_text(const Value &value, std::string_view type, bool anew) {
  if (is_status(type)) return status_text(type, value.number());
  return plain_text(value, type, anew, true);
}

}  // namespace emu::faults
