// SPDX-License-Identifier: Apache-2.0
// Scalars, arrays and numbers of a call: from attributes, and from inputs whose values the program
// gives in host memory.
#include <cmath>
#include <cstring>

#include "aclop/call.h"
#include "core/memory.h"
#include "core/program_memory.h"
#include "core/status.h"

namespace emu::aclop {
namespace {

// Attributes are floats also where a parameter is an integer's: a whole number is passed as one,
// so that it does not promote integer tensors.
constexpr double kWholeLimit = 9007199254740992.0;

int64_t wrapped(int64_t axis, size_t rank) {
  return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
}

}  // namespace

// The value of an input, which the program has to give in host memory.
const void *Call::host_bytes(In port, size_t *size) {
  const Operand *found = operand(port);
  if (found == nullptr || failed()) return nullptr;
  const aclTensorDesc &d = *found->desc;
  const char *name = row_.inputs[port.at].name;
  const int64_t count = count_of(d.dims.data(), d.dims.size());
  const auto bits = static_cast<size_t>(dtype_bits(d.dtype));
  *size = 0;
  if (count == 0) return nullptr;
  if (d.constant.empty() && d.placement == ACL_MEMTYPE_DEVICE) {
    refuse(ACL_ERROR_OP_INPUT_NOT_MATCH,
           "the value of %s is needed before the operator runs: give it with aclSetTensorConst, or "
           "in host memory with aclSetTensorPlaceMent",
           name);
    return nullptr;
  }
  if (d.constant.empty() && device_ < 0) {
    deferred_ = true;
    return nullptr;
  }
  const void *from = d.constant.empty() ? found->buffer->data : d.constant.data();
  const size_t have = d.constant.empty() ? found->buffer->size : d.constant.size();
  if (bits % 8 != 0 || bits == 0 || from == nullptr || device_of_address(from) >= 0 ||
      static_cast<uint64_t>(count) > have / (bits / 8)) {
    refuse(ACL_ERROR_INVALID_PARAM, "%s has %lld elements of %zu bits; %zu bytes are given at %p",
           name, static_cast<long long>(count), bits, have, from);
    return nullptr;
  }
  std::vector<char> &copy = host_values_.emplace_back(static_cast<size_t>(count) * (bits / 8));
  if (const Status s =
          copy_memory(routine_, ACL_ERROR_INVALID_PARAM, copy.data(), from, copy.size())) {
    status_ = s;
    return nullptr;
  }
  *size = static_cast<size_t>(count);
  return copy.data();
}

std::vector<int64_t> Call::values(In port) {
  size_t count = 0;
  const void *from = host_bytes(port, &count);
  if (from == nullptr) return {};
  const aclDataType dtype = operand(port)->desc->dtype;
  if (dtype != ACL_INT64 && dtype != ACL_INT32) {
    refuse(ACL_ERROR_UNSUPPORTED_DATA_TYPE, "%s is %s; it takes INT32 and INT64",
           row_.inputs[port.at].name, dtype_name(dtype));
    return {};
  }
  std::vector<int64_t> found(count);
  for (size_t i = 0; i < count; ++i) {
    if (dtype == ACL_INT64) {
      std::memcpy(&found[i], static_cast<const char *>(from) + i * 8, 8);
    } else {
      int32_t narrow = 0;
      std::memcpy(&narrow, static_cast<const char *>(from) + i * 4, 4);
      found[i] = narrow;
    }
  }
  return found;
}

std::vector<int64_t> Call::values(At attribute) {
  const Value &value = attributes_[attribute.at];
  if (value.kind != Kind::kLists) return value.integers;
  std::vector<int64_t> flat;
  for (const auto &list : value.lists) flat.insert(flat.end(), list.begin(), list.end());
  return flat;
}

int64_t Call::only(const std::vector<int64_t> &values, const char *name) {
  if (values.size() == 1) return values[0];
  if (!deferred_)
    refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "%s has %zu values; it takes one", name, values.size());
  return 0;
}

