# SPDX-License-Identifier: Apache-2.0
"""What stands before latent attention, the choice of keys, and attention over the chosen ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import place
from ops.attention.test_mla_prolog import BF16, KEYS, RANK, ROTARY, Scene, blocked, close, optional
from ops.sparse_attention.test_indexers import Sequences, chosen_well, scores

import aclnn_py as ap
from aclnn_py import functional as f
from aclnn_py.errors import AclnnError, InvalidArgumentError

pytestmark = pytest.mark.usefixtures("device")


class Odd:
    """No tensor, no number, no sequence, no text."""


def prologue(s: Scene, keys: Any) -> tuple[list[Any], dict[str, Any]]:
    """The tensors of a scene in the order of `mla_prolog`, and its scales by name."""
    caches = [ap.zeros((4, 16, 1, width), keys) for width in (KEYS, ROTARY)]
    index = place(np.arange(s.tokens, dtype=np.int64)[::-1].copy())
    given = [
        *(place(s.x), blocked(s.w_dq), blocked(s.w_uq_qr), place(s.w_uk), blocked(s.w_dkv_kr)),
        *(place(s.gammas[0]), place(s.gammas[1]), place(s.sin), place(s.cos), index, *caches),
    ]
    names = ["dequant_scale_x", "dequant_scale_w_dq", "dequant_scale_w_uq_qr",
             "dequant_scale_w_dkv_kr", "quant_scale_ckv", "smooth_scales_cq"]  # fmt: skip
    scales = (s.scale_x, s.scale_dq, s.scale_uq, s.scale_dkv, s.quant_ckv, s.smooth_cq)
    return given, dict(zip(names, map(optional, scales), strict=True))


def cached(given: list[Any], s: Scene) -> tuple[Any, Any]:
    return tuple(c.numpy().reshape(-1, c.shape[-1])[: s.tokens][::-1] for c in given[10:])


def test_queries_and_keys_of_latent_attention() -> None:
    s = Scene()
    given, _ = prologue(s, "bfloat16")
    query, rope, scale = f.mla_prolog(*given, rmsnorm_epsilon_cq=1e-5, rmsnorm_epsilon_ckv=1e-4)
    found = s.oracle()
    assert query.shape == (5, 2, KEYS)
    assert scale.shape == (0,)
    close(query.numpy(), found["query"])
    close(rope.numpy(), found["rope"])
    for cache, name in zip(cached(given, s), ("kv", "kr"), strict=True):
        close(cache, found[name])


def test_quantised_tokens_give_quantised_queries() -> None:
    s = Scene(part=True, whole=True, keys=True)
    given, scales = prologue(s, "int8")
    given[11] = ap.zeros(given[11].shape, "bfloat16")
    query, rope, scale = f.mla_prolog(*given, **scales, rmsnorm_epsilon_ckv=1e-4)
    found = s.oracle()
    assert query.dtype_name == "int8"
    exact = found["query"] / (np.abs(found["query"]).max(-1, keepdims=True) / 127)
    assert np.abs(query.numpy() - exact).max() <= 2.5  # bfloat16 between the products
    np.testing.assert_allclose(
        scale.numpy(), np.abs(found["query"]).max(-1, keepdims=True) / 127, rtol=0.02
    )
    close(rope.numpy(), found["rope"])


@pytest.mark.parametrize("asked", [True, False])
def test_the_third_version_has_factors_and_norms(asked: bool) -> None:
    s = Scene(lead=(2, 3))
    given, _ = prologue(s, "bfloat16")
    index, caches = given[9].reshape(2, 3), given[10:]
    query, rope, scale, norm, norm_scale = f.mla_prolog_v3(
        *given[:9], *caches, cache_index=index, qc_qr_scale=2.0, kc_scale=0.5,
        rmsnorm_epsilon_ckv=1e-4, query_norm_flag=asked,
    )  # fmt: skip
    found = s.oracle((2.0, 0.5))
    close(query.numpy().reshape(6, 2, -1), found["query"])
    close(rope.numpy().reshape(6, 2, -1), found["rope"])
    assert scale.shape == norm_scale.shape == (0,)
    if asked:
        close(norm.numpy().reshape(6, RANK), found["norm"])
    else:
        assert norm.shape == (0,)
    close(cached(given, s)[0], found["kv"])


@pytest.mark.parametrize(("layout", "keys"), [("BSND", "BSND"), ("TND", "TND")])
def test_an_indexer_and_attention_over_what_it_chooses(layout: str, keys: str) -> None:
    s = Sequences(layout, keys, BF16)
    weights = [s.rng.standard_normal((n, s.heads)).astype(BF16) for n in s.lengths]
    lists = {"actual_seq_lengths_query": s.query_lengths(), "layout_query": layout}
    indices, values = f.lightning_indexer(
        place(s.query_tensor(s.q)), place(s.key_tensor(s.k)), place(s.query_tensor(weights)),
        actual_seq_lengths_key=s.key_lengths(), layout_key=keys, sparse_count=8,
        return_values=True, **lists,
    )  # fmt: skip
    assert values.shape == indices.shape
    for b, (n, count) in enumerate(zip(s.lengths, s.keys, strict=True)):
        found = scores(s.q[b], s.k[b], weights[b])
        for t in range(n):
            row = s.rows(indices.numpy(), b)[t, 0]
            seen = count - n + t + 1
            chosen_well(row, found[t, :seen], 8, 1e-4)
            kept = min(8, seen)
            assert_close(s.rows(values.numpy(), b)[t, 0, :kept], found[t, row[:kept]], scale=2.0)
    wide = Sequences(layout, keys, BF16, width=512)
    out, highest, total = f.sparse_flash_attention(
        place(wide.query_tensor(wide.q)), place(wide.key_tensor(wide.k)),
        place(wide.key_tensor(wide.k)), indices, actual_seq_lengths_kv=wide.key_lengths(),
        layout_kv=keys, scale=0.05, return_softmax_lse=True, **lists,
    )  # fmt: skip
    for b, n in enumerate(wide.lengths):
        q, k = wide.q[b].astype(np.float64), wide.k[b].astype(np.float64)
        for t in range(n):
            met = [j for j in wide.rows(indices.numpy(), b)[t, 0] if j >= 0]
            score = 0.05 * q[t] @ k[met].T
            most = score.max(-1)
            powers = np.exp(score - most[:, None])
            expected = powers @ k[met] / powers.sum(-1)[:, None]
            assert_close(wide.rows(out.numpy(), b)[t], expected, scale=2.0)
            at = (0, sum(wide.lengths[:b]) + t) if layout == "TND" else (b, 0, t)
            assert_close(highest.numpy()[at], most, scale=9.0)
            assert_close(total.numpy()[at], powers.sum(-1), scale=9.0)


@pytest.mark.parametrize("asked", [True, False])
def test_an_indexer_of_compressed_keys(asked: bool) -> None:
    s = Sequences("TND", "TND", BF16, lengths=(5, 2), keys=(9, 9))
    weights = [s.rng.standard_normal((n, s.heads)).astype(np.float32) for n in s.lengths]
    starts = [np.cumsum([0, *counts]).astype(np.int32) for counts in (s.lengths, s.keys)]
    rest = (3, 1)
    indices, values = f.lightning_indexer_v2(
        place(s.query_tensor(s.q)), place(s.key_tensor(s.k)), place(s.query_tensor(weights)),
        cu_seqlens_q=place(starts[0]), cu_seqlens_k=place(starts[1]),
        cmp_residual_k=place(np.array(rest, np.int32)), sparse_count=6, layout_q="TND",
        layout_k="TND", cmp_ratio=4, return_values=asked,
    )  # fmt: skip
    assert indices.shape == (7, 1, 6)
    assert values.shape == (indices.shape if asked else (0,))
    for b, n in enumerate(s.lengths):
        found = scores(s.q[b], s.k[b], weights[b])
        for t in range(n):
            seen = min(9, (9 * 4 + rest[b] - n + t + 1) // 4)
            row = s.rows(indices.numpy(), b)[t, 0]
            chosen_well(row, found[t, :seen], 6, 1e-4)
            if asked:
                kept = min(6, seen)
                given = s.rows(values.numpy(), b)[t, 0, :kept]
                assert_close(given, found[t, row[:kept]], scale=9.0)


def test_sinks_are_for_a_950() -> None:
    x = place(np.ones((1, 1, 2, 512), np.float16))
    chosen = place(np.zeros((1, 1, 1, 2), np.int32))
    with pytest.raises(AclnnError, match="sinksOptional is given; only a 950 takes it"):
        f.sparse_flash_attention(x, x, x, chosen, sinks=place(np.ones(2, np.float32)))


def test_an_indexer_of_bytes() -> None:
    s = Sequences("BSND", "BSND", np.int8)
    weights = [s.rng.standard_normal((n, s.heads)).astype(np.float16) for n in s.lengths]
    q_scale = [(0.01 * s.rng.random((n, s.heads))).astype(np.float16) for n in s.lengths]
    k_scale = [(0.01 * s.rng.random((n,))).astype(np.float16) for n in s.keys]
    indices = f.quant_lightning_indexer(
        place(s.query_tensor(s.q)), place(s.key_tensor(s.k)), place(s.query_tensor(weights)),
        query_scale=place(s.query_tensor(q_scale)), key_scale=place(s.key_tensor(k_scale)),
        actual_seq_lengths_query=s.query_lengths(), actual_seq_lengths_key=s.key_lengths(),
        sparse_count=7,
    )  # fmt: skip
    for b, (n, keys) in enumerate(zip(s.lengths, s.keys, strict=True)):
        q = s.q[b] * q_scale[b].astype(np.float64)[..., None]
        k = s.k[b] * k_scale[b].astype(np.float64)[:, None]
        found = scores(q, k, weights[b])
        for t in range(n):
            chosen_well(s.rows(indices.numpy(), b)[t, 0], found[t, : keys - n + t + 1], 7, 1e-4)


def calls() -> dict[str, dict[str, Any]]:
    """Good arguments of each function, by name."""
    s = Scene()
    given, scales = prologue(s, "bfloat16")
    parameters = f.mla_prolog.__code__.co_varnames[: f.mla_prolog.__code__.co_argcount]
    prolog = {**dict(zip(parameters, given, strict=True)), **scales, "quant_scale_ckr": None}
    third = {**prolog, "query_norm_flag": True}
    x = {"query": (1, 2, 1, 128), "key": (1, 3, 1, 128), "weights": (1, 2, 1)}
    index = {n: place(np.ones(shape, np.float16)) for n, shape in x.items()}
    single = place(np.ones(x["weights"], np.float32))
    wide = place(np.ones((1, 2, 1, 512), np.float16))
    chosen = place(np.zeros((1, 2, 1, 2), np.int32))
    sparse = {"query": wide, "key": wide, "value": wide, "sparse_indices": chosen}
    bytes_of = {n: place(np.ones(t.shape, np.int8)) for n, t in index.items()}
    scale = {"query_scale": index["weights"], "key_scale": place(np.ones((1, 3, 1), np.float16))}
    return {
        "mla_prolog": prolog,
        "mla_prolog_v3": third,
        "lightning_indexer": {**index, "sparse_count": 2},
        "lightning_indexer_v2": {**index, "weights": single, "sparse_count": 2},
        "quant_lightning_indexer": {
            **bytes_of, "weights": index["weights"], **scale, "sparse_count": 2,
        },
        "sparse_flash_attention": sparse,
    }  # fmt: skip


def test_a_value_of_no_kind_is_refused_and_its_parameter_named() -> None:
    for name, given in calls().items():
        function = getattr(f, name)
        for parameter in (
            *given,
            "layout_query",
            "layout_q",
            "scale",
            "sparse_mode",
            "cache_mode",
            "stream",
        ):
            if parameter not in function.__annotations__:
                continue
            with pytest.raises((TypeError, ValueError)) as caught:
                function(**{**given, parameter: Odd()})
            first = str(caught.value).splitlines()[0]
            assert parameter in first, f"{name}, {parameter}: {first}"


def test_wrong_shapes_are_named() -> None:
    x = place(np.ones((2, 4), np.float16))
    with pytest.raises(InvalidArgumentError, match="sparse_count: 0 is not positive"):
        f.lightning_indexer(x, x, x, sparse_count=0)
    with pytest.raises(InvalidArgumentError, match=r"key: shape \(4,\) has no heads"):
        f.lightning_indexer(x, x[0], x)
    with pytest.raises(InvalidArgumentError, match="layout_query: 'TND' does not fit"):
        f.sparse_flash_attention(x, x, x, x, layout_query="TND", return_softmax_lse=True)
    with pytest.raises(InvalidArgumentError, match=r"weight_uk: shape \(2, 4\); expected"):
        f.mla_prolog(*[x] * 12)


@pytest.mark.parametrize("layout", ["BSND", "TND"])
def test_attention_over_a_window_and_compressed_keys(layout: str) -> None:
    lengths, keys = ((3, 3), (180, 180)) if layout == "BSND" else ((3, 1), (180, 33))
    s = Sequences(layout, layout, BF16, width=512, lengths=lengths, keys=keys)
    groups = [n // 128 for n in keys]
    c = Sequences(layout, layout, BF16, width=512, keys=(max(groups),) * 2, seed=4)
    sinks = s.rng.standard_normal(s.heads).astype(np.float32)
    packed: dict[str, Any] = {}
    counts = [max(groups)] * 2
    if layout == "TND":
        packed = {
            f"cu_seqlens_{name}": place(np.cumsum([0, *found]).astype(np.int32))
            for name, found in (("q", lengths), ("ori_kv", keys), ("cmp_kv", counts))
        }

    def tensor(of: Sequences) -> ap.Tensor:
        if layout == "TND":
            return place(of.key_tensor(of.k))
        return place(np.stack([keys[:, None] for keys in of.k]))

    shared = {
        "layout_q": layout, "layout_kv": layout, "cmp_ratio": 128,
        "cmp_residual_kv": place(np.array([n % 128 for n in keys], np.int32)), **packed,
    }  # fmt: skip
    tasks = f.sparse_flash_mla_metadata(
        s.heads, batch_size=2, max_seqlen_q=3, max_seqlen_ori_kv=180, max_seqlen_cmp_kv=1,
        has_cmp_kv=True, **shared,
    )  # fmt: skip
    assert tasks.shape == (1024,)
    assert tasks.numpy()[0] == 1
    out, lse = f.sparse_flash_mla(
        place(np.concatenate(s.q) if layout == "TND" else np.stack(s.q)),
        tensor(s), place(sinks), tasks, cmp_kv=tensor(c), softmax_scale=0.05,
        return_softmax_lse=True, **shared,
    )  # fmt: skip
    for b, n in enumerate(lengths):
        own, far = s.k[b].astype(np.float64), c.k[b].astype(np.float64)
        whole = counts[b] * 128 + keys[b] % 128
        for t in range(n):
            end = keys[b] - n + t + 1
            seen = max(0, min(counts[b], (whole - n + t + 1) // 128))
            met = np.concatenate([own[max(end - 128, 0) : end], far[:seen]])
            score = 0.05 * s.q[b][t].astype(np.float64) @ met.T
            most = np.maximum(score.max(-1), sinks)
            powers = np.exp(score - most[:, None])
            total = powers.sum(-1) + np.exp(sinks - most)
            assert_close(s.rows(out.numpy(), b)[t], powers @ met / total[:, None], scale=2.0)
            at = (0, sum(lengths[:b]) + t) if layout == "TND" else (b, 0, t)
            assert_close(lse.numpy()[at], most + np.log(total), scale=9.0)
