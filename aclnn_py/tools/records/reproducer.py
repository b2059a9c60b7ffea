# SPDX-License-Identifier: Apache-2.0
"""A recorded call as a C++ program that needs CANN's headers and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from aclnn_py.facts import operator as operator_facts
from aclnn_py.operators.describe.parameter import Parameter
from aclnn_py.operators.launch.op import Op
from aclnn_py.operators.record.file import RecordedCall, RecordError, View
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import format_of
from aclnn_py.tools.cpp_text import (
    Code,
    comment,
    cpp,
    identifier,
    integer,
    integers,
    joined,
    real,
    string,
)
from aclnn_py.tools.records.replayer import operator_of

__all__ = ["program"]

# More than this is filled by a rule, so that the program can still be read.
_LITERAL_NBYTES = 16384
_PER_LINE = 16
# Width of the integers among the kinds of parameters, and whether they have a sign.
_INTEGERS = {"b": (8, True), "i": (32, True), "u": (32, False), "l": (64, True), "q": (64, False)}

_TOP = """\
{about}
// Build against CANN, or against the emulator of aclnn_py:
//   g++ -std=c++17 $(aclnn-py config --cflags) THIS.cpp $(aclnn-py config --libs) -o reproducer
{line}
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include {header}
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
    body: list[Code] = []
    big = any(memory.nbytes > _LITERAL_NBYTES for memory in call.memories)
    for index, memory in enumerate(call.memories):
        body += _memory(index, memory.nbytes, memory.before, data)
    for index, view in enumerate(call.views):
        body += _view(index, view)
    names: list[Code] = []
    for parameter, written in zip(op.parameters, call.arguments, strict=True):
        lines, name = _argument(parameter, written, call)
        body += lines
        names.append(name)
    _check_owners(op, call)
    facts = operator_facts(op.c_name)
    header = facts["header"] if facts is not None else f"{op.c_name}.h"
    outcome = f"ended with {call.status} in {call.stage}" if call.status else "succeeded"
    top = cpp(
        _TOP,
        about=comment(f"{op.c_name}: a call that {outcome}"),
        header=string(f"aclnnop/{header}"),
        line=cpp("{}\n", comment(f"Recorded from {call.line}")) if call.line else Code(""),
        more=Code('#include "hccl/hccl.h"\n' if call.group else ""),
        fill=Code(_FILL if big else ""),
    )
    return top + "\n".join(_main(op, call, body, names)) + "\n"


def _main(op: Op, call: RecordedCall, body: list[Code], names: list[Code]) -> Iterator[Code]:
    arguments = joined([*names, Code("&workspaceSize"), Code("&executor")])
    operator = identifier(op.c_name)
    yield Code("\nint main() {")
    yield Code('  if (!ok("aclInit", aclInit(nullptr))) return 1;')
    if call.group:
        yield from _communicators(call.group)
    else:
        yield Code('  if (!ok("aclrtSetDevice", aclrtSetDevice(0))) return 1;')
    yield Code("  aclrtStream stream = nullptr;")
    yield Code('  if (!ok("aclrtCreateStream", aclrtCreateStream(&stream))) return 1;')
    yield Code("")
    yield from (cpp("  {}", line) if line else line for line in body)
    yield Code("")
    yield Code("  uint64_t workspaceSize = 0;")
    yield Code("  aclOpExecutor *executor = nullptr;")
    yield cpp('  if (ok("{}GetWorkspaceSize",', operator)
    yield cpp("         {}GetWorkspaceSize({}))) {{", operator, arguments)
    yield Code("    void *workspace = nullptr;")
    yield Code("    if (workspaceSize > 0) {")
    yield Code('      ok("aclrtMalloc",')
    yield Code("         aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));")
    yield Code("    }")
    yield cpp('    ok("{0}", {0}(workspace, workspaceSize, executor, stream));', operator)
    yield Code('    ok("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));')
    yield Code("    if (workspace != nullptr) aclrtFree(workspace);")
    yield Code("  }")
    yield Code("")
    yield from _clean_up(op, call)
    yield Code("  return g_failed == 0 ? 0 : 1;")
    yield Code("}")


