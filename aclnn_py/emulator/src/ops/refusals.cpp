// SPDX-License-Identifier: Apache-2.0
// Refusals of phase one as data. What a check does not name is read from its message, which follows
// one form (ops/check.h): parameter, what was given, "; ", what is allowed.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string>

#include "aclnn_py/refusal.h"
#include "core/chip.h"
#include "core/export.h"
#include "core/refusal.h"
#include "meta/parameters.h"
#include "ops/facts.h"

namespace emu {
namespace {

struct Shown {
  std::string kind, parameter, given, expected, text;
};

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

bool starts(const std::string &text, size_t at, const char *head) {
  return text.compare(at, std::strlen(head), head) == 0;
}

// Where a word stands in a text; npos when it is not there.
size_t find_word(const std::string &text, const std::string &word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return at;
  }
  return std::string::npos;
}

// A parameter in a text: where, its name there ("bias[1]"), and that of the prototype
// ("biasOptional[1]").
struct Mention {
  size_t at = std::string::npos;
  std::string here, parameter;
};

// The parameter that a text names first; messages may leave out Optional and Ref.
Mention first_parameter(const OperatorFacts &facts, const std::string &text) {
  Mention found;
  for (int i = 0; i < facts.count; ++i) {
    const std::string name = facts.name(i);
    for (const char *tail : {"", "Optional", "Ref"}) {
      const size_t length = name.size() - std::min(name.size(), std::strlen(tail));
      if (length == 0 || name.compare(length, std::string::npos, tail) != 0) continue;
      const size_t at = find_word(text, name.substr(0, length));
      if (at < found.at) found = {at, name.substr(0, length), name};
    }
  }
  if (found.parameter.empty() && starts(text, 0, "the communicator ")) {
    for (int i = 0; i < facts.count && found.parameter.empty(); ++i)
      if (starts(facts.name(i), 0, "group")) found.parameter = facts.name(i);
    return found;
  }
  const size_t from = found.at == std::string::npos ? text.size() : found.at + found.here.size();
  const size_t end = from < text.size() && text[from] == '[' ? text.find(']', from) : text.npos;
  if (end != text.npos) {
    const std::string index = text.substr(from, end + 1 - from);
    found.here += index;
    found.parameter += index;
  }
  return found;
}

// The kind of rule by what the text says of the parameter.
const char *kind_of(const char *op, const std::string &parameter, const std::string &said) {
  const auto any = [&](std::initializer_list<const char *> heads) {
    for (const char *head : heads) {
      if (starts(said, 0, head)) return true;
    }
    return false;
  };
  if (parameter.empty())
    return said.find(soc_name()) != std::string::npos ||
                   any({"the operator ", "this chip ", "no kernel for this chip"})
               ? "chip"
               : "value";
  if (any({"is null", "is absent", "is given", "must be null", "must be given"})) return "null";
  if (any({"has dtype", "has the dtype", "is of dtype"})) return "dtype";
  if (any({"has format", "has the format", "is in the format", "is in format",
           "is in the private"}))
    return "format";
  if (starts(said, 0, "has ") && said.substr(0, said.find(';')).find("dimension") <= 8)
    return "rank";
  const std::string name = parameter.substr(0, parameter.find('['));
  const TensorParameters tensors = find_tensor_parameters(op);
  for (int32_t i = 0; i < tensors.count; ++i) {
    const TensorParameter &known = tensors.first[i];
    if (name != known.name) continue;
    return known.list && name == parameter ? "list" : "shape";
  }
  return "value";
}

// Takes away the first of the heads that a text has; false when it has none.
bool strip(std::string *text, std::initializer_list<const char *> heads) {
  for (const char *head : heads) {
    if (!starts(*text, 0, head)) continue;
    text->erase(0, std::strlen(head));
    return true;
  }
  return false;
}

Shown show(const char *op, const Refusal &refusal) {
  Shown shown;
  shown.text = refusal.text;
  const size_t colon = shown.text.find(": ");
  if (starts(shown.text, 0, "acl") && colon != std::string::npos) shown.text.erase(0, colon + 2);
  strip(&shown.text, {"CheckShape failed: "});
  std::string said = shown.text;
  // A check gives the name that stands in its message, which may lack the end of that in the
  // prototype.
  const OperatorFacts facts = find_facts(op);
  Mention named = first_parameter(facts, refusal.parameter.empty() ? said : refusal.parameter);
  if (!refusal.parameter.empty()) {
    named.here = refusal.parameter;
    named.at = find_word(said, refusal.parameter);
    if (named.parameter.empty()) named.parameter = refusal.parameter;
  }
  const bool leads = !named.here.empty() && named.at == 0;
  if (leads) said.erase(0, named.here.size() + 1);
  shown.parameter = named.parameter;
  shown.kind = refusal.kind != nullptr ? refusal.kind : kind_of(op, named.parameter, said);
  const size_t semicolon = said.find("; ");
  if (!leads || semicolon == std::string::npos) return shown;
  shown.given = said.substr(0, semicolon);
  shown.expected = said.substr(semicolon + 2);
  strip(&shown.given, {"has dtype ", "has format ", "has the format ", "has shape ",
                       "is in the private format ", "is ", "has "});
  if (!strip(&shown.expected, {"allowed: ", "expected ", "it must have ", "it must be "}) &&
      !starts(shown.expected, 0, "only ") && !starts(shown.expected, 0, "it must "))
    shown.expected.clear();
  return shown;
}

}  // namespace
}  // namespace emu

EMU_EXPORT int32_t aclnn_py_emulator_refusal(const char *operator_name,
                                             aclnn_py_refusal *refusal) try {
  const emu::Refusal taken = emu::take_refusal();
  if (operator_name == nullptr || refusal == nullptr || taken.status == 0) return 0;
  thread_local emu::Shown shown;
  shown = emu::show(operator_name, taken);
  const char *stage = taken.status / 1000 == 561 ? "tiling" : "host";
  *refusal = {taken.status,        shown.kind.c_str(),     shown.parameter.c_str(), stage,
              shown.given.c_str(), shown.expected.c_str(), shown.text.c_str()};
  return 1;
} catch (const std::exception &) {
  return 0;
}
