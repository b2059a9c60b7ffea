# SPDX-License-Identifier: Apache-2.0
"""torch-npu on the emulator, as its users run it: results are those of torch on the CPU.

Tolerances: both sides compute in float32 and sum in different orders; a training of some tens of
steps keeps losses within 1e-3 of each other.
"""

from __future__ import annotations

import io
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
nn = torch.nn

LOSS_TOLERANCE = 1e-3


def test_tensors_go_there_and_back() -> None:
    x = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    y = x.npu()
    assert y.device.type == "npu"
    assert torch.equal((y[:, 1:3].T @ y).cpu(), x[:, 1:3].T @ x)
    index = torch.tensor([2, 0])
    y[index.npu()] = 7
    x[index] = 7
    assert torch.equal(y.cpu(), x)
    assert torch.equal(y.nonzero().cpu(), x.nonzero())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_sorts_and_sums(dtype: Any) -> None:
    x = torch.randn(37, 53, generator=torch.Generator().manual_seed(0)).to(dtype)
    values, places = x.npu().sort(dim=1, stable=True)
    wanted, wanted_places = x.sort(dim=1, stable=True)
    assert torch.equal(values.cpu(), wanted)
    assert torch.equal(places.cpu(), wanted_places)
    assert torch.allclose(x.npu().float().sum(0).cpu(), x.float().sum(0), rtol=1e-5, atol=1e-5)


