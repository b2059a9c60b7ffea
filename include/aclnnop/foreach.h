/* SPDX-License-Identifier: Apache-2.0 */
/* Operations over lists of tensors. */
#ifndef ACLNN_PY_ACLNNOP_FOREACH_H
#define ACLNN_PY_ACLNNOP_FOREACH_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_A_COS_INPLACE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_A_COS_INPLACE
/* Arc cosine, for each tensor of a list, in place. [document] */
aclnnStatus aclnnForeachACosInplaceGetWorkspaceSize(aclTensorList *xRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachACosInplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ABS
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ABS
/* Absolute value, for each tensor of a list. [document] */
aclnnStatus aclnnForeachAbsGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAbs(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ACOS
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ACOS
/* Arc cosine, for each tensor of a list. [document] */
aclnnStatus aclnnForeachAcosGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAcos(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_LIST
/* Sum of the tensors of lists, pair by pair. */
aclnnStatus aclnnForeachAddListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensor *alpha, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_LIST_INPLACE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_LIST_INPLACE
/* Sum of the tensors of lists, pair by pair, in place. [document] */
aclnnStatus aclnnForeachAddListInplaceGetWorkspaceSize(aclTensorList *x1Ref, const aclTensorList *x2, const aclTensor *alpha, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddListInplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_LIST_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_LIST_V2
/* Sum of the tensors of lists, pair by pair; version 2 with the parameters of aclnnForeachAddList. */
aclnnStatus aclnnForeachAddListV2GetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclScalar *alpha, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddListV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_SCALAR
/* Sum of each tensor of a list and one scalar. [document] */
aclnnStatus aclnnForeachAddScalarGetWorkspaceSize(const aclTensorList *x, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_SCALAR_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_SCALAR_LIST
/* Sum of each tensor of a list and its own scalar. [document] */
aclnnStatus aclnnForeachAddScalarListGetWorkspaceSize(const aclTensorList *x, const aclScalarList *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddScalarList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_SCALAR_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADD_SCALAR_V2
/* Sum of each tensor of a list and one scalar; version 2 with the parameters of aclnnForeachAddScalar. */
aclnnStatus aclnnForeachAddScalarV2GetWorkspaceSize(const aclTensorList *x, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddScalarV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCDIV_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCDIV_LIST
/* Sum with a quotient of the tensors of lists, scaled by a tensor. [document] */
aclnnStatus aclnnForeachAddcdivListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclTensor *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddcdivList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCDIV_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCDIV_SCALAR
/* Sum with a quotient of the tensors of lists, scaled by one value. */
aclnnStatus aclnnForeachAddcdivScalarGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddcdivScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCDIV_SCALAR_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCDIV_SCALAR_LIST
/* Sum with a quotient of the tensors of lists, scaled by a value each. */
aclnnStatus aclnnForeachAddcdivScalarListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclTensor *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddcdivScalarList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCDIV_SCALAR_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCDIV_SCALAR_V2
/* Sum with a quotient of the tensors of lists, scaled by one value; version 2 with the parameters of aclnnForeachAddcdivScalar. */
aclnnStatus aclnnForeachAddcdivScalarV2GetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddcdivScalarV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCMUL_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCMUL_LIST
/* Sum with a product of the tensors of lists, scaled by a tensor. [document] */
aclnnStatus aclnnForeachAddcmulListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclTensor *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddcmulList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCMUL_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCMUL_SCALAR
/* Sum with a product of the tensors of lists, scaled by one value. [document] */
aclnnStatus aclnnForeachAddcmulScalarGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddcmulScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCMUL_SCALAR_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCMUL_SCALAR_LIST
/* Sum with a product of the tensors of lists, scaled by a value each. [document] */
aclnnStatus aclnnForeachAddcmulScalarListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclTensor *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddcmulScalarList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCMUL_SCALAR_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ADDCMUL_SCALAR_V2
/* Sum with a product of the tensors of lists, scaled by one value; version 2 with the parameters of aclnnForeachAddcmulScalar. */
aclnnStatus aclnnForeachAddcmulScalarV2GetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *x3, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAddcmulScalarV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ASIN
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ASIN
/* Arc sine, for each tensor of a list. [document] */
aclnnStatus aclnnForeachAsinGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAsin(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ATAN
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ATAN
/* Arc tangent, for each tensor of a list. [document] */
aclnnStatus aclnnForeachAtanGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachAtan(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_COPY
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_COPY
/* Copy of each tensor of a list. */
aclnnStatus aclnnForeachCopyGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachCopy(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_COS
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_COS
/* Cosine, for each tensor of a list. [document] */
aclnnStatus aclnnForeachCosGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachCos(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_COSH
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_COSH
/* Hyperbolic cosine, for each tensor of a list. [document] */
aclnnStatus aclnnForeachCoshGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachCosh(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_LIST
/* Quotient of the tensors of lists, pair by pair. */
aclnnStatus aclnnForeachDivListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachDivList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_LIST_INPLACE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_LIST_INPLACE
/* Quotient of the tensors of lists, pair by pair, in place. [document] */
aclnnStatus aclnnForeachDivListInplaceGetWorkspaceSize(aclTensorList *x1Ref, const aclTensorList *x2, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachDivListInplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_SCALAR
/* Quotient of each tensor of a list and one scalar. */
aclnnStatus aclnnForeachDivScalarGetWorkspaceSize(const aclTensorList *x, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachDivScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_SCALAR_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_SCALAR_LIST
/* Quotient of each tensor of a list and its own scalar. [document] */
aclnnStatus aclnnForeachDivScalarListGetWorkspaceSize(const aclTensorList *x, const aclScalarList *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachDivScalarList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_SCALAR_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_DIV_SCALAR_V2
/* Quotient of each tensor of a list and one scalar; version 2 with the parameters of aclnnForeachDivScalar. */
aclnnStatus aclnnForeachDivScalarV2GetWorkspaceSize(const aclTensorList *x, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachDivScalarV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ERF
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ERF
/* Error function, for each tensor of a list. [document] */
aclnnStatus aclnnForeachErfGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachErf(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ERFC
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ERFC
/* Complementary error function, for each tensor of a list. [document] */
aclnnStatus aclnnForeachErfcGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachErfc(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_EXP
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_EXP
/* Exponential, for each tensor of a list. [document] */
aclnnStatus aclnnForeachExpGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachExp(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_EXPM1
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_EXPM1
/* Exponential less one, for each tensor of a list. [document] */
aclnnStatus aclnnForeachExpm1GetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachExpm1(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_LERP_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_LERP_LIST
/* Linear interpolation of the tensors of two lists with weights in a third. */
aclnnStatus aclnnForeachLerpListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *weight, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachLerpList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_LERP_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_LERP_SCALAR
/* Linear interpolation of the tensors of two lists with one weight. */
aclnnStatus aclnnForeachLerpScalarGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclScalar *weight, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachLerpScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG
/* Natural logarithm, for each tensor of a list. [document] */
aclnnStatus aclnnForeachLogGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachLog(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG10
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG10
/* Logarithm to base ten, for each tensor of a list. [document] */
aclnnStatus aclnnForeachLog10GetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachLog10(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG1P
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG1P
/* Natural logarithm of one plus each element, for each tensor of a list. [document] */
aclnnStatus aclnnForeachLog1pGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachLog1p(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG2
/* Logarithm to base two, for each tensor of a list. [document] */
aclnnStatus aclnnForeachLog2GetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachLog2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG_INPLACE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_LOG_INPLACE
/* Natural logarithm, for each tensor of a list, in place. [document] */
aclnnStatus aclnnForeachLogInplaceGetWorkspaceSize(aclTensorList *xRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachLogInplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MAXIMUM_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MAXIMUM_LIST
/* Larger element of the tensors of lists, pair by pair. [document] */
aclnnStatus aclnnForeachMaximumListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMaximumList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MAXIMUM_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MAXIMUM_SCALAR
/* Larger element of each tensor of a list and one scalar. [document] */
aclnnStatus aclnnForeachMaximumScalarGetWorkspaceSize(const aclTensorList *x, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMaximumScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MAXIMUM_SCALAR_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MAXIMUM_SCALAR_LIST
/* Larger element of each tensor of a list and its own scalar. [document] */
aclnnStatus aclnnForeachMaximumScalarListGetWorkspaceSize(const aclTensorList *x, const aclScalarList *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMaximumScalarList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MAXIMUM_SCALAR_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MAXIMUM_SCALAR_V2
/* Larger element of each tensor of a list and one scalar; version 2 with the parameters of aclnnForeachMaximumScalar. */
aclnnStatus aclnnForeachMaximumScalarV2GetWorkspaceSize(const aclTensorList *x, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMaximumScalarV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MINIMUM_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MINIMUM_LIST
/* Smaller element of the tensors of lists, pair by pair. [document] */
aclnnStatus aclnnForeachMinimumListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMinimumList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MINIMUM_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MINIMUM_SCALAR
/* Smaller element of each tensor of a list and one scalar. [document] */
aclnnStatus aclnnForeachMinimumScalarGetWorkspaceSize(const aclTensorList *x, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMinimumScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MINIMUM_SCALAR_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MINIMUM_SCALAR_LIST
/* Smaller element of each tensor of a list and its own scalar. [document] */
aclnnStatus aclnnForeachMinimumScalarListGetWorkspaceSize(const aclTensorList *x, const aclScalarList *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMinimumScalarList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MINIMUM_SCALAR_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MINIMUM_SCALAR_V2
/* Smaller element of each tensor of a list and one scalar; version 2 with the parameters of aclnnForeachMinimumScalar. */
aclnnStatus aclnnForeachMinimumScalarV2GetWorkspaceSize(const aclTensorList *x, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMinimumScalarV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_LIST
/* Product of the tensors of lists, pair by pair. */
aclnnStatus aclnnForeachMulListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMulList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_LIST_INPLACE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_LIST_INPLACE
/* Product of the tensors of lists, pair by pair, in place. [document] */
aclnnStatus aclnnForeachMulListInplaceGetWorkspaceSize(aclTensorList *x1Ref, const aclTensorList *x2, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMulListInplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_SCALAR
/* Product of each tensor of a list and one scalar. [document] */
aclnnStatus aclnnForeachMulScalarGetWorkspaceSize(const aclTensorList *x, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMulScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_SCALAR_INPLACE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_SCALAR_INPLACE
/* Product of each tensor of a list and one scalar, in place. [document] */
aclnnStatus aclnnForeachMulScalarInplaceGetWorkspaceSize(aclTensorList *xRef, const aclTensor *scalar, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMulScalarInplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_SCALAR_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_SCALAR_LIST
/* Product of each tensor of a list and its own scalar. [document] */
aclnnStatus aclnnForeachMulScalarListGetWorkspaceSize(const aclTensorList *x, const aclScalarList *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMulScalarList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_SCALAR_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_MUL_SCALAR_V2
/* Product of each tensor of a list and one scalar; version 2 with the parameters of aclnnForeachMulScalar. */
aclnnStatus aclnnForeachMulScalarV2GetWorkspaceSize(const aclTensorList *x, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachMulScalarV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_NEG
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_NEG
/* Negative, for each tensor of a list. [document] */
aclnnStatus aclnnForeachNegGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachNeg(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_NON_FINITE_CHECK_AND_UNSCALE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_NON_FINITE_CHECK_AND_UNSCALE
/* Gradients divided by the loss scale, with a flag when one is not finite. [document] */
aclnnStatus aclnnForeachNonFiniteCheckAndUnscaleGetWorkspaceSize(aclTensorList *scaledGradsRef, aclTensor *foundInfRef, const aclTensor *invScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachNonFiniteCheckAndUnscale(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_NORM
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_NORM
/* Norm of each tensor of a list. [document] */
aclnnStatus aclnnForeachNormGetWorkspaceSize(const aclTensorList *x, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_LIST
/* Power of the tensors of lists, pair by pair. [document] */
aclnnStatus aclnnForeachPowListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachPowList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_SCALAR
/* Power of each tensor of a list and one scalar. [document] */
aclnnStatus aclnnForeachPowScalarGetWorkspaceSize(const aclTensorList *x, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachPowScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_SCALAR_AND_TENSOR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_SCALAR_AND_TENSOR
/* Power of a scalar to each tensor of a list. [document] */
aclnnStatus aclnnForeachPowScalarAndTensorGetWorkspaceSize(const aclScalar *scalar, const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachPowScalarAndTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_SCALAR_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_SCALAR_LIST
/* Power of each tensor of a list and its own scalar. [document] */
aclnnStatus aclnnForeachPowScalarListGetWorkspaceSize(const aclTensorList *x, const aclScalarList *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachPowScalarList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_SCALAR_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_POW_SCALAR_V2
/* Power of each tensor of a list and one scalar; version 2 with the parameters of aclnnForeachPowScalar. */
aclnnStatus aclnnForeachPowScalarV2GetWorkspaceSize(const aclTensorList *x, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachPowScalarV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_RECIPROCAL
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_RECIPROCAL
/* Reciprocal, for each tensor of a list. [document] */
aclnnStatus aclnnForeachReciprocalGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachReciprocal(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ROUND_OFF_NUMBER
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ROUND_OFF_NUMBER
/* Rounding of each tensor of a list. [document] */
aclnnStatus aclnnForeachRoundOffNumberGetWorkspaceSize(const aclTensorList *x, const aclTensor *roundMode, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachRoundOffNumber(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ROUND_OFF_NUMBER_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ROUND_OFF_NUMBER_V2
/* Rounding of each tensor of a list; version 2 with the parameters of aclnnForeachRoundOffNumber. */
aclnnStatus aclnnForeachRoundOffNumberV2GetWorkspaceSize(const aclTensorList *x, const aclScalar *roundMode, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachRoundOffNumberV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SIGMOID
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SIGMOID
/* Sigmoid, for each tensor of a list. [document] */
aclnnStatus aclnnForeachSigmoidGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSigmoid(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SIGN
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SIGN
/* Sign, for each tensor of a list. [document] */
aclnnStatus aclnnForeachSignGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSign(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SIN
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SIN
/* Sine, for each tensor of a list. [document] */
aclnnStatus aclnnForeachSinGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSin(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SINH
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SINH
/* Hyperbolic sine, for each tensor of a list. [document] */
aclnnStatus aclnnForeachSinhGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSinh(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SQRT
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SQRT
/* Square root, for each tensor of a list. */
aclnnStatus aclnnForeachSqrtGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSqrt(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_LIST
/* Difference of the tensors of lists, pair by pair. [document] */
aclnnStatus aclnnForeachSubListGetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclTensor *alpha, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSubList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_LIST_INPLACE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_LIST_INPLACE
/* Difference of the tensors of lists, pair by pair, in place. [document] */
aclnnStatus aclnnForeachSubListInplaceGetWorkspaceSize(aclTensorList *x1Ref, const aclTensorList *x2, const aclTensor *alpha, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSubListInplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_LIST_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_LIST_V2
/* Difference of the tensors of lists, pair by pair; version 2 with the parameters of aclnnForeachSubList. */
aclnnStatus aclnnForeachSubListV2GetWorkspaceSize(const aclTensorList *x1, const aclTensorList *x2, const aclScalar *alpha, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSubListV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_SCALAR
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_SCALAR
/* Difference of each tensor of a list and one scalar. [document] */
aclnnStatus aclnnForeachSubScalarGetWorkspaceSize(const aclTensorList *x, const aclTensor *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSubScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_SCALAR_INPLACE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_SCALAR_INPLACE
/* Difference of each tensor of a list and one scalar, in place. [document] */
aclnnStatus aclnnForeachSubScalarInplaceGetWorkspaceSize(aclTensorList *xRef, const aclTensor *scalar, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSubScalarInplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_SCALAR_LIST
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_SCALAR_LIST
/* Difference of each tensor of a list and its own scalar. [document] */
aclnnStatus aclnnForeachSubScalarListGetWorkspaceSize(const aclTensorList *x, const aclScalarList *scalars, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSubScalarList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_SCALAR_V2
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_SUB_SCALAR_V2
/* Difference of each tensor of a list and one scalar; version 2 with the parameters of aclnnForeachSubScalar. */
aclnnStatus aclnnForeachSubScalarV2GetWorkspaceSize(const aclTensorList *x, const aclScalar *scalar, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachSubScalarV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_TAN
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_TAN
/* Tangent, for each tensor of a list. [document] */
aclnnStatus aclnnForeachTanGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachTan(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_TANH
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_TANH
/* Hyperbolic tangent, for each tensor of a list. [document] */
aclnnStatus aclnnForeachTanhGetWorkspaceSize(const aclTensorList *x, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachTanh(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FOREACH_ACLNN_FOREACH_ZERO_INPLACE
#define ACLNN_PY_FOREACH_ACLNN_FOREACH_ZERO_INPLACE
/* Zero written to each tensor of a list. [document] */
aclnnStatus aclnnForeachZeroInplaceGetWorkspaceSize(aclTensorList *xRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnForeachZeroInplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_FOREACH_H */
