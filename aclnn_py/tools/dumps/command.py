# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py dump``: what dumps of operators hold, as a table or as files of NumPy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aclnn_py.tools.dumps.file import Dump, DumpedTensor, DumpError, dump_files, read_dump

__all__ = ["run"]

_SHOWN = 4


def run(paths: Sequence[str], *, arrays: str | None = None) -> int:
    """Print the tensors of dumps, and write them as ``.npy`` files if asked.

    Parameters
    ----------
    paths : Sequence[str]
        Dumps, or folders with dumps at any depth.
    arrays : str, optional
        A folder for files ``DUMP.input.0.npy``; it is made where it is missing.

    Returns
    -------
    int
        0; 1 when there is no dump, or one cannot be read.
    """
    status = 0
    files = [file for path in paths for file in dump_files(path)]
    if not files:
        print(f"aclnn-py dump: no file below {', '.join(paths)}", file=sys.stderr)
        return 1
    for file in files:
        try:
            dump = read_dump(file)
            print("\n".join(_lines(dump)))
            if arrays is not None:
                _write(dump, Path(arrays))
        except (OSError, DumpError) as error:
            print(f"aclnn-py dump: {error}", file=sys.stderr)
            status = 1
    return status


def _lines(dump: Dump) -> list[str]:
    rows = [f"{dump.path.name}  {dump.operator}"]
    for tensor in dump.tensors:
        dtype = "of an unknown dtype" if tensor.dtype is None else tensor.dtype.name
        stored = f" stored as {tensor.stored_shape}" * (tensor.stored_shape != tensor.shape)
        rows.append(
            f"  {tensor.kind} {tensor.index}: {tensor.shape} {dtype}{stored},"
            f" {_some(tensor.numpy())}"
        )
    return rows


def _some(array: npt.NDArray[np.generic]) -> str:
    flat = array.reshape(-1)
    words = [str(value) for value in flat[:_SHOWN]] + ["..."] * (flat.size > _SHOWN)
    return f"[{' '.join(words)}]"


def _write(dump: Dump, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for tensor in dump.tensors:
        np.save(folder / _file_name(dump, tensor), tensor.numpy(), allow_pickle=False)


def _file_name(dump: Dump, tensor: DumpedTensor) -> str:
    return f"{dump.path.name}.{tensor.kind}.{tensor.index}.npy"
