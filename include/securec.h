/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] libc_sec: copying, strings and formatted text with the size of the destination, after C11 Annex K.
 *
 * A call that is refused returns a status and, where the destination and its size are usable, empties the
 * destination; the names of these statuses end in _AND_RESET. There is no constraint handler, and no function
 * ends the process.
 */
#ifndef ACLNN_PY_SECUREC_H
#define ACLNN_PY_SECUREC_H

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

#ifndef errno_t
typedef int errno_t;
#endif

#ifndef EOK
#define EOK 0
#endif
#ifndef EINVAL_AND_RESET
#define EINVAL_AND_RESET 150
#endif
#ifndef ERANGE_AND_RESET
#define ERANGE_AND_RESET 162
#endif
#ifndef EOVERLAP_AND_RESET
#define EOVERLAP_AND_RESET 182
#endif

/* Sizes above these are taken for mistakes: bytes, and characters. */
#define SECUREC_MEM_MAX_LEN 0x7fffffffUL
#define SECUREC_STRING_MAX_LEN 0x7fffffffUL
#define SECUREC_WCHAR_MEM_MAX_LEN (SECUREC_MEM_MAX_LEN / sizeof(wchar_t))
#define SECUREC_WCHAR_STRING_MAX_LEN (SECUREC_STRING_MAX_LEN / sizeof(wchar_t))

#if defined(__GNUC__)
#define ACLNN_PY_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ACLNN_PY_PRINTF(text, first)
#endif

#include "aclnn_py/c_begin.h"

errno_t memset_s(void *dest, size_t destMax, int c, size_t count);
errno_t memcpy_s(void *dest, size_t destMax, const void *src, size_t count);
errno_t memmove_s(void *dest, size_t destMax, const void *src, size_t count);
errno_t wmemcpy_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count);
errno_t wmemmove_s(wchar_t *dest, size_t destMax, const wchar_t *src, size_t count);

errno_t strcpy_s(char *strDest, size_t destMax, const char *strSrc);
errno_t strncpy_s(char *strDest, size_t destMax, const char *strSrc, size_t count);
errno_t strcat_s(char *strDest, size_t destMax, const char *strSrc);
errno_t strncat_s(char *strDest, size_t destMax, const char *strSrc, size_t count);
char *strtok_s(char *strToken, const char *strDelimit, char **context);
errno_t wcscpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc);
errno_t wcsncpy_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc, size_t count);
errno_t wcscat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc);
errno_t wcsncat_s(wchar_t *strDest, size_t destMax, const wchar_t *strSrc, size_t count);
wchar_t *wcstok_s(wchar_t *strToken, const wchar_t *strDelimit, wchar_t **context);

/* The number of characters, or -1. */
int sprintf_s(char *strDest, size_t destMax, const char *format, ...) ACLNN_PY_PRINTF(3, 4);
int vsprintf_s(char *strDest, size_t destMax, const char *format, va_list argList) ACLNN_PY_PRINTF(3, 0);
/* -1 when more than count characters were to be written, of which the first count are there. */
int snprintf_s(char *strDest, size_t destMax, size_t count, const char *format, ...) ACLNN_PY_PRINTF(4, 5);
int vsnprintf_s(char *strDest, size_t destMax, size_t count, const char *format, va_list argList)
    ACLNN_PY_PRINTF(4, 0);
/* destMax - 1 when the text was cut. */
int snprintf_truncated_s(char *strDest, size_t destMax, const char *format, ...) ACLNN_PY_PRINTF(3, 4);
int vsnprintf_truncated_s(char *strDest, size_t destMax, const char *format, va_list argList)
    ACLNN_PY_PRINTF(3, 0);
int swprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format, ...);
int vswprintf_s(wchar_t *strDest, size_t destMax, const wchar_t *format, va_list argList);

/* For each c, s and [ the size of the array comes after the array: a size_t that counts its elements. */
int sscanf_s(const char *buffer, const char *format, ...);
int vsscanf_s(const char *buffer, const char *format, va_list argList);
int fscanf_s(FILE *stream, const char *format, ...);
int vfscanf_s(FILE *stream, const char *format, va_list argList);
int scanf_s(const char *format, ...);
int vscanf_s(const char *format, va_list argList);
int swscanf_s(const wchar_t *buffer, const wchar_t *format, ...);
int vswscanf_s(const wchar_t *buffer, const wchar_t *format, va_list argList);
int fwscanf_s(FILE *stream, const wchar_t *format, ...);
int vfwscanf_s(FILE *stream, const wchar_t *format, va_list argList);
int wscanf_s(const wchar_t *format, ...);
int vwscanf_s(const wchar_t *format, va_list argList);
char *gets_s(char *buffer, size_t destMax);

#include "aclnn_py/c_end.h"

#undef ACLNN_PY_PRINTF

#endif /* ACLNN_PY_SECUREC_H */
