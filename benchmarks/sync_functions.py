"""Sync functions beside the executor and plain Python: the price of a kernel without an AsyncValue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from benchmarks import peers, programs
from benchmarks.measure import Case, Variant
from tfrt_nb import HostContext, Program

OURS = "tfrt-nb"
LENGTH = 1_000
CALLS = 1_000
LONG_CHAIN = 10_000
ROUNDS = 1_000_000
FIB = 20
SYNC = " attributes {tfrt.sync}"


def constant(name: str, number: int) -> str:
    """A constant of a sync function."""
    return f'{name} = "tfrt.constant_s.i32"() {{value = {number} : i32}} : () -> i32'


def kernels(names: Sequence[str], length: int, first: str) -> list[str]:
    """Kernels that depend on each other, in turns, from `first` to `%v<length>`."""
    lines, last = [], first
    for i in range(length):
        kernel = names[i % len(names)]
        lines.append(f'  %v{i + 1} = "tfrt.{kernel}_s.i32"({last}, %one) : (i32, i32) -> i32')
        last = f"%v{i + 1}"
    return lines


def chain(names: Sequence[str], length: int) -> str:
    """`@main` of no arguments: one kernel after the other."""
    lines = [constant("%v0", 0), constant("%one", 1), *kernels(names, length, "%v0")]
    body = "\n".join(lines)
    return f"func.func @main() -> i32{SYNC} {{\n{body}\n  tfrt.return %v{length} : i32\n}}\n"


def called_chain(names: Sequence[str], length: int, calls: int) -> str:
    """`@main`, which calls a function with that many kernels again and again."""
    body = "\n".join([constant("%one", 1), *kernels(names, length, "%x")])
    return f"""
func.func @chain(%x: i32) -> i32{SYNC} {{
{body}
  tfrt.return %v{length} : i32
}}
func.func @main() -> i32{SYNC} {{
  {constant("%zero", 0)}
  {constant("%calls", calls)}
  %r = tfrt.repeat.i32 %calls, %zero : i32 {{
    %next = tfrt.call @chain(%zero) : (i32) -> i32
    tfrt.return %next : i32
  }}
  tfrt.return %r : i32
}}
"""


def loop(rounds: int) -> str:
    """A loop that adds one."""
    return f"""
func.func @main() -> i32{SYNC} {{
  {constant("%rounds", rounds)}
  {constant("%zero", 0)}
  %r = tfrt.repeat.i32 %rounds, %zero : i32 {{
    {constant("%one", 1)}
    %next = "tfrt.add_s.i32"(%zero, %one) : (i32, i32) -> i32
    tfrt.return %next : i32
  }}
  tfrt.return %r : i32
}}
"""


def fib() -> str:
    """The recursion of `programs.FIB`, in a sync function."""
    return f"""
func.func @main(%n: i32) -> i32{SYNC} {{
  {constant("%one", 1)}
  %is_small = tfrt.lessequal_s.i32 %n, %one
  %result = tfrt.if %is_small, %n, %one : (i32, i32) -> i32 {{
    tfrt.return %n : i32
  }} else {{
    %before = tfrt.minus_s.i32 %n, %one
    %first = tfrt.minus_s.i32 %before, %one
    %left = tfrt.call @main(%before) : (i32) -> i32
    %right = tfrt.call @main(%first) : (i32) -> i32
    %sum = "tfrt.add_s.i32"(%left, %right) : (i32, i32) -> i32
    tfrt.return %sum : i32
  }}
  tfrt.return %result : i32
}}
"""


def variant(
    host: HostContext,
    name: str,
    text: str,
    operations: int,
    expected: int | None,
    arguments: tuple[int, ...] = (),
) -> Variant:
    """A loaded program of ours, from the start of a run until nothing of it is left."""
    program = Program.from_source(text, "benchmark")
    program.load()
    result = program.run(host, arguments=arguments).results[0].result()
    assert expected is None or result == expected

    def run() -> None:
        program.run(host, arguments=arguments).wait()

    return Variant(name, OURS, run, operations)


def plain(run: Callable[[], object], operations: int) -> Variant:
    """The same in Python."""
    return Variant("function calls", "plain Python", run, operations)


@contextmanager
def sync_chain() -> Iterator[Case]:
    """W1, as a sync function."""
    with HostContext("s") as host:
        total = LENGTH * CALLS
        mixed = ("add", "minus", "mul")
        yield Case(
            "W1 sync",
            "kernels that depend on each other, in a sync function",
            "ns per kernel",
            (
                variant(
                    host,
                    f"{LENGTH} adds, called {CALLS} times",
                    called_chain(("add",), LENGTH, CALLS),
                    total,
                    total,
                ),
                variant(
                    host,
                    f"{LENGTH} add, minus, mul in turns, called {CALLS} times",
                    called_chain(mixed, LENGTH, CALLS),
                    total,
                    None,
                ),
                variant(host, f"{LENGTH} adds, run once", chain(("add",), LENGTH), LENGTH, LENGTH),
                variant(
                    host,
                    f"{LONG_CHAIN} adds, run once",
                    chain(("add",), LONG_CHAIN),
                    LONG_CHAIN,
                    LONG_CHAIN,
                ),
                variant(
                    host,
                    f"executor, {LONG_CHAIN} adds, run once",
                    programs.chain(LONG_CHAIN),
                    LONG_CHAIN,
                    LONG_CHAIN,
                ),
                plain(lambda: peers.plain_chain(LENGTH), LENGTH),
            ),
        )


@contextmanager
def sync_loop() -> Iterator[Case]:
    """A loop with one add in its body, in a sync function."""
    with HostContext("s") as host:
        yield Case(
            "repeat sync",
            f"a loop of {ROUNDS} rounds that adds one, in a sync function",
            "ns per round",
            (
                variant(host, "sync function", loop(ROUNDS), ROUNDS, ROUNDS),
                variant(host, "executor", programs.LOOP, ROUNDS, ROUNDS, (ROUNDS,)),
                plain(lambda: peers.plain_loop(ROUNDS), ROUNDS),
            ),
        )


@contextmanager
def sync_fib() -> Iterator[Case]:
    """W3, as a sync function."""
    calls = peers.fib_calls(FIB)
    with HostContext("s") as host:
        expected = peers.plain_fib(FIB)
        yield Case(
            "W3 sync",
            f"recursive fib({FIB}) in a sync function",
            "ns per call",
            (
                variant(host, "sync function", fib(), calls, expected, (FIB,)),
                variant(host, "executor", programs.FIB, calls, expected, (FIB,)),
                plain(lambda: peers.plain_fib(FIB), calls),
            ),
        )


ALL = (sync_chain, sync_loop, sync_fib)
