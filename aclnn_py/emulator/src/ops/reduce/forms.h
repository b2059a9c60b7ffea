// SPDX-License-Identifier: Apache-2.0
// The forms of reductions. The parameters' names come from the facts, by position.
#pragma once

#include "ops/elementwise/formula.h"
#include "ops/reduce/fold.h"

namespace emu {

// All elements into one.
Status reduce_all(const ReduceRow &row, const aclTensor *self, aclTensor *out, aclDataType dtype,
                  uint64_t *workspace_size, aclOpExecutor **executor);
// One dimension.
Status reduce_dim(const ReduceRow &row, const aclTensor *self, int64_t dim, bool keep,
                  aclDataType dtype, aclTensor *out, uint64_t *workspace_size,
                  aclOpExecutor **executor);
// A set of dimensions; an empty array means all of them, or none with `empty_is_none`.
Status reduce_dims(const ReduceRow &row, const aclTensor *self, const aclIntArray *dims, bool keep,
                   bool empty_is_none, aclDataType dtype, aclTensor *out, uint64_t *workspace_size,
                   aclOpExecutor **executor);

}  // namespace emu

#define EMU_REDUCE(NAME, FOLD, RULE, TYPES, PARAMETERS, BODY, ...)                          \
  EMU_OPERATOR(NAME, PARAMETERS) {                                                          \
    static constexpr ReduceRow row = {"aclnn" #NAME, &fold_table<FOLD##Fold, TYPES>, RULE}; \
    return BODY(row, __VA_ARGS__, workspaceSize, executor);                                 \
  }                                                                                         \
  EMU_CATCH
// (self, out)
#define EMU_REDUCE_ALL(NAME, FOLD, RULE, TYPES)                                                  \
  EMU_REDUCE(NAME, FOLD, RULE, TYPES, (const aclTensor *self, aclTensor *out), reduce_all, self, \
             out, ACL_DT_UNDEFINED)
// (self, dims, keep, out)
#define EMU_REDUCE_DIMS(NAME, FOLD, RULE, TYPES)                                          \
  EMU_REDUCE(NAME, FOLD, RULE, TYPES,                                                     \
             (const aclTensor *self, const aclIntArray *dims, bool keep, aclTensor *out), \
             reduce_dims, self, dims, keep, false, ACL_DT_UNDEFINED, out)
// (self, dims, keep, noopWithEmptyDims, out)
#define EMU_REDUCE_DIMS_NOOP(NAME, FOLD, RULE, TYPES)                                         \
  EMU_REDUCE(                                                                                 \
      NAME, FOLD, RULE, TYPES,                                                                \
      (const aclTensor *self, const aclIntArray *dims, bool keep, bool noop, aclTensor *out), \
      reduce_dims, self, dims, keep, noop, ACL_DT_UNDEFINED, out)
// (self, dims, keep, dtype, out): the tensor is cast to `dtype`, which is also that of the result.
#define EMU_REDUCE_DTYPE(NAME, FOLD, RULE, TYPES)                                           \
  EMU_REDUCE(NAME, FOLD, RULE, TYPES,                                                       \
             (const aclTensor *self, const aclIntArray *dims, bool keep, aclDataType dtype, \
              aclTensor *out),                                                              \
             reduce_dims, self, dims, keep, false, dtype, out)
