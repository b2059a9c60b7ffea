// SPDX-License-Identifier: Apache-2.0
#include "aclop/attributes.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/export.h"
#include "core/process.h"
#include "core/slots.h"
#include "faults/objects.h"

namespace emu::aclop {
namespace {

Slots<aclopAttr> &attributes() {
  static auto *const all = new Slots<aclopAttr>(1 << 18);
  return *all;
}

Status check(const char *routine, const aclopAttr *attr, const char *name) {
  if (const Status s = check_process(routine)) return s;
  if (!attributes().live(attr))
    return fail(ACL_ERROR_INVALID_PARAM, "%s: attr is null or destroyed.", routine);
  if (name == nullptr || *name == '\0')
    return fail(ACL_ERROR_INVALID_PARAM, "%s: attrName is null or empty.", routine);
  return 0;
}

Status check_list(const char *routine, const aclopAttr *attr, const char *name, int count,
                  const void *values) {
  if (const Status s = check(routine, attr, name)) return s;
  if (count < 0 || (count > 0 && values == nullptr))
    return fail(ACL_ERROR_INVALID_PARAM, "%s: attribute \"%s\" has %d values at %p.", routine, name,
                count, values);
  return 0;
}

Status keep(aclopAttr *attr, const char *name, Value value) {
  attr->values[name] = std::move(value);
  return 0;
}

Status keep_integers(aclopAttr *attr, const char *name, Kind kind, std::vector<int64_t> values) {
  Value value;
  value.kind = kind;
  value.integers = std::move(values);
  return keep(attr, name, std::move(value));
}

std::string number(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return text;
}

std::string joined(const std::vector<std::string> &parts, bool list) {
  std::string text;
  for (const std::string &part : parts) text += (text.empty() ? "" : ",") + part;
  return list ? "{" + text + "}" : text;
}

// The words between commas; braces around them are left out.
std::vector<std::string> words(const char *text) {
  std::vector<std::string> found;
  std::string word;
  for (; *text != '\0'; ++text) {
    if (*text == '{') continue;
    if (*text == ',' || *text == '}') {
      if (!word.empty()) found.push_back(std::exchange(word, ""));
      continue;
    }
    word += *text;
  }
  if (!word.empty()) found.push_back(word);
  return found;
}

}  // namespace

bool live(const aclopAttr *attr) { return attributes().live(attr); }

const char *kind_name(Kind kind) {
  static constexpr const char *names[] = {"bool",
                                          "int",
                                          "float",
                                          "string",
                                          "data type",
                                          "list of bools",
                                          "list of ints",
                                          "list of floats",
                                          "list of strings",
                                          "list of data types",
                                          "list of lists of ints"};
  return names[static_cast<int>(kind)];
}

bool operator==(const Value &a, const Value &b) {
  return a.kind == b.kind && a.integers == b.integers && a.floats == b.floats &&
         a.texts == b.texts && a.lists == b.lists;
}

std::string text_of(const Value &value) {
  std::vector<std::string> parts;
  const bool truths = value.kind == Kind::kBool || value.kind == Kind::kBools;
  for (const int64_t i : value.integers)
    parts.push_back(truths ? (i != 0 ? "true" : "false") : std::to_string(i));
  for (const float f : value.floats) parts.push_back(number(f));
  for (const std::string &t : value.texts) parts.push_back('"' + t + '"');
  for (const auto &list : value.lists) {
    std::vector<std::string> inner;
    for (const int64_t i : list) inner.push_back(std::to_string(i));
    parts.push_back(joined(inner, true));
  }
  return joined(parts, value.kind >= Kind::kBools);
}

Value value_of(Kind kind, const char *text) {
  Value value;
  value.kind = kind;
  for (const std::string &word : words(text)) {
    switch (kind) {
      case Kind::kFloat:
      case Kind::kFloats: value.floats.push_back(std::strtof(word.c_str(), nullptr)); break;
      case Kind::kString:
      case Kind::kStrings: value.texts.push_back(word); break;
      case Kind::kBool:
      case Kind::kBools: value.integers.push_back(word == "true"); break;
      default: value.integers.push_back(std::strtoll(word.c_str(), nullptr, 10)); break;
    }
  }
  return value;
}

}  // namespace emu::aclop

using emu::Status;
using emu::aclop::Kind;
using emu::aclop::Value;

EMU_EXPORT aclopAttr *aclopCreateAttr(void) try {
  if (emu::check_process(__func__)) return nullptr;
  aclopAttr *made = emu::aclop::attributes().create();
  if (made == nullptr)
    emu::fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclopCreateAttr: too many live attribute sets.");
  emu::faults::made("aclopAttr", made);
  return made;
}
EMU_CATCH

