// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "hccl/json.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <unordered_set>

namespace emu::hccl {
namespace {

constexpr int kMaxDepth = 32;
// A value takes about a hundred bytes here and as few as two in the text; a table of 1,024 ranks
// has 10,000.
constexpr size_t kMaxValues = 250'000;

class Reader {
 public:
  explicit Reader(const std::string &text) : text_(text) {}

  bool document(Json *value) {
    space();
    if (!read(value, 0)) return false;
    space();
    return at_ == text_.size() || wrong("text after the end of the document");
  }

  std::string where() const {
    const size_t line = 1 + static_cast<size_t>(std::count(
                                text_.begin(), text_.begin() + static_cast<long>(at_), '\n'));
    const size_t start = at_ == 0 ? std::string::npos : text_.rfind('\n', at_ - 1);
    const size_t column = start == std::string::npos ? at_ + 1 : at_ - start;
    return "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + reason_;
  }

 private:
  bool wrong(const char *reason) {
    reason_ = reason;
    return false;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void space() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\n') ++at_;
  }

  bool word(const char *expected) {
    const size_t length = std::strlen(expected);
    if (text_.compare(at_, length, expected) != 0) return wrong("a value was expected");
    at_ += length;
    return true;
  }

  bool read(Json *value, int depth) {
    if (depth > kMaxDepth) return wrong("nested too deeply");
    if (++values_ > kMaxValues) return wrong("more than 250000 values");
    switch (peek()) {
      case '{': return object(value, depth);
      case '[': return array(value, depth);
      case '"': value->kind = Json::Kind::string; return string(&value->text);
      case 't':
      case 'f':
        value->kind = Json::Kind::boolean;
        value->truth = peek() == 't';
        return word(value->truth ? "true" : "false");
      case 'n': return word("null");
      default: return number(value);
    }
  }

  bool object(Json *value, int depth) {
    value->kind = Json::Kind::object;
    ++at_;
    space();
    if (peek() == '}') return ++at_, true;
    std::unordered_set<std::string> names;
    for (;;) {
      space();
      std::string name;
      if (peek() != '"') return wrong("a member name in double quotes was expected");
      if (!string(&name)) return false;
      if (!names.insert(name).second) return wrong("a member name appears twice");
      space();
      if (peek() != ':') return wrong("':' was expected");
      ++at_;
      space();
      value->members.emplace_back(std::move(name), Json{});
      if (!read(&value->members.back().second, depth + 1)) return false;
      space();
      if (peek() == '}') return ++at_, true;
      if (peek() != ',') return wrong("',' or '}' was expected");
      ++at_;
    }
  }

  bool array(Json *value, int depth) {
    value->kind = Json::Kind::array;
    ++at_;
    space();
    if (peek() == ']') return ++at_, true;
    for (;;) {
      space();
      value->items.emplace_back();
      if (!read(&value->items.back(), depth + 1)) return false;
      space();
      if (peek() == ']') return ++at_, true;
      if (peek() != ',') return wrong("',' or ']' was expected");
      ++at_;
    }
  }

  bool digits() {
    const size_t start = at_;
    while (std::isdigit(static_cast<unsigned char>(peek()))) ++at_;
    return at_ > start || wrong("a value was expected");
  }

  bool number(Json *value) {
    const size_t start = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') ++at_;
    else if (!digits()) return false;
    if (peek() == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digits()) return false;
    }
    value->kind = Json::Kind::number;
    value->text = text_.substr(start, at_ - start);
    return true;
  }

  bool hex(uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      if (!std::isxdigit(static_cast<unsigned char>(c)))
        return wrong("four hexadecimal digits were expected");
      *unit = *unit * 16 + static_cast<uint32_t>(std::isdigit(static_cast<unsigned char>(c))
                                                     ? c - '0'
                                                     : (c | 32) - 'a' + 10);
    }
    return true;
  }

  static void append_utf8(uint32_t code, std::string *out) {
    if (code < 0x80) {
      *out += static_cast<char>(code);
      return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *out += static_cast<char>(lead[more] | code >> (6 * more));
    for (int i = more - 1; i >= 0; --i) *out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
  }

  bool escape(std::string *out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char c = peek();
    if (c != 'u') {
      const char *found = c ? std::strchr(from, c) : nullptr;
      if (!found) return wrong("unknown escape sequence");
      *out += to[found - from];
      ++at_;
      return true;
    }
    ++at_;
    uint32_t code = 0, low = 0;
    if (!hex(&code)) return false;
    if (code >= 0xd800 && code < 0xe000) {
      if (code >= 0xdc00 || text_.compare(at_, 2, "\\u") != 0)
        return wrong("half of a surrogate pair");
      at_ += 2;
      if (!hex(&low)) return false;
      if (low < 0xdc00 || low > 0xdfff) return wrong("half of a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(code, out);
    return true;
  }

  bool string(std::string *out) {
    ++at_;
    for (;;) {
      if (at_ >= text_.size()) return wrong("a string has no end");
      const char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20) return wrong("a control character in a string");
      ++at_;
      if (c == '"') return true;
      if (c != '\\') *out += c;
      else if (!escape(out)) return false;
    }
  }

  const std::string &text_;
  size_t at_ = 0, values_ = 0;
  std::string reason_;
};

}  // namespace

const Json *Json::member(const std::string &name) const {
  for (const auto &[key, value] : members) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool parse_json(const std::string &text, Json *value, std::string *why) {
  Reader reader(text);
  if (reader.document(value)) return true;
  *why = reader.where();
  return false;
}

}  // namespace emu::hccl
