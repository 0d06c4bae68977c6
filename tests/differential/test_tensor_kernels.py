"""Compare the native forms of tensor kernels with their Python functions.

Results and messages must be the same. Every kernel with a native form runs in both forms on
arguments that hypothesis makes up. Some are valid, and some have wrong types or shapes, have no
elements, share memory, or are not contiguous.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfrt_nb.programs import Program
from tfrt_runtime.bef.records import DType
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.tensor.dense import DenseHostTensor, HostBuffer
from tfrt_runtime.host.tensor.shapes import ELEMENT_TYPES, F32, I32, ElementType, TensorShape
from tfrt_runtime.kernels.registry import Kernel, PythonKernel
from tfrt_runtime.kernels.standard import available_kernels

TENSOR, CHAIN_TYPE, SHAPE = "!t.tensor", "!tfrt.chain", "!ts.shape"
SETTINGS = settings(max_examples=60)
SIZES = st.lists(st.integers(0, 5), min_size=0, max_size=4).map(tuple)
BOOL = ELEMENT_TYPES[DType.I1]
NUMBERS = [0.0, -0.0, 1.0, -1.5, 3.25, 41.0, -120.0, 3e9, np.inf, -np.inf, np.nan]


@functools.cache
def python_halves() -> dict[str, Kernel]:
    """Return the kernels without their native parts."""
    return {
        name: dataclasses.replace(kernel, shortcut=None)
        if isinstance(kernel, PythonKernel)
        else kernel
        for name, kernel in available_kernels().items()
    }


@pytest.fixture(scope="module")
def host() -> Iterator[HostContext]:
    with HostContext("s", output=lambda _: None) as made:
        yield made


@functools.cache
def program(
    name: str, types: tuple[str, ...], results: tuple[str, ...], attributes: str = ""
) -> Program:
    """Return a program whose function is one call of a kernel."""
    arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(types))
    names = ", ".join(f"%a{i}" for i in range(len(types)))
    made = ", ".join(f"%r{i}" for i in range(len(results)))
    signature = f"({', '.join(types)}) -> ({', '.join(results)})"
    text = f"""
      func @main({arguments}) -> ({", ".join(results)}) {{
        {made} = "{name}"({names}) {attributes} : {signature}
        tfrt.return {made} : {", ".join(results)}
      }}"""
    return Program.from_source(text, name)


def described(value: object) -> object:
    """Return a result in a form for comparison, in which all NaNs, and all zeros, are equal."""
    if isinstance(value, DenseHostTensor):
        elements = [
            "nan" if number != number else number + 0.0  # noqa: PLR0124
            for number in value.array.reshape(-1).tolist()
        ]
        return str(value.element_type), value.shape.sizes, elements
    return value


def assert_same(left: Sequence[object], right: Sequence[object]) -> None:
    """Check that both forms did the same."""
    assert list(map(described, left)) == list(map(described, right))


def assert_close(left: Sequence[object], right: Sequence[object]) -> None:
    """Check that both forms did the same, up to the last digits of floats and tiny numbers."""
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        if not isinstance(one, DenseHostTensor) or one.element_type is not F32:
            assert_same([one], [other])
            continue
        assert isinstance(other, DenseHostTensor)
        np.testing.assert_allclose(one.array, other.array, rtol=1e-5, atol=1e-35)


def run(
    host: HostContext, called: Program, arguments: Sequence[object], *, natively: bool
) -> list[object]:
    """Return the results of a call, with errors as their messages."""
    kernels = None if natively else python_halves()
    try:
        execution = called.run(host, arguments=list(arguments), kernels=kernels)
    except TfrtError as refused:  # of an argument that is no tensor
        return [str(refused.diagnostics[0].message)]
    assert execution.wait(60)
    return [
        f"error: {problem.diagnostics[0].message}"
        if (problem := value.exception(0)) is not None
        else value.payload()
        for value in execution.results
    ]


def compare(
    host: HostContext,
    called: Program,
    arguments: Sequence[object],
    expect: Callable[[Sequence[object], Sequence[object]], None] = assert_same,
) -> None:
    """Run both forms on copies of the arguments; compare results and arguments."""
    outcomes = []
    for natively in (True, False):
        given_now = copies(arguments)
        outcomes.append([*run(host, called, given_now, natively=natively), *given_now])
    expect(*outcomes)


def copies(arguments: Sequence[object]) -> list[object]:
    """Return copies of tensors, which share memory with each other as the tensors do."""
    memory: dict[int, HostBuffer] = {}
    made: list[object] = []
    for value in arguments:
        if not isinstance(value, DenseHostTensor):
            made.append(value)
            continue
        whole = value.buffer._memory
        assert isinstance(whole, np.ndarray)
        if id(whole) not in memory:
            memory[id(whole)] = HostBuffer.over(whole.copy())
        offset = value.buffer.address - HostBuffer.over(whole).address
        buffer = memory[id(whole)].slice(offset, value.buffer.size)
        made.append(DenseHostTensor(value.element_type, value.shape, buffer))
    return made


# --- arguments ---


@st.composite
def tensors(
    draw: st.DrawFn, sizes: tuple[int, ...], element_type: ElementType = F32
) -> DenseHostTensor:
    """Draw a tensor of that shape with numbers that reveal errors."""
    count = TensorShape(sizes).element_count
    if element_type is F32:
        elements = st.sampled_from(NUMBERS) | st.floats(-50, 50, width=32)
    else:
        elements = st.integers(-3, 3) | st.sampled_from([2**31 - 1, -(2**31)])
    values = draw(st.lists(elements, min_size=count, max_size=count))
    storage = np.dtype(np.bool_) if element_type is BOOL else element_type.storage
    return DenseHostTensor.over(np.array(values, storage).reshape(sizes))


@st.composite
def operands(draw: st.DrawFn, count: int, word: str) -> list[object]:
    """Draw arguments, most of which fit together, while some are not what they should be."""
    right = F32 if word == "f32" else I32
    sizes = draw(SIZES)
    made: list[object] = []
    for _ in range(count):
        match draw(
            st.sampled_from(["good"] * 8 + ["shape", "type", "object", "shared", "crooked"])
        ):
            case "good":
                made.append(draw(tensors(sizes, right)))
            case "shape":
                made.append(draw(tensors(draw(SIZES), right)))
            case "type":
                made.append(draw(tensors(sizes, draw(st.sampled_from([F32, I32, BOOL])))))
            case "object":
                made.append(draw(st.sampled_from(["text", TensorShape((2,)), 7, None])))
            case "shared":
                made.append(draw(sharing(sizes, right, made)))
            case _:
                made.append(draw(crooked(sizes, right)))
    return made


@st.composite
def sharing(
    draw: st.DrawFn,
    sizes: tuple[int, ...],
    element_type: ElementType,
    made: list[object],
) -> object:
    """Draw a tensor that shares all or some memory with an earlier one, if there is one."""
    earlier = [value for value in made if isinstance(value, DenseHostTensor)]
    if not earlier:
        return draw(tensors(sizes, element_type))
    other = draw(st.sampled_from(earlier))
    bytes_needed = TensorShape(sizes).element_count * element_type.size
    room = other.buffer.size - bytes_needed
    if room < 0:
        return other
    start = draw(st.integers(0, room // 4)) * 4
    buffer = other.buffer.slice(start, bytes_needed)
    return DenseHostTensor(element_type, TensorShape(sizes), buffer)


@st.composite
def crooked(draw: st.DrawFn, sizes: tuple[int, ...], element_type: ElementType) -> DenseHostTensor:
    """Draw a tensor that does not start at a multiple of its elements' size."""
    size = TensorShape(sizes).element_count * element_type.size
    memory = HostBuffer.over(np.zeros(size + 8, np.uint8))
    start = draw(st.sampled_from([1, 2, 3]))
    return DenseHostTensor(element_type, TensorShape(sizes), memory.slice(start, size))