aclScalar *Call::scalar(In port) {
  size_t count = 0;
  const void *from = host_bytes(port, &count);
  if (from == nullptr) return nullptr;
  if (count != 1) {
    refuse(ACL_ERROR_OP_INPUT_NOT_MATCH, "%s has %zu elements; it takes one",
           row_.inputs[port.at].name, count);
    return nullptr;
  }
  aclScalar *made = aclCreateScalar(const_cast<void *>(from), operand(port)->desc->dtype);
  if (made == nullptr) refuse(ACL_ERROR_UNSUPPORTED_DATA_TYPE, "a scalar could not be made");
  else scalars_.push_back(made);
  return made;
}

aclScalar *Call::scalar(In port, double fallback) {
  return operand(port) != nullptr ? scalar(port) : scalar(fallback);
}

aclScalar *Call::scalar(At attribute) { return scalar(real(attribute)); }

aclScalar *Call::scalar(double value) {
  if (failed()) return nullptr;
  auto whole = static_cast<int64_t>(std::fabs(value) < kWholeLimit ? value : 0);
  const bool exact = std::fabs(value) < kWholeLimit && static_cast<double>(whole) == value;
  auto narrow = static_cast<float>(value);
  aclScalar *made =
      exact ? aclCreateScalar(&whole, ACL_INT64) : aclCreateScalar(&narrow, ACL_FLOAT);
  if (made == nullptr) refuse(ACL_ERROR_INVALID_PARAM, "a scalar could not be made");
  else scalars_.push_back(made);
  return made;
}

aclIntArray *Call::ints(std::vector<int64_t> values) {
  if (failed()) return nullptr;
  aclIntArray *made = aclCreateIntArray(values.data(), values.size());
  if (made == nullptr) refuse(ACL_ERROR_INVALID_PARAM, "a list of numbers could not be made");
  else int_arrays_.push_back(made);
  return made;
}

aclBoolArray *Call::bools(std::vector<int64_t> values) {
  if (failed()) return nullptr;
  bool truths[64] = {};
  for (size_t i = 0; i < values.size() && i < 64; ++i) truths[i] = values[i] != 0;
  aclBoolArray *made = values.size() > 64 ? nullptr : aclCreateBoolArray(truths, values.size());
  if (made == nullptr) refuse(ACL_ERROR_INVALID_PARAM, "a list of bools could not be made");
  else bool_arrays_.push_back(made);
  return made;
}

char *Call::text(At attribute) { return text(attributes_[attribute.at].texts.at(0).c_str()); }

char *Call::text(const char *value) {
  texts_.push_back(std::make_unique<std::string>(value));
  return texts_.back()->data();
}

double Call::real(In port) {
  const aclScalar *made = scalar(port);
  return made != nullptr ? made->to_double() : 0.0;
}

double Call::real(At attribute) {
  const Value &value = attributes_[attribute.at];
  return value.floats.empty() ? static_cast<double>(only(value.integers, name_of(attribute)))
                              : static_cast<double>(value.floats[0]);
}

bool Call::flag(At attribute) { return attributes_[attribute.at].integers.at(0) != 0; }

int64_t Call::choice(At attribute, std::initializer_list<const char *> texts) {
  const std::string &given = attributes_[attribute.at].texts.at(0);
  std::string allowed;
  int64_t at = 0;
  for (const char *text : texts) {
    if (given == text) return at;
    allowed += std::string(at++ > 0 ? ", " : "") + text;
  }
  refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s is \"%s\"; it takes %s", name_of(attribute),
         given.c_str(), allowed.c_str());
  return 0;
}

aclDataType Call::dtype(Out port) {
  const Operand *found = operand(port);
  return found != nullptr ? found->desc->dtype : ACL_DT_UNDEFINED;
}

aclDataType Call::type_of(Out port, At attribute) {
  const int64_t wanted = attributes_[attribute.at].integers.at(0);
  if (wanted >= 0 && wanted != dtype(port)) {
    refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s asks for %s, the output is %s",
           name_of(attribute), dtype_name(static_cast<aclDataType>(wanted)),
           dtype_name(dtype(port)));
  }
  return dtype(port);
}

