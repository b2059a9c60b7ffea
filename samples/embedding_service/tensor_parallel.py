# SPDX-License-Identifier: Apache-2.0
"""The encoder split over ranks, compared with one rank and with NumPy.

Run:  aclnn-py run -n 2 samples/embedding_service/tensor_parallel.py [--dtype float16] [--texts 24]

Every rank has its heads and its part of each feed-forward layer. The second products are summed by
matmul_all_reduce in float16 and bfloat16. The fused operator does not take float32, so there a
product and an all_reduce do it. Last line of each rank: "ok".
"""

from __future__ import annotations

import argparse
import sys

import ml_dtypes
import numpy as np
from corpus import texts
from encoder import Encoder, all_shapes, embed_all
from model import Model
from reference import NumpyEncoder
from text import TextTokenizer
from weights import model_directory, read_checkpoint, read_config, shard

from aclnn_py.distributed import Communicator

DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
LEAST_COSINE = {"float32": 0.9999, "float16": 0.999, "bfloat16": 0.999}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dtype", choices=sorted(DTYPES), default="float16")
    parser.add_argument("--texts", type=int, default=24)
    options = parser.parse_args()
    dtype = DTYPES[options.dtype]

    directory = model_directory()
    config, checkpoint = read_config(directory), read_checkpoint(directory)
    tokens = TextTokenizer(directory)(texts(options.texts))
    shapes = all_shapes(rows=(1, 4), lengths=(16, 64, 256))
    with Communicator.from_env() as comm:
        print(f"device {comm.device.index}: {comm.device.name}, rank {comm.rank}", flush=True)
        part = Model(shard(checkpoint, config, comm.rank, comm.world_size), dtype, comm)
        split = Encoder(part, shapes)
        vectors = embed_all(split, tokens)
        split.close()
        whole = Encoder(Model(shard(checkpoint, config), dtype), shapes)
        alone = embed_all(whole, tokens)
        whole.close()

    reference = NumpyEncoder(checkpoint, config)
    expected = reference.embed_each(tokens)
    to_one = float((vectors * alone).sum(axis=1).min())
    to_numpy = float((vectors * expected).sum(axis=1).min())
    print(
        f"{len(tokens)} texts, {options.dtype}: least cosine to one rank {to_one:.6f}, to NumPy "
        f"{to_numpy:.6f}"
    )
    good = min(to_one, to_numpy) >= LEAST_COSINE[options.dtype]
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
