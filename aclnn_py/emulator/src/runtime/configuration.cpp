// SPDX-License-Identifier: Apache-2.0
#include "runtime/configuration.h"

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cstring>

#include "acl/acl_base.h"

namespace emu {
namespace {

constexpr int kMaxNesting = 10;

// strtod would ask for the decimal point of the program's locale.
bool is_number(const std::string &word) {
  const char *at = word.c_str();
  const auto digits = [&at] {
    const char *const first = at;
    while (*at >= '0' && *at <= '9') ++at;
    return at > first;
  };
  if (*at == '-') ++at;
  if (!digits()) return false;
  if (*at == '.' && (++at, !digits())) return false;
  if (*at == 'e' || *at == 'E') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    if (!digits()) return false;
  }
  return *at == '\0';
}

class Parser {
 public:
  Parser(const std::string &text, Configuration *out)
      : at_(text.c_str()), end_(at_ + text.size()), out_(out) {}

  bool run() {
    value("");
    space();
    return ok_ && at_ == end_;
  }

 private:
  void space() {
    while (at_ < end_ && std::isspace(static_cast<unsigned char>(*at_))) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ < end_ && *at_ == c) {
      ++at_;
      return true;
    }
    return false;
  }
  void need(char c) {
    if (!take(c)) ok_ = false;
  }

  std::string string() {
    std::string text;
    need('"');
    while (ok_ && at_ < end_ && *at_ != '"') {
      if (static_cast<unsigned char>(*at_) < 0x20) ok_ = false;
      if (*at_ == '\\' && ++at_ == end_) break;
      text += *at_++;
    }
    need('"');
    return text;
  }

  void literal(const std::string &key) {
    const char *start = at_;
    while (at_ < end_ &&
           (std::isalnum(static_cast<unsigned char>(*at_)) || std::strchr("+-.", *at_) != nullptr))
      ++at_;
    const std::string word(start, at_);
    const bool named = word == "true" || word == "false" || word == "null";
    if (!named && !is_number(word)) ok_ = false;
    (*out_)[key] = word;
  }

  void value(const std::string &key) {
    space();
    if (!ok_ || at_ == end_) {
      ok_ = false;
    } else if (*at_ == '{') {
      object(key);
    } else if (*at_ == '[') {
      array(key);
    } else if (*at_ == '"') {
      (*out_)[key] = string();
    } else {
      literal(key);
    }
  }

  void object(const std::string &key) {
    ok_ = ok_ && ++objects_ <= kMaxNesting;
    need('{');
    if (!take('}')) {
      do {
        space();
        const std::string name = string();
        need(':');
        value(key.empty() ? name : key + "." + name);
      } while (ok_ && take(','));
      need('}');
    }
    --objects_;
  }

  void array(const std::string &key) {
    ok_ = ok_ && ++arrays_ <= kMaxNesting;
    need('[');
    if (!take(']')) {
      size_t index = 0;
      do {
        value(key + "." + std::to_string(index++));
      } while (ok_ && take(','));
      need(']');
    }
    --arrays_;
  }

  const char *at_, *end_;
  Configuration *out_;
  int objects_ = 0, arrays_ = 0;
  bool ok_ = true;
};

// A stream of the standard library cannot tell a file that is not there from memory that is not.
bool read_file(const char *path, std::string *text) {
  struct File {
    const int descriptor;
    ~File() {
      if (descriptor >= 0) close(descriptor);
    }
  } const file{open(path, O_RDONLY | O_CLOEXEC)};
  if (file.descriptor < 0) return false;
  char part[4096];
  ssize_t size;
  while ((size = read(file.descriptor, part, sizeof part)) > 0)
    text->append(part, static_cast<size_t>(size));
  return size == 0;
}

}  // namespace

Status read_configuration(const char *path, const char *routine, Configuration *configuration,
                          std::string *whole) {
  std::string text;
  if (!read_file(path, &text)) {
    return fail(ACL_ERROR_INVALID_FILE, "%s: the configuration file %s cannot be read.", routine,
                path);
  }
  if (!Parser(text, configuration).run()) {
    return fail(ACL_ERROR_PARSE_FILE, "%s: %s is not JSON of at most %d levels.", routine, path,
                kMaxNesting);
  }
  if (whole != nullptr) *whole = text;
  return 0;
}

}  // namespace emu
