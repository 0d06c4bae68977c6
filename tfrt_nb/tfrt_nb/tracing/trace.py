"""A function while it is being traced: its operations, and their values and types."""

from __future__ import annotations

import contextlib
import dataclasses
import reprlib
import struct
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import Enum
from types import GeneratorType
from typing import NamedTuple

from tfrt_nb.tracing.names import Site
from tfrt_runtime.bef.attributes import Attribute, Scalar, String
from tfrt_runtime.bef.records import DType
from tfrt_runtime.diagnostics import (
    Location,
    TfrtError,
    caller,
    place_of_caller,
    place_of_frame,
    refuse,
)
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.kernels.users.annotations import (
    CHAIN,
    NUMBERS,
    OBJECT,
    STRING,
    TENSOR,
    is_float,
    is_integer,
)
from tfrt_runtime.kernels.users.user import TRACING, UserKernel

VALUES = (*NUMBERS, STRING)
"""The types that an object may have at run time, when a kernel checks its type."""
DTYPES = {name: DType[name.upper()] for name in NUMBERS}


def is_array(value: object) -> bool:
    """Return whether a value is a numpy array, without importing numpy."""
    return type(value).__module__ == "numpy" and type(value).__name__ == "ndarray"


def type_of_value(value: object) -> str:
    """Return the program type of a Python value whose type nothing else states."""
    if isinstance(value, AsyncValue):
        if value.type or value.state is not State.AVAILABLE:
            return value.type or OBJECT
        value = value.result(0)
    if isinstance(value, bool) or _is_numpy(value, "bool"):
        return "i1"
    if isinstance(value, int) or _is_numpy(value, "int"):
        return "i64"
    if isinstance(value, float) or _is_numpy(value, "float"):
        return "f64"
    if isinstance(value, str):
        return STRING
    return TENSOR if is_array(value) else OBJECT


def _is_numpy(value: object, kind: str) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__.lstrip("u").startswith(kind)


def here() -> Location:
    """Return the location of the user's current line."""
    return place_of_caller() or Location("<unknown>", 1, 1)


class Weak:
    """The type of a number that starts a loop.

    The number takes the type of the first value with which it is combined.
    """

    __slots__ = ("met", "others")

    def __init__(self, *others: Weak) -> None:
        self.met: str | None = None
        self.others = others

    def meet(self, type_text: str) -> None:
        """Record that the number, and those from which it was computed, are used with this type."""
        self.met = self.met or type_text
        for other in self.others:
            other.meet(type_text)


class Traced:
    """A value of the program that is being traced. The module `operators` adds its operators.

    A `weak` value may be combined with any type. Its first use determines its type.
    """

    __slots__ = ("is_number", "place", "trace", "type", "weak")
    is_traced = True
    """Marks traced values, which cannot be arguments of a run."""

    def __init__(self, trace: Trace, type_text: str, place: Location) -> None:
        self.trace = trace
        self.type = type_text
        self.place = place
        self.weak: Weak | None = None
        self.is_number = False
        """Whether the value is a constant made from a Python number."""

    @property
    def is_weak(self) -> bool:
        """Whether the value has no type yet."""
        return self.weak is not None

    def __repr__(self) -> str:
        return f"<traced {self.type} of {self.place}>"


class Region(NamedTuple):
    """A region that calls a function with the arguments at the positions `passed`.

    The region returns the function's results.
    """

    argument_types: tuple[str, ...]
    callee: str
    passed: tuple[int, ...]
    result_types: tuple[str, ...]


class Operation(NamedTuple):
    """An operation. `callees` contains the functions that its attributes name, as in a BEF file."""

    name: str
    operands: tuple[Traced, ...]
    results: tuple[Traced, ...]
    attributes: tuple[tuple[str, Attribute], ...]
    callees: tuple[str, ...]
    region: Region | None
    place: Location
    site: Site | None = None


TracedCall = Callable[[UserKernel, tuple[object, ...], dict[str, object]], object]
"""A function that records a kernel's call in a trace; see `calls`."""


class Module:
    """The functions of a program that is being traced."""

    def __init__(self) -> None:
        self.functions: list[Trace] = []
        self.names: set[str] = set()
        self.versions: dict[Hashable, object] = {}
        self.captured: list[object] = []

    def fresh(self, name: str) -> str:
        """Return a unique name for a function. The name is the same in every process."""
        found, number = name, 0
        while found in self.names:
            found, number = f"{name}.{number}", number + 1
        self.names.add(found)
        return found

    def capture(self, item: object) -> int:
        """Return the slot of a captured object."""
        for slot, known in enumerate(self.captured):
            # Compare identities, because equal objects may differ, and an array has no single truth
            # value.
            if known is item:
                return slot
        self.captured.append(item)
        return len(self.captured) - 1


