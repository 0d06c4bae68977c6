"""W6 and W7: programs whose kernels are products of matrices, with weights as arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from benchmarks.inputs import (
    BATCHES,
    LAYERS,
    PRODUCTS,
    SIZE,
    Matrix,
    check,
    factors,
    first_factor,
    images,
    perceptron,
    products,
    weights,
)
from benchmarks.work import Run, Work
from tfrt_nb import HostContext, Program
from tfrt_runtime.host.tensor.dense import DenseHostTensor

TENSOR, CHAIN = "!t.tensor", "!tfrt.chain"


def matmul(alpha: str, a: str, b: str, beta: str, c: str, chain: str) -> str:
    """Return `c = alpha * a @ b + beta * c` as an operation."""
    types = f"(f32, {TENSOR}, {TENSOR}, f32, {TENSOR}, {CHAIN}) -> {CHAIN}"
    return f'"tfrt_test.matmul.f32.2"({alpha}, {a}, {b}, {beta}, {c}, {chain}) : {types}'


def broadcast(bias: str, shape: str) -> str:
    """Return operations that create a tensor with the bias in each row."""
    types = f"({TENSOR}, !ts.shape, {CHAIN}) -> {TENSOR}"
    return f'"tfrt_test.broadcast.f32.2"({bias}, {shape}, %c0) : {types}'


def perceptron_of(batch: int) -> str:
    """Return a function of the images and of the weights and biases of each layer."""
    last = len(LAYERS) - 1
    arguments = [f"%x0: {TENSOR}"]
    lines = ["  %one = tfrt.constant.f32 1.0", "  %c0 = tfrt.new.chain"]
    for i, width in enumerate(LAYERS[1:], 1):
        arguments += [f"%w{i}: {TENSOR}", f"%b{i}: {TENSOR}"]
        product = matmul("%one", f"%x{i - 1}", f"%w{i}", "%one", f"%x{i}", f"%c{i - 1}")
        kernel = f"tfrt_test.{'softmax' if i == last else 'relu'}_inplace.f32"
        lines += [
            f"  %s{i} = ts.build_shape [{batch} : i64, {width} : i64]",
            f"  %x{i} = {broadcast(f'%b{i}', f'%s{i}')}",
            f"  %p{i} = {product}",
            f'  %c{i} = "{kernel}"(%x{i}, %p{i}) : ({TENSOR}, {CHAIN}) -> {CHAIN}',
        ]
    lines.append(f"  tfrt.return %x{last}, %c{last} : {TENSOR}, {CHAIN}")
    head = f"func @main({', '.join(arguments)}) -> ({TENSOR}, {CHAIN}) {{"
    return "\n".join([head, *lines, "}"])


def product_graph() -> str:
    """Return the products as a program, with results scaled so that numbers stay small."""
    lines = [
        f"func @main(%v0: {TENSOR}) -> ({TENSOR}, {CHAIN}) {{",
        f"  %scale = tfrt.constant.f32 {1 / SIZE}",
        "  %zero = tfrt.constant.f32 0.0",
        "  %c0 = tfrt.new.chain",
    ]
    sizes = f"[{SIZE} : i64, {SIZE} : i64]"
    for i, (left, right) in enumerate(factors(), 1):
        product = matmul("%scale", f"%v{left}", f"%v{right}", "%zero", f"%v{i}", f"%d{i}")
        lines += [
            f"  %v{i} = tfrt_dht.create_uninitialized_tensor.f32.2 {sizes}",
            f"  %d{i} = tfrt.merge.chains %c{left}, %c{right} : {CHAIN}, {CHAIN}",
            f"  %c{i} = {product}",
        ]
    ends = ", ".join(f"%c{i}" for i in range(1, PRODUCTS + 1))
    types = ", ".join([CHAIN] * PRODUCTS)
    lines += [
        f"  %end = tfrt.merge.chains {ends} : {types}",
        f"  tfrt.return %v{PRODUCTS}, %end : {TENSOR}, {CHAIN}",
    ]
    return "\n".join([*lines, "}"])


def opened(
    queue: str, text: str, given: list[Matrix], expected: Matrix
) -> Callable[[], AbstractContextManager[Run]]:
    """Open a program with tensors; time it from the start of a run until its results are there."""

    @contextmanager
    def make() -> Iterator[Run]:
        program = Program.from_source(text, "benchmark")
        arguments = [DenseHostTensor.over(array) for array in given]
        with HostContext(queue) as host:

            def run() -> object:
                execution = program.run(host, arguments=arguments)
                execution.wait()
                return execution.results[0].result()

            check(run(), expected)
            yield run

    return make


def _works() -> Iterator[Work]:
    layers = weights()
    start = first_factor()
    last = products(start)
    for queue, cores in (("s", 1), ("mstd:2", 2)):
        for batch in BATCHES:
            given = [images(batch), *(array for layer in layers for array in layer)]
            expected = perceptron(images(batch), layers)
            work = opened(queue, perceptron_of(batch), given, expected)
            yield Work(f"perceptron_{batch}", queue, work, cores=cores)
        yield Work("products", queue, opened(queue, product_graph(), [start], last), cores=cores)


WORKS = tuple(_works())
