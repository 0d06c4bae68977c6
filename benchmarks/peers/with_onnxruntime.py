"""ONNX Runtime: models made with onnx, in a session with as many threads as processors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from benchmarks import inputs
from benchmarks.work import Run, Work, simply

FLOAT = TensorProto.FLOAT


def model(nodes: list[Any], given: Any, results: list[str], constants: dict[str, Any]) -> bytes:
    """Return a model with one input."""
    graph = helper.make_graph(
        nodes,
        "benchmark",
        [given],
        [helper.make_tensor_value_info(result, FLOAT, None) for result in results],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    data: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return data


def session(data: bytes, threads: int, *, as_written: bool = False) -> Any:
    """Return a model that can be run; if `as_written`, no nodes are folded."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    if as_written:
        level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.graph_optimization_level = level
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def perceptron(batch: int) -> bytes:
    """W6."""
    nodes, last = [], "x0"
    constants: dict[str, Any] = {}
    layers = inputs.weights()
    for i, (weight, bias) in enumerate(layers, 1):
        constants |= {f"w{i}": weight, f"b{i}": bias}
        kind = "Softmax" if i == len(layers) else "Relu"
        nodes += [
            helper.make_node("Gemm", [last, f"w{i}", f"b{i}"], [f"y{i}"]),
            helper.make_node(kind, [f"y{i}"], [f"x{i}"]),
        ]
        last = f"x{i}"
    given = helper.make_tensor_value_info("x0", FLOAT, [batch, inputs.LAYERS[0]])
    return model(nodes, given, [last], constants)


def products() -> bytes:
    """Return W7 with all values as results; otherwise, unneeded ones would be removed."""
    nodes = []
    for i, (left, right) in enumerate(inputs.factors(), 1):
        nodes += [
            helper.make_node("MatMul", [f"v{left}", f"v{right}"], [f"p{i}"]),
            helper.make_node("Mul", [f"p{i}", "scale"], [f"v{i}"]),
        ]
    given = helper.make_tensor_value_info("v0", FLOAT, [inputs.SIZE, inputs.SIZE])
    scale = {"scale": np.array(1 / inputs.SIZE, np.float32)}
    results = [f"v{i + 1}" for i in range(inputs.PRODUCTS)]
    return model(nodes, given, results, scale)


def chain(length: int) -> bytes:
    """Return W1, on tensors of one number."""
    names = [(f"v{i}", f"v{i + 1}") for i in range(length)]
    nodes = [helper.make_node("Add", [before, "one"], [after]) for before, after in names]
    given = helper.make_tensor_value_info("v0", FLOAT, [1])
    return model(nodes, given, [f"v{length}"], {"one": np.ones(1, np.float32)})


def run_of(data: bytes, name: str, given: object, threads: int, *, as_written: bool = False) -> Run:
    """Return a run of a session."""
    made = session(data, threads, as_written=as_written)
    return lambda: made.run(None, {name: given})[-1]


def checked(run: Run, expected: inputs.Matrix) -> Run:
    """Return a run after checking its result."""
    inputs.check(run(), expected)
    return run


def _works() -> Iterator[Work]:
    layers, start = inputs.weights(), inputs.first_factor()

    def opened(make: Callable[[], Run]) -> Callable[[], Any]:
        return lambda: simply(make())()

    for cores in (1, 2):
        name = f"{cores} threads"
        for batch in inputs.BATCHES:
            given = inputs.images(batch)
            expected = inputs.perceptron(given, layers)
            make = opened(
                lambda b=batch, g=given, e=expected, c=cores: checked(  # type: ignore[misc]
                    run_of(perceptron(b), "x0", g, c), e
                )
            )
            yield Work(f"perceptron_{batch}", name, make, cores=cores)
        make = opened(
            lambda c=cores: checked(  # type: ignore[misc]
                run_of(products(), "v0", start, c), inputs.products(start)
            )
        )
        yield Work("products", name, make, cores=cores)
    zero = np.zeros(1, np.float32)
    for size in (1_000, 10_000):
        make = opened(
            lambda n=size: run_of(chain(n), "v0", zero, 1, as_written=True)  # type: ignore[misc]
        )
        yield Work(f"chain_{size}", "as written", make, size)
    data = chain(10_000)
    yield Work("text_10000", "session", simply(lambda: session(data, 1, as_written=True)))


WORKS = tuple(_works())
