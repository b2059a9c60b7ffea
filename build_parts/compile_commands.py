# SPDX-License-Identifier: Apache-2.0
"""Write compile_commands.json, from which clangd and clang-tidy learn how a file is compiled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from build_parts.paths import BUILD, ROOT, write_if_changed


def write_compile_commands(commands: Mapping[str, Sequence[Mapping[str, object]]]) -> None:
    """Write the commands of each part of the build; a part not built now keeps its last ones."""
    folder = BUILD / "commands"
    for part, entries in commands.items():
        write_if_changed(folder / f"{part}.json", json.dumps(entries, indent=1) + "\n")
    parts = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    joined = json.dumps([entry for part in parts for entry in part], indent=1) + "\n"
    write_if_changed(ROOT / "compile_commands.json", joined)
