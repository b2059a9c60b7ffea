# SPDX-License-Identifier: Apache-2.0
"""Every public object says what it does, in one form."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from helpers.each import each

import aclnn_py
from aclnn_py import distributed, errors, functional, tools

SECTIONS = ["Parameters", "Attributes", "Returns", "Yields", "Raises", "Notes", "Source"]


def public_objects() -> Iterator[tuple[str, Any]]:
    modules = [part for name in tools.__all__ if inspect.ismodule(part := getattr(tools, name))]
    for module in (aclnn_py, distributed, functional, errors, tools, *modules):
        yield module.__name__, module
        for name in module.__all__:
            value = getattr(module, name)
            if not isinstance(value, ModuleType) and callable(value):
                yield from _with_members(f"{module.__name__}.{name}", value)


def _with_members(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield name, value
    if not inspect.isclass(value) or not value.__module__.startswith("aclnn_py"):
        return
    for member, found in vars(value).items():
        if member.startswith("_") or isinstance(value, enum.EnumMeta):
            continue
        inner = found.__func__ if isinstance(found, (classmethod, staticmethod)) else found
        if isinstance(inner, (FunctionType, property)):
            yield f"{name}.{member}", inner


OBJECTS = dict(public_objects())
assert len(OBJECTS) > 600


def doc_of(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


def sections_of(doc: str) -> list[str]:
    return re.findall(r"^(\w[\w ]*)\n-{3,}$", doc, re.MULTILINE)


def body_of(doc: str, section: str) -> str:
    found = re.search(
        rf"^{section}\n-{{3,}}\n(.*?)(?=^\w[\w ]*\n-{{3,}}$|\Z)", doc, re.MULTILINE | re.DOTALL
    )
    return found[1] if found else ""


def test_first_sentence() -> None:
    def judge(name: str) -> None:
        doc = doc_of(OBJECTS[name])
        assert doc, "has no docstring"
        first = doc.split("\n\n")[0].split("\n")[0:3]
        sentence = " ".join(first)
        assert sentence[0].isupper() or sentence[0] in "`0123456789", f"starts small: {sentence!r}"
        assert re.search(r"[.:]($|\s)", sentence), f"is no sentence: {sentence!r}"

    each(OBJECTS, judge)


def test_sections_are_known_and_in_order() -> None:
    def judge(name: str) -> None:
        found = sections_of(doc_of(OBJECTS[name]))
        unknown = [section for section in found if section not in SECTIONS]
        assert not unknown, f"unknown sections {unknown}"
        assert found == sorted(found, key=SECTIONS.index)

    each(OBJECTS, judge)


def test_documented_parameters_are_those_of_the_signature() -> None:
    def judge(name: str) -> None:
        value = OBJECTS[name]
        if "Parameters" not in sections_of(doc_of(value)) or dataclasses.is_dataclass(value):
            return
        body = body_of(doc_of(value), "Parameters")
        documented = {
            part.strip().lstrip("*")
            for line in re.findall(r"^(\S.*?)(?: : .*)?$", body, re.MULTILINE)
            for part in line.split(",")
        }
        parameters = {p for p in inspect.signature(value).parameters if p not in ("self", "cls")}
        assert documented <= parameters, f"documents {sorted(documented - parameters)}"
        assert parameters <= documented | {"kind", "args", "fields"}, (
            f"leaves out {sorted(parameters - documented)}"
        )

    each(OBJECTS, judge)


def test_what_communicates_names_its_c_function() -> None:
    def judge(name: str) -> None:
        value = OBJECTS[name]
        if not isinstance(value, FunctionType) or name.endswith(".detect_environment"):
            return
        if re.search(r"Communicator\.(stream)$", name):
            return  # calls no C function
        source = body_of(doc_of(value), "Source")
        assert re.search(r"\b(Hccl|aclnn|aclrt)\w+", source)
        assert "include/" in source

    each([n for n in OBJECTS if ".distributed." in n], judge)


def test_functional_names_its_operator() -> None:
    def judge(name: str) -> None:
        assert re.search(r"\baclnn\w+", body_of(doc_of(OBJECTS[name]), "Source"))

    each([n for n in OBJECTS if ".functional." in n], judge)
