# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py doctor``: what is installed, whether it fits together, and whether it works.

``aclnn-py doctor --json`` prints the fields of ``Report`` as one object. Each entry of its
``findings`` has ``level`` (``"ok"``, ``"note"``, ``"warning"``, ``"error"``), ``seen``, ``why`` and
``action`` (sentences), ``rule`` (which test it was) and ``group`` (``"environment"``,
``"versions"``, ``"libraries"``, ``"hardware"``, ``"communication"``, ``"log"``, ``"trial"``).
"""

from __future__ import annotations

from aclnn_py.tools.doctor.finding import Finding
from aclnn_py.tools.doctor.host import Host
from aclnn_py.tools.doctor.releases import release_order
from aclnn_py.tools.doctor.report import Report, examine, findings_for, run

__all__ = ["Finding", "Host", "Report", "examine", "findings_for", "release_order", "run"]
