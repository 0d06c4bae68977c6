"""Test that machine code of scalar functions does what the interpreter and the executor do."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from tfrt_nb.cli.main import main
from tfrt_nb.programs import Program
from tfrt_runtime import scalars
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor import machine
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.kernels.users.user import kernel

SLOW = 60
SYNC = " attributes {tfrt.sync}"
KINDS = pytest.mark.parametrize("kind", ["", SYNC], ids=["host", "sync"])
TIERS = (Tier.INTERPRETER, Tier.COMPILED)


@pytest.fixture(params=["s", "mstd:2"])
def host(request: pytest.FixtureRequest) -> Iterator[HostContext]:
    with HostContext(request.param) as made:
        yield made
        assert made.live_values() == 0


def text_of(kind: str, text: str) -> str:
    """Return a program with kernels of its kind, for which `TFRT.` is a placeholder.

    It represents the prefix up to the suffix.
    """
    return text.replace("ATTRIBUTES", kind).replace("_S.", "_s." if kind else ".")


def one(name: str, number: int, word: str = "i32") -> str:
    return f'{name} = "tfrt.constant_S.{word}"() {{value = {number} : {word}}} : () -> {word}'


FIB = f"""
func.func @main(%n: i32) -> i32ATTRIBUTES {{
  {one("%one", 1)}
  %is_small = "tfrt.lessequal_S.i32"(%n, %one) : (i32, i32) -> i1
  %r = tfrt.if %is_small, %n, %one : (i32, i32) -> i32 {{
    tfrt.return %n : i32
  }} else {{
    %a = "tfrt.minus_S.i32"(%n, %one) : (i32, i32) -> i32
    %b = "tfrt.minus_S.i32"(%a, %one) : (i32, i32) -> i32
    %fa = tfrt.call @main(%a) : (i32) -> i32
    %fb = tfrt.call @main(%b) : (i32) -> i32
    %sum = "tfrt.add_S.i32"(%fa, %fb) : (i32, i32) -> i32
    tfrt.return %sum : i32
  }}
  tfrt.return %r : i32
}}
"""

ENDLESS_RECURSION = f"""
func.func @main(%n: i32) -> i32ATTRIBUTES {{
  {one("%one", 1)}
  %m = "tfrt.add_S.i32"(%n, %one) : (i32, i32) -> i32
  %r = tfrt.call @main(%m) : (i32) -> i32
  %q = "tfrt.add_S.i32"(%r, %one) : (i32, i32) -> i32
  tfrt.return %q : i32
}}
"""

ENDLESS_LOOP = f"""
func.func @body(%n: i32) -> (i32, i1)ATTRIBUTES {{
  {one("%one", 1)}
  %m = "tfrt.add_S.i32"(%n, %one) : (i32, i32) -> i32
  %again = "tfrt.equal_S.i32"(%n, %n) : (i32, i32) -> i1
  tfrt.return %m, %again : i32, i1
}}
func.func @main(%n: i32) -> i32ATTRIBUTES {{
  %begins = "tfrt.equal_S.i32"(%n, %n) : (i32, i32) -> i1
  %r = tfrt.while %begins @body(%n) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}}
