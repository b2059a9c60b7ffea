// SPDX-License-Identifier: Apache-2.0
// What a file with operators includes. An operator is a check, a plan and a kernel:
//
//     #include "aclnnop/math.h"
//     #include "ops/op.h"
//
//     EMU_OPERATOR(Foo, (const aclTensor *x, double scale, aclTensor *out)) {
//       emu::Check check("aclnnFoo");
//       check.required("x", x).required("out", out).dtype("x", x).dtype("out", out);
//       if (check.ok()) check.shape("out", out, emu::layout_of(*x));
//       if (!check.ok()) return check.status();
//       emu::PlanBuilder plan("aclnnFoo");
//       const size_t from = plan.input(x), to = plan.output(out);
//       return plan.finish([=](emu::PlanContext &c) {
//         foo(emu::view_of(c.tensor(from)), scale, emu::view_of(c.tensor(to)));
//         return emu::Status{0};
//       }, workspaceSize, executor);
//     }
//     EMU_CATCH
//
// The family header in include/aclnnop/ declares both functions, so a definition that departs from
// the contract does not compile. Elementwise, reduction and foreach operators are rows of the files
// under ops/elementwise, ops/reduce and ops/foreach instead.
#pragma once

#include "aclnn/acl_meta.h"
#include "core/export.h"
#include "core/status.h"
#include "meta/executor.h"
#include "meta/tensor.h"
#include "ops/check.h"
#include "ops/dtype.h"
#include "ops/layout.h"
#include "ops/view.h"

#define EMU_UNPACK(...) __VA_ARGS__

// Almost every operator is called aclnn and a name.
#define EMU_OPERATOR(NAME, PARAMETERS) EMU_OPERATOR_NAMED(aclnn##NAME, PARAMETERS)

// Defines NAME (phase two) and opens the body of NAMEGetWorkspaceSize, in which `workspaceSize` and
// `executor` are the out parameters of phase one. The body is a try block: EMU_CATCH ends it.
#define EMU_OPERATOR_NAMED(NAME, PARAMETERS)                                                    \
  static_assert(sizeof(&NAME##GetWorkspaceSize) != 0 && sizeof(&NAME) != 0,                     \
                "include the header of aclnnop/ that declares the operator");                   \
  EMU_EXPORT aclnnStatus NAME(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, \
                              aclrtStream stream) try {                                         \
    return emu::run_plan(#NAME, workspace, workspaceSize, executor, stream);                    \
  }                                                                                             \
  EMU_CATCH                                                                                     \
  EMU_EXPORT aclnnStatus NAME##GetWorkspaceSize(EMU_UNPACK PARAMETERS, uint64_t *workspaceSize, \
                                                aclOpExecutor **executor) try
