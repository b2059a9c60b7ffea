/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs with mistakes share: a small correct program around the line that is wrong.

   A status is looked at only where the mistake is not meant to be passed over. The line that a
   report has to name ends with the comment MISTAKE. */
#ifndef FAULTS_MISTAKES_H
#define FAULTS_MISTAKES_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/index.h"
#include "aclnnop/math.h"

#include "hccl/hccl.h"
#include "mstx/ms_tools_ext.h"

#define NBYTES 128u /* of a tensor of 4 by 8 floats */

static aclrtStream g_stream;

static void must(int status, const char *what) {
  if (status != 0) {
    const char *message = aclGetRecentErrMsg();
    printf("%s answered %d: %s\n", what, status, message ? message : "");
    fflush(stdout);
  }
}
#define MUST(call) must((int)(call), #call)

static void begin(void) {
  MUST(aclInit(NULL));
  MUST(aclrtSetDevice(0));
  MUST(aclrtCreateStream(&g_stream));
}

static void end(void) {
  MUST(aclrtDestroyStream(g_stream));
  MUST(aclrtResetDevice(0));
  MUST(aclFinalize());
}

/* Device memory with a number in each element. */
static void *memory(size_t nbytes) {
  void *block = NULL;
  MUST(aclrtMalloc(&block, nbytes, ACL_MEM_MALLOC_HUGE_FIRST));
  MUST(aclrtMemset(block, nbytes, 0, nbytes));
  return block;
}

static aclTensor *matrix(void *data, int64_t rows, int64_t columns) {
  const int64_t shape[2] = {rows, columns}, strides[2] = {columns, 1};
  return aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 2, data);
}

/* A pool that the program divides itself, and says so. */
static void *pool(size_t nbytes) {
  void *block = memory(nbytes);
  const mstxMemVirtualRangeDesc_t range = {0, block, nbytes};
  const mstxMemHeapDesc_t heap = {MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR,
                                  MSTX_MEM_TYPE_VIRTUAL_ADDRESS, &range};
  mstxMemHeapRegister(NULL, &heap);
  return block;
}

static void *give_out(void *start, size_t nbytes) {
  const mstxMemVirtualRangeDesc_t range = {0, start, nbytes};
  const mstxMemRegionsRegisterBatch_t batch = {NULL, MSTX_MEM_TYPE_VIRTUAL_ADDRESS, 1, &range,
                                               NULL};
  mstxMemRegionsRegister(NULL, &batch);
  return start;
}

static void take_back(void *start) {
  mstxMemRegionRef_t part;
  const mstxMemRegionsUnregisterBatch_t batch = {1, &part};
  part.refType = MSTX_MEM_REGION_REF_TYPE_POINTER;
  part.pointer = start;
  mstxMemRegionsUnregister(NULL, &batch);
}

/* Both phases of out = x + y. */
static void add(aclTensor *x, aclTensor *y, aclTensor *out) {
  float one = 1.0f;
  uint64_t size = 0;
  aclOpExecutor *executor = NULL;
  aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
  MUST(aclnnAddGetWorkspaceSize(x, y, alpha, out, &size, &executor));
  if (executor != NULL) MUST(aclnnAdd(NULL, 0, executor, g_stream));
  aclDestroyScalar(alpha);
}

/* What most programs work with. */
typedef struct {
  void *a, *b, *c;
  aclTensor *x, *y, *out;
} Operands;

static Operands operands(void) {
  Operands o;
  o.a = memory(NBYTES), o.b = memory(NBYTES), o.c = memory(NBYTES);
  o.x = matrix(o.a, 4, 8), o.y = matrix(o.b, 4, 8), o.out = matrix(o.c, 4, 8);
  return o;
}

static void give_back(Operands o) {
  MUST(aclDestroyTensor(o.x));
  MUST(aclDestroyTensor(o.y));
  MUST(aclDestroyTensor(o.out));
  MUST(aclrtFree(o.a));
  MUST(aclrtFree(o.b));
  MUST(aclrtFree(o.c));
}

#endif
