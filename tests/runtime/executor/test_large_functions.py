"""Functions of some thousand operations: read, checked, and run as small ones are."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.wire import MalformedBef
from tfrt_runtime.executor.execution import Execution

Run = Callable[..., Execution]
MANY = 10_000


def chain(length: int) -> str:
    """Adds that depend on each other."""
    lines = [f"  %v{i + 1} = tfrt.add.i32 %v{i}, %one\n" for i in range(length)]
    return (
        "func.func @main(%v0: i32) -> (i32, i32, i32) {\n  %one = tfrt.constant.i32 1\n"
        f"{''.join(lines)}  tfrt.return %v{length}, %one, %v0 : i32, i32, i32\n}}\n"
    )


@pytest.mark.parametrize("change", ["operand", "users", "use count", "code", "overlap"])
def test_a_wrong_kernel_of_a_large_function_is_named(change: str) -> None:
    data = bytearray(Program.from_source(chain(MANY), "test.mlir").bef)
    [function] = BefFile.load(bytes(data)).functions
    kernel = function.kernels[1000]
    header = struct.pack("<7I", 1, kernel.location, 2, 0, 0, 1, 1)
    at = data.index(header)
    place, word = {
        "operand": (at + 28, 20_000),
        "users": (at + 40, 4000),
        "code": (at, 99),
        "overlap": (at + 8, 1),
        "use count": (at + 24, 0),
    }[change]
    data[place : place + 4] = struct.pack("<I", word)
    with pytest.raises(MalformedBef, match=r"invalid Functions section"):
        BefFile.load(bytes(data))


def test_a_large_function_runs(run: Run) -> None:
    text = chain(MANY)
    execution = run(text, 5)
    execution.wait()

    assert [value.result() for value in execution.results] == [5 + MANY, 1, 5]
