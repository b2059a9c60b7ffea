/* SPDX-License-Identifier: Apache-2.0 */
/* Expectations of the native programs: the first that fails ends the program, saying where and
   why. */
#ifndef TESTS_NATIVE_EXPECT_H
#define TESTS_NATIVE_EXPECT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

/* The call answers `code`; a refusal leaves a message. */
#define EXPECT_CODE(code, call)                                                               \
  do {                                                                                        \
    const int got_ = (call);                                                                  \
    const int want_ = (code);                                                                 \
    const char *text_ = aclGetRecentErrMsg();                                                 \
    if (got_ != want_) {                                                                      \
      fprintf(stderr, "%s:%d: %s answered %d, not %d: %s\n", __FILE__, __LINE__, #call, got_, \
              want_, text_ ? text_ : "(no message)");                                         \
      exit(1);                                                                                \
    }                                                                                         \
    if (got_ != 0 && text_ == NULL) {                                                         \
      fprintf(stderr, "%s:%d: %s answered %d without a message\n", __FILE__, __LINE__, #call, \
              got_);                                                                          \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)

#define EXPECT_OK(call) EXPECT_CODE(0, call)

#endif
