# SPDX-License-Identifier: Apache-2.0
"""Programs written for CANN's per-operator headers compile against the forwarders."""

from __future__ import annotations

import functools
import random
import re
import subprocess
from pathlib import Path

import pytest
from compiling import INCLUDE, Compile

from aclnn_py import facts
from aclnn_py._ffi.contract.headers import families, fragments
from aclnn_py._ffi.contract.reader import Function
from build_parts.forwarders import forwarder_texts
from build_parts.paths import write_tree

HEADERS = sorted({fact.header for fact in facts.operators().values()})
# Operators CANN's headers give an output as const, and some they do not, from thirty headers.
PROGRAM_OPERATORS = [
    *("aclnnAdd", "aclnnAllGatherMatmul", "aclnnMatmulReduceScatter", "aclnnMatmulAllReduce"),
    *("aclnnGroupedMatMulAllReduce", "aclnnFlashAttentionScore", "aclnnFlashAttentionScoreGrad"),
    *("aclnnPromptFlashAttention", "aclnnIncreFlashAttention", "aclnnRmsNorm", "aclnnMatmul"),
    *("aclnnMoeGatingTopKSoftmax", "aclnnSwiGlu", "aclnnCast", "aclnnMul", "aclnnTopk"),
    *("aclnnSoftmax", "aclnnLayerNorm", "aclnnAddRmsNorm", "aclnnPermute", "aclnnCat"),
    *("aclnnIndexSelect", "aclnnSort", "aclnnGather", "aclnnConvolution", "aclnnBatchNorm"),
    *("aclnnGroupedMatmulV4", "aclnnQuantMatmulAllReduceV2", "aclnnInplaceCopy"),
    *("aclnnRotaryPositionEmbedding", "aclnnApplyRotaryPosEmb", "aclnnFusedAdamw"),
]


@functools.cache
def declarations() -> dict[str, Function]:
    return {f.name: f for _, functions in families(INCLUDE) for f in functions}


def cann_types(name: str) -> list[str]:
    """The parameter types of an operator as CANN's own header has them."""
    cann = facts.operators()[name].cann
    types = []
    for parameter in declarations()[f"{name}GetWorkspaceSize"].parameters[:-2]:
        spelled = cann.get(parameter.name, f"{parameter.ctype} {parameter.name}")
        types.append(re.sub(r"\w+$", "", spelled))
    return types


def program() -> str:
    """A function per operator whose arguments have exactly CANN's types."""
    names = sorted({facts.operators()[name].header for name in PROGRAM_OPERATORS})
    assert len(names) >= 30
    lines = ["#include <cstdint>", '#include "acl/acl.h"']
    lines += [f'#include "aclnnop/{name}"' for name in names]
    for name in PROGRAM_OPERATORS:
        types = cann_types(name)
        arguments = ", ".join(f"{c_type} a{i}" for i, c_type in enumerate(types))
        passed = "".join(f"a{i}, " for i in range(len(types)))
        lines.append(
            f"aclnnStatus call_{name}({arguments}, void *workspace, aclrtStream stream) {{\n"
            "    uint64_t size = 0;\n    aclOpExecutor *executor = nullptr;\n"
            f"    auto status = {name}GetWorkspaceSize({passed}&size, &executor);\n"
            f"    return status != 0 ? status : {name}(workspace, size, executor, stream);\n}}"
        )
    return "\n".join(lines) + "\n"


def test_a_file_for_each_cann_header(forwarders: Path) -> None:
    for folder in (forwarders / "aclnnop", forwarders / "aclnnop" / "level2"):
        assert sorted(path.name for path in folder.glob("*.h")) == HEADERS


def test_the_program_needs_canns_spelling(compile_text: Compile) -> None:
    text = re.sub(r'#include "aclnnop/\w+\.h"\n', "", program())
    families = "".join(
        f'#include "aclnnop/{path.name}"\n' for path in (INCLUDE / "aclnnop").glob("*.h")
    )
    assert "invalid conversion" in compile_text("c++17", families + text, INCLUDE)


def test_program_written_for_cann(compile_text: Compile, forwarders: Path, tmp_path: Path) -> None:
    target = tmp_path / "program.o"
    assert compile_text("c++17", program(), forwarders, INCLUDE, output=target) == ""
    symbols = subprocess.run(["nm", "-u", str(target)], capture_output=True, text=True, check=True)
    wanted = set(symbols.stdout.split()) - {"U"}
    for name in PROGRAM_OPERATORS:
        assert {name, f"{name}GetWorkspaceSize"} <= wanted, "the C symbols are called"


@pytest.mark.parametrize("language", ["c11", "c++17"])
@pytest.mark.parametrize("seed", [1, 2])
def test_forwarders_and_families_in_any_order(
    compile_text: Compile, forwarders: Path, language: str, seed: int
) -> None:
    names = [*HEADERS, *(f"level2/{name}" for name in HEADERS[::7])]
    names += [path.name for path in (INCLUDE / "aclnnop").glob("*.h")]
    random.Random(seed).shuffle(names)
    text = "".join(f'#include "aclnnop/{name}"\n' for name in names)
    text += "aclnnStatus f(aclTensor *self, const aclTensor *x, const aclScalar *alpha);\n"
    text += "aclnnStatus f(aclTensor *self, const aclTensor *x, const aclScalar *alpha)\n{\n"
    text += "    uint64_t size = 0;\n    aclOpExecutor *executor = NULL;\n"
    text += "    return aclnnAddGetWorkspaceSize(x, x, alpha, self, &size, &executor);\n}\n"
    assert compile_text(language, text, forwarders, INCLUDE) == ""


@pytest.mark.parametrize("name", HEADERS[::60])
def test_a_forwarder_stands_alone_in_c(compile_text: Compile, forwarders: Path, name: str) -> None:
    text = f'#include "aclnnop/{name}"\nint main(void) {{ return 0; }}\n'
    assert compile_text("c11", text, forwarders, INCLUDE) == ""


def test_forwarders_are_no_fragments(forwarders: Path) -> None:
    assert fragments(forwarders) == []


def test_only_what_differs_is_written_and_what_is_gone_is_removed(tmp_path: Path) -> None:
    written = write_tree(tmp_path, forwarder_texts(INCLUDE, facts.operators()))
    before = {path: path.stat().st_mtime_ns for path in written}
    (tmp_path / "aclnnop" / "aclnn_add.h").write_text("stale\n")
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "aclnn_gone.h").write_text("of an earlier build\n")
    texts = forwarder_texts(INCLUDE, facts.operators())
    assert write_tree(tmp_path, texts) == written
    changed = {path.name for path in written if path.stat().st_mtime_ns != before[path]}
    assert changed == {"aclnn_add.h"}
    assert "aclnnAddGetWorkspaceSize" in (tmp_path / "aclnnop" / "aclnn_add.h").read_text()
    assert not (tmp_path / "gone").exists()


def test_an_operator_without_facts_is_an_error() -> None:
    rows = {name: row for name, row in facts.operators().items() if name != "aclnnAdd"}
    with pytest.raises(ValueError, match="aclnnAdd, which has no facts"):
        forwarder_texts(INCLUDE, rows)
