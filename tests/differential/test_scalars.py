"""Compare every scalar operation with numpy, for each type.

Each runs from text and from BEF, on each queue, and in sync functions and others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfrt_nb.programs import Program
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.scalars import BITS, FLOATS, OPERATIONS, Operation

SLOW = 60
DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f32": np.float32,
    "f64": np.float64,
}
DIVISIONS = ("div", "floordiv")


def source() -> str:
    """Return a module with each operation in two functions: for the executor, and `tfrt.sync`."""
    lines = []
    for one in OPERATIONS.values():
        operands = ", ".join(f"%a{i}" for i in range(len(one.operands)))
        parameters = ", ".join(f"%a{i}: {word}" for i, word in enumerate(one.operands))
        results = ", ".join(f"%r{i}" for i in range(len(one.results)))
        types = ", ".join(one.results)
        for name, attributes in (
            (one.name, ""),
            (one.sync_name, " attributes {tfrt.sync}"),
        ):
            lines += [
                f"func @{name}({parameters}) -> ({types}){attributes} {{",
                f"  {results} = {name} {operands}",
                f"  tfrt.return {results} : {types}",
                "}",
            ]
    return "\n".join(lines)


def outcome(value: AsyncValue) -> object:
    """Return the payload, or the message of the error."""
    wrong = value.exception(0)
    return value.result(0) if wrong is None else wrong.diagnostics[0].message


Run = Callable[..., list[object]]


@pytest.fixture(scope="module")
def runs() -> Iterator[list[Run]]:
    """Yield ways to call a function: from text and from BEF, on each queue."""
    text = Program.from_source(source(), "scalars")
    bef = Program.from_bef(text.bef)
    hosts = [HostContext(queue, output=lambda _: None) for queue in ("s", "mstd:2")]

    def runner(program: Program, host: HostContext) -> Run:
        def run(function: str, *operands: object) -> list[object]:
            execution = program.run(host, function, list(operands))
            assert execution.wait(SLOW)
            return [outcome(value) for value in execution.results]

        return run

    yield [runner(program, host) for program in (text, bef) for host in hosts]
    alive = [host.live_values() for host in hosts]
    for host in hosts:
        host.close()
    assert alive == [0, 0]


def numbers(word: str) -> st.SearchStrategy[Any]:
    """Draw operands, some of them at the limits of their type."""
    if word == "i1":
        return st.booleans()
    if word in FLOATS:
        edges = st.sampled_from([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, 2.0**31])
        return edges | st.floats(width=32 if word == "f32" else 64)
    half = 1 << (BITS[word] - 1)
    edges_ = st.sampled_from([-half, 1 - half, half - 1, -1, 0, 1, 2, 7, BITS[word] - 1])
    return edges_ | st.integers(-half, half - 1)


def expected(one: Operation, values: tuple[Any, ...]) -> list[object] | str:
    """Return numpy's or Python's results, or the error."""
    dtype = DTYPES[one.operands[0]]
    word, family = one.operands[0], one.family.name
    a, b = dtype(values[0]), dtype(values[-1])
    with np.errstate(all="ignore"):
        if family == "cast":
            return cast(one, a)
        if family in DIVISIONS:
            if b == 0:
                return "Divide by zero"
            return divided(family, word, a, b)
        if family in ("shiftleft", "shiftright"):
            if not 0 <= values[1] < BITS[word]:
                return f"cannot shift a {BITS[word]}-bit integer by {values[1]}"
            shift = np.left_shift if family == "shiftleft" else np.right_shift
            return [shift(a, b)]
        functions: dict[str, Callable[..., Any]] = {
            "add": np.add,
            "minus": np.subtract,
            "mul": np.multiply,
            "multiply": np.multiply,
            "abs": lambda x, _: np.abs(x),
            "minimum": lambda x, y: np.where(y < x, y, x)[()],
            "maximum": lambda x, y: np.where(y > x, y, x)[()],
            "equal": np.equal,
            "notequal": np.not_equal,
            "less": np.less,
            "lessequal": np.less_equal,
            "greater": np.greater,
            "greaterequal": np.greater_equal,
            "and": np.bitwise_and,
            "or": np.bitwise_or,
            "xor": np.bitwise_xor,
        }
        return [functions[family](a, b)]


def divided(family: str, word: str, a: Any, b: Any) -> list[object]:
    dtype = DTYPES[word]
    if word in FLOATS:
        if family == "div":
            return [np.divide(a, b)]
        return [dtype(part) for part in divmod(float(a), float(b))]
    quotient, rest = divmod(int(a), int(b))
    if family == "div" and rest and quotient < 0:
        quotient, rest = quotient + 1, rest - int(b)
    wrapped = quotient - 2**64 if quotient == 2**63 else quotient
    return [np.int64(wrapped).astype(dtype), dtype(rest)]


def cast(one: Operation, a: Any) -> list[object] | str:
    source_word, target = one.suffix.split("_to_")
    if target in BITS and source_word != "i1":
        half = 1 << (BITS[target] - 1)
        if source_word in FLOATS:
            fits = bool(np.isfinite(a)) and -half <= math.trunc(float(a)) < half
            if not fits and target == "i64":
                return [np.int64(-half)]
        else:
            fits = -half <= int(a) < half
        if not fits:
            shown = float(a) if source_word in FLOATS else int(a)
            return f"{shown} does not fit in {target}"
    return [a.astype(DTYPES[target])]


def same(found: object, wanted: Any) -> bool:
    if isinstance(found, float) and math.isnan(found):
        return bool(np.isnan(wanted))
    is_equal = bool(found == wanted.item())
    return is_equal and math.copysign(1, float(found)) == math.copysign(1, wanted.item())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_computes_what_numpy_does(name: str, runs: list[Run]) -> None:
    one = OPERATIONS[name]

    @settings(max_examples=25)
    @given(st.tuples(*map(numbers, one.operands)))
    def check(values: tuple[Any, ...]) -> None:
        wanted = expected(one, values)
        for run in runs:
            for function in (one.name, one.sync_name):
                found = run(function, *values)
                if isinstance(wanted, str):
                    assert found == [wanted] * len(one.results)
                else:
                    assert all(map(same, found, wanted)), (function, values, found, wanted)

    check()


def test_each_operation_has_each_type_for_which_it_makes_sense() -> None:
    families = {
        family: {one.suffix for one in OPERATIONS.values() if one.family.name == family}
        for family in {one.family.name for one in OPERATIONS.values()}
    }
    numbers_ = {*BITS, *FLOATS}
    for family in ("add", "minus", "div", "floordiv", "minimum", "maximum", "abs", "less"):
        assert families[family] == numbers_
    assert families["mul"] | families["multiply"] == numbers_
    assert families["equal"] == {"i1", *numbers_}
    assert families["xor"] == {"i1", *BITS}
    assert len(families["cast"]) == 7 * 6


def test_every_operation_is_a_native_kernel() -> None:
    kernels = available_kernels()
    assert all(
        hasattr(kernels[name], "symbol")
        for one in OPERATIONS.values()
        for name in (one.name, one.sync_name)
    )