class Pictures(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )  # fmt: skip
        self.head = nn.Linear(64, 2)

    def forward(self, x: Any) -> Any:
        return self.head(self.features(x))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inward, self.outward = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.heads = heads

    def forward(self, x: Any) -> Any:
        batch, tokens, width = x.shape
        split = (batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = self.inward(self.before(x)).view(split).permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.outward(seen.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.wide(self.after(x))


class Texts(nn.Module):
    WORDS, WIDTH, TOKENS = 32, 32, 16

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(self.WORDS, self.WIDTH)
        self.places = nn.Embedding(self.TOKENS, self.WIDTH)
        self.blocks = nn.ModuleList([Block(self.WIDTH, 4), Block(self.WIDTH, 4)])
        self.norm, self.head = nn.LayerNorm(self.WIDTH), nn.Linear(self.WIDTH, self.WORDS)

    def forward(self, tokens: Any) -> Any:
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).transpose(1, 2)


def pictures() -> tuple[Any, Any]:
    x = torch.randn(128, 1, 12, 12, generator=torch.Generator().manual_seed(1))
    return x, (x[:, 0, :6].mean((1, 2)) > x[:, 0, 6:].mean((1, 2))).long()


def texts() -> tuple[Any, Any]:
    x = torch.randint(0, Texts.WORDS, (16, 17), generator=torch.Generator().manual_seed(1))
    x[:, 1::2] = x[:, :-1:2]
    return x[:, :-1], x[:, 1:]


def losses(model: type, data: tuple[Any, Any], device: str, steps: int) -> list[float]:
    torch.manual_seed(0)
    network = model().to(device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    x, y = (part.to(device) for part in data)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(network(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        found.append(loss.item())
    return found


@pytest.mark.parametrize(("model", "data"), [(Pictures, pictures), (Texts, texts)])
def test_training_has_the_curve_of_the_processor(model: type, data: Any) -> None:
    there, here = (losses(model, data(), device, 20) for device in ("npu", "cpu"))
    assert here[-1] < 0.9 * here[0]
    assert there == pytest.approx(here, abs=LOSS_TOLERANCE)


def test_autocast_and_loss_scaling() -> None:
    torch.manual_seed(0)
    layer, x = nn.Linear(8, 8).npu(), torch.randn(4, 8).npu()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    scaler = torch.npu.amp.GradScaler()
    wanted = layer.weight.detach().clone()
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("npu", dtype=dtype):
            y = layer(x)
        assert y.dtype is dtype
    loss = y.float().pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0**16
    assert not torch.equal(layer.weight.detach(), wanted)
    bad = layer(x).sum() * float("inf")
    optimizer.zero_grad()
    before = layer.weight.detach().clone()
    scaler.scale(bad).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0**15
    assert torch.equal(layer.weight.detach(), before)


def test_dropout_is_drawn_again_from_its_seed() -> None:
    x = torch.ones(100_000).npu()
    first, again = ((torch.npu.manual_seed(3), nn.functional.dropout(x, 0.25))[1] for _ in range(2))
    assert torch.equal(first, again)
    assert (first == 0).float().mean().item() == pytest.approx(0.25, abs=0.01)
    assert torch.equal(first[first != 0].unique().cpu(), torch.tensor([4.0 / 3.0]))


def test_weights_are_saved_and_loaded() -> None:
    kept = io.BytesIO()
    layer = nn.Linear(3, 3).npu()
    torch.save(layer.state_dict(), kept)
    for place in ("npu", "cpu"):
        kept.seek(0)
        loaded = torch.load(kept, map_location=place)
        assert loaded["weight"].device.type == place
        assert torch.equal(loaded["weight"].cpu(), layer.weight.detach().cpu())


def test_a_graph_is_captured_and_replayed() -> None:
    x, w = torch.ones(4, 4).npu(), torch.ones(4, 4).npu()
    side = torch.npu.Stream()
    side.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(side):
        y = x @ w + 1
    torch.npu.current_stream().wait_stream(side)
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        y = x @ w + 1
    for value in (2.0, 3.0):
        x.fill_(value)
        graph.replay()
        torch.npu.synchronize()
        assert torch.equal(y.cpu(), torch.full((4, 4), 4 * value + 1))


def test_the_profiler_sees_operators(tmp_path: Path) -> None:
    import torch_npu.profiler as profiler

    write = profiler.tensorboard_trace_handler(str(tmp_path))
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], on_trace_ready=write):
        x = torch.ones(4, 4).npu()
        (x @ x).sum().item()
    (trace,) = tmp_path.rglob("trace_view.json")
    names = {row["name"] for row in json.loads(trace.read_text(encoding="utf-8"))}
    assert {"aten::matmul", "aten::sum"} <= names


def test_events_measure_and_memory_is_counted() -> None:
    first, last = (torch.npu.Event(enable_timing=True) for _ in range(2))
    before = torch.npu.memory_allocated()
    x = torch.ones(256, 256).npu()
    assert torch.npu.memory_allocated() - before >= 256 * 256 * 4
    first.record()
    x = x @ x
    last.record()
    last.synchronize()
    assert first.elapsed_time(last) > 0


STEPS = 10


def regression() -> tuple[Any, Any, Any]:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    x = torch.randn(32, 6, generator=torch.Generator().manual_seed(2))
    return network, x, x.sum(1, keepdim=True)


def distributed_rank(rank: int, ranks: int, port: int, place: str) -> None:
    """One process of the test below."""
    import torch.distributed as dist
    import torch_npu  # noqa: F401

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.npu.set_device(rank)
    dist.init_process_group("hccl", rank=rank, world_size=ranks)
    network, x, y = regression()
    part = slice(rank * len(x) // ranks, (rank + 1) * len(x) // ranks)
    x, y = x[part].npu(), y[part].npu()
    whole = nn.parallel.DistributedDataParallel(network.npu(), device_ids=[rank])
    optimizer = torch.optim.SGD(whole.parameters(), lr=0.02)
    found = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = ((whole(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        found.append(total.item() / ranks)
    if rank == 0:
        torch.save(found, place)
    dist.barrier()
    dist.destroy_process_group()


def test_two_ranks_train_as_one_process_does(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = str(tmp_path / "losses")
    torch.multiprocessing.spawn(distributed_rank, args=(2, port, place), nprocs=2)
    network, x, y = regression()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.02)
    wanted = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = ((network(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        wanted.append(loss.item())
    assert torch.load(place) == pytest.approx(wanted, abs=LOSS_TOLERANCE)