@st.composite
def chained(draw: st.DrawFn, made: list[object]) -> list[object]:
    """Draw the values with or without a chain after them."""
    return [*made, CHAIN] if draw(st.booleans()) else made


def types_of(arguments: Sequence[object]) -> tuple[str, ...]:
    return tuple(CHAIN_TYPE if value is CHAIN else TENSOR for value in arguments)


# --- kernels ---


KERNELS = {
    "tfrt_test.relu_inplace.f32": assert_same,
    "tfrt_test.softmax_inplace.f32": assert_close,
}


@pytest.mark.parametrize("name", KERNELS)
@given(data=st.data())
@SETTINGS
def test_a_kernel_does_the_same_natively(host: HostContext, name: str, data: st.DataObject) -> None:
    made = data.draw(operands(data.draw(st.sampled_from([1, 1, 1, 2])), "f32").flatmap(chained))
    compare(host, program(name, types_of(made), (CHAIN_TYPE,)), made, KERNELS[name])


@pytest.mark.parametrize("word", ["f32", "i32"])
@given(data=st.data())
@SETTINGS
def test_rows_are_repeated(host: HostContext, word: str, data: st.DataObject) -> None:
    [source] = data.draw(operands(1, word))
    sizes = data.draw(SIZES)
    if isinstance(source, DenseHostTensor) and data.draw(st.booleans()):
        sizes = (*data.draw(st.lists(st.integers(0, 3), max_size=2)), *source.shape.sizes)
    rank = data.draw(st.sampled_from([2, 3]))
    text = f"""
      func @main(%a: {TENSOR}) -> {TENSOR} {{
        %chain = tfrt.new.chain
        %shape = ts.build_shape [{", ".join(f"{size} : i64" for size in sizes)}]
        %r = "tfrt_test.broadcast.{word}.{rank}"(%a, %shape, %chain)
            : ({TENSOR}, {SHAPE}, {CHAIN_TYPE}) -> {TENSOR}
        tfrt.return %r : {TENSOR}
      }}"""
    compare(host, Program.from_source(text, "broadcast"), [source])


