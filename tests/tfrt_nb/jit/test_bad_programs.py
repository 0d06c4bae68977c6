"""Test wrong programs that verify: they are rejected, or fail with a message at a line."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from tfrt_nb.jit.coroutines import packed_name
from tfrt_nb.jit.programs import compile_program
from tfrt_nb.passes.parallel.async_parallel_for import AsyncParallelFor
from tfrt_nb.source import parse_module
from tfrt_runtime.async_runtime import AsyncRuntime, runtime, starvation
from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError
from tfrt_runtime.host import budget
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process

QUEUES = ["s", "mstd:2"]


def run(text: str, queue: str = "s") -> tuple[str, tuple[Diagnostic, ...]]:
    """Return a program's output, and why it is rejected or fails; nothing may be left."""
    output: list[str] = []
    errors: tuple[Diagnostic, ...] = ()
    with HostContext(queue) as host, AsyncRuntime(host, output=output.append) as async_runtime:
        try:
            loops = AsyncParallelFor(num_workers=4, min_task_size=1)
            module = parse_module(text, "program")
            code = compile_program(module, async_runtime.functions, loops)
            async_runtime.run(code.address(packed_name("main")))
        except TfrtError as problem:
            errors = problem.diagnostics
        assert async_runtime.live_objects() == []
    return "".join(output), errors


def failures(text: str, queue: str = "s") -> list[str]:
    """Return messages, each with the text of the line that it is about."""
    lines = text.splitlines()
    return [
        f"{problem.message}: {lines[problem.location.line - 1].strip()}"
        for problem in run(text, queue)[1]
        if isinstance(problem.location, Location)
    ]


def main(body: str, others: str = "") -> str:
    """Return a program whose main function has the body."""
    return (
        f"func.func @main() {{\n{body}\n  return\n}}\n{others}\nfunc.func private @printI64(i64)\n"
    )


def test_buffers_for_which_the_stack_has_no_room_are_on_the_heap() -> None:
    buffers = "".join(
        f"""  %a{i} = memref.alloca() : {type_}
  memref.store %one, %a{i}[%zero] : {type_}
  %x{i} = memref.load %a{i}[%zero] : {type_}
"""
        for i, type_ in enumerate(["memref<4096xi1024>", *["memref<512xi1024>"] * 400])
    )
    assert (
        failures(
            main(f"""  %zero = arith.constant 0 : index
  %one = arith.constant 1 : i1024
{buffers}  %first = arith.trunci %x0 : i1024 to i64
  func.call @printI64(%first) : (i64) -> ()""")
        )
        == []
    )


def test_a_function_of_too_many_arguments_is_refused() -> None:
    arguments = ", ".join(f"%a{i}: i64" for i in range(1025))
    [failure] = failures(f"func.func @f({arguments}) {{\n  return\n}}\n{main('')}")

    assert failure.startswith("the arguments of a function or task take more than 1024 words")


NAMES = ["free", "mlirAsyncRuntimeCreateToken", "__resume", "llvm.coro.id", 'a \\"b\\" \\0A']


@pytest.mark.parametrize("name", NAMES)
def test_a_function_may_have_any_name(name: str) -> None:
    call = f'  func.call @"{name}"(%x) : (i64) -> ()'
    body = (
        f"  %x = arith.constant 5 : i64\n  %t = async.execute {{\n  {call}\n    async.yield\n  }}"
    )

    assert run(
        main(
            f"{body}\n  async.await %t : !async.token",
            f'func.func @"{name}"(%x: i64) {{\n  call @printI64(%x) : (i64) -> ()\n  return\n}}',
        )
    ) == ("5", ())


PLAIN_RECURSION = """func.func private @down(%n: i64) -> i64 {
  %m = call @down(%n) : (i64) -> i64
  %r = arith.addi %m, %n : i64
  return %r : i64
}"""
CALLS = {
    "on the thread that waits": "  %r = func.call @down(%n) : (i64) -> i64",
    "in a task": """  %t = async.execute {
    %r = func.call @down(%n) : (i64) -> i64
    async.yield
  }
  async.await %t : !async.token""",
}


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("where", CALLS)
def test_a_recursion_without_end_exhausts_the_stack(where: str, queue: str) -> None:
    text = main(f"  %n = arith.constant 1 : i64\n{CALLS[where]}", PLAIN_RECURSION)

    assert failures(text, queue) == [
        "the stack is exhausted: func.func private @down(%n: i64) -> i64 {"
    ]