def _communicators(ranks: int) -> Iterator[Code]:
    yield cpp(
        "  // The operator names a communicator of {} ranks; this is the call of rank 0.", ranks
    )
    yield cpp("  HcclComm communicators[{}] = {{}};", ranks)
    yield cpp("  int32_t devices[{}] = {};", ranks, integers(range(ranks)))
    yield cpp("  const int made = HcclCommInitAll({}, devices, communicators);", ranks)
    yield Code('  if (!ok("HcclCommInitAll", made)) return 1;')
    yield Code('  if (!ok("aclrtSetDevice", aclrtSetDevice(0))) return 1;')
    yield Code("  char group[128] = {};")
    yield Code('  if (!ok("HcclGetCommName", HcclGetCommName(communicators[0], group))) return 1;')


def _memory(
    index: int, nbytes: int, name: str | None, data: Callable[[str, int], bytes]
) -> Iterator[Code]:
    yield cpp("void *memory{} = nullptr;", index)
    if nbytes == 0:
        return
    yield cpp(
        'if (!ok("aclrtMalloc", aclrtMalloc(&memory{}, {}, ACL_MEM_MALLOC_HUGE_FIRST))) return 1;',
        index,
        nbytes,
    )
    if name is None:
        return
    raw = data(name, nbytes) if nbytes <= _LITERAL_NBYTES else b""
    if raw and not any(raw):
        yield cpp("const std::vector<uint8_t> bytes{}({}, 0);", index, nbytes)
    elif raw:
        yield cpp("const std::vector<uint8_t> bytes{} = {{", index)
        for at in range(0, nbytes, _PER_LINE):
            row = joined((cpp("{},", byte) for byte in raw[at : at + _PER_LINE]), " ")
            yield cpp("    {}", row)
        yield Code("};")
    else:
        yield cpp("const std::vector<uint8_t> bytes{} = filled({});", index, nbytes)
    yield cpp('ok("aclrtMemcpy", aclrtMemcpy(memory{0}, {1}, bytes{0}.data(), {1},', index, nbytes)
    yield Code("                              ACL_MEMCPY_HOST_TO_DEVICE));")


def _view(index: int, view: View) -> Iterator[Code]:
    yield comment(f"{view.dtype}{list(view.shape)}, strides {list(view.strides)}, {view.format}")
    yield cpp("const int64_t shape{}[] = {};", index, integers(view.shape))
    yield cpp("const int64_t strides{}[] = {};", index, integers(view.strides))
    yield cpp("const int64_t storage{}[] = {};", index, integers(view.storage_shape))
    dtype, format = dtype_of(view.dtype).acl, int(format_of(view.format))
    yield cpp("aclTensor *tensor{} = aclCreateTensor(", index)
    yield cpp(
        "    shape{0}, {1}, static_cast<aclDataType>({2}), strides{0},",
        index,
        len(view.shape),
        dtype,
    )
    yield cpp("    {}, static_cast<aclFormat>({}), storage{},", integer(view.offset), format, index)
    yield cpp("    {}, memory{});", len(view.storage_shape), view.memory)


def _argument(parameter: Parameter, written: Any, call: RecordedCall) -> tuple[list[Code], Code]:
    """Lines that make an argument, and how it is passed."""
    name, kind, null = identifier(parameter.c_name), parameter.kind, Code("nullptr")
    if kind == "T":
        return [], _tensor(written)
    if kind in "LSRIFB":
        return ([], null) if written is None else (list(_object(name, kind, written)), name)
    if kind == "s":
        if written is None:
            return [], null
        if call.group and parameter.name.startswith("group"):
            return [], Code("group")
        # Some headers take a char * that they do not write.
        return [cpp("char {}[] = {};", name, string(written))], name
    if kind == "y":
        code = -1 if written is None else dtype_of(written).acl
        return [], cpp("static_cast<aclDataType>({})", code)
    if kind == "?":
        return [], _truth(written)
    if kind in "fd":
        return [], real(float.fromhex(written), single=kind == "f")
    bits, signed = _INTEGERS[kind]
    return [], integer(written, bits, signed=signed)


