"""What compiled async programs take as they run: calls, tasks and parallel loops of the async dialect."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from benchmarks import peers
from benchmarks.measure import Case, Variant
from benchmarks.on_queues import on_each_queue

CALLS = 100_000
FIB = 25
PEER_FIB = 20
TASKS = 10_000
AWAITED_TASKS = 2_000
PEER_TASKS = 1_000
ELEMENTS = 4_096
LOOPS = 100

_INCREMENT = """
async.func @increment(%x: i64) -> !async.value<i64> {
  %one = arith.constant 1 : i64
  %y = arith.addi %x, %one : i64
  return %y : i64
}
func.func private @wait(%v: !async.value<i64>) -> i64 {
  %y = async.await %v : !async.value<i64>
  return %y : i64
}
"""
_CALLED = "%v = async.call @increment(%a) : (i64) -> !async.value<i64>"
_COUNTING = """
  %zero = arith.constant 0 : i64
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %last = arith.index_cast %n : i64 to index
"""
AWAITED = f"""{_INCREMENT}
func.func @main(%n: i64) -> i64 {{{_COUNTING}
  %r = scf.for %i = %first to %last step %step iter_args(%a = %zero) -> i64 {{
    {_CALLED}
    %y = async.await %v : !async.value<i64>
    scf.yield %y : i64
  }}
  return %r : i64
}}
"""
HANDED_ON = AWAITED.replace(
    "async.await %v : !async.value<i64>\n    scf",
    "call @wait(%v) : (!async.value<i64>) -> i64\n    scf",
)
RECURSION = """
async.func @fib(%n: i64) -> !async.value<i64> {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %is_small = arith.cmpi slt, %n, %two : i64
  cf.cond_br %is_small, ^small, ^big
^small:
  return %n : i64
^big:
  %a = arith.subi %n, %one : i64
  %b = arith.subi %n, %two : i64
  %v = async.call @fib(%a) : (i64) -> !async.value<i64>
  %w = async.call @fib(%b) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  %y = async.await %w : !async.value<i64>
  %r = arith.addi %x, %y : i64
  return %r : i64
}
func.func @main(%n: i64) -> i64 {
  %v = async.call @fib(%n) : (i64) -> !async.value<i64>
  %r = async.await %v : !async.value<i64>
  return %r : i64
}
"""
GROUPED = f"""
func.func @main(%n: i64) -> i64 {{{_COUNTING}
  %group = async.create_group %last : !async.group
  scf.for %i = %first to %last step %step {{
    %t = async.execute {{
      async.yield
    }}
    async.add_to_group %t, %group : !async.token
  }}
  async.await_all %group
  return %n : i64
}}
"""
ONE_BY_ONE = f"""
func.func @main(%n: i64) -> i64 {{{_COUNTING}
  scf.for %i = %first to %last step %step {{
    %t = async.execute {{
      async.yield
    }}
    async.await %t : !async.token
  }}
  return %n : i64
}}
"""
ADDING = f"""
func.func @main(%n: i64) -> i64 {{{_COUNTING}
  %one = arith.constant 1 : i64
  %size = arith.constant {ELEMENTS} : index
  %m = memref.alloc() : memref<{ELEMENTS}xi64>
  scf.for %i = %first to %size step %step {{
    memref.store %zero, %m[%i] : memref<{ELEMENTS}xi64>
  }}
  scf.for %round = %first to %last step %step {{
    scf.parallel (%i) = (%first) to (%size) step (%step) {{
      %x = memref.load %m[%i] : memref<{ELEMENTS}xi64>
      %y = arith.addi %x, %one : i64
      memref.store %y, %m[%i] : memref<{ELEMENTS}xi64>
    }}
  }}
  %r = memref.load %m[%first] : memref<{ELEMENTS}xi64>
  memref.dealloc %m : memref<{ELEMENTS}xi64>
  return %r : i64
}}
"""
IN_TASKS = f"// parallel-for: num-workers=2\n{ADDING}"


@contextmanager
def async_calls() -> Iterator[Case]:
    """A call of a function that does not wait, and an await of its result."""
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        yield Case(
            "async call",
            f"{CALLS} calls of an async.func, each awaited before the next",
            "ns per call",
            (
                *on_each_queue(stack, AWAITED, (CALLS,), CALLS, CALLS, name="awaited"),
                *on_each_queue(
                    stack,
                    HANDED_ON,
                    (CALLS,),
                    CALLS,
                    CALLS,
                    name="handed to a function that awaits",
                ),
                Variant("function calls", "plain Python", lambda: peers.plain_loop(CALLS), CALLS),
                Variant(
                    "coroutine each",
                    "asyncio",
                    peers.on_loop(runner, peers.asyncio_loop, CALLS),
                    CALLS,
                ),
            ),
        )


@contextmanager
def async_fib() -> Iterator[Case]:
    """A recursion with two awaits per call."""
    calls, peer_calls = peers.fib_calls(FIB), peers.fib_calls(PEER_FIB)
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        yield Case(
            "async fib",
            f"fib({FIB}) as an async.func, {calls} calls (peers: fib({PEER_FIB}))",
            "ns per call",
            (
                *on_each_queue(
                    stack, RECURSION, (FIB,), peers.plain_fib(FIB), calls, name="async.func"
                ),
                Variant(
                    "function calls", "plain Python", lambda: peers.plain_fib(PEER_FIB), peer_calls
                ),
                Variant(
                    "coroutine each",
                    "asyncio",
                    peers.on_loop(runner, peers.asyncio_fib, PEER_FIB),
                    peer_calls,
                ),
                Variant(
                    "Task each",
                    "asyncio",
                    peers.on_loop(runner, peers.asyncio_fib_tasks, PEER_FIB),
                    peer_calls,
                ),
            ),
        )


@contextmanager
def async_group() -> Iterator[Case]:
    """Tasks that do nothing, all awaited at the end."""
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        yield Case(
            "async group",
            f"{TASKS} async.execute in a group, which is awaited (peers: {PEER_TASKS})",
            "ns per task",
            (
                *on_each_queue(stack, GROUPED, (TASKS,), TASKS, TASKS, name="async.execute"),
                Variant(
                    "Task each, gathered",
                    "asyncio",
                    peers.on_loop(runner, peers.asyncio_tasks, PEER_TASKS),
                    PEER_TASKS,
                ),
            ),
        )


@contextmanager
def async_await() -> Iterator[Case]:
    """Tasks that do nothing, each awaited before the next is spawned."""
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        yield Case(
            "async await",
            f"{AWAITED_TASKS} async.execute, each awaited by the thread that spawned it"
            f" (peers: {PEER_TASKS})",
            "ns per task",
            (
                *on_each_queue(
                    stack,
                    ONE_BY_ONE,
                    (AWAITED_TASKS,),
                    AWAITED_TASKS,
                    AWAITED_TASKS,
                    name="async.execute",
                ),
                Variant(
                    "Task each",
                    "asyncio",
                    peers.on_loop(runner, peers.asyncio_tasks_in_turn, PEER_TASKS),
                    PEER_TASKS,
                ),
            ),
        )


@contextmanager
def parallel_loop() -> Iterator[Case]:
    """A loop over elements, whole and in tasks."""
    array = np.zeros(ELEMENTS, np.int64)
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        (sequential, _) = on_each_queue(stack, ADDING, (LOOPS,), LOOPS, LOOPS, name="sequential")
        yield Case(
            "parallel loop",
            f"scf.parallel that adds one to {ELEMENTS} integers",
            "us per loop",
            (
                sequential,
                *on_each_queue(stack, IN_TASKS, (LOOPS,), LOOPS, LOOPS, name="in tasks"),
                Variant("add in place", "numpy", lambda: np.add(array, 1, out=array)),
                Variant("a loop", "plain Python", lambda: peers.plain_parts(ELEMENTS, 1)),
                Variant(
                    "a loop in 4 Tasks",
                    "asyncio",
                    peers.on_loop(runner, lambda size: peers.asyncio_parts(size, 4), ELEMENTS),
                ),
            ),
        )


ALL = (async_calls, async_fib, async_group, async_await, parallel_loop)
