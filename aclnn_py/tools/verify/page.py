# SPDX-License-Identifier: Apache-2.0
"""The report as one HTML page that needs nothing beside it."""

from __future__ import annotations

from collections import Counter
from html import escape

from aclnn_py.tools.verify.comparison import Report, Row

__all__ = ["page"]

_STYLE = """
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 76em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .25em .8em .25em 0;
text-align: left; vertical-align: top; border-bottom: 1px solid #ddd } code { font-size: 13px }
td.detail { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 44em }
.result, .died, .hung, .fault { color: #b00 } .status { color: #a50 } summary { cursor: pointer }
"""
_KINDS = {
    "result": "data differ beyond the tolerance of their dtype",
    "status": "another status, or in another phase",
    "fault": "the device reports a fault, the emulator none",
    "died": "the process on the device died",
    "hung": "the call did not end in time",
}


def page(report: Report) -> str:
    """Return the page."""
    counts: Counter[str] = Counter(finding.kind for finding in report.findings)
    about = "".join(
        f"<tr><th>{escape(str(key))}</th><td><code>{escape(str(value))}</code></td></tr>"
        for key, value in report.about.items()
    )
    kinds = "".join(
        f'<tr><td class="{kind}">{kind}</td><td>{counts[kind]}</td><td>{escape(words)}</td></tr>'
        for kind, words in _KINDS.items()
    )
    left: Counter[str] = Counter()
    for row in report.rows:
        left.update(row.left)
    reasons = "".join(
        f'<tr><td class="detail">{escape(why)}</td><td>{count}</td></tr>'
        for why, count in left.most_common()
    )
    differing = [row for row in report.rows if row.findings]
    agreeing = [row for row in report.rows if row.cases and not row.findings]
    unasked = [row for row in report.rows if not row.cases]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><title>aclnn-py verify</title>',
            f"<style>{_STYLE}</style></head><body>",
            "<h1>Operators of the device beside the emulator</h1>",
            f"<p>{report.cases:,} calls of {len(differing) + len(agreeing):,} operators were made"
            f" on both; {len(report.findings):,} calls of {len(differing):,} operators differ.</p>",
            f"<table>{about}</table>",
            f"<table><tr><th>kind</th><th>calls</th><th>meaning</th></tr>{kinds}</table>",
            "<h2>Operators that differ</h2>",
            *(_operator(row) for row in differing),
            *([] if differing else ["<p>None.</p>"]),
            *(f"<p>{escape(note)}</p>" for note in report.notes),
            _names("Operators that agree", agreeing),
            _names("Operators that could not be asked on both", unasked, why=True),
            f"<details><summary>Calls that were left out ({left.total():,})</summary>"
            f"<table>{reasons}</table></details>",
            "<details><summary>Operators that were not compared, because the emulator has no calls"
            f" for them ({len(report.not_compared):,})</summary><p>"
            + ", ".join(f"<code>{escape(name)}</code>" for name in report.not_compared)
            + "</p></details>",
            "</body></html>\n",
        ]
    )


def _operator(row: Row) -> str:
    rows = "".join(
        f'<tr><td>{f.case}</td><td>{escape(f.what)}</td><td class="{f.kind}">{f.kind}</td>'
        f"<td>{escape(f.device)}</td><td>{escape(f.emulator)}</td>"
        f'<td class="detail">{escape(f.detail)}</td></tr>'
        for f in row.findings
    )
    return (
        f"<details open><summary><code>{escape(row.operator)}</code>: {len(row.findings)} of"
        f" {row.cases} calls</summary><table><tr><th>call</th><th>what</th><th>kind</th>"
        f"<th>device</th><th>emulator</th><th>detail</th></tr>{rows}</table></details>"
    )


def _names(title: str, rows: list[Row], *, why: bool = False) -> str:
    def text(row: Row) -> str:
        reason = f" ({'; '.join(row.left)})" if why else f" ({row.cases})"
        return f"<code>{escape(row.operator)}</code>{escape(reason)}"

    return (
        f"<details><summary>{title} ({len(rows):,})</summary><p>"
        + ", ".join(map(text, rows))
        + "</p></details>"
    )
