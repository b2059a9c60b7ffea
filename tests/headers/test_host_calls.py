# SPDX-License-Identifier: Apache-2.0
"""Functions without executor: the form programs written for CANN call them in."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import INCLUDE, Compile

COMBINE = (
    "aclnnMoeDistributeCombineSetupTeardownCalcOutputSize(x, x, x, name, 8, 0, 32, 0, 0, 0, 0, 0, "
    "2, name, {}, {})"
)


def program(header: str, call: str) -> str:
    return (
        f'#include "acl/acl.h"\n#include "aclnnop/{header}"\n'
        "aclnnStatus f(const aclTensor *x, const char *name, uint64_t first, uint64_t second);\n"
        "aclnnStatus f(const aclTensor *x, const char *name, uint64_t first, uint64_t second)\n"
        f"{{\n    return {call} + (aclnnStatus)(first + second);\n}}\n"
    )


@pytest.mark.parametrize("header", ["aclnn_add.h", "aclnn_moe_distribute_combine_setup.h"])
def test_sizes_are_written_by_reference_in_cpp_and_by_pointer_in_c(
    compile_text: Compile, forwarders: Path, header: str
) -> None:
    by_name, by_address = COMBINE.format("first", "second"), COMBINE.format("&first", "&second")
    places = (forwarders, INCLUDE)
    assert compile_text("c++17", program(header, by_name), *places) == ""
    assert compile_text("c11", program(header, by_address), *places) == ""
    assert "error" in compile_text("c++17", program(header, by_address), *places)
    assert "error" in compile_text("c11", program(header, by_name), *places)


@pytest.mark.parametrize("language", ["c11", "c++17"])
@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("aclnn_set_pytorch_random.h", "aclnnSetPytorchRandom"),
        ("aclnn_trans_convolution_weight.h", "aclnnCalculateConvolutionWeightSize"),
        ("aclnn_npu_format_cast.h", "aclnnNpuFormatCastCalculateSizeAndFormat"),
        ("aclnn_sparse4to2quant_matmul_weight_nz.h", "aclnnTransSparse4to2Para"),
    ],
)
def test_header_declares(
    compile_text: Compile, forwarders: Path, language: str, header: str, name: str
) -> None:
    text = f'#include "aclnnop/{header}"\nint main(void) {{ return sizeof(&{name}) == 0; }}\n'
    assert compile_text(language, text, forwarders, INCLUDE) == ""


MACROS = """
#include "acl/acl.h"
#include "acl/acl_dump.h"
ACL_FUNC_VISIBILITY int seen(void);
ACL_DEPRECATED int old_one(void);
ACL_DEPRECATED_MESSAGE("use seen") int older_one(void);
int use(void);
int use(void)
{
    const char *names[] = {ACL_DYNAMIC_TENSOR_NAME, ACL_DYNAMIC_AIPP_NAME};
    ACL_APP_LOG(ACL_INFO, "only text");
    ACL_APP_LOG(ACL_ERROR, "%s %d", names[0], ACL_OP_DUMP_OP_AICORE_ARGS);
    return seen() + ACL_RT_SUCCESS + (names[1] == 0);
}
"""


@pytest.mark.parametrize("language", ["c11", "c++17"])
def test_macros_of_programs(compile_text: Compile, language: str) -> None:
    assert compile_text(language, MACROS, INCLUDE) == ""
    used = MACROS.replace("return seen()", "return old_one()")
    assert "deprecated" in compile_text(language, used, INCLUDE)
    used = MACROS.replace("return seen()", "return older_one()")
    assert "use seen" in compile_text(language, used, INCLUDE)
