# SPDX-License-Identifier: Apache-2.0
"""The version files of an installed toolkit, as each release writes them."""

from __future__ import annotations

import platform
from dataclasses import dataclass

__all__ = ["DEFAULT_RELEASE", "RELEASES", "Release", "release_named"]

# Parts of the toolkit that have a version file of their own.
_PARTS = ("runtime", "compiler", "toolkit", "hccl", "opp")
# The names under which release 8.5 and later keep them as well.
_SPLIT_PARTS = ("hcomm", "oam-tools", "ops-legacy", "bisheng-compiler")


@dataclass(frozen=True)
class Release:
    """A release of CANN, as its version files tell it.

    Attributes
    ----------
    short : str
        What the command line takes, such as "8.5".
    name : str
        What the version files hold, such as "8.5.0".
    number : int
        What ``CANN_VERSION_NUM`` and ``aclsysGetVersionNum`` say.
    inner : str
        The inner version, or "" where it is not known.
    compatible : str
        The inner versions of older drivers that fit, or "".
    part : str
        The version of a part, or "" where it is the release's name.
    """

    short: str
    name: str
    number: int
    inner: str = ""
    compatible: str = ""
    part: str = ""

    @property
    def header(self) -> str:
        """The text of ``version/cann_version.h``."""
        return (
            "/* SPDX-License-Identifier: Apache-2.0 */\n"
            "#ifndef ACLNN_PY_VERSION_CANN_VERSION_H\n#define ACLNN_PY_VERSION_CANN_VERSION_H\n\n"
            f'#define CANN_VERSION_STR "{self.name}"\n#define CANN_VERSION_NUM {self.number}\n\n'
            "#endif /* ACLNN_PY_VERSION_CANN_VERSION_H */\n"
        )

    def files(self, root: str) -> dict[str, str]:
        """Return the version files: path in the tree -> text.

        Parameters
        ----------
        root : str
            Where the tree lies.
        """
        part = f"Version={self.part or self.name}\nversion_dir={self.name}\n"
        files = {f"{name}/version.info": part for name in _PARTS}
        info = f"package_name=Ascend-cann-toolkit\nversion={self.name}\n"
        info += f"innerversion={self.inner}\n" if self.inner else ""
        info += f"compatible_version={self.compatible}\n" if self.compatible else ""
        info += f"arch={platform.machine()}\nos=linux\npath={root}\n"
        files[f"{platform.machine()}-linux/ascend_toolkit_install.info"] = info
        running = "".join(
            f"{name}_running_version=[{self.part or self.name}:{self.name}]\n" for name in _PARTS
        )
        files["version.cfg"] = running
        files["opp/scene.info"] = f"os=linux\narch={platform.machine()}\n"
        if not self.part:  # 8.5 split the libraries and moved the files; builds read either place
            for name in (*_PARTS, *_SPLIT_PARTS):
                files[f"share/info/{name}/version.info"] = f"Version={self.name}\n"
        return files


RELEASES = (
    Release(
        "8.1",
        "8.1.RC1",
        80099901,
        "V100R001C21SPC001B238",
        "[V100R001C15],[V100R001C18],[V100R001C19],[V100R001C20],[V100R001C21]",
        "7.7.0.1.238",
    ),
    Release("8.5", "8.5.0", 80500000),
    Release("9.0", "9.0.0", 90000000),
    Release("9.1", "9.1.0", 90100000),
)
DEFAULT_RELEASE = "8.5"


def release_named(short: str) -> Release:
    """Return the release that the command line names.

    Raises
    ------
    ValueError
        There is no such release.
    """
    for release in RELEASES:
        if release.short == short:
            return release
    known = ", ".join(release.short for release in RELEASES)
    raise ValueError(f"no release is named {short!r}; choose one of {known}")