"""

PARTIAL = f"""
func.func @main(%n: i32) -> (i32, i32)ATTRIBUTES {{
  {one("%one", 1)}
  %q, %rest = "tfrt.div_S.i32"(%one, %n) : (i32, i32) -> (i32, i32)
  %sum = "tfrt.add_S.i32"(%n, %one) : (i32, i32) -> i32
  tfrt.return %q, %sum : i32, i32
}}
"""


DEEP_DIVISION = f"""
func.func @main(%n: i32) -> i32ATTRIBUTES {{
  {one("%one", 1)}
  {one("%zero", 0)}
  %is_over = "tfrt.lessequal_S.i32"(%n, %zero) : (i32, i32) -> i1
  %r = tfrt.if %is_over, %n, %one : (i32, i32) -> i32 {{
    %q, %rest = "tfrt.div_S.i32"(%one, %n) : (i32, i32) -> (i32, i32)
    tfrt.return %q : i32
  }} else {{
    %less = "tfrt.minus_S.i32"(%n, %one) : (i32, i32) -> i32
    %deeper = tfrt.call @main(%less) : (i32) -> i32
    %sum = "tfrt.add_S.i32"(%deeper, %one) : (i32, i32) -> i32
    tfrt.return %sum : i32
  }}
  tfrt.return %r : i32
}}
"""

COUNT = f"""
func.func @main(%n: i32, %x: i32) -> (i32, i32)ATTRIBUTES {{
  %r, %left = tfrt.repeat.i32 %n, %x, %n : i32, i32 {{
    {one("%one", 1)}
    %q, %rest = "tfrt.div_S.i32"(%one, %n) : (i32, i32) -> (i32, i32)
    %less = "tfrt.minus_S.i32"(%n, %one) : (i32, i32) -> i32
    %more = "tfrt.add_S.i32"(%x, %one) : (i32, i32) -> i32
    tfrt.return %more, %less : i32, i32
  }}
  tfrt.return %r, %left : i32, i32
}}
"""
"""Divides by the number of remaining iterations."""


def outcome(run: Execution) -> tuple[object, ...]:
    """Return the values and errors of the results, and the reports with their places."""
    run.wait(20)
    found = [str(v.exception(0)) if v.exception(0) else repr(v.result(0)) for v in run.results]
    return found, sorted(map(str, run.diagnostics))


def outcomes(host: HostContext, text: str, *values: object) -> list[tuple[object, ...]]:
    """Return a program's outcomes on both tiers."""
    program = Program(text)
    return [outcome(program.run(*values, host=host, tier=tier)) for tier in TIERS]


@KINDS
def test_a_recursion_is_compiled_and_says_so(host: HostContext, kind: str) -> None:
    program = Program(text_of(kind, FIB))
    run = program.run(20, host=host, tier="compiled")
    assert (run.result(), run.tier, run.tier_note) == (6765, Tier.COMPILED, None)
    assert repr(run) == "<Execution @main done, 1 of 1 result, compiled>"
    run = program.run(10, host=host, tier="interpreter")
    assert (run.result(), run.tier) == (55, Tier.INTERPRETER)


SAMPLES: dict[str, list[object]] = {
    "i1": [False, True],
    "f32": [0.0, -0.0, 1.5, -2.5, 1e30, float("inf"), float("nan"), 300.0],
    "f64": [0.0, -0.0, 1.5, -2.5, 1e300, float("-inf"), float("nan"), 2.0**63],
} | {
    word: [0, 1, -1, 7, -3, bits - 1, bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))]
    for word, bits in scalars.BITS.items()
}


@KINDS
@pytest.mark.parametrize(
    "family", scalars.FAMILIES, ids=lambda family: family.types[0] + family.name
)
def test_each_scalar_operation_gives_the_same(kind: str, family: scalars.Family) -> None:
    with HostContext("s") as host:
        for operation in family.members():
            name = operation.sync_name if kind else operation.name
            given = [f"%a{i}" for i in range(len(operation.operands))]
            arguments = ", ".join(
                f"{one}: {t}" for one, t in zip(given, operation.operands, strict=True)
            )
            results, types = (
                ", ".join(f"%r{i}" for i in range(len(operation.results))),
                ", ".join(operation.results),
            )
            signature = f"({', '.join(operation.operands)}) -> ({types})"
            program = Program(
                f"func.func @main({arguments}) -> ({types}){kind} {{\n"
                f'  {results} = "{name}"({", ".join(given)}) : {signature}\n  tfrt.return '
                f"{results} : {types}\n}}"
            )
            columns = [SAMPLES[word] for word in operation.operands]
            pairs = (
                [(a,) for a in columns[0]]
                if len(columns) == 1
                else [(a, b) for a in columns[0] for b in columns[1]]
            )
            for values in pairs:
                runs = [program.run(*values, host=host, tier=tier) for tier in TIERS]
                interpreted, compiled = map(outcome, runs)
                assert interpreted == compiled, (operation.name, values)
                assert bool(compiled[1]) != (runs[1].tier is Tier.COMPILED) or kind


