# SPDX-License-Identifier: Apache-2.0
"""Scripts in processes of their own: exits, signals and crashes must not touch the test process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import aclnn_py

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Outcome:
    """How a script ended. ``status`` is negative when a signal ended it."""

    status: int
    out: str
    err: str

    def check(self) -> Outcome:
        """Fail with the whole output unless the script ended well."""
        assert self.status == 0, f"status {self.status}\n--- out\n{self.out}\n--- err\n{self.err}"
        return self


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a child: this one, the package importable, and ``extra``."""
    result = dict(os.environ)
    # The package under test, which is not the source tree when it was installed.
    package = Path(aclnn_py.__file__).parent.parent
    result["PYTHONPATH"] = os.pathsep.join(
        [str(package), str(ROOT / "tests"), *filter(None, [result.get("PYTHONPATH")])]
    )
    result.update(extra or {})
    return result


def run_script(
    source: str,
    *arguments: str,
    timeout_s: float = 120.0,
    env: dict[str, str] | None = None,
    flags: tuple[str, ...] = ("-X", "faulthandler", "-W", "error::ResourceWarning"),
) -> Outcome:
    """Run Python source in a fresh interpreter and return how it ended."""
    command = [sys.executable, *flags, "-c", textwrap.dedent(source), *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=environment(env),
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        out, err = (_text(part) for part in (expired.stdout, expired.stderr))
        raise AssertionError(
            f"no end after {timeout_s} s\n--- out\n{out}\n--- err\n{err}"
        ) from None
    return Outcome(done.returncode, done.stdout, done.stderr)


def _text(part: str | bytes | None) -> str:
    return part.decode(errors="replace") if isinstance(part, bytes) else part or ""