class Trace:
    """A function that is being traced.

    If the function is a control-flow body, `outer` is the enclosing function, whose values the body
    may capture.
    """

    def __init__(
        self,
        module: Module,
        name: str,
        types: Sequence[str],
        outer: Trace | None = None,
        place: Location | None = None,
    ) -> None:
        self.module = module
        self.name = name
        self.outer = outer
        self.place = place or here()
        self.arguments = [Traced(self, type_text, self.place) for type_text in types]
        self.operations: list[Operation] = []
        self.captures: dict[Traced, Traced] = {}
        self.names: Sequence[str] = ()
        """The known Python names of the first arguments."""
        self.results: Sequence[Traced] = ()
        """The function's results, once it is closed."""
        self.effects: dict[Traced, None] = {}
        self.order: Traced | None = None
        self.is_ordered = False
        self.call_kernel: TracedCall | None = None if outer is None else outer.call_kernel

    def kernel(
        self,
        name: str,
        operands: Sequence[Traced],
        types: Sequence[str],
        attributes: Sequence[tuple[str, Attribute]] = (),
        *,
        callees: Sequence[str] = (),
        region: Region | None = None,
    ) -> tuple[Traced, ...]:
        """Add an operation, and return its results."""
        frame = caller()
        place = Location("<unknown>", 1, 1) if frame is None else place_of_frame(frame)
        site = None if frame is None else Site(frame.f_code, frame.f_lasti)
        results = tuple([Traced(self, type_text, place) for type_text in types])
        given = tuple(operands), results, tuple(attributes), tuple(callees)
        self.operations.append(Operation(name, *given, region, place, site))
        return results

    def value(self, item: object, like: str | None = None) -> Traced:
        """Return `item` as a value in this function. A number gets the type `like` if possible."""
        if not isinstance(item, Traced):
            return self.constant(item, like)
        if item.trace is self:
            if item.weak is not None and like in NUMBERS and like != item.type:
                item.weak.meet(like)
                return self.kernel(f"tfrt.cast.{item.type}_to_{like}", (item,), (like,))[0]
            if item.type == OBJECT and like in VALUES:
                return self.kernel("tfrt.value", (item,), (like,))[0]
            return item
        outer = self.outer
        while outer is not None and outer is not item.trace:
            outer = outer.outer
        if outer is None:
            refuse(
                f"the value of {item.place} belongs to another trace:"
                " a traced value lives as long as its function is traced"
            )
        found = self.captures.get(item)
        if found is None:
            found = self.captures[item] = Traced(self, item.type, item.place)
            found.weak = item.weak
        # A conversion to `like` belongs in this function, not in the outer one.
        return self.value(found, like)

    def constant(self, item: object, like: str | None = None) -> Traced:
        """Return a Python value as a value in the program.

        The Python value is a number, a string, or an object, which is captured.
        """
        if isinstance(item, AsyncValue):
            refuse(
                "an AsyncValue cannot be a constant of a program, because tracing does not wait for"
                " it: pass it as an argument"
            )
        # A member of an IntEnum or a StrEnum must not lose its class.
        is_member = like == OBJECT and isinstance(item, Enum)
        type_text = OBJECT if is_member else type_of_value(item)
        if type_text in ("i1", "i64", "f64"):
            made = self._number(item, number_type(item, type_text, like))
            made.is_number = True
            return made
        if isinstance(item, str) and type_text == STRING:
            return self.kernel("tfrt_test.get_string", (), (STRING,), [("value", String(item))])[0]
        if has_traced(item):
            return self._collection(item)
        if isinstance(item, GeneratorType):
            refuse("a generator produces nothing until it is iterated: pass a list, as in [...]")
        kept = TENSOR if is_array(item) else OBJECT
        slot = Scalar(DType.I64, self.module.capture(item))
        return self.kernel("tfrt.captured", (), (kept,), [("slot", slot)])[0]

    def _collection(self, item: object) -> Traced:
        """Return a tuple, list, or dictionary that contains traced values.

        The program creates the collection at run time.
        """
        if type(item) is dict:
            given = [one for pair in item.items() for one in pair]
        elif type(item) is tuple or type(item) is list:
            given = list(item)
        else:
            refuse(
                f"a {type(item).__name__} holds a traced value, which is known only when the "
                "program runs: create it in a kernel"
            )
        operands = [self.value(one) for one in given]
        return self.kernel(f"tfrt.{type(item).__name__}", operands, (OBJECT,))[0]

    def _number(self, item: object, type_text: str) -> Traced:
        if type_text in ("i8", "i16"):
            wide = self._number(item, "i32")
            return self.kernel(f"tfrt.cast.i32_to_{type_text}", (wide,), (type_text,))[0]
        value = number_attribute(item, type_text)
        return self.kernel(f"tfrt.constant.{type_text}", (), (type_text,), [("value", value)])[0]

    def chain_of(self, values: Sequence[object]) -> Traced:
        """Return a chain that becomes available when all values are available."""
        given = [self.value(value) for value in values]
        if len(given) == 1 and given[0].type == CHAIN:
            return given[0]
        return self.kernel("tfrt.merge.chains" if given else "tfrt.new.chain", given, (CHAIN,))[0]

    def effect(self, chain: Traced) -> None:
        """Record an effect, which has happened when `chain` is available."""
        self.effects[chain] = None
        if self.is_ordered:
            self.order = chain

    def close(self, results: Sequence[Traced]) -> None:
        """Add the function to the module."""
        self.results = results
        self.module.functions.append(self)


