// SPDX-License-Identifier: Apache-2.0
// What a program gave, matched with the row of its operator type.
#include <cstdarg>
#include <cstdio>

#include "aclop/call.h"
#include "core/status.h"

namespace emu::aclop {
namespace {

constexpr size_t kMostDimensions = 8;

bool placeholder(const Operand &operand) { return operand.desc->dtype == ACL_DT_UNDEFINED; }

std::string names_of(const Span<Port> &ports) {
  std::string text;
  for (const Port &port : ports) {
    text += text.empty() ? "" : ", ";
    text += port.name;
    text += port.dynamic ? " (one or more)" : port.optional ? " (optional)" : "";
  }
  return text.empty() ? "none" : text;
}

std::string shape_of(const std::vector<int64_t> &dims) {
  std::string text = "[";
  for (const int64_t d : dims) text += (text.size() > 1 ? "," : "") + std::to_string(d);
  return text + "]";
}

aclFormat format_of(const aclTensorDesc &desc) {
  return desc.storage_format != ACL_FORMAT_UNDEFINED ? desc.storage_format : desc.format;
}

// Whether the program named the operand after a port that stands further on.
bool named_later(const std::string &name, const Span<Port> &ports, size_t port) {
  if (name.empty() || name == ports[port].name) return false;
  for (size_t p = port + 1; p < ports.size(); ++p) {
    if (name == ports[p].name) return true;
  }
  return false;
}

}  // namespace

void Call::refuse(Status code, const char *format, ...) {
  if (failed()) return;
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  status_ = fail(code, "%s: %s: %s. Given: %s.", routine_, row_.type, text, described().c_str());
}

std::string Call::described() const {
  std::string text;
  const auto side = [&](const std::vector<Operand> &operands) {
    for (size_t i = 0; i < operands.size(); ++i) {
      const aclTensorDesc &desc = *operands[i].desc;
      text += i > 0 ? ", " : "";
      text += placeholder(operands[i]) ? "nothing"
                                       : std::string(dtype_name(desc.dtype)) + shape_of(desc.dims) +
                                             " " + format_name(format_of(desc));
    }
  };
  side(inputs_);
  text += " -> ";
  side(outputs_);
  for (size_t i = 0; i < attributes_.size(); ++i)
    text += std::string("; ") + row_.attributes[i].name + "=" + text_of(attributes_[i]);
  return text;
}

std::string Call::key(bool any_shape) const {
  std::string text = row_.type;
  for (const auto *side : {&inputs_, &outputs_}) {
    text += '|';
    for (const Operand &operand : *side) {
      const aclTensorDesc &desc = *operand.desc;
      text += std::to_string(desc.dtype) + ':' + std::to_string(format_of(desc)) + ':';
      text += any_shape ? std::to_string(desc.dims.size())
                        : shape_of(desc.dims) + shape_of(desc.storage_dims);
    }
  }
  for (size_t i = 0; i < attributes_.size(); ++i) {
    if (!row_.attributes[i].any) text += '|' + text_of(attributes_[i]);
  }
  return text;
}

Status Call::bind(const std::vector<Operand> &inputs, const std::vector<Operand> &outputs,
                  const aclopAttr *attr, int device) {
  device_ = device;
  check_side("input", inputs);
  check_side("output", outputs);
  if (failed()) return status_;
  inputs_ = inputs;
  outputs_ = outputs;
  check_shapes("input", ACL_ERROR_OP_INPUT_NOT_MATCH, inputs_);
  check_shapes("output", ACL_ERROR_OP_OUTPUT_NOT_MATCH, outputs_);
  if (failed()) return status_;
  match("input", ACL_ERROR_OP_INPUT_NOT_MATCH, row_.inputs, inputs_, &in_);
  match("output", ACL_ERROR_OP_OUTPUT_NOT_MATCH, row_.outputs, outputs_, &out_);
  if (!failed()) take_attributes(attr);
  check_shared();
  return status_;
}

// Shapes that no tensor of aclnn can have.
void Call::check_shapes(const char *side, Status code, const std::vector<Operand> &given) {
  for (size_t i = 0; i < given.size() && !failed(); ++i) {
    const aclTensorDesc &desc = *given[i].desc;
    for (const auto *dims : {&desc.dims, &desc.storage_dims, &desc.origin_dims}) {
      if (dims->size() > kMostDimensions)
        refuse(code, "%s %zu has %zu dimensions", side, i, dims->size());
      for (const int64_t extent : *dims) {
        if (extent < 0) {
          refuse(ACL_ERROR_OP_UNSUPPORTED_DYNAMIC,
                 "a dimension of %s %zu is %lld; the emulator wants shapes", side, i,
                 static_cast<long long>(extent));
        }
      }
    }
  }
}

// Null and destroyed handles, before anything reads them.
void Call::check_side(const char *side, const std::vector<Operand> &given) {
  for (size_t i = 0; i < given.size() && !failed(); ++i) {
    if (!emu::live(given[i].desc)) {
      status_ = fail(ACL_ERROR_INVALID_PARAM, "%s: %s: %sDesc[%zu] is null or destroyed.", routine_,
                     row_.type, side, i);
    } else if (device_ >= 0 && !placeholder(given[i]) && !emu::live(given[i].buffer)) {
      status_ =
          fail(ACL_ERROR_INVALID_PARAM, "%s: %s: the data buffer of %s %zu is null or destroyed.",
               routine_, row_.type, side, i);
    }
  }
}

void Call::match(const char *side, Status code, const Span<Port> &ports,
                 const std::vector<Operand> &given, std::vector<Bound> *bound) {
  bound->assign(ports.size(), Bound{});
  for (const Port &port : ports) {
    if (port.dynamic) return match_lists(side, code, ports, given, bound);
  }
  size_t next = 0;
  for (size_t p = 0; p < ports.size() && !failed(); ++p) {
    const bool skipped = ports[p].optional &&
                         (next == given.size() || named_later(given[next].desc->name, ports, p));
    if (skipped) continue;
    if (next == given.size()) {
      refuse(code, "%s %s is missing; it takes %s", side, ports[p].name, names_of(ports).c_str());
      return;
    }
    const Operand &operand = given[next];
    if (placeholder(operand)) {
      if (!ports[p].optional) refuse(code, "%s %s has no data type", side, ports[p].name);
      ++next;
      continue;
    }
    if (ports[p].refused) {
      refuse(code, "the emulator's form of it takes no %s %s", side, ports[p].name);
      return;
    }
    (*bound)[p] = {next++, 1};
  }
  if (next < given.size() && !failed()) {
    refuse(code, "%zu %ss are given; it takes %s", given.size(), side, names_of(ports).c_str());
  }
}

// Lists share what the single ones leave, all of one length.
void Call::match_lists(const char *side, Status code, const Span<Port> &ports,
                       const std::vector<Operand> &given, std::vector<Bound> *bound) {
  size_t lists = 0;
  for (const Port &port : ports) lists += port.dynamic;
  const size_t single = ports.size() - lists;
  if (given.size() < single + lists || (given.size() - single) % lists != 0) {
    refuse(code, "%zu %ss are given; it takes %s", given.size(), side, names_of(ports).c_str());
    return;
  }
  size_t next = 0;
  for (size_t p = 0; p < ports.size(); ++p) {
    (*bound)[p] = {next, ports[p].dynamic ? (given.size() - single) / lists : 1};
    next += (*bound)[p].count;
  }
  for (const Operand &operand : given) {
    if (placeholder(operand)) refuse(code, "one %s has no data type", side);
  }
}

void Call::take_attributes(const aclopAttr *attr) {
  for (const AttributeRow &row : row_.attributes)
    attributes_.push_back(value_of(row.kind, row.fallback != nullptr ? row.fallback : ""));
  std::vector<bool> given(row_.attributes.size());
  if (attr != nullptr) {
    for (const auto &[name, value] : attr->values) {
      size_t i = 0;
      while (i < row_.attributes.size() && name != row_.attributes[i].name) ++i;
      if (i == row_.attributes.size()) {
        std::string known;
        for (const AttributeRow &row : row_.attributes)
          known += std::string(known.empty() ? "" : ", ") + row.name;
        return refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "it has no attribute %s; it has %s",
                      name.c_str(), known.empty() ? "none" : known.c_str());
      }
      const AttributeRow &row = row_.attributes[i];
      const bool type = row.kind == Kind::kType && value.kind == Kind::kInt;
      if (value.kind != row.kind && !type) {
        return refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s is a %s, and was set as a %s",
                      row.name, kind_name(row.kind), kind_name(value.kind));
      }
      attributes_[i] = value;
      attributes_[i].kind = row.kind;
      given[i] = true;
    }
  }
  for (size_t i = 0; i < row_.attributes.size() && !failed(); ++i) {
    const AttributeRow &row = row_.attributes[i];
    if (row.fallback == nullptr && !given[i])
      refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s is missing", row.name);
    else if (row.only != nullptr && !(attributes_[i] == value_of(row.kind, row.only)))
      refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "the emulator's form of it takes %s=%s only", row.name,
             text_of(value_of(row.kind, row.only)).c_str());
  }
}

// An output with the name of an input is that input, changed in place.
void Call::check_shared() {
  if (device_ < 0) return;
  for (size_t o = 0; o < row_.outputs.size() && !failed(); ++o) {
    for (size_t i = 0; i < row_.inputs.size(); ++i) {
      if (std::string(row_.inputs[i].name) != row_.outputs[o].name) continue;
      const Operand *in = operand(In{i}), *out = operand(Out{o});
      if (in != nullptr && out != nullptr && in->buffer->data != out->buffer->data) {
        refuse(ACL_ERROR_INVALID_PARAM,
               "output %s is input %s changed in place, and has other memory", row_.outputs[o].name,
               row_.inputs[i].name);
      }
    }
  }
}

const Operand *Call::operand(In port) const {
  return in_[port.at].count > 0 ? &inputs_[in_[port.at].first] : nullptr;
}

const Operand *Call::operand(Out port) const {
  return out_[port.at].count > 0 ? &outputs_[out_[port.at].first] : nullptr;
}

}  // namespace emu::aclop
