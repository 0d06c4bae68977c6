"""Test other libraries' arrays: they become tensors without a copy, or are rejected.

Arrays that are read-only stay unchanged.
"""

from __future__ import annotations

import array
import concurrent.futures
import ctypes
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfrt_nb as tfrt

SLOW = 60
T = "!t.tensor"


class Interface:
    """An array that provides its elements by `__array_interface__`, like images."""

    def __init__(self, elements: np.ndarray[Any, Any]) -> None:
        self.elements = elements
        self.__array_interface__ = elements.__array_interface__


class Column:
    """A column that provides its elements by `__array__`, if possible without a copy."""

    def __init__(self, elements: Any, problem: str = "") -> None:
        self.elements = elements
        self.problem = problem

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        if copy is False and self.problem:
            raise ValueError(f"{self.problem}.\nMore about it.")
        return self.elements

    def std(self) -> float:
        """Return something else than numpy does."""
        return -1.0

    def to_numpy(self) -> Any:
        return self.elements


class Old:
    """An array whose `__array__` is older than numpy 2."""

    def __init__(self, elements: Any) -> None:
        self.elements = elements

    def __array__(self, dtype: object = None) -> Any:
        if isinstance(self.elements, Exception):
            raise self.elements
        return self.elements


class OnDevice:
    """An array that provides its elements by DLPack."""

    def __init__(self, elements: Any) -> None:
        self.elements = elements

    def __dlpack__(self, **options: object) -> Any:
        if isinstance(self.elements, Exception):
            raise self.elements
        return self.elements.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class Lazy:
    """An array whose elements would be computed now, like those of dask."""

    def __init__(self, graph: object) -> None:
        self._graph = graph

    def __dask_graph__(self) -> object:
        return self._graph

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Any:
        assert self._graph is None, "computed"
        return np.array([1.0, 2.0, 3.0])


class Sparse:
    def toarray(self) -> Any:
        return np.zeros(3)

    def __repr__(self) -> str:
        return "<two\nlines>"


def numbers() -> np.ndarray[Any, Any]:
    return np.array([1.0, 2.0, 3.0])


TAKEN: dict[str, Callable[[Any], Any]] = {
    "interface": Interface,
    "column": Column,
    "old": Old,
    "dlpack": OnDevice,
    "array": lambda elements: array.array("d", elements),
    "bytearray": lambda elements: memoryview(bytearray(elements.tobytes())).cast("d"),
    "bytes": lambda elements: memoryview(elements.tobytes()).cast("d"),
    "ctypes": lambda elements: (ctypes.c_double * 3)(*elements),
    "subclass": lambda elements: elements.view(np.matrix),
    "computed": lambda elements: Lazy(None),
}
given: list[Any] = []


@tfrt.kernel("others.std")
def std(a: np.ndarray) -> float:
    return float(a.std())


@tfrt.kernel("others.look")
def look(a: np.ndarray) -> tuple[str, bool]:
    with pytest.raises(ValueError, match="read-only"):
        a[...] = 9
    return type(a).__name__, bool(np.shares_memory(a, np.asarray(given[-1])))


@tfrt.kernel("others.give")
def give(n: int) -> object:
    return given[n]


@tfrt.kernel("others.total", native=True)
def total(a: tfrt.tensor[tfrt.f64, 1]) -> tfrt.f64:
    sum_ = 0.0
    for i in range(a.shape[0]):
        sum_ += a[i]
    return sum_


@tfrt.kernel("others.fill", native=True)
def fill(a: tfrt.out[tfrt.f32, 1]) -> None:
    a[0] = 5


@tfrt.kernel("others.double", native=True)
def double(a: tfrt.out[tfrt.f32, 1]) -> tfrt.tensor[tfrt.f32, 1]:
    a[0] = 5
    return a + a


@tfrt.program
def typed(a: np.ndarray):
    return std(a), look(a)


@tfrt.program
def untyped(a):
    return std(a), look(a)


SAME = tfrt.Program(f"func.func @main(%x: {T}) -> {T} {{\n tfrt.return %x : {T}\n}}")
GIVES = tfrt.Program(f"""
func.func @main(%n: i32) -> {T} {{
  %x = "others.give"(%n) : (i32) -> {T}
  tfrt.return %x : {T}
}}
func.func @buffer(%x: memref<?xf64>) -> f64 {{
  %i = arith.constant 1 : index
  %y = memref.load %x[%i] : memref<?xf64>
  memref.store %y, %x[%i] : memref<?xf64>
  return %y : f64
}}""")


