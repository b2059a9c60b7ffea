# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: every documented name, and how scripts find it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.each import each
from helpers.processes import environment, run_script

from aclnn_py import acl, errors, facts
from aclnn_py._ffi import ffi, lib
from aclnn_py.acl.calls import signature_of
from aclnn_py.acl.refusals import FAMILIES, refused_names
from aclnn_py.acl.table import rows

TABLE = facts.pyacl()
LISTED = [*TABLE["functions"], *TABLE["extensions"], *TABLE["by_hand"], *refused_names()]


def named(name):
    module, _, function = name.rpartition(".")
    return getattr(getattr(acl, module) if module else acl, function)


def test_a_listed_name_is_there():
    def judge(name):
        module, _, function = name.rpartition(".")
        assert callable(named(name))
        assert named(name).__name__ == function
        assert named(name).__doc__
        assert function in dir(getattr(acl, module) if module else acl)

    each(LISTED, judge)


def test_no_name_is_listed_twice():
    assert sorted(set(LISTED)) == sorted(LISTED)


def test_a_row_fits_its_c_function():
    def judge(name):
        row = rows()[name]
        ctype = ffi.typeof(getattr(lib, row.c_name))
        assert len(ctype.args) == len(row.parameters)
        for parameter, kind in zip(row.parameters, ctype.args, strict=True):
            if parameter.role in ("result", "list", "dictionary"):
                assert kind.kind == "pointer", parameter
            if parameter.role == "count":
                assert kind.kind == "primitive", parameter
            names = {p.name for p in row.parameters}
            for measure in (parameter.length, parameter.span):
                assert not measure or measure.isdigit() or measure in names, parameter

    each(rows(), judge)


def test_too_many_arguments_are_told_what_is_taken():
    def judge(name):
        count = len(rows()[name].inputs)
        with pytest.raises(TypeError, match=rf"acl\.{name}\(\) takes .*got {count + 1}"):
            named(name)(*[0] * (count + 1))

    each(rows(), judge)


def test_a_refusal_names_the_function_and_a_way_out():
    def judge(name):
        with pytest.raises(errors.NotSupportedError, match=rf"acl\.{name} is not .*Instead: \w+"):
            named(name)("model.om", 1, 2)

    each(refused_names(), judge)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_that_is_refused_takes_any_name(family):
    with pytest.raises(errors.NotSupportedError, match=rf"acl\.{family}\.some_function is not"):
        named(f"{family}.some_function")(1, 2)


def test_results_come_before_the_status():
    assert signature_of(rows()["rt.malloc"]) == "dev_ptr, ret = acl.rt.malloc(size, policy)"
    assert signature_of(rows()["rt.free"]) == "ret = acl.rt.free(dev_ptr)"
    assert signature_of(rows()["init"]) == "ret = acl.init(config_path=None)"
    assert signature_of(rows()["get_data_buffer_addr"]).startswith("value = acl.get_data_buffer")
    state = signature_of(rows()["rt.get_primary_ctx_state"])
    assert state.startswith("active, flags, ret = "), "the reference has them in this order"


def test_constants_are_those_of_the_headers():
    assert acl.ACL_MEM_MALLOC_HUGE_FIRST == 0
    assert acl.ACL_MEMCPY_HOST_TO_DEVICE == 1
    assert acl.ACL_MEMCPY_DEVICE_TO_HOST == 2
    assert acl.constants.ACL_FLOAT16 == 1
    assert "ACL_FORMAT_ND" in dir(acl)
    assert "ACL_FORMAT_ND" in dir(acl.constants)
    for name in ("ACL_NO_SUCH_CONSTANT", "aclrtMalloc"):
        with pytest.raises(AttributeError, match=name):
            getattr(acl.constants, name)


