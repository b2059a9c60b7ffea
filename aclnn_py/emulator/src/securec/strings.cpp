// SPDX-License-Identifier: Apache-2.0
// libc_sec: strings, narrow and wide (C11 K.3.7.1 to K.3.7.3, K.3.9.2).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <cwchar>

#include "core/export.h"
#include "securec/limits.h"

namespace emu::securec {
namespace {

// The length of a string of which no more than `most` characters are looked at.
size_t length(const char *text, size_t most) { return strnlen(text, most); }
size_t length(const wchar_t *text, size_t most) { return wcsnlen(text, most); }

template <class C>
errno_t emptied(C *dest, errno_t status) {
  dest[0] = 0;
  return status;
}

template <class C>
errno_t check(C *dest, size_t dest_max, const C *src) {
  if (!usable_size<C>(dest_max)) return ERANGE;
  if (dest == nullptr) return EINVAL;
  return src == nullptr ? emptied(dest, EINVAL_AND_RESET) : EOK;
}

// The first `count` characters of the source, or all of it when it is shorter.
template <class C>
errno_t copy(C *dest, size_t dest_max, const C *src, size_t count) {
  if (const errno_t status = check(dest, dest_max, src)) return status;
  const size_t taken = length(src, std::min(count, dest_max));
  if (taken == dest_max) return emptied(dest, ERANGE_AND_RESET);
  // A source that is read up to its end has its end among what must not overlap.
  const size_t read = taken < count ? taken + 1 : taken;
  if (dest != src && taken != 0 && overlap(dest, taken + 1, src, read))
    return emptied(dest, EOVERLAP_AND_RESET);
  std::memmove(dest, src, taken * sizeof(C));
  dest[taken] = 0;
  return EOK;
}

template <class C>
errno_t append(C *dest, size_t dest_max, const C *src, size_t count) {
  if (const errno_t status = check(dest, dest_max, src)) return status;
  const size_t present = length(dest, dest_max);
  if (present == dest_max) return emptied(dest, EINVAL_AND_RESET);  // it has no end
  const size_t taken = length(src, std::min(count, dest_max - present));
  const size_t read = taken < count ? taken + 1 : taken;
  if (taken + present >= dest_max) return emptied(dest, ERANGE_AND_RESET);
  if (overlap(dest, present + taken + 1, src, read)) return emptied(dest, EOVERLAP_AND_RESET);
  std::memcpy(dest + present, src, taken * sizeof(C));
  dest[present + taken] = 0;
  return EOK;
}

template <class C>
bool usable_count(size_t count) {
  return count <= SECUREC_STRING_MAX_LEN / sizeof(C);
}

template <class C>
errno_t copy_part(C *dest, size_t dest_max, const C *src, size_t count) {
  if (const errno_t status = check(dest, dest_max, src)) return status;
  return usable_count<C>(count) ? copy(dest, dest_max, src, count)
                                : emptied(dest, ERANGE_AND_RESET);
}

template <class C>
errno_t append_part(C *dest, size_t dest_max, const C *src, size_t count) {
  if (const errno_t status = check(dest, dest_max, src)) return status;
  return usable_count<C>(count) ? append(dest, dest_max, src, count)
                                : emptied(dest, ERANGE_AND_RESET);
}

}  // namespace
}  // namespace emu::securec

EMU_EXPORT errno_t strcpy_s(char *strDest, size_t destMax, const char *strSrc) {
  return emu::securec::copy(strDest, destMax, strSrc, SIZE_MAX);
}

EMU_EXPORT errno_t strncpy_s(char *strDest, size_t destMax, const char *strSrc, size_t count) {
  return emu::securec::copy_part(strDest, destMax, strSrc, count);
}

EMU_EXPORT errno_t strcat_s(char *strDest, size_t destMax, const char *strSrc) {
  return emu::securec::append(strDest, destMax, strSrc, SIZE_MAX);
}

EMU_EXPORT errno_t strncat_s(char *strDest, size_t destMax, const char *strSrc, size_t count) {
  return emu::securec::append_part(strDest, destMax, strSrc, count);
}

EMU_EXPORT errno_t wcscpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc) {
  return emu::securec::copy(strDest, destMax, strSrc, SIZE_MAX);
}

EMU_EXPORT errno_t wcsncpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc,
                             size_t count) {
  return emu::securec::copy_part(strDest, destMax, strSrc, count);
}

EMU_EXPORT errno_t wcscat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc) {
  return emu::securec::append(strDest, destMax, strSrc, SIZE_MAX);
}

EMU_EXPORT errno_t wcsncat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc,
                             size_t count) {
  return emu::securec::append_part(strDest, destMax, strSrc, count);
}

EMU_EXPORT char *strtok_s(char *strToken, const char *strDelimit, char **context) {
  if (strDelimit == nullptr || context == nullptr) return nullptr;
  if (strToken == nullptr && *context == nullptr) return nullptr;
  return strtok_r(strToken, strDelimit, context);
}

EMU_EXPORT wchar_t *wcstok_s(wchar_t *strToken, const wchar_t *strDelimit, wchar_t **context) {
  if (strDelimit == nullptr || context == nullptr) return nullptr;
  if (strToken == nullptr && *context == nullptr) return nullptr;
  return std::wcstok(strToken, strDelimit, context);
}

// A line that does not fit is read to its end and lost, as the standard has it (K.3.5.4.1).
EMU_EXPORT char *gets_s(char *buffer, size_t destMax) {
  if (buffer == nullptr || !emu::securec::usable_size<char>(destMax)) return nullptr;
  size_t count = 0;
  bool fits = true;
  int next = std::getchar();
  const bool at_end = next == EOF;
  for (; next != EOF && next != '\n'; next = std::getchar()) {
    if (count + 1 < destMax) buffer[count++] = static_cast<char>(next);
    else fits = false;
  }
  buffer[fits ? count : 0] = '\0';
  return fits && !at_end ? buffer : nullptr;
}
