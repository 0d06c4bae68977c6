"""Test functions with thousands of operations, which are read, checked, and run like small ones."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import Kernels
from tfrt_runtime.bef.wire import MalformedBef
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.loading import decode

Run = Callable[..., Execution]
MANY = 10_000


def chain(length: int) -> str:
    """Return adds that depend on each other."""
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


def test_a_program_for_which_half_words_do_not_suffice_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decode, "MAX_BYTES", 100 * MANY)
    program = Program.from_source(chain(2 * MANY), "test.mlir")

    with pytest.raises(TfrtError, match="its functions would need over 2 GiB"):
        program.load()


def test_kernels_are_made_when_asked_for() -> None:
    [function] = Program.from_source(chain(4), "test.mlir").file.functions
    kernels = function.kernels

    assert [one.name for one in kernels] == ["tfrt.constant.i32", *["tfrt.add.i32"] * 4]
    assert [(one.arguments, one.results) for one in kernels][2:] == [
        ((2, 1), (3,)),
        ((3, 1), (4,)),
        ((4, 1), (5,)),
    ]
    assert [tuple(one.used_by) for one in kernels][:2] == [((5, 4, 3, 2),), ((3,),)]
    assert kernels[-1] == kernels[4]
    assert Kernels.of([*kernels], 1) == kernels
    with pytest.raises(IndexError):
        kernels[-6]


def test_a_large_function_runs(run: Run) -> None:
    text = chain(MANY)
    execution = run(text, 5)
    execution.wait()

    assert [value.result() for value in execution.results] == [5 + MANY, 1, 5]
