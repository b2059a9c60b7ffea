# SPDX-License-Identifier: Apache-2.0
"""Which library holds which function, from CANN 8.0 to the newest. Data and pure functions only."""

from __future__ import annotations

__all__ = ["libraries_of", "meta_functions", "operator_libraries", "other_spelling"]

# 8.5 split libascendcl into libacl_rt, libacl_mdl and libacl_op_executor; the old name stayed for
# old programs only, so the new ones come first. A family is found by the longest prefix that
# matches.
_FAMILIES: dict[str, tuple[str, ...]] = {
    "acl": ("libacl_rt.so", "libascendcl.so"),
    "aclmdl": ("libacl_mdl.so", "libascendcl.so"),
    "aclmdlRI": ("libacl_rt.so", "libascendcl.so"),
    "aclmdlInitDump": ("libascend_dump.so", "libascendcl.so", "libacl_mdl.so"),
    "aclmdlSetDump": ("libascend_dump.so", "libascendcl.so", "libacl_mdl.so"),
    "aclmdlFinalizeDump": ("libascend_dump.so", "libascendcl.so", "libacl_mdl.so"),
    "acldump": ("libascend_dump.so", "libascendcl.so"),
    "aclop": ("libacl_op_executor.so", "libascendcl.so", "libacl_op_compiler.so"),
    "aclopCompile": ("libacl_op_compiler.so",),
    "aclSetCompileopt": ("libacl_op_compiler.so",),
    "aclGetCompileopt": ("libacl_op_compiler.so",),
    "aclGenGraph": ("libacl_op_compiler.so",),
    # Looked up through libacl_op_compiler by other clients too; it works by its dependencies.
    "aclrtGetSysParamOpt": ("libacl_rt.so", "libascendcl.so", "libacl_op_compiler.so"),
    "aclrtSetSysParamOpt": ("libacl_rt.so", "libascendcl.so", "libacl_op_compiler.so"),
    "aclblas": ("libacl_cblas.so",),
    "aclprof": ("libmsprofiler.so",),
    "aclplatform": ("libacl_rt.so", "libascendcl.so", "libplatform.so"),
    "mstx": ("libms_tools_ext.so",),
    "acltdt": ("libacl_tdt_channel.so", "libacl_tdt_queue.so"),
    "acltdtQueue": ("libacl_tdt_queue.so", "libacl_tdt_channel.so"),
    # Loading libopapi pulls in libnnopbase, so it answers for the meta functions too.
    "meta": ("libnnopbase.so", "libopapi.so"),
    # The functions of the operator library that are no operators.
    "aclnnCalculateMatmulWeightSize": ("libopapi.so", "libopapi_math.so", "libopapi_nn.so"),
    "aclnnTransQuantParam": ("libopapi.so", "libopapi_math.so", "libopapi_nn.so"),
    "aclnnNpuFormatCastCalculate": ("libopapi.so", "libopapi_math.so"),
    "aclnnCalculateConvolutionWeightSize": ("libopapi.so", "libopapi_math.so", "libopapi_nn.so"),
    "aclnnTransSparse4to2Para": ("libopapi.so", "libopapi_nn.so"),
    "aclnnSetPytorchRandom": ("libopapi.so", "libopapi_math.so"),
    "aclnnGetPytorchRandom": ("libopapi.so", "libopapi_math.so"),
    "aclnnMoeDistribute": ("libopapi.so", "libopapi_transformer.so"),
    "Hccl": ("libhccl.so", "libhcomm.so", "libhccl_compat.so", "libhccl_legacy.so"),
    "Hccn": ("libhcomm.so", "libhccl.so"),
    "Hcom": ("libhcomm.so", "libhccl.so"),
}

_OPERATOR_LIBRARIES_BEFORE_SPLIT = (
    "libaclnn_math.so",
    "libaclnn_ops_infer.so",
    "libaclnn_ops_train.so",
    "libaclnn_rand.so",
    "libaclnn_sparse.so",
    "libaclnn_fft.so",
)

_META = frozenset(
    """
    AclSetDynamicInputTensorAddr AclSetDynamicOutputTensorAddr AclSetDynamicTensorAddr
    AclSetInputTensorAddr AclSetOutputTensorAddr AclSetTensorAddr aclCreateBoolArray
    aclCreateFloatArray aclCreateIntArray aclCreateScalar aclCreateScalarList aclCreateTensor
    aclCreateTensorList aclDestroyAclOpExecutor aclDestroyBoolArray aclDestroyFloatArray
    aclDestroyIntArray aclDestroyScalar aclDestroyScalarList aclDestroyTensor aclDestroyTensorList
    aclDumpOpTensors aclGetBoolArraySize aclGetDataType aclGetFloatArraySize aclGetFormat
    aclGetIntArraySize aclGetRawTensorAddr aclGetScalarListSize aclGetStorageShape
    aclGetTensorListSize aclGetViewOffset aclGetViewShape aclGetViewStrides aclInitTensor
    aclSetAclOpExecutorRepeatable aclSetDynamicInputTensorAddr aclSetDynamicOutputTensorAddr
    aclSetDynamicTensorAddr aclSetInputTensorAddr aclSetOutputTensorAddr aclSetRawTensorAddr
    aclSetTensorAddr aclnnFinalize aclnnInit
    """.split()  # noqa: SIM905
)


def meta_functions() -> frozenset[str]:
    """Functions about tensors, scalars, lists and executors."""
    return _META


def libraries_of(name: str) -> tuple[str, ...]:
    """Names of the libraries that may hold a function that is no operator, in search order."""
    if name in _META:
        return _FAMILIES["meta"]
    prefixes = [prefix for prefix in _FAMILIES if prefix != "meta" and name.startswith(prefix)]
    return _FAMILIES[max(prefixes, key=len)] if prefixes else ()


def operator_libraries(split_libraries: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Names of CANN's own operator libraries, in search order.

    Parameters
    ----------
    split_libraries : tuple of str
        The libopapi_*.so files that are installed (8.5 and later), in directory order.
    """
    return (*split_libraries, "libopapi.so", *_OPERATOR_LIBRARIES_BEFORE_SPLIT)


def other_spelling(name: str) -> str | None:
    """The name of the same function in other releases, if it was renamed: AclSet* and aclSet*."""
    if name.startswith(("AclSet", "aclSet")) and name.endswith("TensorAddr"):
        if name == "aclSetRawTensorAddr":
            return None
        return ("a" if name[0] == "A" else "A") + name[1:]
    return None