def test_tensor_descriptions():
    desc = acl.create_tensor_desc(acl.ACL_FLOAT16, [2, -1, 4], acl.ACL_FORMAT_ND)
    assert acl.get_tensor_desc_type(desc) == acl.ACL_FLOAT16
    assert acl.get_tensor_desc_format(desc) == acl.ACL_FORMAT_ND
    assert acl.get_tensor_desc_num_dims(desc) == 3
    assert acl.get_tensor_desc_dim(desc, 2) == 4
    assert acl.get_tensor_desc_dim_v2(desc, 2) == (4, 0)
    assert acl.set_tensor_shape_range(desc, [[2, 2], [1, 9], [4, 4]]) == 0
    assert acl.get_tensor_desc_dim_range(desc, 1, 2) == ([1, 9], 0)
    acl.set_tensor_desc_name(desc, "x")
    assert acl.get_tensor_desc_name(desc) == "x"
    assert acl.set_tensor_shape(desc, (2, 3, 4)) == 0
    assert acl.set_tensor_format(desc, acl.ACL_FORMAT_NCHW) == 0
    assert acl.set_tensor_origin_shape(desc, [24]) == 0
    assert acl.set_tensor_origin_format(desc, acl.ACL_FORMAT_ND) == 0
    assert acl.set_tensor_storage_shape(desc, [24]) == 0
    assert acl.set_tensor_storage_format(desc, acl.ACL_FORMAT_ND) == 0
    assert acl.set_tensor_value_range(desc, [[0, 9]]) == 0
    assert acl.set_tensor_dynamic_input(desc, "inputs") == 0
    assert acl.set_tensor_place_ment(desc, acl.ACL_MEMTYPE_DEVICE) == 0
    content = bytes(48)
    assert acl.set_tensor_const(desc, acl.util.bytes_to_ptr(content), 48) == 0
    assert acl.trans_tensor_desc_format(desc, acl.ACL_FORMAT_ND) == (0, 207000)
    acl.destroy_tensor_desc(desc)
    whole = acl.create_tensor_desc(acl.ACL_FLOAT16, [2, 3], acl.ACL_FORMAT_ND)
    assert acl.get_tensor_desc_element_count(whole) == 6
    assert acl.get_tensor_desc_size(whole) == 12
    acl.destroy_tensor_desc(whole)
    with pytest.raises(errors.InvalidArgumentError, match=r"dims_range\[0\]: expected 2 numbers"):
        acl.set_tensor_shape_range(desc, [[1]])


def test_data_buffers():
    data = bytes(8)
    buffer = acl.create_data_buffer(acl.util.bytes_to_ptr(data), 8)
    assert acl.get_data_buffer_addr(buffer) == acl.util.bytes_to_ptr(data)
    assert acl.get_data_buffer_size(buffer) == acl.get_data_buffer_size_v2(buffer) == 8
    assert acl.update_data_buffer(buffer, 0, 0) == 0
    assert acl.get_data_buffer_addr(buffer) == 0
    assert acl.destroy_data_buffer(buffer) == 0


def test_numbers_without_a_device():
    assert acl.data_type_size(acl.ACL_FLOAT) == 4
    assert acl.float16_to_float(0x3C00) == 1.0
    assert acl.float_to_float16(-2.0) == 0xC000
    with pytest.raises(TypeError, match="value: expected a float, got list"):
        acl.float_to_float16([1.0])


def test_a_loader_on_the_path_makes_it_acl(tmp_path: Path):
    package = tmp_path / "acl"
    package.mkdir()
    (package / "__init__.py").write_text("from aclnn_py.acl import stand_in\nstand_in(__name__)\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import acl\nimport acl.rt as rt\nfrom acl.util import ptr_to_bytes\nimport aclnn_py.acl\n"
        "assert acl is aclnn_py.acl and rt is acl.rt\n"
        "assert ptr_to_bytes is acl.util.ptr_to_bytes\n"
        "assert acl.init() == 0 and acl.rt.set_device(0) == 0\n"
        "print(acl.get_soc_name())\n"
    )
    env = environment()
    env["PYTHONPATH"] = f"{tmp_path}:{env['PYTHONPATH']}"
    done = subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Ascend")


def test_an_acl_of_another_origin_stays_what_it_is(tmp_path: Path):
    (tmp_path / "acl.py").write_text("name = 'the one that was installed'\n")
    env = environment()
    env["PYTHONPATH"] = f"{tmp_path}:{env['PYTHONPATH']}"
    text = (
        "import acl, aclnn_py, aclnn_py.acl\nassert acl.name == 'the one that was installed'\n"
        "from aclnn_py import acl as ours\nassert ours.data_type_size(ours.ACL_INT64) == 8\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_it_works_beside_the_package_on_one_runtime():
    run_script(
        """
        import numpy as np
        import aclnn_py as ap
        from aclnn_py import acl
        assert acl.init() == 0 and acl.rt.set_device(0) == 0
        tensor = ap.full(16, 3, "float32")
        stream, ret = acl.rt.create_stream()
        with ap.Stream.wrap(stream):
            result = ap.functional.add(tensor, 1)
        host, ret = acl.rt.malloc_host(64)
        address = result.buffer.address
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.memcpy(host, 64, address, 64, acl.ACL_MEMCPY_DEVICE_TO_HOST) == 0
        values = np.frombuffer(acl.util.ptr_to_bytes(host, 64), np.float32)
        assert (values == 4).all(), values
        """
    ).check()


def test_importing_it_loads_no_device_library():
    run_script(
        """
        import aclnn_py.acl
        assert "libaclnn_py_emulator" not in open("/proc/self/maps").read()
        """,
        env={"ACLNN_PY_CHECK": "0"},
    ).check()
