# SPDX-License-Identifier: Apache-2.0
"""Numbers that are no address, given to every function of the table."""

from __future__ import annotations

import pytest
from helpers.processes import run_script

# What ends the runtime or a device would leave nothing to ask.
WALK = """
import os
import sys
from aclnn_py import acl, errors
from aclnn_py._ffi import ffi, lib
from aclnn_py.acl.table import rows

ENDING = {"init", "finalize", "finalize_reference", "rt.reset_device", "rt.reset_device_force",
          "aclnn_init", "aclnn_finalize"}
number = int(sys.argv[1])
os.chdir(sys.argv[2])  # some functions write files
assert acl.init() == 0 and acl.rt.set_device(0) == 0

def argument(parameter, kind):
    if parameter.role == "dictionary":
        return {}
    if parameter.role == "list":
        item = kind.item
        if parameter.length.isdigit():
            return [[1, 2]]
        return ["x"] if item.cname == "char *" else [number if item.kind == "pointer" else 1]
    if kind.kind == "pointer":
        return "x" if kind.item.cname == "char" else number
    return 1.0 if kind.cname in ("float", "double") else 8

for name, row in rows().items():
    if name in ENDING:
        continue
    types = zip(row.parameters, ffi.typeof(getattr(lib, row.c_name)).args)
    kinds = {p.name: kind for p, kind in types if p.role != "count"}
    arguments = [argument(p, kinds[p.name]) for p in row.inputs]
    module, _, function = name.rpartition(".")
    print(name, flush=True)
    try:
        getattr(getattr(acl, module) if module else acl, function)(*arguments)
    except errors.InvalidArgumentError as error:
        assert any(p.name in str(error) for p in row.inputs), (name, str(error))
assert acl.rt.get_device_count()[1] == 0
print("end")
"""


@pytest.mark.emulator_only(reason="CANN does not judge every handle")
@pytest.mark.parametrize("number", [0, 1, 0x1234, 0x7F00_0000_1000, 2**64 - 1], ids=hex)
def test_no_function_of_the_table_ends_the_process(number, tmp_path):
    outcome = run_script(WALK, str(number), str(tmp_path), env={"ACLNN_PY_CHECK": "0"})
    last = outcome.out.splitlines()[-1:]
    assert outcome.status == 0 and last == ["end"], f"after {last}: {outcome.err}"