EMU_EXPORT void aclopDestroyAttr(const aclopAttr *attr) try {
  if (emu::check_process(__func__) != 0 || !emu::aclop::attributes().retire(attr)) return;
  emu::faults::ended(attr);
  emu::aclop::attributes().destroy(const_cast<aclopAttr *>(attr));
}
EMU_CATCH_VOID

EMU_EXPORT aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName, uint8_t attrValue) try {
  if (const Status s = emu::aclop::check(__func__, attr, attrName)) return s;
  return emu::aclop::keep_integers(attr, attrName, Kind::kBool, {attrValue != 0});
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName, int64_t attrValue) try {
  if (const Status s = emu::aclop::check(__func__, attr, attrName)) return s;
  return emu::aclop::keep_integers(attr, attrName, Kind::kInt, {attrValue});
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName,
                                         aclDataType attrValue) try {
  if (const Status s = emu::aclop::check(__func__, attr, attrName)) return s;
  return emu::aclop::keep_integers(attr, attrName, Kind::kType, {attrValue});
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName, float attrValue) try {
  if (const Status s = emu::aclop::check(__func__, attr, attrName)) return s;
  Value value;
  value.kind = Kind::kFloat;
  value.floats = {attrValue};
  return emu::aclop::keep(attr, attrName, std::move(value));
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrString(aclopAttr *attr, const char *attrName,
                                       const char *attrValue) try {
  if (const Status s = emu::aclop::check(__func__, attr, attrName)) return s;
  if (attrValue == nullptr) {
    return emu::fail(ACL_ERROR_INVALID_PARAM, "aclopSetAttrString: the text of \"%s\" is null.",
                     attrName);
  }
  Value value;
  value.kind = Kind::kString;
  value.texts = {attrValue};
  return emu::aclop::keep(attr, attrName, std::move(value));
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName, int numValues,
                                         const uint8_t *values) try {
  if (const Status s = emu::aclop::check_list(__func__, attr, attrName, numValues, values))
    return s;
  std::vector<int64_t> truths;
  for (int i = 0; i < numValues; ++i) truths.push_back(values[i] != 0);
  return emu::aclop::keep_integers(attr, attrName, Kind::kBools, std::move(truths));
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName, int numValues,
                                        const int64_t *values) try {
  if (const Status s = emu::aclop::check_list(__func__, attr, attrName, numValues, values))
    return s;
  return emu::aclop::keep_integers(attr, attrName, Kind::kInts, {values, values + numValues});
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrListDataType(aclopAttr *attr, const char *attrName, int numValues,
                                             const aclDataType values[]) try {
  if (const Status s = emu::aclop::check_list(__func__, attr, attrName, numValues, values))
    return s;
  return emu::aclop::keep_integers(attr, attrName, Kind::kTypes, {values, values + numValues});
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName, int numValues,
                                          const float *values) try {
  if (const Status s = emu::aclop::check_list(__func__, attr, attrName, numValues, values))
    return s;
  Value value;
  value.kind = Kind::kFloats;
  value.floats.assign(values, values + numValues);
  return emu::aclop::keep(attr, attrName, std::move(value));
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrListString(aclopAttr *attr, const char *attrName, int numValues,
                                           const char **values) try {
  if (const Status s = emu::aclop::check_list(__func__, attr, attrName, numValues, values))
    return s;
  Value value;
  value.kind = Kind::kStrings;
  for (int i = 0; i < numValues; ++i) {
    if (values[i] == nullptr) {
      return emu::fail(ACL_ERROR_INVALID_PARAM,
                       "aclopSetAttrListString: text %d of \"%s\" is null.", i, attrName);
    }
    value.texts.emplace_back(values[i]);
  }
  return emu::aclop::keep(attr, attrName, std::move(value));
}
EMU_CATCH

EMU_EXPORT aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName, int numLists,
                                            const int *numValues,
                                            const int64_t *const values[]) try {
  if (const Status s = emu::aclop::check_list(__func__, attr, attrName, numLists, values)) return s;
  if (const Status s = emu::aclop::check_list(__func__, attr, attrName, numLists, numValues))
    return s;
  Value value;
  value.kind = Kind::kLists;
  for (int i = 0; i < numLists; ++i) {
    if (const Status s =
            emu::aclop::check_list(__func__, attr, attrName, numValues[i], values[i])) {
      return s;
    }
    value.lists.emplace_back(values[i], values[i] + numValues[i]);
  }
  return emu::aclop::keep(attr, attrName, std::move(value));
}
EMU_CATCH
