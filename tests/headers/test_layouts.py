# SPDX-License-Identifier: Apache-2.0
"""Sizes, offsets and numbers that CANN's binary interface fixes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compiling import INCLUDE, Compile, compiler_for, known_fragments

from aclnn_py import facts
from aclnn_py._ffi.contract.reader import read_file

SIZES = {
    "aclrtMemLocation": 8,
    "aclrtPhysicalMemProp": 32,
    "aclrtMallocConfig": 16,
    "aclrtMallocAttribute": 12,
    "aclrtUtilizationInfo": 24,
    "aclrtMemUceInfo": 128,
    "aclrtStreamConfigHandle": 32,
    "aclrtLaunchKernelCfg": 16,
    "aclrtLaunchKernelAttr": 20,
    "aclrtBinaryLoadOptions": 16,
    "aclrtPtrAttributes": 28,
    "aclCANNPackageVersion": 512,
    "HcclSendRecvItem": 32,
    "HcclRootInfo": 4108,
    "HcclCommConfig": 300,
    "aclrtMemcpyBatchAttr": 32,
    "aclrtMemUsageInfo": 112,
    "aclrtUuid": 16,
    "aclrtMemAccessDesc": 24,
    "aclrtMemPoolProps": 56,
    "aclrtIpcEventHandle": 64,
}
OFFSETS = {
    "aclrtMemLocation": {"id": 0, "type": 4},
    "aclrtPhysicalMemProp": {
        "handleType": 0,
        "allocationType": 4,
        "memAttr": 8,
        "location": 12,
        "reserve": 24,
    },
    "aclrtMemcpyBatchAttr": {"dstLoc": 0, "srcLoc": 8, "rsv": 16},
    "aclCANNPackageVersion": {
        "version": 0,
        "majorVersion": 128,
        "minorVersion": 192,
        "releaseVersion": 256,
        "patchVersion": 320,
        "reserved": 384,
    },
    "HcclSendRecvItem": {
        "sendRecvType": 0,
        "buf": 8,
        "count": 16,
        "dataType": 24,
        "remoteRank": 28,
    },
    "HcclCommConfig": {
        "hcclBufferSize": 24,
        "hcclDeterministic": 28,
        "hcclCommName": 32,
        "hcclUdi": 160,
        "hcclOpExpansionMode": 288,
        "hcclRdmaTrafficClass": 292,
        "hcclRdmaServiceLevel": 296,
    },
}
VALUES = {
    "ACL_DT_UNDEFINED": -1,
    "ACL_FLOAT": 0,
    "ACL_FLOAT16": 1,
    "ACL_INT32": 3,
    "ACL_BF16": 27,
    "ACL_INT4": 29,
    "ACL_COMPLEX32": 33,
    "ACL_FLOAT8_E5M2": 35,
    "ACL_FLOAT4_E1M2": 41,
    "ACL_FORMAT_ND": 2,
    "ACL_FORMAT_FRACTAL_NZ": 29,
    "ACL_FORMAT_NCL": 47,
    "ACL_FORMAT_FRACTAL_NZ_C0_8": 54,
    "ACL_MEMCPY_DEVICE_TO_DEVICE": 3,
    "ACL_MEM_MALLOC_HUGE1G_ONLY_P2P": 7,
    "ACL_MEM_TYPE_HIGH_BAND_WIDTH": 0x1000,
    "ACL_EVENT_RECORDED_STATUS_COMPLETE": 1,
    "ACL_EVENT_STATUS_COMPLETE": 0,
    "ACL_EVENT_SYNC": 1,
    "ACL_EVENT_TIME_LINE": 8,
    "ACL_STREAM_FAST_SYNC": 2,
    "ACL_MODEL_RI_CAPTURE_MODE_RELAXED": 2,
    "ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED": 2,
    "HCCL_DATA_TYPE_FP16": 3,
    "HCCL_DATA_TYPE_BFP16": 11,
    "HCCL_REDUCE_MIN": 3,
    "HCCL_E_TIMEOUT": 9,
    "HCCL_COMM_CONFIG_MAGIC_WORD": 0xF0F0F0F0,
    "ACL_ERROR_RT_PARAM_INVALID": 107000,
    "ACLNN_ERR_INNER_NULLPTR": 561103,
    "ACL_PROF_AICORE_SHAPE": 1 << 35,
    "ACL_UNKNOWN_RANK": 0xFFFFFFFFFFFFFFFE,
}
INCLUDES = "".join(
    f'#include "{path.relative_to(INCLUDE).as_posix()}"\n'
    for path in known_fragments()
    if path.parent.name != "aclnnop"
)


@pytest.mark.parametrize("language", ["c11", "c++17"])
def test_sizes_and_offsets(compile_text: Compile, language: str) -> None:
    check = "_Static_assert" if language == "c11" else "static_assert"
    lines = [f'{check}(sizeof({name}) == {size}, "{name}");' for name, size in SIZES.items()]
    lines += [
        f'{check}(offsetof({name}, {member}) == {offset}, "{name}.{member}");'
        for name, members in OFFSETS.items()
        for member, offset in members.items()
    ]
    text = INCLUDES + "#include <stddef.h>\n" + "\n".join(lines) + "\n"
    assert compile_text(language, text, INCLUDE) == ""


def test_numbers() -> None:
    constants: dict[str, int] = {}
    for path in known_fragments():
        constants.update(read_file(path).constants)
    assert {name: constants[name] for name in VALUES} == VALUES


def test_status_names_have_the_numbers_of_the_facts() -> None:
    constants: dict[str, int] = {}
    for path in known_fragments():
        constants.update(read_file(path).constants)
    rows = [row for row in facts.statuses() if isinstance(row["code"], int)]
    assert len(rows) == 307
    for row in rows:
        assert constants[row["name"]] == row["code"]
    assert facts.statuses()[0]["name"] == "ACL_SUCCESS"


def test_comm_config_init_fills_the_header_the_library_checks(tmp_path: Path) -> None:
    program = tmp_path / "config"
    source = r"""
    #include <stdio.h>
    #include <string.h>
    #include "hccl/hccl.h"
    int main(void) {
        HcclCommConfig config;
        size_t size; uint32_t magic, version; uint64_t zero;
        memset(&config, 0xAA, sizeof(config));
        HcclCommConfigInit(&config);
        HcclCommConfigInit(NULL);
        memcpy(&size, config.reserved, 8);
        memcpy(&magic, config.reserved + 8, 4);
        memcpy(&version, config.reserved + 12, 4);
        memcpy(&zero, config.reserved + 16, 8);
        printf("%zu %x %u %u %x %x %d %d %x\n", size, magic, version, (unsigned)zero,
               config.hcclBufferSize, config.hcclDeterministic, config.hcclCommName[0],
               config.hcclUdi[127], config.hcclRdmaServiceLevel);
        return 0;
    }
    """
    for language, flag in (("c11", "c"), ("c++17", "c++")):
        command = [*compiler_for(language), "-x", flag, f"-I{INCLUDE}", "-o", str(program), "-"]
        subprocess.run(command, input=source, text=True, check=True)
        answer = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
        assert answer == "300 f0f0f0f0 5 0 ffffffff ffffffff 0 0 ffffffff\n"
