"""Kernels for host tensors: creation, filling, comparison, conversion, and printing.

Other kernels in this module make dense tensors' memory available as program values.

A kernel whose name ends in an element type is registered for each type in which numpy can
calculate; creation is also registered for bf16.  Kernels write in place, and return a chain on
which later reads depend.  The kernels of sync functions have no chains, because they run in program
order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tfrt_runtime.bef.attributes import Dense
from tfrt_runtime.bef.records import DType
from tfrt_runtime.host.payload import CHAIN, Chain, HostTensor
from tfrt_runtime.host.tensor.dense import DenseHostTensor, HostBuffer, shape_words
from tfrt_runtime.host.tensor.shapes import (
    ELEMENT_TYPES,
    F32,
    AnyArray,
    ElementType,
    TensorShape,
    known_shape,
)
from tfrt_runtime.host.tensor.sparse import CooHostTensor
from tfrt_runtime.kernels.frame import KernelFrame, expect
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry, Shortcut
from tfrt_runtime.kernels.tensor.arguments import (
    allocated,
    dense_tensor,
    new_tensor,
    output_tensor,
    quietly,
    shape_of,
)

REGISTRY: Final = KernelRegistry("tensors")

MAXIMUM_RANK: Final = 5
ARITHMETIC_TYPES: Final = tuple(
    element for element in ELEMENT_TYPES.values() if element.is_arithmetic
)
REAL_TYPES: Final = tuple(
    element for element in ARITHMETIC_TYPES if not element.word.startswith("complex")
)
# The allowed difference between elements, in units in the last place, keyed by the middle part of
# the kernel's name.
_TOLERANCES: Final = {"": 2, ".3ulp": 3, ".1000ulp": 1000, ".2000ulp": 2000, ".100000ulp": 100000}


@dataclass(frozen=True, slots=True)
class StringHostTensor(HostTensor):
    """Strings in a shape, row by row.

    Raises:
        ValueError: if the number of strings is not the shape's element count.
    """

    shape: TensorShape
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.values) != self.shape.element_count:
            raise ValueError(
                f"Incorrect number of values for the tensor: {len(self.values)}, "
                f"but expected {self.shape.element_count}"
            )

    def __str__(self) -> str:
        values = ", ".join(f'"{value}"' for value in self.values)
        return f"StringHostTensor shape = {self.shape}, values = [{values}]"


AnyTensor = DenseHostTensor | StringHostTensor | CooHostTensor


def host_tensor(value: object) -> AnyTensor:
    """Return `value`, which must be a tensor of any kind.

    Raises:
        KernelError: if `value` is not a tensor.
    """
    if not isinstance(value, AnyTensor):
        raise KernelError(f"expected a tensor, found {type(value).__name__}")
    return value


# --- making ---


def _fill_unwritten(frame: KernelFrame, buffer: HostBuffer) -> None:
    """Fill unwritten memory, as `native.cells.fill_unwritten` does."""
    word = frame.host.work_queue.native.choose & -2
    ctypes.memset(buffer.address, word & 0xFF, buffer.size)


def _add_creation(element_type: ElementType, rank: int) -> None:
    def words(sizes: tuple[int, ...]) -> tuple[int, ...] | None:
        count = known_shape(sizes).element_count
        return shape_words(element_type, sizes, count) if len(sizes) == rank else None

    def create_uninitialized_tensor(frame: KernelFrame, sizes: tuple[int, ...]) -> DenseHostTensor:
        if len(sizes) != rank:
            raise KernelError(f"expected {rank} sizes, not {len(sizes)}")
        tensor = new_tensor(frame, element_type, sizes)
        _fill_unwritten(frame, tensor.buffer)
        return tensor

    name = f"create_uninitialized_tensor.{element_type.word}.{rank}"
    shortcut = Shortcut("tensor_kernels.create_tensor", words)
    for dialect, sync, native in (("tfrt_dht", False, shortcut), ("tfrt_dht_sync", True, None)):
        if not sync or element_type in REAL_TYPES:
            REGISTRY.kernel(
                f"{dialect}.{name}",
                attributes=("array.i64",),
                results=("object",),
                frame=True,
                sync=sync,
                shortcut=native,
            )(create_uninitialized_tensor)


for _element_type in ELEMENT_TYPES.values():
    for _rank in range(MAXIMUM_RANK + 1):
        _add_creation(_element_type, _rank)


@REGISTRY.kernel(
    "tfrt_sht_sync.create_tensor",
    attributes=("array.i64", "aggregate"),
    results=("object",),
    sync=True,
)
@REGISTRY.kernel(
    "tfrt_sht.create_tensor", attributes=("array.i64", "aggregate"), results=("object",)
)
def create_string_tensor(sizes: tuple[int, ...], values: tuple[object, ...]) -> StringHostTensor:
    """Make a tensor of the strings `values` with the shape `sizes`."""
    if not all(isinstance(value, str) for value in values):
        raise KernelError("the values of a string tensor must be strings")
    try:
        return StringHostTensor(shape_of(sizes), tuple(map(str, values)))
    except ValueError as error:
        raise KernelError(str(error)) from None


@REGISTRY.kernel(
    "tfrt_sht_sync.create_uninitialized_tensor",
    attributes=("array.i64",),
    results=("object",),
    frame=True,
    sync=True,
)
def create_empty_strings(frame: KernelFrame, sizes: tuple[int, ...]) -> StringHostTensor:
    """Make a tensor of empty strings with the shape `sizes`."""
    # Check with the allocator that enough memory is left for the 8-byte references.
    new_tensor(frame, ELEMENT_TYPES[DType.I64], sizes)
    return create_string_tensor(sizes, ("",) * known_shape(sizes).element_count)


@REGISTRY.kernel(
    "tfrt_test.sync.const_dense_attr",
    attributes=("dense",),
    results=("object",),
    frame=True,
    sync=True,
)
@REGISTRY.kernel(
    "tfrt_test.const_dense_attr", attributes=("dense",), results=("object",), frame=True
)
def const_dense_attr(frame: KernelFrame, value: Dense) -> DenseHostTensor:
    """Copy the elements of an attribute."""
    if value.dtype not in ELEMENT_TYPES:
        raise KernelError(f"a tensor cannot hold elements of type {value.dtype.name}")
    element_type = ELEMENT_TYPES[value.dtype]
    size = shape_of(value.sizes).element_count * element_type.size
    # Check before allocating: the sizes in a file may not match its data.
    if len(value.data) != size:
        raise KernelError(f"{len(value.data)} bytes of elements where the shape asks for {size}")
    tensor = new_tensor(frame, element_type, value.sizes)
    tensor.array[...] = np.frombuffer(value.data, element_type.storage).reshape(value.sizes)
    return tensor


# --- writing ---


@quietly
def fill(tensor: DenseHostTensor, value: complex) -> None:
    """Set every element to `value`."""
    tensor.array.fill(value)


def assign(tensor: DenseHostTensor, values: Sequence[complex]) -> None:
    """Set the elements, row by row, to `values`.

    Raises:
        KernelError: if the number of values is wrong, or if a value does not fit the element type.
    """
    expected = tensor.shape.element_count
    if len(values) != expected:
        raise KernelError(
            f"Incorrect number of values for the tensor: {len(values)}, but expected {expected}"
        )
    try:
        elements = np.array(values, tensor.element_type.storage)
    except (OverflowError, TypeError, ValueError):
        raise KernelError(f"a value does not fit in {tensor.element_type}") from None
    tensor.array[...] = elements.reshape(tensor.shape.sizes)


def _add_filling(element_type: ElementType) -> None:
    """Register kernels that fill tensors of an element type from attributes, with sync versions."""
    word = element_type.word
    attribute = "i1" if word == "bool" else word

    def fill_tensor_with_constant(tensor: object, value: float) -> None:
        fill(output_tensor(tensor, element_type), value)

    def set_tensor_with_constant_values(tensor: object, values: tuple[float, ...]) -> None:
        assign(output_tensor(tensor, element_type), values)

    for function, type_word in (
        (fill_tensor_with_constant, attribute),
        (set_tensor_with_constant_values, f"array.{attribute}"),
    ):
        name = f"{function.__name__}.{word}"
        REGISTRY.kernel(f"tfrt_dht.{name}", attributes=(type_word,), results=("chain",))(function)
        REGISTRY.kernel(f"tfrt_dht_sync.{name}", attributes=(type_word,), results=(), sync=True)(
            function
        )


def _add_complex_filling(element_type: ElementType, part: str) -> None:
    """Register kernels that fill tensors of complex numbers; the attributes are the parts."""
    word = element_type.word

    @REGISTRY.kernel(
        f"tfrt_dht.fill_tensor_with_constant.{word}", attributes=(part, part), results=("chain",)
    )
    def fill_tensor_with_constant(tensor: object, imaginary: float, real: float) -> None:
        fill(output_tensor(tensor, element_type), complex(real, imaginary))

    @REGISTRY.kernel(
        f"tfrt_dht.set_tensor_with_constant_values.{word}",
        attributes=(f"array.{part}",),
        results=("chain",),
    )
    def set_tensor_with_constant_values(tensor: object, parts: tuple[float, ...]) -> None:
        # Real and imaginary parts alternate, and each counts as one, as in a tensor twice as long.
        target = output_tensor(tensor, element_type)
        assign(DenseHostTensor.over(_real_parts(target.array)), parts)


def _add_setting(element_type: ElementType) -> None:
    @REGISTRY.kernel(f"tfrt_dht.set_tensor_with_values.{element_type.word}", results=("chain",))
    def set_tensor_with_values(tensor: object, chain: Chain, *values: complex) -> None:
        assign(output_tensor(tensor, element_type), values)


for _element_type in REAL_TYPES:
    _add_filling(_element_type)
for _dtype, _part in ((DType.COMPLEX64, "f32"), (DType.COMPLEX128, "f64")):
    _add_complex_filling(ELEMENT_TYPES[_dtype], _part)
for _element_type in ARITHMETIC_TYPES:
    _add_setting(_element_type)


# --- comparing ---


def are_equal(left: DenseHostTensor, right: DenseHostTensor) -> bool:
    """Return whether the shapes and all elements are equal.  A NaN does not equal anything."""
    return left.shape == right.shape and bool((left.array == right.array).all())


def are_close(left: DenseHostTensor, right: DenseHostTensor, tolerance: int) -> bool:
    """Return whether shapes are equal and elements differ by at most `tolerance` ULPs.

    A ULP is a unit in the last place.  Complex elements are close if both parts are close.
    Elements that are not floats are close if they are equal.
    """
    if left.shape != right.shape or not np.issubdtype(left.array.dtype, np.inexact):
        return are_equal(left, right)
    return _are_within(_real_parts(left.array), _real_parts(right.array), tolerance)


@quietly
def _are_within(a: AnyArray, b: AnyArray, tolerance: int) -> bool:
    unit = np.spacing(np.maximum(np.abs(a), np.abs(b)))
    # An infinity has no unit in the last place, and is close only to itself.
    return bool(((a == b) | (np.abs(a - b) <= tolerance * unit)).all())


def _real_parts(array: AnyArray) -> AnyArray:
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype)


def _add_comparison(element_type: ElementType) -> None:
    word = element_type.word

    @REGISTRY.kernel(f"tfrt_dht.tensor_equal.{word}", results=("i1", "chain"))
    def tensor_equal(left: object, right: object) -> tuple[bool, Chain]:
        return are_equal(dense_tensor(left, element_type), dense_tensor(right, element_type)), CHAIN

    if element_type in REAL_TYPES:
        REGISTRY.kernel(f"tfrt_dht_sync.tensor_equal.{word}", results=("i1",), sync=True)(
            lambda left, right: tensor_equal(left, right)[0]
        )
    for infix, tolerance in _TOLERANCES.items():
        _add_closeness(f"tfrt_dht.tensor_allclose{infix}.{word}", element_type, tolerance)


def _add_closeness(name: str, element_type: ElementType, tolerance: int) -> None:
    @REGISTRY.kernel(name, results=("i1", "chain"))
    def tensor_allclose(left: object, right: object) -> tuple[bool, Chain]:
        a, b = dense_tensor(left, element_type), dense_tensor(right, element_type)
        return are_close(a, b, tolerance), CHAIN


for _element_type in ARITHMETIC_TYPES:
    _add_comparison(_element_type)


# --- sparse ones, as coordinates and values ---


def sparse_tensor(value: object, element_type: ElementType, rank: int) -> CooHostTensor:
    """Return `value`, which must be a sparse tensor of the given type and rank.

    Raises:
        KernelError: if `value` is anything else.
    """
    tensor = expect(CooHostTensor, value)
    if tensor.element_type is not element_type or tensor.shape.rank != rank:
        raise KernelError(
            f"expected a sparse tensor of {element_type} and rank {rank}, "
            f"not of {tensor.element_type} and shape {tensor.shape}"
        )
    return tensor


def _add_sparse(element_type: ElementType, rank: int) -> None:
    suffix = f"{element_type.word}.{rank}"

    @REGISTRY.kernel(f"coo.convert_dht_to_coo.{suffix}", results=("object", "chain"), frame=True)
    def convert_dht_to_coo(frame: KernelFrame, tensor: object) -> tuple[CooHostTensor, Chain]:
        dense = dense_tensor(tensor, element_type, rank)
        return allocated(CooHostTensor.from_dense(frame.host.allocator, dense)), CHAIN

    @REGISTRY.kernel(f"coo.convert_coo_to_dht.{suffix}", results=("object", "chain"), frame=True)
    def convert_coo_to_dht(frame: KernelFrame, tensor: object) -> tuple[DenseHostTensor, Chain]:
        sparse = sparse_tensor(tensor, element_type, rank)
        return allocated(sparse.to_dense(frame.host.allocator)), CHAIN

    @REGISTRY.kernel(f"coo.tensor_equal.{suffix}", results=("i1", "chain"))
    def tensor_equal(left: object, right: object) -> tuple[bool, Chain]:
        a, b = (sparse_tensor(value, element_type, rank) for value in (left, right))
        same = a.shape == b.shape and are_equal(a.indices, b.indices)
        return same and are_equal(a.values, b.values), CHAIN


for _element_type in ARITHMETIC_TYPES:
    for _rank in range(MAXIMUM_RANK + 1):
        _add_sparse(_element_type, _rank)


# --- another shape ---


@REGISTRY.kernel("tfrt_test.flatten.f32", frame=True)
def flatten(frame: KernelFrame, tensor: object, *others: object) -> DenseHostTensor | Chain:
    """Return the elements as rows, one per index of the first dimension.

    If a target is given, write the elements to it instead, and return a chain.
    """
    source = dense_tensor(tensor, F32)
    outputs = [other for other in others if other is not CHAIN]
    if len(outputs) > 1:
        raise KernelError(f"expected 1 or 2 tensors, not {1 + len(outputs)}")
    if outputs:
        target = output_tensor(outputs[0], F32)
        if target.shape.element_count != source.shape.element_count:
            raise KernelError(
                f"cannot flatten shape {source.shape} into {target.shape}:"
                " they have different numbers of elements"
            )
    else:
        rows = source.shape.sizes[0] if source.shape.rank else 1
        columns = source.shape.element_count // rows if rows else 0
        target = new_tensor(frame, F32, (rows, columns))
    target.array.reshape(-1)[...] = source.array.reshape(-1)
    return CHAIN if outputs else target


# --- inspection ---


@REGISTRY.kernel("tfrt_dht_sync.print_tensor", results=(), frame=True, sync=True)
@REGISTRY.kernel("tfrt_dht.print_tensor", results=("chain",), frame=True)
def print_tensor(frame: KernelFrame, tensor: object) -> None:
    """Print a tensor of any kind."""
    frame.host.print(f"{host_tensor(tensor)}\n")


@REGISTRY.kernel("tfrt_dht.print_tensor_shape", results=("chain",), frame=True)
def print_tensor_shape(frame: KernelFrame, tensor: object) -> None:
    """Print the sizes of a tensor of any kind."""
    frame.host.print(f"{host_tensor(tensor).shape}\n")


@REGISTRY.kernel("tfrt_dht.get_tensor_shape", results=("object",))
def get_tensor_shape(tensor: object) -> TensorShape:
    """Return the shape of a tensor of any kind."""
    return host_tensor(tensor).shape


@REGISTRY.kernel("tfrt_dht.no_op_ht", results=("object",))
def no_op_ht(tensor: object) -> AnyTensor:
    """Return the tensor itself."""
    return host_tensor(tensor)


# --- their memory ---


@REGISTRY.kernel("tfrt_dht.allocate_buffer", results=("object",), frame=True)
def allocate_buffer(frame: KernelFrame, size: int, alignment: int) -> HostBuffer:
    """Return new memory from the host's allocator, filled with zeros."""
    try:
        buffer = HostBuffer.allocate(frame.host.allocator, size, alignment)
    except ValueError as error:
        raise KernelError(str(error)) from None
    if buffer is None:
        raise KernelError(f"Cannot allocate a buffer of {size} bytes")
    _fill_unwritten(frame, buffer)
    return buffer


