# SPDX-License-Identifier: Apache-2.0
"""Lines of logs that report nothing, full of numbers that look like codes."""

from __future__ import annotations

import random
from collections.abc import Iterator

from aclnn_py import facts

# What modules, frameworks and servers write about work that goes well.
_TEXTS = (
    "wait for {n} tasks of stream {n}, task_id={n}, sq_id={n}",
    "stream_id={n}, task_id={n}, model_id={n}, flip_num={h}, event_id=[-1->{n}]",
    "alloc {n} bytes, size={n}, align {h}, free size:{n}, total size {n}",
    "input shape [{n}, {h}, {n}], output shape ({n},{n}), strides {{{n},{h}}}",
    "listen on port[{n}], peer port {n}, local port={n}, host port:{n}",
    "rank[{h}] of rankSize[{h}], devicePhyId {h}, count[{n}], tag[AllReduce_{n}]",
    "host ip[192.0.2.{h}] port[{n}] nicDeploy[{h}] identifier[192.0.2.{h}%eth0_{n}_{h}_{n}]",
    "kernel_name=Add_{x}_high_performance_{n}, tiling key {n}, block dim {h}",
    "cost {n} us, elapsed {n} ms, took {n} ns, timeout[{h} s], timeout={n}",
    "epoch {h}, step {n}, loss {h}.{n}, tokens {n}, {n} tokens/s, batch {h}",
    "retried {h} times, {n} of {n} done, {h} errors so far, {n} warnings",
    "base address 0x{x}, va=0x12c0{x}, pc start: 0x{x}, offset 0x{h}, len {n}",
    "seed {n}, hash={n}, crc {n}, version {h}.{h}.{n}, build {n}",
    "pid={n} tid={n} ppid {n} uid {n} gid {h}, thread {n} started, process {n} ended",
    "file plog-{n}_{n}.log, line {n}, {n} lines, offset {n}, [stream.cc:{n}]",
    "Entry-HcclAllReduce: tag[AllReduce_{n}], sendBuf[0x{x}], count[{n}], stream {h}",
    "memory {n} KiB used, {n} MiB free, HCCL_BUFFSIZE={n}, ASCEND_RT_VISIBLE_DEVICES={h}",
    "GET /v1/items/{n} HTTP/1.1 200, {n} bytes in {h} ms from 192.0.2.{h}:{n}",
    "index {n} of {n}, bucket {h}, page {n}, slot {n}, block_id={n}, seq {n}",
    "{n} {n} {n} {h} {h}",
    "node E{n}, weight W{n}, input I{n}, graph EZ_{n}, op EE{n}x, tensor xEJ{n}",
    "progress {h}/{n} ({h}%), ETA {n} s, queue depth {n}, credits {h}",
)
_HEADS = (
    "[{level}] {module}({n},python3):{time} [stream.cc:{n}]{n} Submit:",
    "[{level}] {module}({h},python3):{time} [stream.cc:{h}] [{n}][Init][Group]",
    "[{level}]{module}({n},all_reduce_test):{time}[heartbeat.cc:{h}][{n}]",
    "[{level}] {module}({n},):{time} [ra_host.c:{n}]tid:{n},ra_init({n}) : ",
    "[{level}] {module}({n},python):{time} [ascend][curpid: {n}, {n}][drv][devmm][alloc {n}]",
    "[{level}] {module}({n},main):{time} [manager.cpp:{h}][Open][tid:{n}] ",
    "[{level}] {module}({h},python3): ",
    "(Worker_TP{h} pid={n}) INFO 02-09 17:11:36 [executor.py:{n}] ",
    "[{level}] {time} (PID:{n}, Device:{h}, RankID:{h}) ",
    "[rank{h}]: ",
    "plog-{n}_{n}.log:[{level}] {module}({n},python3):{time} [a.cc:{n}] [{n}]",
    "",
)


def lines_without_codes(n_lines: int, seed: int) -> Iterator[str]:
    """Make lines whose numbers, of processes, ports, sizes and shapes, are statuses and results.

    Parameters
    ----------
    n_lines, seed : int
    """
    chance = random.Random(seed)
    codes = sorted({row["code"] for row in facts.statuses() if isinstance(row["code"], int)})
    small = [code for code in codes if 0 < code < 100]
    large = [code for code in codes if code > 100_000]
    for _ in range(n_lines):
        text = chance.choice(_HEADS) + chance.choice(_TEXTS)
        while "{n}" in text:
            number = chance.choice(large) if chance.random() < 0.7 else chance.randrange(10**6)
            text = text.replace("{n}", str(number), 1)
        while "{h}" in text:
            text = text.replace("{h}", str(chance.choice(small)), 1)
        while "{x}" in text:
            text = text.replace("{x}", f"{chance.getrandbits(40):010x}", 1)
        yield (
            text.replace("{level}", chance.choice(("ERROR", "WARNING", "INFO", "DEBUG", "EVENT")))
            .replace(
                "{module}", chance.choice(("HCCL", "RUNTIME", "DRV", "HCCP", "GE", "ASCENDCL"))
            )
            .replace(
                "{time}",
                f"2026-07-01-12:00:00.{chance.randrange(1000):03}.{chance.randrange(1000):03}",
            )
            .replace("{{", "{")
            .replace("}}", "}")
        )