def has_traced(item: object) -> bool:
    """Return whether a value is traced or is a collection with traced values."""
    match item:
        case dict():
            return any(map(has_traced, item)) or any(map(has_traced, item.values()))
        case tuple() | list() | set() | frozenset():
            return any(map(has_traced, item))
    # Check only the object's own fields, because the fields of a tree may refer back to it.
    if dataclasses.is_dataclass(item):
        fields = [getattr(item, one.name, None) for one in dataclasses.fields(item)]
        return any(isinstance(field, Traced) for field in fields)
    return isinstance(item, Traced)


def number_type(item: object, own: str, like: str | None) -> str:
    """Return the type of a constant that is combined with a value of type `like`."""
    if like is None or like not in NUMBERS:
        found = own
    elif own == "f64" and is_integer(like):
        refuse(f"{item} is a float, not {like}: cast one of them, as in tfrt.f64(x)")
    elif (own == "i1") != (like == "i1"):
        refuse(f"{item} is {own}, not {like}: cast one of them, as in tfrt.{like}(x)")
    else:
        found = like
    if is_integer(found):
        bits = int(found[1:]) - 1
        if not -(1 << bits) <= int(item) < 1 << bits:  # type: ignore[call-overload]
            refuse(f"{reprlib.repr(item)} does not fit in {found}")
    return found


def number_attribute(item: object, type_text: str) -> Scalar:
    """Return a number as an attribute of a number type."""
    if is_float(type_text):
        try:
            number = float(item)  # type: ignore[arg-type]
            struct.pack("<f" if type_text == "f32" else "<d", number)
        except OverflowError:
            refuse(f"{reprlib.repr(item)} does not fit in {type_text}")
        return Scalar(DTYPES[type_text], number)
    return Scalar(DTYPES[type_text], int(item))  # type: ignore[call-overload]


@contextlib.contextmanager
def described(what: str, place: Location | None = None) -> Iterator[None]:
    """Prefix errors in the block with `what`, and move them to `place` if it is given."""
    try:
        yield
    except TfrtError as problem:
        [first, *others] = problem.diagnostics
        message, location = f"{what}: {first.message}", place or first.location
        raise TfrtError(
            dataclasses.replace(first, message=message, location=location), *others
        ) from None


def listed_types(types: Sequence[str]) -> str:
    """Return the types of results in the syntax of programs."""
    return types[0] if len(types) == 1 else f"({', '.join(types)})"


class _Present(threading.local):
    trace: Trace | None = None


_present = _Present()


def current() -> Trace | None:
    """Return the function that this thread is tracing, or None."""
    return _present.trace


def required(what: str) -> Trace:
    """Return the function that this thread is tracing.

    Raises:
        TfrtError: if this thread is not tracing a function.
    """
    if _present.trace is None:
        refuse(f"{what} can only be used inside a function decorated with @tfrt.program")
    return _present.trace


@contextlib.contextmanager
def tracing(trace: Trace | None) -> Iterator[Trace | None]:
    """Inside the block, make `trace` this thread's trace; if it is None, trace nothing."""
    before, called = _present.trace, TRACING.call
    _present.trace = trace
    # The runtime's kernels check TRACING, because they cannot import this package.
    TRACING.call = None if trace is None else trace.call_kernel
    try:
        yield trace
    finally:
        _present.trace, TRACING.call = before, called