@pytest.mark.parametrize("kind", TAKEN)
def test_a_kernel_gets_an_array_of_numpy_that_it_cannot_write(kind: str) -> None:
    given[:] = [TAKEN[kind](numbers())]
    is_view = kind not in ("interface", "dlpack", "computed")  # numpy cannot convert these again
    for program in (typed, untyped) if kind != "subclass" else (typed,):
        deviation, (name, shares) = (one.result(SLOW) for one in program(given[0]))
        assert (deviation, name) == (numbers().std(), "ndarray")
        assert shares or not is_view
    if kind != "subclass":
        assert tfrt.call(total, given[0]).result(SLOW) == 6.0
    if is_view:
        assert np.shares_memory(SAME.run(given[0]).result(SLOW), np.asarray(given[0]))
    assert GIVES.run(0).result(SLOW).ravel().tolist() == [1.0, 2.0, 3.0]
    future: concurrent.futures.Future[object] = concurrent.futures.Future()
    future.set_result(given[0])
    assert SAME.run(future).result(SLOW).size == 3


def test_compiled_code_writes_where_the_object_allows_it() -> None:
    assert GIVES.buffer(array.array("d", [1, 2])).result(SLOW) == 2.0
    with pytest.raises(tfrt.TfrtError, match="the buffer is constant"):
        GIVES.buffer(TAKEN["bytes"](numbers())).result(SLOW)
    with pytest.raises(tfrt.TfrtError, match=r"expected memref<\?xf64>, found Old: no memory$"):
        GIVES.buffer(Old(RuntimeError("no memory")))