@KINDS
def test_errors_are_those_of_the_interpreter(host: HostContext, kind: str) -> None:
    interpreted, compiled = outcomes(host, text_of(kind, PARTIAL), 0)
    assert interpreted == compiled
    assert "<program>:4:15: error: Divide by zero" in str(compiled)
    # In a host function, the other result is a value.
    assert (compiled[0][1] == "1") == (kind == "")  # type: ignore[index]


@KINDS
def test_an_error_deep_in_a_recursion_has_its_place(host: HostContext, kind: str) -> None:
    interpreted, compiled = outcomes(host, text_of(kind, DEEP_DIVISION), 10_000)
    assert interpreted == compiled
    assert "<program>:7:17: error: Divide by zero" in str(compiled)


@pytest.mark.parametrize("tier", TIERS)
@KINDS
def test_an_error_deep_in_a_recursion_names_its_callers(
    host: HostContext, kind: str, tier: Tier
) -> None:
    text = text_of(kind, DEEP_DIVISION) + text_of(
        kind,
        """
        func.func @outer(%n: i32) -> i32ATTRIBUTES {
          %r = tfrt.call @main(%n) : (i32) -> i32
          tfrt.return %r : i32
        }""",
    )
    run = Program(text).run(10_000, function="outer", host=host, tier=tier)
    run.wait(SLOW)
    [error] = run.diagnostics
    assert [str(one) for one in error.notes] == [
        "<program>:11:15: note: @main was called here (10000 nested calls)",
        "<program>:19:16: note: @main was called here",
    ]


@KINDS
def test_a_loop_becomes_hot_between_two_rounds(
    monkeypatch: pytest.MonkeyPatch, host: HostContext, kind: str
) -> None:
    monkeypatch.setattr(machine, "HOT", 5000)
    monkeypatch.setattr(machine, "HOT_AT_FIRST", 5000)
    run = Program(text_of(kind, COUNT)).run(100_000, 5, host=host)
    assert outcome(run) == (["100005", "0"], [])
    assert run.tier is Tier.COMPILED


@KINDS
def test_an_error_in_a_hot_loop_is_that_of_the_interpreter(
    monkeypatch: pytest.MonkeyPatch, host: HostContext, kind: str
) -> None:
    monkeypatch.setattr(machine, "HOT", 5000)
    monkeypatch.setattr(machine, "HOT_AT_FIRST", 5000)
    text = text_of(kind, COUNT.replace("tfrt.repeat.i32 %n,", "tfrt.repeat.i32 %rounds,"))
    text = text.replace("@main(%n: i32,", "@main(%rounds: i32, %n: i32,")
    interpreted, compiled = (
        outcome(Program(text).run(4010, 4000, 5, host=host, tier=tier))
        for tier in (Tier.INTERPRETER, Tier.AUTO)
    )
    assert interpreted == compiled
    assert "error: Divide by zero" in str(compiled)


@KINDS
def test_an_endless_recursion_is_the_error_that_it_is(host: HostContext, kind: str) -> None:
    interpreted, compiled = outcomes(host, text_of(kind, ENDLESS_RECURSION), 0)
    assert interpreted == compiled
    assert "calls are nested too deeply" in str(compiled)


@KINDS
def test_an_endless_loop_ends_when_it_is_cancelled(host: HostContext, kind: str) -> None:
    run = Program(text_of(kind, ENDLESS_LOOP)).run(0, host=host, tier="compiled")
    threading.Timer(0.2, run.cancel, ["enough"]).start()
    with pytest.raises(TfrtError, match="enough"):
        run.result()
    assert run.wait(SLOW)


