/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] What the emulator adds to CANN's interface: refusals of phase one as data, and
   phase one for the arguments of another device. Other libraries lack these functions. */
#ifndef ACLNN_PY_REFUSAL_H
#define ACLNN_PY_REFUSAL_H

#include <stdint.h>

#include "aclnn_py/c_begin.h"

/* Why phase one refused a call. */
typedef struct {
  /* What phase one returned. */
  int32_t status;
  /* The rule that is broken: "null", "dtype", "format", "rank", "shape", "value", "list" (the
     number of its members), or "chip", which lacks the operator. */
  const char *kind;
  /* The parameter by its name in C, with the index of a member of a list ("x[2]"); "" where the
     refusal is about none. */
  const char *parameter;
  /* "host", or "tiling": the second line of checks, that of the kernel. */
  const char *stage;
  /* The given and the allowed in the words of the text, "" where it does not set them apart. */
  const char *given;
  const char *expected;
  /* The whole message, without its code and the name of the operator. */
  const char *text;
} aclnn_py_refusal;

/* Takes the refusal of the last call of the calling thread, which was phase one of the named
   operator ("aclnnAdd"). Texts live until the next call of this function on the thread. Returns 0
   when there is none. */
int32_t aclnn_py_emulator_refusal(const char *operator_name, aclnn_py_refusal *refusal);

/* Sets the chip, as the environment variable ACLNN_PY_EMULATOR_SOC does. Returns 0 when another
   chip is in use already. */
int32_t aclnn_py_emulator_set_chip(const char *soc_name);

/* Lets phase one of fused operators know a communicator of another library: its name, the number
   of its ranks, and the rank of the caller. Returns a status. */
int32_t aclnn_py_emulator_describe_group(const char *name, uint32_t ranks, uint32_t rank);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_REFUSAL_H */