REFUSED: dict[str, tuple[Any, str]] = {
    "missing": (
        Column(numbers(), "it has nulls"),
        "Column: it has nulls; convert it to an array, as in numpy.array(..., float)",
    ),
    "objects": (
        Column(np.array([None])),
        "Column: a tensor cannot hold elements of type object;"
        + " convert it to an array, as in numpy.array(..., float)",
    ),
    "gradient": (Old(RuntimeError("use detach().")), "Old: use detach()"),
    "device": (OnDevice(BufferError("on a GPU")), "OnDevice: on a GPU"),
    "lazy": (Lazy({}), "Lazy: its elements are not computed yet: pass the result of its compute()"),
    "text": (array.array("u", "ab"), "array: a tensor cannot hold elements of type <U1"),
    "sparse": (Sparse(), "Sparse <two lines>: convert it to an array, as in .toarray()"),
    "list": ([1.0], "list [1.0]: convert it to an array, as in numpy.array(...)"),
    "set": ({1}, "set {1}"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_gives_no_elements_without_a_copy_is_refused_as_a_list_is(kind: str) -> None:
    value, why = REFUSED[kind]
    given[:] = [value]
    with pytest.raises(tfrt.TfrtError) as refused:
        typed(value)
    assert str(refused.value).endswith(f"argument 1 (%a) of @typed: expected {T}, found {why}")
    untyped_error = untyped(value).results[0].exception(SLOW)
    assert str(untyped_error).endswith(f"argument 1 of 'others.std': expected {T}, found {why}")
    result_error = str(GIVES.run(0).results[0].exception(SLOW))
    own = why if ": " in why and kind not in ("list", "sparse") else why.split(" ")[0]
    assert f"the result of 'others.give': expected {T}, found {own}" in result_error


def test_a_masked_array_is_refused_and_an_object_keeps_its_class() -> None:
    masked = np.ma.array([1.0, 2.0], mask=[0, 1])
    with pytest.raises(tfrt.TfrtError, match="a tensor cannot have a mask: fill the array"):
        typed(masked)

    @tfrt.kernel("others.kind")
    def kind(a: object) -> str:
        return type(a).__name__

    @tfrt.program
    def kinds(a: object):
        return kind(a)

    for value, name in ((masked, "MaskedArray"), (Column(numbers()), "Column")):
        assert kinds(value).result(SLOW) == name


# --- read-only ---


def read_only(count: int = 6) -> np.ndarray[Any, Any]:
    """Return an array whose pages the system protects: a write would kill the process."""
    with tempfile.NamedTemporaryFile() as file:
        np.ones(count, np.float32).tofile(file.name)
        return np.memmap(file.name, np.float32, "r")


@pytest.mark.parametrize(
    "make",
    [
        read_only,
        lambda: np.frombuffer(bytes(24), np.float32),
        lambda: np.broadcast_to(np.zeros(3), (3,)),
    ],
)
def test_a_read_only_array_is_not_copied(make: Callable[[], Any]) -> None:
    value = make()
    assert np.shares_memory(SAME.run(value).result(SLOW), value)


def test_an_array_that_is_not_aligned_is_copied() -> None:
    value = np.frombuffer(bytes(range(17)), np.uint8)[1:].view(np.float64)
    result = SAME.run(value).result(SLOW)
    assert result.flags.aligned
    assert not np.shares_memory(result, value)
    assert (result == value).all()


WRITERS = {
    "fill": '"others.fill"(%x) : (!t.tensor) -> !tfrt.chain',
    "double": '"others.double"(%x) : (!t.tensor) -> !t.tensor',
    "constant": '"tfrt_dht.fill_tensor_with_constant.f32"(%x, %c) {value = 1.0 : f32}'
    " : (!t.tensor, !tfrt.chain) -> !tfrt.chain",
    "values": '"tfrt_dht.set_tensor_with_constant_values.f32"(%x, %c)'
    " {values = [1.0 : f32, 2.0 : f32]} : (!t.tensor, !tfrt.chain) -> !tfrt.chain",
    "add": '"tfrt_test.add.f32"(%y, %y, %x, %c)'
    " : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain",
    "relu": '"tfrt_test.relu_inplace.f32"(%x, %c) : (!t.tensor, !tfrt.chain) -> !tfrt.chain',
    "softmax": '"tfrt_test.softmax.f32"(%y, %x, %c)'
    " : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain",
    "softmax in place": '"tfrt_test.softmax_inplace.f32"(%x, %c)'
    " : (!t.tensor, !tfrt.chain) -> !tfrt.chain",
    "matmul": '"tfrt_test.matmul.f32.2"(%one, %m, %m, %one, %x, %c)'
    " : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain",
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_kernel_writes_a_copy_of_a_read_only_array(writer: str) -> None:
    call = WRITERS[writer]
    type_text = call.rsplit("-> ", 1)[1]
    again = call.replace("%c)", "%r)") if "%c)" in call else call
    program = tfrt.Program(f"""func.func @main(%x: {T}, %y: {T}, %m: {T}) -> ({type_text}, {T}) {{
  %c = tfrt.new.chain
  %one = tfrt.constant.f32 -1.0
  %r = {call}
  %again = {again}
  tfrt.return %again, %x : {type_text}, {T}
}}""")
    target = read_only(1 if writer == "matmul" else 2)
    target = target.reshape(1, 1) if writer == "matmul" else target
    others = np.ones(2, np.float32), np.ones((1, 1), np.float32)
    lent = SAME.run(target)
    before = lent.result(SLOW)
    own = program.run(target.copy(), *others).results
    found = program.run(lent.results[0], *others).results
    # %x is available at once; what was written into it is, when the writers are done.
    assert own[0].exception(SLOW) is None
    assert found[0].exception(SLOW) is None
    assert found[1].result(SLOW).tolist() == own[1].result(SLOW).tolist()
    assert (target == 1).all()
    assert (before == 1).all()
    assert (SAME.run(before).result(SLOW) == 1).all()


def test_an_argument_that_a_native_kernel_writes_is_refused_if_it_is_read_only() -> None:
    for kernel in (fill, double):
        with pytest.raises(tfrt.TfrtError, match="writes this array, which is read-only: pass"):
            tfrt.call(kernel, read_only())


class Delayed:
    """An object that has every attribute but no truth value, like those of `dask.delayed`."""

    def __getattr__(self, name: str) -> Delayed:
        if name.startswith("__"):
            raise AttributeError(name)
        return Delayed()

    def __bool__(self) -> bool:
        raise TypeError("Truth of Delayed objects is not supported")

    def __len__(self) -> int:
        raise TypeError("Delayed objects of unspecified length have no len()")


@pytest.mark.parametrize("type_", ["i32", "f32", "i1"])
def test_what_is_not_computed_yet_is_refused_as_an_argument(type_: str) -> None:
    program = tfrt.Program(
        f"func.func @main(%x: {type_}) -> {type_} {{ tfrt.return %x : {type_} }}"
    )

    with pytest.raises(
        tfrt.TfrtError, match=rf"argument 1 \(%x\) of @main: expected {type_}, found"
    ):
        program.run(Delayed())
    for column in (Delayed(), np.array(3)):
        with pytest.raises(tfrt.TfrtError, match="a column must be a sequence of values"):
            program.map(column)


def test_texts_of_variable_length_are_refused_as_elements() -> None:
    program = tfrt.Program(
        "func.func @main(%x: !t.tensor) -> !t.tensor { tfrt.return %x : !t.tensor }"
    )
    array = np.array(["a"], dtype=np.dtypes.StringDType())

    with pytest.raises(
        tfrt.TfrtError, match=r"\(%x\) of @main: a tensor cannot hold elements of type"
    ):
        program.run(array)
