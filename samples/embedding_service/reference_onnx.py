# SPDX-License-Identifier: Apache-2.0
"""The same model as an ONNX graph for onnxruntime; needs onnx and onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from reference import padded
from weights import Array, Config

OPSET = 20
"""The first operator set that has Gelu."""
IR_VERSION = 9
"""The IR version of that operator set; an onnxruntime older than onnx can read it."""


class Graph:
    """Nodes in the order of their computation. Values are identified by name."""

    def __init__(self, checkpoint: dict[str, Array]) -> None:
        self._checkpoint = checkpoint
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: np.ndarray) -> str:
        """Add a constant of this name."""
        self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def ints(self, *values: int) -> str:
        """A constant list of integers: a shape, axes or bounds."""
        return self.constant(f"ints {values}", np.array(values, np.int64))

    def number(self, value: float) -> str:
        """A constant number."""
        return self.constant(f"number {value}", np.array(value, np.float32))

    def node(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Add a node; return its first output. The others add ``_1``, ``_2`` to that name."""
        name = f"{operator} {len(self._nodes)}"
        names = [name, *(f"{name}_{number}" for number in range(1, outputs))]
        self._nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return name

    def linear(self, names: Sequence[str], x: str) -> str:
        """The products of rows with several matrices side by side, and their biases."""
        weight = np.concatenate([self._checkpoint[f"{name}.weight"] for name in names])
        bias = np.concatenate([self._checkpoint[f"{name}.bias"] for name in names])
        matrix = self.constant(f"{names[0]} weight", weight.T)
        return self.node("Gemm", x, matrix, self.constant(f"{names[0]} bias", bias))

    def norm(self, name: str, x: str, epsilon: float) -> str:
        """Rows, normalised."""
        weight = self.constant(f"{name} weight", self._checkpoint[f"{name}.weight"])
        bias = self.constant(f"{name} bias", self._checkpoint[f"{name}.bias"])
        return self.node("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)

    def model(self, result: str) -> onnx.ModelProto:
        """The whole graph as a model with this result."""
        sizes = ["rows", "length"]
        graph = helper.make_graph(
            [*self._nodes, helper.make_node("Identity", [result], ["unit"])],
            "encoder",
            [
                helper.make_tensor_value_info("tokens", TensorProto.INT64, sizes),
                helper.make_tensor_value_info("mask", TensorProto.FLOAT, sizes),
            ],
            [helper.make_tensor_value_info("unit", TensorProto.FLOAT, ["rows", None])],
            list(self._constants.values()),
        )
        imports = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)


def encoder_model(checkpoint: dict[str, Array], config: Config) -> onnx.ModelProto:
    """The forward pass for any number of rows of any length."""
    graph = Graph(checkpoint)
    node, hidden = graph.node, config.hidden
    places = checkpoint["embeddings.position_embeddings.weight"]
    places = places + checkpoint["embeddings.token_type_embeddings.weight"][0]
    words = graph.constant("words", checkpoint["embeddings.word_embeddings.weight"])
    length = node("Shape", "tokens", start=1, end=2)
    first = node("Slice", graph.constant("places", places), graph.ints(0), length, graph.ints(0))
    x = node("Add", node("Gather", words, "tokens"), first)
    x = node("Reshape", x, graph.ints(-1, hidden))
    x = graph.norm("embeddings.LayerNorm", x, config.epsilon)
    # -1e9 where there is no token, as in the NumPy model.
    hidden_scores = node("Mul", node("Sub", "mask", graph.number(1)), graph.number(1e9))
    hidden_scores = node("Unsqueeze", hidden_scores, graph.ints(1, 2))
    heads = node(
        "Concat", node("Shape", "tokens"), graph.ints(3, config.heads, config.head_size), axis=0
    )
    for number in range(config.layers):
        base = f"encoder.layer.{number}"
        parts = [f"{base}.attention.self.{part}" for part in ("query", "key", "value")]
        qkv = node("Reshape", graph.linear(parts, x), heads)
        query = node("Split", qkv, axis=2, num_outputs=3, outputs=3)
        query, key, value = (
            node("Squeeze", part, graph.ints(2)) for part in (query, f"{query}_1", f"{query}_2")
        )
        query = node("Transpose", query, perm=[0, 2, 1, 3])
        scores = node("MatMul", query, node("Transpose", key, perm=[0, 2, 3, 1]))
        scores = node("Mul", scores, graph.number(config.head_size**-0.5))
        weights = node("Softmax", node("Add", scores, hidden_scores), axis=-1)
        attended = node("MatMul", weights, node("Transpose", value, perm=[0, 2, 1, 3]))
        attended = node("Transpose", attended, perm=[0, 2, 1, 3])
        attended = node("Reshape", attended, graph.ints(-1, hidden))
        attended = graph.linear([f"{base}.attention.output.dense"], attended)
        attended = node("Add", attended, x)
        x = graph.norm(f"{base}.attention.output.LayerNorm", attended, config.epsilon)
        inner = node("Gelu", graph.linear([f"{base}.intermediate.dense"], x))
        inner = node("Add", graph.linear([f"{base}.output.dense"], inner), x)
        x = graph.norm(f"{base}.output.LayerNorm", inner, config.epsilon)
    shape = node("Concat", node("Shape", "tokens"), graph.ints(hidden), axis=0)
    x = node("Reshape", x, shape)
    summed = node("MatMul", node("Unsqueeze", "mask", graph.ints(1)), x)
    counts = node("ReduceSum", "mask", graph.ints(1), keepdims=1)
    mean = node("Div", node("Squeeze", summed, graph.ints(1)), counts)
    norms = node("ReduceL2", mean, graph.ints(1), keepdims=1)
    return graph.model(node("Div", mean, norms))


class OnnxEncoder:
    """A float32 forward pass on the CPU with the given number of threads."""

    def __init__(self, checkpoint: dict[str, Array], config: Config, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # comparison.WAITING does this for the others.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            encoder_model(checkpoint, config).SerializeToString(),
            options,
            providers=["CPUExecutionProvider"],
        )

    def embed(self, texts: Sequence[Sequence[int]]) -> Array:
        """Unit vectors of texts given as token numbers, computed together."""
        tokens, mask = padded(texts)
        unit: Array = self._session.run(["unit"], {"tokens": tokens, "mask": mask})[0]
        return unit
