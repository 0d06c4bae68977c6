"""Test that a short fuzz of every net finds nothing, and replay files from earlier finds."""

from __future__ import annotations

import mmap
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fuzz import children
from tests.fuzz.abi_calls import OF_COMPILED_CODE, TYPES
from tests.fuzz.children import STATE, HangClock, Outcome, Work, run_child, watch
from tests.fuzz.nets import TESTS, all_nets, minimise
from tests.fuzz.random_async_programs import random_program as random_async_program
from tests.fuzz.random_programs import UNLIMITED
from tests.fuzz.random_programs import random_program as random_host_program
from tests.fuzz.text_mutants import parts, tokens

from tfrt_runtime.async_runtime.runs import runtime_functions
from tfrt_runtime.cache import code_cache

FOUND = sorted(path for path in (Path(__file__).parent / "found").iterdir())
NETS = ["bef", "compiled-bef", "calls", "host", "async", "abi", "command", "magic"]
RANDOM = [
    "random-host",
    "random-scalars",
    "random-async",
    "random-counted",
    "random-passes",
    "random-host-passes",
    "random-explored",
    "documents",
    "random-simulated",
]
CASES = "40"
"""The number of cases for a net of weight 1: half a minute in all."""


def fuzz(*arguments: str | Path, folder: Path = TESTS.parent) -> subprocess.CompletedProcess[str]:
    """Run the command in its own process, which works in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(TESTS.parent)},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


@pytest.mark.parametrize("net", [*NETS, *RANDOM])
def test_a_short_fuzz_finds_nothing(net: str, tmp_path: Path) -> None:
    done = fuzz("--nets", net, "--count", CASES, "--seed", "ci", "--finds", tmp_path, "--as-found")

    assert done.returncode == 0, done.stdout + done.stderr
    name, _, ran, *_ = done.stdout.splitlines()[-1].split()
    # A net whose cases are all rejected would find nothing.
    assert name == net and int(ran) > 0, done.stdout


def test_every_net_is_tried() -> None:
    assert list(all_nets()) == [*NETS, *RANDOM]


@pytest.mark.timeout(1200)  # endless runs take seconds each to cancel, several times
def test_sequences_call_each_function_of_the_async_runtime() -> None:
    names = {name for name in runtime_functions() if name.startswith(("mlirAsync", "tfrtAsync"))}

    assert names == set(TYPES) | set(OF_COMPILED_CODE)


def test_files_that_were_found_end_in_a_diagnostic_or_a_result(tmp_path: Path) -> None:
    """Run all files in one process, on every queue; runs that do not finish are cancelled.

    No file may be written: `calls_system` would write one where the process works.
    """
    done = fuzz("--times", "1", "--replay", *FOUND, folder=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [*NETS, *RANDOM])
def test_the_same_seed_makes_the_same_cases(name: str) -> None:
    net = all_nets()[name]
    first, second = (
        [net.content(net.make(random.Random(f"{seed}"))) for seed in range(5)] for _ in range(2)
    )

    assert first == second


@pytest.mark.parametrize("name", [*NETS, *RANDOM])
def test_a_case_is_kept_as_a_file(name: str) -> None:
    net = all_nets()[name]
    content = net.content(net.make(random.Random(2)))

    assert net.content(net.of_file(content, "case")) == content


@pytest.mark.parametrize("random_program", [random_host_program, random_async_program])
def test_a_random_program_of_few_steps_is_small(random_program: Callable[..., str]) -> None:
    sizes = {
        most: sum(random_program(seed, most=most).count("\n") for seed in range(20))
        for most in (2, 8, UNLIMITED)
    }

    assert 4 * sizes[2] < 2 * sizes[8] < sizes[UNLIMITED]


def test_the_tokens_of_a_text_are_all_of_it() -> None:
    text = '// one\n%a:2 = "x.y"(%b#1) {c = -0x1F : i8} : (!a.b<i64>) -> (f32, f64)\t"\n^bb0:'

    assert "".join(tokens(text)) == text


def test_the_parts_of_a_program_are_its_functions_with_those_that_they_name() -> None:
    text = (
        "// about f\nfunc.func @f() {\n  call @g()\n}\nfunc.func @g() {\n}\nfunc.func @h() {\n}\n"
    )
    f, g, h = (
        "func.func @f() {\n  call @g()\n}\n",
        "func.func @g() {\n}\n",
        "func.func @h() {\n}\n\n",
    )

    assert parts(text) == [f + g, g, h]
    assert parts("module {\n  func.func @f()\n}") == ["module {\n  func.func @f()\n}"]


# --- the watch over children ---


def watched(work: Work, count: int = 8) -> Outcome:
    """Return the outcome of a child that does this work."""
    return run_child(range(count), lambda: work, hang_seconds=0.6)


def at_five(act: Callable[[], object]) -> Work:
    """Return work whose case 5 does something wrong."""

    def work(number: int) -> tuple[list[str], int]:
        if number == 5:
            act()
        return [], 1

    return work


def die() -> None:
    import ctypes

    ctypes.string_at(0)


def hang() -> None:
    while True:
        pass


@pytest.mark.parametrize(
    ("act", "kind"), [(die, "death by SIGSEGV"), (hang, "hang"), (sys.exit, "death with status 99")]
)
def test_a_child_that_does_not_come_back_is_found_at_its_case(
    act: Callable[[], object], kind: str
) -> None:
    outcome = watched(at_five(act))

    [problem] = outcome.problems
    assert (problem.kind.partition(" in ")[0], problem.case, outcome.tried) == (kind, 5, 6)


@pytest.mark.parametrize(
    ("share", "is_ready", "seconds"),
    [
        (1.0, True, 10),  # it never stops running
        (0.25, True, 40),  # the same, while other processes run
        (0.0, False, 10),  # blocked
        (0.01, False, 10),  # blocked, except for a thread that checks something now and then
        (0.0, True, 100),  # it never gets a processor
    ],
)
def test_a_process_hangs_when_it_has_worked_for_its_time_or_does_not_want_to_work(
    share: float, is_ready: bool, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(HangClock, "_processor_seconds", lambda self: share * now)
    monkeypatch.setattr(HangClock, "_is_ready", lambda self: is_ready)
    clock = HangClock(0, 10.0)

    while not clock.is_over():
        now += children.LOOK_SECONDS

    assert now == pytest.approx(seconds, abs=2 * children.LOOK_SECONDS)


def test_a_blocked_process_is_not_ready_and_a_busy_one_works() -> None:
    program = (
        "import sys, time; time.sleep(60) if sys.argv[1] == 'blocked' else exec('while 1: pass')"
    )
    clocks = {}
    for kind in ("blocked", "busy"):
        process = subprocess.Popen([sys.executable, "-c", program, kind])
        clock = HangClock(process.pid, 2.0)
        while not clock.is_over():
            time.sleep(0.05)
        clocks[kind] = (
            clock._ready > children.READY * clock._looks,
            clock._processor_seconds() > 1,
        )
        process.kill()
        process.wait()

    assert clocks == {"blocked": (False, False), "busy": (True, True)}


def test_a_child_keeps_what_it_compiles_in_a_folder_of_its_own() -> None:
    parents = code_cache().folder

    def work(number: int) -> tuple[list[str], int]:
        return [
            f"{code_cache().folder != parents}, {code_cache().folder.parent == Path.cwd().parent}"
        ], 1

    [problem] = watched(work, count=1).problems

    assert problem.kind == "True, True"


def test_a_child_that_is_interrupted_while_it_writes_the_time_does_not_hang(
    tmp_path: Path,
) -> None:
    reading, writing = os.pipe()
    shared = mmap.mmap(-1, STATE.size)
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        os.write(writing, b"\n")  # makes the watch look at `shared`, whose time is 0
        os._exit(0)
    os.close(writing)

    outcome = watch(child, reading, shared, started, 0.6, tmp_path)

    os.close(reading)
    assert outcome.problems == []


def test_problems_that_a_child_survives_are_found_with_their_cases() -> None:
    outcome = watched(lambda number: (["odd\nmore"] if number % 2 else [], 1))

    assert [(p.kind, p.case, p.text) for p in outcome.problems] == [
        ("odd", number, "more") for number in (1, 3, 5, 7)
    ]
    assert (outcome.tried, outcome.ran) == (8, 8)


def test_what_fails_is_made_as_small_as_can_be() -> None:
    kept = minimise(range(100), lambda pieces: {17, 42, 43} <= set(pieces))

    assert kept == [17, 42, 43]
