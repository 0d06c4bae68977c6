"""A function while it is traced: its operations, and the values that they make."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from tfrt_nb.tracing.types import is_array, type_of_value
from tfrt_runtime.callers import place_of_caller
from tfrt_runtime.diagnostics import Location, TfrtError, error
from tfrt_runtime.kernels.annotations import (
    CHAIN,
    NUMBERS,
    OBJECT,
    STRING,
    TENSOR,
    is_float,
    is_integer,
)
from tfrt_runtime.kernels.user import TRACING, UserKernel


def refuse(text: str) -> NoReturn:
    """Raise an error at the user's line."""
    raise TfrtError(error(text, place_of_caller()))


def here() -> Location:
    """The user's line."""
    return place_of_caller() or Location("<unknown>", 1, 1)


class Weak:
    """What is known of the type of a number that starts a loop: the one that it meets first."""

    __slots__ = ("met", "others")

    def __init__(self, *others: Weak) -> None:
        self.met: str | None = None
        self.others = others

    def meet(self, type_text: str) -> None:
        """The number, and those that it was made of, is used as one of this type."""
        self.met = self.met or type_text
        for other in self.others:
            other.meet(type_text)


class Traced:
    """A value of the program that is being made.  Operators are in `operators`.

    One that is `weak` is used as of any type, to find out which one it must have.
    """

    __slots__ = ("is_number", "place", "trace", "type", "weak")

    def __init__(self, trace: Trace, type_text: str, place: Location) -> None:
        self.trace = trace
        self.type = type_text
        self.place = place
        self.weak: Weak | None = None
        self.is_number = False
        """Whether it is a constant that Python wrote as a number."""

    @property
    def is_weak(self) -> bool:
        """Whether the value has no type of its own."""
        return self.weak is not None

    def __repr__(self) -> str:
        return f"<traced {self.type} of {self.place}>"


@dataclass(eq=False, slots=True)
class Operation:
    """One operation.  `text` has `{}` for the operands, and the rest of the line after its results."""

    text: str
    operands: tuple[Traced, ...]
    results: tuple[Traced, ...]
    place: Location


TracedCall = Callable[[UserKernel, tuple[object, ...], dict[str, object]], object]
"""What calling a kernel does in a trace: see `calls`."""