@given(data=st.data())
@SETTINGS
def test_products_are_the_same_natively(host: HostContext, data: st.DataObject) -> None:
    rows, inner, columns = (data.draw(st.integers(0, 6)) for _ in range(3))
    shapes: list[tuple[int, ...]] = [(rows, inner), (inner, columns), (rows, columns)]
    if data.draw(st.booleans()):
        shapes[data.draw(st.integers(0, 2))] = data.draw(SIZES)
    made: list[object] = []
    for sizes in shapes:
        if data.draw(st.integers(0, 5)) == 0:
            made += data.draw(operands(1, "f32"))
        elif data.draw(st.integers(0, 5)) == 0:
            made.append(data.draw(sharing(sizes, F32, made)))
        else:
            # Small whole numbers: their sums are exact in any order.
            numbers = np.arange(TensorShape(sizes).element_count) % 7 - 3
            made.append(DenseHostTensor.over(numbers.astype(np.float32).reshape(sizes)))
    alpha, beta = (data.draw(st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0])) for _ in range(2))
    arguments = data.draw(chained([alpha, *made[:2], beta, made[2]]))
    types = ("f32", TENSOR, TENSOR, "f32", TENSOR, CHAIN_TYPE)[: len(arguments)]
    compare(host, program("tfrt_test.matmul.f32.2", types, (CHAIN_TYPE,)), arguments)


@pytest.mark.parametrize("natively", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    "sizes", [(6, 6, 6), (200, 200, 200), (1, 6, 6), (1, 200, 200), (6, 6, 1), (2, 0, 3), (0, 2, 3)]
)
def test_what_a_product_scales_by_0_is_not_read(
    host: HostContext, sizes: tuple[int, int, int], bad: float, natively: bool
) -> None:
    rows, inner, columns = sizes
    types = ("f32", TENSOR, TENSOR, "f32", TENSOR)
    called = program("tfrt_test.matmul.f32.2", types, (CHAIN_TYPE,))

    def product(alpha: float, factor: float, beta: float, before: float) -> np.ndarray:
        """Return the result for matrices whose elements are all equal."""
        a = np.full((rows, inner), factor, np.float32)
        b = np.full((inner, columns), factor, np.float32)
        c = np.full((rows, columns), before, np.float32)
        left, right, target = map(DenseHostTensor.over, (a, b, c))
        arguments = [alpha, left, right, beta, target]
        assert run(host, called, arguments, natively=natively) == [CHAIN]
        return c

    assert (product(0.0, bad, 0.0, bad) == 0).all()
    assert (product(-0.0, bad, 2.0, 3.0) == 6).all()
    assert (product(0.0, bad, 1.0, 3.0) == 3).all()
    assert (product(1.0, 1.0, 0.0, bad) == inner).all()
    assert (product(2.0, 1.0, -0.0, bad) == 2 * inner).all()
    if inner == 0:
        assert (product(bad, 1.0, 2.0, 3.0) == 6).all()


@given(sizes=st.lists(st.integers(-1, 5) | st.just(2**62), max_size=5))
@SETTINGS
def test_shapes_and_new_tensors(host: HostContext, sizes: list[int]) -> None:
    listed = ", ".join(f"{size} : i64" for size in sizes)
    text = f"""
      func @main() -> ({SHAPE}, {SHAPE}) {{
        %shape = ts.build_shape [{listed}]
        %tensor = tfrt_dht.create_uninitialized_tensor.f32.3 [{listed}]
        %found = "tfrt_dht.get_tensor_shape"(%tensor) : ({TENSOR}) -> {SHAPE}
        tfrt.return %shape, %found : {SHAPE}, {SHAPE}
      }}"""
    compare(host, Program.from_source(text, "shapes"), [])


def test_every_native_half_is_compared_here() -> None:
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    for name, kernel in available_kernels().items():
        if isinstance(kernel, PythonKernel) and kernel.shortcut is not None:
            stem = name.split(".")[1].removesuffix("_inplace")
            assert stem in text, name
