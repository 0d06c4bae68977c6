"""Call every kernel with wrong operands, attributes, and counts, as a file may do.

Each call ends in a diagnostic or in a result; a crash kills a child, not this process.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.fuzz.__main__ import prepare
from tests.fuzz.children import Work, run_child
from tests.fuzz.random_calls import (
    ANYWHERE,
    ATTRIBUTES,
    FUNCTIONS,
    OFFSETS,
    UNKNOWN,
    Writer,
    shape_of,
)
from tests.fuzz.running import LEAKS_ON_PURPOSE, Runner

from tfrt_nb.programs import Program
from tfrt_runtime.bef.records import BefFunction, BefModule, FunctionKind
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.loading.native_functions import runs_in_sync
from tfrt_runtime.kernels.registry import ControlKernel, Kernel
from tfrt_runtime.kernels.standard import standard_kernels

KERNELS = standard_kernels()
NAMES = [name for name in KERNELS if name != "tfrt_test.logging"]  # which logs on stderr
GROUPS = sorted({name.partition(".")[0] for name in NAMES})

Source = tuple[str, tuple[int, ...]]
"""A kernel without operands, and its attributes."""

SOURCES: dict[str, Source] = {
    "chain": ("tfrt.new.chain", ()),
    "i1": ("tfrt.constant.i1", (1,)),
    "i32": ("tfrt.constant.i32", (20,)),
    "i64": ("tfrt.constant.i64", (180,)),
    "f32": ("tfrt.constant.f32", (180,)),
    "complex": ("tfrt.constant.complex64", (180, 184)),
    "pending": ("tfrt_test.async_constant.i32", (16,)),
    "string": ("tfrt_test.get_string", (0,)),
    "shape": ("ts.build_shape", (28,)),
    "tensor": ("tfrt_dht.create_uninitialized_tensor.i32.2", (28,)),
    "tensor of f32": ("tfrt_dht.create_uninitialized_tensor.f32.2", (28,)),
    "atomic": ("tfrt_test.atomic.create.i32", ()),
    "error": ("tfrt_test.fail", ()),
}
SYNC_SOURCES: dict[str, Source] = {
    "i32": ("tfrt.constant_s.i32", (20,)),
    "f64": ("tfrt.constant_s.f64", (180,)),
    "string": ("tfrt_test.get_string_sync", (0,)),
    "shape": ("ts.build_shape", (28,)),
    "tensor": ("tfrt_dht.create_uninitialized_tensor.i32.2", (28,)),
    "error": ("tfrt_test.fail_s", ()),
}


def function(
    name: str,
    kernel: Kernel,
    source: Source,
    *,
    arguments: int = 0,
    results: int = 0,
    attributes: int = 0,
    noise: int = 0,
    functions: int = 0,
    nonstrict: bool = False,
    kind: FunctionKind = FunctionKind.ASYNC,
) -> BefFunction:
    """Return a function that calls `kernel` with a value as each operand.

    The numbers are added to the right counts.
    """
    chance = random.Random(name)
    writer = Writer(chance, 0)
    right_arguments, right_results, callees = shape_of(kernel, random.Random(kernel.name))
    writer.add(KERNELS[source[0]], attributes=source[1])
    writer.types = [
        UNKNOWN
    ]  # otherwise, the loader rejects the file, and the kernel sees no wrong value
    places = [OFFSETS.get(word, ANYWHERE)[0] for word in kernel_attributes(kernel)]
    places = [ANYWHERE[(i + noise) % len(ANYWHERE)] if noise else p for i, p in enumerate(places)]
    places = [*places, 12][: max(0, len(places) + attributes)]
    made = max(0, right_results + results)
    count = max(0, right_arguments + arguments)
    callees = [*callees, *range(functions)] if functions >= 0 else callees[:functions]
    writer.add(kernel, places, [0] * count, callees, made, nonstrict)
    return replace(writer.function(name, 0), kind=kind)


def kernel_attributes(kernel: Kernel) -> tuple[str, ...]:
    """Return the type words of a kernel's attributes, or two if it accepts any number of them."""
    words = getattr(kernel, "attributes", ())
    return ("i32", "i32") if words and words[0].startswith("*") else words