def _tensor(index: int | None) -> Code:
    return Code("nullptr") if index is None else cpp("tensor{}", index)


def _truth(value: bool | int) -> Code:
    return Code("true" if value else "false")


def _object(name: Code, kind: str, written: Any) -> Iterator[Code]:
    count = len(written)
    if kind == "L":
        items = joined(map(_tensor, written), empty="nullptr")
        yield cpp("const aclTensor *{}Items[] = {{{}}};", name, items)
        yield cpp("aclTensorList *{0} = aclCreateTensorList({0}Items, {1});", name, count)
    elif kind == "S":
        yield from _scalar(name, *written)
    elif kind == "R":
        names = [cpp("{}{}", name, index) for index in range(count)]
        for one, item in zip(names, written, strict=True):
            yield from _scalar(one, *item)
        items = joined(names, empty="nullptr")
        yield cpp("const aclScalar *{}Items[] = {{{}}};", name, items)
        yield cpp("aclScalarList *{0} = aclCreateScalarList({0}Items, {1});", name, count)
    elif kind == "I":
        yield cpp("const int64_t {}Items[] = {};", name, integers(written))
        yield cpp("aclIntArray *{0} = aclCreateIntArray({0}Items, {1});", name, count)
    elif kind == "F":
        values = joined((real(float.fromhex(item), single=True) for item in written), empty="0")
        yield cpp("const float {}Items[] = {{{}}};", name, values)
        yield cpp("aclFloatArray *{0} = aclCreateFloatArray({0}Items, {1});", name, count)
    else:
        values = joined(map(_truth, written), empty="false")
        yield cpp("const bool {}Items[] = {{{}}};", name, values)
        yield cpp("aclBoolArray *{0} = aclCreateBoolArray({0}Items, {1});", name, count)


def _scalar(name: Code, dtype: str, data: str) -> Iterator[Code]:
    raw = integers(bytes.fromhex(data))
    yield cpp("alignas(16) unsigned char {}Value[] = {};  {}", name, raw, comment(dtype))
    yield cpp(
        "aclScalar *{0} = aclCreateScalar({0}Value, static_cast<aclDataType>({1}));",
        name,
        dtype_of(dtype).acl,
    )


_DESTROY = {
    "L": "aclDestroyTensorList",
    "S": "aclDestroyScalar",
    "R": "aclDestroyScalarList",
    "I": "aclDestroyIntArray",
    "F": "aclDestroyFloatArray",
    "B": "aclDestroyBoolArray",
}


def _check_owners(op: Op, call: RecordedCall) -> None:
    """A list destroys its tensors: one that stands in a list may stand nowhere else."""
    listed: set[int] = set()
    single: set[int] = set()
    for parameter, written in zip(op.parameters, call.arguments, strict=True):
        if written is None or not parameter.is_tensor:
            continue
        items = written if parameter.kind == "L" else [written]
        for item in items:
            if item in listed or (parameter.kind == "L" and item in single):
                raise RecordError(
                    f"{op.c_name}: argument {parameter.name}: found tensor {item} again; allowed in"
                    " a program is one place for a tensor of a list"
                )
            if item is not None:
                (listed if parameter.kind == "L" else single).add(item)


def _clean_up(op: Op, call: RecordedCall) -> Iterator[Code]:
    owned: set[int] = set()
    for parameter, written in zip(op.parameters, call.arguments, strict=True):
        if written is None or parameter.kind not in _DESTROY:
            continue
        if parameter.kind == "L":
            owned.update(item for item in written if item is not None)
        yield cpp("  {}({});", Code(_DESTROY[parameter.kind]), identifier(parameter.c_name))
    for index in range(len(call.views)):
        if index not in owned:  # destroying a list destroys what is in it
            yield cpp("  aclDestroyTensor(tensor{});", index)
    for index, memory in enumerate(call.memories):
        if memory.nbytes:
            yield cpp("  aclrtFree(memory{});", index)
    yield Code("  aclrtDestroyStream(stream);")
    if call.group:
        yield Code("  for (HcclComm communicator : communicators) HcclCommDestroy(communicator);")
    yield Code("  aclrtResetDevice(0);")
    yield Code("  aclFinalize();")
