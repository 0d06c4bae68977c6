"""W6 and W7: programs whose kernels are products of matrices.

Weights are arguments of the program.  Peers do the same products with numpy, one BLAS thread per
product: our kernels say so to OpenBLAS once and for the whole process.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Case, Variant
from tfrt_nb import HostContext, Program
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.kernels.blas import use_one_blas_thread

Matrix = npt.NDArray[np.float32]

OURS = "tfrt-nb"
LAYERS = (784, 512, 256, 10)
BATCHES = (1, 64)
PRODUCTS = 64
SIZE = 256


# --- W6: a perceptron of three layers ---


TENSOR, CHAIN = "!t.tensor", "!tfrt.chain"


def matmul(alpha: str, a: str, b: str, beta: str, c: str, chain: str) -> str:
    """`c = alpha * a @ b + beta * c` as an operation."""
    types = f"(f32, {TENSOR}, {TENSOR}, f32, {TENSOR}, {CHAIN}) -> {CHAIN}"
    return f'"tfrt_test.matmul.f32.2"({alpha}, {a}, {b}, {beta}, {c}, {chain}) : {types}'


def broadcast(bias: str, shape: str) -> str:
    """A new tensor with the bias in each row."""
    types = f"({TENSOR}, !ts.shape, {CHAIN}) -> {TENSOR}"
    return f'"tfrt_test.broadcast.f32.2"({bias}, {shape}, %c0) : {types}'


def perceptron(batch: int) -> str:
    """A function of the images and of the weights and biases of each layer."""
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


def weights(seed: int = 1) -> list[tuple[Matrix, Matrix]]:
    """A matrix and a row of biases for each layer."""
    chance = np.random.default_rng(seed)
    return [
        (
            chance.normal(0, before**-0.5, (before, after)).astype(np.float32),
            chance.normal(0, 0.1, after).astype(np.float32),
        )
        for before, after in pairwise(LAYERS)
    ]


def numpy_perceptron(images: Matrix, layers: list[tuple[Matrix, Matrix]]) -> Matrix:
    """The same in numpy."""
    values = images
    for weight, bias in layers[:-1]:
        values = np.maximum(values @ weight + bias, 0)
    weight, bias = layers[-1]
    exponentials: Matrix = np.exp(values @ weight + bias)
    exponentials /= exponentials.sum(axis=-1, keepdims=True)
    return exponentials


@contextmanager
def inference() -> Iterator[Case]:
    """W6 on one thread and on two workers."""
    use_one_blas_thread()
    layers = weights()
    with ExitStack() as stack:
        variants = []
        for batch in BATCHES:
            images = np.random.default_rng(2).random((batch, LAYERS[0]), np.float32)
            given = [images, *(array for layer in layers for array in layer)]
            for queue in ("s", "mstd:2"):
                host = stack.enter_context(HostContext(queue))
                run = runs(host, perceptron(batch), given, numpy_perceptron(images, layers))
                variants.append(Variant(f"batch {batch}, {queue}", OURS, run))
            variants.append(Variant(f"batch {batch}", "numpy", numpy_of(images, layers)))
        yield Case("W6", f"perceptron {'-'.join(map(str, LAYERS))}", "us", tuple(variants))


def numpy_of(images: Matrix, layers: list[tuple[Matrix, Matrix]]) -> Callable[[], object]:
    return lambda: numpy_perceptron(images, layers)


def runs(
    host: HostContext, text: str, given: list[Matrix], expected: Matrix
) -> Callable[[], object]:
    """A run of a program of tensors, from its start until its results are there."""
    program = Program.from_source(text, "benchmark")
    program.load()
    arguments = [DenseHostTensor.over(array) for array in given]

    def run() -> object:
        execution = program.run(host, arguments=arguments)
        execution.wait()
        return execution.results[0].result()

    found = run()
    assert isinstance(found, DenseHostTensor)
    np.testing.assert_allclose(found.array, expected, rtol=1e-4, atol=1e-6)
    return run


# --- W7: products that need one another ---


def dependencies(seed: int = 7) -> list[tuple[int, int]]:
    """For each product which two of the values before it it multiplies; value 0 is the argument."""
    chance = random.Random(seed)
    return [(chance.randint(0, i), chance.randint(0, i)) for i in range(PRODUCTS)]


def products() -> str:
    """The products as a program: a result is scaled, so that numbers stay small."""
    lines = [
        f"func @main(%v0: {TENSOR}) -> ({TENSOR}, {CHAIN}) {{",
        f"  %scale = tfrt.constant.f32 {1 / SIZE}",
        "  %zero = tfrt.constant.f32 0.0",
        "  %c0 = tfrt.new.chain",
    ]
    sizes = f"[{SIZE} : i64, {SIZE} : i64]"
    for i, (left, right) in enumerate(dependencies(), 1):
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


def numpy_products(start: Matrix) -> Matrix:
    """One product after the other."""
    values = [start]
    for left, right in dependencies():
        values.append((values[left] @ values[right]) * np.float32(1 / SIZE))
    return values[-1]


def pool_products(pool: ThreadPoolExecutor, start: Matrix) -> Matrix:
    """Each product as soon as both of its factors are there, by hand."""
    values: list[Matrix | None] = [start, *[None] * PRODUCTS]
    waiting: list[list[int]] = [[] for _ in range(PRODUCTS + 1)]
    missing = [0] * (PRODUCTS + 1)
    factors = dependencies()
    for i, pair in enumerate(factors, 1):
        for value in {*pair} - {0}:
            waiting[value].append(i)
            missing[i] += 1

    def multiply(i: int) -> int:
        left, right = (values[j] for j in factors[i - 1])
        assert left is not None
        assert right is not None
        values[i] = (left @ right) * np.float32(1 / SIZE)
        return i

    running: set[Future[int]] = {
        pool.submit(multiply, i) for i in range(1, PRODUCTS + 1) if not missing[i]
    }
    while running:
        done, running = wait_first(running)
        for future in done:
            for i in waiting[future.result()]:
                missing[i] -= 1
                if not missing[i]:
                    running.add(pool.submit(multiply, i))
    last = values[-1]
    assert last is not None
    return last


def wait_first(futures: set[Future[int]]) -> tuple[set[Future[int]], set[Future[int]]]:
    """The futures that are done, at least one, and the others."""
    done, left = wait(futures, return_when=FIRST_COMPLETED)
    return done, left


@contextmanager
def graph_of_products() -> Iterator[Case]:
    """W7."""
    use_one_blas_thread()
    start = np.random.default_rng(3).random((SIZE, SIZE), np.float32)
    expected = numpy_products(start)
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(2))
        variants = [
            Variant(
                f"executor, {queue}",
                OURS,
                runs(stack.enter_context(HostContext(queue)), products(), [start], expected),
            )
            for queue in ("s", "mstd:2")
        ]
        yield Case(
            "W7",
            f"{PRODUCTS} products of {SIZE} x {SIZE} in a random graph",
            "ms",
            (
                *variants,
                Variant("one after the other", "numpy", lambda: numpy_products(start)),
                Variant(
                    "by hand, 2 threads",
                    "concurrent.futures",
                    lambda: pool_products(pool, start),
                ),
            ),
        )
