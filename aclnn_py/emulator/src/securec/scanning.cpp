// SPDX-License-Identifier: Apache-2.0
// libc_sec: reading formatted text (C11 K.3.5.3). The array of each c, s and [ has its size behind
// it; what does not fit is a matching failure. One directive is read at a time, because the C
// library's scanf writes an array before anybody can know that it is too short.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "core/export.h"
#include "securec/limits.h"

namespace emu::securec {
namespace {

struct Directive {
  std::string text;  // with the %, or literal text
  bool assigns = false;
  char letter = 0;      // what is converted; 0 for literal text
  size_t width = 0;     // 0 when none is given
  size_t width_at = 0;  // where in the text the width stands or would stand
  size_t width_digits = 0;
  bool wide = false;  // l before c, s, [
};

// Cuts the next directive off the format; false for one that is malformed.
bool cut(const char **format, Directive *out) {
  const char *at = *format;
  const char *const begin = at;
  if (*at != '%') {
    while (*at != '\0' && *at != '%') ++at;
    out->text.assign(begin, at);
    *format = at;
    return true;
  }
  ++at;
  bool kept = true;
  if (*at == '*') kept = false, ++at;
  out->width_at = static_cast<size_t>(at - begin);
  for (; *at >= '0' && *at <= '9'; ++at) {
    out->width = out->width * 10 + static_cast<size_t>(*at - '0');
    ++out->width_digits;
    if (out->width > SECUREC_STRING_MAX_LEN) return false;
  }
  while (*at != '\0' && std::strchr("hljztLq", *at) != nullptr) out->wide |= *at++ == 'l';
  out->letter = *at;
  if (*at == '\0' || *at == 'n') return false;  // Annex K forbids %n
  ++at;
  if (out->letter == '[') {
    if (*at == '^') ++at;
    if (*at == ']') ++at;
    while (*at != '\0' && *at != ']') ++at;
    if (*at++ == '\0') return false;
  }
  out->assigns = kept && out->letter != '%';
  out->text.assign(begin, at);
  *format = at;
  return true;
}

bool is_array(char letter) { return letter == 'c' || letter == 's' || letter == '['; }

enum class Outcome { matched, failed, ended };

Outcome outcome(int items, int wanted) {
  if (items == EOF) return Outcome::ended;
  return items == wanted ? Outcome::matched : Outcome::failed;
}

// An array: into a buffer that holds one character more than the caller's, and from there.
Outcome read_array(std::FILE *stream, const Directive &directive, char *dest, size_t size) {
  if (dest == nullptr || !usable_size<char>(size) || directive.wide) {
    if (dest != nullptr && size != 0) dest[0] = '\0';
    return Outcome::failed;
  }
  const bool text = directive.letter != 'c';
  const size_t asked = directive.width != 0 ? directive.width : text ? size : 1;
  if (!text && asked > size) return dest[0] = '\0', Outcome::failed;
  const size_t width = text ? std::min(asked, size) : asked;
  const std::unique_ptr<char[]> buffer(new char[width + 1]());
  std::string format = directive.text;
  format.replace(directive.width_at, directive.width_digits, std::to_string(width));
  const Outcome read = outcome(std::fscanf(stream, format.c_str(), buffer.get()), 1);
  if (read != Outcome::matched) return read;
  if (text && std::strlen(buffer.get()) >= size) return dest[0] = '\0', Outcome::failed;
  std::memcpy(dest, buffer.get(), text ? std::strlen(buffer.get()) + 1 : width);
  return Outcome::matched;
}

// Literal text and %%: the C library reads it, and a count tells whether all of it was there.
Outcome read_text(std::FILE *stream, const Directive &directive) {
  int seen = -1;
  const std::string format = directive.text + "%n";
  const int items = std::fscanf(stream, format.c_str(), &seen);
  if (seen >= 0) return Outcome::matched;
  return items == EOF ? Outcome::ended : Outcome::failed;
}

int scan(std::FILE *stream, const char *format, va_list arguments) {
  int assigned = 0;
  bool any = false;  // whether a directive was tried: before that the end of input is EOF
  while (*format != '\0') {
    Directive directive;
    if (!cut(&format, &directive)) return assigned != 0 ? assigned : EOF;
    Outcome read;
    if (!directive.assigns) {
      read = read_text(stream, directive);
    } else if (is_array(directive.letter)) {
      char *const dest = va_arg(arguments, char *);
      read = read_array(stream, directive, dest, va_arg(arguments, size_t));
    } else {
      void *const dest = va_arg(arguments, void *);
      if (dest == nullptr) return assigned != 0 ? assigned : EOF;
      read = outcome(std::fscanf(stream, directive.text.c_str(), dest), 1);
    }
    if (read == Outcome::ended) return any ? assigned : EOF;
    if (read == Outcome::failed) return assigned;
    any = any || directive.letter != 0;
    assigned += directive.assigns ? 1 : 0;
  }
  return assigned;
}

}  // namespace
}  // namespace emu::securec

EMU_EXPORT int vfscanf_s(FILE *stream, const char *format, va_list argList) try {
  if (stream == nullptr || format == nullptr) return EOF;
  return emu::securec::scan(stream, format, argList);
} catch (const std::exception &) {
  return EOF;  // no memory; these functions have no message
}

EMU_EXPORT int fscanf_s(FILE *stream, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int items = vfscanf_s(stream, format, arguments);
  va_end(arguments);
  return items;
}

EMU_EXPORT int vscanf_s(const char *format, va_list argList) {
  return vfscanf_s(stdin, format, argList);
}

EMU_EXPORT int scanf_s(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int items = vfscanf_s(stdin, format, arguments);
  va_end(arguments);
  return items;
}

EMU_EXPORT int vsscanf_s(const char *buffer, const char *format, va_list argList) {
  if (buffer == nullptr || format == nullptr) return EOF;
  // The stream only reads.
  std::FILE *const stream = fmemopen(const_cast<char *>(buffer), std::strlen(buffer), "r");
  if (stream == nullptr) return EOF;
  const int items = vfscanf_s(stream, format, argList);
  std::fclose(stream);
  return items;
}

EMU_EXPORT int sscanf_s(const char *buffer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int items = vsscanf_s(buffer, format, arguments);
  va_end(arguments);
  return items;
}
