# SPDX-License-Identifier: Apache-2.0
"""Random calls of attention for the operators of prompts and of steps, which have fewer forms.

A problem of `ops.attention_forms` that such an operator can express too becomes a call of it; its
results are the same, but for the log-sum-exp, which these operators do not have.
"""

from __future__ import annotations

from ops.attention.attention_forms import Problem

PROMPT = ("PromptFlashAttention", "PromptFlashAttentionV2", "PromptFlashAttentionV3")
STEP = (
    "IncreFlashAttention", "IncreFlashAttentionV2", "IncreFlashAttentionV3",
    "IncreFlashAttentionV4",
)  # fmt: skip
_STEP_SINCE = {
    "plain": 0, "listed": 0, "int8 result": 1, "common factors": 2, "pages": 2, "padded": 3,
}  # fmt: skip


def older_operators(problem: Problem) -> list[str]:
    """Return the operators of prompts or of steps that can express a problem."""
    if problem.packed or problem.rope or problem.width != problem.value_width:
        return []
    return _step(problem) if problem.step else _prompt(problem)


def retarget(problem: Problem, operator: str) -> None:
    """Let `Problem.run` call another operator, one of `older_operators`."""
    problem.operator = operator
    given = problem.given
    if operator in STEP:
        given["actual_seq_lengths"] = given["actual_seq_lengths_kv"]
        given["blocktable"] = given.get("block_table")
    else:
        given["key"], given["value"] = given["key"][0], given["value"][0]
    if operator not in ("PromptFlashAttentionV3", *STEP[2:]):
        problem.clears = False  # without innerPrecise


def _step(problem: Problem) -> list[str]:
    since = _STEP_SINCE.get(problem.form)
    if since is None or problem.layout not in ("BSH", "BSND", "BNSD"):
        return []
    if problem.form == "common factors" and problem.mode != 0:
        return []
    if problem.paged and problem.arrangement != "BnBsH":
        return []
    return list(STEP[since:])


def _prompt(problem: Problem) -> list[str]:
    if problem.form not in ("plain", "int8", "int8 result"):
        return []
    if problem.layout not in ("BSH", "BSND", "BNSD", "BNSD_BSND"):
        return []
    whole = problem.key_lengths == [problem.keys] * problem.batch
    first = problem.form == "plain" and whole and problem.given["sparse_mode"] == 0
    return list(PROMPT if first else PROMPT[1:])
