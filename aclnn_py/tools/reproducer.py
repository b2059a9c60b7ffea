# SPDX-License-Identifier: Apache-2.0
"""A recorded call as a C++ program that needs CANN's headers and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from aclnn_py.dtypes import dtype_of
from aclnn_py.facts import operator as operator_facts
from aclnn_py.formats import format_of
from aclnn_py.operators.op import Op
from aclnn_py.operators.parameter import Parameter
from aclnn_py.operators.record_file import RecordedCall, View
from aclnn_py.tools.replaying import operator_of

__all__ = ["program"]

# More than this is filled by a rule, so that the program can still be read.
_LITERAL_NBYTES = 16384
_PER_LINE = 16

_TOP = """\
// {operator}: a call that {outcome}
// Build against CANN, or against the emulator of aclnn_py:
//   g++ -std=c++17 $(aclnn-py config --cflags) THIS.cpp $(aclnn-py config --libs) -o reproducer
{line}
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/{header}"
{more}
static int g_failed = 0;  // the first status that was not 0

// Prints what a call returned, and what the library says about it.
static bool ok(const char *what, int status) {{
  std::printf("%s: %d\\n", what, status);
  if (status == 0) return true;
  const char *text = aclGetRecentErrMsg();
  if (text != nullptr) std::printf("%s\\n", text);
  if (g_failed == 0) g_failed = status;
  return false;
}}
{fill}"""

_FILL = """
// Stands for recorded data that were left out for their size.
static std::vector<uint8_t> filled(size_t count) {
  std::vector<uint8_t> bytes(count);
  uint32_t state = 1;
  for (uint8_t &byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 26);
  }
  return bytes;
}
"""


def program(call: RecordedCall, data: Callable[[str, int], bytes]) -> str:
    """Return the text of a C++17 program that makes the call.

    It prints each status, and its exit status is 1 when one was not 0.

    Parameters
    ----------
    call : RecordedCall
    data : callable
        Returns stored bytes by name and length.

    Returns
    -------
    str
        One file.
    """
    op = operator_of(call)
    body: list[str] = []
    big = any(memory.nbytes > _LITERAL_NBYTES for memory in call.memories)
    for index, memory in enumerate(call.memories):
        body += _memory(index, memory.nbytes, memory.before, data)
    for index, view in enumerate(call.views):
        body += _view(index, view)
    names: list[str] = []
    for parameter, written in zip(op.parameters, call.arguments, strict=True):
        lines, name = _argument(parameter, written, call)
        body += lines
        names.append(name)
    facts = operator_facts(call.operator)
    header = facts["header"] if facts is not None else f"{call.operator}.h"
    outcome = f"ended with {call.status} in {call.stage}" if call.status else "succeeded"
    line = f"// Recorded from {call.line}\n" if call.line else ""
    more = '#include "hccl/hccl.h"\n' if call.group else ""
    top = _TOP.format(
        operator=call.operator,
        outcome=outcome,
        header=header,
        line=line,
        more=more,
        fill=_FILL if big else "",
    )
    return top + "\n".join(_main(op, call, body, names)) + "\n"


def _main(op: Op, call: RecordedCall, body: list[str], names: list[str]) -> Iterator[str]:
    arguments = ", ".join([*names, "&workspaceSize", "&executor"])
    yield "\nint main() {"
    yield '  if (!ok("aclInit", aclInit(nullptr))) return 1;'
    if call.group:
        yield from _communicators(call.group)
    else:
        yield '  if (!ok("aclrtSetDevice", aclrtSetDevice(0))) return 1;'
    yield "  aclrtStream stream = nullptr;"
    yield '  if (!ok("aclrtCreateStream", aclrtCreateStream(&stream))) return 1;'
    yield ""
    yield from (f"  {line}" if line else "" for line in body)
    yield ""
    yield "  uint64_t workspaceSize = 0;"
    yield "  aclOpExecutor *executor = nullptr;"
    yield f'  if (ok("{op.c_name}GetWorkspaceSize",'
    yield f"         {op.c_name}GetWorkspaceSize({arguments}))) {{"
    yield "    void *workspace = nullptr;"
    yield "    if (workspaceSize > 0) {"
    yield '      ok("aclrtMalloc",'
    yield "         aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));"
    yield "    }"
    yield f'    ok("{op.c_name}", {op.c_name}(workspace, workspaceSize, executor, stream));'
    yield '    ok("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));'
    yield "    if (workspace != nullptr) aclrtFree(workspace);"
    yield "  }"
    yield ""
    yield from _clean_up(op, call)
    yield "  return g_failed == 0 ? 0 : 1;"
    yield "}"


def _communicators(ranks: int) -> Iterator[str]:
    yield f"  // The operator names a communicator of {ranks} ranks; this is the call of rank 0."
    yield f"  HcclComm communicators[{ranks}] = {{}};"
    yield f"  int32_t devices[{ranks}] = {{{', '.join(map(str, range(ranks)))}}};"
    yield f"  const int made = HcclCommInitAll({ranks}, devices, communicators);"
    yield '  if (!ok("HcclCommInitAll", made)) return 1;'
    yield '  if (!ok("aclrtSetDevice", aclrtSetDevice(0))) return 1;'
    yield "  char group[128] = {};"
    yield '  if (!ok("HcclGetCommName", HcclGetCommName(communicators[0], group))) return 1;'


def _memory(
    index: int, nbytes: int, name: str | None, data: Callable[[str, int], bytes]
) -> Iterator[str]:
    yield f"void *memory{index} = nullptr;"
    if nbytes == 0:
        return
    yield (f'if (!ok("aclrtMalloc", aclrtMalloc(&memory{index}, {nbytes}, '
           "ACL_MEM_MALLOC_HUGE_FIRST))) return 1;")  # fmt: skip
    if name is None:
        return
    raw = data(name, nbytes) if nbytes <= _LITERAL_NBYTES else b""
    if raw and not any(raw):
        yield f"const std::vector<uint8_t> bytes{index}({nbytes}, 0);"
    elif raw:
        yield f"const std::vector<uint8_t> bytes{index} = {{"
        for at in range(0, nbytes, _PER_LINE):
            yield "    " + " ".join(f"{byte}," for byte in raw[at : at + _PER_LINE])
        yield "};"
    else:
        yield f"const std::vector<uint8_t> bytes{index} = filled({nbytes});"
    yield f'ok("aclrtMemcpy", aclrtMemcpy(memory{index}, {nbytes}, bytes{index}.data(), {nbytes},'
    yield "                              ACL_MEMCPY_HOST_TO_DEVICE));"


def _view(index: int, view: View) -> Iterator[str]:
    yield f"// {view.dtype}{list(view.shape)}, strides {list(view.strides)}, {view.format}"
    yield f"const int64_t shape{index}[] = {_numbers(view.shape)};"
    yield f"const int64_t strides{index}[] = {_numbers(view.strides)};"
    yield f"const int64_t storage{index}[] = {_numbers(view.storage_shape)};"
    dtype, format = dtype_of(view.dtype).acl, int(format_of(view.format))
    yield f"aclTensor *tensor{index} = aclCreateTensor("
    yield f"    shape{index}, {len(view.shape)}, static_cast<aclDataType>({dtype}), strides{index},"
    yield f"    {view.offset}, static_cast<aclFormat>({format}), storage{index},"
    yield f"    {len(view.storage_shape)}, memory{view.memory});"


def _numbers(values: tuple[int, ...]) -> str:
    # C++ has no arrays of no elements.
    return "{" + (", ".join(map(str, values)) or "0") + "}"


def _argument(parameter: Parameter, written: Any, call: RecordedCall) -> tuple[list[str], str]:
    """Lines that make an argument, and how it is passed."""
    name, kind = parameter.c_name, parameter.kind
    if kind == "T":
        return [], "nullptr" if written is None else f"tensor{written}"
    if kind in "LSRIFB":
        return ([], "nullptr") if written is None else (list(_object(name, kind, written)), name)
    if kind == "s":
        if written is not None and call.group and parameter.name.startswith("group"):
            return [], "group"
        spelled = "nullptr" if written is None else _string(written)
        # Some headers take a char * that they do not write.
        return ([], "nullptr") if written is None else (
            [f"char {name}[] = {spelled};"], name)  # fmt: skip
    if kind == "y":
        code = -1 if written is None else dtype_of(written).acl
        return [], f"static_cast<aclDataType>({code})"
    if kind == "?":
        return [], "true" if written else "false"
    if kind in "fd":
        return [], _real(written, kind)
    return [], _integer(written, kind)


def _integer(value: int, kind: str) -> str:
    if kind == "l" and value == -(2**63):
        return "INT64_MIN"
    if kind == "i" and value == -(2**31):
        return "INT32_MIN"
    return (
        f"UINT64_C({value})" if kind == "q" else f"INT64_C({value})" if kind == "l" else str(value)
    )


def _real(text: str, kind: str) -> str:
    value = float.fromhex(text)
    if value != value:
        return '__builtin_nan("")'
    if value in (float("inf"), float("-inf")):
        return "__builtin_inf()" if value > 0 else "-__builtin_inf()"
    return f"static_cast<float>({value!r})" if kind == "f" else repr(value)


def _object(name: str, kind: str, written: Any) -> Iterator[str]:
    count = len(written)
    if kind == "L":
        items = ["nullptr" if item is None else f"tensor{item}" for item in written]
        yield f"const aclTensor *{name}Items[] = {{{', '.join(items) or 'nullptr'}}};"
        yield f"aclTensorList *{name} = aclCreateTensorList({name}Items, {count});"
    elif kind == "S":
        yield from _scalar(name, *written)
    elif kind == "R":
        for index, item in enumerate(written):
            yield from _scalar(f"{name}{index}", *item)
        items = [f"{name}{index}" for index in range(count)]
        yield f"const aclScalar *{name}Items[] = {{{', '.join(items) or 'nullptr'}}};"
        yield f"aclScalarList *{name} = aclCreateScalarList({name}Items, {count});"
    elif kind == "I":
        yield f"const int64_t {name}Items[] = {_numbers(tuple(written))};"
        yield f"aclIntArray *{name} = aclCreateIntArray({name}Items, {count});"
    elif kind == "F":
        values = ", ".join(_real(item, "f") for item in written) or "0"
        yield f"const float {name}Items[] = {{{values}}};"
        yield f"aclFloatArray *{name} = aclCreateFloatArray({name}Items, {count});"
    else:
        values = ", ".join("true" if item else "false" for item in written) or "false"
        yield f"const bool {name}Items[] = {{{values}}};"
        yield f"aclBoolArray *{name} = aclCreateBoolArray({name}Items, {count});"


def _scalar(name: str, dtype: str, data: str) -> Iterator[str]:
    raw = bytes.fromhex(data)
    yield f"alignas(16) unsigned char {name}Value[] = {_numbers(tuple(raw))};  // {dtype}"
    yield (f"aclScalar *{name} = aclCreateScalar({name}Value, "
           f"static_cast<aclDataType>({dtype_of(dtype).acl}));")  # fmt: skip


def _string(text: str) -> str:
    spelled = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogateescape")
    )
    return f'"{spelled}"'


_DESTROY = {
    "L": "aclDestroyTensorList",
    "S": "aclDestroyScalar",
    "R": "aclDestroyScalarList",
    "I": "aclDestroyIntArray",
    "F": "aclDestroyFloatArray",
    "B": "aclDestroyBoolArray",
}


def _clean_up(op: Op, call: RecordedCall) -> Iterator[str]:
    owned: set[int] = set()
    for parameter, written in zip(op.parameters, call.arguments, strict=True):
        if written is None or parameter.kind not in _DESTROY:
            continue
        if parameter.kind == "L":
            owned.update(item for item in written if item is not None)
        yield f"  {_DESTROY[parameter.kind]}({parameter.c_name});"
    for index in range(len(call.views)):
        if index not in owned:  # destroying a list destroys what is in it
            yield f"  aclDestroyTensor(tensor{index});"
    for index, memory in enumerate(call.memories):
        if memory.nbytes:
            yield f"  aclrtFree(memory{index});"
    yield "  aclrtDestroyStream(stream);"
    if call.group:
        yield "  for (HcclComm communicator : communicators) HcclCommDestroy(communicator);"
    yield "  aclrtResetDevice(0);"
    yield "  aclFinalize();"