std::vector<int64_t> Call::shape(In port) {
  const Operand *found = operand(port);
  if (found == nullptr) return {};
  const aclTensorDesc &d = *found->desc;
  return d.origin_dims.empty() ? d.dims : d.origin_dims;
}

// The dimensions from an axis on.
std::vector<int64_t> Call::inner(In port, At axis) {
  std::vector<int64_t> dims = shape(port);
  const int64_t from = wrapped(integer(axis), dims.size());
  if (from < 0 || from >= static_cast<int64_t>(dims.size())) {
    refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "%s is no axis of %s", name_of(axis),
           row_.inputs[port.at].name);
    return {};
  }
  return {dims.begin() + from, dims.end()};
}

// Operator types and aclnn forms disagree about what no axis means.
std::vector<int64_t> Call::chosen_axes(std::vector<int64_t> values) {
  if (values.empty() && !deferred_)
    refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "no axes are given; name all of them");
  return values;
}

std::vector<int64_t> Call::ends_of(const std::vector<int64_t> &shape,
                                   const std::vector<int64_t> &offsets,
                                   const std::vector<int64_t> &size) {
  if (deferred_ || failed()) return {};
  std::vector<int64_t> ends;
  bool fits = offsets.size() == shape.size() && size.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = offsets[i] >= 0 && offsets[i] <= shape[i] && size[i] >= -1 &&
           size[i] <= shape[i] - offsets[i];
    ends.push_back(size[i] == -1 ? shape[i] : offsets[i] + size[i]);
  }
  if (!fits) refuse(ACL_ERROR_OP_INPUT_NOT_MATCH, "offsets and sizes leave the input");
  return ends;
}

std::vector<int64_t> Call::every_axis(In port) {
  std::vector<int64_t> axes(shape(port).size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  return axes;
}

std::vector<int64_t> Call::steps(In port) { return std::vector<int64_t>(shape(port).size(), 1); }

// Pairs (before, after) of the first axis first, as aclnn wants them: of the last axis first.
std::vector<int64_t> Call::turned(const std::vector<int64_t> &pairs) {
  if (pairs.size() % 2 != 0)
    refuse(ACL_ERROR_OP_INPUT_NOT_MATCH, "%zu paddings are no pairs", pairs.size());
  std::vector<int64_t> found;
  for (size_t i = pairs.size() / 2; i-- > 0;) {
    found.push_back(pairs[2 * i]);
    found.push_back(pairs[2 * i + 1]);
  }
  return found;
}

// Height and width of four numbers for N, C, H and W.
std::vector<int64_t> Call::image(At attribute) {
  const std::vector<int64_t> all = values(attribute);
  if (all.size() != 4 || all[0] != 1 || all[1] != 1) {
    refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s has to be {1,1,height,width}",
           name_of(attribute));
    return {};
  }
  return {all[2], all[3]};
}

// Top, bottom, left and right; an aclnn convolution has one number for both sides.
std::vector<int64_t> Call::margins(At attribute) {
  const std::vector<int64_t> all = values(attribute);
  if (all.size() != 4 || all[0] != all[1] || all[2] != all[3]) {
    refuse(ACL_ERROR_OP_ATTR_NOT_MATCH,
           "attribute %s has to be {top,bottom,left,right} with equal sides", name_of(attribute));
    return {};
  }
  return {all[0], all[2]};
}

std::vector<int64_t> Call::even_parts(const std::vector<int64_t> &shape, int64_t axis,
                                      int64_t parts) {
  if (deferred_ || failed()) return {};
  const int64_t at = wrapped(axis, shape.size());
  if (at < 0 || at >= static_cast<int64_t>(shape.size()) || parts <= 0 ||
      shape[static_cast<size_t>(at)] % parts != 0) {
    refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "axis %lld cannot be split into %lld equal parts",
           static_cast<long long>(axis), static_cast<long long>(parts));
    return {};
  }
  return std::vector<int64_t>(static_cast<size_t>(parts), shape[static_cast<size_t>(at)] / parts);
}

int64_t Call::columns(At rows, At columns) {
  const int64_t given = integer(columns);
  return given != 0 ? given : integer(rows);
}

}  // namespace emu::aclop