class Module:
    """The functions of a program that is being made."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.names: set[str] = set()
        self.versions: dict[Hashable, object] = {}
        self.captured: list[object] = []

    def fresh(self, name: str) -> str:
        """A name for a function that no other one has: the same in every process."""
        found, number = name, 0
        while found in self.names:
            found, number = f"{name}.{number}", number + 1
        self.names.add(found)
        return found

    def capture(self, item: object) -> int:
        """The slot of an object."""
        for slot, known in enumerate(self.captured):
            if known is item:
                return slot
        self.captured.append(item)
        return len(self.captured) - 1

    @property
    def text(self) -> str:
        """The program."""
        return "\n".join(self.functions)


class Trace:
    """One function.  `outer` is the one whose body it is: its values may be captured."""

    def __init__(
        self, module: Module, name: str, types: Sequence[str], outer: Trace | None = None
    ) -> None:
        self.module = module
        self.name = name
        self.outer = outer
        self.place = here()
        self.arguments = [Traced(self, type_text, self.place) for type_text in types]
        self.operations: list[Operation] = []
        self.captures: dict[Traced, Traced] = {}
        self.effects: list[Traced] = []
        self.order: Traced | None = None
        self.is_ordered = False
        self.call_kernel: TracedCall | None = None if outer is None else outer.call_kernel

    def add(
        self, text: str, operands: Sequence[Traced], types: Sequence[str]
    ) -> tuple[Traced, ...]:
        """One operation more; its results."""
        place = here()
        results = tuple([Traced(self, type_text, place) for type_text in types])
        self.operations.append(Operation(text, tuple(operands), results, place))
        return results

    def kernel(
        self, name: str, operands: Sequence[Traced], types: Sequence[str], attributes: str = ""
    ) -> tuple[Traced, ...]:
        """The call of a kernel."""
        places = ", ".join(["{}"] * len(operands))
        listed = f" {{{{{attributes}}}}}" if attributes else ""
        given = ", ".join(value.type for value in operands)
        text = f'"{name}"({places}){listed} : ({given}) -> {listed_types(types)}'
        return self.add(text, operands, types)

    def value(self, item: object, like: str | None = None) -> Traced:
        """`item` as a value of this function; a number has the type `like` if it can."""
        if not isinstance(item, Traced):
            return self.constant(item, like)
        if item.trace is self:
            if item.weak is not None and like in NUMBERS and like != item.type:
                item.weak.meet(like)
                return self.kernel(f"tfrt.cast.{item.type}_to_{like}", (item,), (like,))[0]
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
        return self.value(found, like)

    def constant(self, item: object, like: str | None = None) -> Traced:
        """A Python value in the program: a number or a string, or a captured object."""
        type_text = type_of_value(item)
        if type_text in ("i1", "i64", "f64"):
            made = self._number(item, number_type(item, type_text, like))
            made.is_number = True
            return made
        if type_text == STRING and isinstance(item, str):
            return self.kernel("tfrt_test.get_string", (), (STRING,), f"value = {quoted(item)}")[0]
        kept = TENSOR if is_array(item) else OBJECT
        slot = self.module.capture(item)
        return self.kernel("tfrt.captured", (), (kept,), f"slot = {slot} : i64")[0]

    def _number(self, item: object, type_text: str) -> Traced:
        if type_text in ("i8", "i16"):
            wide = self.add(f"tfrt.constant.i32 {int(item)}", (), ("i32",))  # type: ignore[call-overload]
            return self.kernel(f"tfrt.cast.i32_to_{type_text}", wide, (type_text,))[0]
        literal = number_text(item, type_text)
        return self.add(f"tfrt.constant.{type_text} {literal}", (), (type_text,))[0]

    def chain_of(self, values: Sequence[object]) -> Traced:
        """A chain that is there when all values are."""
        given = [self.value(value) for value in values]
        if len(given) == 1 and given[0].type == CHAIN:
            return given[0]
        if not given:
            return self.kernel("tfrt.new.chain", (), (CHAIN,))[0]
        return self.kernel("tfrt.merge.chains", given, (CHAIN,))[0]

    def effect(self, chain: Traced) -> None:
        """Something has happened when `chain` is there."""
        self.effects.append(chain)
        if self.is_ordered:
            self.order = chain

    def close(self, results: Sequence[Traced], *, is_private: bool) -> None:
        """Write the function into the module."""
        parameters = [*self.arguments, *self.captures.values()]
        names = {value: f"%a{number}" for number, value in enumerate(parameters)}
        count, lines = 0, []
        for operation in self.operations:
            made = []
            for value in operation.results:
                names[value] = f"%v{count}"
                made.append(names[value])
                count += 1
            left = f"{', '.join(made)} = " if made else ""
            text = operation.text.format(*[names[value] for value in operation.operands])
            lines.append(f"  {left}{text}{_loc(operation.place)}")
        returned = ", ".join(names[value] for value in results)
        types = [value.type for value in results]
        listed = f" {returned} : {', '.join(types)}" if results else ""
        lines.append(f"  tfrt.return{listed}{_loc(self.place)}")
        given = ", ".join(f"{names[value]}: {value.type}" for value in parameters)
        arrow = f" -> {listed_types(types)}" if types else ""
        private = "private " if is_private else ""
        head = f"func.func {private}@{self.name}({given}){arrow} {{"
        self.module.functions.append("\n".join([head, *lines, f"}}{_loc(self.place)}", ""]))


def number_type(item: object, own: str, like: str | None) -> str:
    """The type of a constant that meets a value of type `like`."""
    if like is None or like not in NUMBERS:
        found = own
    elif own == "f64" and is_integer(like):
        refuse(f"{item} is a float beside {like}: cast one of them, as tfrt.f64(x)")
    elif (own == "i1") != (like == "i1"):
        refuse(f"{item} is {own} beside {like}: cast one of them, as tfrt.{like}(x)")
    else:
        found = like
    if is_integer(found):
        bits = int(found[1:]) - 1
        if not -(1 << bits) <= int(item) < 1 << bits:  # type: ignore[call-overload]
            refuse(f"{item} does not fit in {found}")
    return found


def number_text(item: object, type_text: str) -> str:
    """A number as it is written in a program."""
    if type_text == "i1":
        return "true" if item else "false"
    if not is_float(type_text):
        return str(int(item))  # type: ignore[call-overload]
    number = float(item)  # type: ignore[arg-type]
    text = repr(number)
    if "n" in text:  # an infinity or a NaN
        import struct

        size, code = (4, "<f") if type_text == "f32" else (8, "<d")
        return f"0x{int.from_bytes(struct.pack(code, number), 'little'):0{2 * size}X}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def quoted(text: str) -> str:
    """A string as it is written in a program; braces are those of `str.format`."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\{}' else f"\\{byte:02X}"
        for byte in text.encode(errors="surrogateescape")
    )
    return f'"{plain}"'


def listed_types(types: Sequence[str]) -> str:
    """Types of results as they are written."""
    return types[0] if len(types) == 1 else f"({', '.join(types)})"


def _loc(place: Location) -> str:
    name = place.source.replace("\\", "\\\\").replace('"', '\\"')
    return f' loc("{name}":{place.line}:{place.column})'


class _Present(threading.local):
    trace: Trace | None = None


_present = _Present()


def current() -> Trace | None:
    """The function that this thread traces, if it does."""
    return _present.trace


def required(what: str) -> Trace:
    """The function that this thread traces.

    Raises:
        TfrtError: if it traces none.
    """
    if _present.trace is None:
        refuse(f"{what} belongs into a function that is traced: decorate it with @tfrt.program")
    return _present.trace


@contextlib.contextmanager
def tracing(trace: Trace | None) -> Iterator[Trace | None]:
    """Let this thread trace `trace`, or with None nothing."""
    before, called = _present.trace, TRACING.call
    _present.trace = trace
    TRACING.call = None if trace is None else trace.call_kernel
    try:
        yield trace
    finally:
        _present.trace, TRACING.call = before, called
