# SPDX-License-Identifier: Apache-2.0
"""Operators declared at run time."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from helpers import tinylib

import aclnn_py as ap
from aclnn_py import errors, ops

ABS = """aclnnStatus aclnnAbsGetWorkspaceSize(const aclTensor *input, aclTensor *result,
    uint64_t *workspaceSize, aclOpExecutor **executor);"""
OWN = """
#include <stdint.h>
#include <stdbool.h>
#include <string.h>
static char seen[64];
int aclnnOwnGetWorkspaceSize(const void *x, double a, bool b, float c, int8_t d, const char *text,
                             void *out, uint64_t *n, void **e)
{
    if (a == 1.5 && b && c == 2.5f && d == -3 && !strcmp(text, "hello") && x && !out) {
        *n = 0; *e = seen;
        return 0;
    }
    return 161002;
}
int aclnnOwn(void *w, uint64_t n, void *e, void *s) { return e == seen ? 0 : 561000; }
"""
OWN_PROTOTYPE = """int aclnnOwnGetWorkspaceSize(const aclTensor *x, double scale, bool flag,
    float factor, int8_t level, const char *text, aclTensor *outOptional, uint64_t *workspaceSize,
    aclOpExecutor **executor)"""


@pytest.fixture
def x(device):
    tensor = ap.from_numpy(np.array([-1.0, 2.0], np.float32))
    yield tensor
    tensor.close()


def test_declared_operator_of_the_loaded_libraries(x):
    op = ops.declare(ABS)
    result = ap.empty(2, np.float32)
    op(x, result=result)
    assert result.numpy().tolist() == [1.0, 2.0]
    assert [p.name for p in op.parameters] == ["input", "result"]
    assert [p.name for p in ops.abs.parameters] == ["self", "out"]


def test_declared_operator_of_a_package(x, tmp_path):
    library = tinylib.build(tmp_path / "libmine.so", OWN)
    op = ops.declare(OWN_PROTOTYPE, library=library)
    assert op.library == str(library)
    op(x, 1.5, True, 2.5, -3, "hello", None)
    with pytest.raises(errors.AclnnError) as caught:
        op(x, 1.5, False, 2.5, -3, "hello", None)
    assert caught.value.status == 161002 and "flag: False" in str(caught.value)
    assert ap.plan(op, x, 1.5, True, 2.5, -3, "hello", out=None).workspace_nbytes == 0
    with pytest.raises(TypeError, match="declared at run time"):
        pickle.dumps(op)


def test_library_without_the_operator(tmp_path, device):
    library = tinylib.build(tmp_path / "libmine.so", "int other;")
    with pytest.raises(errors.SymbolNotFoundError, match=r"aclnnAbsGetWorkspaceSize.*libmine"):
        ops.declare(ABS, library=library)


def test_library_that_is_not_there(tmp_path, device):
    with pytest.raises(errors.LibraryNotFoundError):
        ops.declare(ABS, library=tmp_path / "no.so")


def test_prototypes_that_cannot_be_passed():
    many = ", ".join(f"double a{i}" for i in range(9))
    tail = "uint64_t *n, aclOpExecutor **e"
    with pytest.raises(ValueError, match="8 floating-point"):
        ops.declare(f"int aclnnXGetWorkspaceSize({many}, {tail})")
    with pytest.raises(ValueError, match="no operator parameter"):
        ops.declare(f"int aclnnXGetWorkspaceSize(FILE *f, {tail})")