def file(functions: list[BefFunction], kind: FunctionKind = FunctionKind.ASYNC) -> bytes:
    """Return a file of functions; those that they may call come first."""
    i32 = (SYNC_SOURCES if kind is FunctionKind.SYNC else SOURCES)["i32"]
    callees = []
    for arguments, results in FUNCTIONS:
        writer = Writer(random.Random(arguments), arguments)
        if not arguments:
            writer.add(KERNELS[i32[0]], attributes=i32[1])
        callees.append(replace(writer.function("", results), kind=kind))
    every = (*callees, *functions)
    names = dict.fromkeys(kernel.name for one in every for kernel in one.kernels)
    return write_bef(BefModule(every, tuple(names), ("i32",), ATTRIBUTES, 8))


def kinds_of(kernel: Kernel) -> list[FunctionKind]:
    """Return the kinds of functions that may call it."""
    is_only_sync = kernel.sync and not isinstance(kernel, ControlKernel)
    kinds = [] if is_only_sync else [FunctionKind.ASYNC]
    return kinds + [FunctionKind.SYNC] * runs_in_sync(kernel)


def wrong_files(kernel: Kernel) -> Iterator[bytes]:
    """Yield files with operands of every kind, then files whose counts are wrong."""
    for kind in kinds_of(kernel):
        sources = SYNC_SOURCES if kind is FunctionKind.SYNC else SOURCES
        calls = [function(name, kernel, source, kind=kind) for name, source in sources.items()]
        for i in range(0, len(calls), 6):
            yield file(calls[i : i + 6], kind)
        value = sources["i32"]
        for wrong in (
            function("less", kernel, value, arguments=-1, kind=kind),
            function("more", kernel, value, arguments=1, kind=kind),
            function("none", kernel, value, results=-9, kind=kind),
            function("another", kernel, value, results=1, kind=kind),
            function("bare", kernel, value, attributes=-9, kind=kind),
            function("extra", kernel, value, attributes=1, kind=kind),
            function("noise", kernel, value, noise=3, kind=kind),
            function("other", kernel, value, noise=5, kind=kind),
            function("calling", kernel, value, functions=1, kind=kind),
            function("alone", kernel, value, functions=-1, kind=kind),
            function("any", kernel, value, nonstrict=True, kind=kind),
        ):
            yield file([wrong], kind)


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Load the core before the children start."""
    prepare([])


def problems_of(names: list[str]) -> list[str]:
    """Return the problems of kernel calls; each runs in a child that survived the previous ones."""

    def open_work() -> Work:
        runner = Runner(0.02)

        def work(number: int) -> tuple[list[str], int]:
            found, before = [], runner.ran
            for data in wrong_files(KERNELS[names[number]]):
                found += runner.case(
                    lambda runner, data=data: runner.run_program(
                        Program.from_bef(data, "wrong.bef"), random.Random(number)
                    ),
                    may_leak=LEAKS_ON_PURPOSE in names[number],
                )
            return found, runner.ran - before

        return work

    problems, first, tried = [], 0, 0
    while first < len(names):
        outcome = run_child(range(first, len(names)), open_work, seconds=600.0)
        problems += [f"{names[one.case]}: {one.kind}\n{one.text}" for one in outcome.problems]
        first = outcome.last + 1 if outcome.has_ended_badly else len(names)
        tried += outcome.tried
    assert tried == len(names)
    return problems


@pytest.mark.parametrize("group", GROUPS)
def test_a_wrong_call_of_any_kernel_ends_in_a_diagnostic_or_a_result(group: str) -> None:
    names = [name for name in NAMES if name.partition(".")[0] == group]

    assert not problems_of(names)


@pytest.mark.parametrize("group", GROUPS)
def test_a_call_with_another_number_of_results_is_refused(group: str) -> None:
    for name in NAMES:
        kernel = KERNELS[name]
        if name.partition(".")[0] == group and getattr(kernel, "results", 1) is not None:
            kind = kinds_of(kernel)[0]
            sources = SYNC_SOURCES if kind is FunctionKind.SYNC else SOURCES
            wrong = function("main", kernel, sources["i32"], results=1, kind=kind)
            with pytest.raises(TfrtError):
                Program.from_bef(file([wrong], kind), "wrong.bef").load()
