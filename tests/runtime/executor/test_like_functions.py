"""Test functions that differ only in names and places, which share one layout.

Each must still run, fail, and be compiled with its own names and places.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor import program
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.standard import available_kernels

GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"
FILES = sorted(path for path in GOLDEN.glob("*.bef") if not path.name.startswith("malformed_"))

LIKE = """\
func.func @next(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  tfrt.return %y : i32
}
func.func @following(%a: i32) -> i32 {
  %1 = tfrt.constant.i32 1
  %2 = tfrt.add.i32 %a, %1
  tfrt.return %2 : i32
}
func.func @main(%n: i32, %t: i1) -> (i32, i32, i32) {
  %zero = tfrt.constant.i32 0
  %a = tfrt.if %t, %n : (i32) -> i32 { tfrt.return %n : i32 } else { %x = tfrt.call @next(%n) : (i32) -> i32  tfrt.return %x : i32 }
  %b = tfrt.if %t, %a : (i32) -> i32 { tfrt.return %a : i32 } else { %x = tfrt.call @next(%a) : (i32) -> i32  tfrt.return %x : i32 }
  %c = tfrt.if %t, %b : (i32) -> i32 { tfrt.return %b : i32 } else { %x = tfrt.call @following(%b) : (i32) -> i32  tfrt.return %x : i32 }
  %d = tfrt.if %t, %c, %zero : (i32, i32) -> i32 {
    tfrt.return %c : i32
  } else {
    %q, %r = tfrt.div.i32 %c, %zero
    tfrt.return %q : i32
  }
  %e = tfrt.if %t, %zero, %c : (i32, i32) -> i32 {
    tfrt.return %zero : i32
  } else {
    %q, %r = tfrt.div.i32 %zero, %c
    tfrt.return %q : i32
  }
  tfrt.return %c, %d, %e : i32, i32, i32
}
"""  # noqa: E501
REGISTRY = available_kernels()


def memory_of(file: BefFile) -> list[tuple[str, int]]:
    """Return the words of a loaded file, with its own addresses as differences.

    Numbers of the program become differences, too. A second load distinguishes these from other
    words: they differ as the memory, or the program, does.
    """
    loaded, again = Executable(file, REGISTRY), Executable(file, REGISTRY)
    (base, _), (other, _) = (one._memory.buffer_info() for one in (loaded, again))
    return [
        ("address", word - base)
        if word - second == base - other
        else ("number", word - loaded._base)
        if word - second == loaded._base - again._base
        else ("word", word)
        for word, second in zip(loaded._memory, again._memory, strict=True)
    ]


def is_comparable(path: Path) -> bool:
    """Return whether a file can be loaded, and has the same words each time.

    A file that contains addresses of Python objects does not.
    """
    try:
        return memory_of(BefFile.open(path)) == memory_of(BefFile.open(path))
    except TfrtError:
        return False


@pytest.mark.parametrize(
    "file",
    [
        *(pytest.param(BefFile.open(path), id=path.stem) for path in FILES if is_comparable(path)),
        pytest.param(Program(LIKE).file, id="like"),
    ],
)
def test_each_is_laid_out_as_if_by_itself(file: BefFile, monkeypatch: pytest.MonkeyPatch) -> None:
    found = memory_of(file)
    monkeypatch.setattr(program, "MAX_ALIKE", -1)

    assert found == memory_of(file)


def outcome(value: AsyncValue) -> object:
    problem = value.exception()
    return value.result() if problem is None else str(problem)


@pytest.mark.parametrize("tier", list(Tier))
def test_each_runs_and_fails_at_its_own_place(host: HostContext, tier: Tier) -> None:
    made = Program(LIKE, "like.mlir")
    runs = [made.run(host, arguments=(5, chosen), tier=tier) for chosen in (True, False)]
    found = [list(map(outcome, run.results)) for run in runs]

    assert found == [[5, 5, 0], [8, "like.mlir:19:14: error: Divide by zero", 0]]
    assert [outcome(made.run(host, name, (1,), tier=tier).results[0]) for name in NAMES] == [2, 2]


NAMES = ("next", "following")
