# SPDX-License-Identifier: Apache-2.0
"""Libraries in the place of CANN's, made of a copy of the emulator with other judgements.

The copy has another path, so the process has two emulators: the device's and the rule book's.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from helpers import tinylib

from aclnn_py.emulator import device_path, library_path

# Without the mark by which an emulator is known: a symbol at address 0 is no symbol.
_HEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
__asm__(".globl aclnn_py_emulator_contract\\n.set aclnn_py_emulator_contract, 0");
"""
_JUDGED = """
static int32_t said;
const char *aclGetRecentErrMsg(void) {{
  if (!said) return ((const char *(*)(void))dlsym(RTLD_NEXT, "aclGetRecentErrMsg"))();
  said = 0;
  return "EZ1001: {text}";
}}
int32_t aclnnMmGetWorkspaceSize(void *a, void *b, void *c, int8_t k, uint64_t *n, void **e) {{
  *n = 0;
  *e = (void *)&said;
  said = {status};
  return said;
}}
int32_t aclnnMm(void *w, uint64_t n, void *e, void *s) {{ return 0; }}
int32_t aclDestroyAclOpExecutor(void *e) {{ return 0; }}
"""
TEXT = "the stand-in has its own reasons"


def stand_in(
    root: Path, *, status: int | None = None, lacks: str = "", soc: str = "", version: str = ""
) -> Path:
    """Build a CANN root; return it.

    Parameters
    ----------
    root : Path
    status : int, optional
        What phase one of aclnnMm answers to every call.
    lacks : str
        An operator that it does not have.
    soc : str
        The chip that it says it has.
    version : str
        The release of CANN.
    """
    place = root / "lib64"
    place.mkdir(parents=True)
    for path in (library_path(), device_path()):
        shutil.copy(path, root / path.name)
    copy = root / library_path().name
    source = _HEAD
    if status is not None:
        source += _JUDGED.format(status=status, text=TEXT)
    for name in filter(None, (lacks, lacks and f"{lacks}GetWorkspaceSize")):
        source += f'__asm__(".globl {name}\\n.set {name}, 0");\n'
    if soc:
        source += f'const char *aclrtGetSocName(void) {{ return "{soc}"; }}\n'
    flags = ("-Wl,--no-as-needed", str(copy), f"-Wl,-rpath,{root}", "-ldl")
    tinylib.build(place / "libascendcl.so", source, *flags)
    for name in ("libnnopbase.so", "libopapi.so", "libhccl.so"):
        (place / name).symlink_to("libascendcl.so")
    if version:
        info = root / "ascend_toolkit_install.info"
        info.write_text(f"version={version}\n", encoding="utf-8")
    return root
