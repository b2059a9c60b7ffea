// SPDX-License-Identifier: Apache-2.0
// A strict reader of JSON (RFC 8259): no comments, no trailing commas, no duplicate keys, a bounded
// depth and number of values.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace emu::hccl {

struct Json {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  bool truth = false;
  std::string text;  // a string's value; a number as it is written
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;

  // Null when this is no object or has no such member.
  const Json *member(const std::string &name) const;
};

// False with a reason ("line 3, column 7: ...") when the text is not JSON.
bool parse_json(const std::string &text, Json *value, std::string *why);

}  // namespace emu::hccl
