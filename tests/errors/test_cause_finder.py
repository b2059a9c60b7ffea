# SPDX-License-Identifier: Apache-2.0
"""The table of causes: every entry can be used, and a text names what it names."""

from __future__ import annotations

import pytest

from aclnn_py import facts
from aclnn_py.errors.cause_finder import causes_in, may_name_a_cause, words_of
from aclnn_py.errors.code_lookup import (
    explain_dcmi,
    explain_framework,
    explain_message,
    explain_runtime,
    explain_status,
)
from aclnn_py.facts.log_facts import causes, log_codes

NAMED = [
    # The text, the cause, and what it names.
    (
        "Index 211 out of range[0 100)!, index = 211",
        "index-out-of-range",
        {"index": "211"},
    ),
    ("all input dim1 must equal, but x is 3", "argument-shape", {"dimension": "1"}),
    (
        "HCCL_BUFFSIZE is too small, maxBs=512: NEEDED = 300MB, HCCL_BUFFSIZE=200MB.",
        "hccl-buffer",
        {"needed": "300", "given": "200"},
    ),
    ("The op Foo not support soc version Ascend310P3.", "not-on-this-chip", {}),
    (
        "aclnnFoo or aclnnFooGetWorkspaceSize not in libopapi.so, or libopapi.so not found.",
        "symbol",
        {"symbol": "aclnnFoo", "library": "libopapi.so"},
    ),
    (
        "libascend_hal.so: cannot open shared object file: No such file or directory",
        "driver",
        {},
    ),
    (
        "The wait execution of the Notify register times out. Reason: The Notify register has not "
        "received the Notify record from remote rank [24].base information: [streamID:[2]]",
        "collective-timeout",
        {"rank": "24"},
    ),
    (
        "Cluster Exception Location[IP/ID]:[192.0.2.1/3], Arrival Time:[x], Discoverer:[y], "
        "ExceptionType:[Heartbeat Lost Occurred], Possible Reason:1. Process has exited",
        "rank-exited",
        {"where": "192.0.2.1/3"},
    ),
    (
        "listen on ip[192.0.2.100%eth0] and specific port[60000] fail",
        "port-in-use",
        {"address": "192.0.2.100%eth0", "port": "60000"},
    ),
]


@pytest.mark.parametrize(("text", "cause", "named"), NAMED)
def test_a_text_gives_its_cause_and_what_it_names(
    text: str, cause: str, named: dict[str, str]
) -> None:
    found = {one.cause: one for one in causes_in(text)}
    assert cause in found
    one = found[cause]
    assert named.items() <= one.named.items()
    assert one.quote.removeprefix("... ").removesuffix(" ...") in text
    assert all(value in text for value in one.named.values())
    assert one.meaning
    assert one.checks


def test_other_texts_name_none() -> None:
    for text in ("", "all is well", "index 3 of 5, port 60000", "HCCL_BUFFSIZE=200"):
        assert causes_in(text) == []
        assert not may_name_a_cause(words_of(text))


def test_every_cause_says_what_to_do_and_can_be_found() -> None:
    for name, cause in causes().items():
        assert cause["meaning"], name
        assert cause["next"], name
        assert all(step[-1] in ".?`" for step in cause["next"]), name
        assert cause["texts"] or cause.get("codes"), name
        assert cause.get("weight", 2) in (1, 2, 3), name
        assert set(cause.get("advice", ())) <= set(facts.advice()), name


def test_every_code_of_a_cause_is_known_and_stands_for_one_cause() -> None:
    seen: set[str] = set()
    for name, cause in causes().items():
        for code in cause.get("codes", ()):
            assert code not in seen, code
            seen.add(code)
            library, _, number = code.rpartition(" ")
            if library == "dcmi":
                found = explain_dcmi(int(number))
            elif number.isdecimal():
                found = explain_status(int(number), hccl=library == "hccl")
            else:
                found = explain_message(code)
            assert found.known, code
            assert found.cause == name
            assert found.weight == min(cause.get("weight", 2), 2)


def test_numbers_of_logs_lead_to_statuses_that_exist() -> None:
    table = log_codes()
    for name in ("runtime", "task_scheduler"):
        numbers = [number for row in table[name].values() for number in row]
        assert len(numbers) == len(set(numbers)) > 15
        for status, row in table[name].items():
            fact = facts.status(int(status))
            assert fact is not None, status
            for number in row:
                found = explain_runtime(int(number, 16), scheduler=name == "task_scheduler")
                assert fact["meaning"] in found.meaning
    assert not explain_runtime(0x7FFFFFF).known


def test_kinds_of_the_framework_have_advice() -> None:
    for kind, (meaning, topics) in log_codes()["framework_kinds"].items():
        assert meaning
        assert set(topics) <= set(facts.advice())
        assert explain_framework(f"ERR00{kind}").meaning == meaning
    unknown = explain_framework("ERR99998")
    assert (unknown.known, unknown.meaning) == (False, "")