@KINDS
def test_a_wait_for_machine_code_has_a_timeout(host: HostContext, kind: str) -> None:
    run = Program(text_of(kind, ENDLESS_LOOP)).run(0, host=host, tier="compiled")
    start = time.monotonic()
    with pytest.raises(TimeoutError):
        run.result(0.2)
    assert time.monotonic() - start < SLOW
    run.cancel()
    assert run.wait(SLOW)


@KINDS
def test_arguments_that_are_late_or_errors_are_as_in_the_interpreter(kind: str) -> None:
    program = Program(text_of(kind, FIB))
    with HostContext("mstd:1") as host:
        late, wrong = Future[int](), Future[int]()
        run = program.run(late, host=host, tier="compiled")
        late.set_result(10)
        assert run.result() == 55
        run = program.run(wrong, host=host, tier="compiled")
        wrong.set_exception(ValueError("no number"))
        with pytest.raises(TfrtError, match="no number"):
            run.result()


@KINDS
def test_a_function_becomes_hot(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(machine, "HOT", 5000)
    monkeypatch.setattr(machine, "HOT_AT_FIRST", 5000)
    program = Program(text_of(kind, FIB))
    with HostContext("s") as host:
        runs = [program.run(n, host=host) for n in (5, 22, 22)]
        assert [run.result() for run in runs] == [5, 17711, 17711]
        assert [run.tier for run in runs] == [Tier.INTERPRETER, Tier.COMPILED, Tier.COMPILED]


@KINDS
def test_many_short_calls_are_hot_as_well(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(machine, "HOT", 20_000)
    monkeypatch.setattr(machine, "HOT_AT_FIRST", 20_000)
    program = Program(text_of(kind, FIB))
    with HostContext("s") as host:
        runs = [program.run(10, host=host) for _ in range(100)]
        assert {run.result() for run in runs} == {55}
        assert (runs[0].tier, runs[-1].tier) == (Tier.INTERPRETER, Tier.COMPILED)


def test_the_interpreter_hands_a_hot_function_over_in_the_middle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The function calls Python, so it stays interpreted; its other callees become machine code."""
    monkeypatch.setattr(machine, "HOT", 5000)
    monkeypatch.setattr(machine, "HOT_AT_FIRST", 5000)
    told: list[int] = []
    kernel("tiers.tell")(lambda x: told.append(x) or x)
    program = Program(
        text_of(SYNC, FIB).replace("@main", "@fib")
        + f"""
func.func @main(%n: i32) -> i32{SYNC} {{
  %first = "tiers.tell"(%n) : (i32) -> i32
  %a = tfrt.call @fib(%first) : (i32) -> i32
  %second = "tiers.tell"(%a) : (i32) -> i32
  %b = tfrt.call @fib(%n) : (i32) -> i32
  %r = tfrt.add_s.i32 %second, %b
  tfrt.return %r : i32
}}
"""
    )
    with HostContext("s") as host:
        run = program.run(22, host=host)
        assert (run.result(), told, run.tier) == (35422, [22, 17711], Tier.COMPILED)
        run = program.run(3, host=host, tier="compiled")
        note = run.tier_note
        assert note is not None
        assert note.message == "@main is interpreted: 'tiers.tell' cannot be compiled"
        assert str(note.location).startswith("<program>:19:12")
        assert run.result() == 4


def test_what_is_refused_does_not_keep_the_run_that_asked() -> None:
    text = """\
func.func @main() -> !vt.value {
  %a = "vt.constant"() {value = 77 : i32} : () -> !vt.value
  tfrt.return %a : !vt.value
}
"""
    with HostContext("s") as host:
        program = Program(text)
        run = program.run(host=host, tier="compiled")
        assert run.tier_note is not None and run.wait()
        run.result()
        # The value refers to its run, which must not refer to the value through its program.
        del run, program
        gc.collect()
        assert host.live_values() == 0


def test_what_python_or_a_watch_has_to_see_is_interpreted() -> None:
    kernel("tiers.half")(lambda x: x // 2)
    program = Program(
        'func.func @main(%x: i32) -> i32 {\n  %r = "tiers.half"(%x) : (i32) -> i32\n  '
        "tfrt.return %r : i32\n}"
    )
    run = program.run(8, tier="compiled")
    assert run.tier_note is not None
    assert (run.result(), run.tier) == (4, Tier.INTERPRETER)
    run = Program(text_of("", FIB)).run(5, tier="compiled", watch=True)
    assert run.tier_note is not None
    assert "its events are logged" in run.tier_note.message
    assert (run.result(), run.tier) == (5, Tier.INTERPRETER)


@pytest.mark.parametrize("tier", list(Tier))
def test_a_compiled_function_is_machine_code_unless_it_is_to_be_interpreted(tier: Tier) -> None:
    program = Program(
        "func.func @main(%n: i32) -> i32 {\n  %r = arith.addi %n, %n : i32\n  return %r : i32\n}"
    )
    run = program.run(4, tier=tier)
    used = Tier.INTERPRETER if tier is Tier.INTERPRETER else Tier.COMPILED
    assert (run.result(), run.tier, run.tier_note) == (8, used, None)


def test_without_a_compiler_everything_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HOOKS, "compiler", None)
    run = Program(text_of(SYNC, FIB)).run(10, tier="compiled")
    assert run.tier_note is not None
    assert "there is no compiler" in run.tier_note.message
    assert run.result() == 55


@pytest.mark.parametrize("length", [1500, 2500])
def test_large_functions_are_interpreted(length: int) -> None:
    lines = "".join(f"  %v{i + 1} = tfrt.add.i32 %v{i}, %v{i}\n" for i in range(length))
    large = f"func.func @large(%v0: i32) -> i32 {{\n{lines}  tfrt.return %v{length} : i32\n}}\n"
    call = "  %r = tfrt.call @large(%x) : (i32) -> i32\n  tfrt.return %r : i32\n"
    program = Program(f"{large}func.func @main(%x: i32) -> i32 {{\n{call}}}\n")
    for function in ("main", "large"):
        run = program.run(0, function=function, tier="compiled")
        note = run.tier_note
        assert (note is None) == (length == 1500)
        assert note is None or "more than 2000 kernels" in note.message
        assert run.result() == 0


def test_another_tier_is_refused() -> None:
    with pytest.raises(TfrtError, match="tier must be auto, interpreter or compiled"):
        Program(text_of("", FIB)).run(1, tier="fast")


def test_the_command_line_chooses_the_tier(
    tmp_path: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"{tmp_path}/fib.mlir"
    with open(path, "w") as file:
        file.write(text_of("", FIB))
    for tier in ("auto", "interpreter", "compiled"):
        assert main(["run", path, "--tier", tier, "10"]) == 0
        assert capsys.readouterr() == ("--- Running 'main':\n'main' returned 55\n", "")
    with open(path, "w") as file:
        file.write(
            "func.func @main() -> !tfrt.chain {\n  %a = tfrt.constant.i32 1\n  %c = "
            "tfrt.new.chain\n"
            "  %d = tfrt.print.i32 %a, %c\n  tfrt.return %d : !tfrt.chain\n}\n"
        )
    assert main(["run", path, "--tier", "compiled"]) == 0
    seen = capsys.readouterr()
    assert "int32 = 1\n" in seen.out
    assert (
        "fib.mlir:4:8: note: @main is interpreted: 'tfrt.print.i32' cannot be compiled" in seen.err
    )


def test_a_kernel_in_python_is_named_where_it_keeps_a_function_from_being_compiled(
    tmp_path: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"{tmp_path}/once.mlir"
    with open(path, "w") as file:
        file.write(
            "func @g(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}\nfunc @f() -> i32 {\n"
            "  %a = tfrt.constant.i32 5\n  %b = tfrt.once @g(%a) : (i32) -> (i32)\n"
            "  tfrt.return %b : i32\n}\n"
        )
    assert main(["run", path, "--tier", "compiled"]) == 0
    problems = capsys.readouterr().err
    assert "once.mlir:6:8: note: @f is interpreted: 'tfrt.once' cannot be compiled" in problems
