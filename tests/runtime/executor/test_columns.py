"""Functions by column are read and laid out as they are kernel by kernel, and run alike."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from tests.fuzz.random_programs import random_program

from tfrt_nb.convert import rows
from tfrt_nb.programs import Program
from tfrt_runtime.bef import body_reader, locations, wire
from tfrt_runtime.bef.encoding import MANY_KERNELS, FunctionKind
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.wire import MalformedBef
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor import program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.loading.arena import Arena
from tfrt_runtime.executor.loading.columns import ColumnWriter
from tfrt_runtime.executor.loading.decode import Call, Constant, FunctionWriter
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.native.layouts import FUNCTION_WORDS

Run = Callable[..., Execution]
GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"
FILES = sorted(GOLDEN.glob("*.bef"))
Value = TypeVar("Value")


def chain(length: int) -> str:
    """Adds that depend on each other."""
    lines = [f"  %v{i + 1} = tfrt.add.i32 %v{i}, %one\n" for i in range(length)]
    return (
        "func.func @main(%v0: i32) -> (i32, i32, i32) {\n  %one = tfrt.constant.i32 1\n"
        f"{''.join(lines)}  tfrt.return %v{length}, %one, %v0 : i32, i32, i32\n}}\n"
    )


def outcome(value: AsyncValue) -> object:
    """The value, or what its error says."""
    problem = value.exception()
    return value.result() if problem is None else str(problem)


def memory_of(file: BefFile, writer: type[FunctionWriter]) -> list[tuple[bool, int]]:
    """The words of all functions: whether each is an address in there, and its number or offset.

    Calls are made up: constants are constants, and every other kernel has an address of its own.
    """
    arena = Arena()
    arena.add(*range(7))
    offsets = [arena.reserve(FUNCTION_WORDS) for _ in file.functions]
    for offset, function in zip(offsets, file.functions, strict=True):
        if function.kind is FunctionKind.NATIVE:
            continue
        constants: dict[int, Constant] = {}
        calls: list[Call | None] = []
        known: dict[str, Call] = {}
        for kernel in function.kernels:
            number = len(known)
            call = Call(number, number % 3 * 4, 0, (number,) * (number % 4), kernel.functions)
            if "constant" in kernel.name:
                constants[kernel.results[0]] = Constant(SCALAR_TYPES["i32"], len(constants), 0)
                calls.append(None)
            else:
                calls.append(call if kernel.functions else known.setdefault(kernel.name, call))
        writer(arena, function, constants, calls, 100).write(offset, offsets)
    return with_offsets(arena.seal()[0])


def with_offsets(words: array[int]) -> list[tuple[bool, int]]:
    """For each word whether it is an address in there, and its number or offset."""
    base, size = words.buffer_info()
    return [
        (True, word - base) if base <= word <= base + 8 * size else (False, word) for word in words
    ]


def take_as_large(kernel_count: int, patch: pytest.MonkeyPatch) -> None:
    """Read and lay out functions of so many kernels by column."""
    for module in (rows, wire, body_reader, locations, program):
        patch.setattr(module, "MANY_KERNELS", kernel_count)


def both_ways(make: Callable[[], Value], patch: pytest.MonkeyPatch) -> tuple[Value, Value]:
    """What `make` makes kernel by kernel, and by column."""
    take_as_large(1 << 30, patch)
    by_kernel = make()
    take_as_large(2, patch)
    return by_kernel, make()


def read(data: bytes) -> object:
    """What the file says, or why it is none."""
    try:
        file = BefFile.load(data)
    except MalformedBef as wrong:
        return str(wrong)
    return [(replace(one, kernels=()), tuple(one.kernels)) for one in file.functions]


def load(file: BefFile) -> tuple[int, list[Any]]:
    """The number of a loaded file, and its words, addresses in it as offsets; or why it is refused."""
    try:
        program = Executable(file, standard_kernels())
    except TfrtError as wrong:
        return 0, [str(wrong)]
    if program._python:  # its objects are anywhere
        return program._base, [len(program._memory)]
    return program._base, with_offsets(program._memory)


def assert_loaded_alike(make: Callable[[], BefFile], patch: pytest.MonkeyPatch) -> None:
    (first, by_kernel), (second, by_column) = both_ways(lambda: load(make()), patch)
    assert len(by_column) == len(by_kernel)
    for left, right in zip(by_kernel, by_column, strict=True):
        # A handle counts on from the number of its program.
        assert right == left or right == (False, second + left[1] - first)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_are_read_and_laid_out_alike(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = path.read_bytes()
    by_kernel, by_column = both_ways(lambda: read(data), monkeypatch)
    assert by_column == by_kernel
    if isinstance(by_kernel, str):
        return
    file = BefFile.load(data)
    assert memory_of(file, ColumnWriter) == memory_of(file, FunctionWriter)
    assert_loaded_alike(lambda: BefFile.load(data), monkeypatch)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_wrong_bytes_are_refused_alike(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(path.stem)
    whole = path.read_bytes() or b"\0"
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(random.choice((1, 1, 2))):
            data[random.randrange(len(data))] = random.choice((0, 1, 2, 5, 127, 128, 255))
        by_kernel, by_column = both_ways(lambda data=bytes(data): read(data), monkeypatch)
        assert by_column == by_kernel, data.hex()


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_are_the_same_files(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = random_program(seed)
    by_kernel, by_column = both_ways(
        lambda: Program.from_source(text, "random.mlir").bef, monkeypatch
    )
    assert by_column == by_kernel


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_are_laid_out_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    file = Program.from_source(random_program(seed), "random.mlir").file
    assert memory_of(file, ColumnWriter) == memory_of(file, FunctionWriter)
    assert_loaded_alike(lambda: file, monkeypatch)


@pytest.mark.parametrize("seed", range(10))
def test_random_programs_have_the_same_results(
    seed: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def results() -> list[object]:
        execution = run(random_program(seed))
        execution.wait()
        return [outcome(value) for value in execution.results]

    by_kernel, by_column = both_ways(results, monkeypatch)
    assert by_column == by_kernel


def test_the_records_of_a_large_function_are_those_that_were_written() -> None:
    program = Program.from_source(chain(MANY_KERNELS), "test.mlir")
    [function] = BefFile.load(program.bef).functions
    [written] = program.file.functions
    kernels = function.kernels

    assert not isinstance(kernels, tuple)
    assert kernels == written.kernels
    assert kernels[3] == written.kernels[3]
    assert kernels[-2:] == written.kernels[-2:]
    assert function.use_counts == written.use_counts
    assert len(kernels) == len(written.kernels)
    # Where many are looked at one by one, all are made.
    assert tuple([kernels[at] for at in range(len(kernels))]) == written.kernels
    assert kernels[-2:] == written.kernels[-2:]
    assert tuple(kernels) == written.kernels


@pytest.mark.parametrize("change", ["operand", "users", "use count", "code", "overlap"])
def test_a_wrong_kernel_of_a_large_function_is_named(change: str) -> None:
    data = bytearray(Program.from_source(chain(MANY_KERNELS), "test.mlir").bef)
    [function] = BefFile.load(bytes(data)).functions
    kernel = function.kernels[1000]
    header = struct.pack("<7I", 1, kernel.location, 2, 0, 0, 1, 1)
    at = data.index(header)
    place, word = {
        "operand": (at + 28, 5000),
        "users": (at + 40, 4000),
        "code": (at, 99),
        "overlap": (at + 8, 1),
        "use count": (at + 24, 0),
    }[change]
    data[place : place + 4] = struct.pack("<I", word)
    with pytest.raises(MalformedBef, match=r"invalid Functions section"):
        BefFile.load(bytes(data))


def test_a_large_function_runs(run: Run) -> None:
    text = chain(MANY_KERNELS)
    execution = run(text, 5)
    execution.wait()

    assert [value.result() for value in execution.results] == [5 + MANY_KERNELS, 1, 5]