@REGISTRY.kernel("tfrt_dht.get_buffer", results=("object", "chain"))
def get_buffer(tensor: object) -> tuple[HostBuffer, Chain]:
    """Return a tensor's memory, which the buffer shares with the tensor."""
    return dense_tensor(tensor).buffer, CHAIN


@REGISTRY.kernel("tfrt_dht.get_buffer_slice", results=("object",))
def get_buffer_slice(buffer: object, offset: int, size: int) -> HostBuffer:
    """Return some of a buffer's bytes, which the slice shares with the buffer."""
    try:
        return expect(HostBuffer, buffer).slice(offset, size)
    except ValueError as error:
        raise KernelError(str(error)) from None


@REGISTRY.kernel("tfrt_dht.print_buffer", results=("chain",), frame=True)
def print_buffer(frame: KernelFrame, buffer: object) -> None:
    """Print the address and the size of a buffer."""
    frame.host.print(f"{expect(HostBuffer, buffer)}\n")


def _add_make_tensor(element_type: ElementType) -> None:
    @REGISTRY.kernel(f"tfrt_dht.make_tensor.{element_type.word}", results=("object", "chain"))
    def make_tensor(buffer: object, shape: object) -> tuple[DenseHostTensor, Chain]:
        memory, sizes = expect(HostBuffer, buffer), expect(TensorShape, shape)
        try:
            return DenseHostTensor(element_type, sizes, memory), CHAIN
        except ValueError as error:
            raise KernelError(f"dht.make_tensor failed: {error}") from None


for _element_type in ELEMENT_TYPES.values():
    _add_make_tensor(_element_type)