WAITING_RECURSIONS = {
    "of async functions": PLAIN_RECURSION.replace("func.func private", "async.func")
    .replace("-> i64 {", "-> !async.value<i64> {")
    .replace("%m = call", "%v = async.call")
    .replace("(i64) -> i64\n", "(i64) -> !async.value<i64>\n  %m = await %v : !async.value<i64>\n"),
    "of functions that wait": PLAIN_RECURSION.replace(
        "  %r",
        "  %t = async.execute {\n    async.yield\n  }\n  async.await %t : !async.token\n  %r",
    ),
}


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("what", WAITING_RECURSIONS)
def test_a_recursion_without_end_that_waits_uses_up_the_budget(
    what: str, queue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = native_process().memory_held
    monkeypatch.setattr(budget, "default_budget", lambda: held + (16 << 20))
    call = CALLS["in a task"]
    if what == "of async functions":
        call = call.replace("func.call", "async.call").replace("-> i64\n", "-> !async.value<i64>\n")
        call = call.replace(
            "    async.yield", "    async.await %r : !async.value<i64>\n    async.yield"
        )
        call = call.replace("    async.await", "    %x = async.await")
    text = main(f"  %n = arith.constant 1 : i64\n{call}", WAITING_RECURSIONS[what])

    [failure] = failures(text, queue)
    assert failure.startswith("out of memory: ")


DEEP = """
func.func @main() {
  %levels = arith.constant 140 : i64
  call @down(%levels) : (i64) -> ()
  return
}
func.func private @down(%n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : index
  %cell = arith.index_cast %n : i64 to index
  %room = memref.alloca() : memref<4096xi64>
  %another = arith.floordivsi %cell, %two : index
  memref.store %n, %room[%cell] : memref<4096xi64>
  memref.store %n, %room[%another] : memref<4096xi64>
  %more = arith.cmpi sgt, %n, %zero : i64
  scf.if %more {
    %m = arith.subi %n, %one : i64
    func.call @down(%m) : (i64) -> ()
  } else {
    %t = async.execute {
      async.yield
    }
    async.await %t : !async.token
    func.call @printI64(%one) : (i64) -> ()
  }
  %x = memref.load %room[%cell] : memref<4096xi64>
  %same = arith.cmpi eq, %x, %n : i64
  cf.assert %same, "somebody else wrote here"
  return
}
func.func private @printI64(i64)
"""


def on_a_stack_of_8_mb(text: str, queue: str) -> tuple[str, list[str]]:
    """Return a program's output, and why it fails, on a stack of 8 MB.

    The result does not depend on the size of the main thread's stack.
    """
    results: list[tuple[str, tuple[Diagnostic, ...]]] = []
    former = threading.stack_size(2**23)
    try:
        thread = threading.Thread(target=lambda: results.append(run(text, queue)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(former)
    [(output, errors)] = results
    return output, [problem.message for problem in errors]


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_thread_without_stack_for_tasks_is_rescued_by_another(queue: str) -> None:
    assert on_a_stack_of_8_mb(DEEP, queue) == ("1", [])


@pytest.mark.usefixtures("leak_check")
def test_where_nobody_can_rescue_it_the_program_is_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(starvation, "MAX_RESCUERS", 0)

    assert on_a_stack_of_8_mb(DEEP, "s") == ("", [runtime.EXHAUSTED])


JOINED = """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m = memref.alloc() : memref<8xi64>
  %zero = arith.constant 0 : i64
  %seven = arith.constant 7 : i64
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %m[%i] : memref<8xi64>
  }
  %t = async.execute {
    scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
      %ok = arith.cmpi ne, %i, %c0 : index
      cf.assert %ok, "not the first"
      WAIT
      memref.store %seven, %m[%i] : memref<8xi64>
    }
    async.yield
  }
  async.runtime.await %t : !async.token
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %m[%i] : memref<8xi64>
    func.call @printI64(%x) : (i64) -> ()
  }
  async.await %t : !async.token"""
A_TASK = """%u = async.execute {
        async.yield
      }
      async.await %u : !async.token"""


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("body", ["", A_TASK], ids=["that runs through", "that waits"])
def test_a_parallel_loop_that_fails_leaves_no_iteration_running(body: str, queue: str) -> None:
    output, [problem] = run(main(JOINED.replace("WAIT", body)), queue)

    assert (output, problem.message) == ("07777777", "not the first")


ENDLESS = """async.func private @again() -> !async.token {
  %t = async.execute {
    func.call @printNewline() : () -> ()
    %u = async.call @again() : () -> !async.token
    async.yield
  }
  return
}
func.func private @printNewline()
"""


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("awaits", ["", "async.runtime.await %never : !async.token"])
def test_an_interrupt_ends_tasks_that_would_start_others_for_ever(awaits: str, queue: str) -> None:
    interrupts: list[None] = []

    def interrupt(_: str) -> None:
        if not interrupts:
            interrupts.append(os.kill(os.getpid(), signal.SIGINT))

    text = main(
        f"""  %never = async.runtime.create : !async.token
  async.runtime.drop_ref %never {{count = 1 : i64}} : !async.token
  %t = async.call @again() : () -> !async.token
  {awaits}""",
        ENDLESS,
    )
    with HostContext(queue) as host, AsyncRuntime(host, output=interrupt) as async_runtime:
        code = compile_program(parse_module(text, "program"), async_runtime.functions)
        with pytest.raises(KeyboardInterrupt):
            async_runtime.run(code.address(packed_name("main")))
        assert async_runtime.live_objects() == []


@pytest.mark.parametrize(
    "operation",
    [
        "%t = async.runtime.from_handle %n : !async.token",
        "%t = async.runtime.spawn @other(%n) : (i64) -> !async.token",
    ],
)
def test_operations_of_passes_are_refused(operation: str) -> None:
    text = main(
        f"  %n = arith.constant 4096 : i64\n  {operation}",
        "func.func private @other(%x: f64) {\n  return\n}",
    )

    [message] = failures(text)
    assert " is reserved for passes: programs cannot have it: " in message
