// SPDX-License-Identifier: Apache-2.0
// libc_sec: formatted text (C11 K.3.5.3, K.3.9.1).
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <cwchar>

#include "core/export.h"
#include "securec/limits.h"

namespace emu::securec {
namespace {

constexpr int kRefused = -1;
constexpr int kCut = -2;

// %n writes through an argument, which Annex K forbids.
template <class C>
bool writes_a_count(const C *format) {
  for (; *format != 0; ++format) {
    if (*format != '%') continue;
    ++format;
    // flags, width, precision and length, up to the letter that says what is written
    while (*format != 0 && std::strchr("-+ #0123456789*.'hlqjztL", static_cast<int>(*format)))
      ++format;
    if (*format == 'n') return true;
    if (*format == 0) return false;
  }
  return false;
}

template <class C>
bool usable(C *dest, size_t dest_max, const C *format) {
  if (dest == nullptr || !usable_size<C>(dest_max)) return false;
  dest[0] = 0;
  return format != nullptr && !writes_a_count(format);
}

// The number of characters, kCut with the destination full, or kRefused.
int print(char *dest, size_t room, const char *format, va_list arguments) {
  const int length = std::vsnprintf(dest, room, format, arguments);
  if (length < 0) return kRefused;
  return static_cast<size_t>(length) >= room ? kCut : length;
}

int refuse(char *dest) {
  dest[0] = '\0';
  return kRefused;
}

}  // namespace
}  // namespace emu::securec

using emu::securec::kCut;
using emu::securec::kRefused;

EMU_EXPORT int vsprintf_s(char *strDest, size_t destMax, const char *format, va_list argList) {
  if (!emu::securec::usable(strDest, destMax, format)) return kRefused;
  const int length = emu::securec::print(strDest, destMax, format, argList);
  return length < 0 ? emu::securec::refuse(strDest) : length;
}

EMU_EXPORT int sprintf_s(char *strDest, size_t destMax, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsprintf_s(strDest, destMax, format, arguments);
  va_end(arguments);
  return length;
}

EMU_EXPORT int vsnprintf_s(char *strDest, size_t destMax, size_t count, const char *format,
                           va_list argList) {
  if (!emu::securec::usable(strDest, destMax, format)) return kRefused;
  const bool any_length = count == SIZE_MAX;  // cut to what fits
  if (!any_length && count > SECUREC_STRING_MAX_LEN) return kRefused;
  const size_t room = count < destMax ? count + 1 : destMax;
  const int length = emu::securec::print(strDest, room, format, argList);
  if (length == kCut && (any_length || count < destMax)) return kRefused;  // the text stays
  return length < 0 ? emu::securec::refuse(strDest) : length;
}

EMU_EXPORT int snprintf_s(char *strDest, size_t destMax, size_t count, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf_s(strDest, destMax, count, format, arguments);
  va_end(arguments);
  return length;
}

EMU_EXPORT int vsnprintf_truncated_s(char *strDest, size_t destMax, const char *format,
                                     va_list argList) {
  if (!emu::securec::usable(strDest, destMax, format)) return kRefused;
  const int length = emu::securec::print(strDest, destMax, format, argList);
  if (length == kCut) return static_cast<int>(destMax) - 1;
  return length < 0 ? emu::securec::refuse(strDest) : length;
}

EMU_EXPORT int snprintf_truncated_s(char *strDest, size_t destMax, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf_truncated_s(strDest, destMax, format, arguments);
  va_end(arguments);
  return length;
}

EMU_EXPORT int vswprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format,
                           va_list argList) {
  if (!emu::securec::usable(strDest, destMax, format)) return kRefused;
  const int length = std::vswprintf(strDest, destMax, format, argList);
  if (length < 0) strDest[0] = 0;
  return length < 0 ? kRefused : length;
}

EMU_EXPORT int swprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vswprintf_s(strDest, destMax, format, arguments);
  va_end(arguments);
  return length;
}
