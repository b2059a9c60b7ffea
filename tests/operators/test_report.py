# SPDX-License-Identifier: Apache-2.0
"""What the exception of a refused call names: argument, rule, status, everything that was given."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from helpers.recovery import assert_usable
from helpers.wrong_calls import WRONG_CALLS, WrongCall, setting

import aclnn_py as ap
from aclnn_py import errors

EACH = pytest.mark.parametrize(
    "call", WRONG_CALLS, ids=lambda call: f"{call.operator}-{call.name}".replace(" ", "-")
)


def refused(call: WrongCall) -> errors.AclnnError:
    with setting(call) as group, pytest.raises(errors.AclnnError) as caught:
        call.make(group)
    return caught.value


def rule_of(call: WrongCall, error: errors.AclnnError) -> errors.BrokenRule:
    """The one broken rule that is about the argument in question."""
    found = [rule for rule in error.broken if rule.argument == call.argument]
    assert found, f"{call.argument} is not named:\n{error}"
    assert any(call.rule in rule.rule for rule in found), f"{call.rule!r} is not said:\n{error}"
    return next(rule for rule in found if call.rule in rule.rule)


def test_the_table_is_as_wide_as_it_says() -> None:
    assert len(WRONG_CALLS) >= 40
    assert len({call.operator for call in WRONG_CALLS}) >= 20


@EACH
def test_the_exception_names_argument_and_rule(device: ap.Device, call: WrongCall) -> None:
    error = refused(call)
    assert error.status == call.status, error
    assert error.routine == f"{call.operator}GetWorkspaceSize"
    assert error.detail, "the library's own words are missing"
    # The first rule is the one a reader takes for the cause.
    assert error.broken[0] == rule_of(call, error), error
    assert [a.name for a in error.arguments if a.name == call.argument.split("[")[0]]
    text = str(error)
    assert call.argument in text
    assert call.rule in text
    assert error.device == 0
    assert error.stream
    assert error.rank == (0 if call.ranks > 1 else None)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.explain()) == (text, error.explain())


@EACH
def test_strict_says_the_same_before_the_library_is_asked(
    device: ap.Device, call: WrongCall
) -> None:
    with ap.strict():
        error = refused(call)
    assert error.status == call.status, error
    assert error.detail == ""
    assert error.broken[0] == rule_of(call, error), error
    assert "strict() refused" in error.hint


def test_arguments_are_kept_with_layout_memory_and_owner(device: ap.Device) -> None:
    whole = ap.from_numpy(np.zeros((4, 8), np.float16))
    part = whole[1:, 2:6].T
    given = ap.Buffer.wrap(whole.address, 64, owner=(keep := [whole]))
    wrapped = ap.Tensor.wrap(given, (4, 3), np.float16)
    with pytest.raises(errors.AclnnError) as caught:
        ap.ops.add(part, wrapped, 2, ap.empty((9,), np.float16))
    self, other, alpha, out = caught.value.arguments
    assert (self.name, self.shape, self.strides, self.offset) == ("self", (4, 3), (1, 8), 10)
    assert (self.dtype, self.format, self.storage_shape) == ("float16", "ND", (4, 8))
    assert (self.address, self.nbytes) == (whole.address + 20, 2 * (3 + 16 + 1))
    assert self.owner == "a buffer of 64 bytes"
    assert self.device == 0
    assert other.owner == "64 bytes of a builtins.list"
    assert alpha.value == "2"
    assert alpha.shape is None
    assert out.shape == (9,)
    text = str(caught.value)
    assert f"{whole.address + 20:#x}..{whole.address + 60:#x}" in text
    assert "offset 10 storage (4, 8)" in text
    assert keep
    given.close()


def test_blocked_formats_show_their_storage(device: ap.Device) -> None:
    weight = ap.from_numpy(np.zeros((20, 20), np.float16), format="FRACTAL_NZ")
    with pytest.raises(errors.AclnnError) as caught:
        ap.ops.add(weight, None, 1, weight)
    argument = caught.value.arguments[0]
    assert argument.format == "FRACTAL_NZ"
    assert argument.storage_shape == (2, 2, 16, 16)
    assert argument.nbytes == 2 * 2 * 16 * 16 * 2
    assert_usable()


def test_the_next_step_fits_the_rule(device: ap.Device) -> None:
    x = ap.empty((2, 3), np.float32)
    with pytest.raises(errors.AclnnError, match=r"next: other: convert it with astype\(\)"):
        ap.ops.add(x, ap.empty((2, 3), np.uint16), 1, x)
    with pytest.raises(errors.AclnnError, match=r"help\(aclnn_py.ops.mm\) has the documented"):
        ap.ops.mm(x, x, x, 0)


def test_an_operator_declared_at_run_time_has_no_documents_to_break(device: ap.Device) -> None:
    declared = ap.ops.declare(
        "aclnnStatus aclnnMmGetWorkspaceSize(const aclTensor *a, const aclTensor *b,"
        " aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);"
    )
    x = ap.empty((2, 3), np.float32)
    with pytest.raises(errors.AclnnError, match="cannot be multiplied") as caught:
        declared(x, x, x, 0)
    assert [argument.name for argument in caught.value.arguments][:2] == ["a", "b"]


def test_the_line_that_made_a_tensor_is_shown_where_somebody_keeps_it(
    device: ap.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aclnn_py.operators.describe import argument_text

    monkeypatch.setattr(argument_text, "origin_of", lambda tensor: f"model.py:{tensor.ndim}")
    x = ap.empty((2, 3), np.float32)
    with pytest.raises(errors.AclnnError, match=r"made at model\.py:2"):
        ap.ops.mm(x, x, x, 0)
