// SPDX-License-Identifier: Apache-2.0
// libc_sec: reading formatted text (C11 K.3.5.3, K.3.9.1). The array of each c, s and [ has its
// size behind it; what does not fit is a matching failure. One directive is read at a time, because
// the C library's scanf writes an array before anybody can know that it is too short.
#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <cwchar>
#include <memory>
#include <string>

#include "core/export.h"
#include "securec/limits.h"

namespace emu::securec {
namespace {

// --- what is read: a stream of bytes or of wide characters, or a wide string

struct Bytes {
  using Char = char;
  std::FILE *stream;
  int read(const std::string &format, void *dest) {
    return std::fscanf(stream, format.c_str(), dest);
  }
};

struct WideStream {
  using Char = wchar_t;
  std::FILE *stream;
  int read(const std::wstring &format, void *dest) {
    return std::fwscanf(stream, format.c_str(), dest);
  }
};

// There is no stream over a wide string, so each directive tells how far it came.
struct WideText {
  using Char = wchar_t;
  const wchar_t *at;
  int read(const std::wstring &format, void *dest) {
    int seen = -1;
    const int items = std::swscanf(at, (format + L"%n").c_str(), dest, &seen);
    if (seen > 0) at += seen;
    return items;
  }
};

// --- the format

template <class C>
struct Directive {
  std::basic_string<C> text;  // with the %, or literal text
  bool assigns = false;
  C letter = 0;         // what is converted; 0 for literal text
  size_t width = 0;     // 0 when none is given
  size_t width_at = 0;  // where in the text the width stands or would stand
  size_t width_digits = 0;
  bool wide = false;  // l before c, s, [
};

template <class C>
bool one_of(const char *letters, C c) {
  return c > 0 && c < 128 && std::strchr(letters, static_cast<char>(c)) != nullptr;
}

// Cuts the next directive off the format; false for one that is malformed.
template <class C>
bool cut(const C **format, Directive<C> *out) {
  const C *at = *format;
  const C *const begin = at;
  if (*at != '%') {
    while (*at != 0 && *at != '%') ++at;
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
  while (one_of("hljztLq", *at)) out->wide |= *at++ == 'l';
  out->letter = *at;
  // Annex K forbids %n, and an array that scanf allocates has no size.
  if (!one_of("diouxXaAeEfFgGpcs[CS%", *at)) return false;
  ++at;
  if (out->letter == '[') {
    if (*at == '^') ++at;
    if (*at == ']') ++at;
    while (*at != 0 && *at != ']') ++at;
    if (*at++ == 0) return false;
  }
  out->text.assign(begin, at);
  if (out->letter == 'C' || out->letter == 'S') {  // POSIX's other names of lc and ls
    out->wide = true;
    out->letter = out->letter == 'C' ? 'c' : 's';
    out->text.pop_back();
    if (out->text.back() != 'l') out->text += 'l';
    out->text += out->letter;
  }
  out->assigns = kept && out->letter != '%';
  *format = at;
  return true;
}

template <class C>
bool is_array(C letter) {
  return letter == 'c' || letter == 's' || letter == '[';
}

// --- reading

enum class Outcome { matched, failed, ended };

Outcome outcome(int items, int wanted) {
  if (items == EOF) return Outcome::ended;
  return items == wanted ? Outcome::matched : Outcome::failed;
}

template <class C>
std::basic_string<C> digits(size_t number) {
  const std::string text = std::to_string(number);
  return {text.begin(), text.end()};
}

// Reads an array into a buffer of D, of `asked` characters at most, and tells how many came.
template <class D, class Source, class C = typename Source::Char>
Outcome read_buffer(Source &source, const Directive<C> &directive, bool wide, size_t width,
                    std::unique_ptr<D[]> *buffer, size_t *length) {
  buffer->reset(new D[width + 1]());
  std::basic_string<C> format = directive.text;
  const size_t behind = directive.width_at + directive.width_digits;
  const auto letter = format.find(directive.letter, behind);
  format.erase(behind, letter - behind);
  if (wide) format.insert(behind, 1, 'l');
  format.replace(directive.width_at, directive.width_digits, digits<C>(width));
  const Outcome read = outcome(source.read(format, buffer->get()), 1);
  *length = width;
  if (read == Outcome::matched && directive.letter != 'c') {
    const D *const text = buffer->get();
    *length = static_cast<size_t>(std::find(text, text + width, D{0}) - text);
  }
  return read;
}

template <class D>
Outcome store(const D *from, size_t length, bool text, D *dest, size_t size) {
  if (length + (text ? 1 : 0) > size) return dest[0] = 0, Outcome::failed;
  std::copy_n(from, length, dest);
  if (text) dest[length] = 0;
  return Outcome::matched;
}

// Wide characters as the bytes that the locale has for them.
Outcome store_bytes(const wchar_t *from, size_t length, bool text, char *dest, size_t size) {
  std::string bytes;
  std::mbstate_t state{};
  char one[MB_LEN_MAX];
  for (size_t i = 0; i < length; ++i) {
    const size_t count = std::wcrtomb(one, from[i], &state);
    if (count == static_cast<size_t>(-1)) return dest[0] = 0, Outcome::failed;
    bytes.append(one, count);
  }
  return store(bytes.data(), bytes.size(), text, dest, size);
}

template <class D, class Source, class C = typename Source::Char>
Outcome read_array(Source &source, const Directive<C> &directive, D *dest, size_t size) {
  if (dest == nullptr || !usable_size<D>(size)) {
    if (dest != nullptr && size != 0) dest[0] = 0;
    return Outcome::failed;
  }
  const bool text = directive.letter != 'c';
  const size_t asked = directive.width != 0 ? directive.width : text ? size : 1;
  if (!text && asked > size) return dest[0] = 0, Outcome::failed;
  // One character more than fits shows that the text is too long.
  const size_t width = text ? std::min(asked, size) : asked;
  size_t length = 0;
  if constexpr (sizeof(C) == 1 || sizeof(D) != 1) {
    std::unique_ptr<D[]> buffer;
    const Outcome read = read_buffer<D>(source, directive, sizeof(D) != 1, width, &buffer, &length);
    if (read != Outcome::matched) return read;
    return store(buffer.get(), length, text, dest, size);
  } else {
    // How many bytes the C library would write for wide characters is not known beforehand.
    std::unique_ptr<wchar_t[]> buffer;
    const Outcome read = read_buffer<wchar_t>(source, directive, true, width, &buffer, &length);
    if (read != Outcome::matched) return read;
    return store_bytes(buffer.get(), length, text, dest, size);
  }
}

// Literal text and %%: the C library reads it, and a count tells whether all of it was there.
template <class Source, class C = typename Source::Char>
Outcome read_text(Source &source, const Directive<C> &directive) {
  int seen = -1;
  const C count[] = {'%', 'n', 0};
  const int items = source.read(directive.text + count, &seen);
  if (seen >= 0) return Outcome::matched;
  return items == EOF ? Outcome::ended : Outcome::failed;
}

template <class Source, class C = typename Source::Char>
int scan(Source source, const C *format, va_list arguments) {
  int assigned = 0;
  bool any = false;  // whether a directive was tried: before that the end of input is EOF
  while (*format != 0) {
    Directive<C> directive;
    if (!cut(&format, &directive)) return assigned != 0 ? assigned : EOF;
    Outcome read;
    if (!directive.assigns) {
      read = read_text(source, directive);
    } else if (is_array(directive.letter) && directive.wide) {
      auto *const dest = va_arg(arguments, wchar_t *);
      read = read_array(source, directive, dest, va_arg(arguments, size_t));
    } else if (is_array(directive.letter)) {
      auto *const dest = va_arg(arguments, char *);
      read = read_array(source, directive, dest, va_arg(arguments, size_t));
    } else {
      void *const dest = va_arg(arguments, void *);
      if (dest == nullptr) return assigned != 0 ? assigned : EOF;
      read = outcome(source.read(directive.text, dest), 1);
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

using emu::securec::Bytes;
using emu::securec::scan;
using emu::securec::WideStream;
using emu::securec::WideText;

EMU_EXPORT int vfscanf_s(FILE *stream, const char *format, va_list argList) try {
  if (stream == nullptr || format == nullptr) return EOF;
  return scan(Bytes{stream}, format, argList);
} catch (const std::exception &) {
  return EOF;  // no memory; these functions have no message
}

EMU_EXPORT int vscanf_s(const char *format, va_list argList) {
  return vfscanf_s(stdin, format, argList);
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

EMU_EXPORT int vfwscanf_s(FILE *stream, const wchar_t *format, va_list argList) try {
  if (stream == nullptr || format == nullptr) return EOF;
  return scan(WideStream{stream}, format, argList);
} catch (const std::exception &) {
  return EOF;
}

EMU_EXPORT int vwscanf_s(const wchar_t *format, va_list argList) {
  return vfwscanf_s(stdin, format, argList);
}

EMU_EXPORT int vswscanf_s(const wchar_t *buffer, const wchar_t *format, va_list argList) try {
  if (buffer == nullptr || format == nullptr) return EOF;
  return scan(WideText{buffer}, format, argList);
} catch (const std::exception &) {
  return EOF;
}

// The same with the arguments in the call.
#define EMU_SCAN(call)         \
  va_list arguments;           \
  va_start(arguments, format); \
  const int items = call;      \
  va_end(arguments);           \
  return items

EMU_EXPORT int fscanf_s(FILE *stream, const char *format, ...) {
  EMU_SCAN(vfscanf_s(stream, format, arguments));
}
EMU_EXPORT int scanf_s(const char *format, ...) { EMU_SCAN(vscanf_s(format, arguments)); }
EMU_EXPORT int sscanf_s(const char *buffer, const char *format, ...) {
  EMU_SCAN(vsscanf_s(buffer, format, arguments));
}
EMU_EXPORT int fwscanf_s(FILE *stream, const wchar_t *format, ...) {
  EMU_SCAN(vfwscanf_s(stream, format, arguments));
}
EMU_EXPORT int wscanf_s(const wchar_t *format, ...) { EMU_SCAN(vwscanf_s(format, arguments)); }
EMU_EXPORT int swscanf_s(const wchar_t *buffer, const wchar_t *format, ...) {
  EMU_SCAN(vswscanf_s(buffer, format, arguments));
}
