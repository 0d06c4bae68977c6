"""Functions laid out by column are laid out as they are kernel by kernel, and run alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.loading import decode
from tfrt_runtime.executor.loading.arena import Arena
from tfrt_runtime.executor.loading.decode import Call, Constant, FunctionWriter, make_plan
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.native.layouts import FUNCTION_WORDS
from tfrt_runtime.testing.random_programs import random_program

Run = Callable[..., Execution]
GOLDEN = Path(__file__).parents[2] / "golden" / "tfrt"
FILES = sorted(path for path in GOLDEN.glob("*.bef") if not path.name.startswith("malformed_"))


def outcome(value: AsyncValue) -> object:
    """The value, or what its error says."""
    problem = value.exception()
    return value.result() if problem is None else str(problem)


def memory_of(file: BefFile) -> list[tuple[bool, int]]:
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
        plan = make_plan(function, constants, [call is not None for call in calls])
        FunctionWriter(arena, plan, calls, 100).write(offset, offsets)
    before = list(arena.words)
    memory, base = arena.seal()
    return [
        (sealed != word, sealed - base if sealed != word else word)
        for word, sealed in zip(before, memory, strict=True)
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_are_laid_out_alike(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = BefFile.open(path)
    monkeypatch.setattr(decode, "MANY_KERNELS", 1 << 30)
    kernel_by_kernel = memory_of(file)
    monkeypatch.setattr(decode, "MANY_KERNELS", 0)

    assert memory_of(file) == kernel_by_kernel


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_are_laid_out_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    file = Program.from_source(random_program(seed), "random.mlir").file
    monkeypatch.setattr(decode, "MANY_KERNELS", 1 << 30)
    kernel_by_kernel = memory_of(file)
    monkeypatch.setattr(decode, "MANY_KERNELS", 0)

    assert memory_of(file) == kernel_by_kernel


@pytest.mark.parametrize("seed", range(10))
def test_random_programs_have_the_same_results(
    seed: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def results() -> list[object]:
        execution = run(random_program(seed))
        execution.wait()
        return [outcome(value) for value in execution.results]

    kernel_by_kernel = results()
    monkeypatch.setattr(decode, "MANY_KERNELS", 0)

    assert results() == kernel_by_kernel


def test_a_large_function_runs(run: Run) -> None:
    lines = [f"  %v{i + 1} = tfrt.add.i32 %v{i}, %one\n" for i in range(decode.MANY_KERNELS)]
    text = (
        "func.func @main(%v0: i32) -> (i32, i32, i32) {\n  %one = tfrt.constant.i32 1\n"
        f"{''.join(lines)}  tfrt.return %v{len(lines)}, %one, %v0 : i32, i32, i32\n}}\n"
    )
    execution = run(text, 5)
    execution.wait()

    assert [value.result() for value in execution.results] == [5 + len(lines), 1, 5]
