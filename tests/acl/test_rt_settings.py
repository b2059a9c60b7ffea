# SPDX-License-Identifier: Apache-2.0
"""Settings and facts of devices and streams, each group in a process of its own."""

from __future__ import annotations

from helpers.processes import run_script

HEAD = """
import os
from aclnn_py import acl
assert acl.init() == 0 and acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
"""


def run(text: str, *arguments: str) -> None:
    run_script(HEAD + text, *arguments).check()


def test_what_the_library_says_of_itself():
    run(
        """
text, ret = acl.get_version_str("runtime")
assert ret == 0 and text[0].isdigit(), text
attributes, count, ret = acl.get_cann_attribute_list()
assert ret == 0 and count == len(attributes) > 0
for attribute in attributes:
    value, ret = acl.get_cann_attribute(attribute)
    assert ret == 0 and value in (0, 1)
cores, ret = acl.get_device_capability(0, acl.ACL_DEVICE_INFO_VECTOR_CORE_NUM)
assert ret == 0 and cores > 0
text, ret = acl.get_version_str("no such package")
assert ret != 0
assert acl.finalize_reference() == (0, 0)
"""
    )


def test_numbers_of_devices_and_the_ways_between_them():
    run(
        """
rt = acl.rt
for number in (rt.get_logic_dev_id_by_phy_dev_id, rt.get_logic_dev_id_by_user_dev_id,
               rt.get_phy_dev_id_by_logic_dev_id, rt.get_user_dev_id_by_logic_dev_id):
    assert number(0) == (0, 0), number.__name__
least, greatest, ret = acl.rt.device_get_stream_priority_range()
assert ret == 0 and least >= greatest
assert acl.rt.stream_get_priority(stream) == (greatest, 0)
assert acl.rt.device_get_bare_tgid() == (os.getpid(), 0)
assert acl.rt.set_ts_device(acl.ACL_TS_ID_AICORE) == 0
assert acl.rt.synchronize_device_with_timeout(1000) == 0
if acl.rt.get_device_count()[0] > 1:
    assert acl.rt.device_can_access_peer(0, 1) == (1, 0)
    assert acl.rt.device_enable_peer_access(1, 0) == 0
    assert acl.rt.device_peer_access_status(0, 1) == (1, 0)
    assert acl.rt.device_disable_peer_access(1) == 0
    assert acl.rt.get_devices_topo(0, 1)[1] == 0
assert acl.rt.reset_device_force(0) == 0
"""
    )


def test_limits_of_devices_streams_and_threads():
    run(
        """
cube = acl.ACL_RT_DEV_RES_CUBE_CORE
assert acl.rt.set_device_res_limit(0, cube, 8) == 0
assert acl.rt.get_device_res_limit(0, cube) == (8, 0)
assert acl.rt.reset_device_res_limit(0) == 0
assert acl.rt.set_stream_res_limit(stream, cube, 4) == 0
assert acl.rt.get_stream_res_limit(stream, cube) == (4, 0)
assert acl.rt.use_stream_res_in_current_thread(stream) == 0
assert acl.rt.get_res_in_current_thread(cube) == (4, 0)
assert acl.rt.unuse_stream_res_in_current_thread(stream) == 0
assert acl.rt.reset_stream_res_limit(stream) == 0
assert acl.rt.ctx_set_sys_param_opt(acl.ACL_OPT_DETERMINISTIC, 1) == 0
assert acl.rt.ctx_get_sys_param_opt(acl.ACL_OPT_DETERMINISTIC) == (1, 0)
assert acl.rt.set_op_execute_time_out(10) == 0
assert acl.rt.set_op_execute_timeout_v2(1_000_000) == (1_000_000, 0)
assert acl.rt.set_op_execute_time_out_with_ms(1000) == 0
count, ret = acl.rt.get_stream_available_num()
assert ret == 0 and count > 0
count, ret = acl.rt.get_event_avail_num()
assert ret == 0 and count > 0
event, ret = acl.rt.create_event()
number, ret = acl.rt.get_event_id(event)
assert ret == 0
assert acl.rt.stream_wait_event_with_timeout(stream, event, 1) == 0
memory, ret = acl.rt.malloc(64, 0)
assert acl.rt.get_overflow_status(memory, 64, stream) == 0
assert acl.rt.reset_overflow_status(stream) == 0
task, ret = acl.rt.get_thread_last_task_id()
assert ret == 0
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.stream_stop(stream) == 0
assert acl.rt.device_task_abort(0, 1000) == 0
"""
    )


def test_what_the_emulator_lacks_says_so():
    run(
        """
NOT_SUPPORTED = 207000
for value, ret in (acl.rt.get_group_count(), acl.rt.device_get_limit(0),
                   acl.rt.get_op_timeout_interval(), acl.rt.get_device_capability(0, 1),
                   acl.rt.binary_load(1), acl.rt.kernel_args_init(1),
                   acl.rt.register_cpu_func(1, "function", "kernel"),
                   acl.rt.get_function_name(1, 10)):
    assert ret == NOT_SUPPORTED and not value
assert acl.rt.set_group(0) == NOT_SUPPORTED
assert "the emulator has no groups of cores" in acl.get_recent_err_msg()
content = bytes(8)
assert acl.rt.create_binary(acl.util.bytes_to_ptr(content), 8) == 0
assert acl.rt.create_group_info() == 0
assert acl.rt.launch_kernel(1, 1, 1, 1, stream) == NOT_SUPPORTED
"""
    )


def test_dumps_and_profiles_keep_their_order(tmp_path):
    run(
        """
import sys
assert acl.mdl.init_dump() == 0
assert acl.mdl.set_dump("no_such_file.json") != 0
assert acl.mdl.finalize_dump() == 0
assert acl.prof.start(0x1234) != 0
assert acl.prof.init(sys.argv[1]) == 0
config = acl.prof.create_config([0], 0, 0, acl.ACL_PROF_TASK_TIME)
assert config != 0
assert acl.prof.set_config(10**6, "15") != 0
assert acl.prof.start(config) == 0
assert acl.prof.mark_ex("begin", stream) == 0
stamp = acl.prof.create_stamp()
assert acl.prof.set_stamp_trace_message(stamp, "step", 4) == 0
assert acl.prof.mark(stamp) == 0
assert acl.prof.push(stamp) == 0
assert acl.prof.pop() == 0
number, ret = acl.prof.range_start(stamp)
assert ret == 0
assert acl.prof.range_stop(number) == 0
assert acl.prof.destroy_stamp(stamp) is None
step = acl.prof.create_step_info()
for tag in (0, 1):
    assert acl.prof.get_step_timestamp(step, tag, stream) == 0
assert acl.prof.destroy_step_info(step) is None
assert acl.prof.stop(config) == 0
assert acl.prof.destroy_config(config) == 0
assert acl.prof.destroy_config(config) != 0
assert acl.prof.finalize() == 0
""",
        str(tmp_path),
    )
