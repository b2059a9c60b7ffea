// SPDX-License-Identifier: Apache-2.0
// The attributes of an operator of the aclop interface, as the program set them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "acl/acl_op.h"

namespace emu::aclop {

enum class Kind : uint8_t {
  kBool,
  kInt,
  kFloat,
  kString,
  kType,
  kBools,
  kInts,
  kFloats,
  kStrings,
  kTypes,
  kLists,
};

const char *kind_name(Kind kind);

struct Value {
  Kind kind = Kind::kInt;
  std::vector<int64_t> integers;  // also booleans and types
  std::vector<float> floats;
  std::vector<std::string> texts;
  std::vector<std::vector<int64_t>> lists;
};

bool operator==(const Value &a, const Value &b);

// A value as a message shows it: 1, 0.5, "mean", {0,1}.
std::string text_of(const Value &value);

// The same text read again, as the table of operators has it.
Value value_of(Kind kind, const char *text);

}  // namespace emu::aclop

struct aclopAttr {
  std::map<std::string, emu::aclop::Value> values;
};

namespace emu::aclop {

bool live(const aclopAttr *attr);

}  // namespace emu::aclop
