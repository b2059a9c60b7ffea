// SPDX-License-Identifier: Apache-2.0
// libc_sec: memory (C11 K.3.7.1, K.3.7.4.1, K.3.9.2.1).
#include <cstring>

#include "core/export.h"
#include "securec/limits.h"

namespace emu::securec {
namespace {

template <class T>
errno_t check(T *dest, size_t dest_max, const T *src, size_t count) {
  if (!usable_size<T>(dest_max)) return ERANGE;
  if (dest == nullptr) return EINVAL;
  if (src == nullptr || count > dest_max) {
    std::memset(dest, 0, dest_max * sizeof(T));
    return src == nullptr ? EINVAL_AND_RESET : ERANGE_AND_RESET;
  }
  return EOK;
}

template <class T>
errno_t copy(T *dest, size_t dest_max, const T *src, size_t count) {
  if (const errno_t status = check(dest, dest_max, src, count)) return status;
  if (dest == src || count == 0) return EOK;
  if (overlap(dest, count, src, count)) {
    std::memset(dest, 0, dest_max * sizeof(T));
    return EOVERLAP_AND_RESET;
  }
  std::memcpy(dest, src, count * sizeof(T));
  return EOK;
}

template <class T>
errno_t move(T *dest, size_t dest_max, const T *src, size_t count) {
  if (const errno_t status = check(dest, dest_max, src, count)) return status;
  std::memmove(dest, src, count * sizeof(T));
  return EOK;
}

}  // namespace
}  // namespace emu::securec

EMU_EXPORT errno_t memset_s(void *dest, size_t destMax, int c, size_t count) {
  if (!emu::securec::usable_size<char>(destMax)) return ERANGE;
  if (dest == nullptr) return EINVAL;
  // Too much is set as far as the destination goes: whoever clears a secret relies on it.
  std::memset(dest, c, count > destMax ? destMax : count);
  return count > destMax ? ERANGE_AND_RESET : EOK;
}

EMU_EXPORT errno_t memcpy_s(void *dest, size_t destMax, const void *src, size_t count) {
  return emu::securec::copy(static_cast<char *>(dest), destMax, static_cast<const char *>(src),
                            count);
}

EMU_EXPORT errno_t memmove_s(void *dest, size_t destMax, const void *src, size_t count) {
  return emu::securec::move(static_cast<char *>(dest), destMax, static_cast<const char *>(src),
                            count);
}

EMU_EXPORT errno_t wmemcpy_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count) {
  return emu::securec::copy(dest, destMax, src, count);
}

EMU_EXPORT errno_t wmemmove_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count) {
  return emu::securec::move(dest, destMax, src, count);
}
